//! docs/features.md says which test shows a feature; this is what holds it to that.

use std::path::Path;

#[test]
fn the_table_of_features_names_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("../docs/features.md")).unwrap();
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| feature ");
    let mut rows = 0;
    for row in table.lines().filter(is_row) {
        rows += 1;
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 6, "a feature, four libraries and its tests: {row}");
        let named = cells[5].split('`').skip(1).step_by(2);
        assert_ne!(named.clone().count(), 0, "no test: {row}");
        for name in named {
            let (file, test) = name.split_once("::").unwrap_or_else(|| panic!("{name} is no test"));
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("no file {file}"));
            let lines: Vec<&str> = text.lines().collect();
            let place = lines.iter().position(|line| {
                line.trim_start().trim_start_matches("async ").starts_with(&format!("fn {test}("))
            });
            let place = place.unwrap_or_else(|| panic!("{file} has no test {test}"));
            // Its attributes and comments stand before it; proptest's begin with its macro.
            let before = &lines[place.saturating_sub(8)..place];
            let is_test = |line: &&str| line.contains("#[test]") || line.contains("#[tokio::test");
            assert!(before.iter().any(is_test) || text.contains("proptest! {"), "{file}: {test} is no test");
        }
    }
    assert!(rows > 70, "{rows} rows");
}
