//! Reads files whose comments start generated files.

use std::fs;
use std::path::Path;

use super::UsageError;

/// The header of Rust files.
pub(super) fn rust(path: &Path, year: Option<&str>) -> Result<String, UsageError> {
    let text = read(path)?;
    let only_comments =
        syn::parse_file(&text).is_ok_and(|file| file.items.is_empty() && file.attrs.is_empty());
    if !only_comments {
        return Err(UsageError(format!(
            "{}: a header may hold nothing but `//` and `/* */` comments",
            path.display()
        )));
    }
    with_year(&text, path, year)
}

/// The header of YAML files; it ends with a line break.
pub(super) fn yaml(path: &Path, year: Option<&str>) -> Result<String, UsageError> {
    let text = read(path)?;
    let mut lines = text.lines().map(str::trim_start);
    if !lines.all(|line| line.is_empty() || line.starts_with('#')) {
        return Err(UsageError(format!(
            "{}: a header of YAML files may hold nothing but `#` comments",
            path.display()
        )));
    }
    let mut text = with_year(&text, path, year)?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn read(path: &Path) -> Result<String, UsageError> {
    fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read the header file {}: {error}", path.display())))
}

/// Replaces ` YEAR` by the year, as in Go's boilerplate files.
fn with_year(text: &str, path: &Path, year: Option<&str>) -> Result<String, UsageError> {
    match year {
        Some(year) => Ok(text.replace(" YEAR", &format!(" {year}"))),
        None if text.contains(" YEAR") => {
            Err(UsageError(format!("{} contains YEAR: say which with --year", path.display())))
        }
        None => Ok(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_must_be_comments_and_its_year_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("header.txt");
        fs::write(&path, "// Copyright YEAR The authors.\n").unwrap();
        assert_eq!(rust(&path, Some("2026")).unwrap(), "// Copyright 2026 The authors.\n");
        assert!(rust(&path, None).is_err());
        assert!(yaml(&path, Some("2026")).unwrap_err().0.contains("`#` comments"));
        fs::write(&path, "fn main() {}\n").unwrap();
        assert!(rust(&path, None).unwrap_err().0.contains("comment"));
        fs::write(&path, "# Copyright YEAR The authors.").unwrap();
        assert_eq!(yaml(&path, Some("2026")).unwrap(), "# Copyright 2026 The authors.\n");
        assert!(yaml(&path, None).unwrap_err().0.contains("YEAR"));
        fs::write(&path, "# fine\nkind: Role\n").unwrap();
        assert!(yaml(&path, None).is_err());
    }
}
