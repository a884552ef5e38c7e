//! Locates functions, test modules and type bodies in masked code.
//!
//! Works on the output of [`mask`](crate::mask()), so every brace is code.

use crate::mask::is_word;

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of its `fn` keyword, from 1.
    pub line: usize,
    /// Lines from there to its closing brace, both counted.
    pub lines: usize,
}

/// All functions with a body, inner ones too, in order of their first line.
pub fn functions(code: &str) -> Vec<Function> {
    words(code, "fn").filter_map(|at| function_at(code, at)).collect()
}

fn function_at(code: &str, at: usize) -> Option<Function> {
    let rest = &code[at + 2..];
    let name: String = rest.trim_start().chars().take_while(|&c| c == '$' || c == '_' || c.is_alphanumeric()).collect();
    if name.is_empty() {
        return None; // `fn(u32) -> u32` is a type.
    }
    let open = at + body_start(&code[at..])?;
    let line = line_of(code, at);
    Some(Function { name, line, lines: line_of(code, closing_brace(code, open)) - line + 1 })
}

/// Offset of the brace that opens the body of the function whose `fn` is at 0; `None` when it has none.
///
/// Braces inside the signature are constant expressions, and those stand in brackets of some kind.
fn body_start(signature: &str) -> Option<usize> {
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, c) in signature.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return None,
            '{' if depth == 0 => return Some(at),
            _ => {}
        }
        before = c;
    }
    None
}

/// Offsets of the first and the last byte of every `#[cfg(test)]` module, attribute included.
///
/// Only modules count: other items for tests are among the code and are read with it.
pub fn test_module_spans(code: &str) -> Vec<(usize, usize)> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, _) in code.match_indices(ATTRIBUTE) {
        let inside_last = spans.last().is_some_and(|&(_, end)| at < end);
        if let Some(item) = after_attributes(code, at + ATTRIBUTE.len()).filter(|_| !inside_last)
            && let Some(module) = module_after_visibility(code, item)
            && let Some(end) = code[module..].find([';', '{']).map(|offset| module + offset)
        {
            spans.push((at, if code.as_bytes()[end] == b'{' { closing_brace(code, end) } else { end }));
        }
    }
    spans
}

/// The code with every item that exists for tests alone blanked, byte for byte.
pub(crate) fn without_tests(code: &str) -> String {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut bytes = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(at) = code[from..].find(ATTRIBUTE).map(|offset| from + offset) {
        let item = after_attributes(code, at + ATTRIBUTE.len()).unwrap_or(code.len());
        // A `use` may hold braces, and ends with its semicolon all the same.
        let is_use =
            words(&code[item..], "use").next().is_some_and(|offset| !code[item..item + offset].contains(['{', ';']));
        let ends: &[char] = if is_use { &[';'] } else { &[';', '{'] };
        let end = code[item..].find(ends).map_or(code.len(), |offset| item + offset);
        from = if code.as_bytes().get(end) == Some(&b'{') {
            closing_brace(code, end) + 1
        } else {
            (end + 1).min(code.len())
        };
        bytes[at..from].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).expect("whole items are blanked")
}

/// Skips white space and further attributes.
fn after_attributes(code: &str, from: usize) -> Option<usize> {
    let at = from + code[from..].find(|c: char| !c.is_whitespace())?;
    if !code[at..].starts_with("#[") {
        return Some(at);
    }
    let mut depth = 0_usize;
    for (offset, c) in code[at..].char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return after_attributes(code, at + offset + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Offset of `mod` if the item that starts at `at` is a module.
fn module_after_visibility(code: &str, at: usize) -> Option<usize> {
    let item = &code[at..];
    let rest = item.strip_prefix("pub").map_or(item, |rest| {
        let rest = rest.trim_start();
        rest.strip_prefix('(').and_then(|inner| inner.split_once(')')).map_or(rest, |(_, rest)| rest)
    });
    let rest = rest.trim_start();
    rest.strip_prefix("mod")?.starts_with(char::is_whitespace).then_some(code.len() - rest.len())
}

/// Offsets of the body of every `struct` or `enum` whose name satisfies `wanted`, with the name; braces included.
pub(crate) fn type_bodies(code: &str, wanted: impl Fn(&str) -> bool) -> Vec<(String, usize, usize)> {
    let mut bodies = Vec::new();
    for at in words(code, "struct").chain(words(code, "enum")) {
        let after = code[at..].find(char::is_whitespace).map_or(code.len(), |offset| at + offset);
        let name: String =
            code[after..].trim_start().chars().take_while(|&c| c == '_' || c.is_alphanumeric()).collect();
        let Some(open) = code[after..].find(['{', '(', ';']).map(|offset| after + offset) else { continue };
        if !wanted(&name) {
            continue;
        }
        match code.as_bytes()[open] {
            b'{' => bodies.push((name, open, closing_brace(code, open))),
            b'(' => bodies.push((name, open, code[open..].find(';').map_or(code.len(), |offset| open + offset))),
            _ => {}
        }
    }
    bodies
}

/// Offsets at which `word` stands as a whole token.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = at.checked_sub(1).map(|index| bytes[index]);
        let after = bytes.get(at + word.len()).copied();
        !before.is_some_and(|byte| is_word(byte) || byte == b'#') && !after.is_some_and(is_word)
    })
}

/// Line of the byte at `at`, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// Offset of the brace that closes the one at `open`, or of the last byte when none does.
fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.as_bytes()[open..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return open + offset,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask;

    fn found(source: &str) -> Vec<(String, usize, usize)> {
        functions(&mask(source)).into_iter().map(|f| (f.name, f.line, f.lines)).collect()
    }

    #[test]
    fn a_function_spans_from_its_keyword_to_its_closing_brace() {
        let source = "/// fn doc() {\n#[inline]\npub fn one(a: u32) -> u32 {\n    a\n}\nfn two() {}\n";
        assert_eq!(found(source), [("one".into(), 3, 3), ("two".into(), 6, 1)]);
    }

    #[test]
    fn braces_in_literals_and_comments_close_nothing() {
        let source = "fn f() {\n    let a = \"}\";\n    let b = '}'; // }\n    /* } */ r#\"}\"#;\n}\nfn g() {}\n";
        assert_eq!(found(source), [("f".into(), 1, 5), ("g".into(), 6, 1)]);
    }

    #[test]
    fn declarations_and_function_types_are_no_functions() {
        assert_eq!(
            found("trait T { fn a(&self) -> [u8; 4]; fn b(&self) {} }\ntype F = fn(u32) -> u32;\n"),
            [("b".into(), 1, 1)]
        );
    }

    #[test]
    fn signatures_may_hold_arrows_bounds_and_constants() {
        let source =
            "fn f<F, const N: usize>(f: F) -> Foo<{ N + 1 }>\nwhere\n    F: Fn(&[u8; { N }]) -> Vec<u8>,\n{\n}\n";
        assert_eq!(found(source), [("f".into(), 1, 5)]);
    }

    #[test]
    fn inner_functions_are_found_too() {
        assert_eq!(found("fn f() {\n    fn g() {\n    }\n}\n"), [("f".into(), 1, 4), ("g".into(), 2, 2)]);
    }

    #[test]
    fn names_that_contain_the_keyword_are_not_the_keyword() {
        assert_eq!(found("let fnord = r#fn; let x_fn = 1;"), []);
    }

    #[test]
    fn test_modules_are_found_inline_and_out_of_line() {
        let source = "fn f() {}\n#[cfg(test)]\nmod far;\n#[cfg(test)]\n#[allow(x[1])]\npub(crate) mod near {\n    fn t() {}\n}\nfn g() {}\n";
        let code = mask(source);
        let lines: Vec<_> =
            test_module_spans(&code).into_iter().map(|(from, to)| (line_of(&code, from), line_of(&code, to))).collect();
        assert_eq!(lines, [(2, 3), (4, 8)]);
    }

    #[test]
    fn an_early_test_only_item_hides_nothing() {
        assert_eq!(test_module_spans("#[cfg(test)]\nuse x::y;\nmod real { }\n"), []);
        assert_eq!(test_module_spans("#[cfg(test)]\nmodel!{}\n"), []);
    }

    #[test]
    fn type_bodies_are_braced_or_parenthesised() {
        let code = "struct AConfig { x: bool }\nenum BConfig { Y(bool) }\nstruct CConfig(bool);\nstruct Other { x: bool }\nstruct DConfig;\n";
        let bodies: Vec<_> = type_bodies(code, |name| name.ends_with("Config"))
            .into_iter()
            .map(|(name, from, to)| format!("{name}{}", &code[from..=to]))
            .collect();
        assert_eq!(bodies, ["AConfig{ x: bool }", "CConfig(bool);", "BConfig{ Y(bool) }"]);
    }
}
