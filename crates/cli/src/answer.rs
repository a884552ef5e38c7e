//! Answers of our web servers: their content, and the connection around them.

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a file that are read at once.
const CHUNK: u64 = 256 << 10;
/// A client has this long for the head of its request, also of the next one on the same connection.
const HEAD: Duration = Duration::from_secs(30);

/// The content of an answer.
#[derive(Debug)]
pub enum Content {
    /// Bytes.
    Text(Bytes),
    /// The next so many bytes of a file.
    File(tokio::fs::File, u64),
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Self::Text(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Text(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::File(_, 0) => Poll::Ready(None),
            Self::File(file, left) => {
                let mut buf = vec![0; usize::try_from(CHUNK.min(*left)).expect("a chunk is small")];
                let mut read = ReadBuf::new(&mut buf);
                ready!(Pin::new(file).poll_read(cx, &mut read))?;
                let len = read.filled().len();
                if len == 0 {
                    // The file was cut meanwhile: its length was promised already.
                    return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
                }
                *left -= len as u64;
                buf.truncate(len);
                Poll::Ready(Some(Ok(Frame::data(buf.into()))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Text(bytes) => bytes.len() as u64,
            Self::File(_, left) => *left,
        })
    }
}

/// An answer of text, of a type.
pub fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Content> {
    let mut answer = Response::new(Content::Text(text.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// An answer that says what is wrong, in a line.
pub fn problem(status: StatusCode, what: &str) -> Response<Content> {
    text(status, "text/plain; charset=utf-8", format!("{what}\n"))
}

/// Removes the content for HEAD, and leaves its length (RFC 9110 §9.3.2).
pub fn without_content(mut answer: Response<Content>) -> Response<Content> {
    if let Some(len) = answer.body().size_hint().exact() {
        answer.headers_mut().insert(CONTENT_LENGTH, len.into());
    }
    *answer.body_mut() = Content::Text(Bytes::new());
    answer
}

/// RFC 9112 §3.2: exactly one Host field in a request of version 1.1.
fn has_host(request: &Request<Incoming>) -> bool {
    match request.headers().get_all(HOST).iter().count() {
        0 => request.version() == Version::HTTP_10,
        count => count == 1,
    }
}

/// Answers the requests of one connection until the client closes it, does something wrong, or `ending` comes: then the present answer
/// is the last. Returns the stream, still open for both directions, unless the connection has to be cut off.
pub async fn serve<S, F>(
    stream: S,
    ending: impl Future<Output = ()>,
    answer: impl Fn(Request<Incoming>) -> F,
) -> Option<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = Response<Content>>,
{
    let service = service_fn(|request| {
        let answered = has_host(&request).then(|| answer(request));
        Box::pin(async {
            Ok::<_, Infallible>(match answered {
                Some(answered) => answered.await,
                None => problem(StatusCode::BAD_REQUEST, "a request has one field Host"),
            })
        })
    });
    let mut server = http1::Builder::new();
    // A client that has closed its direction still reads.
    server.timer(TokioTimer::new()).header_read_timeout(HEAD).half_close(true);
    let mut connection = server.serve_connection(TokioIo::new(stream), service);
    let mut ending = pin!(ending);
    let ended = tokio::select! {
        ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => ended,
        () = &mut ending => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|cx| connection.poll_without_shutdown(cx)).await
        }
    };
    // An answer that could not be finished must not look like one that was. To a request that cannot be read there was one.
    let is_cut = ended.is_err_and(|error| !error.is_parse() && !error.is_timeout() && !error.is_incomplete_message());
    (!is_cut).then(|| connection.into_parts().io.into_inner())
}
