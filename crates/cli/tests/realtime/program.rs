//! An experiment for the program under test, and the program while it runs.

use crate::outside::command;
use crate::programs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// Starts it.
pub fn start(arguments: &[&str]) -> Child {
    command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// A file that compares arms over 10 ms, with pairs of commands of all kinds.
pub struct Experiment {
    directory: tempfile::TempDir,
    file: PathBuf,
}

impl Experiment {
    /// 2 MB, twice.
    ///
    /// # Panics
    /// With the name of what this machine lacks.
    pub fn small() -> Self {
        assert!(nix::unistd::geteuid().is_root(), "this test needs root, to make network namespaces and TUN devices");
        assert!(Path::new("/dev/net/tun").exists(), "this test needs /dev/net/tun, the kernel's `tun` module");
        let directory = tempfile::tempdir().unwrap();
        let (sink, source) = (programs::sink(), programs::source());
        let mark = directory.path().join("mark");
        let text = format!(
            r#"
summary = "a short path"
[path]
rate = "100Mbit"
rtt = "10ms"
[flow]
bytes = "2MB"
[run]
iterations = 2
[arms]
use = ["longhaul"]
[arms.pair]
server = "{sink}"
client = "{source}"
[arms.deaf]
server = "sleep 60 # {{port}}"
client = "true {{host}} {{port}} {{bytes}}"
[arms.broken]
server = "echo no luck today >&2; exit 3 # {{port}}"
client = "true {{host}} {{port}} {{bytes}}"
[arms.hasty]
server = "{sink}"
client = "echo going already; exit 4 # {{host}} {{port}} {{bytes}}"
[arms.endless]
server = "echo $$ > {mark}.new; mv {mark}.new {mark}; sleep 600 # {{port}}"
client = "true {{host}} {{port}} {{bytes}}"
"#,
            mark = mark.display()
        );
        let file = directory.path().join("small.toml");
        std::fs::write(&file, text).unwrap();
        Self { directory, file }
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.file.to_str().expect("temporary directories have plain names")
    }

    /// Returns the path to which the server of `endless` writes its process number.
    pub fn mark(&self) -> PathBuf {
        self.directory.path().join("mark")
    }
}
