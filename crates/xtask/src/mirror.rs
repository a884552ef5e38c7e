//! Updates a copy of a directory file by file: unchanged files keep their modification time, so that a build of the copy rebuilds
//! only what depends on the changed ones.

use crate::runner::Failure;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every file below `root`, as a path relative to it with `/` separators, in order. Skips build directories (which cargo marks
/// with a tag) and git's own.
pub fn files(root: &Path) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    walk(root, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(root: &Path, below: &str, found: &mut Vec<String>) -> Result<(), Failure> {
    let directory = root.join(below);
    for entry in fs::read_dir(&directory).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(at(&directory))? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if !entry.path().is_dir() {
            found.push(path);
        } else if name != ".git" && name != "target" && !entry.path().join("CACHEDIR.TAG").exists() {
            walk(root, &path, found)?;
        }
    }
    Ok(())
}

/// Makes `copy` consist of what `keep` returns for each file of `from`: new content, or nothing to drop the file.
pub fn update(
    from: &Path,
    copy: &Path,
    mut keep: impl FnMut(&str, Vec<u8>) -> Result<Option<Vec<u8>>, Failure>,
) -> Result<(), Failure> {
    fs::create_dir_all(copy).map_err(at(copy))?;
    let mut gone: BTreeSet<String> = files(copy)?.into_iter().collect();
    for path in files(from)? {
        let source = from.join(&path);
        let Some(content) = keep(&path, fs::read(&source).map_err(at(&source))?)? else { continue };
        gone.remove(&path);
        let place = copy.join(&path);
        if fs::read(&place).ok().as_ref() != Some(&content) {
            let directory = place.parent().unwrap_or(copy);
            fs::create_dir_all(directory).and_then(|()| fs::write(&place, &content)).map_err(at(&place))?;
        }
    }
    for path in gone {
        let place = copy.join(path);
        fs::remove_file(&place).map_err(at(&place))?;
        // Cargo treats an empty folder below `crates/` as a package without a manifest.
        let folders = place.ancestors().skip(1).take_while(|folder| *folder != copy);
        let _ = folders.map(fs::remove_dir).take_while(Result::is_ok).count();
    }
    Ok(())
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_the_same_is_not_written_again_and_what_is_gone_goes() {
        let root = std::env::temp_dir().join(format!("longhaul-mirror-{}", std::process::id()));
        let (from, copy) = (root.join("from"), root.join("copy"));
        fs::create_dir_all(from.join("d")).unwrap();
        for (path, text) in [("a", "1"), ("d/b", "2"), ("d/c", "3")] {
            fs::write(from.join(path), text).unwrap();
        }
        update(&from, &copy, |_, content| Ok(Some(content))).unwrap();
        assert_eq!(files(&copy).unwrap(), ["a", "d/b", "d/c"]);
        let written = |path: &str| fs::metadata(copy.join(path)).unwrap().modified().unwrap();
        let before = (written("a"), written("d/b"));
        std::thread::sleep(std::time::Duration::from_millis(20));
        let changed = |path: &str, content| match path {
            "a" => Ok(Some(content)),
            "d/b" => Ok(Some(b"4".to_vec())),
            _ => Ok(None),
        };
        update(&from, &copy, changed).unwrap();
        assert_eq!(files(&copy).unwrap(), ["a", "d/b"]);
        assert_eq!(written("a"), before.0);
        assert!(written("d/b") > before.1);
        update(&from, &copy, |path, content| Ok((path == "a").then_some(content))).unwrap();
        assert!(!copy.join("d").exists(), "an empty folder goes, too");
        fs::remove_dir_all(root).unwrap();
    }
}
