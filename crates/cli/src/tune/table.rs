//! What `longhaul tune` prints.

use super::job::Job;
use crate::table::{annotated, paragraph};
use ::profiles::table::Table as Plain;
use lab::tune::objective::{LEFT_TO_OTHERS, SENT_AGAIN_POINTS, WORST_LESS, percent, place};
use lab::tune::sensitivity::{Effect, LeafEffect, Sensitivity};
use lab::tune::{Broken, Found, Gain, Outcome, Score, Step};
use serde_json::{Value, json};

/// The table of a search.
pub(super) fn of_search(job: &Job, found: &Found) -> String {
    let header = ["setting", "objective", "median", "worst", "again %", "gain", "outcome", "why"];
    let rows = found.steps.iter().map(|step| {
        let of_score = |show: &dyn Fn(&Score) -> String| step.score.as_ref().map_or_else(|| "–".to_owned(), show);
        let why = match &step.outcome {
            Outcome::Breaks(broken) => sentences(broken),
            Outcome::Refused(why) => why.clone(),
            _ => String::new(),
        };
        vec![
            step.setting.to_string(),
            of_score(&|score| signed(score.objective)),
            of_score(&|score| signed(score.median)),
            of_score(&|score| signed(score.cells[score.worst])),
            of_score(&|score| format!("{:.2}", score.sent_again_pct)),
            step.gain.as_ref().map_or_else(String::new, gain),
            word(&step.outcome).to_owned(),
            why,
        ]
    });
    let plain = Plain { header: header.map(str::to_owned).to_vec(), rows: rows.collect() };
    let legend = "gain: over the best setting so far. again %: bytes sent again, of all.\n";
    format!("{}\n{}{legend}\n{}", head(job), annotated(&plain), verdict(job, found))
}

/// The table of leaves.
pub(super) fn of_leaves(job: &Job, found: &Sensitivity) -> String {
    let header = ["leaf", "now", "tried", "effect", "largest in a cell", "again", "where"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for leaf in &found.leaves {
        let now = leaf.choices.now.clone().unwrap_or_default();
        for (index, effect) in leaf.effects.iter().enumerate() {
            let first = |text: &str| if index == 0 { text.to_owned() } else { String::new() };
            let (largest, at) = largest(job, effect);
            rows.push(vec![
                first(leaf.choices.leaf),
                first(&now),
                effect.value.clone(),
                gain(&effect.gain),
                format!("{largest} {at}").trim_end().to_owned(),
                again(found, effect),
                leaf.refused
                    .iter()
                    .filter(|_| index == 0)
                    .map(|(value, why)| format!("not tried: {value}, {why}\n"))
                    .collect(),
            ]);
        }
    }
    let plain = Plain { header: header.map(str::to_owned).to_vec(), rows };
    let legend = "effect: on the objective, with its 95 % interval. again: points of bytes sent again.\n";
    let mut text = format!("{}{}\n{}{legend}\n", head(job), now(job, &found.now), annotated(&plain));
    let candidates: Vec<&LeafEffect> = found.leaves.iter().filter(|leaf| leaf.is_candidate_for_deletion()).collect();
    let (nowhere, somewhere): (Vec<&LeafEffect>, Vec<&LeafEffect>) =
        candidates.iter().copied().partition(|leaf| leaf.cells().is_empty());
    let of = format!("{} of {} leaves", candidates.len(), found.leaves.len());
    text.push_str(&paragraph(
        "",
        &format!("{of} have less than ±1 % of effect on the objective: candidates for deletion."),
    ));
    text.push_str(&paragraph("in no cell 1 %: ", &listed(&nowhere, |leaf| leaf.choices.leaf.to_owned())));
    let with_cells = |leaf: &LeafEffect| format!("{} ({})", leaf.choices.leaf, leaf.cells().len());
    text.push_str(&paragraph("1 % in some cells (how many): ", &listed(&somewhere, with_cells)));
    for (setting, effect) in &found.together {
        let (largest, at) = largest(job, effect);
        let broken = effect.score.breaks(job.ground.places(), &found.now);
        text.push_str(&paragraph(
            "together, as `rfc` has them: ",
            &format!(
                "{}; largest in a cell {}; {}. {}",
                gain(&effect.gain),
                format!("{largest} {at}").trim_end(),
                if broken.is_empty() { "it keeps the bounds".to_owned() } else { sentences(&broken) },
                setting
            ),
        ));
    }
    text
}

fn listed(leaves: &[&LeafEffect], show: impl Fn(&LeafEffect) -> String) -> String {
    if leaves.is_empty() {
        "none".to_owned()
    } else {
        leaves.iter().map(|leaf| show(leaf)).collect::<Vec<_>>().join(", ")
    }
}

/// What is measured, and how.
fn head(job: &Job) -> String {
    let Job { profile, against, ground, seed, iterations, .. } = job;
    let (cells, names) = (ground.places().len(), ground.names().join(", "));
    let of = format!("{cells} cells of {names}; {iterations} runs in each, 1 where nothing is drawn; seed {seed}");
    let objective = "mean over seeds and cells of log(ideal time / time), less the reference's on the same seed; experiments weigh \
                     the same, and so do the cells of one; shown as per cent";
    let bounds = format!(
        "in no cell more than {SENT_AGAIN_POINTS} points of the bytes sent again beyond the reference's; neighbours keep {LEFT_TO_OTHERS} \
         of what it leaves them; the worst cell is at most {} % worse than that of the profile as it is. Where that breaks a bound, a setting may not \
         break it further",
        WORST_LESS * 100.0
    );
    format!(
        "{}{}{}{}",
        paragraph("", &format!("{} beside {}", profile.name, against.name)),
        paragraph("cells: ", &of),
        paragraph("objective: ", objective),
        paragraph("bounds: ", &bounds)
    )
}

fn now(job: &Job, score: &Score) -> String {
    let worst = place(&job.ground.places()[score.worst]);
    let text = format!(
        "{}; median cell {}, worst {} in {worst}; {:.2} % sent again; {} cells beyond a bound",
        signed(score.objective),
        signed(score.median),
        signed(score.cells[score.worst]),
        score.sent_again_pct,
        score.beyond()
    );
    paragraph("as it is: ", &text)
}

/// Says what to take, and how sure that is.
fn verdict(job: &Job, found: &Found) -> String {
    let (name, fresh) = (&job.profile.name, job.seed + 1);
    let worst =
        found.steps.first().and_then(|step| step.score.as_ref()).map_or_else(String::new, |score| now(job, score));
    let Some((gained, broken)) = &found.confirmed else {
        let none = match found.out_of_budget {
            true => "The budget ended the search, and no setting before that is better than the present one.",
            false => "No setting is better than the present one.",
        };
        return format!("{worst}{}", paragraph("", none));
    };
    let best: Vec<String> = found.best.leaves().map(|(leaf, value)| format!("--set {name}.{leaf}={value}")).collect();
    let sure = match gained.interval {
        _ if !broken.is_empty() => format!("but on those seeds it {}", sentences(broken)),
        Some((lo, _)) if lo > 0.0 => "the interval lies above zero".to_owned(),
        Some(_) => "the interval reaches zero, so it may be no better than the present one".to_owned(),
        None => "without an interval: too few runs, or nothing is drawn".to_owned(),
    };
    let text = format!("{} than the present one on seeds that chose nothing (seed {fresh}); {sure}", better(gained));
    format!("{worst}{}{}", paragraph("best: ", &best.join(" ")), paragraph("", &text))
}

/// `better by 1.2 % [0.9, 1.4]`
fn better(gained: &Gain) -> String {
    let (word, sign) = if gained.gain < 0.0 { ("Worse", -1.0) } else { ("Better", 1.0) };
    let by = format!("{word} by {:.2} %", sign * percent(gained.gain));
    let interval = |(lo, hi)| format!(" [{:+.2}, {:+.2}]", percent(lo), percent(hi));
    by + &gained.interval.map_or_else(String::new, interval)
}

fn sentences(broken: &[Broken]) -> String {
    broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Present => "present",
        Outcome::Taken => "taken",
        Outcome::Surpassed => "surpassed",
        Outcome::NoGain => "no gain",
        Outcome::Unsure => "unsure",
        Outcome::Breaks(_) => "breaks bounds",
        Outcome::Refused(_) => "refused",
    }
}

/// `+1.2 % [+0.9, +1.4]`
fn gain(gain: &Gain) -> String {
    let interval = |(lo, hi)| format!(" [{:+.2}, {:+.2}]", percent(lo), percent(hi));
    format!("{:+.2} %{}", percent(gain.gain), gain.interval.map_or_else(String::new, interval))
}

fn signed(logarithm: f64) -> String {
    format!("{:+.1} %", percent(logarithm))
}

/// The largest effect in a cell, and which.
fn largest(job: &Job, effect: &Effect) -> (String, String) {
    let cells = &effect.gain.cells;
    let at = (0..cells.len()).max_by(|a, b| cells[*a].abs().total_cmp(&cells[*b].abs())).unwrap_or(0);
    let place = if percent(cells[at]).abs() < 0.05 { String::new() } else { place(&job.ground.places()[at]) };
    (signed(cells[at]), place)
}

fn again(found: &Sensitivity, effect: &Effect) -> String {
    format!("{:+.2}", effect.score.sent_again_pct - found.now.sent_again_pct)
}

/// One object a setting, and one for the result.
pub(super) fn jsonl_of_search(job: &Job, found: &Found) -> String {
    let step = |step: &Step| {
        let mut object = json!({ "setting": leaves(&step.setting), "outcome": word(&step.outcome) });
        merge(&mut object, step.score.as_ref().map(|score| of_score(job, score)));
        merge(&mut object, step.gain.as_ref().map(of_gain));
        object
    };
    let mut last = json!({
        "best": leaves(&found.best),
        "better": found.confirmed.is_some(),
        "seed": job.seed + 1,
        "runs": found.runs,
        "out_of_budget": found.out_of_budget,
    });
    merge(&mut last, found.confirmed.as_ref().map(|(gain, _)| of_gain(gain)));
    let breaks = |(_, broken): &(Gain, Vec<Broken>)| json!({ "breaks": broken.iter().map(ToString::to_string).collect::<Vec<_>>() });
    merge(&mut last, found.confirmed.as_ref().map(breaks));
    found.steps.iter().map(step).chain([last]).map(|object| format!("{object}\n")).collect()
}

/// One object a value of a leaf, and one for all candidates at once.
pub(super) fn jsonl_of_leaves(job: &Job, found: &Sensitivity) -> String {
    let mut text = String::new();
    for leaf in &found.leaves {
        for effect in &leaf.effects {
            let mut object = json!({
                "leaf": leaf.choices.leaf,
                "now": leaf.choices.now,
                "value": effect.value,
                "candidate_for_deletion": leaf.is_candidate_for_deletion(),
                "cells_with_an_effect": leaf.cells().len(),
            });
            merge(&mut object, Some(of_score(job, &effect.score)));
            merge(&mut object, Some(of_gain(&effect.gain)));
            text.push_str(&format!("{object}\n"));
        }
    }
    for (setting, effect) in &found.together {
        let mut object = json!({ "together": leaves(setting) });
        merge(&mut object, Some(of_score(job, &effect.score)));
        merge(&mut object, Some(of_gain(&effect.gain)));
        text.push_str(&format!("{object}\n"));
    }
    text
}

fn leaves(setting: &lab::tune::Setting) -> Value {
    setting
        .leaves()
        .map(|(leaf, value)| (leaf.to_owned(), Value::from(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn of_score(job: &Job, score: &Score) -> Value {
    json!({
        "objective_pct": rounded(score.objective),
        "median_pct": rounded(score.median),
        "worst_pct": rounded(score.cells[score.worst]),
        "worst_cell": place(&job.ground.places()[score.worst]),
        "sent_again_pct": (score.sent_again_pct * 1e4).round() / 1e4,
        "failed": score.failed,
    })
}

fn of_gain(gain: &Gain) -> Value {
    let [lo, hi] = [gain.interval.map(|(lo, _)| rounded(lo)), gain.interval.map(|(_, hi)| rounded(hi))];
    json!({ "gain_pct": rounded(gain.gain), "lo": lo, "hi": hi })
}

fn rounded(logarithm: f64) -> f64 {
    (percent(logarithm) * 1e4).round() / 1e4
}

fn merge(object: &mut Value, more: Option<Value>) {
    if let (Value::Object(into), Some(Value::Object(more))) = (object, more) {
        into.extend(more);
    }
}
