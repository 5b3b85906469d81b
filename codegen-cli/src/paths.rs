//! Converts paths for display, and to absolute and relative ones.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A path for messages, `/`-separated, without a trailing slash.
pub(crate) fn display(path: &Path) -> String {
    let path: PathBuf = path.components().collect();
    let text = path.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").map(str::to_string).unwrap_or(text)
}

/// The nearest folder above that of a missing file which has a file of this name: `..`, `../..`.
pub(crate) fn above(file: &Path) -> Option<String> {
    let folder = absolute(file.parent().unwrap_or(Path::new("")));
    let depth = folder
        .ancestors()
        .skip(1)
        .position(|above| file.file_name().is_some_and(|name| above.join(name).is_file()))?;
    Some(vec![".."; depth + 1].join("/"))
}

/// The path without `.`, `..` and links, for its existing part.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut at = path.to_path_buf();
    loop {
        let existing = if at.as_os_str().is_empty() { Path::new(".") } else { at.as_path() };
        if let Ok(mut found) = fs::canonicalize(existing) {
            for name in missing.iter().rev() {
                match Path::new(name).components().next() {
                    Some(Component::ParentDir) => {
                        found.pop();
                    }
                    Some(Component::Normal(name)) => found.push(name),
                    _ => {}
                }
            }
            return found;
        }
        match at.components().next_back() {
            Some(last) => {
                missing.push(last.as_os_str().to_os_string());
                at.pop();
            }
            None => return path.to_path_buf(),
        }
    }
}

/// `to` relative to the folder `from`, `/`-separated.
pub(crate) fn relative(from: &Path, to: &Path) -> String {
    let (from, to) = (absolute(from), absolute(to));
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_string());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() { ".".to_string() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_cross_folders_that_do_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        assert_eq!(relative(&base.join("client/out"), &base.join("api")), "../../api");
        assert_eq!(relative(&base.join("api/client"), &base.join("api")), "..");
        assert_eq!(relative(base, base), ".");
        assert_eq!(relative(&base.join("a/../b"), &base.join("c")), "../c");
    }
}
