//! Named network namespaces, as iproute2 keeps them: a file below `/run/netns` on which the namespace is mounted, so that `ip
//! netns exec NAME …` reaches what was created here, and vice versa.
//!
//! A namespace belongs to a thread: threads that entered it work inside, and the caller's own namespace never changes. Leftovers
//! of a killed program are found by their names.

mod rtnetlink;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;

/// Directory of iproute2's names.
const DIRECTORY: &str = "/run/netns";

/// The calling thread's namespace. The process's entry would be that of its first thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// Why a namespace is not available.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The name is not valid for a file, or empty.
    #[error("`{0}` cannot name a network namespace: 1 to 255 bytes, no `/`, no white space, not `.` or `..`")]
    BadName(String),
    /// A namespace of this name already exists.
    #[error("a network namespace `{0}` exists already: choose another name, or remove it with `ip netns del {0}`")]
    Exists(String),
    /// No namespace has this name.
    #[error("the network namespace `{0}` does not exist: create it with `ip netns add {0}`")]
    NotFound(String),
    /// CAP_SYS_ADMIN is missing, or CAP_NET_ADMIN, without which nothing can be set up inside.
    #[error(
        "{step} the network namespace `{name}` needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run as root; a \
         container has to be given them, too"
    )]
    NoPrivilege {
        /// The namespace.
        name: String,
        /// What was tried.
        step: &'static str,
        /// The kernel's word.
        source: io::Error,
    },
    /// A step failed for another reason.
    #[error("{step} the network namespace `{name}` failed: {source}")]
    Failed {
        /// The namespace.
        name: String,
        /// What was tried.
        step: &'static str,
        /// The kernel's word.
        source: io::Error,
    },
}

/// A network namespace. One that was created is removed on drop; one that was opened stays.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    handle: File,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Created,
    Opened,
}

impl Namespace {
    /// Creates a namespace in which only the loopback device is up.
    ///
    /// # Errors
    /// If the name is invalid or taken, CAP_SYS_ADMIN is missing, or a step fails; nothing remains then.
    pub fn create(name: &str) -> Result<Self, NamespaceError> {
        let failed = |step| move |source: io::Error| explain(name, step, source);
        let path = path_of(name)?;
        prepare_directory().map_err(failed("creating"))?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => NamespaceError::Exists(name.to_owned()),
            _ => failed("creating")(error),
        })?;
        let made = in_new_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            rtnetlink::loopback_up()?;
            bind(Path::new(OWN), &path)?;
            File::open(&path)
        });
        match made.and_then(|made| made) {
            Ok(handle) => Ok(Self { name: name.to_owned(), handle, origin: Origin::Created }),
            Err(error) => {
                discard(&path);
                Err(failed("creating")(error))
            }
        }
    }

    /// Opens an existing namespace.
    ///
    /// # Errors
    /// If there is none of this name, or it may not be read.
    pub fn open(name: &str) -> Result<Self, NamespaceError> {
        let handle = File::open(path_of(name)?).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NamespaceError::NotFound(name.to_owned()),
            _ => explain(name, "opening", error),
        })?;
        Ok(Self { name: name.to_owned(), handle, origin: Origin::Opened })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Moves the calling thread into it, permanently: call it first in a new thread.
    ///
    /// # Errors
    /// If CAP_SYS_ADMIN is missing.
    pub fn enter(&self) -> Result<(), NamespaceError> {
        let entered = setns(&self.handle, CloneFlags::CLONE_NEWNET);
        entered.map_err(|errno| explain(&self.name, "entering", errno.into()))
    }

    /// Runs `work` in a thread inside it, and waits for its end. A panic there is passed on.
    ///
    /// # Errors
    /// If a thread cannot be started, or cannot enter.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        let done = in_new_thread(|| self.enter().map(|()| work()));
        done.map_err(|error| explain(&self.name, "entering", error))?
    }

    /// Routes all other traffic to `gateway`, which is on a network of one of its devices.
    ///
    /// # Errors
    /// If the kernel rejects it, for example because the gateway is unreachable.
    pub fn route_all_via(&self, gateway: std::net::IpAddr) -> Result<(), NamespaceError> {
        let routed = self.run(|| rtnetlink::add_default_route(gateway))?;
        routed.map_err(|error| explain(&self.name, "adding a route to", error))
    }

    /// Names that begin with `prefix`, sorted.
    ///
    /// # Errors
    /// If the directory cannot be read; a missing directory is not an error.
    pub fn list(prefix: &str) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(DIRECTORY) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry?.file_name().into_string().ok().filter(|name| name.starts_with(prefix)));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Removes the name, whoever created it. The namespace itself exists as long as a thread or an open file uses it.
    ///
    /// # Errors
    /// If there is none of this name, or CAP_SYS_ADMIN is missing.
    pub fn remove(name: &str) -> Result<(), NamespaceError> {
        let path = path_of(name)?;
        let failed = |error: io::Error| explain(name, "removing", error);
        match umount2(&path, MntFlags::MNT_DETACH) {
            // A name without a namespace: its creator was killed between two steps.
            Ok(()) | Err(Errno::EINVAL) => {}
            Err(Errno::ENOENT) => return Err(NamespaceError::NotFound(name.to_owned())),
            Err(errno) => return Err(failed(errno.into())),
        }
        std::fs::remove_file(&path).map_err(failed)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if self.origin == Origin::Created
            && let Ok(path) = path_of(&self.name)
        {
            discard(&path);
        }
    }
}

fn path_of(name: &str) -> Result<PathBuf, NamespaceError> {
    let bad = |c: char| c == '/' || c.is_whitespace() || c.is_control();
    if name.is_empty() || name.len() > 255 || name == "." || name == ".." || name.contains(bad) {
        return Err(NamespaceError::BadName(name.to_owned()));
    }
    Ok(Path::new(DIRECTORY).join(name))
}

fn explain(name: &str, step: &'static str, source: io::Error) -> NamespaceError {
    let name = name.to_owned();
    match source.kind() {
        io::ErrorKind::PermissionDenied => NamespaceError::NoPrivilege { name, step, source },
        _ => NamespaceError::Failed { name, step, source },
    }
}

/// Mounts below the directory must appear, and disappear, in every mount namespace that shares it: otherwise a copy in some
/// service's private one would keep a removed namespace alive. A directory that is not a mount yet becomes one.
fn prepare_directory() -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(DIRECTORY)?;
    let directory = Path::new(DIRECTORY);
    let share = || mount::<str, Path, str, str>(None, directory, None, MsFlags::MS_SHARED | MsFlags::MS_REC, None);
    match share() {
        Err(Errno::EINVAL) => {
            bind(directory, directory)?;
            Ok(share()?)
        }
        other => Ok(other?),
    }
}

fn bind(source: &Path, target: &Path) -> io::Result<()> {
    Ok(mount::<Path, Path, str, str>(Some(source), target, None, MsFlags::MS_BIND | MsFlags::MS_REC, None)?)
}

/// Removes what it can where an error cannot be reported: leftovers are found by their name later.
fn discard(path: &Path) {
    let _ = umount2(path, MntFlags::MNT_DETACH);
    let _ = std::fs::remove_file(path);
}

fn in_new_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("")]
    #[test_case(".")]
    #[test_case("..")]
    #[test_case("a/b")]
    #[test_case("a b")]
    #[test_case("a\n")]
    fn bad_names_are_refused_before_the_kernel_is_asked(name: &str) {
        assert!(matches!(Namespace::create(name), Err(NamespaceError::BadName(_))));
        assert!(matches!(Namespace::open(name), Err(NamespaceError::BadName(_))));
        assert!(matches!(Namespace::remove(name), Err(NamespaceError::BadName(_))));
    }

    #[test]
    fn a_missing_privilege_is_named_with_its_remedy() {
        let message = explain("x", "creating", io::Error::from_raw_os_error(Errno::EPERM as i32)).to_string();
        assert!(message.contains("CAP_SYS_ADMIN") && message.contains("root"), "{message}");
        let message = explain("x", "creating", io::Error::from_raw_os_error(Errno::ENOSPC as i32)).to_string();
        assert!(!message.contains("CAP_SYS_ADMIN"), "{message}");
    }
}
