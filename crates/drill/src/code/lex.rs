//! Tokens of a code block, with Python's logical lines: a newline ends one unless a bracket is open.

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or keyword.
    Name(String),
    /// An integer.
    Int(i128),
    /// A number with a decimal point or an exponent.
    Float(f64),
    /// A string.
    Str(String),
    /// An operator or bracket.
    Op(&'static str),
    /// The end of a logical line, or `;`.
    End,
}

/// Longest first, so that `**` is not lexed as two stars.
const OPERATORS: [&str; 34] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "|=", "&=", "+", "-", "*", "/", "%", "<", ">",
    "=", "(", ")", "[", "]", ",", ":", "|", "&", "^", "~", ".", "{", "}",
];

/// Tokens of `text`, each with its line counted from 0.
pub fn tokens(text: &str) -> Result<Vec<(Token, u32)>, (String, u32)> {
    let mut lexer = Lexer { rest: text, line: 0, open: 0, out: Vec::new() };
    while let Some(first) = lexer.rest.chars().next() {
        lexer.step(first)?;
    }
    let line = lexer.line;
    lexer.out.push((Token::End, line));
    Ok(lexer.out)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    /// Number of open brackets.
    open: u32,
    out: Vec<(Token, u32)>,
}

impl<'a> Lexer<'a> {
    fn step(&mut self, first: char) -> Result<(), (String, u32)> {
        match first {
            '\n' => {
                if self.open == 0 {
                    self.out.push((Token::End, self.line));
                }
                self.line += 1;
                self.take(1);
            }
            '\\' if self.rest[1..].starts_with('\n') => {
                self.line += 1;
                self.take(2);
            }
            '#' => {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            }
            ';' => {
                self.out.push((Token::End, self.line));
                self.take(1);
            }
            c if c.is_whitespace() => {
                self.take(c.len_utf8());
            }
            '"' | '\'' => self.string(first)?,
            c if c.is_ascii_digit() || (c == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit())) => {
                self.number()?;
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
                let name = self.take(end).to_owned();
                self.out.push((Token::Name(name), self.line));
            }
            _ => self.operator()?,
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn string(&mut self, quote: char) -> Result<(), (String, u32)> {
        let body = &self.rest[1..];
        let Some(end) = body.find(quote) else { return Err(("a string does not end".into(), self.line)) };
        self.out.push((Token::Str(body[..end].to_owned()), self.line));
        self.line += u32::try_from(body[..end].matches('\n').count()).unwrap_or(0);
        self.take(end + 2);
        Ok(())
    }

    fn number(&mut self) -> Result<(), (String, u32)> {
        let line = self.line;
        if let Some(hex) = self.rest.strip_prefix("0x") {
            let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            let value = i128::from_str_radix(&hex[..end], 16).map_err(|_| ("a wrong number".to_owned(), line))?;
            self.take(end + 2);
            self.out.push((Token::Int(value), line));
            return Ok(());
        }
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let mut end = digits(self.rest);
        let mut float = false;
        if self.rest[end..].starts_with('.') {
            float = true;
            end += 1 + digits(&self.rest[end + 1..]);
        }
        if self.rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(self.rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(&self.rest[end + 1 + sign..]);
            if exponent > 0 {
                float = true;
                end += 1 + sign + exponent;
            }
        }
        let text = self.take(end);
        let wrong = || (format!("`{text}` is not a number"), line);
        let token = if float {
            Token::Float(text.parse().map_err(|_| wrong())?)
        } else {
            Token::Int(text.parse().map_err(|_| wrong())?)
        };
        self.out.push((token, line));
        Ok(())
    }

    fn operator(&mut self) -> Result<(), (String, u32)> {
        let Some(operator) = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator)) else {
            let c = self.rest.chars().next().unwrap_or(' ');
            return Err((format!("`{c}` is not understood"), self.line));
        };
        match *operator {
            "(" | "[" | "{" => self.open += 1,
            ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.take(operator.len());
        self.out.push((Token::Op(operator), self.line));
        Ok(())
    }
}
