//! Rows in which written data is kept in chunks.

use super::super::super::chunks::Push;
use super::*;
use crate::config::{ChunksConfig, SegmenterConfig};

impl Case {
    /// Writes `bytes` in chunks for a device that takes bursts, and releases `released` of them.
    fn chunks(&mut self, bytes: Bytes, released: Bytes) {
        self.configure(|cfg| cfg.send.segmenter = SegmenterConfig::Chunks(ChunksConfig::default()));
        self.snd.send_bursts(&self.cfg);
        self.snd.keep_chunk(bytes);
        self.write(bytes);
        if released > 0 {
            self.snd.commit(released, Push::No, SIZE);
        }
        self.view.tso_max_bytes = 65_000;
    }
}

pub(super) fn rows() -> Vec<Row> {
    rows! {
        "what was released goes before a probe of the MTU", |c| { c.chunks(900, 300); c.view.mtu_probe = ProbeNow::Send(150); } => new(300), { c.snd.on_new_data(NOW, 0, data(300), SIZE); } => Departure::MtuProbe { len: 150 };
        "nothing released, and the MTU is probed", |c| { c.chunks(900, 0); c.view.mtu_probe = ProbeNow::Wait; } => held(HeldBy::MtuSearch), { c.snd.commit(300, Push::No, SIZE); } => new(300);
        "a released burst leaves as one frame", |c| { c.chunks(900, 500); } => new(500), { c.view.tso_max_bytes = 250; } => new(200);
        "a tail probe ends where its burst does", |c| { c.send(3); c.chunks(250, 50); c.snd.rec.tail.on_timeout(); } => tail_new(50), { c.snd.commit(150, Push::No, SIZE); c.snd.on_new_data(NOW, 0, data(50), SIZE); } => tail_new(100);
        "an urgent burst leaves segment by segment", |c| { c.chunks(900, 500); c.view.urgent = true; } => new(100), { c.view.urgent = false; } => new(500);
        "a burst of all that was written carries the FIN", |c| { c.chunks(500, 500); c.snd.space.queue_fin(); } => Departure::New(fin(500)), { c.view.tso_max_bytes = 250; } => new(200);
        "a chunk that was judged waits for something new", |c| { c.chunks(900, 0); } => held(HeldBy::Deferred), { c.snd.commit(500, Push::No, SIZE); } => new(500);
        "a chunk waits for a larger burst", |c| { c.chunks(900, 0); c.view.chunk_held = Some(HeldBy::Deferred); } => held(HeldBy::Deferred), { c.view.chunk_held = Some(HeldBy::Cwnd); } => held(HeldBy::Cwnd);
        "an order to send full segments holds a chunk", |c| { c.chunks(50, 0); c.view.chunk_held = Some(HeldBy::Cork); } => held(HeldBy::Cork), { c.snd.commit(50, Push::Yes, SIZE); } => new(50);
        "an order to send full segments holds no FIN", |c| { c.chunks(50, 0); c.view.chunk_held = Some(HeldBy::Cork); } => held(HeldBy::Cork), { c.snd.commit(50, Push::Yes, SIZE); c.snd.space.queue_fin(); } => Departure::New(fin(50));
    }
}

#[test]
fn both_reasons_to_hold_a_chunk_stand_in_the_table_twice() {
    for by in [HeldBy::Cork, HeldBy::Deferred] {
        let times = times_held(&rows(), by);
        assert!(times >= 2, "{by:?} stands in the table {times} times");
    }
}
