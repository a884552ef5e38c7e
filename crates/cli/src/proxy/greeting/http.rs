//! The head of a CONNECT request (RFC 9112 §2 and §3.2.3, RFC 9110 §9.3.6), and the answers to it. A head ends with an empty line;
//! lines end with CRLF or with LF alone (RFC 9112 §2.2).

use crate::proxy::target::{Host, Target, Unconnected};

/// The longest head that is read, in bytes.
pub const HEAD_MAX: usize = 8 << 10;

/// What a head asks for, or the status of the answer.
pub type Read = Result<Request, Status>;

/// A request to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where to.
    pub target: Target,
    /// The credentials of `Proxy-Authorization: Basic`, as they were sent: base64.
    pub credentials: Option<String>,
}

/// The statuses that this proxy gives (RFC 9110 §15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Malformed, or too long.
    BadRequest,
    /// The proxy's rules forbid the destination.
    Forbidden,
    /// Another method than CONNECT.
    MethodNotAllowed,
    /// The credentials are missing or wrong.
    ProxyAuthenticationRequired,
    /// There is no way to the destination.
    BadGateway,
    /// The destination does not answer.
    GatewayTimeout,
}

/// Returns the length of the head, with its empty line; `None` until all of it is there.
pub fn head_len(bytes: &[u8]) -> Option<usize> {
    // Empty lines before a request are ignored (RFC 9112 §2.2).
    let mut at = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    loop {
        let line = at + bytes[at..].iter().position(|byte| *byte == b'\n')?;
        let is_empty = matches!(&bytes[at..line], b"" | b"\r");
        at = line + 1;
        if is_empty {
            return Some(at);
        }
    }
}

/// Reads a complete head.
pub fn request(head: &[u8]) -> Read {
    let text = std::str::from_utf8(head).map_err(|_| Status::BadRequest)?;
    let mut lines = text.lines().skip_while(|line| line.is_empty());
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Status::BadRequest);
    };
    if !is_token(method) || !matches!(version, "HTTP/1.0" | "HTTP/1.1") {
        return Err(Status::BadRequest);
    }
    let (mut hosts, mut credentials) = (0, None);
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').filter(|(name, _)| is_token(name)).ok_or(Status::BadRequest)?;
        let value = value.trim_matches([' ', '\t']);
        if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
            return Err(Status::BadRequest);
        }
        if name.eq_ignore_ascii_case("host") {
            hosts += 1;
        } else if name.eq_ignore_ascii_case("proxy-authorization") {
            credentials = basic(value);
        }
    }
    if method != "CONNECT" {
        return Err(Status::MethodNotAllowed);
    }
    // RFC 9112 §3.2: exactly one Host field in a request of version 1.1.
    if hosts > 1 || (hosts == 0 && version == "HTTP/1.1") {
        return Err(Status::BadRequest);
    }
    let target = authority(target).ok_or(Status::BadRequest)?;
    Ok(Request { target, credentials })
}

/// The credentials of the scheme Basic (RFC 7617 §2).
fn basic(value: &str) -> Option<String> {
    let (scheme, credentials) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then(|| credentials.trim().to_owned())
}

/// A destination in authority form: `host:port`, an address of version 6 in brackets.
fn authority(text: &str) -> Option<Target> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(inner) => Host::Address(inner.strip_suffix(']')?.parse::<std::net::Ipv6Addr>().ok()?.into()),
        // An address of version 6 without brackets is no authority.
        None => Host::parse(host).filter(|_| !host.contains(':'))?,
    };
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
    Some(Target { host, port })
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The answer to a request whose connection is open: a success has neither content nor fields that speak of it.
pub fn connected() -> Vec<u8> {
    b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec()
}

/// The answer to a request that came to nothing.
pub fn unconnected(why: Unconnected) -> Vec<u8> {
    let (status, text) = match why {
        Unconnected::Forbidden => (Status::Forbidden, "the proxy's rules forbid this destination"),
        Unconnected::NetworkUnreachable => (Status::BadGateway, "the network cannot be reached"),
        Unconnected::HostUnreachable => (Status::BadGateway, "the host cannot be reached"),
        Unconnected::UnknownName => (Status::BadGateway, "the name has no address that can be reached"),
        Unconnected::Refused => (Status::BadGateway, "the host refuses the connection"),
        Unconnected::TimedOut => (Status::GatewayTimeout, "the host does not answer"),
        Unconnected::Failed => (Status::BadGateway, "the connection failed"),
    };
    response(status, text)
}

/// A response with a line of text, after which the connection closes.
pub fn response(status: Status, text: &str) -> Vec<u8> {
    let (code, field) = match status {
        Status::BadRequest => ("400 Bad Request", ""),
        Status::Forbidden => ("403 Forbidden", ""),
        Status::MethodNotAllowed => ("405 Method Not Allowed", "Allow: CONNECT\r\n"),
        Status::ProxyAuthenticationRequired => {
            ("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"longhaul\"\r\n")
        }
        Status::BadGateway => ("502 Bad Gateway", ""),
        Status::GatewayTimeout => ("504 Gateway Timeout", ""),
    };
    let len = text.len() + 1;
    let fields = format!("{field}Content-Type: text/plain\r\nContent-Length: {len}\r\nConnection: close\r\n");
    format!("HTTP/1.1 {code}\r\n{fields}\r\n{text}\n").into_bytes()
}
