//! `longhaul serve http`: GET and HEAD of the files below a folder (RFC 9110), with single ranges (§14) and plain listings.

mod folder;
mod listing;
mod range;

pub use folder::Folder;

use super::counted::Counted;
use crate::answer::{self, Content};
use folder::Found;
use hyper::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_RANGE, LOCATION, RANGE,
};
use hyper::{Method, Response, StatusCode};
use range::Part;
use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

const HTML: &str = "text/html; charset=utf-8";

/// Serves one connection. Returns whether it can be closed in peace.
pub async fn serve(stream: Counted, folder: Folder, ending: impl Future<Output = ()>) -> bool {
    let left = answer::serve(stream, ending, |request| {
        let (folder, (head, _)) = (folder.clone(), request.into_parts());
        async move {
            // Files are opened where it does not hold up the stack.
            let opened =
                tokio::task::spawn_blocking(move || respond(&folder, &head.method, head.uri.path(), &head.headers));
            opened.await.unwrap_or_else(|_| answer::problem(StatusCode::INTERNAL_SERVER_ERROR, "the server failed"))
        }
    })
    .await;
    left.is_some()
}

fn respond(folder: &Folder, method: &Method, path: &str, fields: &HeaderMap) -> Response<Content> {
    if ![Method::GET, Method::HEAD].contains(method) {
        let mut refused = answer::problem(StatusCode::METHOD_NOT_ALLOWED, "files are read with GET and HEAD");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let Some(name) = listing::decode(path) else {
        return answer::problem(StatusCode::BAD_REQUEST, "the path is malformed");
    };
    // A range is defined for GET alone (RFC 9110 §14.2).
    let fields = (*method == Method::GET).then_some(fields);
    let found = match folder.open_below(&name) {
        Ok(Found::File(_)) if path.ends_with('/') => Err(io::ErrorKind::NotFound.into()),
        Ok(Found::File(file)) => content(file, path, fields),
        Ok(Found::Folder(names)) if path.ends_with('/') => {
            Ok(answer::text(StatusCode::OK, HTML, listing::page(&name, &names)))
        }
        // Relative links need the slash.
        Ok(Found::Folder(_)) => Ok(elsewhere(path)),
        Err(error) => Err(error),
    };
    let answer = found.unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => answer::problem(StatusCode::FORBIDDEN, "the file cannot be read"),
        _ => answer::problem(StatusCode::NOT_FOUND, "there is no such file"),
    });
    if *method == Method::HEAD { answer::without_content(answer) } else { answer }
}

/// A redirection to the same path with a slash behind it. A second slash at the front would name a host.
fn elsewhere(path: &str) -> Response<Content> {
    let mut moved = answer::problem(StatusCode::MOVED_PERMANENTLY, "a folder ends with a slash");
    if let Ok(to) = HeaderValue::from_str(&format!("/{}/", path.trim_start_matches('/'))) {
        moved.headers_mut().insert(LOCATION, to);
    }
    moved
}

/// A file, or the part of it that was asked for.
fn content(mut file: File, path: &str, fields: Option<&HeaderMap>) -> io::Result<Response<Content>> {
    let metadata = file.metadata()?;
    let (len, tag) = (metadata.len(), tag(&metadata));
    let asked = fields.and_then(|fields| {
        let range = fields.get(RANGE)?.to_str().ok()?;
        // Dates are not compared: a whole file is right as well.
        let is_current = fields.get(IF_RANGE).is_none_or(|given| given.as_bytes() == tag.as_bytes());
        is_current.then(|| range::parse(range, len))
    });
    let part = asked.unwrap_or(Part::Whole);
    let (status, first, left, within) = match part {
        Part::Whole => (StatusCode::OK, 0, len, None),
        Part::Of(first, last) => {
            (StatusCode::PARTIAL_CONTENT, first, last - first + 1, Some(format!("bytes {first}-{last}/{len}")))
        }
        Part::Unsatisfiable => {
            let mut refused = answer::problem(StatusCode::RANGE_NOT_SATISFIABLE, "the file is shorter");
            set(&mut refused, CONTENT_RANGE, &format!("bytes */{len}"));
            return Ok(refused);
        }
    };
    file.seek(SeekFrom::Start(first))?;
    let mut answer = Response::new(Content::File(file.into(), left));
    *answer.status_mut() = status;
    set(&mut answer, ACCEPT_RANGES, "bytes");
    set(&mut answer, ETAG, &tag);
    if let Some(kind) = kind_of(path) {
        set(&mut answer, CONTENT_TYPE, kind);
    }
    if let Some(within) = within {
        set(&mut answer, CONTENT_RANGE, &within);
    }
    Ok(answer)
}

fn set(answer: &mut Response<Content>, name: hyper::header::HeaderName, value: &str) {
    answer.headers_mut().insert(name, HeaderValue::from_str(value).expect("numbers and words are plain"));
}

/// Changes with the file.
fn tag(metadata: &Metadata) -> String {
    format!("\"{:x}-{:x}-{:x}.{:x}\"", metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

/// The type of a file by its ending; without one, the client decides (RFC 9110 §8.3).
fn kind_of(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "html" | "htm" => HTML,
        "txt" | "md" | "toml" | "log" => "text/plain; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
