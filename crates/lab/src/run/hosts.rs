//! The hosts of a run in the simulator: devices, pauses, and what pauses take from the ideal transfer.

use crate::run::backend::RunFailure;
use crate::run::ideal::IDEAL_PACKET;
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

/// Returns by how much the sending host's pauses delay the end of an ideal transfer, whose last packet would leave the bottleneck after
/// `sent`: a pause beyond what the bottleneck's queue can bridge leaves the link idle, until the transfer is over. Before the transfer,
/// which begins at `began`, there is nothing to bridge.
pub(crate) fn removed(pauses: &[Pause], point: &Point, began: Duration, sent: Duration) -> Duration {
    let Some(bridged) = bridged(point) else { return Duration::ZERO };
    pauses.iter().fold(Duration::ZERO, |removed, pause| {
        let ends = pause.from + pause.length;
        if pause.from < began {
            removed + ends.saturating_sub(began)
        } else if pause.from < began + sent + removed {
            removed + pause.length.saturating_sub(bridged)
        } else {
            removed
        }
    })
}

/// Returns for how long a full queue keeps the bottleneck busy, of two the tighter one; `None` without limit.
fn bridged(point: &Point) -> Option<Duration> {
    let second = point.life.second;
    let (rate, buffer) = match second.rate.filter(|&rate| rate < point.rate) {
        Some(rate) => (rate, second.room(rate, point.usual_rtt() + second.rtt)),
        None => (point.rate, point.buffer()),
    };
    match buffer {
        Buffer::Bytes(bytes) => Some(rate.time_for(bytes)),
        Buffer::Packets(packets) => Some(rate.time_for(u64::from(packets) * IDEAL_PACKET)),
        Buffer::Unlimited => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use test_case::test_case;

    /// At 12 Mbit/s a queue of 30 kB lasts for 20 ms.
    #[test_case(&[], 100, 50 => 30; "what the queue does not bridge")]
    #[test_case(&[], 100, 15 => 0; "what it bridges")]
    #[test_case(&[], 960, 50 => 0; "after the end")]
    #[test_case(&[], 20, 50 => 40; "a pause in which the flow begins")]
    #[test_case(&[], 10, 20 => 0; "one that is over before")]
    #[test_case(&[("path.second.rate", "6Mbit"), ("path.second.buffer", "30000B")], 100, 50 => 10; "a tighter bottleneck's queue")]
    #[test_case(&[("path.second.rate", "24Mbit"), ("path.second.buffer", "30000B")], 100, 50 => 30; "not a wider one's")]
    fn removed_ms(more: &[(&str, &str)], from: u64, length: u64) -> u64 {
        let mut point = Point::default();
        for (key, value) in [("path.rate", "12Mbit"), ("path.buffer", "30000B")].iter().chain(more) {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let ms = Duration::from_millis;
        let pause = Pause { from: ms(from), length: ms(length) };
        removed(&[pause], &point, ms(30), ms(900)).as_millis()
    }
}
