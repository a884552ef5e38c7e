//! Evaluation of code blocks.

use super::parse::{Node, Statement, parse};
use super::value::Value;
use std::collections::BTreeMap;

/// State shared by the blocks of one script: variables persist from block to block.
#[derive(Clone, Debug, Default)]
pub struct Program {
    variables: BTreeMap<String, Value>,
    /// Printed output, one entry per line.
    pub printed: Vec<String>,
}

impl Program {
    /// Assigns a value to a variable.
    pub fn set(&mut self, name: &str, value: u64) {
        self.variables.insert(name.to_owned(), Value::Int(i128::from(value)));
    }

    /// Runs a block.
    ///
    /// # Errors
    /// The failed assertion, or the construct that is not supported, with its line in the block counted from 0.
    pub fn run(&mut self, text: &str) -> Result<(), (String, u32)> {
        for (statement, line) in parse(text)? {
            self.statement(&statement).map_err(|what| (what, line))?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Assert(condition, message) => self.assert(condition, message.as_ref()),
            Statement::Print(items) => {
                let values = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
                self.printed.push(texts.join(" "));
                Ok(())
            }
            Statement::Assign(name, operator, node) => {
                let mut value = self.value(node)?;
                if let Some(operator) = operator {
                    value = binary(operator, &self.value(&Node::Name(name.clone()))?, &value)?;
                }
                self.variables.insert(name.clone(), value);
                Ok(())
            }
            Statement::Expression(node) => self.value(node).map(|_| ()),
            Statement::Pass => Ok(()),
        }
    }

    fn assert(&self, condition: &Node, message: Option<&Node>) -> Result<(), String> {
        if self.value(condition)?.is_true() {
            return Ok(());
        }
        let said = message.map(|message| self.value(message)).transpose()?.map_or(String::new(), |m| format!(": {m}"));
        let mut names = Vec::new();
        collect_names(condition, &mut names);
        let values: Vec<String> =
            names.iter().filter_map(|name| self.variables.get(name).map(|value| format!("{name} = {value}"))).collect();
        Err(format!("assertion failed{said} ({})", values.join(", ")))
    }

    fn value(&self, node: &Node) -> Result<Value, String> {
        let truth = |value: bool| Value::Int(i128::from(value));
        Ok(match node {
            Node::Value(value) => value.clone(),
            Node::Name(name) => self.variables.get(name).cloned().ok_or_else(|| format!("`{name}` has no value"))?,
            Node::Not(operand) => truth(!self.value(operand)?.is_true()),
            Node::Minus(operand) => match self.value(operand)? {
                Value::Int(value) => Value::Int(-value),
                other => Value::Float(-other.float()?),
            },
            Node::Invert(operand) => match self.value(operand)? {
                Value::Int(value) => Value::Int(!value),
                other => return Err(format!("`~` of {other}")),
            },
            Node::And(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { self.value(right)? } else { left }
            }
            Node::Or(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { left } else { self.value(right)? }
            }
            Node::Compare(operands, operators) => truth(self.compare(operands, operators)?),
            Node::Binary(operator, left, right) => binary(operator, &self.value(left)?, &self.value(right)?)?,
            Node::Choice(parts) => {
                let (condition, then, otherwise) = &**parts;
                if self.value(condition)?.is_true() { self.value(then)? } else { self.value(otherwise)? }
            }
            Node::List(items) => Value::List(self.values(items)?),
            Node::Call(name, items) => function(name, &self.values(items)?)?,
        })
    }

    fn values(&self, nodes: &[Node]) -> Result<Vec<Value>, String> {
        nodes.iter().map(|node| self.value(node)).collect()
    }

    fn compare(&self, operands: &[Node], operators: &[String]) -> Result<bool, String> {
        let values = self.values(operands)?;
        for (pair, operator) in values.windows(2).zip(operators) {
            if !comparison(operator, &pair[0], &pair[1])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn collect_names(node: &Node, names: &mut Vec<String>) {
    let mut visit = |node: &Node| collect_names(node, names);
    match node {
        Node::Name(name) => {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Node::Value(_) => {}
        Node::Not(a) | Node::Minus(a) | Node::Invert(a) => visit(a),
        Node::And(a, b) | Node::Or(a, b) | Node::Binary(_, a, b) => {
            visit(a);
            visit(b);
        }
        Node::Compare(nodes, _) | Node::List(nodes) | Node::Call(_, nodes) => nodes.iter().for_each(visit),
        Node::Choice(parts) => [&parts.0, &parts.1, &parts.2].into_iter().for_each(visit),
    }
}

fn comparison(operator: &str, left: &Value, right: &Value) -> Result<bool, String> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if let "in" | "not in" = operator {
        let Value::List(items) = right else { return Err(format!("`{operator}` needs a list, not {right}")) };
        let mut found = false;
        for item in items {
            found |= comparison("==", left, item)?;
        }
        return Ok(found == (operator == "in"));
    }
    let order = match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Str(left), Value::Str(right)) => Some(left.cmp(right)),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            left.float()?.partial_cmp(&right.float()?)
        }
        _ if matches!(operator, "==" | "!=") => return Ok((left == right) == (operator == "==")),
        _ => return Err(format!("`{operator}` cannot compare {left} with {right}")),
    };
    Ok(match operator {
        "==" => order == Some(Equal),
        "!=" => order != Some(Equal),
        "<" => order == Some(Less),
        "<=" => matches!(order, Some(Less | Equal)),
        ">" => order == Some(Greater),
        _ => matches!(order, Some(Greater | Equal)),
    })
}

fn binary(operator: &str, left: &Value, right: &Value) -> Result<Value, String> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => integers(operator, *left, *right),
        (Value::Str(left), Value::Str(right)) if operator == "+" => Ok(Value::Str(format!("{left}{right}"))),
        (Value::Str(text), _) if operator == "%" => Ok(Value::Str(formatted(text, right))),
        _ => floats(operator, left.float()?, right.float()?),
    }
}

fn integers(operator: &str, left: i128, right: i128) -> Result<Value, String> {
    let shift = || u32::try_from(right).map_err(|_| format!("a shift by {right}"));
    let result = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" | "//" | "%" if right == 0 => return Err("a division by zero".into()),
        "/" => return Ok(Value::Float(left as f64 / right as f64)),
        "//" => {
            left.checked_div_euclid(right).map(|q| if right < 0 && left.rem_euclid(right) != 0 { q - 1 } else { q })
        }
        "%" => left.checked_rem_euclid(right).map(|r| if right < 0 && r != 0 { r + right } else { r }),
        "**" => left.checked_pow(shift()?),
        "<<" => left.checked_shl(shift()?),
        ">>" => left.checked_shr(shift()?),
        "|" => Some(left | right),
        "&" => Some(left & right),
        "^" => Some(left ^ right),
        other => return Err(format!("`{other}` is not understood")),
    };
    result.map(Value::Int).ok_or_else(|| format!("{left} {operator} {right} is too large"))
}

fn floats(operator: &str, left: f64, right: f64) -> Result<Value, String> {
    Ok(Value::Float(match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" if right != 0.0 => left / right,
        "//" if right != 0.0 => (left / right).floor(),
        "%" if right != 0.0 => left - right * (left / right).floor(),
        "**" => left.powf(right),
        other => return Err(format!("{left} {other} {right} has no value")),
    }))
}

/// `"%d of %s" % (a, b)`: each conversion takes the next value, whatever its letter.
fn formatted(text: &str, right: &Value) -> String {
    let values = match right {
        Value::List(values) => values.clone(),
        other => vec![other.clone()],
    };
    let mut values = values.iter();
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let letter = piece.find(|c: char| c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let value = values.next().map_or_else(String::new, ToString::to_string);
        out.push_str(&value);
        out.push_str(&piece[letter..]);
    }
    out
}

fn function(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let order = |wanted: fn(f64, f64) -> bool| {
        let items = if let [Value::List(items)] = arguments { items } else { arguments };
        let mut best = items.first().cloned().ok_or_else(|| format!("{name}() of nothing"))?;
        for item in items {
            if wanted(item.float()?, best.float()?) {
                best = item.clone();
            }
        }
        Ok(best)
    };
    match (name, arguments) {
        ("abs", [Value::Int(value)]) => Ok(Value::Int(value.abs())),
        ("abs", [value]) => Ok(Value::Float(value.float()?.abs())),
        ("int", [Value::Int(value)]) => Ok(Value::Int(*value)),
        ("int", [value]) => Ok(Value::Int(value.float()?.trunc() as i128)),
        ("round", [value]) => Ok(Value::Int(value.float()?.round_ties_even() as i128)),
        ("float", [value]) => Ok(Value::Float(value.float()?)),
        ("str", [value]) => Ok(Value::Str(value.to_string())),
        ("len", [Value::List(items)]) => Ok(Value::Int(items.len() as i128)),
        ("min", _) => order(|item, best| item < best),
        ("max", _) => order(|item, best| item > best),
        _ => Err(format!("{name}() with {} arguments is not understood", arguments.len())),
    }
}
