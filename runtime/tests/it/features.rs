//! Checks the tests that docs/reference/features.md and docs/reference/generators.md name.

use std::path::Path;

use crate::tables::{assert_is_test, names, rows};

#[test]
fn table_of_features_names_existing_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../docs/reference/features.md")).unwrap();
    let rows = rows(&page);
    for cells in &rows {
        assert_eq!(cells.len(), 6, "a feature, four libraries and its tests: {cells:?}");
        assert!(!names(cells[5]).is_empty(), "no test: {cells:?}");
        names(cells[5]).into_iter().for_each(|name| assert_is_test(root, name));
    }
    assert!(rows.len() > 70, "{} rows", rows.len());
}

/// The section of docs/reference/generators.md about examples.
const IN_EXAMPLES: &str = "\n## In the examples\n";

#[test]
fn each_generated_part_is_used_in_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/reference/generators.md")).unwrap();
    let (_, section) = page.split_once(IN_EXAMPLES).unwrap();
    let rows = rows(section);
    for cells in &rows {
        assert_eq!(cells.len(), 3, "a part, words and a file: {cells:?}");
        let [file] = names(cells[2])[..] else { panic!("one file: {cells:?}") };
        assert!(file.starts_with("examples/") && !file.contains("/client/"), "{file} is written by hand");
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("no file {file}"));
        assert!(!names(cells[1]).is_empty(), "no words: {cells:?}");
        for word in names(cells[1]) {
            assert!(text.contains(word), "{file} does not use {word}");
        }
    }
    assert!(rows.len() > 20, "{} rows", rows.len());
}

#[test]
fn table_of_generators_names_existing_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/reference/generators.md")).unwrap();
    let (page, _) = page.split_once(IN_EXAMPLES).unwrap();
    let rows = rows(page);
    for cells in &rows {
        assert_eq!(cells.len(), 3, "Go's, ours and the tests: {cells:?}");
        // A missing feature has a reason instead of a test.
        let is_missing = cells[1].starts_with("none:");
        assert_eq!(is_missing, names(cells[2]).is_empty(), "{cells:?}");
        names(cells[2]).into_iter().for_each(|name| assert_is_test(&root, name));
    }
    assert!(rows.len() > 90, "{} rows", rows.len());
}

/// The lines of a file or folder that declare public items.
fn public_items(path: &Path) -> usize {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).unwrap();
        return entries.map(|entry| public_items(&entry.unwrap().path())).sum();
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let declares = |line: &&str| {
        let Some(item) = line.trim_start().strip_prefix("pub ") else { return false };
        let mut words = item.split(' ').skip_while(|word| matches!(*word, "async" | "const" | "unsafe"));
        let is_constant = item.starts_with("const ") && !item.starts_with("const fn");
        is_constant
            || words.next().is_some_and(|word| {
                matches!(word, "fn" | "struct" | "enum" | "trait" | "type" | "static" | "mod")
            })
    };
    text.lines().filter(declares).count()
}

#[test]
fn public_items_stay_within_their_budget() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../docs/internals/runtime.md")).unwrap();
    let (_, section) = page.split_once("\n## Public items\n").unwrap();
    let rows = rows(section);
    for cells in &rows {
        let [module] = names(cells[0])[..] else { panic!("one module: {cells:?}") };
        let most: usize = cells[1].parse().unwrap();
        let source = root.join("src").join(module);
        let count = public_items(&source) + public_items(&source.with_extension("rs"));
        assert!(count > 0 && count <= most, "{module} has {count} public items, at most {most} are allowed");
    }
    assert!(rows.len() >= 20, "{} rows", rows.len());
}
