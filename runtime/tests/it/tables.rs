//! The tests that tables of the documentation name exist.

use std::path::Path;

/// The rows of a page's tables as cells, without headings.
pub(crate) fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = page.lines().collect();
    let is_heading = |at: usize| lines.get(at + 1).is_some_and(|next| next.starts_with("|--"));
    let rows = lines.iter().enumerate().filter(|(at, line)| line.starts_with("| ") && !is_heading(*at));
    rows.map(|(_, line)| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The names in code spans of a cell.
pub(crate) fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Fails unless `file.rs::test`, below a folder, is a test.
pub(crate) fn assert_is_test(root: &Path, name: &str) {
    let (file, test) = name.split_once("::").unwrap_or_else(|| panic!("{name} is no test"));
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("no file {file}"));
    let lines: Vec<&str> = text.lines().collect();
    let place = lines
        .iter()
        .position(|line| line.trim_start().trim_start_matches("async ").starts_with(&format!("fn {test}(")));
    let place = place.unwrap_or_else(|| panic!("{file} has no test {test}"));
    // Its attributes and comments stand before it; proptest's begin with its macro.
    let before = &lines[place.saturating_sub(8)..place];
    let is_test = |line: &&str| line.contains("#[test]") || line.contains("#[tokio::test");
    assert!(before.iter().any(is_test) || text.contains("proptest! {"), "{file}: {test} is no test");
}
