//! One of our arms: a stack over a TUN device in each namespace, whose kernel forwards between it and the link.
//!
//! `longhaul serve` and `send` also have the kernel in between: packets pass it like any router. It costs processor time and a
//! hop, but no time on the path.

use crate::apps::{Sink, Source};
use crate::trace_file::Traced;
use crate::watch::Watch;
use crate::world::{LINK_A, LINK_B, MTU, World, network};
use base::{Instant, Rng};
use lab::{Measured, RunFailure, RunSpec};
use net::{
    App, Clock, Driver, DriverConfig, Ended, Impairment, Interest, MonotonicClock, Namespace, Offload, Raised, Share,
    Tun, TunConfig, Wake,
};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use tcp::ValidConfig;
use trace::Observer;

/// Addresses of our stacks.
pub const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 78, 1, 2));
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 78, 2, 2));
/// Of the first flow's server.
pub const PORT: u16 = 9;

/// Our device in each namespace.
const DEVICE: &str = "lh0";

/// How long a thread may take to notice a request to end.
const GLANCE: base::Duration = base::Duration::from_millis(100);

/// Makes one transfer.
pub fn run(
    world: &World,
    run: &RunSpec,
    config: &ValidConfig,
    trace: Option<&Traced>,
    watch: &mut Watch<'_>,
) -> Result<Measured, RunFailure> {
    let failed = |error: &dyn std::fmt::Display| RunFailure(error.to_string());
    let rng = Rng::new(run.seed);
    let client = device(&world.a, CLIENT, LINK_B).map_err(|error| failed(&error))?;
    let server = device(&world.b, SERVER, LINK_A).map_err(|error| failed(&error))?;
    let stop = AtomicBool::new(false);
    let (listening, is_listening) = mpsc::channel();
    let (sender_ended, sender) = mpsc::channel();
    let (receiver_ended, receiver) = mpsc::channel();
    let sink = Sink::new(PORT, config.clone());
    let source = Source::new(SocketAddr::new(SERVER, PORT), config.clone(), run.point.flow);
    std::thread::scope(|scope| {
        let (stop, rng) = (&stop, &rng);
        // If the receiver has gone, the message is dropped.
        scope.spawn(move || {
            let side = Side { device: server, address: SERVER, rng: rng.fork("node/b"), stop };
            let started = || {
                let _ = listening.send(());
            };
            let _ = receiver_ended.send(side.serve(sink, trace, started));
        });
        let outcome = (|| {
            watch.receive(&is_listening)?;
            scope.spawn(move || {
                let side = Side { device: client, address: CLIENT, rng: rng.fork("node/a"), stop };
                let _ = sender_ended.send(side.serve(source, trace, || ()));
            });
            let sent = watch.receive(&sender)?.map_err(RunFailure)?;
            let came = watch.receive(&receiver)?.map_err(RunFailure)?;
            measured(&sent, &came)
        })();
        stop.store(true, Ordering::Relaxed);
        outcome
    })
}

fn measured(sent: &Source, came: &Sink) -> Result<Measured, RunFailure> {
    let (Some(sender), Some(receiver)) = (sent.ending(), came.ending()) else {
        return Err(RunFailure("there was no connection".to_owned()));
    };
    if came.read() != sent.written() || came.read() == 0 || receiver.info.mismatches > 0 {
        return Err(RunFailure(format!(
            "the flow did not come through: {} of {} bytes read, {} of them wrong; sender: {}, receiver: {}",
            came.read(),
            sent.written(),
            receiver.info.mismatches,
            sender.reason,
            receiver.reason
        )));
    }
    let elapsed = came.last_read().since(sent.began());
    Ok(Measured::of_profile(came.read(), elapsed, &sender.info, &receiver.info))
}

/// Our device with its route, in a namespace.
pub fn device(namespace: &Namespace, address: IpAddr, gateway: IpAddr) -> Result<Tun, Box<dyn std::error::Error>> {
    let config = TunConfig { name: DEVICE.to_owned(), address: network(address), mtu: MTU, offload: Offload::On };
    let device = namespace.run(|| Tun::create(&config))??;
    namespace.route_all_via(gateway)?;
    Ok(device)
}

/// One of the two stacks.
pub struct Side<'s> {
    pub device: Tun,
    pub address: IpAddr,
    pub rng: Rng,
    /// Whether the run was given up.
    pub stop: &'s AtomicBool,
}

type SideDriver<'s> = Driver<Tun, StoppableClock<'s>>;

impl<'s> Side<'s> {
    fn driver(mut self) -> SideDriver<'s> {
        let config = DriverConfig {
            addresses: vec![self.address],
            isn_secret: [self.rng.next_u64(), self.rng.next_u64()],
            rng: self.rng,
            impairment: Impairment::default(),
            allowance: net::ALLOWANCE,
        };
        Driver::new(self.device, StoppableClock { clock: MonotonicClock::default(), stop: self.stop }, config)
    }

    /// Runs an application to its end; calls `started` when it listens, or its SYN is about to leave.
    pub fn serve<A: App>(self, mut app: A, trace: Option<&Traced>, started: impl FnOnce()) -> Result<A, String> {
        match trace {
            None => self.observed(&mut app, &mut trace::Off, started)?,
            Some(traced) => self.observed(&mut app, &mut traced.observer(), started)?,
        }
        Ok(app)
    }

    fn observed<A: App, O: Observer>(self, app: &mut A, obs: &mut O, started: impl FnOnce()) -> Result<(), String> {
        let mut driver = self.driver();
        // The kernel's TCP does its work in the link's thread; ours must not wait longer for a processor.
        let _raised = Raised::new(Share::Stack);
        driver.start(app, obs).map_err(|error| error.to_string())?;
        started();
        match driver.run(app, obs).map_err(|error| error.to_string())? {
            Ended::Done => Ok(()),
            Ended::Stopped => Err("stopped".to_owned()),
        }
    }
}

/// The machine's clock; waits end when the run is given up.
struct StoppableClock<'s> {
    clock: MonotonicClock,
    stop: &'s AtomicBool,
}

impl Clock for StoppableClock<'_> {
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn wait(&mut self, fd: BorrowedFd<'_>, interest: Interest, until: Option<Instant>) -> io::Result<Wake> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Wake::Stop);
        }
        let glance = self.now() + GLANCE;
        self.clock.wait(fd, interest, Some(until.map_or(glance, |until| until.min(glance))))
    }
}
