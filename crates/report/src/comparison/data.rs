//! The page's data: one JSON object. Its rows are the lines that `--format jsonl` writes, letter by letter, so that no number is computed
//! or rounded twice.

use super::subject::Comparison;
use super::{spread, verdict};
use lab::plan::difference::of_plan;
use lab::results::stats::MARGIN;
use lab::results::{Course, EachRun, columns, constants, each_run, jsonl, together};
use lab::spec::{Metric, Point};
use serde_json::{Value, json};

/// Returns the object as text.
pub(super) fn text(comparison: &Comparison<'_>) -> String {
    let rows: Vec<String> = comparison.rows.iter().map(jsonl).collect();
    let mut text = about(comparison).to_string();
    text.truncate(text.len() - 1);
    text + ",\"rows\":[" + &rows.join(",") + "]}"
}

/// Everything but the rows.
fn about(comparison: &Comparison<'_>) -> Value {
    let Comparison { plan, rows, finished, commands, .. } = comparison;
    let runs = each_run(plan, finished);
    let together = together(plan, rows)
        .map(|all| json!({ "comparisons": all.comparisons, "differ": all.differ, "needs": all.needs }));
    json!({
        "experiment": experiment(comparison),
        "version": commands.version,
        "command": commands.comparison,
        "again": commands.run,
        "pages": commands.pages,
        "primary": { "name": plan.primary.name, "less_is_better": plan.primary.less_is_better },
        "margin": MARGIN,
        "verdict": verdict::of_all(comparison),
        "arms": arms(comparison),
        "cells": cells(comparison),
        "columns": columns(rows).iter().map(|(metric, _)| column(metric)).collect::<Vec<_>>(),
        "expect": expectations(comparison),
        "together": together,
        "runs": by_column(&runs),
        "ellipses": spread::ellipses(&runs),
        "courses": comparison.courses.iter().map(course).collect::<Vec<_>>(),
    })
}

fn experiment(comparison: &Comparison<'_>) -> Value {
    let Comparison { plan, finished, .. } = comparison;
    let experiment = &plan.experiment;
    let once = (0..plan.cells.len()).filter(|cell| plan.is_once(*cell)).count();
    json!({
        "name": experiment.name,
        "title": experiment.title(),
        "source": if experiment.changed.is_empty() { &experiment.source } else { "" },
        "constants": constants(plan),
        "iterations": experiment.iterations,
        "seed": experiment.seed,
        "runs": finished.measured.iter().flatten().count(),
        "planned": plan.runs.len(),
        "cells_once": once,
        "until_decided": plan.until_decided,
        "made_by": plan.made_by,
    })
}

/// Arms, with the leaves in which they differ from the reference.
fn arms(comparison: &Comparison<'_>) -> Vec<Value> {
    let plan = comparison.plan;
    let mut contrasts = of_plan(plan).into_iter();
    let arm = |(index, arm): (usize, &lab::plan::Arm)| {
        let contrast = if index == 0 { None } else { contrasts.next() };
        json!({
            "label": arm.label,
            "profile": arm.spec.profile().map(|profile| &profile.name),
            "verdict": verdict::of_arm(comparison, index),
            "differs": contrast.as_ref().and_then(|contrast| contrast.everywhere.as_ref()),
            "by_cell": contrast.as_ref().map(|contrast| &contrast.by_cell),
            "kept": contrast.as_ref().map(|contrast| &contrast.kept),
        })
    };
    plan.arms.iter().enumerate().map(arm).collect()
}

fn cells(comparison: &Comparison<'_>) -> Vec<Value> {
    let cells = comparison.plan.cells.iter().enumerate();
    let cell = |(index, cell): (usize, &lab::plan::Cell)| {
        json!({
            "title": cell.title(),
            "swept": cell.swept,
            "kind": cell.kind,
            "fair_pct": fair_pct(&cell.point),
            "once": comparison.plan.is_once(index),
        })
    };
    cells.map(cell).collect()
}

/// What the arm's flows would get if all in their direction got the same; `None` for one flow, and where flows come and go.
fn fair_pct(point: &Point) -> Option<f64> {
    let there = || point.company.groups.iter().filter(|group| group.direction == point.company.groups[0].direction);
    let all: u32 = there().map(|group| group.count).sum();
    let own: u32 = there().filter(|group| group.is_arm()).map(|group| group.count).sum();
    let fixed = there().all(|group| group.arrivals.is_none() && group.app.is_none());
    (all > 0 && fixed).then(|| 100.0 * f64::from(own) / f64::from(all))
}

fn course(course: &Course) -> Value {
    json!({ "cell": course.cell, "arm": course.arm, "iteration": course.iteration, "share_pct": course.share_pct })
}

fn column(metric: &Metric) -> Value {
    let column = metric.column.expect("the table shows it");
    json!({
        "name": metric.name,
        "head": column.head,
        "decimals": column.decimals,
        "meaning": column.meaning,
        "description": metric.description,
    })
}

/// Conditions as written, and what is wrong with them.
fn expectations(comparison: &Comparison<'_>) -> Value {
    let written = comparison.plan.experiment.expect.iter().map(
        |condition| json!({ "text": condition.text, "at_least": condition.at_least, "at_most": condition.at_most }),
    );
    let unmet = comparison.conditions.unmet.iter();
    let unmet = unmet.map(|(cell, complaint)| json!({ "cell": cell, "complaint": complaint }));
    json!({
        "written": written.collect::<Vec<_>>(),
        "unmet": unmet.collect::<Vec<_>>(),
        "unchecked": comparison.conditions.unchecked,
    })
}

/// The numbers of single runs.
fn by_column(runs: &[EachRun]) -> Value {
    let of = |value: fn(&EachRun) -> Value| runs.iter().map(value).collect::<Vec<_>>();
    let waits = runs.iter().any(|run| run.wait_p95_ms.is_some());
    json!({
        "cell": of(|run| json!(run.cell)),
        "arm": of(|run| json!(run.arm)),
        "iteration": of(|run| json!(run.iteration)),
        "goodput_mbps": of(|run| json!(run.goodput_mbps)),
        "elapsed_ms": of(|run| json!(run.elapsed_ms)),
        "wait_p95_ms": waits.then(|| of(|run| json!(run.wait_p95_ms))),
    })
}
