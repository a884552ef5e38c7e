//! Prints the file of behaviour stamps, `docs/stamps.txt`: `cargo xtask stamp` writes it.
//!
//! With `--blind PROFILE…` it prints instead which leaves of these profiles the stamp misses: each is changed to a few other
//! values, one at a time, and is listed if no change affects the stamp. A leaf may be listed because its mechanism does not
//! engage in the profile, or because no cell covers it.

use longhaul_lab::run::stamp::Stamp;
use profiles::Profile;

/// Values to try in addition to those derived from the current one.
const VALUES: &[&str] = &["none", "1", "3", "10", "2", "1ms", "70ms", "3s", "1B", "3kB", "100kB", "1%", "60%"];
/// Maximum tries per leaf: a change that the stamp sees shows up early.
const MOST: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        None => print!("{}", longhaul_lab::run::stamp::file()),
        Some((flag, names)) if flag == "--blind" => names.iter().for_each(|name| blind(name)),
        Some(_) => panic!("nothing, or `--blind PROFILE…`"),
    }
}

fn blind(name: &str) {
    let profile = profiles::get(name).unwrap_or_else(|error| panic!("{error}"));
    let before = Stamp::of(profile.config());
    let values = profiles::values(profile.config());
    let mut unseen = 0;
    for (leaf, value) in &values {
        let changed = changes(profile, leaf, value);
        let seen = changed.iter().find(|(_, stamp)| *stamp != before);
        match seen {
            Some((to, stamp)) if stamp.plain == before.plain => println!("{name} {leaf}: {value} -> {to}: super only"),
            Some(_) => {}
            None => {
                unseen += 1;
                let tried: Vec<&str> = changed.iter().map(|(to, _)| to.as_str()).collect();
                println!("{name} {leaf}: {value} -> {}: not seen", tried.join(", "));
            }
        }
    }
    println!("{name}: {unseen} of {} leaves are not seen", values.len());
}

/// Returns the leaf with other valid values, until one affects the stamp.
fn changes(profile: &Profile, leaf: &str, value: &str) -> Vec<(String, Stamp)> {
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = value.split_at(digits);
    let number: Option<u64> = number.parse().ok();
    let near = number.map(|number| [number * 2, number + 1, number / 2].map(|number| format!("{number}{unit}")));
    let words = match profiles::find_leaf(leaf)
        .map(|leaf| leaf.write(&mut profile.draft(&[]).expect("nothing is changed"), "\u{0}"))
    {
        Ok(Err(error)) => error.to_string().split('`').skip(1).step_by(2).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let candidates = near.into_iter().flatten().chain(words).chain(VALUES.iter().map(|value| (*value).to_owned()));
    let before = Stamp::of(profile.config());
    let mut found = Vec::new();
    for to in candidates.filter(|to| to != value) {
        let Ok(config) = profile.with(&[(leaf.to_owned(), to.clone())]) else { continue };
        if config == *profile.config() {
            continue;
        }
        let stamp = Stamp::of(&config);
        found.push((to, stamp));
        if stamp != before || found.len() == MOST {
            break;
        }
    }
    found
}
