//! `docs/events.md`: the vocabulary, generated, with what others call it.

use crate::names::{NAMES, Task, qlog_field};
use crate::table::column_of;
use core::fmt::Write;
use trace::{EventInfo, Kind, VERSION, VOCABULARY};

/// The page.
pub fn page() -> String {
    let mut out = format!(
        "# Events\n\n\
         <!-- Generated from crates/trace/src/event.rs and crates/trace-io/src/names.rs. Do not edit: \
         UPDATE_DOCS=1 cargo test -p longhaul-trace-io -->\n\n\
         What traces speak of, version {VERSION}. Events that call a field the same share its column in `trace.parquet`; ranges have two, \
         `…_start` and `…_end`, and times end in `_ns`; where the column has another name than the field, it stands behind it. No column is a \
         reserved word of SQL. Every row has `at_ns`, `conn` and `event`, and \
         `row`, which counts them as they happened (`ORDER BY row`): a row group holds events of one kind. In qlog, times are \
         milliseconds. Windows' names are those of the provider Microsoft-Windows-TCPIP, with the number of the event.\n\n\
         | Event | qlog | Windows | Linux |\n|---|---|---|---|\n"
    );
    for names in NAMES {
        let mut tasks: Vec<String> = names.etw.iter().map(|task| format!("{} ({})", task.name, task.id)).collect();
        tasks.dedup();
        let _ = writeln!(
            out,
            "| [`{}`](#{}) | `tcp:{}` | {} | {} |",
            names.event,
            names.event.to_lowercase(),
            names.qlog,
            tasks.join(", "),
            names.linux
        );
    }
    for (info, names) in VOCABULARY.iter().zip(NAMES) {
        event(&mut out, info, names.etw);
    }
    out
}

/// One event.
fn event(out: &mut String, info: &EventInfo, etw: &[Task]) {
    let _ = write!(out, "\n## {}\n\n{}\n\n| Field | Holds | Meaning | qlog |", info.name, info.doc.trim());
    // Writing to a `String` cannot fail.
    etw.iter().for_each(|task| {
        let when = if task.when.is_empty() { String::new() } else { format!(", {}", task.when) };
        let _ = write!(out, " {} {}{when} |", task.name, task.id);
    });
    let _ = writeln!(out, "\n|---|---|---|---|{}", "---|".repeat(etw.len()));
    for field in info.fields {
        let optional = if field.optional { ", or nothing" } else { "" };
        let column = column_of(field.name);
        let column = if column == field.name { String::new() } else { format!(" (`{column}`)") };
        let _ = write!(
            out,
            "| `{}`{column} | {}{optional} | {} | `{}` |",
            field.name,
            kind(field.kind),
            field.doc.trim(),
            qlog_field(info.name, field.name)
        );
        for task in etw {
            let theirs = task.fields.iter().find(|(ours, _)| *ours == field.name).map_or("", |(_, theirs)| theirs);
            let _ = write!(out, " {theirs} |");
        }
        out.push('\n');
    }
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "number",
        Kind::Flag => "yes or no",
        Kind::Word => "word",
        Kind::Seq => "sequence number",
        Kind::Range => "range of sequence numbers",
        Kind::Span => "time span",
        Kind::Moment => "moment",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_docs_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md");
        let page = page();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &page).expect("docs can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == page,
            "docs/events.md is out of date; UPDATE_DOCS=1 cargo test -p longhaul-trace-io writes it"
        );
    }
}
