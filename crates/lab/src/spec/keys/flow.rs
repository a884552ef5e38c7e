//! The keys of what is transferred.

use super::key::{Form, Key, positive};
use crate::spec::company::{Company, Orders, Window, mix};
use crate::spec::figure::Figure;
use crate::spec::flow::Flow;
use crate::spec::refusal::Refusal;
use base::Duration;
use profiles::units::{self, Fraction, Notation};

/// In the order of [`Point::settings`](crate::spec::Point::settings).
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "flow.bytes",
        form: Form::Quantity(Notation::Bytes),
        says: "payload of the transfer",
        set: |point, text| flow_bytes(text).map(|bytes| point.flow = Flow::Bytes(bytes)),
        show: |point| match point.flow {
            Flow::Bytes(bytes) => Some(units::show_bytes(bytes)),
            Flow::Seconds(_) => None,
        },
    },
    Key {
        name: "flow.seconds",
        form: Form::Quantity(Notation::Time),
        says: "how long a transfer without a size goes on",
        set: |point, text| flow_seconds(text).map(|span| point.flow = Flow::Seconds(span)),
        show: |point| match point.flow {
            Flow::Seconds(span) => Some(span.to_string()),
            Flow::Bytes(_) => None,
        },
    },
    Key {
        name: "flow.company",
        form: Form::Text("arm x2 start=0s..4s + linux rtt=100ms"),
        says: "groups of flows on the path, or none",
        set: |point, text| Company::parse_groups(text).map(|groups| point.company.groups = groups),
        show: |point| (!point.company.is_empty()).then(|| point.company.show_groups()),
    },
    Key {
        name: "flow.mix",
        form: Form::Text("10%"),
        says: "share of the flows of two groups that are the arm's, or none",
        set: |point, text| mix::parse(text).map(|mix| point.company.mix = mix),
        show: |point| point.company.mix.map(units::show_percent),
    },
    Key {
        name: "flow.window",
        form: Form::Text("60s..180s"),
        says: "when shares of flows are measured",
        set: |point, text| Window::parse(text).map(|window| point.company.window = window),
        show: |point| Some(point.company.window.to_string()),
    },
    Key {
        name: "flow.orders",
        form: Form::Words(&["given", "both"]),
        says: "whether flows also start in the reverse order",
        set: |point, text| Orders::parse(text).map(|orders| point.company.orders = orders),
        show: |point| Some(point.company.orders.word().to_owned()),
    },
    Key {
        name: "flow.harm",
        form: Form::Words(&["none", "measured"]),
        says: "whether the harm to other flows is measured, by further runs",
        set: |point, text| Figure::parse(text).map(|harm| point.company.harm = harm),
        show: |point| point.company.harm.word(),
    },
    Key {
        name: "flow.startup",
        form: Form::Words(&["none", "measured"]),
        says: "whether the start of flows is measured, by an observer",
        set: |point, text| Figure::parse(text).map(|startup| point.startup = startup),
        show: |point| point.startup.word(),
    },
];

fn flow_bytes(text: &str) -> Result<u64, Refusal> {
    match units::bytes(text)? {
        0 => Err(Refusal::of_value("a flow of 0 bytes measures nothing", "write for example `32MB`")),
        bytes => Ok(bytes),
    }
}

/// A bare number is in the unit of the key's name.
fn flow_seconds(text: &str) -> Result<Duration, Refusal> {
    let with_unit = if Fraction::parse(text.trim()).is_some() { format!("{}s", text.trim()) } else { text.to_owned() };
    positive(&with_unit)
}
