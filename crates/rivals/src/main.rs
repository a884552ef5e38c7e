//! How fast one flow with the kernel is over a TUN device, longhaul's and its rivals' in turns: each run in a network namespace of its
//! own, the kernel's socket in a thread beside ours. As root:
//! `cargo run --release -p longhaul-rivals`; `-- --help` names its options (`args.rs`).
//!
//! Prints Gbit/s, the median of the rounds, and user and system time of our side's thread for each Gbit of all rounds together; their
//! ranges, and longhaul's ratio to each rival. A rival runs with the best of its settings, which short rounds find beforehand, unless
//! an option names them.
#![forbid(unsafe_code)]

mod args;
mod case;
mod crowd;
mod gvisor_flow;
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
use measure::{Plan, Sample};
use std::path::Path;
use std::time::Duration;
use table::{Rows, Runs};

fn main() {
    let args = Args::parse();
    if let Some(connections) = args.crowd {
        let apart =
            |run: fn(usize, bool) -> crowd::Outcome, offload| in_namespace("crowd", move |_| run(connections, offload));
        return crowd::compare(connections, args.rounds, apart);
    }
    let plan = Plan { warms_up: Duration::from_millis(300), lasts: Duration::from_secs_f64(args.seconds) };
    let gvisor = args.gvisor.then(|| gvisor_flow::build().unwrap_or_else(|error| panic!("--gvisor: {error}")));
    println!("{}", table::surroundings(args.rounds, &plan, &args.profile, gvisor.is_some()));
    args.cases().into_iter().for_each(|case| compare(&args, gvisor.as_deref(), plan, case));
}

/// Measures one case, and prints what came of it.
fn compare(args: &Args, gvisor: Option<&Path>, plan: Plan, case: Case) {
    let probe = Plan { lasts: plan.lasts.min(Duration::from_millis(500)), ..plan };
    let mut stacks = vec![longhaul(case, &args.profile)];
    if !args.alone {
        let best = args.settings.and_then(|nth| smoltcp_flow::Settings::all().nth(nth)).map(|nth| smoltcp(case, nth));
        let all = smoltcp_flow::Settings::all();
        stacks.push(best.unwrap_or_else(|| fastest(all.map(|settings| smoltcp(case, settings)), probe)));
    }
    if let Some(program) = gvisor {
        stacks.push(fastest(gvisor_flow::Settings::all().map(|settings| gvisor_of(program, case, settings)), probe));
    }
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); stacks.len()];
    for _ in 0..args.rounds {
        stacks.iter().zip(&mut samples).for_each(|(stack, samples)| samples.push((stack.run)(plan)));
    }
    let (direction, switch) = case.words();
    let runs = stacks.into_iter().zip(samples);
    let stacks = runs.map(|(Stack { name, settings, .. }, samples)| Runs { stack: name, settings, samples }).collect();
    let rows = Rows { name: format!("{direction}, offload {switch}"), stacks };
    print!("{}", if args.json { rows.json() } else { rows.text() });
}

/// One that is compared.
struct Stack {
    name: &'static str,
    settings: String,
    run: Box<dyn Fn(Plan) -> Sample>,
}

fn longhaul(case: Case, profile: &str) -> Stack {
    let profile = profile.to_owned();
    let run = move |plan| {
        let profile = profile.clone();
        in_namespace("longhaul", move |kernel| longhaul_flow::run(case, profile, plan, kernel))
    };
    Stack { name: "longhaul", settings: "defaults".into(), run: Box::new(run) }
}

fn smoltcp(case: Case, settings: smoltcp_flow::Settings) -> Stack {
    let run = move |plan| in_namespace("smoltcp", move |kernel| smoltcp_flow::run(case, settings, plan, kernel));
    Stack { name: "smoltcp", settings: settings.to_string(), run: Box::new(run) }
}

fn gvisor_of(program: &Path, case: Case, settings: gvisor_flow::Settings) -> Stack {
    let program = program.to_owned();
    let run = move |plan| {
        let program = program.clone();
        in_namespace("gvisor", move |kernel| gvisor_flow::run(&program, case, settings, plan, kernel))
    };
    Stack { name: "gvisor", settings: settings.to_string(), run: Box::new(run) }
}

/// Returns the one that is fastest: by the median of three short rounds each.
fn fastest(stacks: impl Iterator<Item = Stack>, plan: Plan) -> Stack {
    let speed = |stack: &Stack| {
        let mut speeds = [(); 3].map(|()| (stack.run)(plan).gbit_per_second());
        speeds.sort_by(f64::total_cmp);
        speeds[1]
    };
    let all = stacks.map(|stack| (speed(&stack), stack));
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
