//! How the program ends when something is wrong: a message on stderr and an exit code.

use ::profiles::FileError;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use realtime::CannotStart;
use std::fmt::{self, Display};
use std::process::ExitCode;

/// Why the program fails.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that is not there or not allowed: exit code 2.
    Usage(String),
    /// A file has an error at a known place: exit code 2.
    File(Box<FileError>),
    /// The command was attempted, and failed: exit code 1.
    Failed(String),
    /// The same, but the error has already been reported.
    Reported,
    /// The reader of the output has gone away, which is not an error.
    Unread,
}

impl Failure {
    /// Creates an error of wrong usage.
    pub fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// Reports the error, and returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                anstream::eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Self::File(error) => {
                let summary = error.to_string();
                anstream::eprintln!("error: {summary}\n{:?}", miette::Report::new(Located::new(*error)));
                ExitCode::from(2)
            }
            Self::Failed(message) => {
                anstream::eprintln!("error: {message}");
                ExitCode::from(1)
            }
            Self::Reported => ExitCode::from(1),
            Self::Unread => ExitCode::SUCCESS,
        }
    }
}

/// Says that `--trace` cannot be obeyed; `error` names the file.
pub fn cannot_trace(error: impl Display) -> String {
    format!("--trace: cannot write {error}")
}

/// Why a program on a device fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The command line asks for something that is not there or not allowed: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The network or a file caused an error: exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl LinkError {
    /// Returns the program's exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
        }
    }

    pub(crate) fn usage(message: impl std::fmt::Display) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn failed(message: impl std::fmt::Display) -> Self {
        Self::Failed(message.to_string())
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        let message = error.to_string();
        if error.exit_code() == 2 { Self::Usage(message) } else { Self::Failed(message) }
    }
}

impl From<CannotStart> for Failure {
    fn from(error: CannotStart) -> Self {
        match error {
            CannotStart::Usage(message) => Self::Usage(message),
            CannotStart::Failed(message) => Self::Failed(message),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::File(Box::new(error))
    }
}

/// An error at a place in a file, displayed by miette.
#[derive(Debug)]
struct Located {
    error: FileError,
    source: NamedSource<String>,
}

impl Located {
    fn new(error: FileError) -> Self {
        let source = NamedSource::new(&error.file, error.text.clone());
        Self { error, source }
    }
}

impl Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error.problem)
    }
}

impl std::error::Error for Located {}

impl Diagnostic for Located {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(&self.error.remedy))
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some("here".to_owned()), self.error.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}
