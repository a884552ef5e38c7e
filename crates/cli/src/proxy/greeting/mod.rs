//! What a client of the proxy says first: SOCKS version 5 or CONNECT of HTTP, distinguished by the first byte, up to the destination that
//! it wants. A state machine without I/O: bytes go in, steps come out.
//!
//! Any bytes are taken. At most [`http::HEAD_MAX`] are kept; a client that needs more is refused.

mod credentials;
mod http;
mod socks;

pub use credentials::Credentials;

use super::target::{Protocol, Target, Unconnected};
use std::net::SocketAddr;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The client has to send more.
    More,
    /// Send these bytes, and ask again.
    Send(Vec<u8>),
    /// Connect, and send [`connected`] or [`unconnected`]. The bytes came after the request: they belong to the destination.
    Connect(Protocol, Target, Vec<u8>),
    /// Send these bytes, if any, and close; the text says why.
    Refuse(Vec<u8>, &'static str),
}

/// The conversation with one client.
#[derive(Debug)]
pub struct Greeting {
    credentials: Option<Credentials>,
    state: State,
    /// What came and is not read yet.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FirstByte,
    Methods,
    Login,
    SocksRequest,
    HttpRequest,
    Over,
}

impl Greeting {
    /// A conversation that has not begun.
    pub fn new(credentials: Option<Credentials>) -> Self {
        Self { credentials, state: State::FirstByte, bytes: Vec::new() }
    }

    /// Takes in what the client sent. To be followed by [`Self::poll`] until that asks for more.
    pub fn handle_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next step.
    pub fn poll(&mut self) -> Step {
        if self.state == State::FirstByte {
            self.state = match self.bytes.first() {
                None => return Step::More,
                Some(&socks::VERSION) => State::Methods,
                Some(b'\r' | b'\n' | b'A'..=b'Z' | b'a'..=b'z') => State::HttpRequest,
                Some(4) => return self.refuse(Vec::new(), "SOCKS version 4, which has no names and no IPv6"),
                Some(_) => return self.refuse(Vec::new(), "neither SOCKS version 5 nor HTTP"),
            };
        }
        let step = match self.state {
            State::Methods => self.poll_methods(),
            State::Login => self.poll_login(),
            State::SocksRequest => self.poll_socks_request(),
            State::HttpRequest => self.poll_http_request(),
            State::FirstByte | State::Over => None,
        };
        match step {
            None if self.bytes.len() > http::HEAD_MAX => self
                .refuse(http::response(http::Status::BadRequest, "the head is too long"), "a head of more than 8 KiB"),
            None => Step::More,
            Some(step) => step,
        }
    }

    fn poll_methods(&mut self) -> Option<Step> {
        let read = socks::methods(&self.bytes, self.credentials.is_some())?;
        let next = if self.credentials.is_some() { State::Login } else { State::SocksRequest };
        Some(self.go_on(read, next))
    }

    fn poll_login(&mut self) -> Option<Step> {
        let read = socks::login(&self.bytes, self.credentials.as_ref()?)?;
        Some(self.go_on(read, State::SocksRequest))
    }

    fn go_on(&mut self, read: socks::Read<(usize, [u8; 2])>, next: State) -> Step {
        match read {
            Ok((len, answer)) => {
                self.bytes.drain(..len);
                self.state = next;
                Step::Send(answer.to_vec())
            }
            Err(refusal) => self.refuse(refusal.reply, refusal.why),
        }
    }

    fn poll_socks_request(&mut self) -> Option<Step> {
        Some(match socks::request(&self.bytes)? {
            Ok((len, target)) => self.connect(Protocol::Socks, target, len),
            Err(refusal) => self.refuse(refusal.reply, refusal.why),
        })
    }

    fn poll_http_request(&mut self) -> Option<Step> {
        let len = http::head_len(&self.bytes).filter(|len| *len <= http::HEAD_MAX)?;
        let refused = match http::request(&self.bytes[..len]) {
            Ok(request) => {
                let given = request.credentials.unwrap_or_default();
                if self.credentials.as_ref().is_none_or(|wanted| wanted.are_basic(&given)) {
                    return Some(self.connect(Protocol::Http, request.target, len));
                }
                (http::Status::ProxyAuthenticationRequired, "user name and password are missing or wrong")
            }
            Err(status @ http::Status::MethodNotAllowed) => (status, "this proxy serves CONNECT alone"),
            Err(status) => (status, "malformed request"),
        };
        Some(self.refuse(http::response(refused.0, refused.1), refused.1))
    }

    fn connect(&mut self, protocol: Protocol, target: Target, len: usize) -> Step {
        self.state = State::Over;
        let rest = self.bytes.split_off(len);
        self.bytes = Vec::new();
        Step::Connect(protocol, target, rest)
    }

    fn refuse(&mut self, reply: Vec<u8>, why: &'static str) -> Step {
        self.state = State::Over;
        self.bytes = Vec::new();
        Step::Refuse(reply, why)
    }
}

/// What is sent when the connection is open; `local` is its address on this side.
pub fn connected(protocol: Protocol, local: SocketAddr) -> Vec<u8> {
    match protocol {
        Protocol::Socks => socks::connected(local),
        Protocol::Http => http::connected(),
    }
}

/// What is sent, before closing, when there is no connection.
pub fn unconnected(protocol: Protocol, why: Unconnected) -> Vec<u8> {
    match protocol {
        Protocol::Socks => socks::unconnected(why),
        Protocol::Http => http::unconnected(why),
    }
}

#[cfg(test)]
mod tests;
