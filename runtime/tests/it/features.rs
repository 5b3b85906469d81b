//! docs/reference/features.md and docs/reference/generators.md say which test shows what; this is what holds them to that.

use std::path::Path;

use crate::tables::{assert_is_test, names, rows};

#[test]
fn the_table_of_features_names_tests() {
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
fn the_table_of_generators_names_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/reference/generators.md")).unwrap();
    let (page, _) = page.split_once(IN_EXAMPLES).unwrap();
    let rows = rows(page);
    for cells in &rows {
        assert_eq!(cells.len(), 3, "Go's, ours and the tests: {cells:?}");
        // What there is none of has no test, but a reason.
        let is_missing = cells[1].starts_with("none:");
        assert_eq!(is_missing, names(cells[2]).is_empty(), "{cells:?}");
        names(cells[2]).into_iter().for_each(|name| assert_is_test(&root, name));
    }
    assert!(rows.len() > 90, "{} rows", rows.len());
}
