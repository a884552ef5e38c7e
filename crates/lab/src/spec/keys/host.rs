//! The keys of the two hosts. What is ideal is not shown.

use super::key::{Form, Key};
use crate::spec::host::{PauseSpec, Receiver};
use crate::spec::refusal::Refusal;
use crate::spec::remembered::Remembered;
use base::Duration;
use profiles::units::{self, Notation};

/// In the order of [`Point::settings`](crate::spec::Point::settings).
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "host.sender.pause",
        form: Form::Text("10ms x3"),
        says: "how long the sending host pauses and how often, or none",
        set: |point, text| PauseSpec::parse(text).map(|pause| point.hosts.sender_pause = pause),
        show: |point| point.hosts.sender_pause.map(|pause| pause.to_string()),
    },
    Key {
        name: "host.sender.first_flight",
        form: Form::Optional(Notation::Time),
        says: "how long the sending host holds its first flight",
        set: |point, text| time(text).map(|hold| point.hosts.first_flight = hold),
        show: |point| shown(point.hosts.first_flight),
    },
    Key {
        name: "host.sender.remembers",
        form: Form::Text("2500kB/200ms"),
        says: "what the sender remembers of the path, or none",
        set: |point, text| Remembered::parse(text).map(|path| point.hosts.remembers = path),
        show: |point| point.hosts.remembers.map(|path| path.to_string()),
    },
    Key {
        name: "host.sender.merge",
        form: Form::Optional(Notation::Time),
        says: "how long the sending host collects packets that it receives",
        set: |point, text| time(text).map(|hold| point.hosts.sender_merge = hold),
        show: |point| shown(point.hosts.sender_merge),
    },
    Key {
        name: "host.receiver.pause",
        form: Form::Text("10ms x3"),
        says: "how long the receiving host pauses and how often, or none",
        set: |point, text| PauseSpec::parse(text).map(|pause| point.hosts.receiver_pause = pause),
        show: |point| point.hosts.receiver_pause.map(|pause| pause.to_string()),
    },
    Key {
        name: "host.receiver.merge",
        form: Form::Optional(Notation::Time),
        says: "how long the receiving host collects packets that it receives",
        set: |point, text| time(text).map(|hold| point.hosts.receiver_merge = hold),
        show: |point| shown(point.hosts.receiver_merge),
    },
    Key {
        name: "host.receiver.profile",
        form: Form::Text("linux ack.delay=200ms"),
        says: "profile of the receiver, with leaves of its own, or none",
        set: |point, text| Receiver::parse(text).map(|receiver| point.hosts.receiver = receiver),
        show: |point| point.hosts.receiver.as_ref().map(ToString::to_string),
    },
    Key {
        name: "host.offload",
        form: Form::Words(&["off", "on"]),
        says: "whether devices cut super-segments",
        set: |point, text| switch(text).map(|on| point.hosts.offload = on),
        show: |point| point.hosts.offload.then(|| "on".to_owned()),
    },
];

fn time(text: &str) -> Result<Duration, Refusal> {
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(Duration::ZERO);
    }
    units::duration(text).map_err(Refusal::from)
}

fn shown(time: Duration) -> Option<String> {
    (!time.is_zero()).then(|| time.to_string())
}

fn switch(text: &str) -> Result<bool, Refusal> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" => Ok(true),
        "off" | "none" => Ok(false),
        _ => Err(Refusal::of_value(format!("`{text}` is neither on nor off"), "write `on` or `off`")),
    }
}
