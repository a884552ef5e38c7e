//! Several flows on one path, as experiments write them: `arm x2 start=0s..4s + linux rtt=100ms`.
//!
//! The flows of a group are alike. Those of the profile `arm` are the ones that the arms compare; other groups have a profile of their own,
//! the same for every arm.

mod arrivals;
mod group;
pub(crate) mod mix;
mod sizes;
mod times;
mod window;
mod work;

pub use arrivals::Arrivals;
pub use group::{App, Group, GroupProfile};
pub(crate) use group::{GROUP_KEYS, hops_word};
pub use window::{Orders, Window};
pub(crate) use work::Work;

use crate::spec::figure::Figure;
use crate::spec::refusal::Refusal;
use base::{Duration, Ratio};
use group::MOST_FLOWS;
use profiles::Profile;
use sim::Direction;

/// The flows of a run that has several; none of them for a run of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The groups, in their order of arrival unless their starts say otherwise.
    pub groups: Vec<Group>,
    /// The time in which shares are measured, common to all flows.
    pub window: Window,
    /// In which orders the flows start.
    pub orders: Orders,
    /// Whether a run has two twins: the arm's flows without the others, and the others without them.
    pub harm: Figure,
    /// The arm's part of the flows of two groups, if it is not what the groups say.
    pub mix: Option<Ratio>,
}

impl Default for Company {
    fn default() -> Self {
        let window = Window { from: Duration::from_secs(60), until: Duration::from_secs(180) };
        Self { groups: Vec::new(), window, orders: Orders::Given, harm: Figure::Unknown, mix: None }
    }
}

impl Company {
    /// Returns whether something is sent without a TCP.
    pub(crate) fn has_datagrams(&self) -> bool {
        self.groups.iter().any(|group| matches!(group.profile, GroupProfile::Datagrams | GroupProfile::Ping))
    }

    /// Returns whether the run has one flow, which this does not describe.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns whether starts, or what applications do, are drawn.
    pub fn is_drawn(&self) -> bool {
        let works = |group: &Group| Work::of(group).is_ok_and(Work::is_drawn);
        self.groups.iter().any(|group| group.start.0 != group.start.1 || works(group))
    }

    /// Returns whether anything but transfers takes part.
    pub(crate) fn has_applications(&self) -> bool {
        let is_transfer = |group: &Group| matches!(Work::of(group), Ok(Work::Bulk | Work::Bytes(_)));
        !self.groups.iter().all(is_transfer)
    }

    /// Returns the profiles of flows that are not the arm's, each once.
    pub fn others(&self) -> Vec<&'static Profile> {
        let mut names: Vec<&str> = self.groups.iter().filter_map(|group| group.profile.name()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().filter_map(|name| profiles::get(name).ok()).collect()
    }

    /// Reads the groups; `none` and no text are none.
    pub(crate) fn parse_groups(text: &str) -> Result<Vec<Group>, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(Vec::new());
        }
        text.split(" + ").map(Group::parse).collect()
    }

    /// Shows what [`Self::parse_groups`] reads.
    pub(crate) fn show_groups(&self) -> String {
        self.groups.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
    }

    /// Divides the flows as the mix says, if there is one.
    pub(crate) fn divide(&mut self) -> Result<(), Refusal> {
        match self.mix {
            Some(share) if !self.is_empty() => mix::divide(&mut self.groups, share),
            _ => Ok(()),
        }
    }

    /// Refuses what does not go together.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let (groups, window) = (&self.groups, self.window);
        if groups.is_empty() {
            return Ok(());
        }
        let mut flows = 0_u64;
        for group in groups {
            let (work, stop) = (Work::of(group)?, group.stop.unwrap_or(window.until).min(window.until));
            let each = work.flows_in(stop.saturating_sub(group.start.0));
            flows = flows.saturating_add(each.saturating_mul(group.count.into()));
        }
        if flows > MOST_FLOWS {
            let problem = format!("{flows} flows are too many for a run");
            let remedy = format!("use {MOST_FLOWS} at most: fewer, or arrivals that are rarer or stop earlier");
            return Err(Refusal::of_value(problem, remedy));
        }
        let is_arm = |group: &&Group| group.profile == GroupProfile::Arm && group.direction == Direction::Forward;
        if !groups.iter().any(|group| is_arm(&group)) {
            return Err(Refusal::of_value(
                "no group of flows is the arm's",
                "give one the profile `arm`, and the path's direction",
            ));
        }
        if let Some(late) = groups.iter().find(|group| group.start.1 >= window.until) {
            let problem = format!("flows of `{late}` may start after the end of the window, {}", window.until);
            return Err(Refusal::of_value(problem, "let them start earlier, or set `flow.window`"));
        }
        // With both orders of arrival, each may start when another one does.
        let latest = groups.iter().map(|group| group.start.1).max().unwrap_or_default();
        let latest_of = |group: &Group| if self.orders == Orders::Both { latest } else { group.start.1 };
        if let Some(over) = groups.iter().find(|group| group.stop.is_some_and(|stop| stop <= latest_of(group))) {
            let problem = format!("flows of `{over}` may stop before they start");
            return Err(Refusal::of_value(problem, "let them stop later, or start earlier"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn company(text: &str) -> Result<Company, Refusal> {
        Ok(Company { groups: Company::parse_groups(text)?, ..Company::default() })
    }

    #[test_case("arm", "arm x1"; "one")]
    #[test_case("arm X2 start=0s..4000ms + linux rtt=0.1s", "arm x2 start=0s..4s + linux x1 rtt=100ms"; "two groups")]
    #[test_case("arm start=2s + linux x3 direction=back bytes=1000kB pace=5Mbit", "arm x1 start=2s + linux x3 direction=back bytes=1MB pace=5Mbit"; "everything")]
    #[test_case("arm + kernel:cubic x2 start=1s", "arm x1 + kernel:cubic x2 start=1s"; "the kernel's")]
    #[test_case("arm stop=30000ms + linux arrivals=2.50/s sizes=10kB..1000kB", "arm x1 stop=30s + linux x1 arrivals=2.5/s sizes=10kB..1MB"; "arrivals")]
    #[test_case("arm app=request sizes=100kB think=0s..1s", "arm x1 sizes=100kB app=request think=0s..1s"; "requests")]
    #[test_case("arm on=1s..5000ms app=onoff off=2s..2s pace=1Mbit", "arm x1 pace=1Mbit app=onoff on=1s..5s off=2s"; "bursts")]
    #[test_case("arm + arm bytes=4MB every=5000ms", "arm x1 + arm x1 bytes=4MB every=5s"; "repetitions")]
    #[test_case("arm hops=both + linux rtt=1ms hops=first direction=back + arm hops=second bytes=1MB", "arm x1 + linux x1 rtt=1ms direction=back hops=first + arm x1 hops=second bytes=1MB"; "bottlenecks")]
    #[test_case("arm + ping every=0.2s + datagrams x2 size=1200B pace=5Mbit", "arm x1 + ping x1 every=200ms + datagrams x2 pace=5Mbit size=1200"; "datagrams")]
    fn groups_are_shown_in_canonical_form_and_read_back(text: &str, canonical: &str) {
        let read = company(text).unwrap();
        assert_eq!(read.show_groups(), canonical);
        assert_eq!(company(canonical), Ok(read.clone()));
        assert_eq!(read.check(), Ok(()));
    }

    #[test_case("armada", "no profile `armada`"; "no such profile")]
    #[test_case("arm + kernel:vegas", "no arm `kernel:vegas`"; "no such congestion control")]
    #[test_case("arm x0", "not a number of flows"; "no flow")]
    #[test_case("arm x2.5", "2.5"; "half a flow")]
    #[test_case("arm start=4s..2s", "not a start"; "backwards")]
    #[test_case("arm direction=up", "not a direction"; "direction")]
    #[test_case("arm hops=third", "does not say which bottlenecks"; "a third bottleneck")]
    #[test_case("arm speed=3", "flows have no `speed`"; "no such key")]
    #[test_case("arm twice", "says nothing"; "a word")]
    #[test_case("arm stop=soon", "not a valid duration"; "no time to stop")]
    #[test_case("arm arrivals=ten", "not a number of arrivals"; "arrivals in words")]
    #[test_case("arm sizes=large", "are not sizes"; "sizes in words")]
    #[test_case("arm app=browser", "not an application"; "another application")]
    #[test_case("arm think=2s..1s", "not a time to think"; "thinking backwards")]
    #[test_case("arm + datagrams pace=1Mbit size=1501", "not the size of a datagram"; "too large")]
    #[test_case("arm every=often", "not a valid duration"; "repetitions in words")]
    #[test_case("arm +  + linux", "is empty"; "an empty group")]
    fn wrong_groups_are_refused(text: &str, problem: &str) {
        let refusal = company(text).unwrap_err();
        assert!(refusal.problem.contains(problem) && !refusal.remedy.is_empty(), "{refusal}");
    }

    #[test_case("linux x2", "no group"; "without an arm")]
    #[test_case("arm direction=back", "no group"; "the arm goes back")]
    #[test_case("arm start=180s", "after the end"; "too late")]
    #[test_case("arm x6000 + linux x6000", "too many"; "too many")]
    #[test_case("arm arrivals=60/s sizes=1kB", "too many"; "too many arrivals")]
    #[test_case("arm start=0s..4s stop=4s", "stop before they start"; "nothing between start and stop")]
    #[test_case("arm arrivals=1/s", "has no sizes"; "arrivals of nothing")]
    #[test_case("arm sizes=1kB", "draws them"; "sizes of nothing")]
    #[test_case("arm arrivals=1/s sizes=1kB bytes=1kB", "`bytes` says nothing about flows that arrive"; "sizes twice")]
    #[test_case("arm app=request think=1s", "has no sizes"; "answers of nothing")]
    #[test_case("arm app=request sizes=1kB pace=1Mbit", "`pace` says nothing about requests"; "requests with a pace")]
    #[test_case("arm app=onoff on=1s", "a length and a distance"; "a burst without end")]
    #[test_case("arm app=onoff on=0s off=1s", "a length and a distance"; "no burst")]
    #[test_case("ping every=1s", "no group"; "only pings")]
    #[test_case("arm + ping", "pings have a distance"; "a ping once")]
    #[test_case("arm + ping every=0s", "pings have a distance"; "pings at once")]
    #[test_case("arm + ping every=1s bytes=1kB", "`bytes` says nothing about pings"; "large pings")]
    #[test_case("arm + datagrams size=100", "datagrams have a rate"; "datagrams once")]
    #[test_case("arm size=100", "`size` says nothing about flows that send"; "a size of segments")]
    #[test_case("arm every=5s", "a size and a distance"; "nothing repeated")]
    #[test_case("arm bytes=1MB every=0s", "a size and a distance"; "repeated at once")]
    #[test_case("arm think=1s", "`think` says nothing about flows that send"; "bulk that thinks")]
    fn what_does_not_go_together_is_refused(text: &str, problem: &str) {
        let refusal = company(text).unwrap().check().unwrap_err();
        assert!(refusal.problem.contains(problem), "{refusal}");
    }
}
