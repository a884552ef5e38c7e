//! Text beside numbers: paragraphs as wide as a terminal, and the replacement for a missing number.

/// The assumed width of a terminal.
pub const WIDTH: usize = 100;
/// Replaces a number that does not exist.
pub const NOTHING: &str = "–";

/// Wraps words before the last column; the first line begins with `first`, the others with as many spaces.
pub fn paragraph(first: &str, sentence: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let (mut text, mut line) = (String::new(), first.to_owned());
    for word in sentence.split_whitespace() {
        if line.chars().count() + word.chars().count() > WIDTH && line.trim() != first.trim() {
            text.push_str(line.trim_end());
            text.push('\n');
            line.clone_from(&indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    text + line.trim_end() + "\n"
}
