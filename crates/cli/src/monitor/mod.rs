//! What other programs may see of a running stack: its connections by a local socket, its totals by Prometheus' text format.

pub mod control;
mod metrics;

use crate::failure::LinkError;
use clap::Args;
use control::Control;
use longhaul::Net;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::net::TcpListener;

/// Where to look on.
#[derive(Args, Clone, Debug)]
pub struct MonitorArgs {
    /// Create a local socket for `longhaul connections`, which only the same user can use.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// Serve counters at http://ADDRESS:PORT/metrics, in the text format of Prometheus.
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
}

impl MonitorArgs {
    /// Returns whether anything is to be seen.
    pub fn is_any(&self) -> bool {
        self.control.is_some() || self.metrics.is_some()
    }

    /// Starts what was asked for. The socket exists as long as what is returned.
    ///
    /// # Errors
    /// If the path or the port cannot be used.
    pub async fn start(&self, net: &Net) -> Result<Option<Control>, LinkError> {
        if let Some(address) = self.metrics {
            let listener = TcpListener::bind(address).await.map_err(|error| {
                LinkError::usage(format!(
                    "--metrics {address}: cannot listen there: {error}; name a free port of this host"
                ))
            })?;
            tokio::task::spawn_local(metrics::serve(listener, net.clone()));
        }
        let Some(path) = &self.control else { return Ok(None) };
        let (control, listener) = Control::listen(path)?;
        tokio::task::spawn_local(control::serve(listener, net.clone()));
        Ok(Some(control))
    }
}
