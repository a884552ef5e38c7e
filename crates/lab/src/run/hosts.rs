//! The hosts of a run in the simulator: devices, pauses, and what pauses take from the ideal transfer.

use crate::run::backend::RunFailure;
use crate::run::ideal::{IDEAL_PACKET, ideal_time};
use crate::spec::{PauseSpec, Point};
use base::{Duration, Rng};
use netem::Buffer;
use sim::{Device, Merging, Pause, Scenario};
use tcp::ValidConfig;

/// Pauses begin in so many round trips after the handshake.
const ROUNDS: u32 = 10;

/// Sets a scenario's hosts as a cell says, before it has flows.
pub(crate) fn equip(scenario: &mut Scenario, point: &Point) {
    let hosts = &point.hosts;
    scenario.forward.first_flight = hosts.first_flight;
    scenario.client_device = device(hosts.offload, hosts.sender_merge);
    scenario.server_device = device(hosts.offload, hosts.receiver_merge);
    scenario.client_pauses = pauses(point, hosts.sender_pause, scenario.seed, "hosts/sender");
    scenario.server_pauses = pauses(point, hosts.receiver_pause, scenario.seed, "hosts/receiver");
}

fn device(offload: bool, merge: Duration) -> Device {
    let device = if offload { Device::SUPER_SEGMENTS } else { Device::PLAIN };
    if merge.is_zero() { device } else { Device { merging: Merging::Within(merge), ..device } }
}

/// Draws when a host pauses: once in each of equal parts of the first rounds.
fn pauses(point: &Point, spec: Option<PauseSpec>, seed: u64, label: &str) -> Vec<Pause> {
    let Some(PauseSpec { length, count }) = spec else { return Vec::new() };
    let mut rng = Rng::new(seed).fork(label);
    let part = point.rtt * ROUNDS / count;
    let draw = |index: u32| {
        let from = point.rtt + part * index + Duration::from_nanos(rng.below(part.as_nanos().max(1)));
        Pause { from, length }
    };
    (0..count).map(draw).collect()
}

/// Returns by how much the sending host's pauses delay the end of an ideal transfer: a pause beyond what the bottleneck's queue can
/// bridge leaves the link idle, until the transfer is over.
pub(crate) fn removed(scenario: &Scenario, point: &Point, bytes: u64) -> Duration {
    let bridged = match point.buffer() {
        Buffer::Bytes(bytes) => point.rate.time_for(bytes),
        Buffer::Packets(packets) => point.rate.time_for(u64::from(packets) * IDEAL_PACKET),
        Buffer::Unlimited => return Duration::ZERO,
    };
    let ideal = ideal_time(point, scenario.seed, bytes);
    scenario.client_pauses.iter().fold(Duration::ZERO, |removed, pause| {
        let in_time = pause.from < (ideal + removed).saturating_sub(point.rtt / 2);
        if in_time { removed + pause.length.saturating_sub(bridged) } else { removed }
    })
}

/// Returns the arm's TCP, with what the sending host remembers of the path.
pub(crate) fn sender(point: &Point, arm: &ValidConfig) -> Result<ValidConfig, RunFailure> {
    let Some(remembered) = point.hosts.remembers else { return Ok(arm.clone()) };
    let mut config = tcp::Config::clone(arm);
    config.cc.resume = Some(remembered.0);
    config.validate().map_err(|errors| RunFailure(format!("{errors:?}")))
}

/// Returns the TCP of the receiving host: the arm's, unless the cell says otherwise.
pub(crate) fn receiver(point: &Point, arm: &ValidConfig) -> ValidConfig {
    point.hosts.receiver.as_ref().map_or(arm, |receiver| &receiver.config).clone()
}
