//! Rows as objects and as a table, the page in the repository, and wrong names.

use super::*;
use serde_json::Value;
use std::sync::OnceLock;

/// All rows on known results, made once.
fn findings() -> &'static [Finding] {
    static FINDINGS: OnceLock<Vec<Finding>> = OnceLock::new();
    FINDINGS.get_or_init(|| {
        let claims = choose(&[]).unwrap();
        let evidence = make(&args(), &claims, None).unwrap();
        claims.iter().map(|claim| find(claim, &evidence)).collect()
    })
}

fn args() -> HeadlinesArgs {
    HeadlinesArgs {
        format: RowFormat::Jsonl,
        jobs: Some(2),
        only: Vec::new(),
        out: None,
        write: None,
        backend: BackendChoice::Mock,
        fit: false,
        fitting: fit::FitArgs { worlds: 1, settings: 2, rounds: 1, seed: 1 },
    }
}

#[test]
fn an_object_has_what_is_asked_of_it() {
    for finding in findings() {
        let object: Value = serde_json::from_str(&table::jsonl(finding)).unwrap();
        for text in ["id", "claim", "source", "published", "unit", "verdict"] {
            assert!(object[text].as_str().is_some_and(|text| !text.is_empty()), "{text} of {object}");
        }
        for number in ["measured", "lo", "hi"] {
            assert!(object[number].is_number() || object[number].is_null(), "{number} of {object}");
        }
        let verdict = object["verdict"].as_str().unwrap();
        assert!(["reproduced", "direction", "not reproduced", "reported"].contains(&verdict));
        assert_eq!(object["band"].is_null(), verdict == "reported");
        let carriers = object["carried_by"].as_array().unwrap();
        assert!(carriers.iter().all(|one| one["ingredient"].is_string() && one["share_pct"].as_f64() >= Some(20.0)));
        let (lo, hi) = (object["lo"].as_f64(), object["hi"].as_f64());
        assert!(lo.zip(hi).is_none_or(|(lo, hi)| lo <= hi));
    }
}

#[test]
fn the_table_has_a_line_for_each_row() {
    let text = table::for_people(findings());
    for finding in findings() {
        let line = text.lines().find(|line| line.trim_start().starts_with(finding.claim.id)).unwrap();
        assert!(line.trim_end().ends_with(finding.verdict.word()), "{line}");
    }
}

#[test]
fn rows_are_chosen_by_name_and_shown_in_their_own_order() {
    let ids = |names: &[&str]| -> Vec<&str> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        choose(&names).unwrap().iter().map(|claim| claim.id).collect()
    };
    assert_eq!(ids(&["dsack", "best-of-three"]), ["best-of-three", "dsack"]);
    assert_eq!(ids(&[]).len(), claims::all().count());
    let refused = choose(&["dsak".to_owned()]).unwrap_err();
    assert!(
        matches!(&refused, Failure::Usage(text) if text.starts_with("--only dsak: no such row; did you mean `dsack`? The rows are best-of-three, ")),
        "{refused:?}"
    );
}

#[test]
fn a_row_that_is_not_reproduced_fails_the_command_and_others_do_not() {
    let of = |verdict| findings().iter().filter(move |finding| finding.verdict == verdict).cloned().collect::<Vec<_>>();
    let ends = |findings: &[Finding]| conclude(&Evidence::default(), findings, Instant::now());
    assert!(!of(Verdict::NotReproduced).is_empty(), "on known results some are not");
    assert!(
        matches!(ends(&of(Verdict::NotReproduced)), Err(Failure::Failed(text)) if text.contains("not reproduced: "))
    );
    for verdict in [Verdict::Reproduced, Verdict::InBand, Verdict::Direction, Verdict::Reported] {
        assert!(ends(&of(verdict)).is_ok());
    }
}

/// Measuring takes minutes, so this test does not check the page's numbers; but its other text must match the claims.
#[test]
fn the_page_in_the_repository_says_what_the_claims_say() {
    let page = include_str!("../../../../docs/headlines.md");
    let mut rest = page;
    for part in page::fixed_parts() {
        let at = rest.find(part.as_str()).unwrap_or_else(|| {
            panic!("docs/headlines.md lacks, or has elsewhere: {part:?}; `longhaul headlines --write docs/headlines.md` makes it")
        });
        rest = &rest[at + part.len()..];
    }
    let fit = page::fit_of(page).expect("the page ends with a fit");
    assert!(fit.contains(fit_table::LEGEND), "the page explains its fit otherwise than the command");
    let page = page.strip_suffix(fit).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| [")).count();
    assert_eq!(rows, claims::all().count(), "a row too many");
    assert_eq!(page.matches("\n## ").count(), claims::all().count(), "a section too many");
}

#[test]
fn a_page_made_anew_has_the_fixed_parts_in_their_order() {
    let page = page::text(findings(), "<!-- behaviour:\nrfc/plain=1\n-->\n");
    let mut rest = page.as_str();
    for part in page::fixed_parts() {
        let at = rest.find(part.as_str()).unwrap_or_else(|| panic!("{part:?} in\n{page}"));
        rest = &rest[at + part.len()..];
    }
    assert!(page.contains("\n\n<!-- behaviour:\nrfc/plain=1\n-->\n\n"), "{page}");
}

#[test]
fn a_fit_ends_the_page_and_both_parts_are_made_alone() {
    let once = page::with_fit("# Page\n\ntext\n", "first\n");
    assert_eq!(once, "# Page\n\ntext\n\n## The fit\n\nfirst\n");
    assert_eq!(page::with_fit(&once, "second\n"), "# Page\n\ntext\n\n## The fit\n\nsecond\n");
    assert_eq!(page::fit_of(&once), Some("\n## The fit\n\nfirst\n"));
    assert_eq!(page::fit_of("# Page\n\ntext\n"), None);
}

#[test]
fn a_fit_has_the_same_rows_on_a_terminal_on_the_page_and_in_objects() {
    use lab::headlines::fit::{Fit, Maker, Space, search};
    let (mut begins, mut done) = (|_: usize| (), |_: &lab::RunSpec| ());
    let mut maker = Maker { backend: &MockBackend, jobs: 2, store: None, begins: &mut begins, done: &mut done };
    let fit = Fit { space: Space::servers(), worlds: 1, settings: 2, rounds: 1, seed: 1 };
    let banded = banded(&[]).unwrap();
    let found = search(&fit, &banded, &mut maker).unwrap();
    let objects: Vec<Value> =
        fit_table::jsonl(&fit, &found).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<&str> = objects.iter().filter_map(|object| object["row"].as_str()).collect();
    assert_eq!(rows, banded.iter().map(|claim| claim.id).collect::<Vec<_>>());
    let parameters = objects.iter().filter(|object| object["parameter"].is_string()).count();
    assert_eq!(parameters, fit.space.groups().map(|group| group.parameters.len()).sum::<usize>());
    let whole = objects.last().unwrap();
    assert_eq!(whole["combinations"].as_u64(), Some(found.candidates.len() as u64));
    let now = found.confirmed[0].reproduced();
    assert!(now > 0 && now < banded.len(), "{now}");
    assert_eq!(whole["reproduced_as_it_is"].as_u64(), Some(now as u64));
    let (table, page) = (fit_table::for_people(&fit, &found), fit_table::for_page(&fit, &found, "mark\n", "command"));
    for id in rows {
        assert!(table.lines().any(|line| line.trim_start().starts_with(id)), "{id} in\n{table}");
        assert!(page.lines().any(|line| line.starts_with(&format!("| {id} |"))), "{id} in\n{page}");
    }
    assert!(page.contains("\n\nMade by `command`.\n\nmark\n\n"), "{page}");
    let reproduced = format!("profiles and experiments reproduce {now} of {} rows", banded.len());
    assert!(page.contains(&reproduced), "{reproduced} in\n{page}");
}

#[test]
fn a_fit_refuses_rows_without_a_band_and_a_page_that_is_not_there() {
    let of = |change: &dyn Fn(&mut HeadlinesArgs)| {
        let mut args = HeadlinesArgs { fit: true, ..args() };
        change(&mut args);
        run(&args).unwrap_err()
    };
    let refused = of(&|args| args.only = vec!["dsack".to_owned(), "reassembly".to_owned()]);
    assert!(
        matches!(&refused, Failure::Usage(text) if text.starts_with("--only reassembly: a fit judges rows with a band")),
        "{refused:?}"
    );
    let refused = of(&|args| args.write = Some("no/such/page.md".into()));
    assert!(
        matches!(&refused, Failure::Usage(text) if text.contains("no/such/page.md") && text.contains("make the page first")),
        "{refused:?}"
    );
    let refused = of(&|args| args.backend = BackendChoice::Netns);
    assert!(matches!(&refused, Failure::Usage(text) if text.starts_with("--backend netns")), "{refused:?}");
}

/// The cells of a row of the page's table: published, measured, interval, band, verdict.
fn cells_of<'p>(page: &'p str, id: &str) -> Vec<&'p str> {
    let line = page.lines().find(|line| line.starts_with(&format!("| [{id}](")));
    line.unwrap_or_else(|| panic!("the page has no row {id}")).split('|').map(str::trim).skip(2).take(5).collect()
}

/// The README states how many rows are reproduced, and the guide shows some: both must match the page.
#[test]
fn the_readme_and_the_guide_say_what_the_page_says() {
    let [readme, page] = [include_str!("../../../../README.md"), include_str!("../../../../docs/headlines.md")];
    let guide = include_str!("../../../../docs/guide/published-results.md");
    let ids: Vec<&str> = claims::all().map(|claim| claim.id).collect();
    let verdicts: Vec<&str> = ids.iter().map(|id| cells_of(page, id)[4]).collect();
    let reproduced = verdicts.iter().filter(|verdict| **verdict == "reproduced").count();
    let judged = verdicts.iter().filter(|verdict| **verdict != "reported").count();
    let sentence = format!("**{reproduced} of {judged} rows are reproduced**");
    assert!(readme.contains(&sentence), "README.md: {sentence}");
    assert!(page.contains(&format!("\n{reproduced} of {judged} rows are reproduced")), "{sentence} in the page");
    let lines = guide.lines().filter(|line| ids.iter().any(|id| line.starts_with(&format!(" {id} "))));
    let mut shown = 0;
    for line in lines {
        let id = line.split_whitespace().next().expect("it begins with a name");
        for cell in cells_of(page, id) {
            assert!(line.contains(cell), "published-results.md shows another {id}: {cell} in {line}");
        }
        shown += 1;
    }
    assert!(shown >= 5, "the guide shows {shown} rows");
}
