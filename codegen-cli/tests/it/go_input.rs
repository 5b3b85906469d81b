//! Go packages as inputs: testdata/conformance/<case>/go holds the Go types of controller-gen's recorded cases, and what is
//! written equals its output byte for byte, the generators' marks apart. Where controller-gen refuses them, so do we.

use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::diag;
use kubesmith::pipeline::{self, Generated};

use crate::{conformance, manifests, support};

/// Cases that controller-gen writes and an API server refuses; we refuse them first, as docs/reference/differences.md says.
const REFUSED: [&str; 9] = [
    "api-approved",
    "default-mismatch",
    "list-map-bad-key",
    "rbac-no-group",
    "recursive-type",
    "schemaless-bare",
    "unique-items",
    "xvalidation-bad-expression",
    "xvalidation-message-cost",
];

/// The case that needs Kubernetes' modules: k8s-openapi does not have the description of `ClaimResourceStatus`.
const NEEDS_MODULES: &str = "volume-claim-template";

fn cases() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir("../testdata/conformance").unwrap();
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("go").is_dir()).collect();
    cases.sort();
    cases.into_iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
}

fn generate(case: &str, folder: &Path) -> Generated {
    let input = vec![folder.join("go")];
    let file = folder.join("kubesmith.toml");
    if file.is_file() {
        let overrides = Overrides { input, ..Overrides::default() };
        return pipeline::generate(&config::settings(Some(&file), overrides).unwrap()[0]);
    }
    support::run(Overrides {
        input,
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        ignore_unexported_fields: case == "ignore-unexported",
        ..conformance::options(case)
    })
}

/// What is wrong with a case.
fn fault(case: &str, folder: &Path) -> Option<String> {
    let generated = generate(case, folder);
    let is_refused = diag::has_errors(&generated.diagnostics);
    let must_be = folder.join("expected.txt").is_file() || REFUSED.contains(&case);
    if is_refused || must_be {
        return (is_refused != must_be).then(|| support::short(&generated));
    }
    let expected = fs::read_to_string(folder.join("expected.yaml")).unwrap();
    if folder.join("kubesmith.toml").is_file() {
        let difference = manifests::difference(&expected, &generated);
        return (!difference.is_empty()).then_some(difference);
    }
    let written: String = support::crd_texts(&generated).into_values().collect();
    let difference =
        conformance::difference(&conformance::documents(&expected), &conformance::documents(&written));
    (!difference.is_empty()).then_some(difference)
}

#[test]
fn output_of_go_types_equals_controller_gens() {
    let cases = cases();
    assert_eq!(cases.len(), 130);
    assert!(fault(NEEDS_MODULES, Path::new("../testdata/conformance/volume-claim-template")).is_some());
    let cases = cases.iter().filter(|(case, _)| case != NEEDS_MODULES);
    let faults = cases.filter_map(|(case, folder)| Some(format!("{case}:\n{}", fault(case, folder)?)));
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{} cases:\n{}", faults.len(), faults.join("\n\n"));
}

const HEADER: &str = r#"// +groupName=example.com
package v1

import (
    metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
    other "example.com/other/api/v1"
)

type Kind struct {
    metav1.TypeMeta   `json:",inline"`
    metav1.ObjectMeta `json:"metadata,omitempty"`
    Spec Spec `json:"spec"`
}

"#;

/// A module with one file.
fn module(types: &str) -> support::Crate {
    let folder = support::Crate { dir: tempfile::tempdir().unwrap() };
    folder.write("go.mod", "module example.com/op\n\nrequire example.com/other v1.2.3\n");
    folder.write("api/v1/types.go", format!("{HEADER}{types}"));
    folder
}

fn crds(folder: &support::Crate) -> Generated {
    support::run(Overrides {
        input: vec![folder.path("api")],
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        ..Overrides::default()
    })
}

#[test]
fn go_that_cannot_be_used_is_explained() {
    for (fields, expected) in [
        ("A string", "types.go:16:1: error[KS1003]: the field `A` of `Spec` has no `json` tag"),
        (
            "A other.B `json:\"a\"`",
            "types.go:16:3: error[KS1002]: `other.B` is not known, as the package `example.com/other/api/v1` could not be found",
        ),
        ("A [ `json:\"a\"`", "error[KS1001]: this is not Go that can be read"),
        (
            "A chan int `json:\"a\"`",
            "types.go:16:3: error[KS0409]: a channel has no form in JSON that a schema can describe",
        ),
        ("A B `json:\"a\"`", "types.go:16:3: error[KS0407]: cannot find the type `B`"),
        ("// +kubebuilder:validation:MinLength=a\nA string `json:\"a\"`", "types.go:16:4: error[KS0004]"),
    ] {
        let generated = crds(&module(&format!("type Spec struct {{\n{fields}\n}}\n")));
        let shown = support::short(&generated);
        assert!(shown.contains(expected), "{fields}\n{shown}");
        assert!(generated.targets.is_empty());
    }
}

#[test]
fn client_of_go_types_is_refused() {
    let folder = module("type Spec struct{}\n");
    let shown = support::short(&support::generate(&[folder.path("api")]));
    assert!(shown.contains("error[KS1004]"), "{shown}");
}

#[test]
fn package_is_read_from_vendor_when_the_module_has_it() {
    let folder = module("type Spec struct {\n\tA other.B `json:\"a\"`\n}\n");
    folder.write("vendor/example.com/other/api/v1/b.go", "package v1\n\n// B is vendored.\ntype B string\n");
    let text: String = support::crd_texts(&crds(&folder)).into_values().collect();
    assert!(text.contains("description: B is vendored."), "{text}");
}
