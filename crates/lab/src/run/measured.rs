//! What a run gives.

use crate::spec::Point;
use base::Duration;
use serde::{Deserialize, Serialize};
use tcp::TcpInfo;

/// What a run gives. In the simulator nothing of it depends on the machine.
///
/// Ends that are not ours cannot tell everything: what they keep to themselves is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Payload that the receiving application read, octets.
    pub bytes: u64,
    /// From the first SYN sent until the last octet read.
    pub elapsed_ns: u64,
    /// Payload sent, retransmissions included, octets.
    pub bytes_sent: Option<u64>,
    /// Payload sent again, octets.
    pub bytes_retransmitted: Option<u64>,
    /// Recovery episodes.
    pub episodes: Option<u64>,
    /// Those that ended without a timeout.
    pub episodes_without_timeout: Option<u64>,
    /// Those entered without a timeout.
    pub fast_retransmits: Option<u64>,
    /// Retransmission timeouts with data outstanding.
    pub rtos: Option<u64>,
    /// Retransmissions that were lost in their turn, as the sender found.
    pub lost_retransmissions: Option<u64>,
    /// Tail loss probes.
    pub probes: Option<u64>,
    /// Episodes that were found spurious and undone.
    pub undone: Option<u64>,
    /// Duplicate ranges that the receiver reported.
    pub dsacks_sent: Option<u64>,
    /// Those that the sender recognised.
    pub dsacks_received: Option<u64>,
    /// ACKs with SACK blocks that the sender received.
    #[serde(default)]
    pub sacks_received: Option<u64>,
    /// Those of them that said nothing new.
    #[serde(default)]
    pub stale_sacks: Option<u64>,
    /// The sender's multiplier of the reordering window at the end, if its detector has one.
    pub reo_wnd_mult: Option<u32>,
    /// Data packets that the path dropped.
    pub dropped: u64,
    /// What the same run takes when nothing is lost by position; `None` where nothing is anyway.
    pub undropped_ns: Option<u64>,
    /// Data and ACK packets that endpoints offered to the path.
    pub packets: u64,
    /// Time behind SACKs that told nothing new; `None` where nobody watched for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_sack_ns: Option<u64>,
    /// How well the machine kept time; `None` in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punctuality: Option<Punctuality>,
}

/// How well the machine kept time during a run in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Punctuality {
    /// Longest time by which a packet that was due waited for the machine.
    pub latest_ns: u64,
    /// Such waits that were long enough to be seen in results.
    pub late: u64,
    /// Times the run was made: once more when the first was disturbed.
    pub attempts: u32,
    /// Whether the last of them was disturbed, too.
    pub disturbed: bool,
}

impl Measured {
    /// What only the transfer says.
    pub fn of_transfer(bytes: u64, elapsed: Duration) -> Self {
        Self {
            bytes,
            elapsed_ns: elapsed.as_nanos(),
            bytes_sent: None,
            bytes_retransmitted: None,
            episodes: None,
            episodes_without_timeout: None,
            fast_retransmits: None,
            rtos: None,
            lost_retransmissions: None,
            probes: None,
            undone: None,
            dsacks_sent: None,
            dsacks_received: None,
            sacks_received: None,
            stale_sacks: None,
            reo_wnd_mult: None,
            dropped: 0,
            undropped_ns: None,
            packets: 0,
            stale_sack_ns: None,
            punctuality: None,
        }
    }

    /// The same, and what both ends of our own say.
    pub fn of_profile(bytes: u64, elapsed: Duration, sender: &TcpInfo, receiver: &TcpInfo) -> Self {
        let counters = &sender.counters;
        let known = |count: u32| Some(u64::from(count));
        Self {
            bytes_sent: Some(counters.bytes_sent),
            bytes_retransmitted: Some(counters.bytes_retransmitted),
            episodes: known(counters.episodes),
            episodes_without_timeout: known(counters.episodes_without_timeout),
            fast_retransmits: known(counters.fast_retransmits),
            rtos: known(counters.timeouts),
            lost_retransmissions: known(counters.lost_retransmissions),
            probes: known(counters.probes.into()),
            undone: known(counters.undone.into()),
            dsacks_sent: known(receiver.counters.dsacks_sent),
            dsacks_received: known(counters.dsacks_received),
            sacks_received: known(counters.sacks_received),
            stale_sacks: known(counters.stale_sacks),
            reo_wnd_mult: sender.reo_wnd_mult,
            ..Self::of_transfer(bytes, elapsed)
        }
    }

    /// Payload bits per microsecond, that is Mbit/s.
    pub fn goodput_mbps(&self) -> f64 {
        self.bytes as f64 * 8_000.0 / self.elapsed_ns as f64
    }

    /// Round-trip times that the losses by position cost.
    pub fn repair_rtts(&self, point: &Point) -> Option<f64> {
        let undropped = self.undropped_ns?;
        Some((self.elapsed_ns as f64 - undropped as f64) / point.rtt.as_nanos() as f64)
    }

    /// The shortest time the path allows, divided by the time it took.
    pub fn efficiency(&self, point: &Point) -> f64 {
        ideal_time(point, self.bytes).as_nanos() as f64 / self.elapsed_ns as f64
    }
}

/// Octets of payload and of IP packet in which the ideal transfer is counted.
const IDEAL_PAYLOAD: u64 = 1_460;
const IDEAL_PACKET: u64 = 1_500;

/// A round trip of handshake, all packets back to back at the bottleneck's rate, half a round trip.
pub fn ideal_time(point: &Point, bytes: u64) -> Duration {
    let packets = bytes.div_ceil(IDEAL_PAYLOAD);
    point.rtt + point.rate.time_for(packets * IDEAL_PACKET) + point.rtt / 2
}
