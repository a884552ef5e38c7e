//! A position in the text of a script, and the smallest pieces read from there: white space and comments, words, numbers,
//! quoted texts.
//!
//! The language is parsed without a separate token pass, because the same characters mean different things in different places:
//! `.5` is a number in a time and two flags in a segment.

use std::collections::BTreeMap;

/// Why a text is not a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub what: String,
}

pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Where the last token ended, before the white space after it.
    piece_line: u32,
    /// Symbols given by `--define`, substituted wherever an expression contains a word.
    pub defines: BTreeMap<String, String>,
}

pub type Parsed<T> = Result<T, ParseError>;

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, defines: &BTreeMap<String, String>) -> Self {
        Self { text, at: 0, line: 1, piece_line: 1, defines: defines.clone() }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn line(&self) -> u32 {
        self.line
    }

    /// An error about the last thing read.
    pub fn error<T>(&self, what: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: self.piece_line, what: what.into() })
    }

    /// "expected X, found Y", where Y is the beginning of the remaining text.
    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found: String = self.rest().chars().take_while(|c| *c != '\n').take(20).collect();
        let found = if self.rest().is_empty() { "the end".into() } else { format!("`{found}`") };
        Err(ParseError { line: self.line, what: format!("expected {what}, found {found}") })
    }

    /// Skips `bytes` bytes, counting line breaks among them.
    pub fn advance(&mut self, bytes: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + bytes];
        self.line += u32::try_from(taken.matches('\n').count()).unwrap_or(u32::MAX);
        self.at += bytes;
        taken
    }

    /// Skips white space, `// …` and `/* … */`.
    pub fn skip(&mut self) -> Parsed<()> {
        self.piece_line = self.line;
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.advance(blank);
            } else if rest.starts_with("//") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.advance(end + 2),
                    None => return self.error("a comment that begins with `/*` does not end"),
                };
            } else {
                return Ok(());
            }
        }
    }

    /// Whether `what` stands here.
    pub fn sees(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    /// Consumes `what` and the white space after it, if it comes next.
    pub fn eat(&mut self, what: &str) -> Parsed<bool> {
        if !self.sees(what) {
            return Ok(false);
        }
        self.advance(what.len());
        self.skip()?;
        Ok(true)
    }

    pub fn expect(&mut self, what: &str) -> Parsed<()> {
        if self.eat(what)? { Ok(()) } else { self.expected(&format!("`{what}`")) }
    }

    /// The run of characters at this position for which `belongs` holds.
    pub fn run(&self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())]
    }

    /// The word at this position, which may be empty; does not consume it.
    pub fn peek_word(&self) -> &'a str {
        self.run(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// A word.
    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        let word = self.peek_word();
        if word.is_empty() {
            return self.expected(what);
        }
        self.advance(word.len());
        self.skip()?;
        Ok(word)
    }

    /// The value of `word` if it is a symbol, else `word` itself.
    pub fn defined(&self, word: &str) -> String {
        self.defines.get(word).cloned().unwrap_or_else(|| word.to_owned())
    }

    /// Consumes exactly the word `what`, if it comes next.
    pub fn eat_word(&mut self, what: &str) -> Parsed<bool> {
        if self.peek_word() != what {
            return Ok(false);
        }
        self.eat(what)
    }

    pub fn expect_word(&mut self, what: &str) -> Parsed<()> {
        if self.eat_word(what)? { Ok(()) } else { self.expected(&format!("`{what}`")) }
    }

    /// Whether a number begins here: a digit, or a sign or decimal point before one.
    pub fn sees_number(&self) -> bool {
        let mut chars = self.rest().chars().skip_while(|c| *c == '-');
        let signs = self.run(|c| c == '-').len();
        signs <= 1
            && match chars.next() {
                Some('.') => chars.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => c.is_ascii_digit(),
                None => false,
            }
    }

    /// A decimal or hexadecimal integer.
    pub fn integer(&mut self, what: &str) -> Parsed<i64> {
        let negative = self.sees("-");
        let digits = &self.rest()[usize::from(negative)..];
        let hex = digits.strip_prefix("0x").filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
        let (body, radix, prefix) = match hex {
            Some(rest) => (rest, 16, 2),
            None => (digits, 10, 0),
        };
        let length = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
        if length == 0 {
            return self.expected(what);
        }
        let Ok(value) = i128::from_str_radix(&body[..length], radix) else {
            return self.error(format!("{what} is too large: `{}`", &body[..length]));
        };
        let Ok(value) = i64::try_from(if negative { -value } else { value }) else {
            return self.error(format!("{what} is too large: `{}`", &body[..length]));
        };
        self.advance(usize::from(negative) + prefix + length);
        self.skip()?;
        Ok(value)
    }

    /// An integer of a field's width.
    pub fn field<T: TryFrom<i64>>(&mut self, what: &str) -> Parsed<T> {
        let value = self.integer(what)?;
        T::try_from(value).or_else(|_| self.error(format!("{what} is out of range: {value}")))
    }

    /// A time in seconds, converted to microseconds. Fractions of a microsecond are cut off.
    pub fn seconds(&mut self) -> Parsed<i64> {
        let whole = self.run(|c| c.is_ascii_digit());
        let behind = &self.rest()[whole.len()..];
        let fraction = behind.strip_prefix('.').map_or("", |rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            &rest[..end]
        });
        if whole.is_empty() && fraction.is_empty() {
            return self.expected("a time in seconds");
        }
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let usecs = format!("{whole}{micros}").parse::<i64>();
        let Ok(usecs) = usecs else { return self.error("a time too far away") };
        self.advance(whole.len() + if fraction.is_empty() { 0 } else { fraction.len() + 1 });
        self.skip()?;
        Ok(usecs)
    }

    /// A text between two `quote` characters; a backslash escapes the character after it.
    pub fn quoted(&mut self, quote: char) -> Parsed<&'a str> {
        let begin = self.line;
        let body = &self.rest()[quote.len_utf8()..];
        let mut escaped = false;
        let end = body.char_indices().find(|&(_, c)| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else {
            return Err(ParseError { line: begin, what: format!("a text that begins with {quote} does not end") });
        };
        self.advance(quote.len_utf8() + end + quote.len_utf8());
        self.skip()?;
        Ok(&body[..end])
    }
}
