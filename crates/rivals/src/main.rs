//! How fast one flow with the kernel is over a TUN device, longhaul's and smoltcp's in turns: each run in a network namespace of its
//! own, the kernel's socket in a thread beside ours. As root:
//! `cargo run --release -p longhaul-rivals`; `-- --help` names its options (`args.rs`).
//!
//! Prints Gbit/s, and user and system time of our side's thread for each Gbit: the median and the range of the rounds, and the ratio
//! of the medians. smoltcp runs with the best of its settings, which short rounds find beforehand, unless an option names them.
#![forbid(unsafe_code)]

mod args;
mod case;
mod crowd;
mod kernel;
mod longhaul_flow;
mod measure;
mod smoltcp_device;
mod smoltcp_flow;
mod table;

use args::Args;
use case::Case;
use clap::Parser;
use kernel::Kernel;
use measure::Plan;
use smoltcp_flow::Settings;
use std::time::Duration;

fn main() {
    let args = Args::parse();
    if let Some(connections) = args.crowd {
        let apart =
            |run: fn(usize, bool) -> crowd::Outcome, offload| in_namespace("crowd", move |_| run(connections, offload));
        return crowd::compare(connections, args.rounds, apart);
    }
    let plan = Plan { warms_up: Duration::from_millis(300), lasts: Duration::from_secs_f64(args.seconds) };
    println!("{}", table::surroundings(args.rounds, &plan, &args.profile));
    args.cases().into_iter().for_each(|case| compare(&args, plan, case));
}

/// Measures one case, and prints what came of it.
fn compare(args: &Args, plan: Plan, case: Case) {
    let probe = Plan { lasts: plan.lasts.min(Duration::from_millis(500)), ..plan };
    let best = match args.settings {
        _ if args.alone => None,
        Some(nth) => Settings::all().nth(nth),
        None => Some(sweep(case, probe)),
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        let profile = args.profile.clone();
        ours.push(in_namespace("longhaul", move |kernel| longhaul_flow::run(case, profile, plan, kernel)));
        if let Some(best) = best {
            theirs.push(in_namespace("smoltcp", move |kernel| smoltcp_flow::run(case, best, plan, kernel)));
        }
    }
    let (direction, switch) = case.words();
    let name = format!("{direction}, offload {switch}");
    let settings = best.map_or("did not run".to_owned(), |best| best.to_string());
    let rows = table::Rows { name: &name, settings: &settings, ours: &ours, theirs: &theirs };
    print!("{}", if args.json { rows.json() } else { rows.text() });
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
