//! Every choice of a profile, as plain data.
//!
//! Enums say *which*, numbers carry their unit in the type, and the module has no behaviour. [`Config::validate`] is the only way
//! to a [`ValidConfig`], which machines are built from; after that the machine *is* its configuration.

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
pub use guards::{GuardConfig, WrittenData};
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
    /// Probes of an idle connection (RFC 9293 §3.8.4).
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
    /// ACKs in answer to segments that were not processed.
    pub challenge: ChallengeConfig,
    /// Data in SYNs.
    pub fastopen: FastOpenConfig,
    /// Clock granularity and the lengths of the closing states.
    pub timers: TimersConfig,
    /// Fields of the IP header.
    pub ip: IpConfig,
    /// The path MTU and its discovery.
    pub path_mtu: PathMtuConfig,
    /// What ICMP errors may do.
    pub icmp: IcmpConfig,
}

/// The receive side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiveConfig {
    /// Fixed or auto-tuned.
    pub window: ReceiveWindowConfig,
    /// Maximum number of out-of-order blocks (RFC 9293 §3.10.7.4 does not require keeping such data). A segment that would add
    /// one more is dropped; the peer sends it again.
    pub reassembly_max: Option<u32>,
    /// The unit to which the window is rounded, starting with the peer's SYN.
    pub rounding: WindowRounding,
    /// Room beyond the window, in full-sized segments: this much may wait unread before the window shrinks. With the amount that
    /// one ACK covers, a reader that keeps up is offered the whole window, as on a system where a waiting read takes the bytes
    /// before the ACK leaves.
    pub spare_segments: u32,
    /// What counts against the buffer.
    pub accounting: ReceiveAccounting,
    /// Where the application finds the last byte of urgent data.
    pub urgent: UrgentDelivery,
    /// What an urgent pointer refers to, sent or received.
    pub urgent_pointer: UrgentPointer,
}

/// Where the application finds the last byte of urgent data (RFC 6093).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrgentDelivery {
    /// In the stream, like all other bytes.
    InStream,
    /// Outside the stream: the application fetches it separately, or loses it by reading past it.
    OutOfBand,
}

/// What an urgent pointer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrgentPointer {
    /// The byte that follows the urgent data (RFC 9293 §3.8.5, RFC 6093 §3.1).
    Following,
    /// The last byte of the urgent data, as in RFC 1122 §4.2.2.4.
    Last,
}

/// The unit to which a receive window is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRounding {
    /// Bytes.
    Bytes,
    /// Segments: the initial size is rounded up. SYNs carry the unrounded size, because they leave before the segment size is
    /// agreed on.
    Segments,
    /// Segments: the initial size is rounded down, even in the SYN, by the segment size known when it leaves.
    SegmentsFromSyn,
}

/// Which options a SYN carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionsConfig {
    /// Selective acknowledgement (RFC 2018).
    pub sack: SackConfig,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: TimestampConfig,
    /// How to treat a segment without timestamps on a connection that uses them.
    pub timestamps_missing: MissingTimestamps,
    /// Window scaling (RFC 7323 §2).
    pub window_scale: WindowScaleConfig,
    /// Upper limit of the segment size in both directions, below what the device's MTU allows.
    pub mss_max: Option<u16>,
    /// Which timestamps a SYN-ACK may echo.
    pub syn_ack_echo: SynAckEcho,
}

/// How to judge the timestamp echo of a SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynAckEcho {
    /// The acknowledgement is accepted whatever the echo is.
    Any,
    /// The echo of one of our SYNs, or zero; any other is treated like a wrong acknowledgement.
    OfOurSyns,
}

/// Selective acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackConfig {
    /// Offered and answered; duplicates are reported (RFC 2883).
    Offer,
    /// Offered and answered; duplicates are not reported.
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
    /// The smallest shift that can express the largest receive window; no option if the window needs none.
    FromBuffer,
    /// This shift, 0 to 14.
    Shift(u8),
    /// Not offered, but answered when the peer offers, as [`WindowScaleConfig::FromBuffer`].
    Answer,
    /// No option.
    Off,
}

impl Default for ReceiveConfig {
    /// 8192 blocks cover more than every second segment of the default's largest window and take 96 KiB. This bounds the work and
    /// memory that a peer can cause with single bytes and gaps.
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
/// A configuration whose values are all within bounds; cheap to clone.
#[derive(Clone, Debug)]
pub struct ValidConfig(Arc<Shared>);

/// State shared by all connections of a configuration, hence stored once.
#[derive(Debug)]
struct Shared {
    config: Config,
    /// The built form of `recovery.blocks`: it has no state of its own.
    classify: ClassifyBlock,
}

impl ValidConfig {
    /// Requires a configuration that passed validation.
    fn new(config: Config) -> Self {
        let classify = build_block_check(&config.recovery.blocks);
        Self(Arc::new(Shared { config, classify }))
    }
    /// Returns whether both are one in memory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// Returns the check of SACK blocks.
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

/// Compares configurations only: the built parts follow from them.
impl PartialEq for ValidConfig {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl Eq for ValidConfig {}
