//! docs/reference/attributes.md is what the table says.

use std::fs;
use std::path::Path;

use kubesmith_core::grammar::attributes_markdown;

#[test]
fn the_documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/attributes.md");
    let wanted = attributes_markdown();
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/attributes.md is out of date: KUBESMITH_UPDATE=1 cargo test -p kubesmith-core"
    );
}
