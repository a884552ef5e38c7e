//! Two stacks behind pipes, and a wire that carries packets from one tunnel's end to the other's, in virtual time.

use base::{Duration, Instant, Rng};
use longhaul_pipe::{Batch, Gather, Next, Runner, RunnerConfig, Tunnel, pipe};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use tcp::config::GuardConfig;
use tcp::{
    Config, Conn, DeviceCaps, RequestConfig, Segmentation, Stack, StackConfig, StackCx, TxChecksum, ValidConfig,
};
use trace::Off;
use wire::CutInPlace;

pub const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));

pub fn config() -> ValidConfig {
    Config::default().validate().expect("the default is valid")
}

pub fn stack(address: IpAddr, segmentation: Segmentation) -> Stack {
    let device = DeviceCaps { mtu: 1500, checksum: TxChecksum::Compute, segmentation };
    let guards = GuardConfig::default();
    Stack::new(StackConfig { addresses: vec![address], device, isn_secret: [1, 2], guards }, Rng::new(7))
}

/// One end.
pub struct Side {
    pub runner: Runner,
    pub tunnel: Tunnel,
    /// What an outlet has taken: it is older than what waits for the tunnel.
    pub straight: Option<Arc<Mutex<Batch>>>,
    /// What has left, and what is on its way here.
    left: Batch,
    coming: Batch,
    gather: Gather,
    next: Next,
}

impl Side {
    fn new(address: IpAddr, segmentation: Segmentation, cfg: RunnerConfig) -> Self {
        let (runner, tunnel) = pipe(stack(address, segmentation), cfg);
        Self {
            runner,
            tunnel,
            straight: None,
            left: Batch::default(),
            coming: Batch::default(),
            gather: Gather::new(1_500),
            next: Next::Now,
        }
    }
}

/// Both ends, and the time.
pub struct Two {
    pub client: Side,
    pub server: Side,
    pub now: Instant,
    /// Packets take a step of time on the wire, up to 64 of them in each direction.
    pub lags: bool,
    /// The wire carries single packets: super-segments are cut on their way to it, and packets merged behind it.
    pub is_plain: bool,
    /// Every so many-th packet of the client is lost; zero loses none.
    pub loses: u64,
    carried: u64,
    is_on_the_wire: bool,
}

impl Two {
    /// The server takes no addresses: it stands for every destination.
    pub fn new(segmentation: Segmentation, cfg: RunnerConfig) -> Self {
        let client = Side::new(CLIENT, segmentation, cfg);
        let mut server = Side::new(IpAddr::V4(Ipv4Addr::LOCALHOST), segmentation, cfg);
        server.runner.stack().set_requests(Some(RequestConfig::default()));
        Self {
            client,
            server,
            now: Instant::from_nanos(1_000_000_000),
            lags: false,
            is_plain: false,
            loses: 0,
            carried: 0,
            is_on_the_wire: false,
        }
    }

    /// Opens a connection to this port, whose request the server accepts.
    #[allow(dead_code, reason = "each test program uses a part of this module")]
    pub fn connect(&mut self, port: u16) -> (Conn, Conn) {
        self.connect_with(port, config)
    }

    /// Like [`Self::connect`]; each end makes its configuration by `with`.
    pub fn connect_with(&mut self, port: u16, with: impl Fn() -> ValidConfig) -> (Conn, Conn) {
        let (mut off, now) = (Off, self.now);
        let cx = &mut StackCx::new(now, &mut off);
        let client = self.client.runner.stack().connect(cx, &with(), (SERVER, port).into()).expect("connects");
        self.settle();
        let (request, tuple) = self.server.runner.stack().poll_request().expect("a request");
        assert_eq!((tuple.local, tuple.local_port), (SERVER, port));
        let (mut off, now) = (Off, self.now);
        let cx = &mut StackCx::new(now, &mut off);
        let server = self.server.runner.stack().accept_request(cx, request, &with()).expect("accepted");
        self.settle();
        (client, server)
    }

    /// Runs both ends and the wire until nothing more happens at this moment.
    pub fn settle(&mut self) {
        loop {
            for side in [&mut self.client, &mut self.server] {
                side.next = side.runner.run(self.now, &mut Off);
            }
            let (loses, is_plain) = (self.loses, self.is_plain);
            let moved = carry(&mut self.client, &mut self.server, is_plain, |_| {
                self.carried += 1;
                loses > 0 && self.carried.is_multiple_of(loses)
            }) + carry(&mut self.server, &mut self.client, is_plain, |_| false);
            let busy = self.client.next == Next::Now || self.server.next == Next::Now;
            if (moved == 0 || self.lags) && !busy {
                self.is_on_the_wire = moved > 0;
                return;
            }
        }
    }

    /// Runs the server alone, and brings what it sends to the client's tunnel.
    #[allow(dead_code, reason = "each test program uses a part of this module")]
    pub fn settle_server(&mut self) {
        while self.server.runner.run(self.now, &mut Off) == Next::Now {}
        carry(&mut self.server, &mut self.client, self.is_plain, |_| false);
    }

    /// Lets a millisecond pass, or the time to the next timer if nothing is on the wire.
    pub fn pass(&mut self) {
        let due = [self.client.next, self.server.next].into_iter().filter_map(|next| match next {
            Next::Now => Some(self.now),
            Next::At(at) => at,
        });
        let step = self.now + Duration::from_millis(1);
        self.now = if self.is_on_the_wire { step } else { due.min().unwrap_or(self.now).max(step) };
        self.settle();
    }
}

/// Moves what waits from one tunnel to the other, up to what fits; returns the number of packets.
fn carry(from: &mut Side, to: &mut Side, is_plain: bool, mut is_lost: impl FnMut(&[u8]) -> bool) -> usize {
    if to.coming.is_empty() {
        if let Some(straight) = &from.straight {
            let mut straight = straight.lock().unwrap();
            for packet in straight.packets() {
                let copy = to.coming.push(packet.bytes());
                (copy.gso_size, copy.checksum) = (packet.gso_size, packet.checksum);
            }
            straight.clear();
        }
        from.tunnel.try_recv(&mut from.left, 64).expect("the stack is there");
        for packet in from.left.packets_mut() {
            let (gso_size, checksum) = (packet.gso_size, packet.checksum);
            let bytes = packet.bytes_mut();
            if is_plain {
                let mut cut = CutInPlace::new(bytes, gso_size).expect("a TCP segment");
                while let Some(place) = cut.next_in(bytes) {
                    if !is_lost(&bytes[place.clone()]) {
                        to.gather.room(&mut to.coming)[..place.len()].copy_from_slice(&bytes[place.clone()]);
                        to.gather.came(&mut to.coming, place.len());
                    }
                }
            } else if !is_lost(bytes) {
                let copy = to.coming.push(bytes);
                (copy.gso_size, copy.checksum) = (gso_size, checksum);
            }
        }
        to.gather.flush(&mut to.coming);
    }
    to.tunnel.try_send(&mut to.coming).expect("the stack is there")
}
