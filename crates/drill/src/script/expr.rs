//! Expressions: the arguments and results of system calls.

use super::cursor::{Cursor, Parsed};
use super::{Expr, Field};

/// How deeply expressions may nest; real scripts nest five levels.
const MAX_DEPTH: u32 = 32;

impl Cursor<'_> {
    /// One expression.
    pub fn expression(&mut self) -> Parsed<Expr> {
        self.or_expression(0)
    }

    /// `( a, b )`, with the opening parenthesis not consumed yet.
    pub fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        self.sequence(")", 0)
    }

    /// Expressions separated by commas up to `close`.
    fn sequence(&mut self, close: &str, depth: u32) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.eat(close)? {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(self.or_expression(depth + 1)?);
        }
        Ok(items)
    }

    fn or_expression(&mut self, depth: u32) -> Parsed<Expr> {
        if depth > MAX_DEPTH {
            return self.error("expressions are nested too deeply");
        }
        let mut left = self.primary(depth)?;
        while self.eat("|")? {
            left = Expr::Or(Box::new(left), Box::new(self.primary(depth)?));
        }
        Ok(left)
    }

    fn primary(&mut self, depth: u32) -> Parsed<Expr> {
        match self.rest().chars().next() {
            Some('.') if self.eat("...")? => Ok(Expr::Ellipsis),
            Some('"') => {
                let text = self.quoted('"')?;
                let bytes = self.unescape(text)?;
                // A trailing ellipsis means that the text continues; the rest is not compared.
                self.eat("...")?;
                Ok(Expr::Str(bytes))
            }
            Some('[') => {
                self.expect("[")?;
                Ok(Expr::List(self.sequence("]", depth)?))
            }
            Some('{') => self.braces(depth),
            _ if self.sees_number() => Ok(Expr::Int(self.integer("a number")?)),
            _ => self.name(depth),
        }
    }

    /// A word, after substitution, or `name(arguments)`.
    fn name(&mut self, depth: u32) -> Parsed<Expr> {
        let word = self.word("an expression")?;
        if self.eat("(")? {
            return Ok(Expr::Apply(word.to_owned(), self.sequence(")", depth)?));
        }
        let Some(value) = self.defines.get(word) else { return Ok(Expr::Word(word.to_owned())) };
        let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        Ok(match quoted {
            Some(text) => Expr::Str(text.as_bytes().to_vec()),
            None => value.parse().map_or_else(|_| Expr::Word(value.clone()), Expr::Int),
        })
    }

    fn braces(&mut self, depth: u32) -> Parsed<Expr> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}")? {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            fields.push(self.brace_item(depth)?);
        }
        Ok(Expr::Braces(fields))
    }

    fn brace_item(&mut self, depth: u32) -> Parsed<Field> {
        let first = self.or_expression(depth + 1)?;
        if !self.eat("=")? {
            return Ok(Field { name: None, length: None, value: first });
        }
        let (name, length) = match first {
            Expr::Word(name) => (name, None),
            Expr::Apply(name, mut arguments) if arguments.len() == 1 => (name, arguments.pop()),
            _ => return self.error("only a name may stand before `=`"),
        };
        Ok(Field { name: Some(name), length, value: self.or_expression(depth + 1)? })
    }

    /// A string's bytes: `\n \r \t \0 \\ \" \xHH`.
    fn unescape(&self, text: &str) -> Parsed<Vec<u8>> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            bytes.push(match rest.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'0') => 0,
                Some(b'x') => {
                    let digits = [rest.next(), rest.next()].map(|d| d.and_then(|d| char::from(d).to_digit(16)));
                    match digits {
                        [Some(high), Some(low)] => u8::try_from(high * 16 + low).unwrap_or(0),
                        _ => return self.error("`\\x` needs two hexadecimal digits"),
                    }
                }
                Some(other) => other,
                None => b'\\',
            });
        }
        Ok(bytes)
    }
}
