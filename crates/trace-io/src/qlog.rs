//! The events as qlog (draft-ietf-quic-qlog-main-schema), in its streamed form: JSON texts, each behind a record separator
//! (RFC 7464). Times are milliseconds from the beginning of the run.
//!
//! qlog defines no events of TCP. These have a schema of their own, [`SCHEMA`]; [`names`](crate::names) lists what they are
//! called there. `group_id` identifies the end of the connection.

use crate::names::{NAMES, qlog_field};
use crate::recorder::{Chunk, Sink};
use crate::{Meta, Record};
use base::Instant;
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};
use trace::{Kind, Value};

/// Names the events' schema, with the version of the vocabulary behind it.
pub const SCHEMA: &str = "urn:x-longhaul:qlog:events:tcp";

/// ASCII's record separator.
const RS: u8 = 0x1e;

/// The file.
#[derive(Debug)]
pub struct QlogWriter<W: Write> {
    out: W,
    /// What people call the ends, by connection.
    ends: Vec<(u32, String)>,
    line: Vec<u8>,
}

impl<W: Write> QlogWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut out: W, meta: &Meta) -> io::Result<Self> {
        let header = json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": format!("{} with {}, iteration {}", meta.experiment, meta.arm, meta.iteration),
            "trace": {
                "vantage_point": { "name": "both ends", "type": "network" },
                "event_schemas": [format!("{SCHEMA}-{}", meta.vocabulary)],
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
                "run": meta,
            },
        });
        out.write_all(&[RS])?;
        serde_json::to_writer(&mut out, &header)?;
        out.write_all(b"\n")?;
        let ends = meta.ends.iter().map(|end| (end.conn, end.name.clone())).collect();
        Ok(Self { out, ends, line: Vec::new() })
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        self.line.clear();
        let end = self.ends.iter().find(|(conn, _)| *conn == record.conn.0);
        let group = end.map_or_else(|| record.conn.0.to_string(), |(_, name)| name.clone());
        // Formatted by hand: building a map for each event costs more than all the rest.
        let (time, name) = (ms(record.at.as_nanos()), NAMES[record.event.place()].qlog);
        write!(self.line, "{{\"time\":{time},\"name\":\"tcp:{name}\",\"group_id\":{},\"data\":", Json::from(group))?;
        serde_json::to_writer(&mut self.line, &data(record))?;
        self.out.write_all(&[RS])?;
        self.out.write_all(&self.line)?;
        self.out.write_all(b"}\n")
    }
}

/// Milliseconds with all six decimals that there are.
fn ms(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000)
}

/// The event's fields under their names, those that hold something.
fn data(record: &Record) -> Map<String, Json> {
    let (event, info) = (&record.event, record.event.info());
    let mut data = Map::new();
    let kind = match event.name() {
        "TimerArmed" => Some("set"),
        "TimerFired" => Some("expired"),
        _ => None,
    };
    if let Some(kind) = kind {
        data.insert("event_type".to_owned(), kind.into());
    }
    let mut fields = info.fields.iter();
    event.tell(&mut |value| {
        let Some(field) = fields.next() else { return };
        let name = qlog_field(info.name, field.name);
        // qlog records how long a timer waits, not when it fires.
        let (name, value) = match (info.name, field.kind, value) {
            ("TimerArmed", Kind::Moment, Value::Moment(at)) => ("delta", Value::Span(at.since(record.at))),
            (_, _, value) => (name, value),
        };
        if let Some(json) = json_of(value) {
            data.insert(name.to_owned(), json);
        }
    });
    data
}

fn json_of(value: Value<'_>) -> Option<Json> {
    let ms = |nanos: u64| Json::from(nanos as f64 / 1e6);
    Some(match value {
        Value::Number(number) => number.into(),
        Value::Flag(flag) => flag.into(),
        Value::Word(word) => word.into(),
        Value::Seq(seq) => seq.0.into(),
        Value::Range(range) => vec![range.start.0, range.end.0].into(),
        Value::Span(span) => ms(span.as_nanos()),
        Value::Moment(at) => ms(at.since(Instant::ZERO).as_nanos()),
        Value::Absent => return None,
    })
}

impl<W: Write + Send> Sink for QlogWriter<W> {
    fn take(&mut self, chunk: &Chunk) -> io::Result<()> {
        chunk.records.iter().try_for_each(|record| self.write(record))
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;
    use base::Duration;
    use trace::{ConnId, Event, Phase, TimerKind};

    /// The JSON texts of a file.
    fn texts(records: &[Record]) -> Vec<Json> {
        let end = End { conn: 0, name: "sender".to_owned() };
        let meta = Meta { vocabulary: 3, experiment: "dsack".to_owned(), ends: vec![end], ..Meta::default() };
        let mut out = Vec::new();
        let mut writer = QlogWriter::new(&mut out, &meta).unwrap();
        writer.take(&Chunk { records: records.to_vec(), packets: Vec::new() }).unwrap();
        Box::new(writer).finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut parts = text.split('\x1e');
        assert_eq!(parts.next(), Some(""), "a separator comes first");
        parts.inspect(|part| assert!(part.ends_with('\n'))).map(|part| serde_json::from_str(part).unwrap()).collect()
    }

    #[test]
    fn a_header_comes_first_and_every_event_behind_its_separator() {
        let at = Instant::from_nanos(1_500_000);
        let armed = Event::TimerArmed { kind: TimerKind::Retransmit, fires_at: at + Duration::from_millis(200) };
        let ms = Duration::from_millis;
        let rtt = Event::RttUpdated { sample: ms(1), srtt: ms(2), rttvar: ms(3), rto: ms(4), min_rtt: ms(5) };
        let records = [(0, armed), (7, rtt)].map(|(conn, event)| Record { at, conn: ConnId(conn), event });
        let texts = texts(&records);
        assert_eq!(texts.len(), 3);
        assert_eq!(texts[0]["file_schema"], "urn:ietf:params:qlog:file:sequential");
        assert_eq!(texts[0]["trace"]["event_schemas"][0], "urn:x-longhaul:qlog:events:tcp-3");
        let data = json!({ "event_type": "set", "timer_type": "retransmit", "delta": 200.0 });
        assert_eq!(texts[1], json!({ "time": 1.5, "name": "tcp:timer_updated", "group_id": "sender", "data": data }));
        assert_eq!(texts[2]["name"], "tcp:recovery_metrics_updated");
        assert_eq!(texts[2]["group_id"], "7");
        assert_eq!(texts[2]["data"]["smoothed_rtt"], 2.0);
    }

    #[test]
    fn what_is_absent_is_left_out() {
        let event = Event::CcSnapshot { phase: Phase::Cubic, cwnd: 1, ssthresh: 2, pipe: 3, snd_wnd: 4, pacing: None };
        let texts = texts(&[Record { at: Instant::ZERO, conn: ConnId(0), event }]);
        let data =
            json!({ "phase": "cubic", "congestion_window": 1, "ssthresh": 2, "bytes_in_flight": 3, "snd_wnd": 4 });
        assert_eq!(texts[1]["data"], data);
    }
}
