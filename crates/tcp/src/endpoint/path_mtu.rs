//! The path MTU: what routers say (RFC 1191, RFC 8201), how long it is believed, and what it makes of the segment size.
//!
//! The search that needs no routers is `mtu_search`'s. A path MTU that shrinks is not a sign of congestion: what is too large
//! is cut and sent again under the window as it is.
//!
//! Any host that guesses a sequence number in flight can send such a message, so it is believed in two stages (RFC 5927
//! §7.2): at once while nothing that large is known to arrive, and else only if its segment times out as well.
//!
//! Deviations: a connection hears of its path through its own segments and at its beginning, not through those of other
//! connections to the same host: each learns by itself, at the price of one segment, and no message makes work that
//! grows with the number of connections. Packets below 100 bytes are left to routers to cut, so that there is always
//! room for options and some data.

use super::mtu_search::Search;
use super::{Endpoint, SendSide};
use crate::config::{AnnouncedMss, Discovery, MtuProbing, UnsaidMtu};
use crate::cx::Cx;
use crate::options::{self, TIMESTAMP_BYTES};
use base::{Bytes, Instant, SeqNum};
use core::net::IpAddr;
use recovery::{Episode, Mark};
use trace::Observer;
use wire::Fragmentation;

/// The least that is announced where less is known of the path: 256 bytes of data.
const LEAST_ANNOUNCED_V4: u16 = 296;

/// What is known of a connection's path beyond its first link.
#[derive(Clone, Debug, Default)]
pub(super) struct PathMtu {
    /// The segment size that the SYNs agreed on, options not deducted; noted when it is first gone below.
    pub agreed: Option<u16>,
    /// What a router said.
    pub learned: Option<LearnedMtu>,
    /// What was found out without one.
    pub search: Option<Search>,
    /// A router's word that waits for its segment to time out.
    pub pending: Option<Pending>,
    /// What was sent again at a router's word since anything was acknowledged, bytes.
    pub resent: Bytes,
    /// What was learned is new to the stack.
    pub news: bool,
}

/// A message about a size that the path took before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// First number of the segment that it speaks of.
    pub seq: SeqNum,
    pub mtu: u16,
    pub cut: MayCut,
}

/// A router's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LearnedMtu {
    /// Bytes of a packet.
    pub mtu: u16,
    /// Whether routers may cut packets of even that size.
    pub cut: MayCut,
    /// A larger size is tried from then on.
    pub until: Instant,
    /// About whose segment.
    pub about: About,
}

/// Whose segment a router could not forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// One of this connection.
    This,
    /// One of an earlier connection to the same host.
    Earlier,
}

/// Whether routers may cut what leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayCut {
    No,
    Yes,
}

/// The least MTU of a link that carries IPv6 (RFC 8200 §5).
const LEAST_V6: u32 = 1280;
/// Packets smaller than this have no room for TCP's options and data.
const LEAST_USEFUL: u16 = 100;
/// Least payload and options of a segment, whatever the path.
const LEAST_MSS: u32 = 48;

/// Sizes of packets that links commonly take (RFC 1191 §7), largest first.
const PLATEAUS: [u16; 11] = [65_535, 32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508, 296, 68];

/// The largest common size below `len`.
fn plateau_below(len: u16) -> u16 {
    PLATEAUS.into_iter().find(|&size| size < len).unwrap_or(PLATEAUS[PLATEAUS.len() - 1])
}

/// Bytes of IP and TCP header without options.
pub(super) const fn headers(local: IpAddr) -> u16 {
    if local.is_ipv4() { 40 } else { 60 }
}

impl PathMtu {
    /// Keeps one message: the one about the earliest segment, which is the first to time out, and of several about that one
    /// the most cautious.
    fn keep(&mut self, new: Pending) {
        let order =
            |pending: &Pending| pending.seq.before(new.seq) || (pending.seq == new.seq && pending.mtu < new.mtu);
        if !self.pending.as_ref().is_some_and(order) {
            self.pending = Some(new);
        }
    }

    /// Everything before `una` was acknowledged.
    pub fn on_progress(&mut self, una: SeqNum) {
        self.resent = 0;
        self.pending = self.pending.filter(|pending| pending.seq.at_or_after(una));
    }
}

impl Endpoint {
    /// Bytes of the largest packet that the path takes, as far as routers have said (RFC 1191 §3: PMTU).
    pub fn path_mtu(&self) -> u16 {
        self.learned_mtu().map_or(self.mtu, |learned| learned.mtu.min(self.mtu))
    }

    /// What a router said last, and may be remembered for the next connection.
    pub(crate) fn learned_mtu(&self) -> Option<LearnedMtu> {
        self.extras.as_ref()?.path.learned
    }

    /// What our SYN says of the size of segments.
    pub(super) fn announced_mss(&self) -> u16 {
        let least = if self.tuple.local.is_ipv4() { LEAST_ANNOUNCED_V4 } else { LEAST_V6 as u16 };
        let heard = self.learned_mtu().filter(|learned| learned.about == About::This);
        let mtu = match (self.cfg.path_mtu.announced, heard) {
            (AnnouncedMss::Path, Some(learned)) => learned.mtu.max(least).min(self.mtu),
            _ => self.mtu,
        };
        options::own_mss(&self.cfg, mtu, self.tuple.local)
    }

    /// Bytes that options take of every segment.
    pub(super) fn option_bytes(&self) -> Bytes {
        if self.neg.timestamps { TIMESTAMP_BYTES } else { 0 }
    }

    /// The segment size that the SYNs agreed on, options not deducted.
    pub(super) fn agreed_mss(&self) -> u16 {
        let agreed = self.extras.as_ref().and_then(|extras| extras.path.agreed);
        agreed.unwrap_or((self.snd.space.smss() + self.option_bytes()).min(u32::from(u16::MAX)) as u16)
    }

    /// What is known of the path, about to change: the present size was the agreed one if it never did.
    pub(super) fn path_mut(&mut self) -> &mut PathMtu {
        let agreed = self.agreed_mss();
        let path = &mut self.extras_mut().path;
        path.agreed.get_or_insert(agreed);
        path
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A connection to a host whose path is known begins with segments that fit, and announces its own size as ever.
    /// The stack knows the path from an earlier connection to the same host.
    pub(crate) fn know_path(&mut self, learned: LearnedMtu) {
        if self.cfg.path_mtu.discovery == Discovery::On {
            self.path_mut().learned = Some(LearnedMtu { about: About::Earlier, ..learned });
            self.fit_path();
        }
    }

    /// The SYNs have agreed on `snd.smss`; the path may take less.
    pub(super) fn begin_path(&mut self, now: Instant) {
        let config = self.cfg.path_mtu;
        let searching = config.probing == MtuProbing::Always && config.discovery != Discovery::Off;
        if self.extras.is_none() && !searching {
            return;
        }
        let agreed = (self.snd.space.smss() + self.option_bytes()) as u16;
        self.extras_mut().path.agreed = Some(agreed);
        if searching {
            self.begin_search(now);
        }
        let smss = self.smss_of_path();
        self.snd.space.set_smss(smss);
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A router that says nothing of its MTU is answered by the next smaller common size.
    //= specs/rfc1191.md#the-path-mtu
    //# A message that would make the path MTU larger changes nothing.
    //= specs/rfc8201.md#the-path-mtu
    //# A message that names less than 1280 bytes, or more than the present path MTU, changes nothing.
    /// What a message means, if it means anything: RFC 1191 §3 to §5, RFC 8201 §4.
    fn believed(&self, said: u32, packet_len: u16) -> Option<(u16, MayCut)> {
        let config = &self.cfg.path_mtu;
        let present = self.path_mtu();
        let size = match (said, config.unsaid) {
            (said, _) if !self.tuple.local.is_ipv4() => (said >= LEAST_V6).then_some(said)?,
            (0, UnsaidMtu::Least) => 0,
            (0, UnsaidMtu::Plateau) => {
                let too_large = if packet_len == 0 { present } else { packet_len.min(present) };
                u32::from(plateau_below(too_large))
            }
            (said, _) => said,
        };
        let size = u16::try_from(size).ok().filter(|&size| size < present)?;
        let least = if self.tuple.local.is_ipv4() { config.min_v4.max(LEAST_USEFUL).min(present) } else { size };
        Some(if size < least { (least, MayCut::Yes) } else { (size, MayCut::No) })
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A message about a packet that was too large lowers the path MTU to what it names.
    //= specs/rfc1191.md#the-path-mtu
    //# The path MTU is never taken for less than 68 bytes.
    //= specs/rfc5927.md#path-mtu
    //# A message that names a size which no delivered segment exceeds lowers the path MTU at once.
    //= specs/rfc5927.md#path-mtu
    //# Any other message changes nothing until its segment times out, and is dropped when that is acknowledged.
    /// A router could not forward the segment of ours that begins at `seq`, because it was too large.
    pub(super) fn on_too_big<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seq: SeqNum, said: u32, packet_len: u16) {
        if self.cfg.path_mtu.discovery != Discovery::On {
            return;
        }
        let Some((mtu, cut)) = self.believed(said, packet_len) else { return };
        if self.takes_more_than(mtu) {
            return self.path_mut().keep(Pending { seq, mtu, cut });
        }
        self.narrow_path(cx.now, mtu, cut);
        self.take_data_out_of_syn();
        let path = self.path_mut();
        let resent = path.resent;
        let most = self.cfg.cc.initial_window.bytes(self.snd.space.smss()).saturating_sub(resent);
        let marked = self.cut_to_path(cx, most);
        self.path_mut().resent += marked;
    }

    /// Whether a packet of more than `mtu` bytes is known to have arrived.
    fn takes_more_than(&self, mtu: u16) -> bool {
        let largest = u32::from(self.snd.space.largest_delivered());
        largest > 0 && largest + u32::from(headers(self.tuple.local)) + self.option_bytes() > u32::from(mtu)
    }

    /// The path takes no more than `mtu` bytes from now on.
    fn narrow_path(&mut self, now: Instant, mtu: u16, cut: MayCut) {
        let until = now + self.cfg.path_mtu.raise_after;
        let path = self.path_mut();
        path.learned = Some(LearnedMtu { mtu, cut, until, about: About::This });
        (path.pending, path.news) = (None, true);
        if let Some(search) = &mut path.search {
            search.on_narrower(mtu);
        }
        self.fit_path();
        // What larger segments have shown is over.
        self.snd.space.forget_larger();
    }

    /// The retransmission timer expired: what a router said about the first segment is true, as it seems. What was too large
    /// is cut and lost, and leaves as after any timeout.
    pub(super) fn hear_pending_mtu(&mut self, now: Instant) {
        let first = self.snd.rec.board.first().filter(|first| first.mark != Mark::Sacked);
        let Some(path) = self.extras.as_mut().map(|extras| &mut extras.path) else { return };
        // A timeout has slowed the sender down: the next message may have as much sent again.
        path.resent = 0;
        let about = |pending: &mut Pending| first.is_some_and(|first| first.range().contains(pending.seq));
        let Some(Pending { mtu, cut, .. }) = path.pending.take_if(about) else { return };
        // The path may have been found narrower meanwhile.
        if mtu < self.path_mtu() {
            self.narrow_path(now, mtu, cut);
            self.recut(Bytes::MAX);
        }
    }

    /// A path that a message has just shown to be narrower, for other connections to the same host.
    #[inline]
    pub(crate) fn take_path_news(&mut self) -> Option<LearnedMtu> {
        let path = &mut self.extras.as_mut()?.path;
        core::mem::take(&mut path.news).then_some(path.learned)?
    }

    //= specs/rfc1191.md#the-path-mtu
    //# A path MTU is kept for ten minutes after a router named it; then a larger one is tried.
    //= specs/rfc8201.md#the-path-mtu
    //# A larger path MTU is not tried within five minutes of the message that named the present one.
    /// Before new data leaves: what a router said long ago may not hold any more.
    #[inline]
    pub(super) fn renew_path(&mut self, now: Instant) {
        if self.extras.is_some() {
            self.forget_old_path(now);
        }
    }

    #[cold]
    fn forget_old_path(&mut self, now: Instant) {
        let path = &mut self.extras_mut().path;
        if path.learned.is_some_and(|learned| learned.until <= now) {
            path.learned = None;
            self.fit_path();
        }
    }

    //= specs/rfc9293.md#segment-size
    //# A segment with its options is no larger than the peer and the path take.
    /// The segment size that the path takes, options deducted.
    pub(super) fn smss_of_path(&self) -> Bytes {
        let search = self.extras.as_ref().and_then(|extras| extras.path.search.as_ref());
        let mtu = search.map_or(self.path_mtu(), |search| search.confirmed().min(self.path_mtu()));
        let room = u32::from(mtu.saturating_sub(headers(self.tuple.local)));
        let overhead = self.option_bytes();
        room.min(u32::from(self.agreed_mss())).max(LEAST_MSS + overhead) - overhead
    }

    //= specs/rfc1191.md#a-smaller-path-mtu
    //# The congestion window is not reduced.
    /// Takes over the size that the path takes now; the window keeps its bytes.
    pub(super) fn fit_path(&mut self) {
        let smss = self.smss_of_path();
        if smss == self.snd.space.smss() {
            return;
        }
        self.snd.space.set_smss(smss);
        if self.life.state().is_synchronized() || !self.snd.rec.board.is_empty() {
            self.snd.cc.on_smss_change(smss);
        } else {
            // Nothing was sent yet: the initial window is one of segments of this size.
            self.snd.cc = cc::build(&self.cfg.cc, smss, self.snd.space.iss());
        }
    }

    //= specs/rfc1191.md#a-smaller-path-mtu
    //# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
    //= specs/rfc1191.md#a-smaller-path-mtu
    //# A message that does not make the path MTU smaller causes no retransmission.
    /// What is in flight and too large will not arrive: it is cut, and up to `most` bytes of it wait for retransmission.
    /// The controller does not hear of it as a loss, nor will duplicate ACKs for it be one. Returns how many bytes wait.
    pub(super) fn cut_to_path<O: Observer>(&mut self, cx: &mut Cx<'_, O>, most: Bytes) -> Bytes {
        let marked = self.recut(most);
        if marked == 0 {
            return 0;
        }
        if self.snd.rec.episode() == Episode::Open {
            self.snd.rec.tail.reset();
            self.snd.rec.undo = None;
            self.set_episode(cx, Episode::Loss { point: self.snd.space.nxt() }, "path_mtu");
        }
        self.arm_loss_timer(cx);
        marked
    }

    /// Cuts what is in flight and too large; the bytes that are lost with it, of which `most` may be.
    pub(super) fn recut(&mut self, most: Bytes) -> Bytes {
        let fin = u32::from(self.snd.space.side() == SendSide::FinSent);
        self.snd.rec.board.recut(self.snd.space.smss(), fin, most)
    }

    //= specs/rfc1191.md#the-path-mtu
    //# Packets leave with DF set.
    /// DF, and the identification of what leaves without it.
    #[inline]
    pub(super) fn fragmentation(&self) -> Fragmentation {
        let cut = self.cfg.path_mtu.discovery == Discovery::Off
            || self.learned_mtu().is_some_and(|learned| learned.cut == MayCut::Yes);
        if cut && self.tuple.local.is_ipv4() {
            // RFC 6864 §4.3 asks for numbers that do not come again soon: each connection counts from a place of its own.
            let from = (self.snd.space.iss().0 >> 16) as u16;
            return Fragmentation::Allowed { id: from.wrapping_add(self.tally.segments_sent as u16) };
        }
        Fragmentation::Forbidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Numbering;
    use test_case::test_case;

    #[test_case(1500, 1492)]
    #[test_case(1492, 1006; "a common size itself is too large")]
    #[test_case(u16::MAX, 32_000)]
    #[test_case(69, 68)]
    #[test_case(68, 68; "never below")]
    #[test_case(0, 68)]
    fn the_next_smaller_common_size(len: u16, expected: u16) {
        assert_eq!(plateau_below(len), expected);
    }

    //= specs/rfc8201.md#the-path-mtu
    //= type=test
    //# A message that names less than 1280 bytes, or more than the present path MTU, changes nothing.
    #[test_case(1279, None; "less than any path of this version takes")]
    #[test_case(1280, Some(1280))]
    #[test_case(1499, Some(1499))]
    #[test_case(1501, None; "more than what is sent")]
    fn over_ipv6_a_router_is_believed(said: u32, expected: Option<u16>) {
        let home = core::net::IpAddr::V6(core::net::Ipv6Addr::LOCALHOST);
        let tuple = crate::FourTuple { remote_port: 7, local_port: 8, remote: home, local: home };
        let numbering = Numbering { iss: base::SeqNum(1), ts_offset: 0 };
        let (mut rng, mut off) = (base::Rng::new(1), trace::Off);
        let mut cx = Cx::new(Instant::ZERO, &mut rng, trace::ConnId(1), &mut off);
        let cfg = crate::testing::valid(crate::testing::quick());
        let endpoint = Endpoint::connect(&cfg, tuple, numbering, 1500, &mut cx);
        assert_eq!(endpoint.believed(said, 0).map(|(mtu, _)| mtu), expected);
    }
}
