//! A host in the simulated world: a stack, its applications, and its outgoing paths.

use crate::apps::Apps;
use crate::device::{Device, Merging};
use crate::pause::Pauses;
use base::{Instant, Rng};
use core::cell::RefCell;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tcp::config::GuardConfig;
use tcp::{Conn, ConnEvent, Stack, StackConfig, StackCx, StackEvent};
use trace::{ConnId, Event, Observer};

/// Distance between the connection ids of two nodes in a trace: connection `c` of node `n` is `n · this + c`.
pub const CONN_IDS_PER_NODE: u32 = 1_000_000;

/// A host.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) stack: Stack,
    /// Destination address and index of the path that leads there.
    pub(crate) routes: Vec<(IpAddr, usize)>,
    /// Indices of the paths that end here.
    pub(crate) incoming: Vec<usize>,
    pub(crate) apps: Apps,
    /// The stack's next deadline as of the last turn; `Instant::MAX` for none.
    pub(crate) deadline: Instant,
    /// How the device treats packets that arrive together.
    pub(crate) merging: Merging,
    /// When it does not run.
    pub(crate) pauses: Pauses,
}

/// What the applications of a node did in one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// Calls of applications.
    pub(crate) calls: usize,
    /// Connections that ended.
    pub(crate) closings: usize,
}

impl Node {
    /// Creates a host with one address. Its random streams are forks of `rng`.
    pub(crate) fn new(address: IpAddr, device: Device, rng: &Rng) -> Self {
        let mut secret = rng.fork("isn");
        let config = StackConfig {
            addresses: vec![address],
            device: device.caps(),
            isn_secret: [secret.next_u64(), secret.next_u64()],
            guards: GuardConfig::default(),
        };
        Self {
            stack: Stack::new(config, rng.fork("stack")),
            routes: Vec::new(),
            incoming: Vec::new(),
            apps: Apps::default(),
            deadline: Instant::MAX,
            merging: device.merging,
            pauses: Pauses::default(),
        }
    }

    /// Returns the path for a packet with this header.
    #[inline]
    pub(crate) fn route(routes: &[(IpAddr, usize)], header: &[u8]) -> usize {
        if let [(_, only)] = routes {
            return *only;
        }
        let to = destination(header);
        let route = routes.iter().find(|(address, _)| *address == to);
        route.unwrap_or_else(|| panic!("no path leads to {to}")).1
    }

    /// Returns when the node needs to be served, apart from arrivals.
    #[inline]
    pub(crate) fn wake_at(&self) -> Instant {
        self.deadline.min(self.apps.wake_at())
    }

    /// Passes readiness events to the applications and runs those whose time has come.
    pub(crate) fn serve_apps<O: Observer>(&mut self, cx: &mut StackCx<'_, O>) -> Served {
        let (mut calls, mut closings) = (0, 0);
        while let Some(event) = self.stack.poll_event() {
            self.on_event(cx, event);
            calls += 1;
            closings += usize::from(matches!(event, StackEvent::Conn { event: ConnEvent::Closed(_), .. }));
        }
        let now = cx.now;
        if self.apps.wake_at() <= now {
            for app in self.apps.due(now) {
                self.apps[app].on_wake(&mut self.stack, cx);
                self.apps.note(app);
                calls += 1;
            }
        }
        Served { calls, closings }
    }

    fn on_event<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, event: StackEvent) {
        match event {
            StackEvent::Accepted { conn, port } => {
                self.stack.accept(conn);
                self.on_accepted(cx, conn, port);
            }
            StackEvent::Conn { conn, event } => {
                if let Some(app) = self.apps.of_conn(conn) {
                    self.apps[app].on_event(&mut self.stack, cx, event);
                    self.apps.note_time(app);
                }
            }
        }
    }

    fn on_accepted<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn, port: u16) {
        let app = self.apps.listening(port);
        match app.filter(|app| self.apps[*app].on_accepted(conn)) {
            Some(app) => self.apps.note(app),
            // An old duplicate of a SYN can open a connection unknown to the other end.
            None => {
                self.stack.abort(cx, conn);
                self.stack.release(cx, conn);
            }
        }
    }

    /// The connection of this node that sent a packet between these ports, local and remote, as traces name it; also one that
    /// has ended.
    pub(crate) fn conn_id_between(&self, [local, remote]: [u16; 2]) -> Option<ConnId> {
        self.apps.between(local, remote)?.end().id()
    }
}

/// Destination address of a header that a stack of ours emitted.
fn destination(header: &[u8]) -> IpAddr {
    if header[0] >> 4 == 4 {
        let bytes: [u8; 4] = header[16..20].try_into().expect("four bytes");
        Ipv4Addr::from(bytes).into()
    } else {
        let bytes: [u8; 16] = header[24..40].try_into().expect("sixteen bytes");
        Ipv6Addr::from(bytes).into()
    }
}

/// An observer's view of one node: connection ids include the node. It shares the observer with the code that removes packets in
/// the same turn.
pub(crate) struct NodeView<'a, O> {
    pub(crate) inner: &'a RefCell<&'a mut O>,
    pub(crate) node: usize,
}

/// Returns a node's connection as traces name it.
pub(crate) fn global(node: usize, conn: ConnId) -> ConnId {
    ConnId(node as u32 * CONN_IDS_PER_NODE + conn.0)
}

impl<O: Observer> Observer for NodeView<'_, O> {
    const ENABLED: bool = O::ENABLED;
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.inner.borrow_mut().record(at, global(self.node, conn), event);
    }
}
