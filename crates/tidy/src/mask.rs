//! Blanks out everything in a Rust source that is not code.
//!
//! Knows line and nested block comments, strings with escapes, raw strings with any number of hashes (also with a `b` or
//! `c` prefix), and distinguishes character literals from lifetimes. Offsets and line numbers survive: each blanked byte
//! becomes a space, each line break stays.

/// Returns `source` with comments and literals replaced by spaces, byte for byte.
///
/// An unterminated comment or literal is blanked to the end: such a file does not compile anyway.
pub fn mask(source: &str) -> String {
    let mut scanner = Scanner { bytes: source.as_bytes(), at: 0, out: Vec::with_capacity(source.len()) };
    while scanner.at < scanner.bytes.len() {
        scanner.step();
    }
    String::from_utf8(scanner.out).expect("code is copied and the rest blanked in whole characters")
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
}

impl Scanner<'_> {
    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"//") {
            self.blank(position(rest, b'\n'));
        } else if rest.starts_with(b"/*") {
            self.blank(block_comment(rest));
        } else if let Some(length) = self.raw_string(rest) {
            self.blank(length);
        } else if rest[0] == b'"' {
            self.blank(quoted(rest, b'"'));
        } else if rest[0] == b'\'' {
            self.blank_char_or_keep_lifetime(rest);
        } else {
            self.out.push(rest[0]);
            self.at += 1;
        }
    }

    fn blank(&mut self, length: usize) {
        for &byte in &self.bytes[self.at..self.at + length] {
            self.out.push(if byte == b'\n' { b'\n' } else { b' ' });
        }
        self.at += length;
    }

    /// Length of a raw string that starts here. The prefix must be a token of its own: `for"x"` is not a raw string.
    fn raw_string(&self, rest: &[u8]) -> Option<usize> {
        if self.at > 0 && is_word(self.bytes[self.at - 1]) {
            return None;
        }
        let prefix = if rest.starts_with(b"br") || rest.starts_with(b"cr") { 2 } else { usize::from(rest[0] == b'r') };
        let hashes = rest[prefix..].iter().take_while(|&&byte| byte == b'#').count();
        if prefix == 0 || rest.get(prefix + hashes) != Some(&b'"') {
            return None; // An identifier, or a raw identifier such as `r#type`.
        }
        let open = prefix + hashes + 1;
        let end = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
        let body = rest[open..].windows(end.len()).position(|window| window == end);
        Some(body.map_or(rest.len(), |length| open + length + end.len()))
    }

    /// `'x'` and `'\n'` are literals; `'a` in `<'a>` and `'outer:` is a lifetime or a label and stays.
    fn blank_char_or_keep_lifetime(&mut self, rest: &[u8]) {
        if rest.get(1) == Some(&b'\\') {
            return self.blank(quoted(rest, b'\''));
        }
        let width = rest.get(1).map_or(0, |&first| char_width(first));
        if rest.get(1 + width) == Some(&b'\'') {
            self.blank(width + 2);
        } else {
            self.out.push(b'\'');
            self.at += 1;
        }
    }
}

/// Whether `byte` can be part of an identifier.
pub(crate) fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn position(bytes: &[u8], wanted: u8) -> usize {
    bytes.iter().position(|&byte| byte == wanted).unwrap_or(bytes.len())
}

/// Length of a block comment; they nest.
fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Length of a literal that ends at the next unescaped `quote`.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Bytes of the character that begins with `first`.
fn char_width(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of `source`, runs of blanks shown as one.
    fn left_of(source: &str) -> String {
        let masked = mask(source);
        assert_eq!(masked.len(), source.len(), "offsets survive");
        assert_eq!(masked.matches('\n').count(), source.matches('\n').count(), "lines survive");
        masked.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_vanish_nested_ones_included() {
        assert_eq!(left_of("a // fn b {\nc /* { /* } */ { */ d"), "a c d");
        assert_eq!(left_of("a /*/ b */ c"), "a c");
        assert_eq!(left_of("//! Größe {\nfn x() {}"), "fn x() {}");
    }

    #[test]
    fn strings_vanish_escapes_and_line_breaks_included() {
        assert_eq!(left_of(r#"f("{ \" } // \\", "x")"#), "f( , )");
        assert_eq!(left_of("f(\"one\n{ two\")"), "f( )");
        assert_eq!(left_of(r#"b"{" c"{" "ü{""#), "b c");
    }

    #[test]
    fn raw_strings_end_only_at_their_own_number_of_hashes() {
        assert_eq!(left_of(r####"a r#"{ "quoted" \"# b"####), "a b");
        assert_eq!(left_of(r####"a r"\" b br##"{ "# "## c"####), "a b c");
        assert_eq!(left_of("r#type + for_r"), "r#type + for_r");
    }

    #[test]
    fn a_prefix_inside_a_word_starts_no_raw_string() {
        assert_eq!(left_of(r#"attr"{" x"#), "attr x");
    }

    #[test]
    fn characters_vanish_and_lifetimes_stay() {
        assert_eq!(left_of(r"['{', '\'', '\\', '\u{7d}', 'é', '→', b'}']"), "[ , , , , , , b ]");
        assert_eq!(
            left_of("fn f<'a, 'b>(x: &'a str) { 'outer: loop {} }"),
            "fn f<'a, 'b>(x: &'a str) { 'outer: loop {} }"
        );
        assert_eq!(left_of(r#"('"', "'", '"')"#), "( , , )");
    }

    #[test]
    fn an_unterminated_literal_blanks_the_rest() {
        assert_eq!(left_of("a \"b { c"), "a");
        assert_eq!(left_of("a /* b"), "a");
        assert_eq!(left_of("a r#\"b\" c"), "a");
        assert_eq!(left_of("a \"\\"), "a");
        assert_eq!(left_of("a '"), "a '");
    }
}
