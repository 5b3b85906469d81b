//! Bad input: testdata/diagnostics/<case> is a crate, the snapshot beside it what the user sees. The same for
//! testdata/warnings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::diag::{self, MessageFormat};
use kubesmith::lints::{LINTS, LintConfig};
use kubesmith::pipeline::Generated;
use kubesmith_core::diag::Code;

use crate::support;

/// Crates of a folder of testdata, with the place of their snapshots.
fn cases(folder: &str) -> (Vec<PathBuf>, insta::Settings) {
    // Relative, so that snapshots name no machine's folders; cargo runs tests in the package's folder.
    let root = Path::new("../testdata").join(folder);
    let mut cases: Vec<_> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../../../testdata/{folder}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    (cases, settings)
}

fn shown(generated: &Generated, folder: &str) -> String {
    diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Human, false)
        .replace(&format!("../testdata/{folder}/"), "")
}

fn name(case: &Path) -> String {
    case.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn bad_input_is_explained() {
    let (cases, settings) = cases("diagnostics");
    assert!(cases.len() >= 70, "{} cases", cases.len());
    settings.bind(|| {
        for case in cases {
            let generated = support::generate(std::slice::from_ref(&case));
            assert!(!generated.diagnostics.is_empty(), "{} has no mistake", name(&case));
            let failed = diag::has_errors(&generated.diagnostics);
            assert_eq!(generated.targets.is_empty(), failed, "{}: output", name(&case));
            insta::assert_snapshot!(name(&case), shown(&generated, "diagnostics"));
        }
    });
}

/// testdata/warnings: what every warning says, and that it stops nothing.
#[test]
fn warnings_are_explained() {
    let (cases, settings) = cases("warnings");
    let mut codes: BTreeSet<Code> = BTreeSet::new();
    settings.bind(|| {
        for case in cases {
            let lints = LintConfig { warn: vec!["all".to_string()], ..LintConfig::default() };
            let generated = support::linted(case.clone(), lints);
            assert!(
                !diag::has_errors(&generated.diagnostics),
                "{}: {}",
                name(&case),
                support::short(&generated)
            );
            assert!(!generated.targets.is_empty(), "{} has no output", name(&case));
            codes.extend(generated.diagnostics.iter().map(|diagnostic| diagnostic.code));
            insta::assert_snapshot!(name(&case), shown(&generated, "warnings"));
            let denied = LintConfig { deny: vec!["all".to_string()], ..LintConfig::default() };
            assert!(
                support::linted(case.clone(), denied).targets.is_empty(),
                "{} is not denied",
                name(&case)
            );
            let allowed = LintConfig { allow: vec!["all".to_string()], ..LintConfig::default() };
            assert_eq!(support::linted(case, allowed).diagnostics, []);
        }
    });
    let silent: Vec<_> = LINTS.iter().map(|(code, _)| code).filter(|code| !codes.contains(code)).collect();
    assert!(silent.is_empty(), "without a case: {silent:?}");
}
