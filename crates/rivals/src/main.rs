//! How fast one flow with the kernel is over a TUN device, longhaul's and smoltcp's in turns: each run in a network namespace of its
//! own, the kernel's socket in a thread beside ours. As root:
//! `cargo run --release -p longhaul-rivals -- [--rounds 5] [--seconds 2] [--json] [--alone] [--settings N] [--profile NAME] [tx|rx] [on|off]`.
//!
//! `-- --crowd 10000 [--rounds 5]` lets that many connections of the kernel begin at once instead.
//!
//! Prints Gbit/s, and user and system time of our side's thread for each Gbit: the median and the range of the rounds, and the ratio
//! of the medians. smoltcp runs with the best of its settings, which short rounds find beforehand, or with the Nth from zero; with
//! `--alone` it does not run, so that a profiler sees longhaul. The kernel samples processor time: `--json` has each run, to be added up.
#![forbid(unsafe_code)]

mod case;
mod crowd;
mod kernel;
mod longhaul_flow;
mod measure;
mod smoltcp_device;
mod smoltcp_flow;
mod table;

use case::Case;
use kernel::Kernel;
use measure::Plan;
use smoltcp_flow::Settings;
use std::time::Duration;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: f64| {
        let at = words.iter().position(|word| word == name);
        at.map_or(default, |at| words[at + 1].parse().expect("a number behind the option"))
    };
    let (rounds, seconds) = (number("--rounds", 5.0) as usize, number("--seconds", 2.0));
    let has = |word: &str| words.iter().any(|other| other == word);
    let either = |one: &str, other: &str| has(one) || !has(other);
    if has("--crowd") {
        let connections = number("--crowd", 1_000.0) as usize;
        let apart =
            |run: fn(usize, bool) -> crowd::Outcome, offload| in_namespace("crowd", move |_| run(connections, offload));
        return crowd::compare(connections, rounds, apart);
    }
    let plan = Plan { warms_up: Duration::from_millis(300), lasts: Duration::from_secs_f64(seconds) };
    let probe = Plan { lasts: Duration::from_secs_f64(seconds.min(0.5)), ..plan };
    let profile = words.iter().position(|word| word == "--profile").map_or("longhaul", |at| &words[at + 1]).to_owned();
    println!("{}", table::surroundings(rounds, &plan, &profile));
    for (sends, direction) in [(true, "tx"), (false, "rx")] {
        for (offload, switch) in [(true, "on"), (false, "off")] {
            if !either(direction, if sends { "rx" } else { "tx" })
                || !either(switch, if offload { "off" } else { "on" })
            {
                continue;
            }
            let case = Case { sends, offload };
            let alone = has("--alone");
            let chosen = Settings::all().nth(number("--settings", f64::INFINITY) as usize);
            let best = if alone { None } else { Some(chosen.unwrap_or_else(|| sweep(case, probe))) };
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                let profile = profile.clone();
                ours.push(in_namespace("longhaul", move |kernel| longhaul_flow::run(case, profile, plan, kernel)));
                if let Some(best) = best {
                    theirs.push(in_namespace("smoltcp", move |kernel| smoltcp_flow::run(case, best, plan, kernel)));
                }
            }
            let name = format!("{direction}, offload {switch}");
            let settings = best.map_or("did not run".to_owned(), |best| best.to_string());
            let rows = table::Rows { name: &name, settings: &settings, ours: &ours, theirs: &theirs };
            print!("{}", if has("--json") { rows.json() } else { rows.text() });
        }
    }
}

/// Returns the settings with which smoltcp is fastest: the median of three short rounds each.
fn sweep(case: Case, plan: Plan) -> Settings {
    let speed = |settings| {
        let run =
            || in_namespace("smoltcp", move |kernel| smoltcp_flow::run(case, settings, plan, kernel)).gbit_per_second();
        let mut speeds = [run(), run(), run()];
        speeds.sort_by(f64::total_cmp);
        speeds[1]
    };
    let all = Settings::all().map(|settings| (speed(settings), settings));
    all.max_by(|one, other| one.0.total_cmp(&other.0)).expect("there are settings").1
}

/// Runs in a thread in a network namespace of its own, with the kernel's end beside it.
fn in_namespace<T: Send + 'static>(name: &str, run: impl FnOnce(Kernel) -> T + Send + 'static) -> T {
    let inside = move || {
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a network namespace needs CAP_SYS_ADMIN");
        run(Kernel::default())
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(inside).expect("a thread");
    thread.join().expect("the flow ends")
}
