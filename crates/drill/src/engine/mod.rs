//! Runs a script against a stack, event by event, by packetdrill's rules.

mod calls;
mod clock;
mod code;
mod compare;
mod packets;
mod socket;
mod worker;

use crate::code::Program;
use crate::config::Config;
use crate::packet;
use crate::script::{Action, Command, Direction, Script};
use crate::stack::{Call, Stack};
use calls::Pending;
use clock::{Clock, Due};
use socket::{Descriptor, Socket};
use std::path::PathBuf;
use std::sync::Arc;
use worker::{Wait, Worker};

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct Failure {
    /// Line of the script.
    pub line: u32,
    /// What was expected, and what happened.
    pub what: String,
}

/// The first port of the script's side. Each connection opened by the script gets the next one.
const FIRST_REMOTE_PORT: u16 = 40_000;

/// One run of a script.
pub struct Engine<'a> {
    script: &'a Script,
    config: &'a Config,
    stack: Arc<dyn Stack>,
    /// The directory in which shell commands run.
    directory: PathBuf,
    log: &'a mut dyn FnMut(String),
    clock: Clock,
    worker: Worker,
    /// The blocking call that the worker is executing.
    pending: Option<Pending>,
    descriptors: Vec<Descriptor>,
    sockets: Vec<Socket>,
    /// The socket to which packets belong: the latest one.
    under_test: Option<usize>,
    next_port: u16,
    program: Program,
    /// The previous event: when it was due, and whether it was an inbound packet.
    previous: Option<(Due, bool)>,
    /// When this event is due.
    due: Due,
}

impl<'a> Engine<'a> {
    /// Prepares a run: starts the thread for blocking calls and runs the script's init command, then starts script time.
    ///
    /// # Errors
    /// The init command failed.
    pub fn start(
        script: &'a Script,
        config: &'a Config,
        stack: Arc<dyn Stack>,
        directory: PathBuf,
        log: &'a mut dyn FnMut(String),
    ) -> Result<Self, Failure> {
        let worker = Worker::start(Arc::clone(&stack));
        if let Some(command) = &script.init {
            run_command(command, &directory)?;
        }
        let clock = Clock::start(&*stack, config);
        Ok(Self {
            script,
            config,
            stack,
            directory,
            log,
            clock,
            worker,
            pending: None,
            descriptors: Vec::new(),
            sockets: Vec::new(),
            under_test: None,
            next_port: FIRST_REMOTE_PORT,
            program: Program::default(),
            previous: None,
            due: Clock::due(crate::script::EventTime::Absolute(0), 0),
        })
    }

    /// Runs all events and the cleanup command, and leaves the stack without connections.
    ///
    /// # Errors
    /// The first line that failed. The cleanup command has been run then as well.
    pub fn run(mut self) -> Result<(), Failure> {
        let outcome = self.events();
        let cleanup = self.script.cleanup.as_ref().map_or(Ok(()), |command| run_command(command, &self.directory));
        outcome.and(cleanup)?;
        self.finish()
    }

    fn events(&mut self) -> Result<(), Failure> {
        for (index, event) in self.script.events.iter().enumerate() {
            self.collect(Wait::None)?;
            let failure = |what| Failure { line: event.line, what };
            let inbound = matches!(&event.action, Action::Packet(packet) if packet.direction == Direction::Inbound);
            self.schedule(event.time, inbound, index).map_err(failure)?;
            match &event.action {
                Action::Packet(packet) => self.packet(packet).map_err(failure)?,
                Action::Call(call) => self.call(call, event.line, event.time)?,
                Action::Command(command) => {
                    self.wait("the command").map_err(failure)?;
                    run_command(command, &self.directory)?;
                }
                Action::Code(text) => self.code(text, event.line)?,
            }
            self.previous = Some((self.due, inbound));
        }
        Ok(())
    }

    /// Computes when the event is due. Consecutive inbound packets count from each other's due times, so that delays of this
    /// process do not accumulate.
    fn schedule(&mut self, time: crate::script::EventTime, inbound: bool, index: usize) -> Result<(), String> {
        let offset = match self.previous {
            Some((due, true)) if inbound => due.from,
            _ => self.clock.script(self.stack.now()),
        };
        let first = Clock::due(time, 0);
        if index == 0 && first.from != 0 {
            return Err("the first event is at time 0".into());
        }
        self.due = Clock::due(time, offset);
        match self.previous {
            Some((previous, _)) if previous.absolute && self.due.absolute && self.due.from < previous.from => {
                Err("time goes backwards".into())
            }
            _ => Ok(()),
        }
    }

    /// When the previous event was due.
    fn previous_due(&self) -> Option<i64> {
        self.previous.map(|(due, _)| due.from)
    }

    fn wait(&self, what: &str) -> Result<(), String> {
        self.clock.wait(&*self.stack, self.due, self.previous_due(), what)
    }

    fn socket(&mut self) -> Option<&mut Socket> {
        self.under_test.map(|index| &mut self.sockets[index])
    }

    /// Closes what is open and resets what was connected, latest first.
    fn finish(&mut self) -> Result<(), Failure> {
        self.collect(Wait::Some)?;
        if let Some((line, name)) = self.still_blocked() {
            return Err(Failure { line, what: format!("{name}: still blocked at the end of the script") });
        }
        for index in (0..self.sockets.len()).rev() {
            let open = self.descriptors.iter_mut().find(|fd| fd.socket == Some(index) && fd.open);
            if let Some(descriptor) = open {
                descriptor.open = false;
                self.stack.perform(&mut Call::Close { fd: descriptor.live });
            }
            let socket = &self.sockets[index];
            if let (Some(addresses), true) = (socket.inbound(), socket.is_tcp) {
                let (seq, ack, window) = socket.reset_numbers();
                let line = self.script.events.last().map_or(0, |event| event.line);
                let reset = packet::reset(addresses, seq, ack, window);
                self.stack.send(&reset).map_err(|what| Failure { line, what })?;
            }
        }
        Ok(())
    }
}

/// Runs a command through the shell, as `system(3)` does.
fn run_command(command: &Command, directory: &std::path::Path) -> Result<(), Failure> {
    let failure = |what| Err(Failure { line: command.line, what });
    let pid = std::process::id().to_string();
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &command.text])
        .current_dir(directory)
        .env("PACKETDRILL_PID", pid)
        .output();
    match output {
        Err(error) => failure(format!("the command cannot be run: {error}")),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            failure(format!("the command failed ({}): {said}", output.status))
        }
    }
}

#[cfg(test)]
mod tests;
