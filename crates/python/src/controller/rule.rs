//! What a congestion control in Python decides.

use base::Rate;
use cc::outside::{self, Pace};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What a controller decides; it holds until another rule. What is None stays as it is.
///
/// `window` sets the congestion window and `ssthresh` the slow-start threshold, bytes. Below the threshold each acknowledged byte opens the
/// window by `slow_start` bytes (Reno: 1), of which one ACK counts for `most_per_ack` bytes at most; above it each window of acknowledged
/// bytes opens it by `avoidance` bytes (Reno: `report.mss`). All three are zero or no limit at first, so that a window stays. `pace_bps` spreads
/// what leaves at this rate, bit/s of payload, with up to `burst` bytes at once; 0 ends that. Numbers may be floats, which are rounded down.
///
/// Raises ValueError for a number that is negative or not finite.
#[pyclass(frozen, module = "longhaul")]
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub of: outside::Rule,
}

#[pymethods]
impl Rule {
    #[new]
    #[pyo3(signature = (*, window=None, ssthresh=None, slow_start=None, avoidance=None, most_per_ack=None, pace_bps=None, burst=0.0))]
    fn new(
        window: Option<f64>,
        ssthresh: Option<f64>,
        slow_start: Option<f64>,
        avoidance: Option<f64>,
        most_per_ack: Option<f64>,
        pace_bps: Option<f64>,
        burst: f64,
    ) -> PyResult<Self> {
        let quantum = bytes("burst", Some(burst))?.unwrap_or_default();
        let pace = number("pace_bps", pace_bps)?.map(|bps| {
            // Conversion saturates; zero is not a rate.
            let rate = Rate::from_bits_per_sec(bps as u64)?;
            Some(Pace { rate, quantum })
        });
        let of = outside::Rule {
            window: bytes("window", window)?,
            ssthresh: bytes("ssthresh", ssthresh)?,
            slow_start_ppm: bytes("slow_start", slow_start.map(|share| (share * 1e6).round()))?,
            avoidance: bytes("avoidance", avoidance)?,
            most_per_ack: bytes("most_per_ack", most_per_ack)?,
            pace,
        };
        Ok(Self { of })
    }

    fn __repr__(&self) -> String {
        format!("<longhaul.Rule {:?}>", self.of)
    }
}

fn number(name: &str, given: Option<f64>) -> PyResult<Option<f64>> {
    match given {
        Some(number) if !(number.is_finite() && number >= 0.0) => {
            Err(PyValueError::new_err(format!("{name}: {number} is not a number from zero on")))
        }
        given => Ok(given),
    }
}

/// Whole bytes, or millionths: a conversion saturates, and the window has bounds of its own.
fn bytes(name: &str, given: Option<f64>) -> PyResult<Option<u32>> {
    Ok(number(name, given)?.map(|number| number as u32))
}
