//! Several `KEY=VALUE` in one option.

use lab::spec::keys;

/// Cuts options at commas: a part that begins with a known key and `=`, or with the name of an option of runs, begins a setting; any other
/// continues the values of the one before.
pub(super) fn split(options: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for option in options {
        for (index, part) in option.split(',').enumerate() {
            match found.last_mut() {
                Some(last) if index > 0 && !begins(part) => {
                    last.push(',');
                    last.push_str(part);
                }
                _ => found.push(part.to_owned()),
            }
        }
    }
    found
}

/// A key has a dot and no space, whether it is known or not: a misspelt one is to be refused as a key, not as a value.
fn begins(part: &str) -> bool {
    part.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        keys().any(|known| known.name == key) || key.contains('.') && !key.contains(' ') || key == "cell"
    })
}

#[cfg(test)]
mod tests {
    use super::split;
    use test_case::test_case;

    #[test_case(&["path.rtt=80ms"], &["path.rtt=80ms"])]
    #[test_case(&["path.rate=20Mbit,path.rtt=80ms"], &["path.rate=20Mbit", "path.rtt=80ms"])]
    #[test_case(&["path.rtt=20ms,80ms,path.loss=0,1%"], &["path.rtt=20ms,80ms", "path.loss=0,1%"]; "values stay together")]
    #[test_case(&["path.rate=1Mbit,path.rt=1s"], &["path.rate=1Mbit", "path.rt=1s"]; "a misspelt key")]
    #[test_case(&["flow.company=arm start=0s..4s + linux,arm start=1s + rfc"], &["flow.company=arm start=0s..4s + linux,arm start=1s + rfc"]; "flows")]
    fn settings_are_cut_where_a_key_begins(options: &[&str], expected: &[&str]) {
        let options: Vec<String> = options.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(split(&options), expected);
    }
}
