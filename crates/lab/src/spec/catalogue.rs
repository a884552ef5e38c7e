//! The built-in experiments: `experiments/*.toml`, one each.

use crate::spec::experiment::Experiment;
use crate::spec::read::read;

/// Name and text of the built-in experiments.
pub const BUILTIN: &[(&str, &str)] = &[
    ("aqm", include_str!("../../../../experiments/aqm.toml")),
    ("cellular", include_str!("../../../../experiments/cellular.toml")),
    ("dsack", include_str!("../../../../experiments/dsack.toml")),
    ("fairness", include_str!("../../../../experiments/fairness.toml")),
    ("fairness-rtt", include_str!("../../../../experiments/fairness-rtt.toml")),
    ("hystart", include_str!("../../../../experiments/hystart.toml")),
    ("idle", include_str!("../../../../experiments/idle.toml")),
    ("jitter", include_str!("../../../../experiments/jitter.toml")),
    ("lan-reorder", include_str!("../../../../experiments/lan-reorder.toml")),
    ("late-comer", include_str!("../../../../experiments/late-comer.toml")),
    ("leo", include_str!("../../../../experiments/leo.toml")),
    ("lost-retransmit", include_str!("../../../../experiments/lost-retransmit.toml")),
    ("nic-reorder", include_str!("../../../../experiments/nic-reorder.toml")),
    ("parking-lot", include_str!("../../../../experiments/parking-lot.toml")),
    ("policer", include_str!("../../../../experiments/policer.toml")),
    ("prr", include_str!("../../../../experiments/prr.toml")),
    ("reassembly", include_str!("../../../../experiments/reassembly.toml")),
    ("reorder", include_str!("../../../../experiments/reorder.toml")),
    ("reorder-early", include_str!("../../../../experiments/reorder-early.toml")),
    ("robust", include_str!("../../../../experiments/robust.toml")),
    ("rrul", include_str!("../../../../experiments/rrul.toml")),
    ("short-flows", include_str!("../../../../experiments/short-flows.toml")),
    ("slow-start", include_str!("../../../../experiments/slow-start.toml")),
    ("smb", include_str!("../../../../experiments/smb.toml")),
    ("tail-loss", include_str!("../../../../experiments/tail-loss.toml")),
    ("wan", include_str!("../../../../experiments/wan.toml")),
    ("wifi", include_str!("../../../../experiments/wifi.toml")),
    ("window", include_str!("../../../../experiments/window.toml")),
];

/// A built-in experiment; `None` when there is none of this name.
pub fn builtin(name: &str) -> Option<Experiment> {
    let (name, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
    let read = read(name, &format!("experiments/{name}.toml"), text);
    Some(read.unwrap_or_else(|error| panic!("a built-in experiment is wrong: {error}")))
}
