//! A simulation as plain data: the input of [`run`](crate::run) for a test, an experiment or a failing seed.

use crate::budget::BudgetSpec;
use crate::device::Device;
use crate::draw::Sizes;
use crate::pause::Pause;
use crate::watch::{PerFlow, Watch};
use base::{Duration, Rate};
use netem::PathSpec;
use tcp::ValidConfig;

/// Two nodes, a path each way, and the flows between them. The client of a flow sends, its server receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The seed of every random stream of the run.
    pub seed: u64,
    /// From the clients' node to the servers'.
    pub forward: PathSpec,
    /// From the servers' node to the clients'.
    pub reverse: PathSpec,
    /// A second bottleneck behind the forward path.
    pub second: Option<SecondHop>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// Datagrams beside them. They need devices that do not merge packets.
    pub datagrams: Vec<DatagramSpec>,
    /// When to give up.
    pub budget: BudgetSpec,
    /// How often the books of the endpoints are audited.
    pub audit: AuditSchedule,
    /// How long a flow may go without a byte being read before the run fails as stalled. [`stall_limit`](crate::stall_limit)
    /// computes a limit that bad luck alone does not exceed.
    pub stall_after: Duration,
    /// The limit for every sender's departures; `None` for no check.
    pub burst_limit: Option<BurstLimit>,
    /// What is watched over time, beside the totals.
    pub watch: Option<Watch>,
    /// Whether the queue of each flow at the bottleneck is watched ([`FlowOutcome::queue`](crate::FlowOutcome::queue)).
    pub queues: PerFlow,
    /// When the run is over.
    pub until: Until,
    /// Version of the addresses.
    pub ip: IpVersion,
    /// The device of the clients' node.
    pub client_device: Device,
    /// The device of the servers' node.
    pub server_device: Device,
    /// When the clients' node does not run.
    pub client_pauses: Vec<Pause>,
    /// When the servers' node does not run.
    pub server_pauses: Vec<Pause>,
}

/// A stall in an experiment: longer than any back-off after a few losses, and shorter than any user would wait.
const STALL_AFTER: Duration = Duration::from_secs(300);

impl Scenario {
    /// Creates a scenario without flows, with the default budget, an experiment's audit schedule, on IPv4, with plain devices.
    pub fn new(seed: u64, forward: PathSpec, reverse: PathSpec) -> Self {
        Self {
            seed,
            forward,
            reverse,
            second: None,
            flows: Vec::new(),
            datagrams: Vec::new(),
            budget: BudgetSpec::default(),
            audit: AuditSchedule::EpisodeEdges,
            stall_after: STALL_AFTER,
            burst_limit: None,
            watch: None,
            queues: PerFlow::Off,
            until: Until::Closed,
            ip: IpVersion::V4,
            client_device: Device::PLAIN,
            server_device: Device::PLAIN,
            client_pauses: Vec::new(),
            server_pauses: Vec::new(),
        }
    }
}

impl Scenario {
    /// Returns the paths of packets and their answers that cross these bottlenecks.
    pub(crate) fn paths(&self, hops: Hops) -> impl Iterator<Item = &PathSpec> {
        let crosses = move |bottleneck: Hops| hops == Hops::Both || hops == bottleneck || self.second.is_none();
        let first = crosses(Hops::First).then_some([&self.forward, &self.reverse]);
        let second = self.second.as_ref().filter(|_| crosses(Hops::Second));
        let second = second.map(|second| [&second.forward, &second.reverse]);
        first.into_iter().chain(second).flatten()
    }
}

/// A second bottleneck: packets that cross both go over the forward path and then over this one, and their answers back in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondHop {
    /// Behind the forward path.
    pub forward: PathSpec,
    /// Before the reverse path.
    pub reverse: PathSpec,
}

/// Which bottlenecks a flow crosses, where there are two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hops {
    /// One behind the other.
    #[default]
    Both,
    /// It leaves the way behind the first.
    First,
    /// It enters the way before the second.
    Second,
}

/// One transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Configuration of the sending end, which connects.
    pub client: ValidConfig,
    /// Configuration of the receiving end, which listens.
    pub server: ValidConfig,
    /// What is sent.
    pub workload: Workload,
    /// Which way its data goes.
    pub direction: Direction,
    /// Which bottlenecks it crosses, where there are two.
    pub hops: Hops,
    /// Round-trip time of the flow's own part of the way, in addition to the shared paths': half of it each way, behind them.
    pub own_rtt: Duration,
    /// When the first SYN leaves, counted from the start of the run.
    pub start: Duration,
    /// When the sending application stops and closes, whatever it has sent, counted from the start of the run.
    pub stop: Option<Duration>,
    /// How fast the sending application writes.
    pub writer: AppPace,
    /// Most bytes that the sending application keeps in the send buffer beside those in flight, so that it can stop soon; it looks
    /// once in a millisecond. `None` for as much as fits.
    pub unsent_max: Option<u64>,
    /// How fast the receiving application reads.
    pub reader: AppPace,
    /// Whether bytes are moved.
    pub carriage: Carriage,
}

impl FlowSpec {
    /// Creates a flow that starts at once, between applications without limits, and does not move bytes.
    pub fn new(client: ValidConfig, server: ValidConfig, workload: Workload) -> Self {
        Self {
            client,
            server,
            workload,
            direction: Direction::Forward,
            hops: Hops::Both,
            own_rtt: Duration::ZERO,
            start: Duration::ZERO,
            stop: None,
            writer: AppPace::Unlimited,
            unsent_max: None,
            reader: AppPace::Unlimited,
            carriage: Carriage::Described,
        }
    }
}

/// A flow of datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramSpec {
    /// What is sent when.
    pub sends: Sends,
    /// Bytes of each IP packet, headers included: from 64 to 1,500.
    pub size: u32,
    /// Which way they go; an echo goes the other.
    pub direction: Direction,
    /// Which bottlenecks they cross, where there are two.
    pub hops: Hops,
    /// Round-trip time of the flow's own part of the way, as for connections.
    pub own_rtt: Duration,
    /// When the first one leaves, counted from the start of the run.
    pub start: Duration,
    /// When no more leave.
    pub stop: Option<Duration>,
}

/// What a flow of datagrams sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// As many as this rate carries, in bits of IP packets per second, at equal distances.
    Rate(Rate),
    /// One at these distances; the other end sends each back at once. Not zero.
    Pings(Duration),
}

/// Which way the data of a flow goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Over the forward path.
    #[default]
    Forward,
    /// Over the reverse path.
    Back,
}

/// What a flow's application sends before it closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// This many bytes.
    Bytes(u64),
    /// As much as possible for this long after the flow's start.
    For(Duration),
    /// This many bytes at regular times, the first at the flow's start, over one connection: a piece waits for those before it.
    Repeated {
        /// Bytes each time; not zero.
        bytes: u64,
        /// Time between two; not zero.
        every: Duration,
    },
    /// As much as possible for a while, and then nothing for a while, in turn.
    OnOff {
        /// How long it sends: drawn between the two for each time.
        on: (Duration, Duration),
        /// How long it is silent.
        off: (Duration, Duration),
    },
    /// The other end opens the connection and asks with [`REQUEST`] bytes; the answer is drawn. When it has read the answer, it thinks
    /// and asks again. Needs [`Carriage::Described`].
    Requests {
        /// Sizes of answers.
        sizes: Sizes,
        /// How long it thinks: drawn between the two for each time.
        think: (Duration, Duration),
    },
}

/// Bytes of a request: about what a browser sends.
pub const REQUEST: u64 = 300;

/// How fast an application writes or reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppPace {
    /// As much as there is, as soon as it can.
    Unlimited,
    /// At most this much at regular times. A slow reader closes its window; a slow writer sends small segments.
    Chunks {
        /// Bytes each time.
        bytes: u64,
        /// Time between two chunks; not zero.
        every: Duration,
    },
}

/// How payload travels through the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// By position in a known pattern: no byte is moved, but each one is accounted for.
    Described,
    /// As bytes of the same pattern, through real buffers; each one is compared.
    Bytes,
}

/// How often the books of the endpoints are audited, which costs a pass over the window each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditSchedule {
    /// After every step.
    EveryStep,
    /// When a recovery episode begins or a timer was needed, and once per window of packets.
    EpisodeEdges,
}

/// A token bucket for what a sender releases: it fills at a percentage of `cwnd` each smoothed round trip, and holds
/// so many segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstLimit {
    /// Percent of `cwnd / srtt` in slow start.
    pub slow_start_percent: u32,
    /// Percent of `cwnd / srtt` otherwise.
    pub avoidance_percent: u32,
    /// Depth of the bucket, full segments.
    pub segments: u32,
}

/// When a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When both ends of every flow have reported their end.
    Closed,
    /// At this time, counted from the start. It ends earlier when every flow has ended and there are no datagrams.
    At(Duration),
    /// When no event is left: TIME-WAIT is over and the last stray packet has arrived.
    Quiet,
}

/// Version of the Internet Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// 20 bytes of header.
    V4,
    /// 40 bytes of header.
    V6,
}
