//! Bad input: testdata/diagnostics/<case> is a crate, and the snapshot beside it has the output for the user.
//! The same for testdata/warnings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::diag::{self, MessageFormat};
use kubesmith::lints::{LINTS, LintConfig};
use kubesmith::pipeline::Generated;
use kubesmith_core::diag::{CODES, Code};

use crate::support;

/// Crates of a folder of testdata, with the place of their snapshots.
fn cases(folder: &str) -> (Vec<PathBuf>, insta::Settings) {
    // Relative, so that snapshots do not contain folders of a machine; cargo runs tests in the package's
    // folder.
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
    let text =
        diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Human, diag::Style::Plain);
    let text = text.replace(&format!("../testdata/{folder}/"), "");
    // Cargo's output depends on its version and on the source of packages.
    let lines = text.lines().map(|line| match line.split_once("note: cargo: ") {
        Some((before, _)) => format!("{before}note: cargo: ...\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

fn name(case: &Path) -> String {
    case.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn bad_input_is_explained() {
    let (cases, settings) = cases("diagnostics");
    assert!(cases.len() >= 120, "{} cases", cases.len());
    let mut codes: BTreeSet<Code> = BTreeSet::new();
    settings.bind(|| {
        for case in cases {
            let generated = support::generate(std::slice::from_ref(&case));
            assert!(diag::has_errors(&generated.diagnostics), "{} has no error", name(&case));
            assert!(generated.targets.is_empty(), "{} has output", name(&case));
            codes.extend(generated.diagnostics.iter().map(|diagnostic| diagnostic.code));
            insta::assert_snapshot!(name(&case), shown(&generated, "diagnostics"));
        }
    });
    let warns = |code: &Code| LINTS.iter().any(|(warning, _)| warning == code);
    let elsewhere = |code: &Code| OTHER_CODES.iter().any(|(other, _)| other == code);
    let known = CODES.iter().map(|info| info.code);
    let silent: Vec<Code> = known.filter(|c| !codes.contains(c) && !warns(c) && !elsewhere(c)).collect();
    assert!(silent.is_empty(), "without a case: {silent:?}");
}

/// Codes that no input crate alone can cause, with the test that shows them.
const OTHER_CODES: &[(Code, &str)] = &[
    (Code::INPUT_NOT_FOUND, "cli::missing_input_is_an_error"),
    (Code::UNKNOWN_BUILT_IN, "builtin::unknown_built_in_kinds_are_errors_with_help"),
    (Code::BUILT_IN_TWICE, "builtin::unknown_built_in_kinds_are_errors_with_help"),
    (Code::UNKNOWN_FEATURE, "features::unknown_feature_is_an_error"),
    (Code::UNKNOWN_KIND, "selection::entry_without_a_kind_is_an_error"),
    (Code::EVALUATION, "evaluate::kind_that_cannot_be_evaluated_is_an_error"),
    (Code::EVALUATED_ALONE, "evaluate::kind_that_cannot_be_evaluated_is_an_error"),
    (Code::API_RULE, "api_rules"),
    (Code::FOREIGN_FILE, "cli::run_fails_when_a_foreign_file_is_in_the_way"),
    (Code::CANNOT_WRITE, "cli::output_folder_that_is_not_writable_is_an_error"),
    (Code::NO_MANIFEST_FOLDER, "manifests::rules_without_an_output_folder_get_a_warning"),
    (Code::INVALID_YAML, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::TEMPLATE, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::NO_DEFINITION, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::UNKNOWN_DEFINITION, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::REFUSED_SCHEMA, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::DEFINED_TWICE, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::NOT_GENERATED, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::REFUSED_DEFINITION, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::NOT_THE_SAME, "import, verify.rs: first_difference_has_path_and_values"),
    (Code::CONVERTED, "import::v1beta1_definition_is_converted"),
    (Code::LEFT_OUT, "import::invalid_definitions_are_reported_and_valid_ones_imported"),
    (Code::REPEATED_MEMBER, "import_text::duplicate_members_get_a_warning"),
    (Code::GO_SYNTAX, "go_input::unusable_go_is_an_error_with_its_location"),
    (Code::GO_PACKAGE, "go_input::unusable_go_is_an_error_with_its_location"),
    (Code::GO_TAG, "go_input::unusable_go_is_an_error_with_its_location"),
    (Code::GO_CLIENT, "go_input::client_of_go_types_is_refused"),
    (Code::GO_OPTIONS, "go_input::controller_gen_options_of_a_project_are_used_unless_configured"),
    (Code::GO_RENAMED, "go_import::types_of_go_are_renamed_when_rust_has_their_names"),
];

/// testdata/warnings: the text of every warning. A warning does not stop a run.
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
    // The pipeline does not read existing files: `diff::committed` tests this code.
    codes.insert(Code::BREAKS_COMMITTED);
    let silent: Vec<_> = LINTS.iter().map(|(code, _)| code).filter(|code| !codes.contains(code)).collect();
    assert!(silent.is_empty(), "without a case: {silent:?}");
}
