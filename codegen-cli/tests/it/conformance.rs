//! Twins of controller-gen's recorded cases: testdata/conformance/<case> holds Rust types and what
//! controller-gen made of the same types in Go, `expected.yaml` or, where it refuses them, `expected.txt`.
//! Our CRDs equal its CRDs byte for byte, except for the annotation with the generator's version, and we
//! refuse the same types.
//!
//! docs/reference/differences.md lists the differences with their reasons. `difference.snap` has the
//! difference of the CRDs, and `refusal.snap` our errors about types that we refuse.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::config::{Generator, Overrides};
use kubesmith::diag::{self, MessageFormat};

use crate::support;

/// The options that a case was recorded with.
pub(crate) fn options(case: &str) -> Overrides {
    let max_desc_len = match case {
        "max-desc-len-0" | "plurals-kube-style" | "plurals-odd" | "pod-template" => Some(0),
        "max-desc-len-60" => Some(60),
        "volume-claim-template" => Some(80),
        _ => None,
    };
    Overrides {
        max_desc_len,
        allow_dangerous_types: case.starts_with("float-"),
        generate_embedded_object_meta: case == "volume-claim-template",
        preserve_unknown_fields: (case == "preserve-unknown-compat").then_some(false),
        ..Overrides::default()
    }
}

/// Documents by the name of the CRD, without the generators' annotations.
pub(crate) fn documents(text: &str) -> BTreeMap<String, String> {
    let is_version = |line: &&str| {
        line.starts_with("    controller-gen.kubebuilder.io/version:")
            || line.starts_with("    kubesmith.dev/version:")
    };
    let mut out = BTreeMap::new();
    for document in format!("\n{text}").split("\n---\n").map(str::trim_end) {
        let kept: Vec<&str> = document.lines().filter(|line| !is_version(line)).collect();
        let is_crd = kept.contains(&"kind: CustomResourceDefinition");
        if let Some(name) = kept.iter().find_map(|line| line.strip_prefix("  name: ")).filter(|_| is_crd) {
            out.insert(name.to_string(), kept.join("\n"));
        }
    }
    out
}

/// Lines that differ, by CRD; empty if all are equal.
pub(crate) fn difference(expected: &BTreeMap<String, String>, actual: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&String> = expected.keys().chain(actual.keys()).collect();
    let text = |documents: &BTreeMap<String, String>, name: &String| {
        documents.get(name).map(|text| format!("{text}\n")).unwrap_or_default()
    };
    let mut out = String::new();
    for name in names {
        let (theirs, ours) = (text(expected, name), text(actual, name));
        let diff = similar::TextDiff::from_lines(&theirs, &ours);
        let diff = diff.unified_diff().context_radius(2).header("controller-gen", "kubesmith").to_string();
        if !diff.is_empty() {
            out.push_str(&format!("{name}\n{diff}"));
        }
    }
    out
}

/// The result of a case.
enum Outcome {
    Equal,
    Differs(String),
    Refused(String),
}

fn run(case: &str, folder: &Path) -> Outcome {
    let generated = support::run(Overrides {
        input: vec![folder.to_path_buf()],
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        ..options(case)
    });
    if diag::has_errors(&generated.diagnostics) {
        let text = diag::render(
            &generated.diagnostics,
            &generated.sources,
            MessageFormat::Human,
            diag::Style::Plain,
        );
        return Outcome::Refused(text.replace("../testdata/conformance/", ""));
    }
    let Ok(expected) = fs::read_to_string(folder.join("expected.yaml")) else { return Outcome::Equal };
    let expected = documents(&expected);
    assert!(!expected.is_empty(), "{case}: no CRD in expected.yaml");
    let written: String = support::crd_texts(&generated).into_values().collect();
    let actual = documents(&written);
    // As data: the bytes could be equal and still not be YAML.
    for text in actual.values() {
        let data: serde_yaml::Value = serde_yaml::from_str(text).unwrap();
        assert!(data.get("spec").is_some(), "{case}");
    }
    match difference(&expected, &actual) {
        text if text.is_empty() => Outcome::Equal,
        text => Outcome::Differs(text),
    }
}

/// The cases that docs/reference/differences.md lists, in the first column of its tables.
fn listed() -> BTreeSet<String> {
    let text = fs::read_to_string(support::testdata().join("../docs/reference/differences.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.map(|(case, _)| case.to_string()).collect()
}

fn record(folder: &Path, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn cases() -> Vec<(String, PathBuf)> {
    // Relative, so that snapshots do not contain folders of a machine; cargo runs tests in the package's
    // folder.
    let mut cases: Vec<PathBuf> = fs::read_dir("../testdata/conformance")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // Cases with options in a file have other output than CRDs.
        .filter(|path| path.join("Cargo.toml").is_file() && !path.join("kubesmith.toml").is_file())
        .collect();
    cases.sort();
    cases.into_iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
}

#[test]
fn crds_equal_controller_gens() {
    let cases = cases();
    assert!(cases.len() >= 100, "{} cases", cases.len());
    let listed = listed();
    let (mut wrong, mut records) = (Vec::new(), Vec::new());
    for (case, folder) in &cases {
        let refused_by_both = folder.join("expected.txt").is_file();
        let (differs, name, text) = match run(case, folder) {
            Outcome::Equal => (refused_by_both, "accepted", String::new()),
            Outcome::Differs(text) => (true, "difference", text),
            Outcome::Refused(text) => (!refused_by_both, "refusal", text),
        };
        match (differs, listed.contains(case)) {
            (true, false) => wrong.push(format!("{case} is not in docs/reference/differences.md:\n{text}")),
            (false, true) => {
                wrong.push(format!("{case} is in docs/reference/differences.md, but does not differ"));
            }
            _ if text.is_empty() => {}
            _ => records.push((folder, name, text)),
        }
    }
    let gone = listed.iter().filter(|listed| !cases.iter().any(|(case, _)| case == *listed));
    wrong.extend(gone.map(|case| format!("{case} of docs/reference/differences.md does not exist")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (folder, name, text) in records {
        record(folder, name, &text);
    }
}
