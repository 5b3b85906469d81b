//! Twins of controller-gen's recorded cases: testdata/conformance/<case> holds Rust types and the CRDs
//! that controller-gen wrote for the same types in Go. Ours must equal them byte for byte, the
//! annotation with the generator's version apart.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support;

/// Options of the cases that were recorded with some.
fn options(case: &str) -> (Option<usize>, bool) {
    let max_desc_len = match case {
        "max-desc-len-0" | "plurals-kube-style" | "plurals-odd" => Some(0),
        "max-desc-len-60" => Some(60),
        _ => None,
    };
    (max_desc_len, case.starts_with("float-"))
}

/// Cases that controller-gen writes and an API server refuses; we refuse them first.
const REFUSED: &[(&str, &str)] = &[
    ("api-approved", "KS0209"),
    ("default-mismatch", "KS0306"),
    ("list-map-bad-key", "KS0508"),
    ("recursive-type", "KS0411"),
    ("schemaless-bare", "KS0520"),
    ("unique-items", "KS0520"),
    ("xvalidation-bad-expression", "KS0304"),
    ("xvalidation-message-cost", "KS0522"),
];

/// Documents by the name of the CRD, without the generators' annotations.
fn documents(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for document in format!("\n{text}").split("\n---\n").map(str::trim_end) {
        let kept: Vec<&str> = document
            .lines()
            .filter(|line| {
                !line.starts_with("    controller-gen.kubebuilder.io/version:")
                    && !line.starts_with("    kubesmith.dev/version:")
                    // The value is what leaving it out means; a flag of ours is there or not.
                    && !line.trim_start().starts_with("- optionalOldSelf: false")
            })
            .collect();
        if let Some(name) = kept.iter().find_map(|line| line.strip_prefix("  name: ")) {
            out.insert(
                name.to_string(),
                kept.join("\n").replace("                  rule: size(", "                - rule: size("),
            );
        }
    }
    out
}

#[track_caller]
fn check(case: &str, folder: &Path) {
    let (max_desc_len, floats) = options(case);
    let generated = support::crds(folder.to_path_buf(), max_desc_len, floats);
    if let Some((_, code)) = REFUSED.iter().find(|(name, _)| *name == case) {
        assert!(support::short(&generated).contains(code), "{case}: {}", support::short(&generated));
        return;
    }
    assert!(!kubesmith::diag::has_errors(&generated.diagnostics), "{case}: {}", support::short(&generated));
    let expected = documents(&fs::read_to_string(folder.join("expected.yaml")).unwrap());
    let written: String = support::crd_texts(&generated).into_values().collect();
    let actual = documents(&written);
    assert!(!expected.is_empty(), "{case}: no document in expected.yaml");
    assert_eq!(expected.keys().collect::<Vec<_>>(), actual.keys().collect::<Vec<_>>(), "{case}");
    for (name, text) in &expected {
        let diff = similar::TextDiff::from_lines(text, &actual[name]).unified_diff().to_string();
        assert!(diff.is_empty(), "{case}, {name}:\n{diff}");
        // As data: the bytes could be equal and still not be YAML.
        let data: serde_yaml::Value = serde_yaml::from_str(&actual[name]).unwrap();
        assert!(data.get("spec").is_some(), "{case}");
    }
}

#[test]
fn crds_equal_controller_gens() {
    let mut cases: Vec<_> = fs::read_dir(support::testdata().join("conformance"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    for folder in cases {
        check(&folder.file_name().unwrap().to_string_lossy(), &folder);
    }
}
