//! One function per call: its arguments, and what to do when it has returned.

use super::super::Engine;
use super::super::socket::Stage;
use super::args::{Args, braces, field, int, optional, socket_address, spelled_address, value};
use super::errno;
use super::message::message;
use super::pending::{After, Pending};
use crate::config::bytes;
use crate::script::{CallSpec, Expr};
use crate::stack::{Call, EpollEvent, PollFd};

/// A live call and what to do after it.
type Prepared = Result<(Call, After), String>;

/// Enough room for any socket address.
const ADDRESS_ROOM: usize = 128;

impl Engine<'_> {
    /// The live call for `spec`.
    pub(super) fn prepare(&mut self, spec: &CallSpec, line: u32) -> Result<(Call, Pending), String> {
        let args = Args(&spec.args);
        let result = int(&spec.result)?;
        let errno = spec.errno.as_deref().map(errno).transpose()?;
        let (call, after) = match spec.name.as_str() {
            "socket" | "bind" | "listen" | "accept" | "connect" | "close" | "shutdown" => {
                self.opening(&spec.name, args)?
            }
            "read" | "readv" | "recv" | "recvfrom" | "recvmsg" => self.reading(&spec.name, args)?,
            "write" | "writev" | "send" | "sendto" | "sendmsg" => self.writing(&spec.name, args)?,
            "fcntl" | "ioctl" | "getsockopt" | "setsockopt" => self.settings(&spec.name, args)?,
            "poll" | "epoll_create" | "epoll_ctl" | "epoll_wait" => self.waiting(&spec.name, args)?,
            "pipe" | "splice" | "open" | "sendfile" => self.files(&spec.name, args)?,
            other => return Err(format!("the call `{other}` is not supported")),
        };
        let begin = self.due.from;
        Ok((call, Pending { line, name: spec.name.clone(), end: None, begin, result, errno, after }))
    }

    /// Argument `at`, a descriptor: the script's number and the stack's.
    fn fd(&self, args: Args<'_>, at: usize) -> Result<(i32, i32), String> {
        let script = args.int(at)?;
        Ok((script, self.descriptor(script)?.live))
    }

    fn opening(&mut self, name: &str, args: Args<'_>) -> Prepared {
        let count = match name {
            "close" => 1,
            "listen" | "shutdown" => 2,
            _ => 3,
        };
        args.count(count)?;
        if name == "socket" {
            let domain = match args.get(0)? {
                Expr::Ellipsis => self.config.socket_domain(),
                domain => int(domain)?,
            };
            let (kind, protocol) = (args.int(1)?, args.int(2)?);
            return Ok((Call::Socket { domain, kind, protocol }, After::Descriptor(Some(protocol))));
        }
        let (script, fd) = self.fd(args, 0)?;
        Ok(match name {
            "bind" => {
                let ip = self.config.socket_ip(self.config.local_ip);
                let address = given_address(args.get(1)?, || socket_address(ip, self.config.bind_port))?;
                (Call::Bind { fd, address }, After::Nothing)
            }
            "listen" => (Call::Listen { fd, backlog: args.int(1)? }, After::Listening(script)),
            "accept" => {
                args.ellipsis(1)?;
                args.ellipsis(2)?;
                (Call::Accept { fd, address: vec![0; ADDRESS_ROOM] }, After::Accepted)
            }
            "connect" => (Call::Connect { fd, address: self.destination(script, args.get(1)?)? }, After::Nothing),
            "close" => (Call::Close { fd }, After::Closed(script)),
            _ => (Call::Shutdown { fd, how: args.int(1)? }, After::Nothing),
        })
    }

    /// The destination of a `connect` or `sendto`. It connects a fresh socket; the family AF_UNSPEC makes the socket fresh again.
    fn destination(&mut self, script: i32, argument: &Expr) -> Result<Vec<u8>, String> {
        let (ip, port) = (self.config.remote_ip, self.config.connect_port);
        let address = given_address(argument, || socket_address(self.config.socket_ip(ip), port))?;
        let index = self.socket_index(script)?;
        let socket = &mut self.sockets[index];
        if address[..2] == (libc::AF_UNSPEC as u16).to_ne_bytes() {
            socket.stage = Stage::New;
        } else if socket.stage == Stage::New {
            socket.stage = Stage::Connecting;
            socket.local = None;
            socket.remote = Some((ip, port));
        }
        Ok(address)
    }

    fn reading(&mut self, name: &str, args: Args<'_>) -> Prepared {
        let (_, fd) = self.fd(args, 0)?;
        let buffer = || args.buffer(1, args.length(2)?);
        Ok(match name {
            "read" => {
                args.count(3)?;
                (Call::Read { fd, buffer: buffer()? }, After::Nothing)
            }
            "readv" => (Call::Readv { fd, buffers: counted_vectors(args)? }, After::Nothing),
            "recv" => {
                args.count(4)?;
                (Call::Recv { fd, buffer: buffer()?, flags: args.int(3)? }, After::Nothing)
            }
            "recvfrom" => {
                args.count(6)?;
                let address = vec![0; ADDRESS_ROOM];
                (Call::Recvfrom { fd, buffer: buffer()?, flags: args.int(3)?, address }, After::Nothing)
            }
            _ => {
                args.count(3)?;
                let (message, expected) = message(args.get(1)?)?;
                (Call::Recvmsg { fd, message, flags: args.int(2)? }, After::Message(expected))
            }
        })
    }

    fn writing(&mut self, name: &str, args: Args<'_>) -> Prepared {
        let (script, fd) = self.fd(args, 0)?;
        let buffer = || args.buffer(1, args.length(2)?);
        let call = match name {
            "write" => {
                args.count(3)?;
                Call::Write { fd, buffer: buffer()? }
            }
            "writev" => Call::Writev { fd, buffers: counted_vectors(args)? },
            "send" => {
                args.count(4)?;
                Call::Send { fd, buffer: buffer()?, flags: args.int(3)? }
            }
            "sendto" => {
                args.count(6)?;
                let address = self.destination(script, args.get(4)?)?;
                Call::Sendto { fd, buffer: buffer()?, flags: args.int(3)?, address }
            }
            _ => {
                args.count(3)?;
                let (mut message, _) = message(args.get(1)?)?;
                if message.flags != 0 {
                    return Err("sendmsg() ignores msg_flags".into());
                }
                if !message.name.is_empty() {
                    message.name = self.destination(script, &Expr::Ellipsis)?;
                }
                Call::Sendmsg { fd, message, flags: args.int(2)? }
            }
        };
        Ok((call, After::Nothing))
    }

    fn settings(&mut self, name: &str, args: Args<'_>) -> Prepared {
        let (_, fd) = self.fd(args, 0)?;
        let given = args.0.len();
        Ok(match name {
            "fcntl" => {
                let argument = if given == 2 { None } else { Some(args.int(2)?) };
                (Call::Fcntl { fd, command: args.int(1)?, argument }, After::Nothing)
            }
            "ioctl" => {
                let request = value(args.get(1)?)? as u64;
                let expected = if given == 2 { None } else { Some(args.bracketed(2)?) };
                let after = expected.map_or(After::Nothing, After::Value);
                (Call::Ioctl { fd, request, value: expected.map(|_| 0) }, after)
            }
            "getsockopt" => {
                args.count(5)?;
                let length = u32::try_from(args.bracketed(4)?).map_err(|_| "optlen is negative")?;
                let expected = match args.get(3)? {
                    Expr::Ellipsis => None,
                    other => Some(option_value(other)?),
                };
                let call = Call::Getsockopt {
                    fd,
                    level: args.int(1)?,
                    name: args.int(2)?,
                    value: vec![0; length as usize],
                    length,
                };
                (call, After::Option(length, expected))
            }
            _ => {
                args.count(5)?;
                let length = u32::try_from(args.length(4)?).unwrap_or(0);
                let value = option_value(args.get(3)?)?;
                (Call::Setsockopt { fd, level: args.int(1)?, name: args.int(2)?, value, length }, After::Nothing)
            }
        })
    }

    fn waiting(&mut self, name: &str, args: Args<'_>) -> Prepared {
        match name {
            "poll" => {
                args.count(3)?;
                let mut fds = Vec::new();
                let mut expected = Vec::new();
                for entry in args.list(0)? {
                    let fields = braces(entry)?;
                    let live = self.descriptor(int(field(fields, "fd")?)?)?.live;
                    let revents = optional(fields, "revents").map_or(Ok(0), int)? as i16;
                    fds.push(PollFd { fd: live, events: int(field(fields, "events")?)? as i16, revents });
                    expected.push(revents);
                }
                if args.length(1)? != fds.len() {
                    return Err(format!("{} entries are given", fds.len()));
                }
                Ok((Call::Poll { fds, timeout: args.int(2)? }, After::Polled(expected)))
            }
            "epoll_create" => {
                args.count(1)?;
                Ok((Call::EpollCreate { size: args.int(0)? }, After::Descriptor(None)))
            }
            "epoll_ctl" => {
                args.count(4)?;
                let (_, epfd) = self.fd(args, 0)?;
                let (_, fd) = self.fd(args, 2)?;
                let (event, _) = self.epoll_event(args.get(3)?)?;
                Ok((Call::EpollCtl { epfd, op: args.int(1)?, fd, event }, After::Nothing))
            }
            _ => {
                args.count(4)?;
                let (_, epfd) = self.fd(args, 0)?;
                let (expected, bits) = self.epoll_event(args.get(1)?)?;
                let events = vec![EpollEvent::default(); args.length(2)?.max(1)];
                Ok((Call::EpollWait { epfd, events, timeout: args.int(3)? }, After::Epoll(expected, bits)))
            }
        }
    }

    /// An event with its data, and how many bits of the data count.
    fn epoll_event(&self, expr: &Expr) -> Result<(EpollEvent, u32), String> {
        let fields = braces(expr)?;
        let events = int(field(fields, "events")?)? as u32;
        if let Some(fd) = optional(fields, "fd") {
            let live = self.descriptor(int(fd)?)?.live;
            return Ok((EpollEvent { events, data: u64::from(live as u32) }, 32));
        }
        for (name, bits) in [("u32", 32), ("u64", 64), ("ptr", 64)] {
            if let Some(data) = optional(fields, name) {
                return Ok((EpollEvent { events, data: value(data)? as u64 }, bits));
            }
        }
        Err("an epoll event has fd, ptr, u32 or u64".into())
    }

    fn files(&mut self, name: &str, args: Args<'_>) -> Prepared {
        Ok(match name {
            "pipe" => {
                args.count(1)?;
                let [from, to] = args.list(0)? else { return Err("pipe() makes two descriptors".into()) };
                (Call::Pipe { fds: [-1; 2] }, After::Pipe([int(from)?, int(to)?]))
            }
            "splice" => {
                args.count(6)?;
                let ((_, fd_in), (_, fd_out)) = (self.fd(args, 0)?, self.fd(args, 2)?);
                let flags = args.int(5)? as u32;
                (Call::Splice { fd_in, fd_out, length: args.length(4)?, flags }, After::Nothing)
            }
            "open" => {
                let Expr::Str(path) = args.get(0)? else { return Err("a path in quotes is needed".into()) };
                (Call::Open { path: path.clone(), flags: args.int(1)? }, After::Descriptor(None))
            }
            _ => {
                args.count(4)?;
                let ((_, fd_out), (_, fd_in)) = (self.fd(args, 0)?, self.fd(args, 1)?);
                let offset = i64::from(args.bracketed(2)?);
                (Call::Sendfile { fd_out, fd_in, offset, length: args.length(3)? }, After::Nothing)
            }
        })
    }
}

/// `...` stands for `default`, a number for an address family without an address, a structure for itself.
fn given_address(expr: &Expr, default: impl Fn() -> Vec<u8>) -> Result<Vec<u8>, String> {
    match expr {
        Expr::Ellipsis => Ok(default()),
        Expr::Braces(fields) => spelled_address(fields),
        family => {
            let mut address = vec![0; ADDRESS_ROOM];
            address[..2].copy_from_slice(&(int(family)? as u16).to_ne_bytes());
            Ok(address)
        }
    }
}

/// `readv(4, [{..., 1000}], 1)`.
fn counted_vectors(args: Args<'_>) -> Result<Vec<Vec<u8>>, String> {
    args.count(3)?;
    let buffers = args.vectors(1)?;
    if args.length(2)? == buffers.len() { Ok(buffers) } else { Err(format!("{} buffers are given", buffers.len())) }
}

/// A socket option's value as bytes.
fn option_value(expr: &Expr) -> Result<Vec<u8>, String> {
    match expr {
        Expr::Str(bytes) => Ok(bytes.clone()),
        Expr::List(items) if items.len() == 1 => Ok(int(&items[0])?.to_ne_bytes().to_vec()),
        Expr::Apply(name, arguments) if name == "inet6_addr" => {
            Ok(bytes(super::args::ip(arguments.first().ok_or("inet6_addr() of nothing")?)?))
        }
        Expr::Braces(fields) if optional(fields, "onoff").is_some() => {
            let halves = [int(field(fields, "onoff")?)?, int(field(fields, "linger")?)?];
            Ok(halves.iter().flat_map(|half| half.to_ne_bytes()).collect())
        }
        _ => Err("an option's value is [n], a text, or {onoff=…, linger=…}".into()),
    }
}
