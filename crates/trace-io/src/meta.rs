//! What a trace is of.

use serde::{Deserialize, Serialize};

/// The run, for readers of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the events ([`trace::VERSION`]).
    pub vocabulary: u32,
    /// Version of the program.
    pub version: String,
    /// Name of the experiment, or of the capture.
    pub experiment: String,
    /// Label of the arm.
    pub arm: String,
    /// The arm's profile, if it is one.
    pub profile: Option<String>,
    /// Which of several runs with seeds of their own, from one.
    pub iteration: u32,
    /// Where every random stream of the run came from.
    pub seed: u64,
    /// Settings of the cell, key and canonical value.
    pub cell: Vec<(String, String)>,
    /// Leaves in which the profile differs from the root profile.
    pub config: Vec<(String, String)>,
    /// The emulated network, where there was one.
    pub network: Option<Network>,
    /// The connection ends in the trace; the first one is the sender of interest. Of several flows they come in pairs, the sender first,
    /// and their names begin with the flow's: `linux 2 sender`, or `linux 2 back sender` for one against the path's direction.
    pub ends: Vec<End>,
}

/// The network between the ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// What the bottleneck passes in the direction of the data, bits of IP packets per second.
    pub rate_bps: Option<u64>,
    /// Delay in the direction of the data, nanoseconds.
    pub forward_ns: u64,
    /// Delay of the way back, nanoseconds.
    pub reverse_ns: u64,
    /// Buffer of the bottleneck, bytes of IP packets; `None` when it is bounded otherwise, or not at all.
    pub buffer_bytes: Option<u64>,
    /// Buffer of the bottleneck, packets.
    pub buffer_packets: Option<u64>,
}

/// One end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Its number in the trace.
    pub conn: u32,
    /// Its name: `sender`, `receiver`.
    pub name: String,
}

impl Meta {
    /// What people call the end of a connection.
    pub fn name_of(&self, conn: trace::ConnId) -> Option<&str> {
        self.ends.iter().find(|end| end.conn == conn.0).map(|end| end.name.as_str())
    }
}
