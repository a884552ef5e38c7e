//! What a congestion control in Python is shown.

use cc::outside::{self, Cause, Sample};
use pyo3::prelude::*;

/// What has happened on a connection since the last report, and how it stands. Times are ns of virtual time, rates bit/s of payload, all else
/// bytes. The five lists have one value an ACK, in order of time; of rounds with more than 1024 ACKs, evenly spread ones.
#[pyclass(frozen, module = "longhaul")]
#[derive(Debug)]
pub struct Report {
    cause: Cause,
    now_ns: u64,
    seed: u32,
    rounds: u64,
    window: u32,
    ssthresh: Option<u32>,
    mss: u32,
    in_flight: u32,
    acked: u64,
    delivered: u64,
    marked: u64,
    lost: u64,
    srtt_ns: Option<u64>,
    min_rtt_ns: Option<u64>,
    samples: Vec<Sample>,
}

impl Report {
    pub fn new(of: &outside::Report<'_>) -> Self {
        let ssthresh = of.window.ssthresh();
        Self {
            cause: of.cause,
            now_ns: of.now.as_nanos(),
            seed: of.seed,
            rounds: of.rounds,
            window: of.window.cwnd(),
            ssthresh: (ssthresh != cc::Window::UNKNOWN).then_some(ssthresh),
            mss: of.window.smss(),
            in_flight: of.pipe,
            acked: of.acked,
            delivered: of.delivered,
            marked: of.marked,
            lost: of.lost,
            srtt_ns: of.srtt.map(|span| span.as_nanos()),
            min_rtt_ns: of.min_rtt.map(|span| span.as_nanos()),
            samples: of.samples.to_vec(),
        }
    }
}

#[pymethods]
impl Report {
    /// The method that gets it: `start`, `round`, `loss`, `mark`, `timeout` or `undone`.
    #[getter]
    fn cause(&self) -> &'static str {
        match self.cause {
            Cause::Start => "start",
            Cause::Round => "round",
            Cause::Loss { .. } => "loss",
            Cause::Mark { .. } => "mark",
            Cause::Timeout { .. } => "timeout",
            Cause::Undone => "undone",
        }
    }

    /// The present time, ns since the run began.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// A number that differs between connections and is the same when a run is made again: `random.Random(report.seed)` can be repeated.
    #[getter]
    fn seed(&self) -> u32 {
        self.seed
    }

    /// Rounds so far, this one included. A round ends when all that was in flight at its beginning is acknowledged.
    #[getter]
    fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The congestion window, bytes.
    #[getter]
    fn window(&self) -> u32 {
        self.window
    }

    /// The slow-start threshold, bytes; None before the first one.
    #[getter]
    fn ssthresh(&self) -> Option<u32> {
        self.ssthresh
    }

    /// Whether the window is below the threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh)
    }

    /// Payload of a full segment, bytes.
    #[getter]
    fn mss(&self) -> u32 {
        self.mss
    }

    /// Bytes in flight: sent, and neither delivered nor lost.
    #[getter]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Bytes that may open the window: cumulatively acknowledged outside fast recovery, while the window limited the sender.
    #[getter]
    fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes that arrived, by whatever acknowledgement.
    #[getter]
    fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Of the delivered bytes, those whose acknowledgement echoes a congestion mark.
    #[getter]
    fn marked(&self) -> u64 {
        self.marked
    }

    /// Bytes that were marked lost.
    #[getter]
    fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes outstanding, sent and not cumulatively acknowledged, when a signal arrived; None in other reports.
    #[getter]
    fn outstanding(&self) -> Option<u32> {
        match self.cause {
            Cause::Loss { flight_size } | Cause::Mark { flight_size } | Cause::Timeout { flight_size, .. } => {
                Some(flight_size)
            }
            Cause::Start | Cause::Round | Cause::Undone => None,
        }
    }

    /// Whether a timeout is the first for its data; None in other reports.
    #[getter]
    fn first(&self) -> Option<bool> {
        if let Cause::Timeout { first, .. } = self.cause { Some(first) } else { None }
    }

    /// The smoothed round trip, ns, or None.
    #[getter]
    fn srtt_ns(&self) -> Option<u64> {
        self.srtt_ns
    }

    /// The least round trip of the last minutes, ns, or None.
    #[getter]
    fn min_rtt_ns(&self) -> Option<u64> {
        self.min_rtt_ns
    }

    /// When ACKs arrived, ns: a list of n numbers.
    #[getter]
    fn times_ns(&self) -> Vec<u64> {
        self.samples.iter().map(|sample| sample.at.as_nanos()).collect()
    }

    /// Bytes that each ACK newly delivered: a list of n numbers.
    #[getter]
    fn deliveries(&self) -> Vec<u32> {
        self.samples.iter().map(|sample| sample.delivered).collect()
    }

    /// Bytes in flight after each ACK: a list of n numbers.
    #[getter]
    fn flights(&self) -> Vec<u32> {
        self.samples.iter().map(|sample| sample.pipe).collect()
    }

    /// The round trip that each ACK measured, ns: a list of n numbers, None where an ACK measured none.
    #[getter]
    fn rtts_ns(&self) -> Vec<Option<u64>> {
        self.samples.iter().map(|sample| sample.rtt.map(|span| span.as_nanos())).collect()
    }

    /// The delivery rate at each ACK, bit/s: a list of n numbers, None where none could be formed or the application limited it.
    #[getter]
    fn rates_bps(&self) -> Vec<Option<u64>> {
        let of = |sample: &Sample| sample.rate.filter(|_| !sample.app_limited).map(|rate| rate.bits_per_sec());
        self.samples.iter().map(of).collect()
    }

    fn __repr__(&self) -> String {
        let (cause, seconds) = (self.cause(), self.now_ns as f64 / 1e9);
        format!("<longhaul.Report {cause} at {seconds:.6} s: window {}, acked {}>", self.window, self.acked)
    }
}
