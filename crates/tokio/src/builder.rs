//! How a stack is put together.

use crate::build_error::BuildError;
use crate::clock::{Clock, SystemClock};
use crate::driver::Driver;
use crate::handles::Handles;
use crate::net::Net;
use crate::observed::Observed;
use crate::remembered::{RememberPaths, Remembered};
use crate::shared::{Handle, Inner, Shared};
use base::Rng;
use datagram::{DatagramConfig, Datagrams, Strangers};
use pipe::{Bounds, RunnerConfig, Tunnel};
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use tcp::config::{GuardConfig, WrittenData};
use tcp::{
    Config, Destinations, DeviceCaps, LateRequests, RequestConfig, Segmentation, Shards, StackConfig, TxChecksum,
    ValidConfig,
};

/// Least MTU of IPv6 (RFC 8200 §5), and of a stack with IPv4 alone: what every host takes (RFC 791 §3.2).
const LEAST_MTU: (u16, u16) = (1_280, 576);

/// Bytes that may be written ahead of what leaves, in connections of a named profile: enough for a millisecond at 5 Gbit/s, few enough
/// that they are still in the processor's caches when they leave. A sender that fills its whole send buffer takes twice the time.
const WRITTEN_AHEAD: u32 = 512 << 10;

/// Begins to build a stack ([`Self::builder`]).
#[derive(Clone, Copy, Debug)]
pub struct Stack;

impl Stack {
    /// Returns a builder with the defaults of [`StackBuilder`].
    pub fn builder() -> StackBuilder {
        StackBuilder::default()
    }
}

/// The settings of a stack.
pub struct StackBuilder {
    addresses: Vec<IpAddr>,
    device: DeviceCaps,
    profile: Profile,
    requests: Option<RequestConfig>,
    late_requests: u32,
    guards: GuardConfig,
    queues: RunnerConfig,
    /// Changes to the defaults of UDP, or none of it.
    datagrams: Option<Change>,
    /// One for each shard; none for the machine's.
    clocks: Vec<Box<dyn Clock>>,
    observed: Observed,
    seed: Option<u64>,
    remembers: Option<RememberPaths>,
}

type Change = Box<dyn FnOnce(&mut DatagramConfig) + Send>;

#[derive(Clone, Debug)]
enum Profile {
    Named(String),
    Given(ValidConfig),
}

impl Default for Profile {
    fn default() -> Self {
        Self::Named("longhaul".to_owned())
    }
}

impl Default for StackBuilder {
    /// MTU 1,500, the profile `longhaul`, no addresses, no requests, the bounds of [`GuardConfig`] and [`Bounds`], 64 other packets
    /// that may wait, the machine's clock.
    fn default() -> Self {
        let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        Self {
            addresses: Vec::new(),
            device,
            profile: Profile::default(),
            requests: None,
            late_requests: 0,
            guards: GuardConfig::default(),
            queues: RunnerConfig { others: 64, ..RunnerConfig::default() },
            datagrams: Some(Box::new(|_| {})),
            clocks: Vec::new(),
            observed: Observed::default(),
            seed: None,
            remembers: None,
        }
    }
}

impl fmt::Debug for StackBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("StackBuilder");
        text.field("addresses", &self.addresses).field("device", &self.device).field("profile", &self.profile);
        text.field("requests", &self.requests)
            .field("late_requests", &self.late_requests)
            .field("guards", &self.guards)
            .field("queues", &self.queues)
            .field("remembers", &self.remembers);
        text.field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl StackBuilder {
    /// The stack's own addresses, of either version.
    #[must_use]
    pub fn addresses(mut self, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.addresses = addresses.into_iter().collect();
        self
    }

    /// Whether the stack stands for every address: each SYN that no listener answers becomes a request ([`Net::incoming`]).
    #[must_use]
    pub fn any_destination(mut self, any: bool) -> Self {
        self.requests = any.then(RequestConfig::default);
        self
    }

    /// Which SYNs become requests, how many, and for how long; without this, those that no listener answers are refused.
    #[must_use]
    pub fn requests(mut self, requests: RequestConfig) -> Self {
        self.requests = Some(requests);
        self
    }

    /// Allows the decision on a request to come after its handshake: SYNs that find [`RequestConfig::undecided_max`] requests undecided
    /// are answered with a cookie, and when their peers are connected, up to `max` of them wait for a decision as well. Without this
    /// they are dropped, and a flood of SYNs keeps everyone out; with it a peer may learn that it is connected although its destination
    /// does not answer ([`crate::TcpRequest::is_late`]).
    #[must_use]
    pub fn late_requests(mut self, max: u32) -> Self {
        self.late_requests = max;
        self
    }

    /// Largest IP packet, in bytes.
    #[must_use]
    pub fn mtu(mut self, mtu: u16) -> Self {
        self.device.mtu = mtu;
        self
    }

    /// What the device behind [`crate::Packets`] can do: its MTU, whether it completes checksums and cuts super-segments.
    #[must_use]
    pub fn device(mut self, device: DeviceCaps) -> Self {
        self.device = device;
        self
    }

    /// The profile of connections for which nothing else is chosen, by its name: `longhaul`, `linux`, `windows-11-22h2`, … Unlike the
    /// profile itself, they accept writes only while less than 512 KiB wait to be sent for the first time
    /// ([`crate::TcpStream::set_not_sent_lowat`]).
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Profile::Named(name.into());
        self
    }

    /// The configuration of connections for which nothing else is chosen.
    #[must_use]
    pub fn config(mut self, config: ValidConfig) -> Self {
        self.profile = Profile::Given(config);
        self
    }

    /// Bounds on what strangers can cause, the memory budget among them.
    #[must_use]
    pub fn guards(mut self, guards: GuardConfig) -> Self {
        self.guards = guards;
        self
    }

    /// Memory for everything that the stack holds, in bytes: received and written data, connections (2 KiB each), handshakes, orphans,
    /// replies, and the queues of packets, which get an eighth of it and a mebibyte each at most. Windows and writes shrink as it is
    /// used up.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        // Two queues, and as much again in buffers that wait for their next packet.
        let queue = (bytes / 32).min(1 << 20);
        (self.queues.inbound.bytes, self.queues.outbound.bytes) = (queue as usize, queue as usize);
        self.guards.memory_max = bytes - 4 * queue;
        self.guards.written = WrittenData::Counted;
        self
    }

    /// Bounds of the queues between the stack and the device: full ones hold back, and drop nothing.
    #[must_use]
    pub fn queues(mut self, inbound: Bounds, outbound: Bounds) -> Self {
        (self.queues.inbound, self.queues.outbound) = (inbound, outbound);
        self
    }

    /// Packets of other protocols that may wait for [`Net::incoming`]; zero drops and counts them.
    #[must_use]
    pub fn others(mut self, packets: usize) -> Self {
        self.queues.others = packets;
        self
    }

    /// Remembers what paths carried: a connection to or from an address that an earlier one has measured begins, after its first round trip,
    /// with half of what that one had, spread over a round trip (RFC 9959). Without this every connection begins anew. No effect for
    /// connections whose configuration models the path (`bbr`).
    ///
    /// The addresses have to stand for the path: a stack behind a device that moves between networks forgets too late.
    #[must_use]
    pub fn remember_paths(mut self, remember: RememberPaths) -> Self {
        self.remembers = Some(remember);
        self
    }

    /// Changes the settings of UDP, echo replies and reassembly. Their defaults are those of [`DatagramConfig::new`]; a stack that stands
    /// for any destination offers flows to anywhere.
    #[must_use]
    pub fn datagrams(mut self, change: impl FnOnce(&mut DatagramConfig) + Send + 'static) -> Self {
        self.datagrams = Some(Box::new(change));
        self
    }

    /// Leaves out UDP, echo replies and reassembly: their packets come as [`crate::Incoming::Other`].
    #[must_use]
    pub fn without_datagrams(mut self) -> Self {
        self.datagrams = None;
        self
    }

    /// The clock, instead of [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clocks = vec![Box::new(clock)];
        self
    }

    /// The same for each shard of [`Self::build_shards`], in their order. All show one time.
    #[must_use]
    pub fn clocks(mut self, clocks: impl IntoIterator<Item = impl Clock>) -> Self {
        self.clocks = clocks.into_iter().map(|clock| Box::new(clock) as Box<dyn Clock>).collect();
        self
    }

    /// Lets an observer see what happens on each connection: a [`trace::Observer`] of any kind, or `Spans` with the feature `tracing`.
    #[cfg(feature = "trace")]
    #[must_use]
    pub fn observer(mut self, observer: impl crate::ConnectionObserver) -> Self {
        self.observed.by = Some(Box::new(observer));
        self
    }

    /// Makes the stack's random numbers repeatable, for tests: initial sequence numbers can be guessed then.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Builds the stack: the handle for the application, the end for the device, and the driver, which is to be spawned.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(self) -> Result<(Net, Tunnel, Driver), BuildError> {
        let (net, ends) = self.build_all(NonZeroU32::MIN)?;
        let (packets, driver) = ends.into_iter().next().expect("one shard");
        Ok((net, packets, driver))
    }

    /// Builds a stack of several shards, which run at the same time: an end for the device and a driver for each, all of which are to be
    /// run; a driver that is to have a thread of its own gets a runtime of its own. A hash of addresses and ports says which shard has a
    /// connection. The ends may be those of a device's queues: a packet may come to any of them, and is handed to its connection's
    /// shard; what a shard sends leaves through its own end.
    ///
    /// [`Net`] is one for all: it listens in every shard, and connects from ports that spread connections over all. What does not merge:
    /// * UDP, echo replies, reassembly and other packets are the first shard's, as far as they are not TCP's.
    /// * [`Self::memory`] and [`GuardConfig::memory_max`] are divided equally, and what one shard does not need another cannot have. All
    ///   other bounds hold for each shard: requests, listeners' queues, orphans, TIME-WAIT, resets, queues of packets.
    /// * Each shard learns for itself which packets a path takes, what it carried ([`Self::remember_paths`]), and which servers know it
    ///   by a Fast Open cookie.
    /// * Numbers of connections ([`crate::ConnectionInfo::id`]) begin anew in each shard.
    /// * A shard serves a timer when its own end's device was read empty. A packet that waits in another queue is late then.
    ///
    /// # Errors
    /// [`BuildError`]; an observer sees one stack alone, and a clock that was given must be given for each shard
    /// ([`Self::clocks`]).
    pub fn build_shards(self, shards: NonZeroU32) -> Result<(Net, Vec<Tunnel>, Vec<Driver>), BuildError> {
        let (net, ends) = self.build_all(shards)?;
        let (packets, drivers) = ends.into_iter().unzip();
        Ok((net, packets, drivers))
    }

    fn build_all(mut self, count: NonZeroU32) -> Result<(Net, Vec<(Tunnel, Driver)>), BuildError> {
        let least = self.check(count.get() as usize)?;
        let config = match std::mem::take(&mut self.profile) {
            Profile::Named(name) => written_ahead(profiles::get(&name)?.config()),
            Profile::Given(config) => config,
        };
        let mut rng = Rng::new(match self.seed {
            Some(seed) => seed,
            None => getrandom::u64().map_err(BuildError::NoEntropy)?,
        });
        let isn_secret = match self.seed {
            Some(_) => [rng.next_u64(), rng.next_u64()],
            None => {
                [getrandom::u64().map_err(BuildError::NoEntropy)?, getrandom::u64().map_err(BuildError::NoEntropy)?]
            }
        };
        self.guards.memory_max /= u64::from(count.get());
        let mut datagrams = self.make_datagrams(&rng);
        let mut pipes: Vec<_> = (0..count.get())
            .map(|shard| {
                let rng = if shard == 0 { rng.clone() } else { rng.fork(&format!("shard/{shard}")) };
                let mut stack = tcp::Stack::new(self.stack_config(isn_secret), rng);
                stack.set_requests(self.requests);
                if self.late_requests > 0 {
                    let (cfg, undecided_max) = (config.clone(), self.late_requests);
                    stack.set_late_requests(Some(LateRequests { cfg, undecided_max }));
                }
                pipe::pipe(stack, self.queues)
            })
            .collect();
        if let Some(datagrams) = datagrams.take() {
            pipes[0].0.set_datagrams(datagrams);
        }
        let shards = Shards::new(isn_secret, count);
        if pipes.len() > 1 {
            pipe::share(&mut pipes, shards);
        }
        let (mut clocks, mut observed) = (self.clocks.into_iter(), self.observed);
        let (mut handles, mut ends) = (Vec::new(), Vec::new());
        for (runner, packets) in pipes {
            let clock = clocks.next().unwrap_or_else(|| Box::new(SystemClock::default()));
            let observed = std::mem::take(&mut observed);
            let mut inner = Inner::new(runner, clock, observed, config.clone(), self.addresses.clone(), least);
            inner.remembered = self.remembers.map(|remember| Box::new(Remembered::new(remember)));
            let shared = Shared::new(inner);
            handles.push(Handle::new(&shared));
            ends.push((packets, Driver::new(shared)));
        }
        Ok((Net::new(Handles::new(handles, shards)), ends))
    }

    /// Returns the least MTU that the addresses need, if the settings fit each other.
    fn check(&self, shards: usize) -> Result<u16, BuildError> {
        if self.addresses.is_empty() && self.requests.is_none() {
            return Err(BuildError::NoAddress);
        }
        if shards > 1 && self.observed.observes() {
            return Err(BuildError::Shards {
                shards,
                given: "one observer",
                remedy: "an observer sees one stack alone",
            });
        }
        if !self.clocks.is_empty() && self.clocks.len() != shards {
            let (given, remedy) = ("another number of clocks", "give each its own (`clocks`)");
            return Err(BuildError::Shards { shards, given, remedy });
        }
        let least = if self.addresses.iter().any(IpAddr::is_ipv6) { LEAST_MTU.0 } else { LEAST_MTU.1 };
        if self.device.mtu < least {
            return Err(BuildError::MtuTooSmall { mtu: self.device.mtu, least });
        }
        Ok(least)
    }

    fn make_datagrams(&mut self, rng: &Rng) -> Option<Datagrams> {
        let change = self.datagrams.take()?;
        let mut cfg = DatagramConfig::new(self.addresses.clone(), self.device.mtu);
        if self.requests.is_some_and(|requests| requests.destinations == Destinations::Any) {
            (cfg.destinations, cfg.strangers) = (datagram::Destinations::Any, Strangers::Offer);
        }
        change(&mut cfg);
        Some(Datagrams::new(cfg, rng.fork("datagrams")))
    }

    fn stack_config(&self, isn_secret: [u64; 2]) -> StackConfig {
        StackConfig { addresses: self.addresses.clone(), device: self.device, isn_secret, guards: self.guards }
    }
}

/// Returns a profile's configuration, with a bound on what is written ahead if it has none.
fn written_ahead(config: &ValidConfig) -> ValidConfig {
    let mut bounded = Config::clone(config);
    bounded.send.notsent_lowat.get_or_insert(WRITTEN_AHEAD);
    bounded.validate().unwrap_or_else(|_| config.clone())
}
