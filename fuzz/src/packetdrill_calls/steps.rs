//! One step of a script: a call with arguments that are valid, nearly valid, or meaningless; or a packet.

use super::Game;
use super::peer::LOCAL_PORTS;
use super::peer::PEER_PORTS;
use drill::stack::{Buffer, Call, EpollEvent, Message, PollFd, Returned};
use libc::{AF_INET, AF_INET6, F_GETFL, F_SETFL, MSG_DONTWAIT, MSG_EOR, MSG_FASTOPEN, MSG_MORE, MSG_OOB, MSG_PEEK};
use libc::{EINPROGRESS, MSG_ERRQUEUE, MSG_TRUNC, MSG_WAITALL, O_NONBLOCK, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET};
use std::net::{IpAddr, SocketAddr};

const TIMEOUTS: [i32; 6] = [0, 0, 1, 100, 60_000, -1];
const LEVELS: [i32; 6] = [SOL_SOCKET, libc::SOL_TCP, libc::SOL_TCP, libc::SOL_IP, libc::SOL_IPV6, 255];
const SEND_FLAGS: [i32; 8] = [0, 0, MSG_DONTWAIT, MSG_MORE, MSG_EOR, MSG_OOB, MSG_FASTOPEN, MSG_MORE | MSG_DONTWAIT];
const RECEIVE_FLAGS: [i32; 8] = [0, MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, MSG_OOB, MSG_ERRQUEUE, 0];
const REQUESTS: [u64; 5] = [libc::FIONREAD, libc::TIOCOUTQ, 0x894b, libc::FIONBIO, 0x1234];
const COMMANDS: [i32; 6] = [F_SETFL, F_SETFL, F_GETFL, libc::F_GETPIPE_SZ, libc::F_SETPIPE_SZ, libc::F_GETFD];

impl Game<'_> {
    /// Plays one.
    pub(super) fn step(&mut self) {
        match self.input.byte() {
            0..=7 => self.new_socket(),
            8..=15 => self.new_listener(),
            16..=25 => self.connect(),
            26..=39 => self.accept(),
            40..=69 => self.some_write(),
            70..=95 => self.some_read(),
            96..=115 => self.set_option(),
            116..=127 => self.get_option(),
            128..=133 => self.control(),
            134..=139 => self.ready(),
            140..=145 => self.splice(),
            146..=149 => self.end(),
            150..=154 => self.wait(),
            155..=184 => drop(self.fetch()),
            other => self.packet(other),
        }
    }

    fn packet(&mut self, what: u8) {
        let packet = match what {
            185..=196 => self.peer.opens(&mut self.input),
            197..=219 => self.peer.answers(&mut self.input),
            220..=239 => self.peer.sends(&mut self.input),
            240..=246 => self.peer.strays(&mut self.input),
            247..=249 => self.peer.mutates(&mut self.input),
            250..=253 => return self.complaint(),
            _ => self.peer.babbles(&mut self.input),
        };
        self.deliver(&packet);
    }

    fn complaint(&mut self) {
        if let Some(packet) = self.peer.complains(&mut self.input) {
            self.deliver(&packet);
        }
    }

    /// A descriptor: usually one of the most recent ones, else any number.
    fn fd(&mut self) -> i32 {
        let all = self.books.everything();
        if all.is_empty() || self.input.chance(6) {
            return [-1, 99_999, 0][self.input.below(3)];
        }
        all[all.len() - 1 - self.input.below(6).min(all.len() - 1)]
    }

    fn sockaddr(&mut self, ip: IpAddr, port: u16) -> Vec<u8> {
        let (family, len) = if ip.is_ipv4() { (AF_INET, 16) } else { (AF_INET6, 28) };
        let mut bytes = vec![0; len];
        bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&SocketAddr::new(ip, port).port().to_be_bytes());
        match ip {
            IpAddr::V4(ip) => bytes[4..8].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => bytes[8..24].copy_from_slice(&ip.octets()),
        }
        if self.input.chance(8) {
            let (place, byte) = (self.input.below(len), self.input.byte());
            bytes[place] = byte;
        }
        if self.input.chance(3) {
            bytes.truncate(self.input.below(len));
        }
        bytes
    }

    fn new_socket(&mut self) {
        let domain = if self.peer.local.is_ipv4() { AF_INET } else { AF_INET6 };
        let how = self.input.byte();
        let domain = if how < 4 { i32::from(how) } else { domain };
        let kind = SOCK_STREAM | if how & 1 == 1 { SOCK_NONBLOCK } else { 0 };
        let (made, _) = self.call(Call::Socket { domain, kind, protocol: libc::IPPROTO_TCP });
        if made.value >= 0 {
            self.books.add_socket(made.value as i32);
        }
    }

    fn new_listener(&mut self) {
        self.new_socket();
        let fd = if self.input.chance(220) { self.books.everything().last().copied().unwrap_or(-1) } else { self.fd() };
        let port = self.input.one_of(&LOCAL_PORTS);
        let address = self.sockaddr(self.peer.local, port);
        self.call(Call::Bind { fd, address });
        let backlog = i32::from(self.input.byte()) - 1;
        self.call(Call::Listen { fd, backlog });
    }

    fn connect(&mut self) {
        let (fd, port) = (self.fd(), self.input.one_of(&PEER_PORTS));
        if self.input.chance(60) {
            let own = u16::from(self.input.byte()) + 1;
            let address = self.sockaddr(self.peer.local, own);
            self.call(Call::Bind { fd, address });
        }
        let address = self.sockaddr(self.peer.address(port).ip(), port);
        let actual = address.get(2..4).map_or(port, |port| u16::from_be_bytes([port[0], port[1]]));
        let (done, _) = self.call(Call::Connect { fd, address });
        if done.value == 0 || done.errno == EINPROGRESS {
            self.books.connects(fd, actual);
        }
    }

    fn accept(&mut self) {
        let fd = self.fd();
        // Waiting for a connection takes hours of virtual time, so usually a poll comes first.
        if self.input.chance(240) {
            let fds = vec![PollFd { fd, events: libc::POLLIN, revents: 0 }];
            let (ready, _) = self.call(Call::Poll { fds, timeout: 0 });
            if ready.value == 0 {
                return;
            }
        }
        let (made, call) = self.call(Call::Accept { fd, address: vec![0; 128] });
        let Call::Accept { address, .. } = call else { return };
        if made.value >= 0 {
            self.books.add_socket(made.value as i32);
            self.books.connects(made.value as i32, u16::from_be_bytes([address[2], address[3]]));
        }
    }

    fn len(&mut self) -> usize {
        match self.input.byte() {
            0..=3 => 0,
            4..=127 => usize::from(self.input.byte()),
            128..=239 => usize::from(self.input.short() % 8_192),
            _ => usize::from(self.input.short()) * 3,
        }
    }

    fn some_write(&mut self) {
        let (fd, how, len) = (self.fd(), self.input.below(5), self.len());
        let flags = self.input.one_of(&SEND_FLAGS);
        let at = self.books.written_len(fd);
        let bytes: Vec<u8> = (at..at + len).map(|n| (n.wrapping_mul(167) >> 3 ^ n >> 9) as u8).collect();
        let port = self.input.one_of(&PEER_PORTS);
        let address = if how == 4 { self.sockaddr(self.peer.address(port).ip(), port) } else { Vec::new() };
        if how == 4 && flags & MSG_FASTOPEN != 0 {
            self.books.connects(fd, address.get(2..4).map_or(port, |port| u16::from_be_bytes([port[0], port[1]])));
        }
        let buffer = Buffer::Bytes(bytes.clone());
        let (front, back) = bytes.split_at(len / 3);
        let buffers = vec![front.to_vec(), back.to_vec()];
        let (done, _) = self.call(match how {
            0 => Call::Write { fd, buffer },
            1 => Call::Writev { fd, buffers },
            2 => Call::Send { fd, buffer, flags },
            3 => Call::Sendmsg { fd, message: Message { buffers, ..Message::default() }, flags },
            _ => Call::Sendto { fd, buffer, flags, address },
        });
        self.books.wrote(fd, &bytes[..done.value.max(0) as usize]);
    }

    fn some_read(&mut self) {
        let (fd, how, len) = (self.fd(), self.input.byte(), self.len());
        let flags = self.input.one_of(&RECEIVE_FLAGS);
        self.read(fd, len, flags, how);
    }

    /// Reads in one of several ways, and compares.
    pub(super) fn read(&mut self, fd: i32, len: usize, flags: i32, how: u8) {
        // A call that blocks for hours is tried, but not every time.
        let flags = if how < 200 { flags | MSG_DONTWAIT } else { flags };
        let buffer = Buffer::Bytes(vec![0; len]);
        let buffers = vec![vec![0; len / 4], vec![0; len - len / 4]];
        let message = Message { buffers: buffers.clone(), control: vec![0; usize::from(how)], ..Message::default() };
        let (done, call) = self.call(match how {
            0..=99 => Call::Recv { fd, buffer, flags },
            100..=149 => Call::Recvmsg { fd, message, flags },
            150..=199 => Call::Recvfrom { fd, buffer, flags, address: vec![0; 28] },
            200..=227 => Call::Readv { fd, buffers },
            _ => Call::Read { fd, buffer },
        });
        let (shown, flags) = match call {
            Call::Recv { buffer: Buffer::Bytes(bytes), flags, .. }
            | Call::Recvfrom { buffer: Buffer::Bytes(bytes), flags, .. } => (bytes, flags),
            Call::Read { buffer: Buffer::Bytes(bytes), .. } => (bytes, 0),
            Call::Readv { buffers, .. } => (buffers.concat(), 0),
            Call::Recvmsg { message, flags, .. } => (message.buffers.concat(), flags),
            other => panic!("{other:?} reads nothing"),
        };
        let Ok(count) = usize::try_from(done.value) else { return };
        assert!(count <= len, "{count} bytes in the place of {len}");
        if flags & MSG_OOB != 0 && self.books.is_socket(fd) {
            return shown[..count].iter().for_each(|byte| self.books.read_urgent(fd, *byte));
        }
        // A socket that discards shows nothing.
        let discards = flags & MSG_TRUNC != 0 && self.books.is_socket(fd);
        let shown = (!discards).then_some(&shown[..count]);
        self.books.read(fd, count, shown, flags & MSG_PEEK != 0);
    }

    fn option(&mut self) -> (i32, i32) {
        let level = self.input.one_of(&LEVELS);
        let name = if self.input.chance(250) { i32::from(self.input.byte() % 82) } else { self.input.word() as i32 };
        (level, name)
    }

    fn set_option(&mut self) {
        let (fd, (level, name)) = (self.fd(), self.option());
        let value: Vec<u8> = match self.input.byte() {
            0..=199 => {
                let number = [0, 1, 2, -1, 100, 5_000, i32::MAX, i32::MIN, self.input.word() as i32];
                self.input.one_of(&number).to_ne_bytes().to_vec()
            }
            200..=219 => [self.input.word() & 3, self.input.word()].map(u32::to_ne_bytes).concat(),
            220..=229 => self.input.one_of(&[&b"cubic"[..], b"reno", b"bbr", b""]).to_vec(),
            _ => (0..self.input.below(70)).map(|_| self.input.byte()).collect(),
        };
        let length = value.len() as u32;
        self.call(Call::Setsockopt { fd, level, name, value, length });
    }

    fn get_option(&mut self) {
        let (fd, (level, name)) = (self.fd(), self.option());
        let length = if self.input.chance(128) { 4 } else { u32::from(self.input.byte()) * 2 };
        let value = vec![0xa5; length as usize];
        let (done, call) = self.call(Call::Getsockopt { fd, level, name, value, length });
        if let Call::Getsockopt { length: written, .. } = call {
            assert!(done.value < 0 || written <= length, "{written} bytes in the place of {length}");
        }
    }

    fn control(&mut self) {
        let fd = self.fd();
        if self.input.chance(128) {
            let command = self.input.one_of(&COMMANDS);
            let argument = if self.input.chance(160) { O_NONBLOCK } else { i32::from(self.input.short()) };
            self.call(Call::Fcntl { fd, command, argument: Some(argument) });
        } else {
            let request = self.input.one_of(&REQUESTS);
            self.call(Call::Ioctl { fd, request, value: Some(i32::from(self.input.clone().byte() & 1)) });
        }
    }

    fn ready(&mut self) {
        let (fd, timeout) = (self.fd(), self.input.one_of(&TIMEOUTS));
        match self.input.below(4) {
            0 => {
                let fds = [fd, self.fd(), self.fd()].map(|fd| PollFd { fd, events: -1, revents: 0 }).to_vec();
                self.call(Call::Poll { fds, timeout });
            }
            1 => {
                let (made, _) = self.call(Call::EpollCreate { size: i32::from(self.input.clone().byte()) });
                if made.value >= 0 {
                    self.books.add_other(made.value as i32);
                }
            }
            2 => {
                let (epfd, op) = (self.fd(), self.input.below(5) as i32);
                let event = EpollEvent { events: self.input.word(), data: fd as u64 };
                self.call(Call::EpollCtl { epfd, op, fd, event });
            }
            _ => {
                let events = vec![EpollEvent::default(); self.input.below(5)];
                self.call(Call::EpollWait { epfd: fd, events, timeout });
            }
        }
    }

    fn splice(&mut self) {
        if self.input.chance(60) {
            let (made, call) = self.call(Call::Pipe { fds: [-1; 2] });
            if let (0, Call::Pipe { fds }) = (made.value, call) {
                self.books.add_pipe(fds);
                for fd in fds.into_iter().filter(|_| self.input.chance(200)).collect::<Vec<_>>() {
                    self.call(Call::Fcntl { fd, command: F_SETFL, argument: Some(O_NONBLOCK) });
                }
            }
        }
        let (from, to, length) = (self.fd(), self.fd(), self.len());
        let flags = if self.input.chance(200) { libc::SPLICE_F_NONBLOCK } else { 0 };
        let peeked = if self.books.is_socket(from) { self.peek(from, length) } else { Vec::new() };
        let (done, _) = self.call(Call::Splice { fd_in: from, fd_out: to, length, flags });
        if let Ok(count) = usize::try_from(done.value)
            && count > 0
        {
            self.books.spliced(from, to, count, &peeked);
        }
    }

    fn peek(&mut self, fd: i32, length: usize) -> Vec<u8> {
        let buffer = Buffer::Bytes(vec![0; length]);
        let (done, call) = self.call(Call::Recv { fd, buffer, flags: MSG_PEEK | MSG_DONTWAIT });
        match (done, call) {
            (Returned { value: 0.., .. }, Call::Recv { buffer: Buffer::Bytes(bytes), .. }) => {
                bytes[..done.value as usize].to_vec()
            }
            _ => Vec::new(),
        }
    }

    fn end(&mut self) {
        let fd = self.fd();
        if self.input.chance(128) {
            let how = self.input.below(4) as i32;
            self.call(Call::Shutdown { fd, how });
            return;
        }
        self.call(Call::Close { fd });
        self.books.closed(fd);
    }

    fn wait(&mut self) {
        use drill::stack::Stack;
        let us = match self.input.byte() {
            0..=199 => u32::from(self.input.short()),
            200..=250 => self.input.word() % 10_000_000,
            _ => self.input.word(),
        };
        self.stack.sleep(us);
    }
}
