//! The structure of a script: options, init command, timed events, cleanup command.

use super::cursor::{Cursor, Parsed};
use super::{Action, CallSpec, Command, Direction, Event, EventTime, Script, ScriptOption};
use std::collections::BTreeMap;

/// Parses a script. `defines` are the symbols of the command line; the script's own `--define` lines add to them, but the command
/// line takes precedence for the same name.
///
/// # Errors
/// The first line that does not parse.
pub fn parse(text: &str, defines: &BTreeMap<String, String>) -> Parsed<Script> {
    Parser::new(text, defines).script()
}

struct Parser<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, defines: &BTreeMap<String, String>) -> Self {
        Self { cursor: Cursor::new(text, defines) }
    }

    fn script(mut self) -> Parsed<Script> {
        let mut script = Script::default();
        self.cursor.skip()?;
        while self.cursor.sees("--") {
            script.options.push(self.option()?);
        }
        self.define(&script.options)?;
        script.init = self.command()?;
        while !self.cursor.rest().is_empty() {
            if self.cursor.sees("`") {
                script.cleanup = self.command()?;
                break;
            }
            script.events.push(self.event()?);
        }
        if !self.cursor.rest().is_empty() {
            return self.cursor.expected("the end after the cleanup command");
        }
        if script.events.is_empty() {
            return self.cursor.error("a script needs at least one event");
        }
        Ok(script)
    }

    /// `--name`, `--name=value`, `--define=NAME="value"`.
    fn option(&mut self) -> Parsed<ScriptOption> {
        let line = self.cursor.line();
        self.cursor.advance(2);
        let name = self.cursor.peek_word();
        self.cursor.advance(name.len());
        let mut value = None;
        if self.cursor.sees("=") {
            self.cursor.advance(1);
            value = Some(self.option_value()?);
        }
        self.cursor.skip()?;
        Ok(ScriptOption { name: name.to_owned(), value, line })
    }

    fn option_value(&mut self) -> Parsed<String> {
        if self.cursor.sees("\"") {
            return Ok(self.cursor.quoted('"')?.to_owned());
        }
        let plain = self.cursor.run(|c| !c.is_whitespace() && c != '"' && c != '`');
        self.cursor.advance(plain.len());
        let mut value = plain.to_owned();
        for quote in ['"', '`'] {
            if plain.ends_with('=') && self.cursor.sees(quote.encode_utf8(&mut [0; 4])) {
                value.push(quote);
                value.push_str(self.cursor.quoted(quote)?);
                value.push(quote);
            }
        }
        if value.is_empty() { self.cursor.expected("a value") } else { Ok(value) }
    }

    /// Symbols from the script's own `--define` lines; those of the command line take precedence.
    fn define(&mut self, options: &[ScriptOption]) -> Parsed<()> {
        for option in options.iter().filter(|option| option.name == "define") {
            match option.value.as_deref().and_then(|value| value.split_once('=')) {
                Some((name, value)) if !name.is_empty() => {
                    self.cursor.defines.entry(name.to_owned()).or_insert_with(|| value.to_owned());
                }
                _ => return self.cursor.error("a definition is spelled --define=NAME=value"),
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Parsed<Option<Command>> {
        if !self.cursor.sees("`") {
            return Ok(None);
        }
        let line = self.cursor.line();
        let text = self.cursor.quoted('`')?.to_owned();
        Ok(Some(Command { text, line }))
    }

    fn event(&mut self) -> Parsed<Event> {
        let line = self.cursor.line();
        let time = self.time()?;
        let action = self.action()?;
        let outbound = matches!(&action, Action::Packet(packet) if packet.direction == Direction::Outbound);
        let spanning = matches!(time, EventTime::Any | EventTime::AbsoluteRange(..) | EventTime::RelativeRange(..));
        if spanning && !outbound {
            return self.cursor.error("`*` and time ranges are for outbound packets only");
        }
        Ok(Event { line, time, action })
    }

    fn time(&mut self) -> Parsed<EventTime> {
        if self.cursor.eat("*")? {
            return Ok(EventTime::Any);
        }
        let relative = self.cursor.eat("+")?;
        let from = self.cursor.seconds()?;
        if !self.cursor.eat("~")? {
            return Ok(if relative { EventTime::Relative(from) } else { EventTime::Absolute(from) });
        }
        if relative {
            self.cursor.expect("+")?;
        }
        let to = self.cursor.seconds()?;
        if to < from {
            return self.cursor.error("the time range is backwards");
        }
        Ok(if relative { EventTime::RelativeRange(from, to) } else { EventTime::AbsoluteRange(from, to) })
    }

    fn action(&mut self) -> Parsed<Action> {
        if self.cursor.sees("<") || self.cursor.sees(">") {
            return Ok(Action::Packet(self.cursor.packet()?));
        }
        if let Some(command) = self.command()? {
            return Ok(Action::Command(command));
        }
        if self.cursor.sees("%{") {
            return self.code();
        }
        Ok(Action::Call(self.call()?))
    }

    /// `%{ statements }%`.
    fn code(&mut self) -> Parsed<Action> {
        let body = &self.cursor.rest()[2..];
        let Some(end) = body.find("}%") else {
            return self.cursor.error("a code block that begins with %{ does not end");
        };
        let text = body[..end].trim_matches([' ', '\t']).to_owned();
        self.cursor.advance(end + 4);
        self.cursor.skip()?;
        Ok(Action::Code(text))
    }

    /// `...0.2 name(arguments) = result ERRNO (what it means)`.
    fn call(&mut self) -> Parsed<CallSpec> {
        let end = if self.cursor.eat("...")? { Some(self.cursor.seconds()?) } else { None };
        let name = self.cursor.word("a packet, a system call, a command or a code block")?.to_owned();
        let args = self.cursor.arguments()?;
        self.cursor.expect("=")?;
        let result = self.cursor.expression()?;
        let mut errno = None;
        if self.cursor.peek_word().starts_with(|c: char| c.is_ascii_alphabetic()) {
            errno = Some(self.cursor.word("an errno")?.to_owned());
        }
        if self.cursor.sees("(") {
            let Some(end) = self.cursor.rest().find(')') else { return self.cursor.error("a note does not end") };
            self.cursor.advance(end + 1);
            self.cursor.skip()?;
        }
        Ok(CallSpec { end, name, args, result, errno })
    }
}
