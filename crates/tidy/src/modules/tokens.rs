//! The parts of a file that matter for its relation to others: items at its top level, imports, paths, and its words.

use crate::shape::without_tests;
use std::collections::BTreeSet;

/// One file's names.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// Items that it defines outside of any block.
    pub items: BTreeSet<String>,
    /// What its `use` declarations bring.
    pub imports: Vec<Import>,
    /// Paths of two segments and more outside of `use`, with their lines.
    pub paths: Vec<(Vec<String>, usize)>,
    /// All words outside of `use`, with their lines.
    pub words: Vec<(String, usize)>,
}

/// One name that a `use` declaration brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// What the file calls it; `*` for everything of a module.
    pub name: String,
    /// The path as it was written, groups unfolded.
    pub path: Vec<String>,
    /// Whether the name is re-exported.
    pub public: bool,
    /// From 1.
    pub line: usize,
}

impl Import {
    /// Whether it stands for all names of a module.
    pub fn is_glob(&self) -> bool {
        self.name == "*"
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Colons,
    Mark(char),
}

/// Words before an item's name.
const KEYWORDS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"];

impl Parsed {
    /// Reads masked code; test-only code is left out.
    pub fn of(code: &str) -> Self {
        let code = without_tests(code);
        let tokens = tokens(&code);
        let mut parsed = Self::default();
        let (mut at, mut depth) = (0, 0_usize);
        while let Some((token, line)) = tokens.get(at) {
            match token {
                Token::Mark('{') => depth += 1,
                Token::Mark('}') => depth = depth.saturating_sub(1),
                Token::Word(word) if word == "use" && starts_an_item(&tokens[..at]) => {
                    let public = is_handed_on(&tokens[..at]);
                    at = parsed.import(&tokens, at + 1, &[], public);
                    continue;
                }
                Token::Word(word) => {
                    if depth == 0 {
                        parsed.item(word, &tokens[at + 1..]);
                    }
                    // `mod emit;` does not use the item `emit` that the module may define.
                    if !declares_a_module(&tokens[..at]) {
                        parsed.words.push((word.clone(), *line));
                    }
                    let continues = at > 0 && matches!(tokens[at - 1].0, Token::Colons | Token::Mark('.'));
                    if !continues {
                        parsed.path(&tokens[at..], *line);
                    }
                }
                Token::Colons | Token::Mark(_) => {}
            }
            at += 1;
        }
        parsed.expand_paths();
        parsed
    }

    fn item(&mut self, keyword: &str, rest: &[(Token, usize)]) {
        let name = match rest {
            [(Token::Mark('!'), _), (Token::Word(name), _), ..] if keyword == "macro_rules" => name,
            // What stands in a file of its own is a module there.
            [(Token::Word(_), _), (Token::Mark(';'), _), ..] if keyword == "mod" => return,
            [(Token::Word(name), _), ..] if KEYWORDS.contains(&keyword) => name,
            _ => return,
        };
        if !KEYWORDS.contains(&name.as_str()) && !matches!(name.as_str(), "unsafe" | "extern" | "async") {
            self.items.insert(name.clone());
        }
    }

    fn path(&mut self, tokens: &[(Token, usize)], line: usize) {
        let mut segments = Vec::new();
        let mut rest = tokens;
        while let [(Token::Word(word), _), further @ ..] = rest {
            segments.push(word.clone());
            let [(Token::Colons, _), next @ ..] = further else { break };
            rest = next;
        }
        if segments.len() > 1 {
            self.paths.push((segments, line));
        }
    }

    /// One tree of a `use` declaration below `stem`; the place behind it.
    fn import(&mut self, tokens: &[(Token, usize)], from: usize, stem: &[String], public: bool) -> usize {
        let (mut path, mut at) = (stem.to_vec(), from);
        while let Some((token, line)) = tokens.get(at) {
            match token {
                Token::Word(word) if word == "as" => {
                    if let Some((Token::Word(name), _)) = tokens.get(at + 1) {
                        self.imports.push(Import { name: name.clone(), path, public, line: *line });
                    }
                    return at + 2;
                }
                Token::Word(word) => path.push(word.clone()),
                Token::Mark('*') => path.push("*".to_owned()),
                Token::Mark('{') => {
                    at += 1;
                    while !matches!(tokens.get(at), None | Some((Token::Mark('}'), _))) {
                        at = self.import(tokens, at, &path, public);
                        at += usize::from(matches!(tokens.get(at), Some((Token::Mark(','), _))));
                    }
                    return at + 1;
                }
                Token::Colons => {}
                Token::Mark(_) => break,
            }
            at += 1;
        }
        // `a::{self}` brings `a`.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(name) = path.last().cloned() {
            self.imports.push(Import { name, path, public, line: tokens[at.min(tokens.len()) - 1].1 });
        }
        at
    }

    /// Expands paths that begin with an imported name.
    fn expand_paths(&mut self) {
        for (path, _) in &mut self.paths {
            if let Some(import) =
                self.imports.iter().find(|import| import.name == path[0] && import.path != [path[0].clone()])
            {
                *path = [&import.path[..], &path[1..]].concat();
            }
        }
    }
}

/// Whether a module's name is next.
fn declares_a_module(before: &[(Token, usize)]) -> bool {
    matches!(before.last(), Some((Token::Word(word), _)) if word == "mod")
}

/// Whether an item may begin behind these tokens.
fn starts_an_item(before: &[(Token, usize)]) -> bool {
    match before.last().map(|(token, _)| token) {
        None | Some(Token::Mark(';' | '{' | '}' | ']' | ')')) => true,
        Some(Token::Word(word)) => word == "pub",
        _ => false,
    }
}

/// Whether `pub`, or `pub(…)`, stands last.
fn is_handed_on(before: &[(Token, usize)]) -> bool {
    match before.last().map(|(token, _)| token) {
        Some(Token::Word(word)) => word == "pub",
        Some(Token::Mark(')')) => true,
        _ => false,
    }
}

fn tokens(code: &str) -> Vec<(Token, usize)> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\n' {
            line += 1;
        } else if c == '_' || c.is_alphanumeric() {
            let mut word = c.to_string();
            while let Some(c) = rest.next_if(|c| *c == '_' || c.is_alphanumeric()) {
                word.push(c);
            }
            found.push((Token::Word(word), line));
        } else if c == ':' && rest.next_if_eq(&':').is_some() {
            found.push((Token::Colons, line));
        } else if !c.is_whitespace() {
            found.push((Token::Mark(c), line));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_those_outside_of_blocks() {
        let parsed = Parsed::of(
            "pub const fn a() { const X: u8 = 1; }\nimpl B { fn c() {} }\nmacro_rules! d { () => {} }\nstatic E: u8 = 1;\n\
             #[cfg(test)]\nfn f() {}\npub(crate) unsafe fn g() {}",
        );
        assert_eq!(parsed.items.iter().map(String::as_str).collect::<Vec<_>>(), ["E", "a", "d", "g"]);
    }

    #[test]
    fn a_tree_is_unfolded() {
        let parsed = Parsed::of("pub(crate) use a::{b::{c, d as e}, f::*, self};\nuse g;");
        let found: Vec<(String, String, bool)> =
            parsed.imports.iter().map(|import| (import.name.clone(), import.path.join("::"), import.public)).collect();
        let expected = [
            ("c", "a::b::c", true),
            ("e", "a::b::d", true),
            ("*", "a::f::*", true),
            ("a", "a", true),
            ("g", "g", false),
        ];
        assert_eq!(found, expected.map(|(name, path, public)| (name.to_owned(), path.to_owned(), public)));
    }

    #[test]
    fn precise_captures_are_no_imports() {
        let parsed = Parsed::of("fn a<'a>() -> impl Sized + use<'a> { x::y() }");
        assert!(parsed.imports.is_empty());
        assert_eq!(parsed.paths, [(vec!["x".to_owned(), "y".to_owned()], 1)]);
    }
}
