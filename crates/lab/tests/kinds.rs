//! An arm that changes a kind is compared in that kind only.

use longhaul_lab::{Overrides, Plan, SimBackend, execute, results, spec};
use test_case::test_case;

/// Delay-based exits come too late for a buffer of half a bandwidth-delay product: both senders overflow it in the same round, so
/// HyStart++ makes no difference. Jitter makes ACKs arrive in groups, and an arm that lost the profile's growth per ACK together
/// with the kind is slower by 14 and 3 %.
#[test_case("server-2022", "1MB"; "a flow that fits into the first windows")]
#[test_case("server-2022", "64MB"; "a flow that overflows the buffer")]
#[test_case("server-2019", "1MB"; "with limited slow start")]
fn hystart_pp_is_worth_nothing_where_the_buffer_overflows_before_the_delay_rises(profile: &str, bytes: &str) {
    let text = format!(
        "summary = \"Is HyStart++ worth it?\"\n[path]\nrate = \"40Mbit\"\nrtt = \"300ms\"\nbuffer = \"0.5bdp\"\njitter = \"2ms\"\n\
         [flow]\nbytes = \"{bytes}\"\n[arms]\nuse = [\"classic\", \"{profile}\"]\n\
         [arms.classic]\nprofile = \"{profile}\"\nset = {{ \"cc.slow_start.kind\" = \"classic\" }}\n"
    );
    let mut experiment = spec::read("worth", "worth.toml", &text).expect("the text is right");
    experiment.apply(&Overrides { iterations: Some(1), ..Overrides::default() }).expect("nothing is changed");
    let plan = Plan::new(experiment).expect("the plan stands");
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).expect("nothing is written");
    let rows = results::rows(&plan, &finished);
    let differs = rows[1].differs.as_ref().expect("both are profiles");
    assert!(differs.contains_key("cc.slow_start.kind") && !differs.contains_key("cc.slow_start.limit_segments"));
    assert_eq!(rows[1].vs_reference.as_ref().expect("there is a reference").median_ratio, 1.0);
}
