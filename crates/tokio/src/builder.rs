//! How a stack is put together.

use crate::clock::{Clock, SystemClock};
use crate::driver::Driver;
use crate::net::Net;
use crate::observed::Observed;
use crate::shared::{Handle, Inner, Shared};
use base::Rng;
use datagram::{DatagramConfig, Datagrams, Strangers};
use pipe::{Bounds, RunnerConfig, Tunnel};
use std::fmt;
use std::net::IpAddr;
use tcp::config::{GuardConfig, WrittenData};
use tcp::{
    Config, Destinations, DeviceCaps, LateRequests, RequestConfig, Segmentation, StackConfig, TxChecksum, ValidConfig,
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
    clock: Option<Box<dyn Clock>>,
    observed: Observed,
    seed: Option<u64>,
}

type Change = Box<dyn FnOnce(&mut DatagramConfig) + Send>;

#[derive(Clone, Debug)]
enum Profile {
    Named(String),
    Given(ValidConfig),
}

/// Why a stack cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No address, and no other destination either: nothing could reach it.
    #[error("the stack has no address: give it `addresses`, or let it stand for `any_destination`")]
    NoAddress,
    /// The MTU is too small for the addresses' IP version.
    #[error("an MTU of {mtu} bytes: this stack needs {least} at least")]
    MtuTooSmall {
        /// What was given.
        mtu: u16,
        /// What is needed.
        least: u16,
    },
    /// No profile has the name.
    #[error(transparent)]
    UnknownProfile(#[from] profiles::UnknownProfile),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for initial sequence numbers: {0}")]
    NoEntropy(getrandom::Error),
}

impl Default for StackBuilder {
    /// MTU 1,500, the profile `longhaul`, no addresses, no requests, the bounds of [`GuardConfig`] and [`Bounds`], 64 other packets
    /// that may wait, the machine's clock.
    fn default() -> Self {
        let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        Self {
            addresses: Vec::new(),
            device,
            profile: Profile::Named("longhaul".to_owned()),
            requests: None,
            late_requests: 0,
            guards: GuardConfig::default(),
            queues: RunnerConfig { others: 64, ..RunnerConfig::default() },
            datagrams: Some(Box::new(|_| {})),
            clock: None,
            observed: Observed::default(),
            seed: None,
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
            .field("queues", &self.queues);
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
        self.clock = Some(Box::new(clock));
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
        if self.addresses.is_empty() && self.requests.is_none() {
            return Err(BuildError::NoAddress);
        }
        let least = if self.addresses.iter().any(IpAddr::is_ipv6) { LEAST_MTU.0 } else { LEAST_MTU.1 };
        if self.device.mtu < least {
            return Err(BuildError::MtuTooSmall { mtu: self.device.mtu, least });
        }
        let config = match self.profile {
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
        let addresses = self.addresses.clone();
        let any = self.requests.is_some_and(|requests| requests.destinations == Destinations::Any);
        let datagrams = self.datagrams.map(|change| {
            let mut cfg = DatagramConfig::new(addresses.clone(), self.device.mtu);
            if any {
                (cfg.destinations, cfg.strangers) = (datagram::Destinations::Any, Strangers::Offer);
            }
            change(&mut cfg);
            Datagrams::new(cfg, rng.fork("datagrams"))
        });
        let stack = StackConfig { addresses: self.addresses, device: self.device, isn_secret, guards: self.guards };
        let mut stack = tcp::Stack::new(stack, rng);
        stack.set_requests(self.requests);
        if self.late_requests > 0 {
            let (cfg, undecided_max) = (config.clone(), self.late_requests);
            stack.set_late_requests(Some(LateRequests { cfg, undecided_max }));
        }
        let (mut runner, packets) = pipe::pipe(stack, self.queues);
        datagrams.into_iter().for_each(|datagrams| runner.set_datagrams(datagrams));
        let clock = self.clock.unwrap_or_else(|| Box::new(SystemClock::default()));
        let shared = Shared::new(Inner::new(runner, clock, self.observed, config, addresses, least));
        Ok((Net::new(Handle::new(&shared)), packets, Driver::new(shared)))
    }
}

/// Returns a profile's configuration, with a bound on what is written ahead if it has none.
fn written_ahead(config: &ValidConfig) -> ValidConfig {
    let mut bounded = Config::clone(config);
    bounded.send.notsent_lowat.get_or_insert(WRITTEN_AHEAD);
    bounded.validate().unwrap_or_else(|_| config.clone())
}
