//! Applications that use a step's allowance to the byte, or take a short read for the end of the data.

use super::*;
use crate::apps::AppCx;
use tcp::{Conn, ConnEvent, Read, StackEvent};

/// Bytes that an application may move in one step here.
const STEP: usize = 1000;

/// Opens a connection, uses a step's allowance on it in one write that is not cut short, and resets it.
#[derive(Default)]
struct Leaver {
    conn: Option<Conn>,
    written: u64,
    closed: bool,
}

impl App for Leaver {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        let config = Config::default().validate().unwrap();
        self.conn = Some(cx.connect(&config, (IpAddr::from([10, 9, 0, 2]), 9).into())?);
        Ok(())
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        match event {
            StackEvent::Conn { conn, event: ConnEvent::Connected } if Some(conn) == self.conn => {
                self.written = cx.write_pattern(conn, STEP as u64).unwrap();
                cx.abort(conn);
            }
            StackEvent::Conn { conn, event: ConnEvent::Closed(_) } => self.closed |= Some(conn) == self.conn,
            _ => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, _: &mut AppCx<'_, O>) {}

    fn is_done(&self) -> bool {
        self.closed
    }
}

#[test]
fn what_a_call_leaves_in_the_stack_is_not_waited_for_when_it_spent_the_allowance_exactly() {
    let mut bench = Bench::new(Default::default());
    bench.client.allowance = STEP;
    let mut leaver = Leaver::default();
    bench.client.start(&mut leaver, &mut Off).unwrap();
    bench.client.step(&mut leaver, &mut Off).unwrap();
    bench.step_server();
    let wake = bench.client.step(&mut leaver, &mut Off).unwrap();
    assert_eq!((leaver.written, leaver.closed), (STEP as u64, false));
    assert_eq!(wake, Some(bench.now.get()), "the event of the end is there, and nothing else would wake the loop");
    bench.client.step(&mut leaver, &mut Off).unwrap();
    assert!(leaver.closed);
}

/// Accepts one connection and reads it until a read returns less than requested, as with a socket.
struct SocketReader {
    buf: Vec<u8>,
    read: u64,
}

impl App for SocketReader {
    fn start<O: Observer>(&mut self, _: &mut AppCx<'_, O>) -> Result<(), StartError> {
        unreachable!("the server listens already")
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        match event {
            StackEvent::Accepted { conn, .. } => cx.accept(conn),
            StackEvent::Conn { conn, event: ConnEvent::Readable } => {
                while let Ok(Read::Data(len)) = cx.read(conn, &mut self.buf) {
                    self.read += len;
                    if len < self.buf.len() as u64 {
                        break;
                    }
                }
            }
            StackEvent::Conn { .. } => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, _: &mut AppCx<'_, O>) {}

    fn is_done(&self) -> bool {
        self.read == BYTES
    }
}

#[test]
fn a_read_that_the_allowance_cut_short_is_gone_on_with() {
    let mut bench = Bench::new(Default::default());
    bench.server.allowance = STEP;
    let mut reader = SocketReader { buf: vec![0; 64 << 10], read: 0 };
    for _ in 0..1000 {
        bench.step_client().unwrap();
        bench.server.step(&mut reader, &mut Off).unwrap();
        bench.after(Duration::from_millis(1));
    }
    assert_eq!(reader.read, BYTES);
}
