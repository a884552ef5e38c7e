//! The final message of `longhaul ab` on stderr: how long it took, and how fast it was. Never part of results.

use crate::progress::note;
use lab::Finished;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Processor time of this process so far, all threads together.
fn cpu_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok().map(Duration::from)
}

/// Reports how much was done in `elapsed`.
pub fn print(finished: &Finished, elapsed: Duration) {
    if finished.resumed > 0 {
        note!("resumed: {} runs were there already", finished.resumed);
    }
    if let Some(cpu) = cpu_time() {
        note!("cpu: {:.2} s", cpu.as_secs_f64());
    }
    note!("{}", last_line(finished, elapsed));
}

fn last_line(finished: &Finished, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let per_job = finished.packets as f64 / (seconds.max(1e-9) * finished.jobs as f64);
    format!(
        "done: {} runs, {} packets in {seconds:.2} s on {} jobs ({} packets/s per job)",
        finished.made,
        finished.packets,
        finished.jobs,
        scaled(per_job)
    )
}

/// `845`, `845k` or `1.62M`.
fn scaled(number: f64) -> String {
    if number >= 999_500.0 {
        format!("{:.2}M", number / 1e6)
    } else if number >= 10_000.0 {
        format!("{:.0}k", number / 1e3)
    } else {
        format!("{number:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_their_unit() {
        for (number, text) in
            [(0.0, "0"), (845.4, "845"), (9_999.0, "9999"), (845_400.0, "845k"), (1_623_000.0, "1.62M")]
        {
            assert_eq!(scaled(number), text);
        }
    }

    #[test]
    fn the_last_line_has_its_form() {
        let finished = Finished { made: 240, packets: 3_000_000, jobs: 2, ..Finished::default() };
        let line = last_line(&finished, Duration::from_millis(1_500));
        assert_eq!(line, "done: 240 runs, 3000000 packets in 1.50 s on 2 jobs (1.00M packets/s per job)");
    }
}
