//! The commands of the guide as they are shown: the test of the guide makes slow ones small, unless this asks for the whole.

use crate::needs;
use crate::runner::{Outcome, cargo, run};

/// Runs these pages, or all, one after the other, in a release build.
pub fn whole(pages: &[String]) -> Outcome {
    needs::provide()?;
    let test = ["test", "--release", "--package", "longhaul-cli", "--test", "guide", "--", "--nocapture"];
    run(cargo(&test).env("LONGHAUL_GUIDE", "whole").env("LONGHAUL_PAGES", pages.join(",")))
}
