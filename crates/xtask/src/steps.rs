//! The steps of `cargo xtask test`, cheapest first, with `cargo test` last.

use crate::args::{DocsMode, TestOptions};
use crate::runner::{AfterFailure, Outcome, Step, cargo, run, run_all};
use crate::tool::WhenAbsent;
use crate::{api, compliance, deny, determinism, needs, python, quirks, snapshots, web};

/// Runs everything a change has to pass.
pub fn test(options: TestOptions) -> Outcome {
    let locked: &[&str] = if options.ci { &["--locked"] } else { &[] };
    let policy = if options.deny { WhenAbsent::Install } else { WhenAbsent::Skip };
    let steps = vec![
        Step::new("what the tests need", needs::provide),
        Step::new("format", || run(&mut cargo(&["fmt", "--all", "--check"]))),
        Step::new("lints", || {
            run(cargo(&["clippy", "--workspace", "--all-targets"]).args(locked).args(["--", "-D", "warnings"]))?;
            // The workspace has every feature on that one of its crates wants.
            let bare = ["clippy", "--package", "longhaul", "--lib", "--no-default-features"];
            [&[][..], &["--features", "tokio"]]
                .into_iter()
                .try_for_each(|features| run(cargo(&bare).args(features).args(locked).args(["--", "-D", "warnings"])))
        }),
        Step::new("documentation", || {
            run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).args(locked).env("RUSTDOCFLAGS", "-D warnings"))
        }),
        Step::new("generated pages", || quirks::docs(DocsMode::Check)),
        Step::new("interface", || api::list(DocsMode::Check)),
        Step::new("dependencies", || deny::check(policy)),
        Step::new("compliance", || compliance::run(DocsMode::Check, policy)),
        Step::new("determinism", || determinism::prove(locked)),
        Step::new("web", || web::build_or_check(DocsMode::Check)),
        Step::new("python", python::test),
        Step::new("tests", || snapshots::test_with_references(locked)),
    ];
    run_all(steps, if options.keep_going { AfterFailure::KeepGoing } else { AfterFailure::Stop })
}
