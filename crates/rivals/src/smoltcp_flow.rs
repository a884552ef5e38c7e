//! smoltcp's end of a flow: its interface, one socket, and a loop that waits for the device when nothing is to be done.

use crate::case::{CALL, Case, OURS, PORT, THEIRS};
use crate::kernel::Kernel;
use crate::measure::{Plan, Sample, Watch, Whose};
use crate::smoltcp_device::Tun;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use smoltcp::iface::{Config, Interface, PollResult, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::fmt;

/// What smoltcp leaves to its user.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    control: CongestionControl,
    /// Bytes of each of the two buffers.
    buffer: usize,
}

impl Settings {
    /// Everything that is tried.
    pub fn all() -> impl Iterator<Item = Self> {
        let controls = [CongestionControl::None, CongestionControl::Reno, CongestionControl::Cubic];
        let buffers = [64 << 10, 1 << 20, 4 << 20];
        controls.into_iter().flat_map(move |control| buffers.map(|buffer| Self { control, buffer }))
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "congestion control {:?}, buffers of {} KiB", self.control, self.buffer >> 10)
    }
}

/// Runs one flow.
pub fn run(case: Case, settings: Settings, plan: Plan, mut kernel: Kernel) -> Sample {
    let mut tun = Tun::new(case.offload);
    let began = std::time::Instant::now();
    let now = || Instant::from_micros(began.elapsed().as_micros() as i64);
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut tun, now());
    let [a, b, c, d] = OURS;
    interface.update_ip_addrs(|addresses| {
        addresses.push(IpCidr::new(IpAddress::v4(a, b, c, d), 24)).expect("room for one address");
    });
    kernel.listen(case);
    let buffer = || SocketBuffer::new(vec![0; settings.buffer]);
    let mut socket = Socket::new(buffer(), buffer());
    socket.set_congestion_control(settings.control);
    socket.set_nagle_enabled(false);
    let [a, b, c, d] = THEIRS;
    socket.connect(interface.context(), (IpAddress::v4(a, b, c, d), PORT), 49_152).expect("a socket that is closed");
    let mut sockets = SocketSet::new(Vec::new());
    let handle = sockets.add(socket);
    let mut watch = Watch::new(case, plan, kernel, Whose::Thread);
    let (mut buf, mut read) = (vec![7; CALL], 0);
    loop {
        let polled = interface.poll(now(), &mut tun, &mut sockets);
        let socket = sockets.get_mut::<Socket<'_>>(handle);
        let moved = if case.sends {
            if socket.can_send() { socket.send_slice(&buf).expect("the flow goes on") } else { 0 }
        } else {
            let len = if socket.can_recv() { socket.recv_slice(&mut buf).expect("the flow goes on") } else { 0 };
            read += len as u64;
            len
        };
        if let Some(sample) = watch.look(read) {
            return sample;
        }
        if moved == 0 && polled == PollResult::None {
            // At most a tenth of a second, so that a flow that has stalled ends, too.
            let delay = interface.poll_delay(now(), &sockets).map_or(100, |delay| delay.total_millis().min(100));
            let mut fds = [PollFd::new(tun.fd(), PollFlags::POLLIN)];
            let _ = poll(&mut fds, PollTimeout::from(delay as u8));
        }
    }
}
