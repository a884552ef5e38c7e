//! Analysis of foreign captures: the connections, their distance, what was lost, and what limited each transfer.
//!
//! A capture is read once, from the beginning, in bounded memory: [`analyze`] follows a limited number of connections at a time,
//! each with a limited number of segments in flight, and reports what it had to drop. Everything is derived from the packets
//! alone; the sender's reasons are inferred, and each inference rule is next to its use.

mod copies;
mod covered;
mod diagnosis;
mod distribution;
mod file;
mod flow;
mod headers;
mod knowledge;
mod link;
mod only;
mod pieces;
mod quantities;
mod rates;
mod records;
mod reordering;
mod report;
mod retransmission;
mod rounds;
mod rtt;
mod stream;
mod table;
#[cfg(test)]
mod testing;
mod tunnel;
mod unpack;
mod verdict;
mod window;

pub use distribution::Distribution;
pub use file::{Broken, Unreadable};
pub use only::{Host, NotAHost, Only};
pub use records::records;
pub use report::{DirectionReport, FlowReport, Offered, Reordering, TimeReport, WindowReport};
pub use verdict::Finding;

use file::{File, Packet};
use flow::{Flow, Interface};
use headers::{Segment, Skipped};
use link::Carried;
use std::io::Read;
use table::{Table, Taken};

/// Maximum number of reported connections; the smallest are omitted.
const REPORTED: usize = 16_384;

/// Packets that were not analysed, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotAnalysed {
    /// Frames that carry no IP.
    pub not_ip: u64,
    /// Frames of unsupported link types.
    pub unknown_link: u64,
    /// IP packets that carry no TCP.
    pub not_tcp: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Packets of which too few bytes were kept.
    pub short: u64,
    /// Packets with inconsistent lengths or ports.
    pub malformed: u64,
}

/// The analysis of a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Packets in the file, as far as it could be read.
    pub packets: u64,
    /// Those of TCP.
    pub segments: u64,
    /// Segments of connections that were not asked for ([`Only`]).
    pub of_others: u64,
    /// Segments captured again, as behind a mirror port; they count in no connection.
    pub copies: u64,
    /// The others.
    pub not_analysed: NotAnalysed,
    /// Connections, the one of most bytes first.
    pub flows: Vec<FlowReport>,
    /// Number of connections omitted because there were too many.
    pub flows_left_out: u64,
    /// Connections dropped as the longest idle when too many were open; their later packets count as another connection.
    pub flows_given_up: u64,
    /// Connections whose packets in flight were dropped for lack of memory.
    pub flows_forgotten: u64,
    /// Where the file becomes invalid, if it does.
    pub broken: Option<Broken>,
    /// The first malformed packet.
    pub first_malformed: Option<Broken>,
    /// The first packet that is not TCP.
    pub first_not_tcp: Option<Broken>,
}

impl Analysis {
    /// The first place where something is wrong: a defect, or in a capture without any TCP its first packet.
    pub fn first_bad(&self) -> Option<&Broken> {
        let defects = [self.first_malformed.as_ref(), self.broken.as_ref()];
        let first = defects.into_iter().flatten().min_by_key(|broken| broken.offset);
        first.or_else(|| self.first_not_tcp.as_ref().filter(|_| self.segments == 0))
    }
}

/// Reads a capture to its end, or to where it becomes invalid.
///
/// # Errors
/// If it is not a capture, or the first read of it fails.
pub fn analyze(file: impl Read) -> Result<Analysis, Unreadable> {
    analyze_only(file, &Only::default())
}

/// As [`analyze`], but follows only some of the connections. They are numbered in the order of their first packets.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_only(file: impl Read, only: &Only) -> Result<Analysis, Unreadable> {
    follow(file, only, |_, _, _| {})
}

/// As [`analyze_only`]; passes each segment to `each` after it is counted, except for copies.
fn follow(file: impl Read, only: &Only, mut each: impl FnMut(&Table, u64, &Segment)) -> Result<Analysis, Unreadable> {
    let mut file = File::open(file)?;
    let mut analysis = Analysis::default();
    let mut table = Table::default();
    loop {
        match file.next() {
            Ok(Some(packet)) => analysis.take(&packet, only, &mut table, &mut each),
            Ok(None) => break,
            Err(broken) => {
                analysis.broken = Some(broken);
                break;
            }
        }
    }
    (analysis.flows_given_up, analysis.flows_forgotten) = (table.given_up, table.forgotten);
    table.finish().for_each(|flow| analysis.end(flow));
    analysis.keep(REPORTED);
    Ok(analysis)
}

impl Analysis {
    #[inline]
    fn take(
        &mut self,
        packet: &Packet<'_>,
        only: &Only,
        table: &mut Table,
        each: &mut impl FnMut(&Table, u64, &Segment),
    ) {
        self.packets += 1;
        let ip = match link::carried(packet.link, packet.data) {
            Carried::Ip(ip) => ip,
            Carried::Other => return self.set_aside(packet, "carries no IP", |not| &mut not.not_ip),
            Carried::Short => return self.set_aside(packet, "was cut before IP", |not| &mut not.short),
            Carried::UnknownLink => {
                return self.set_aside(packet, "is of a link type that is not read", |not| &mut not.unknown_link);
            }
        };
        let inner = tunnel::inner(ip);
        let headers = packet.data.len() - inner.packet.len();
        match headers::segment(inner.packet, (packet.original_len as usize).saturating_sub(headers)) {
            Ok(segment) => {
                self.segments += 1;
                if !only.admits(&segment) {
                    self.of_others += 1;
                    return;
                }
                let index = link::interface_index(packet.link, packet.data);
                let interface = Interface { file: packet.interface, index, network: inner.network };
                match table.on_segment(packet.at, interface, &segment) {
                    Taken::Copy => self.copies += 1,
                    Taken::New { ended } => {
                        ended.into_iter().for_each(|flow| self.end(*flow));
                        each(table, packet.at, &segment);
                    }
                }
            }
            Err(Skipped::Fragment) => self.set_aside(packet, "is a fragment", |not| &mut not.fragments),
            Err(Skipped::NotTcp) => self.set_aside(packet, "is not TCP", |not| &mut not.not_tcp),
            Err(Skipped::Short) => self.set_aside(packet, "was cut before TCP's end", |not| &mut not.short),
            Err(Skipped::Malformed) => {
                self.not_analysed.malformed += 1;
                let problem = "a packet whose lengths or ports contradict themselves".to_owned();
                let remedy = "it is left out, the others are analysed; see it with `tshark -V`, drop it with `editcap`";
                self.first_malformed.get_or_insert(broken(packet, problem, remedy));
            }
        }
    }

    fn set_aside(&mut self, packet: &Packet<'_>, what: &str, count: impl Fn(&mut NotAnalysed) -> &mut u64) {
        *count(&mut self.not_analysed) += 1;
        if self.first_not_tcp.is_none() {
            let problem = format!("no packet is TCP; the first one {what}");
            let remedy = "capture where TCP passes, at Ethernet, raw IP or `-i any`, at least 128 bytes of each packet";
            self.first_not_tcp = Some(broken(packet, problem, remedy));
        }
    }

    fn end(&mut self, mut flow: Flow) {
        flow.finish();
        self.flows.push(verdict::report(&flow));
        if self.flows.len() >= 2 * REPORTED {
            self.keep(REPORTED);
        }
    }

    /// Keeps the largest flows, in order.
    fn keep(&mut self, most: usize) {
        self.flows.sort_by_key(|flow| (std::cmp::Reverse(flow.bytes()), flow.flow));
        self.flows_left_out += self.flows.len().saturating_sub(most) as u64;
        self.flows.truncate(most);
    }
}

fn broken(packet: &Packet<'_>, problem: String, remedy: &'static str) -> Broken {
    Broken { packet: packet.number, offset: packet.offset, problem, remedy }
}

#[cfg(test)]
mod tests;
