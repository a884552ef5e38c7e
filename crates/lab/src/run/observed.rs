//! What a trace says about its run.

use crate::plan::RunSpec;
use crate::plan::difference::from_root;
use crate::run::{paths, stamp};
use crate::spec::Ends;
use netem::Buffer;
use profiles::Profile;
use sim::CONN_IDS_PER_NODE;
use trace::ConnId;
use trace_io::{End, Meta, Network};

/// The sending end of a simulated run, as traces name it.
pub const SENDER: ConnId = ConnId(0);
/// The receiving end.
pub const RECEIVER: ConnId = ConnId(CONN_IDS_PER_NODE);

/// The names that people gave to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The experiment.
    pub experiment: String,
    /// Label of the arm.
    pub arm: String,
    /// Its profile.
    pub profile: Option<String>,
}

/// Returns what is known in advance of a transfer by `command` over a network without a model, but for its ends. `settings`
/// distinguish it from others.
pub fn meta_of_real(command: &str, arm: &Profile, settings: Vec<(String, String)>) -> Meta {
    let ends = Ends::Profile(arm.config().clone());
    let config = from_root(&ends);
    Meta {
        vocabulary: trace_io::VERSION,
        version: stamp::version(&ends),
        experiment: command.to_owned(),
        arm: arm.name.clone(),
        profile: Some(arm.name.clone()),
        iteration: 1,
        cell: settings,
        config: config.into_iter().collect(),
        ..Meta::default()
    }
}

/// Returns what is known of a run in advance.
pub fn meta(names: &Names, run: &RunSpec) -> Meta {
    let [forward, reverse] = paths(&run.point, run.seed);
    let (buffer_bytes, buffer_packets) = match forward.buffer {
        Buffer::Bytes(bytes) => (Some(bytes), None),
        Buffer::Packets(packets) => (None, Some(packets.into())),
        Buffer::Unlimited => (None, None),
    };
    Meta {
        vocabulary: trace_io::VERSION,
        version: stamp::version_of(run),
        experiment: names.experiment.clone(),
        arm: names.arm.clone(),
        profile: names.profile.clone(),
        iteration: run.iteration,
        seed: run.seed,
        cell: run.point.settings().map(|(key, value)| (key.to_owned(), value)).collect(),
        config: from_root(&run.ends).into_iter().collect(),
        network: Some(Network {
            rate_bps: forward.rate.map(base::Rate::bits_per_sec),
            forward_ns: forward.delay.as_nanos(),
            reverse_ns: reverse.delay.as_nanos(),
            buffer_bytes,
            buffer_packets,
        }),
        ends: [(SENDER, "sender"), (RECEIVER, "receiver")]
            .map(|(conn, name)| End { conn: conn.0, name: name.to_owned() })
            .into(),
    }
}
