//! What a program learns about its connections.

use crate::streams::connected;
use crate::two::{Two, millis};
use longhaul_tokio::trace::{ConnId, Event, Observer, State};
use longhaul_tokio::{ConnectionObserver, Instant, Spans};
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

/// Two connections one after another, each with some bytes; returns the numbers of the client's.
fn two_connections(observer: impl ConnectionObserver) -> [u32; 2] {
    let mut two = Two::built(millis(10), |builder| builder.observer(observer), |builder| builder);
    let nets = (two.client.clone(), two.server.clone());
    two.world
        .run(async move {
            let mut numbers = [0; 2];
            for number in &mut numbers {
                let (mut out, mut inward) = connected(&nets).await;
                *number = out.id();
                out.write_all(&[7; 100_000]).await.unwrap();
                out.shutdown().await.unwrap();
                inward.read_to_end(&mut Vec::new()).await.unwrap();
                drop(inward);
                out.closed().await.unwrap();
            }
            // TIME-WAIT ends.
            nets.0.shutdown(std::time::Duration::from_secs(600)).await;
            numbers
        })
        .unwrap()
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<(Instant, ConnId, Event)>>>);

impl Observer for Kept {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.0.lock().unwrap().push((at, conn, event));
    }
}

#[test]
fn an_observer_gets_every_event_under_its_connections_number() {
    let kept = Kept::default();
    let numbers = two_connections(kept.clone());
    let events = kept.0.lock().unwrap();
    assert!(events.is_sorted_by_key(|(at, ..)| *at));
    assert_eq!(numbers, [0, 1]);
    for number in numbers {
        let own = || events.iter().filter(|(_, conn, _)| conn.0 == number).map(|(_, _, event)| event);
        let is_open = |event: &&Event| matches!(event, Event::StateChanged { to: State::Established, .. });
        assert_eq!(own().filter(is_open).count(), 1);
        let sent: u32 = own().map(|event| if let Event::SegmentSent { len, .. } = event { *len } else { 0 }).sum();
        // The FIN counts one.
        assert_eq!(sent, 100_001);
    }
}

/// Writes down the spans and events that it sees.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Vec<String>>>);

impl Book {
    fn note(&self, what: &str, write: impl FnOnce(&mut dyn Visit)) {
        let mut fields = Fields(what.to_owned());
        write(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

impl Subscriber for Book {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "longhaul" && *metadata.level() <= tracing::Level::DEBUG
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.note(span.metadata().name(), |fields| span.record(fields));
        Id::from_u64(self.0.lock().unwrap().len() as u64)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        self.note("named", |fields| values.record(fields));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        assert!(event.parent().is_some());
        self.note("event", |fields| event.record(fields));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
    fn try_close(&self, _: Id) -> bool {
        self.note("closed", |_| {});
        true
    }
}

#[test]
fn a_connection_is_a_span_from_its_first_event_to_its_end() {
    let book = Book::default();
    tracing::subscriber::with_default(book.clone(), || two_connections(Spans::default()));
    let lines = book.0.lock().unwrap();
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("tcp conn="), count("closed")), (2, 2), "{lines:#?}");
    assert_eq!(lines[0], "tcp conn=0");
    let named: SocketAddr = "10.0.0.2:80".parse().unwrap();
    assert_eq!(lines.iter().filter(|line| line.contains(&format!("peer={named}"))).count(), 2, "{lines:#?}");
    let open = |line: &&String| line.contains("StateChanged") && line.contains("to=ESTABLISHED");
    assert_eq!(lines.iter().filter(open).count(), 2, "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("SegmentSent")), "a finer level than asked for");
}
