//! Statements and expressions of a code block, with Python's precedence.

use super::lex::{Token, tokens};
use super::value::Value;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Value(Value),
    Name(String),
    Not(Box<Node>),
    Minus(Box<Node>),
    Invert(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// `a < b < c`: operands and the operators between them.
    Compare(Vec<Node>, Vec<String>),
    Binary(&'static str, Box<Node>, Box<Node>),
    /// `a if condition else b`: condition, a, b.
    Choice(Box<(Node, Node, Node)>),
    List(Vec<Node>),
    Call(String, Vec<Node>),
}

/// A statement, with its line in the block counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Condition, message, and the text of the condition.
    Assert(Node, Option<Node>),
    Print(Vec<Node>),
    /// Name, operator before `=` if any, value.
    Assign(String, Option<&'static str>, Node),
    Expression(Node),
    Pass,
}

/// The error, and its line in the block.
pub type Wrong = (String, u32);

/// Binary operators by precedence, loosest first.
const LEVELS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%"]];
const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];
/// How deeply expressions may nest.
const MAX_DEPTH: u32 = 64;

pub fn parse(text: &str) -> Result<Vec<(Statement, u32)>, Wrong> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let mut statements = Vec::new();
    while parser.at < tokens.len() {
        if parser.tokens[parser.at].0 == Token::End {
            parser.at += 1;
            continue;
        }
        let line = parser.line();
        statements.push((parser.statement()?, line));
        if !parser.ends() {
            return parser.wrong("the statement to end");
        }
    }
    Ok(statements)
}

struct Parser<'a> {
    tokens: &'a [(Token, u32)],
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |&(_, line)| line)
    }

    fn ends(&self) -> bool {
        *self.peek() == Token::End
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, Wrong> {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Op(operator) => format!("`{operator}`"),
            Token::End => "the end of the line".into(),
            other => format!("{other:?}"),
        };
        Err((format!("expected {expected}, found {found}"), self.line()))
    }

    fn eat(&mut self, operator: &str) -> bool {
        let found = matches!(self.peek(), Token::Op(found) if *found == operator);
        self.at += usize::from(found);
        found
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(found) if found == name);
        self.at += usize::from(found);
        found
    }

    fn statement(&mut self) -> Result<Statement, Wrong> {
        if self.eat_name("assert") {
            let condition = self.expression()?;
            let message = if self.eat(",") { Some(self.expression()?) } else { None };
            return Ok(Statement::Assert(condition, message));
        }
        if self.eat_name("print") {
            return Ok(Statement::Print(if self.ends() { Vec::new() } else { self.items(None)? }));
        }
        if self.eat_name("pass") {
            return Ok(Statement::Pass);
        }
        for keyword in ["if", "for", "while", "def", "import", "from", "with", "try", "class", "return"] {
            if *self.peek() == Token::Name(keyword.into()) {
                return self.wrong("assert, print, an assignment or an expression");
            }
        }
        if let (Token::Name(name), Some((Token::Op(operator), _))) = (self.peek().clone(), self.tokens.get(self.at + 1))
            && let Some(before) = operator.strip_suffix('=')
            && !COMPARISONS.contains(operator)
        {
            self.at += 2;
            let before = LEVELS.iter().flat_map(|level| level.iter()).find(|known| **known == before).copied();
            return Ok(Statement::Assign(name, before, self.expression()?));
        }
        Ok(Statement::Expression(self.expression()?))
    }

    fn expression(&mut self) -> Result<Node, Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(("expressions are nested too deeply".into(), self.line()));
        }
        let value = self.or()?;
        let choice = if self.eat_name("if") {
            let condition = self.or()?;
            if !self.eat_name("else") {
                return self.wrong("`else`");
            }
            Node::Choice(Box::new((condition, value, self.expression()?)))
        } else {
            value
        };
        self.depth -= 1;
        Ok(choice)
    }

    fn or(&mut self) -> Result<Node, Wrong> {
        let mut left = self.and()?;
        while self.eat_name("or") {
            left = Node::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Node, Wrong> {
        let mut left = self.not()?;
        while self.eat_name("and") {
            left = Node::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Node, Wrong> {
        let mut negations = 0;
        while self.eat_name("not") {
            negations += 1;
        }
        let value = self.comparison()?;
        Ok((0..negations).fold(value, |value, _| Node::Not(Box::new(value))))
    }

    fn comparison(&mut self) -> Result<Node, Wrong> {
        let mut operands = vec![self.binary(0)?];
        let mut operators = Vec::new();
        while let Some(operator) = self.comparison_operator() {
            operators.push(operator);
            operands.push(self.binary(0)?);
        }
        Ok(match operators.len() {
            0 => operands.swap_remove(0),
            _ => Node::Compare(operands, operators),
        })
    }

    fn comparison_operator(&mut self) -> Option<String> {
        let operator = match self.peek() {
            Token::Op(operator) if COMPARISONS.contains(operator) => (*operator).to_owned(),
            Token::Name(name) if name == "in" => "in".to_owned(),
            Token::Name(name) if name == "not" => {
                let follows = self.tokens.get(self.at + 1).is_some_and(|(token, _)| *token == Token::Name("in".into()));
                if !follows {
                    return None;
                }
                self.at += 1;
                "not in".to_owned()
            }
            _ => return None,
        };
        self.at += 1;
        Some(operator)
    }

    fn binary(&mut self, level: usize) -> Result<Node, Wrong> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.eat(operator)) {
            left = Node::Binary(operator, Box::new(left), Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, Wrong> {
        let mut signs = Vec::new();
        while let Some(sign) = ["-", "+", "~"].into_iter().find(|sign| self.eat(sign)) {
            signs.push(sign);
        }
        let mut value = self.atom()?;
        if self.eat("**") {
            value = Node::Binary("**", Box::new(value), Box::new(self.unary()?));
        }
        Ok(signs.into_iter().rev().fold(value, |value, sign| match sign {
            "-" => Node::Minus(Box::new(value)),
            "~" => Node::Invert(Box::new(value)),
            _ => value,
        }))
    }

    fn atom(&mut self) -> Result<Node, Wrong> {
        let token = self.peek().clone();
        self.at += 1;
        match token {
            Token::Int(value) => Ok(Node::Value(Value::Int(value))),
            Token::Float(value) => Ok(Node::Value(Value::Float(value))),
            Token::Str(value) => Ok(Node::Value(Value::Str(value))),
            Token::Name(name) if name == "True" || name == "False" => {
                Ok(Node::Value(Value::Int(i128::from(name == "True"))))
            }
            Token::Name(name) if self.eat("(") => Ok(Node::Call(name, self.items(Some(")"))?)),
            Token::Name(name) if !["and", "or", "in", "if", "else", "lambda"].contains(&name.as_str()) => {
                Ok(Node::Name(name))
            }
            Token::Op("[") => Ok(Node::List(self.items(Some("]"))?)),
            Token::Op("(") => self.parenthesis(),
            _ => {
                self.at -= 1;
                self.wrong("a value")
            }
        }
    }

    /// `(a)` is `a` itself, `(a, b)` and `(a,)` are tuples.
    fn parenthesis(&mut self) -> Result<Node, Wrong> {
        if self.eat(")") {
            return Ok(Node::List(Vec::new()));
        }
        let first = self.expression()?;
        if self.eat(")") {
            return Ok(first);
        }
        if !self.eat(",") {
            return self.wrong("`)`");
        }
        let mut items = vec![first];
        items.extend(self.items(Some(")"))?);
        Ok(Node::List(items))
    }

    /// Expressions separated by commas, up to `close` or the end of the line.
    fn items(&mut self, close: Option<&str>) -> Result<Vec<Node>, Wrong> {
        let mut items = Vec::new();
        loop {
            if close.is_some_and(|close| self.eat(close)) {
                return Ok(items);
            }
            if close.is_none() && self.ends() {
                return Ok(items);
            }
            items.push(self.expression()?);
            if !self.eat(",")
                && !close.map_or(self.ends(), |close| matches!(self.peek(), Token::Op(op) if *op == close))
            {
                return self.wrong(close.map_or("the end of the line", |_| "`,` or a closing bracket"));
            }
        }
    }
}
