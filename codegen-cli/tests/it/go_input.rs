//! Go packages as inputs: testdata/conformance/<case>/go has the Go types of controller-gen's recorded cases.
//! Our output equals its output byte for byte, except for the generators' marks. We refuse the types that
//! controller-gen refuses.

use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::config::{self, Generator, KindFlags, Overrides};
use kubesmith::diag;
use kubesmith::import::{self, GoOptions};
use kubesmith::pipeline::{self, Generated};
use serde_json::json;

use crate::{conformance, manifests, support};

/// Cases with output that controller-gen writes and an API server refuses. They get a warning.
pub(crate) const WARNED: [&str; 10] = [
    "api-approved",
    "default-mismatch",
    "err-list-type",
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

pub(crate) fn cases() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir("../testdata/conformance").unwrap();
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("go").is_dir()).collect();
    cases.sort();
    cases.into_iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
}

pub(crate) fn generate(case: &str, folder: &Path) -> Generated {
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

/// The failures of a case.
fn fault(case: &str, folder: &Path) -> Option<String> {
    let generated = generate(case, folder);
    let is_refused = diag::has_errors(&generated.diagnostics);
    let says =
        |found: &diag::Diagnostic| found.notes.iter().any(|note| note.contains("an API server refuses it"));
    if generated.diagnostics.iter().any(says) != WARNED.contains(&case) {
        return Some(support::short(&generated));
    }
    let must_be = folder.join("expected.txt").is_file();
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

pub(crate) const HEADER: &str = r#"// +groupName=example.com
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
pub(crate) fn module(types: &str) -> support::Crate {
    let folder = support::Crate { dir: tempfile::tempdir().unwrap() };
    folder.write("go.mod", "module example.com/op\n\nrequire example.com/other v1.2.3\n");
    folder.write("api/v1/types.go", format!("{HEADER}{types}"));
    folder
}

pub(crate) fn crds(folder: &support::Crate) -> Generated {
    support::run(Overrides {
        input: vec![folder.path("api")],
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        ..Overrides::default()
    })
}

#[test]
fn unusable_go_is_an_error_with_its_location() {
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
        (
            "A L `json:\"a\"`\n}\ntype L = []string\ntype M struct {",
            "`L` is an alias of a type without a name",
        ),
        (
            "// +k8s:enum\nA string `json:\"a\"`",
            "types.go:16:4: error[KS0006]: `+k8s:enum` is for types, and this is a field",
        ),
        (
            "A N `json:\"a\"`\n}\n// +k8s:enum\ntype N int\ntype M struct {",
            "`+k8s:enum` is for strings, and `N` is none",
        ),
        (
            "A N `json:\"a\"`\n}\n// +k8s:enum\ntype N string\ntype M struct {",
            "`N` has no constant that is written as a text",
        ),
        (
            "A N `json:\"a\"`\n}\n// +kubebuilder:validation:ExactlyOneOf=a;b\ntype N struct {\n\tA string `json:\"a\"`",
            "types.go:20:2: error[KS0301]: `a` must be given, and `+kubebuilder:validation:ExactlyOneOf` counts it",
        ),
    ] {
        let generated = crds(&module(&format!("type Spec struct {{\n{fields}\n}}\n")));
        let shown = support::short(&generated);
        assert!(shown.contains(expected), "{fields}\n{shown}");
        assert!(generated.targets.is_empty());
    }
}

/// The CRD of a kind with these types.
pub(crate) fn crd(types: &str) -> String {
    let generated = crds(&module(types));
    assert!(!diag::has_errors(&generated.diagnostics), "{}", support::short(&generated));
    support::crd_texts(&generated).into_values().collect()
}

#[test]
fn markers_of_types_in_a_group_are_read() {
    let text = crd(
        "type (\n\t// Spec is.\n\t// +kubebuilder:validation:MinProperties=1\n\tSpec struct {\n\t\tA Kind2 `json:\"a\"`\n\t}\n\n\t\
         // Kind2 has\n\t// two lines.\n\t// +kubebuilder:validation:Enum=b;c\n\tKind2 string\n)\n",
    );
    for wanted in ["minProperties: 1", "Kind2 has\n", "enum:\n"] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

/// `flattenAllOfInto` of controller-gen, pkg/crd/flatten.go: embedded structs come first, so the field has their description.
#[test]
fn fields_of_embedded_structs_are_merged_when_the_struct_has_them_too() {
    let text = crd(
        "// +kubebuilder:validation:XValidation:rule=\"self.own\"\ntype Spec struct {\n\tBase `json:\",inline\"`\n\t// Own text.\n\t\
         A string `json:\"a,omitempty\"`\n\tOwn bool `json:\"own\"`\n}\n\n\
         // +kubebuilder:validation:XValidation:rule=\"self.base\"\ntype Base struct {\n\tDeep `json:\",inline\"`\n\t// Base text.\n\t\
         // +kubebuilder:validation:MaxLength=3\n\tA string `json:\"a\"`\n\tBase bool `json:\"base\"`\n}\n\n\
         // +kubebuilder:validation:XValidation:rule=\"self.deep\"\ntype Deep struct {\n\tDeep bool `json:\"deep\"`\n}\n",
    );
    let field = "a:\n                description: Base text.\n                maxLength: 3\n                type: string\n";
    assert!(text.contains(field), "{text}");
    assert!(
        text.contains(
            "required:\n            - a\n            - base\n            - deep\n            - own\n"
        ),
        "{text}"
    );
    let rules: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("- rule: ")).collect();
    assert_eq!(rules, ["self.own", "self.base", "self.deep"], "{text}");
}

/// As controller-gen 0.21.0 and its main branch of 2026-07-20 wrote these types.
#[test]
fn odd_types_equal_the_output_of_controller_gen() {
    let vendored = "package unstructured\n\ntype Unstructured struct {\n\tObject map[string]interface{}\n}\n";
    let folder = module(
        "type Spec struct { // +optional\n\tA string `json:\"a\"`\n\tB In `json:\"b,omitzero\"`\n\tC Letter `json:\"c,omitempty\"`\n\t\
         // +kubebuilder:validation:MaxLength = 3\n\tD string `json:\"d,omitempty\"`\n\tE unstructured.Unstructured `json:\"e,omitempty\"`\n\t\
         // +kubebuilder:pruning:PreserveUnknownFields\n\tF string `json:\"f,omitempty\"`\n}\n\n\
         type In struct{}\n\n// +k8s:enum\ntype Letter string\n\nconst (\n\tX Letter = \"x\"\n\tY Letter = X + \"y\"\n\tZ = Letter(\"z\")\n\tW, V Letter = `x`, \"\\x3c\"\n)\n",
    );
    let types = fs::read_to_string(folder.path("api/v1/types.go")).unwrap();
    let import = "import (\n\t\"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured\"";
    folder.write("api/v1/types.go", types.replace("import (", import));
    folder.write("vendor/k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/u.go", vendored);
    let spec = || {
        let generated = crds(&folder);
        assert!(!diag::has_errors(&generated.diagnostics), "{}", support::short(&generated));
        let crd: serde_json::Value =
            serde_yaml::from_str(&support::crd_texts(&generated).into_values().collect::<String>()).unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
    };
    let newest = spec();
    assert_eq!(newest["required"], json!(null));
    let properties = json!({
        "a": {"type": "string"},
        "b": {"type": "object"},
        "c": {"type": "string", "enum": ["<", "x", "x"]},
        "d": {"type": "string"},
        "e": {"type": "object"},
        "f": {"type": "string", "x-kubernetes-preserve-unknown-fields": true},
    });
    assert_eq!(newest["properties"], properties);
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.21.0\n");
    assert_eq!(spec()["required"], json!(["b"]));
}

#[test]
fn format_of_a_field_replaces_that_of_its_plain_type() {
    let text =
        crd("type Spec struct {\n\t// +kubebuilder:validation:Format=int64\n\tA uint32 `json:\"a\"`\n}\n");
    assert!(text.contains("a:\n                format: int64\n                type: integer\n"), "{text}");
}

#[test]
fn file_without_package_clause_is_an_error_and_a_byte_order_mark_is_not() {
    let folder = module("type Spec struct{}\n");
    let types = fs::read_to_string(folder.path("api/v1/types.go")).unwrap();
    folder.write("api/v1/types.go", format!("\u{feff}{types}"));
    assert_eq!(support::crd_texts(&crds(&folder)).len(), 1);
    for text in ["type A struct{}\n", ""] {
        folder.write("api/v1/other.go", text);
        let shown = support::short(&crds(&folder));
        assert!(shown.contains("other.go:1:1: error[KS1001]"), "{shown}");
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

#[test]
fn controller_gen_options_of_a_project_are_used_unless_configured() {
    let folder = module(
        "// Spec is.\n// +kubebuilder:validation:AtMostOneOf=a;b\ntype Spec struct {\n\tA string `json:\"a,omitempty\"`\n\t\
         B string `json:\"b,omitempty\"`\n}\n",
    );
    let calls = "CONTROLLER_TOOLS_VERSION ?= v0.19.0\nm:\n\t$(CONTROLLER_GEN) rbac:roleName=a crd:maxDescLen=0,deprecatedV1beta1CompatibilityPreserveUnknownFields=false paths=./...\n";
    folder.write("Makefile", calls);
    let generated = crds(&folder);
    let shown = support::short(&generated);
    assert!(shown.contains("warning[KS1006]") && shown.contains("Makefile:3: max_desc_len = 0"), "{shown}");
    let text: String = support::crd_texts(&generated).into_values().collect();
    assert!(!text.contains("description:") && text.contains("  preserveUnknownFields: false\n"), "{text}");
    // The output of controller-gen up to 0.21.0.
    assert!(text.contains("rule: '[has(self.a),has(self.b)].filter(x,x==true).size() <= 1'"), "{text}");
}

#[test]
fn enums_of_field_and_type_are_both_kept_for_older_releases() {
    let folder = module(
        "type Spec struct {\n\t// +kubebuilder:validation:Enum=a;b\n\tA Letter `json:\"a\"`\n\t\
         // +kubebuilder:validation:items:Enum=b\n\tB []Letter `json:\"b\"`\n}\n\n// +kubebuilder:validation:Enum=a;b\ntype Letter string\n",
    );
    let schema = |folder: &support::Crate| {
        let text: String = support::crd_texts(&crds(folder)).into_values().collect();
        let crd: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        spec["properties"].clone()
    };
    let newest = json!({"a": {"type": "string", "enum": ["a", "b"]},
        "b": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}});
    assert_eq!(schema(&folder), newest);
    // Commit b20dcc42, which is in 0.21.0, let those of the type hold alone.
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.20.1\n");
    let both = |field: &[&str]| json!({"type": "string", "allOf": [{"enum": ["a", "b"]}, {"enum": field}]});
    let older = json!({"a": both(&["a", "b"]), "b": {"type": "array", "items": both(&["b"])}});
    assert_eq!(schema(&folder), older);
    // A Rust crate has the same output.
    let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
    assert!(imported.diagnostics.is_empty(), "{:?}", imported.diagnostics);
    let text = &imported.files["src/v1.rs"];
    assert!(text.contains("schemaless") && text.contains("pub a: Letter,"), "{text}");
}

/// `infoToSchema` of controller-tools, pkg/crd/schema.go: with an empty type, `MarshalJSON` decides nothing.
#[test]
fn type_without_type_is_any_json() {
    let text = crd(
        "type Spec struct {\n\t// A text.\n\tA Value `json:\"a\"`\n\tB Part `json:\"b\"`\n\tC Object `json:\"c\"`\n}\n\n\
         // +kubebuilder:validation:Type=\"\"\ntype Value struct {\n\tRaw `json:\",inline\"`\n}\n\n\
         type Part struct {\n\tRaw `json:\",inline\"`\n}\n\n\
         // Raw text.\n// +kubebuilder:validation:Type=\"\"\n// +kubebuilder:validation:Format=\"\"\n\
         // +kubebuilder:pruning:PreserveUnknownFields\ntype Raw []byte\n\n\
         func (r Raw) MarshalJSON() ([]byte, error) { return r, nil }\n\n\
         // +kubebuilder:validation:Type=object\n// +kubebuilder:validation:Format=\"\"\ntype Object []byte\n\n\
         func (o Object) MarshalJSON() ([]byte, error) { return o, nil }\n",
    );
    let crd: serde_json::Value = serde_yaml::from_str(&text).unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let properties = json!({
        "a": {"description": "A text.", "x-kubernetes-preserve-unknown-fields": true},
        "b": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "c": {"type": "object"},
    });
    assert_eq!(spec["properties"], properties, "{text}");
}

#[test]
fn kind_with_unreadable_type_is_left_out_when_keeping_going() {
    let folder = module("type Spec struct {\n\tA List `json:\"a\"`\n}\n\ntype List []other.B\n");
    let types = HEADER.replace("Kind", "Good") + "type Spec struct{}\n";
    folder.write("api/v2/types.go", types.replace("package v1", "package v2"));
    let generated = support::run(Overrides {
        input: vec![folder.path("api")],
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        kinds: KindFlags { keep_going: true, ..KindFlags::default() },
        ..Overrides::default()
    });
    assert!(diag::has_errors(&generated.diagnostics));
    let names: Vec<String> = support::crd_texts(&generated).into_keys().collect();
    assert_eq!(names, ["example.com_goods.yaml"], "{}", support::short(&generated));
}

#[test]
fn old_releases_join_lines_and_take_defaults_of_kubernetes_for_comments() {
    let folder = module(
        "// Spec has\n// two lines.\n//\n// And two paragraphs.\ntype Spec struct {\n\t// +default=\"b\"\n\tA string `json:\"a,omitempty\"`\n}\n",
    );
    let schema = || {
        let text: String = support::crd_texts(&crds(&folder)).into_values().collect();
        let crd: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].clone()
    };
    assert_eq!(schema()["spec"]["properties"]["a"]["default"], "b");
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.13.0\n");
    let old = schema();
    assert_eq!(old["spec"]["description"], "Spec has two lines. \n And two paragraphs.");
    assert_eq!(old["spec"]["properties"]["a"]["default"], json!(null));
    assert!(
        old["kind"]["description"]
            .as_str()
            .is_some_and(|text| text.contains("represents. Servers may infer"))
    );
}

/// `splitMarker` of controller-tools, pkg/markers/parse.go.
#[test]
fn markers_with_colon_and_equals_sign_are_read() {
    let text = crd(
        "type Spec struct {\n\t// +kubebuilder:validation:Pattern=\"^0$\"\n\t// +kubebuilder:validation:Type:=string\n\tA metav1.Duration `json:\"a\"`\n\t\
         // +kubebuilder:validation:Enum=a;b\n\tB Letter `json:\"b\"`\n}\n\n// +kubebuilder:validation:Enum:=a;b\ntype Letter string\n",
    );
    assert!(text.contains("pattern: ^0$") && !text.contains("allOf"), "{text}");
}
