//! What long work says on stderr while it goes on: a bar on a terminal, elsewhere a line every ten seconds, and nothing with `--quiet`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use std::fmt;
use std::io::{self, IsTerminal, Write};
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
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{:.1}/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(&format!("{picture} {beside}")).expect("the template is right");
    bar.with_style(style.with_key("rate", rate))
}

fn target() -> ProgressDrawTarget {
    match () {
        () if is_quiet() => ProgressDrawTarget::hidden(),
        () if io::stderr().is_terminal() => ProgressDrawTarget::stderr(),
        () => ProgressDrawTarget::term_like_with_hz(Box::new(Lines::new(anstream::stderr(), Instant::now)), 1),
    }
}

/// A terminal that is none: of what is drawn on it, a line in a while is passed on.
#[derive(Debug)]
struct Lines<W> {
    now: fn() -> Instant,
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    out: W,
    /// When the last line was passed on, or the work began.
    last: Instant,
    drawn: String,
}

impl<W> Lines<W> {
    fn new(out: W, now: fn() -> Instant) -> Self {
        Self { now, state: Mutex::new(State { out, last: now(), drawn: String::new() }) }
    }

    /// Adds what is drawn.
    fn add(&self, text: &str) {
        if let Ok(mut state) = self.state.lock() {
            state.drawn.push_str(text);
        }
    }
}

impl<W: Write + fmt::Debug + Send> TermLike for Lines<W> {
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
        if let Ok(mut state) = self.state.lock() {
            state.drawn.clear();
        }
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        let Ok(mut state) = self.state.lock() else { return Ok(()) };
        let (line, now) = (std::mem::take(&mut state.drawn), (self.now)());
        if now.duration_since(state.last) < PAUSE || line.trim().is_empty() {
            return Ok(());
        }
        state.last = now;
        // At once, so that no other line comes between.
        state.out.write_all(format!("{}\n", line.trim_end()).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::{Arc, LazyLock};

    thread_local! {
        /// How far a test has moved its clock.
        static LATER: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn now() -> Instant {
        static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
        *BEGAN + LATER.get()
    }

    fn wait(time: Duration) {
        LATER.set(LATER.get() + time);
    }

    const MOMENT: Duration = Duration::from_millis(1);

    /// Where lines go.
    #[derive(Clone, Debug, Default)]
    struct Written(Arc<Mutex<String>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push_str(str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        /// What was written since the last look.
        fn take(&self) -> String {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    fn lines() -> (Lines<Written>, Written) {
        let written = Written::default();
        (Lines::new(written.clone(), now), written)
    }

    fn draw(lines: &Lines<Written>, text: &str) {
        lines.write_str(text).unwrap();
        lines.flush().unwrap();
    }

    #[test]
    fn a_line_comes_when_the_pause_is_over_and_the_next_pause_begins_anew() {
        let (lines, written) = lines();
        draw(&lines, "1/9 runs");
        wait(PAUSE - MOMENT);
        draw(&lines, "2/9 runs");
        assert_eq!(written.take(), "");
        wait(MOMENT + Duration::from_secs(3));
        draw(&lines, "3/9 runs");
        draw(&lines, "4/9 runs");
        assert_eq!(written.take(), "3/9 runs\n", "what was drawn before is not due any more");
        // The pause counts from the line that came late.
        wait(PAUSE - MOMENT);
        draw(&lines, "5/9 runs");
        assert_eq!(written.take(), "");
        wait(MOMENT);
        draw(&lines, "6/9 runs");
        assert_eq!(written.take(), "6/9 runs\n");
    }

    #[test]
    fn what_is_cleared_is_not_shown_and_what_is_blank_does_not_begin_a_pause() {
        let (lines, written) = lines();
        wait(PAUSE);
        draw(&lines, "  ");
        lines.flush().unwrap();
        lines.write_str("old").unwrap();
        lines.clear_line().unwrap();
        lines.flush().unwrap();
        assert_eq!(written.take(), "");
        lines.write_str("old").unwrap();
        lines.clear_line().unwrap();
        lines.write_str("progress: ").unwrap();
        draw(&lines, "1/9 runs   ");
        assert_eq!(written.take(), "progress: 1/9 runs\n");
    }

    #[test]
    fn a_bar_writes_a_line_in_a_pause_and_none_when_it_ends() {
        let (lines, written) = lines();
        let target = ProgressDrawTarget::term_like(Box::new(lines));
        let bar = drawn(ProgressBar::with_draw_target(Some(9), target), "{bar}", "{pos}/{len} runs");
        bar.tick();
        wait(PAUSE);
        bar.set_position(4);
        bar.tick();
        bar.tick();
        let line = written.take();
        assert!(line.ends_with("4/9 runs\n") && line.lines().count() == 1, "{line}");
        wait(PAUSE);
        bar.finish_and_clear();
        assert_eq!(written.take(), "");
    }
}
