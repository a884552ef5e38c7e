//! The local socket of a running stack: the line `connections` in, a line of JSON out.

use crate::failure::{Failure, LinkError};
use longhaul::{ConnectionInfo, Net};
use nix::sys::stat::{Mode, umask};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;
use tokio::time::{sleep, timeout};

/// A client has this long to ask, in a line of at most that many bytes.
const TIMEOUT: Duration = Duration::from_secs(2);
const LINE_MAX: u64 = 256;
/// An exhausted system gets this long to recover.
const RECOVERY: Duration = Duration::from_millis(100);

/// The one request.
const CONNECTIONS: &str = "connections";

/// The socket's file, which is removed on drop.
#[derive(Debug)]
pub struct Control(PathBuf);

impl Control {
    /// Listens on `path`.
    ///
    /// # Errors
    /// If the path cannot be used, or another program listens there.
    pub fn listen(path: &Path) -> Result<(Self, UnixListener), LinkError> {
        if UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
            // A program that was killed left it behind.
            let _ = std::fs::remove_file(path);
        }
        // The mode is right from the beginning: 0600.
        let before = umask(Mode::from_bits_truncate(0o177));
        let listener = UnixListener::bind(path);
        umask(before);
        let listener = listener.map_err(|error| {
            let path = path.display();
            LinkError::usage(format!("--control {path}: cannot listen there: {error}; name a file that can be made"))
        })?;
        Ok((Self(path.to_owned()), listener))
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Answers indefinitely, one client after the other.
pub async fn serve(listener: UnixListener, net: Net) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // A client that asks nothing, or leaves before the answer, gets none.
                let _ = timeout(TIMEOUT, answer(stream, &net)).await;
            }
            Err(_) => sleep(RECOVERY).await,
        }
    }
}

async fn answer(mut stream: tokio::net::UnixStream, net: &Net) -> std::io::Result<()> {
    let (read, mut write) = stream.split();
    let mut line = String::new();
    BufReader::new(read.take(LINE_MAX)).read_line(&mut line).await?;
    let text = match line.trim_end() {
        CONNECTIONS => format!("ok {}\n", Value::from_iter(net.connections().iter().map(object))),
        other => format!("usage unknown request `{other}`; there is `{CONNECTIONS}`\n"),
    };
    write.write_all(text.as_bytes()).await
}

/// One connection.
fn object(connection: &ConnectionInfo) -> Value {
    let (info, counters) = (&connection.info, &connection.info.counters);
    let micros = |time: Option<longhaul::Duration>| time.map(|time| time.as_nanos() / 1_000);
    json!({
        "id": connection.id,
        "local": connection.local.to_string(),
        "remote": connection.remote.to_string(),
        "state": state_name(connection.state),
        "srtt_us": micros(info.srtt),
        "min_rtt_us": micros(info.min_rtt),
        "rto_us": micros(Some(info.rto)),
        "smss_bytes": info.smss,
        "cwnd_bytes": info.cwnd,
        "in_flight_bytes": info.pipe,
        "snd_wnd_bytes": info.snd_wnd,
        "rcv_wnd_bytes": info.rcv_wnd,
        "bytes_sent": counters.bytes_sent,
        "bytes_acked": counters.bytes_acked,
        "bytes_received": counters.bytes_received,
        "bytes_retransmitted": counters.bytes_retransmitted,
        "timeouts": counters.timeouts,
    })
}

/// The name of a state in RFC 9293 §3.3.2: `FIN-WAIT-1`.
pub fn state_name(state: longhaul::State) -> String {
    let mut name = String::new();
    for letter in format!("{state:?}").chars() {
        if !name.is_empty() && !letter.is_ascii_lowercase() {
            name.push('-');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// Asks the stack whose socket is at `path` for its connections.
///
/// # Errors
/// If none answers there.
pub fn ask(path: &Path) -> Result<Vec<Value>, Failure> {
    let cannot = |error: std::io::Error| {
        let path = path.display();
        Failure::usage(format!(
            "--control {path}: no `serve` or `proxy` answers there: {error}; start one with the same --control"
        ))
    };
    let mut stream = UnixStream::connect(path).map_err(cannot)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(cannot)?;
    stream.write_all(format!("{CONNECTIONS}\n").as_bytes()).map_err(cannot)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(cannot)?;
    let objects = text.strip_prefix("ok ").and_then(|json| serde_json::from_str(json).ok());
    objects.ok_or_else(|| Failure::Failed(format!("--control {}: the program there speaks otherwise", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_names_of_the_rfc() {
        use longhaul::State;
        let names = [State::SynSent, State::Established, State::FinWait1, State::LastAck].map(state_name);
        assert_eq!(names, ["SYN-SENT", "ESTABLISHED", "FIN-WAIT-1", "LAST-ACK"]);
    }
}
