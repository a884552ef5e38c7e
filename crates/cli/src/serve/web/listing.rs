//! The page of a folder, and names in paths (RFC 3986 §2.1).

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// Returns the bytes that a path stands for; `None` for what is no path.
pub fn decode(path: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        bytes.push(match byte {
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok().filter(|digits| !digits.starts_with('+'))?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            byte => byte,
        });
    }
    (path.starts_with('/') && !bytes.contains(&0)).then_some(bytes)
}

/// Writes a name so that [`decode`] reads it.
fn encode(name: &[u8]) -> String {
    let mut text = String::new();
    for byte in name {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) {
            text.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The page of the folder with this path.
pub fn page(path: &[u8], names: &[OsString]) -> String {
    let title = escape(&String::from_utf8_lossy(path));
    let mut lines = String::new();
    for name in names {
        let (link, shown) = (encode(name.as_bytes()), escape(&name.to_string_lossy()));
        // A colon in a first segment would name a scheme.
        let _ = writeln!(lines, "<li><a href=\"./{link}\">{shown}</a></li>");
    }
    format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<h1>{title}</h1>\n<ul>\n{lines}</ul>\n")
}
