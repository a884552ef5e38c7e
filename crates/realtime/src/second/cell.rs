//! Paths of the second kind, and the programs at their ends.

use std::str::FromStr;

/// Round trips and rates of the experiments, and two that no experiment has.
const CELLS: [&str; 6] =
    ["25ms@100Mbit", "50ms@100Mbit", "100ms@100Mbit", "200ms@100Mbit", "37ms@60Mbit", "130ms@35Mbit"];

/// A path: a round-trip time and a rate, with a buffer of one product of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// As requested.
    pub name: String,
    /// Round-trip time of the empty path, microseconds.
    pub rtt_us: u64,
    /// Bits a second.
    pub rate_bps: u64,
}

impl Cell {
    /// One product of rate and round trip.
    pub fn buffer_bytes(&self) -> u64 {
        self.rate_bps * self.rtt_us / 8_000_000
    }

    /// Returns the one-way time through the empty path for a packet of 1500 bytes, in milliseconds.
    pub fn delay_ms(&self) -> f64 {
        self.rtt_us as f64 / 2e3 + 12e6 / self.rate_bps as f64
    }

    /// Returns the cells measured by default.
    pub fn default_cells() -> Vec<Self> {
        CELLS.iter().map(|cell| cell.parse().expect("it is well-formed")).collect()
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rtt, rate) = text.split_once('@').ok_or_else(|| format!("`{text}`: write for example `37ms@60Mbit`"))?;
        let (rtt, rate) = (profiles::units::duration(rtt)?, profiles::units::rate(rate)?);
        let cell = Self { name: text.to_owned(), rtt_us: rtt.as_nanos() / 1_000, rate_bps: rate.bits_per_sec() };
        if cell.buffer_bytes() < 3_000 {
            return Err(format!("`{text}`: a buffer of one product holds no two packets; choose more of either"));
        }
        Ok(cell)
    }
}

/// What is at the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The kernel's CUBIC at both: the reference.
    Kernel,
    /// `longhaul send` to the kernel.
    Send,
    /// `longhaul send` to `longhaul serve`.
    SendServe,
}

impl Arm {
    /// In the order of the table, the reference first.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Send, Self::SendServe];

    /// What the table calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel:cubic",
            Self::Send => "send",
            Self::SendServe => "send, serve",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_round_trip_and_a_rate() {
        let cell: Cell = "37ms@60Mbit".parse().unwrap();
        assert_eq!((cell.rtt_us, cell.rate_bps, cell.buffer_bytes()), (37_000, 60_000_000, 277_500));
        assert!((cell.delay_ms() - 18.7).abs() < 1e-9);
        assert!("37ms".parse::<Cell>().is_err() && "1ms@1Mbit".parse::<Cell>().is_err());
        assert_eq!(Cell::default_cells().len(), CELLS.len());
    }
}
