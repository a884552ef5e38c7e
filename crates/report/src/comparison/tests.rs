//! Pages of made-up runs: their rows, their single runs, their sentences.

use super::*;
use flate2::read::DeflateDecoder;
use lab::results::{Course, conditions, jsonl, rows};
use lab::{Backend, Measured, Overrides, Plan, RunFailure, RunSpec, execute, spec};
use serde_json::Value;
use std::io::Read;

/// The second arm is twice as fast, the third half as fast; each run has a little noise.
struct Noisy;
impl Backend for Noisy {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        let factor = [4, 2, 8][run.arm];
        let elapsed = (100_000 + run.seed % 1_000) * factor;
        Ok(Measured::of_transfer(1_000_000, base::Duration::from_micros(elapsed)))
    }
}

fn made(set: &[&str], arms: &[&str], then: impl Fn(&Comparison<'_>)) {
    let mut experiment = spec::builtin("reorder").unwrap();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { set: texts(set), arms: texts(arms), iterations: Some(12), ..Overrides::default() };
    experiment.apply(&overrides).unwrap();
    let plan = Plan::new(experiment).unwrap();
    let finished = execute(&plan, &Noisy, 1, None, &mut |_| {}).unwrap();
    let rows = rows(&plan, &finished);
    let conditions = conditions(&plan, &rows);
    let (version, comparison) = ("1.2.3".to_owned(), "longhaul ab reorder --set '<b>'".to_owned());
    let commands = Commands { version, comparison, run: vec!["again".to_owned(); arms.len()], pages: Vec::new() };
    let course = Course { cell: 0, arm: 1, iteration: 3, share_pct: vec![Some(50.0), None] };
    then(&Comparison {
        plan: &plan,
        finished: &finished,
        rows: &rows,
        conditions: &conditions,
        courses: &[course],
        commands: &commands,
    });
}

/// The object in a page.
fn unpacked(comparison: &Comparison<'_>) -> (String, Value) {
    let mut page = Vec::new();
    comparison.write(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let (_, rest) = page.split_once(r#"id="longhaul-data">"#).unwrap();
    let outer: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(outer["format"], FORMAT);
    let block = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, outer["block"].as_str().unwrap());
    let mut text = String::new();
    DeflateDecoder::new(&block.unwrap()[..]).read_to_string(&mut text).unwrap();
    let data = serde_json::from_str(&text).unwrap();
    (text, data)
}

const ARMS: [&str; 3] = ["server-2016", "server-2022", "longhaul"];
const CELLS: [&str; 2] = ["path.rtt=25ms,50ms", "flow.bytes=1MB"];

#[test]
fn the_rows_are_the_lines_of_jsonl_letter_by_letter() {
    made(&CELLS, &ARMS, |comparison| {
        let (text, data) = unpacked(comparison);
        let lines: Vec<String> = comparison.rows.iter().map(jsonl).collect();
        assert!(text.ends_with(&format!("\"rows\":[{}]}}", lines.join(","))));
        let parsed: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(data["rows"].as_array().unwrap(), &parsed);
        assert_eq!((lines.len(), data["cells"].as_array().unwrap().len()), (6, 2));
    });
}

#[test]
fn single_runs_have_the_medians_of_the_rows() {
    made(&CELLS, &ARMS, |comparison| {
        let (_, data) = unpacked(comparison);
        let runs = &data["runs"];
        let of =
            |key: &str| runs[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect::<Vec<_>>();
        let (cells, arms, goodputs) = (of("cell"), of("arm"), of("goodput_mbps"));
        assert_eq!((goodputs.len(), &runs["wait_p95_ms"]), (2 * 3 * 12, &Value::Null));
        for (at, row) in comparison.rows.iter().enumerate() {
            let is_own = |run: &usize| cells[*run] as usize * 3 + arms[*run] as usize == at;
            let mut own: Vec<f64> = (0..goodputs.len()).filter(is_own).map(|run| goodputs[run]).collect();
            own.sort_by(f64::total_cmp);
            let median = f64::midpoint(own[5], own[6]);
            assert!((median - row.goodput_mbps.median.unwrap()).abs() < 1e-8);
        }
    });
}

#[test]
fn sentences_say_who_is_ahead_and_by_how_much() {
    made(&CELLS, &ARMS, |comparison| {
        let (_, data) = unpacked(comparison);
        assert_eq!(data["arms"][0]["verdict"], Value::Null);
        let of_arm = |arm: usize| data["arms"][arm]["verdict"].as_str().unwrap().to_owned();
        let second = of_arm(1);
        assert!(
            second.starts_with("server-2022 beside server-2016: faster in all 2 cells. Its goodput is 2.000 × "),
            "{second}"
        );
        assert!(of_arm(2).starts_with("longhaul beside server-2016: slower in all 2 cells. Its goodput is 0.500 × "));
        let all = data["verdict"].as_str().unwrap();
        assert!(all.starts_with("server-2022 is ahead: faster than server-2016 in all 2 cells, 2.000 × "), "{all}");
        assert!(all.ends_with("Of 4 comparisons together, 4 differ from the reference (Holm, 5 %)."), "{all}");
    });
}

#[test]
fn a_single_comparison_has_its_interval_and_one_arm_nothing_to_compare() {
    made(&["path.rtt=25ms", "flow.bytes=1MB"], &ARMS[..2], |comparison| {
        let (_, data) = unpacked(comparison);
        let says = data["arms"][1]["verdict"].as_str().unwrap();
        assert_eq!(
            says,
            "server-2022 is faster than server-2016: its goodput is 2.000 ×, between 2.000 and 2.000, of the reference's."
        );
    });
    made(&CELLS, &ARMS[..1], |comparison| {
        let (_, data) = unpacked(comparison);
        assert_eq!(data["verdict"], "One arm alone: there is nothing to compare.");
    });
}

#[test]
fn only_leaves_that_differ_are_listed_and_how_to_do_it_again() {
    made(&CELLS, &ARMS, |comparison| {
        let (_, data) = unpacked(comparison);
        let differs = data["arms"][2]["differs"].as_object().unwrap();
        assert!(differs.values().all(|pair| pair[0] != pair[1]) && !differs.is_empty());
        assert_eq!((&data["version"], &data["command"]), (&"1.2.3".into(), &"longhaul ab reorder --set '<b>'".into()));
        assert_eq!((&data["margin"], &data["cells"][0]["fair_pct"]), (&0.01.into(), &Value::Null));
        assert_eq!(data["courses"][0]["share_pct"], serde_json::json!([50.0, null]));
    });
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    assert_eq!(REPORT.matches(r#"<script type="application/json" id="longhaul-data">null</script>"#).count(), 1);
    assert!(REPORT.contains("default-src 'none'"));
    let (_, page) = REPORT.split_once("-->").expect("the licences of what it contains stand first");
    // What a chart cuts off is named by a place in the page itself.
    let page = page.replace("url(#", "");
    for reference in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(reference), "the report contains `{reference}`");
    }
}
