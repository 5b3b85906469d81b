//! Bad input: testdata/diagnostics/<case> is a crate, the snapshot beside it what the user sees.

use std::fs;
use std::path::Path;

use kubesmith::diag::{self, MessageFormat};

use crate::support;

#[test]
fn bad_input_is_explained() {
    // Relative, so that snapshots name no machine's folders; cargo runs tests in the package's folder.
    let root = Path::new("../testdata/diagnostics");
    let mut cases: Vec<_> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(cases.len() >= 30, "{} cases", cases.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../testdata/diagnostics");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for case in cases {
            let name = case.file_name().unwrap().to_string_lossy().into_owned();
            let generated = support::generate(&[case]);
            assert!(!generated.diagnostics.is_empty(), "{name} has no mistake");
            let failed = diag::has_errors(&generated.diagnostics);
            assert_eq!(generated.targets.is_empty(), failed, "{name}: output");
            let text = diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Human, false);
            insta::assert_snapshot!(name, text.replace("../testdata/diagnostics/", ""));
        }
    });
}
