//! What long work says on stderr while it goes on: a bar on a terminal, elsewhere a line every ten seconds, and nothing with `--quiet`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two lines, where stderr is not a terminal.
const PAUSE: Duration = Duration::from_secs(10);
/// Columns of such a line.
const WIDTH: u16 = 200;

/// The option is of the whole program, and is read before anything else is done.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Drops progress, notes and summaries from now on; errors and warnings stay.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns whether `--quiet` was given.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line to stderr, unless `--quiet` was given.
macro_rules! note {
    ($($argument:tt)*) => {
        if !$crate::progress::is_quiet() {
            anstream::eprintln!($($argument)*);
        }
    };
}
pub(crate) use note;

/// Returns a bar for `len` steps; `beside` is indicatif's template of what stands behind it, in which `{rate}` is steps a second.
///
/// # Panics
/// When the template is wrong.
pub fn bar(len: u64, beside: &str) -> ProgressBar {
    drawn(ProgressBar::with_draw_target(Some(len), target()), "{bar:40}", beside)
}

/// As [`bar`], for an unknown number of steps.
///
/// # Panics
/// When the template is wrong.
pub fn spinner(beside: &str) -> ProgressBar {
    drawn(ProgressBar::with_draw_target(None, target()), "{spinner}", beside)
}

fn drawn(bar: ProgressBar, picture: &str, beside: &str) -> ProgressBar {
    let picture = if io::stderr().is_terminal() { picture } else { "progress:" };
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{:.1}/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(&format!("{picture} {beside}")).expect("the template is right");
    bar.with_style(style.with_key("rate", rate))
}

fn target() -> ProgressDrawTarget {
    match () {
        () if is_quiet() => ProgressDrawTarget::hidden(),
        () if io::stderr().is_terminal() => ProgressDrawTarget::stderr(),
        () => ProgressDrawTarget::term_like_with_hz(Box::new(Lines::default()), 1),
    }
}

/// A terminal that is none: of what is drawn on it, a line in a while is passed on.
#[derive(Debug)]
struct Lines(Mutex<(Instant, String)>);

impl Default for Lines {
    fn default() -> Self {
        Self(Mutex::new((Instant::now(), String::new())))
    }
}

impl Lines {
    /// Adds what is drawn.
    fn add(&self, text: &str) {
        if let Ok(mut state) = self.0.lock() {
            state.1.push_str(text);
        }
    }
}

impl TermLike for Lines {
    fn width(&self) -> u16 {
        WIDTH
    }
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(text);
        Ok(())
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text);
        Ok(())
    }
    fn clear_line(&self) -> io::Result<()> {
        if let Ok(mut state) = self.0.lock() {
            state.1.clear();
        }
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        let Ok(mut state) = self.0.lock() else { return Ok(()) };
        let (last, text) = &mut *state;
        let line = std::mem::take(text);
        if last.elapsed() >= PAUSE && !line.trim().is_empty() {
            *last = Instant::now();
            anstream::eprintln!("{}", line.trim_end());
        }
        Ok(())
    }
}
