//! Generated pages of the book are up to date.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use kubesmith_core::diag::CODES;
use kubesmith_core::grammar::attributes_markdown;

/// Compares a page of the book with its text; `KUBESMITH_UPDATE=1` writes it.
fn assert_page(page: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{page} is out of date: KUBESMITH_UPDATE=1 cargo test -p kubesmith-core");
}

#[test]
fn page_of_attributes_is_up_to_date() {
    assert_page("docs/reference/attributes.md", &attributes_markdown());
}

#[test]
fn page_of_diagnostics_has_every_code() {
    assert_page("docs/reference/diagnostics.md", &diagnostics_markdown());
}

/// The hundreds of codes, as in the table of codes.
const PARTS: [(u16, &str); 11] = [
    (0, "Attributes and markers"),
    (1, "Root types"),
    (2, "Names"),
    (3, "Validation and schemas"),
    (4, "Loading and resolving"),
    (5, "Rules across items"),
    (6, "Configuration and output"),
    (7, "API conventions"),
    (8, "Roles and webhooks"),
    (9, "Imported definitions"),
    (10, "Go packages"),
];

fn diagnostics_markdown() -> String {
    let mut page = "<!-- Generated from codegen-core/src/diag/codes.rs: KUBESMITH_UPDATE=1 cargo test -p kubesmith-core -->\n\n\
                    # Diagnostics\n\nEvery error and warning of the command and the macros has a code. `kubesmith explain CODE` \
                    prints the text below.\nThe level of a warning is set in `[lints]` of kubesmith.toml, or by `--allow`, \
                    `--warn` and `--deny`.\n"
        .to_owned();
    for (hundred, title) in PARTS {
        write!(page, "\n## {title}\n").unwrap();
        for info in CODES.iter().filter(|info| info.code.number() / 100 == hundred) {
            // Text in angle brackets would be HTML.
            let help = info.help.replace('<', "&lt;");
            write!(page, "\n### {}: {}\n\n{help}\n", info.code, info.title).unwrap();
        }
    }
    page
}
