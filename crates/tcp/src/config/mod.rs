//! Everything a profile may choose, as plain data.
//!
//! Enums say *which*, numbers carry their unit in the type, and nothing here behaves. [`Config::validate`] is the only way
//! to a [`ValidConfig`], which is what machines are built from; after that the machine *is* its configuration.

mod ecn;
mod fastopen;
mod guard;
mod guards;
mod handshake;
mod lifetime;
mod path;
mod receive;
mod send;
mod timers;
mod validate;

pub use crate::recv::{AckConfig, AckTimer, DrsConfig, QuickAgain, ReceiveWindowConfig, SteppedConfig, WindowLevel};
pub use ecn::{EcnConfig, EcnNegotiation, EcnResponse, EcnSynAgain, MarkBeta};
pub use fastopen::{FastOpenClient, FastOpenConfig, FastOpenServer};
pub use guard::{ChallengeConfig, MissingTimestamps, UnsentAck};
pub use guards::GuardConfig;
pub use handshake::{DeferAccept, HandshakeConfig, SynAckAnswer, SynCookies, SynData, SynFin, WrongAck};
pub use lifetime::{CountedFrom, Farewell, KeepAliveConfig, RetryConfig, RetryLimit};
pub use path::{AnnouncedMss, Discovery, IcmpConfig, IpConfig, MtuProbing, OpeningErrors, PathMtuConfig, UnsaidMtu};
pub use receive::{FrameGrowth, FrameMemory, ReceiveAccounting};
pub use send::{ChunkRefill, ChunksConfig, SegmenterConfig}; // variant: chunks
pub use send::{
    CorkConfig, NagleConfig, PushConfig, SendAccounting, SendConfig, SendGrowth, WindowProbe, WindowShrinking,
};
pub use timers::*;
pub use validate::ConfigError;

use cc::CcConfig;
use recovery::rto::RtoConfig;
use recovery::rtt::RttConfig;
use recovery::sack::ClassifyBlock;
use recovery::{RecoveryConfig, build_block_check};
use std::sync::Arc;

/// The policy points of one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Initial window, slow start, avoidance, pacing.
    pub cc: CcConfig,
    /// Loss detector, block check and reduction.
    pub recovery: RecoveryConfig,
    /// Bounds of the retransmission timeout (RFC 6298).
    pub rto: RtoConfig,
    /// The RTT estimator's memory.
    pub rtt: RttConfig,
    /// When to give up on an unresponsive peer.
    pub retries: RetryConfig,
    /// Probes of a connection at rest (RFC 9293 §3.8.4).
    pub keepalive: KeepAliveConfig,
    /// When data is acknowledged.
    pub ack: AckConfig,
    /// The receive buffer and how it grows.
    pub receive: ReceiveConfig,
    /// The send buffer and the rules that hold small segments back.
    pub send: SendConfig,
    /// Which TCP options are offered.
    pub options: OptionsConfig,
    /// Explicit congestion notification.
    pub ecn: EcnConfig,
    /// Handshakes of connections that the peer opens.
    pub handshake: HandshakeConfig,
    /// ACKs that answer what was not processed.
    pub challenge: ChallengeConfig,
    /// Data in SYNs.
    pub fastopen: FastOpenConfig,
    /// Clock granularity and the lengths of the closing states.
    pub timers: TimersConfig,
    /// Fields of the IP header.
    pub ip: IpConfig,
    /// The path MTU and how it is found.
    pub path_mtu: PathMtuConfig,
    /// What ICMP errors may do.
    pub icmp: IcmpConfig,
}

/// The receive side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiveConfig {
    /// Fixed or auto-tuned.
    pub window: ReceiveWindowConfig,
    /// Most blocks of data that wait out of order (RFC 9293 §3.10.7.4 leaves it open whether such data is kept). A segment
    /// that would be one block more is dropped and comes again.
    pub reassembly_max: Option<u32>,
    /// What the window is a whole number of, from the peer's SYN on.
    pub rounding: WindowRounding,
    /// Room beyond the window, in full-sized segments: so much may wait to be read before the window becomes narrower. With
    /// what one ACK covers, a reader that keeps up is offered the whole window, as where a waiting read takes the bytes
    /// before the ACK leaves.
    pub spare_segments: u32,
    /// What counts against the buffer.
    pub accounting: ReceiveAccounting,
    /// Where the last byte of urgent data is found.
    pub urgent: UrgentDelivery,
    /// What an urgent pointer points to, sent or received.
    pub urgent_pointer: UrgentPointer,
}

/// Where the last byte of urgent data is found (RFC 6093).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrgentDelivery {
    /// In the stream, like all others.
    InStream,
    /// Out of it: it is fetched by itself, or lost when it is passed over.
    OutOfBand,
}

/// What an urgent pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrgentPointer {
    /// The byte that follows the urgent data (RFC 9293 §3.8.5, RFC 6093 §3.1).
    Following,
    /// The last byte of it, as RFC 1122 §4.2.2.4 had it.
    Last,
}

/// What a receive window is a whole number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRounding {
    /// Bytes.
    Bytes,
    /// Segments: the size at the start is rounded up. SYNs show it as it was, as they leave before the size of a segment is
    /// agreed on.
    Segments,
    /// Segments: the size at the start is rounded down, already in the SYN, by what is known of their size when it leaves.
    SegmentsFromSyn,
}

/// Which options a SYN carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionsConfig {
    /// Selective acknowledgement (RFC 2018).
    pub sack: SackConfig,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: TimestampConfig,
    /// What becomes of a segment without timestamps where they are in use.
    pub timestamps_missing: MissingTimestamps,
    /// Window scaling (RFC 7323 §2).
    pub window_scale: WindowScaleConfig,
    /// An upper limit for both directions' segment size, below what the device's MTU allows.
    pub mss_max: Option<u16>,
    /// Which timestamps a SYN-ACK may echo.
    pub syn_ack_echo: SynAckEcho,
}

/// The echo in a SYN-ACK's timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynAckEcho {
    /// Whatever it says, the acknowledgement counts.
    Any,
    /// That of one of our SYNs, or zero; anything else is as bad as a wrong acknowledgement.
    OfOurSyns,
}

/// Selective acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackConfig {
    /// Offered and answered, and what comes twice is reported (RFC 2883).
    Offer,
    /// Offered and answered; what comes twice is not reported.
    WithoutDuplicates,
    /// Neither.
    Off,
}

/// Timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampConfig {
    /// Offered and answered.
    Offer,
    /// Not offered, but answered when the peer offers.
    Answer,
    /// Neither.
    Off,
}

/// Window scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowScaleConfig {
    /// The smallest shift that can express the largest receive window; no option when the window does without one.
    FromBuffer,
    /// This shift, 0 to 14.
    Shift(u8),
    /// Not offered, but answered when the peer offers, as [`WindowScaleConfig::FromBuffer`].
    Answer,
    /// No option.
    Off,
}

impl Default for ReceiveConfig {
    /// 8192 blocks are more than every second segment of the default's largest window, and take 96 KiB. A peer that aims at
    /// our work and memory with single bytes and gaps gets no further.
    fn default() -> Self {
        Self {
            window: ReceiveWindowConfig::default(),
            reassembly_max: Some(8_192),
            rounding: WindowRounding::Bytes,
            spare_segments: 0,
            accounting: ReceiveAccounting::Bytes,
            urgent: UrgentDelivery::InStream,
            urgent_pointer: UrgentPointer::Following,
        }
    }
}
impl Default for OptionsConfig {
    fn default() -> Self {
        Self {
            sack: SackConfig::Offer,
            timestamps: TimestampConfig::Answer,
            timestamps_missing: MissingTimestamps::Dropped,
            window_scale: WindowScaleConfig::FromBuffer,
            mss_max: None,
            syn_ack_echo: SynAckEcho::Any,
        }
    }
}
/// A configuration in which every number is inside its bounds; cheap to clone.
#[derive(Clone, Debug)]
pub struct ValidConfig(Arc<Shared>);

/// What is the same for all connections of a configuration, hence stored once.
#[derive(Debug)]
struct Shared {
    config: Config,
    /// The policy point `recovery.blocks`, built: it has no state of its own.
    classify: ClassifyBlock,
}

impl ValidConfig {
    /// Only for a configuration that was found valid.
    fn new(config: Config) -> Self {
        let classify = build_block_check(&config.recovery.blocks);
        Self(Arc::new(Shared { config, classify }))
    }
    /// The check of SACK blocks.
    #[inline]
    pub(crate) fn classify(&self) -> ClassifyBlock {
        self.0.classify
    }
}

impl core::ops::Deref for ValidConfig {
    type Target = Config;
    fn deref(&self) -> &Config {
        &self.0.config
    }
}

/// What was built follows from the configuration.
impl PartialEq for ValidConfig {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl Eq for ValidConfig {}
