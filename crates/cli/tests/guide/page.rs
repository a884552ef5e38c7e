//! The contents of a guide page: ```` ```console ```` blocks, whose commands begin with `$ ` or, for root, `# `, and end with a
//! line without a final `\`, followed by their output. And files: ```` ```toml NAME ````. A comment
//! `<!-- small: OLD → NEW; OLD → NEW -->` above a block says what is replaced in its commands so that it takes a moment.

/// A block of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'p> {
    /// A file that later commands read.
    File { name: &'p str, text: String },
    /// Commands, with the words behind `console`, and what makes them small.
    Console { words: Vec<&'p str>, smaller: Vec<(&'p str, &'p str)>, commands: Vec<Command<'p>> },
}

/// A command of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Command<'p> {
    /// Line of the page, from 1.
    pub number: usize,
    /// The typed command, in one line.
    pub line: String,
    /// The part of the output that the page shows.
    pub shown: Vec<&'p str>,
}

/// The blocks of a page that are files or commands, in their order.
pub fn parts<'p>(page: &'p str) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    let mut lines = (1..).zip(page.lines());
    let mut smaller = Vec::new();
    while let Some((number, line)) = lines.next() {
        if let Some(pairs) = line.strip_prefix("<!-- small: ").and_then(|rest| rest.strip_suffix(" -->")) {
            let pair =
                |pair: &'p str| pair.split_once(" → ").unwrap_or_else(|| panic!("line {number}: `{pair}` has no →"));
            smaller = pairs.split("; ").map(pair).collect();
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        let mut words = info.split_whitespace();
        match (words.next(), words.collect::<Vec<_>>()) {
            (Some("console"), words) => {
                parts.push(Part::Console { words, smaller: std::mem::take(&mut smaller), commands: commands(&block) });
            }
            (Some(_), words) if words.len() == 1 => {
                let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
                parts.push(Part::File { name: words[0], text });
            }
            _ => {}
        }
    }
    parts
}

fn commands<'p>(block: &[(usize, &'p str)]) -> Vec<Command<'p>> {
    let mut commands: Vec<Command<'p>> = Vec::new();
    let mut goes_on = false;
    for &(number, line) in block {
        let typed = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# "));
        if let Some(typed) = typed.filter(|_| !goes_on) {
            commands.push(Command { number, line: typed.to_owned(), shown: Vec::new() });
        } else {
            let last = commands.last_mut().unwrap_or_else(|| panic!("line {number}: a command begins with `$ `"));
            if goes_on {
                last.line.push_str(line.trim_start());
            } else {
                last.shown.push(line.trim_end());
                continue;
            }
        }
        let last = commands.last_mut().expect("there is one");
        goes_on = last.line.ends_with('\\');
        if goes_on {
            last.line.pop();
        }
    }
    commands
}

#[test]
fn a_page_s_blocks_are_taken_apart() {
    let page = "text\n<!-- small: a → e; 1 → 2 -->\n```console root\n# a --b \\\n    c\nout\n$ d\n```\n```text\n$ no\n```\n```toml x.toml\na = 1\n```\n";
    let command = |number, line: &str, shown| Command { number, line: line.to_owned(), shown };
    let commands = vec![command(4, "a --b c", vec!["out"]), command(7, "d", vec![])];
    let file = Part::File { name: "x.toml", text: "a = 1\n".to_owned() };
    let smaller = vec![("a", "e"), ("1", "2")];
    assert_eq!(parts(page), [Part::Console { words: vec!["root"], smaller, commands }, file]);
}
