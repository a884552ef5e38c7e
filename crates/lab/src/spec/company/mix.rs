//! The spill-over: of the flows of two groups, how many are the arm's. What the others lose as the arm's spread is what it spills over to
//! them.

use super::group::Group;
use super::work::Work;
use crate::spec::refusal::Refusal;
use base::Ratio;
use profiles::units;

/// Reads `10%`; `none` leaves the groups as they are.
pub(crate) fn parse(text: &str) -> Result<Option<Ratio>, Refusal> {
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let share = units::ratio(text)?;
    if share.num() == 0 || share.num() >= share.den() {
        let remedy = "write more than 0% and less than 100%, for example `10%`";
        return Err(Refusal::of_value(format!("of a mix of `{text}` one side has no flow"), remedy));
    }
    Ok(Some(share))
}

/// Divides the flows of the arm's group and of another one anew, so that the arm has this share of them. Doing so twice changes nothing.
///
/// # Errors
/// When there are not two such groups, or the share is not a whole number of flows.
pub(crate) fn divide(groups: &mut [Group], share: Ratio) -> Result<(), Refusal> {
    let mut along = groups.iter_mut().filter(|group| group.sends_along());
    let (Some(one), Some(other), None) = (along.next(), along.next(), along.next()) else { return Err(unclear()) };
    let (arm, other) = match (one.is_arm(), other.is_arm()) {
        (true, false) => (one, other),
        (false, true) => (other, one),
        _ => return Err(unclear()),
    };
    if [&arm, &other].iter().any(|group| !matches!(Work::of(group), Ok(Work::Bulk))) {
        let problem = "a mix is of flows that send as much as they can";
        return Err(Refusal::of_value(problem, "take `bytes` and other applications out of both groups"));
    }
    let all = u64::from(arm.count) + u64::from(other.count);
    let of_arm = all * share.num();
    if !of_arm.is_multiple_of(share.den()) {
        let problem = format!("{} of {all} flows is not a number of flows", units::show_percent(share));
        let remedy = "change `count` of the groups in `flow.company`, or `flow.mix`";
        return Err(Refusal::of_value(problem, remedy));
    }
    let of_arm = (of_arm / share.den()) as u32;
    (arm.count, other.count) = (of_arm, all as u32 - of_arm);
    Ok(())
}

fn unclear() -> Refusal {
    Refusal::of_value(
        "a mix needs a group of the arm's flows and one of another profile's, both in the path's direction",
        "write for example `flow.company=arm x5 + linux x5`: their sum is what counts",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Company;
    use test_case::test_case;

    fn divided(company: &str, share: &str) -> Result<String, String> {
        let mut groups = Company::parse_groups(company).unwrap();
        let share = parse(share).map_err(|refusal| refusal.to_string())?.expect("a share");
        let divide = |groups: &mut [Group]| divide(groups, share).map_err(|refusal| refusal.to_string());
        divide(&mut groups)?;
        let once = groups.clone();
        divide(&mut groups)?;
        assert_eq!(groups, once, "twice is once");
        Ok(Company { groups, ..Company::default() }.show_groups())
    }

    #[test_case("arm x5 + linux x5", "10%", "arm x1 + linux x9")]
    #[test_case(
        "linux x3 start=0s..4s + arm + ping every=1s",
        "75%",
        "linux x1 start=0s..4s + arm x3 + ping x1 every=1s"
    )]
    #[test_case("arm x9 + rfc + linux x2 direction=back", "1/2", "arm x5 + rfc x5 + linux x2 direction=back")]
    fn flows_are_divided_anew(company: &str, share: &str, expected: &str) {
        assert_eq!(divided(company, share).as_deref(), Ok(expected));
    }

    #[test_case("arm x5 + linux x5", "0%", "one side has no flow"; "none of the arm")]
    #[test_case("arm x5 + linux x5", "100%", "one side has no flow"; "none of the others")]
    #[test_case("arm x5 + linux x5", "15%", "15% of 10 flows is not a number"; "a part of a flow")]
    #[test_case("arm x5 bytes=1MB + linux x5", "10%", "as much as they can"; "flows that end")]
    #[test_case("arm x5 + arm x5", "10%", "a mix needs"; "the arm twice")]
    #[test_case("arm x5 + linux + rfc", "10%", "a mix needs"; "three groups")]
    #[test_case("arm x5 + linux direction=back", "10%", "a mix needs"; "another direction")]
    fn what_cannot_be_divided_is_refused(company: &str, share: &str, problem: &str) {
        assert!(divided(company, share).unwrap_err().contains(problem));
    }
}
