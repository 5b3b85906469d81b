//! Adds lines to files, unless they exist.

/// The text with the line added before the marker's; `None` if there is no marker.
pub(super) fn with(text: &str, marker: &str, line: &str) -> Option<String> {
    let is_marker = |found: &&str| {
        let found = found.trim_start();
        let comment = found.strip_prefix("//").or_else(|| found.strip_prefix('#'));
        comment.is_some_and(|comment| comment.trim() == marker)
    };
    let found = text.lines().find(is_marker)?;
    let indent = &found[..found.len() - found.trim_start().len()];
    let mut out = String::with_capacity(text.len() + line.len() + 8);
    for old in text.lines() {
        if is_marker(&old) {
            for line in line.lines() {
                out.push_str(&format!("{indent}{line}\n"));
            }
        }
        out.push_str(old);
        out.push('\n');
    }
    Some(out)
}

/// Whether the line exists: unchanged, or broken over several lines as by rustfmt.
pub(super) fn has(text: &str, line: &str) -> bool {
    let wanted = bare(line);
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).any(|first| {
        let mut joined = String::new();
        for line in &lines[first..] {
            joined.push_str(line);
            let found = bare(&joined);
            if found == wanted {
                return true;
            }
            if !wanted.starts_with(&found) {
                return false;
            }
        }
        false
    })
}

/// The text without formatting: white space, and trailing commas.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        if matches!(c, ')' | ']' | '}') && out.ends_with(',') {
            out.pop();
        }
        out.push(c);
    }
    if out.ends_with(',') {
        out.pop();
    }
    out
}

/// Whether a manifest has the key, in a line or as a table.
pub(super) fn has_key(text: &str, key: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let is_key = line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', '.']));
        let is_table = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).is_some_and(|table| {
            table.strip_suffix(key).is_some_and(|before| before.ends_with("dependencies."))
        });
        is_key || is_table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_inserted_before_the_marker() {
        let text = "a\n    // +kubesmith:scaffold:x\nb\n";
        let once = with(text, "+kubesmith:scaffold:x", "new();").unwrap();
        assert_eq!(once, "a\n    new();\n    // +kubesmith:scaffold:x\nb\n");
        let toml = with("[\n  # +kubesmith:scaffold:m\n]\n", "+kubesmith:scaffold:m", "\"c\",").unwrap();
        assert_eq!(toml, "[\n  \"c\",\n  # +kubesmith:scaffold:m\n]\n");
        assert_eq!(with(text, "+kubesmith:scaffold:xy", "new();"), None);
    }

    #[test]
    fn existing_line_is_found_in_any_line_breaking() {
        let list = "pub use a::{A, ASpec};";
        for there in [
            "pub use a::{A, ASpec};",
            "x\n    pub use a::{A, ASpec};",
            "pub use a::{\n    A, ASpec,\n};\ny",
            "pub use a::{\n    A,\n    ASpec,\n};",
        ] {
            assert!(has(there, list), "{there}");
        }
        for other in [
            "// pub use a::{A, ASpec};",
            "pub use a::{A, ASpec}; x",
            "pub use a::{A, ASpec",
            "pub use a::{A};",
        ] {
            assert!(!has(other, list), "{other}");
        }
        assert!(has("members = [\n    \"client\"\n]", "\"client\","));
        assert!(has("    b::add(\n        &mut manager,\n    )?;", "b::add(&mut manager)?;"));
        assert!(!has("pub mod tsi_b;", "pub mod tsi;") && !has("", "pub mod tsi;"));
    }

    #[test]
    fn existing_dependency_is_found_in_any_notation() {
        for there in [
            "a-client = { path = \"client\", features = [\"fake\"] }",
            "a-client=\"1\"",
            "a-client.workspace = true",
            "[workspace.dependencies.a-client]",
            "[dependencies.a-client]",
        ] {
            assert!(has_key(there, "a-client"), "{there}");
        }
        for other in ["aa-client = \"1\"", "a-client-b = \"1\"", "# a-client = \"1\"", "[features.a-client]"]
        {
            assert!(!has_key(other, "a-client"), "{other}");
        }
    }
}
