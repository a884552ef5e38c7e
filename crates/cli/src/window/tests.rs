//! The note's examples to the digit, and the values that are rejected.

use super::*;
use test_case::test_case;

fn args(rate: &str, rtt: &str, jitter: &str, window: Option<u64>) -> WindowArgs {
    WindowArgs {
        rate: units::rate(rate).unwrap(),
        rtt: units::duration(rtt).unwrap(),
        jitter: units::duration(jitter).unwrap(),
        mss: 1_460,
        window,
        connections: None,
        format: Format::Text,
    }
}

fn of(rate: &str, rtt: &str, jitter: &str, window: Option<u64>) -> Answer {
    answer(&args(rate, rtt, jitter, window)).unwrap()
}

#[test]
fn ten_megabits_over_ten_milliseconds_are_nine_segments() {
    let found = of("10Mbit", "10ms", "0", None);
    assert_eq!((found.product, found.segments, found.window), (12_500, 9, 13_140));
}

#[test]
fn nine_segments_cover_about_a_millisecond_at_a_hundred_megabits() {
    let found = of("100Mbit", "1ms", "0", Some(13_140));
    assert_eq!(found.covers, Duration::from_nanos(1_051_200));
}

#[test_case("100Mbit", "2ms", 70_080_000; "the default window on a fast local network")]
#[test_case("10Mbit", "70ms", 2_002_285; "and over seventy milliseconds")]
fn twelve_segments_allow(rate: &str, rtt: &str, bps: u64) {
    let found = of(rate, rtt, "0", Some(17_520));
    assert_eq!((found.allows, found.is_limiting()), (bps, true));
}

#[test]
fn eighty_five_milliseconds_ask_for_a_hundred_kilobytes() {
    let found = of("10Mbit", "85ms", "0", None);
    assert_eq!((found.product, found.segments), (106_250, 73));
}

#[test]
fn with_twenty_milliseconds_of_jitter_ninety_segments_are_needed_and_scaling() {
    let found = of("10Mbit", "85ms", "20ms", None);
    assert_eq!((found.with_jitter, found.segments, found.window, found.shift), (131_250, 90, 131_400, 2));
    assert_eq!(found.covers, Duration::from_nanos(105_120_000));
    // "Nearly eight-fold" the default.
    assert_eq!(found.window * 10 / 17_520, 75);
    assert!(!found.is_limiting());
}

#[test]
fn what_was_measured_before_implies_a_round_trip_and_after_it_another_limit() {
    // 1.8 Mbit/s with twelve segments is a round trip of 77.87 ms, in which the larger window allows 13.5 Mbit/s.
    let rtt = Duration::from_nanos(17_520 * 8_000_000_000 / 1_800_000);
    assert_eq!(rtt.as_micros(), 77_866);
    assert_eq!(bits_per_sec(131_400, rtt) / 10_000, 1_350);
}

#[test_case(65_535, 0)]
#[test_case(65_536, 1)]
#[test_case(131_070, 1)]
#[test_case(131_071, 2)]
#[test_case(LARGEST, 14)]
fn the_shift_is_the_smallest_that_says_the_window(window: u64, expected: u32) {
    assert_eq!(shift(window), expected);
}

#[test_case("10Mbit", "0", "0", None, "--rtt 0")]
#[test_case("10Mbit", "2000s", "2000s", None, "an hour")]
#[test_case("10Mbit", "85ms", "0", Some(0), "--window 0")]
#[test_case("100Gbit", "1s", "0", None, "more than TCP can announce")]
fn what_cannot_be_is_refused_with_a_remedy(rate: &str, rtt: &str, jitter: &str, window: Option<u64>, what: &str) {
    let problem = answer(&args(rate, rtt, jitter, window)).unwrap_err();
    assert!(problem.contains(what), "{problem}");
}

#[test]
fn each_system_gets_its_own_commands() {
    let text =
        text(&args("10Mbit", "85ms", "20ms", None), &of("10Mbit", "85ms", "20ms", None), &Settings::of(131_400, 2));
    for part in [
        "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 262800\"",
        "sysctl -w net.ipv4.tcp_window_scaling=1",
        "Set-NetTCPSetting -SettingName InternetCustom -AutoTuningLevelLocal Normal",
        "netsh interface tcp set global autotuninglevel=normal",
        "\"TcpWindowSize\"=dword:00020148",
        "\"Tcp1323Opts\"=dword:00000001",
        "90 of 1460 bytes",
        "105.120 ms",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(Settings::of(65_535, 0).windows_2000.iter().all(|line| !line.contains("1323")));
    assert_eq!(Settings::of(LARGEST, 14).windows_2000[4], "\"TcpWindowSize\"=dword:3fffc000");
    assert!(Settings::of(16_776_961, 9).windows[0].ends_with("Experimental"));
}

#[test]
fn a_server_pays_for_each_connection() {
    let asked = WindowArgs { connections: Some(10_000), ..args("10Mbit", "85ms", "20ms", None) };
    let found = answer(&asked).unwrap();
    assert!(text(&asked, &found, &Settings::of(found.window, found.shift)).contains("1314.0 MB for 10000 connections"));
    assert!(
        json(&asked, &found, &Settings::of(found.window, found.shift)).contains("\"server_buffer_bytes\":1314000000.0")
    );
}
