//! The local socket that controls a running link: a line of words in, a line of JSON or an error out.
//!
//! Each link has its own socket in its user's directory, named after its process; a command that names no link means the only
//! one there.

use crate::failure::Failure;
use realtime::runtime_dir;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names of sockets unless `--control` says otherwise.
const PREFIX: &str = "longhaul-link-";
const SUFFIX: &str = ".sock";

/// A client has this long to send a line of at most that many bytes: the link's thread does not wait for it, but
/// signals do.
const TIMEOUT: Duration = Duration::from_millis(500);
const LINE_MAX: u64 = 4096;

/// A link's side of the socket, which is removed on drop.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Listens on `path`, or on the default name.
    ///
    /// # Errors
    /// If the path cannot be used, or another link listens there.
    pub fn listen(path: Option<&Path>) -> Result<Self, Failure> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => directory()?.join(format!("{PREFIX}{}{SUFFIX}", std::process::id())),
        };
        let cannot = |error| {
            let path = path.display();
            Failure::usage(format!("--control {path}: cannot listen there: {error}; name a file that can be made"))
        };
        if is_stale(&path) {
            let _ = std::fs::remove_file(&path);
        }
        let listener = UnixListener::bind(&path).map_err(cannot)?;
        let control = Self { listener, path: path.clone() };
        std::fs::set_permissions(&control.path, Permissions::from_mode(0o600)).map_err(cannot)?;
        control.listener.set_nonblocking(true).map_err(cannot)?;
        Ok(control)
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Readable when a request is waiting.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Answers a client if one has connected.
    pub fn serve(&self, answer: impl FnOnce(&str) -> Result<String, Failure>) {
        // A client that connects and sends nothing, or leaves before the answer, gets none.
        let Ok((stream, _)) = self.listener.accept() else { return };
        let _ = serve(stream, answer);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn serve(mut stream: UnixStream, answer: impl FnOnce(&str) -> Result<String, Failure>) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new((&stream).take(LINE_MAX)).read_line(&mut line)?;
    let text = match answer(line.trim_end_matches('\n')) {
        Ok(text) => format!("ok {text}\n"),
        Err(Failure::Usage(problem)) => format!("usage {problem}\n"),
        Err(Failure::Failed(problem)) => format!("failed {problem}\n"),
        Err(_) => "failed\n".to_owned(),
    };
    stream.write_all(text.as_bytes())
}

/// Returns whether a killed link left this socket behind.
fn is_stale(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Sends a request to the link at `path`, or to the only one that exists, and returns its answer.
///
/// # Errors
/// If there is none, or it rejects the request.
pub fn ask(path: Option<&Path>, request: &str) -> Result<String, Failure> {
    let path = path.map_or_else(the_only_one, |path| Ok(path.to_owned()))?;
    let cannot = |error: std::io::Error| {
        let path = path.display();
        Failure::usage(format!(
            "--control {path}: no link answers there: {error}; name the one that `link` said at READY"
        ))
    };
    let mut stream = UnixStream::connect(&path).map_err(cannot)?;
    stream.write_all(format!("{request}\n").as_bytes()).map_err(cannot)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(cannot)?;
    match text.trim_end().split_once(' ').unwrap_or((text.trim_end(), "")) {
        ("ok", answer) => Ok(answer.to_owned()),
        ("usage", problem) => Err(Failure::usage(problem)),
        (_, problem) => Err(Failure::Failed(format!("the link has ended{problem}"))),
    }
}

fn directory() -> Result<PathBuf, Failure> {
    runtime_dir()
        .map_err(|error| Failure::usage(format!("no place for a link's socket: {error}; name one with --control")))
}

fn the_only_one() -> Result<PathBuf, Failure> {
    let directory = directory()?;
    let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(PREFIX) && name.ends_with(SUFFIX) && !is_stale(path)
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_ours).collect();
    match found.len() {
        0 => Err(Failure::usage(format!(
            "no link is running that keeps its socket in {}; start one, or name its socket with --control PATH",
            directory.display()
        ))),
        1 => Ok(found.remove(0)),
        _ => {
            found.sort();
            let names: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
            Err(Failure::usage(format!("several links are running; choose one with --control: {}", names.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("set a\tb", Ok("done"), Ok("done"))]
    #[test_case("set \t", Ok("done"), Ok("done"); "white space is not trimmed")]
    #[test_case("x", Err(Failure::usage("not that")), Err("not that"))]
    fn a_request_gets_its_answer(request: &str, answer: Result<&str, Failure>, expected: Result<&str, &str>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let control = Control::listen(Some(&path)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| ask(Some(&path), request));
            let mut heard = None;
            control.listener.set_nonblocking(false).unwrap();
            control.serve(|line| {
                heard = Some(line.to_owned());
                answer.map(str::to_owned)
            });
            assert_eq!(heard.as_deref(), Some(request));
            match (asking.join().unwrap(), expected) {
                (Ok(answer), Ok(expected)) => assert_eq!(answer, expected),
                (Err(Failure::Usage(problem)), Err(expected)) => assert_eq!(problem, expected),
                (other, _) => panic!("{other:?}"),
            }
        });
        drop(control);
        assert!(!path.exists());
    }

    #[test]
    fn a_socket_left_behind_is_replaced_and_a_living_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        assert!(
            matches!(ask(Some(&path), "stats"), Err(Failure::Usage(problem)) if problem.contains("no link answers there"))
        );
        let living = Control::listen(Some(&path)).unwrap();
        assert!(matches!(Control::listen(Some(&path)), Err(Failure::Usage(problem)) if problem.contains("in use")));
        assert_eq!(living.path(), path);
    }
}
