//! The arguments of the comparison.

use crate::case::Case;
use crate::smoltcp_flow::Settings;
use clap::{Parser, ValueEnum};

/// How fast one flow with the kernel is over a TUN device, longhaul's, smoltcp's and gVisor's in turns. Needs root.
#[derive(Clone, Debug, Parser)]
#[command(name = "longhaul-rivals", version, max_term_width = 100)]
pub struct Args {
    /// Only cases with these words: data to the kernel or from it, segments of 64 KiB or plain packets.
    #[arg(value_name = "tx|rx|on|off")]
    words: Vec<Word>,
    /// Runs of each side.
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    pub rounds: usize,
    /// How long a flow is measured.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub seconds: f64,
    /// Print each run, to be added up: the kernel samples processor time.
    #[arg(long)]
    pub json: bool,
    /// Leave smoltcp out, so that a profiler sees longhaul.
    #[arg(long, conflicts_with_all = ["settings", "gvisor"])]
    pub alone: bool,
    /// Measure gVisor, too, with the best of its settings. Needs Go 1.26.
    #[arg(long)]
    pub gvisor: bool,
    /// Run smoltcp with the Nth of its settings, from zero, instead of looking for the best.
    #[arg(long, value_name = "N", value_parser = nth_settings)]
    pub settings: Option<usize>,
    /// longhaul's TCP profile.
    #[arg(long, value_name = "NAME", default_value = "longhaul")]
    pub profile: String,
    /// Instead, let so many connections of the kernel begin at once.
    #[arg(long, value_name = "CONNECTIONS", value_parser = at_least_one)]
    #[arg(conflicts_with_all = ["words", "seconds", "json", "alone", "settings", "profile", "gvisor"])]
    pub crowd: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
    Tx,
    Rx,
    On,
    Off,
}

impl Args {
    /// The cases that are meant, in their order.
    pub fn cases(&self) -> Vec<Case> {
        let meant = |one: Word, other: Word| self.words.contains(&one) || !self.words.contains(&other);
        let directions = [(true, meant(Word::Tx, Word::Rx)), (false, meant(Word::Rx, Word::Tx))];
        let switches = [(true, meant(Word::On, Word::Off)), (false, meant(Word::Off, Word::On))];
        let mut cases = Vec::new();
        for (sends, _) in directions.into_iter().filter(|(_, meant)| *meant) {
            let of_direction = switches.into_iter().filter(|(_, meant)| *meant);
            cases.extend(of_direction.map(|(offload, _)| Case { sends, offload }));
        }
        cases
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a whole number above zero".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3_600.0).contains(seconds));
    seconds.ok_or_else(|| "write a number between 0.1 and 3600".to_owned())
}

fn nth_settings(text: &str) -> Result<usize, String> {
    let known = Settings::all().count();
    text.parse().ok().filter(|nth| *nth < known).ok_or_else(|| format!("settings are 0 to {}", known - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    fn parsed(words: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["longhaul-rivals"].into_iter().chain(words.split_whitespace()))
    }

    #[test]
    fn what_is_unknown_or_out_of_range_is_refused_before_anything_runs() {
        for words in [
            "--secnods 3",
            "--rounds",
            "--rounds 0",
            "--rounds x",
            "--seconds 0",
            "--settings 999",
            "up",
            "--crowd",
            "--crowd 10 tx",
            "--alone --settings 1",
            "--alone --gvisor",
            "--crowd 10 --gvisor",
        ] {
            assert!(parsed(words).is_err(), "{words}");
        }
        let help = parsed("--help").unwrap_err();
        assert_eq!(help.kind(), ErrorKind::DisplayHelp);
        assert!(help.to_string().contains("--crowd <CONNECTIONS>"), "{help}");
    }

    #[test]
    fn words_choose_cases() {
        let cases = |words| parsed(words).unwrap().cases().iter().map(Case::words).collect::<Vec<_>>();
        assert_eq!(cases(""), [("tx", "on"), ("tx", "off"), ("rx", "on"), ("rx", "off")]);
        assert_eq!(cases("off"), [("tx", "off"), ("rx", "off")]);
        assert_eq!(cases("rx on"), [("rx", "on")]);
        assert_eq!(cases("on off tx"), [("tx", "on"), ("tx", "off")]);
    }
}
