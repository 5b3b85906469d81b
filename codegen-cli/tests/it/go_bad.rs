//! The errors about invalid Go packages.

use std::fmt::Write as _;

use crate::{go_input, support};

/// The output of the command for a module with a file and perhaps another one. Paths are relative to the
/// module.
fn said(arguments: &[&str], types: &str, other: Option<(&str, &str)>) -> String {
    let folder = go_input::module(types);
    if let Some((path, text)) = other {
        folder.write(path, text);
    }
    let output = folder.run(arguments);
    let mut out = String::from_utf8_lossy(&output.stderr).into_owned();
    let _ = write!(out, "{}", output.status);
    out
}

const GENERATE: &[&str] = &["generate", "--input", "./api/...", "--only", "crd", "--crd-output", "out"];
const IMPORT: &[&str] = &["import", "--go", "./api/...", "--output", "rust"];
const PLAIN: &str = "type Spec struct {\n\tA string `json:\"a\"`\n}\n";
const KIND: &str = "\n\ntype Kind struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata\"`\n}\n";
const HEAD: &str = "package v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"";

/// Name, arguments, Go source, and a further file with its source.
type BadInput<'a> = (&'a str, &'a [&'a str], &'a str, Option<(&'a str, &'a str)>);

#[test]
fn errors_in_go_have_help() {
    let same_kind = format!("// +groupName=example.com\n// +versionName=v1\n{HEAD}{KIND}");
    let twice = format!("{HEAD}{KIND}");
    let cases: &[BadInput<'_>] = &[
        ("Go that does not parse", GENERATE, "type Spec struct {\n\tA [ `json:\"a\"`\n}\n", None),
        ("a missing package", GENERATE, "type Spec struct {\n\tA other.B `json:\"a\"`\n}\n", None),
        (
            "a type of cgo",
            GENERATE,
            "type Spec struct {\n\tA Other `json:\"a\"`\n}\n",
            Some((
                "api/v1/cgo.go",
                "package v1\n\nimport \"C\"\n\ntype Other struct {\n\tA C.int `json:\"a\"`\n}\n",
            )),
        ),
        (
            "build tags that exclude a package",
            GENERATE,
            PLAIN,
            Some(("api/v2/types.go", "//go:build windows\n\n// +groupName=example.com\npackage v2\n")),
        ),
        (
            "unexported types with markers",
            GENERATE,
            "type Spec struct {\n\tA part `json:\"a\"`\n\tb string\n}\n\n// +kubebuilder:validation:MaxItems=2\ntype part string\n",
            None,
        ),
        ("two packages with a kind", GENERATE, PLAIN, Some(("api/other/types.go", &same_kind))),
        ("two files with a kind", GENERATE, PLAIN, Some(("api/v1/z.go", &twice))),
        ("two packages in a folder", GENERATE, PLAIN, Some(("api/v1/z.go", "package v2\n"))),
        (
            "a replacement that is missing",
            GENERATE,
            "type Spec struct {\n\tA other.B `json:\"a\"`\n}\n",
            Some(("go.mod", "module example.com/op\n\nreplace example.com/other => ../other\n")),
        ),
        ("a type that contains itself", IMPORT, "type Spec struct {\n\tA []Spec `json:\"a\"`\n}\n", None),
        (
            "names that clash in Rust",
            IMPORT,
            "type Spec struct {\n\tA Part `json:\"a\"`\n\tB part `json:\"b\"`\n\tC Option `json:\"c\"`\n\tD_E string `json:\"d_e\"`\n\tDE string `json:\"dE\"`\n}\n\ntype part string\n\ntype Part string\n\ntype Option string\n",
            None,
        ),
        (
            "markers with wrong arguments",
            GENERATE,
            "type Spec struct {\n\t// +kubebuilder:validation:MinLength=a\n\tA string `json:\"a\"`\n\t// +kubebuilder:validation:XValidation:message=\"b\"\n\tB string `json:\"b\"`\n\t// +kubebuilder:default={\n\tC string `json:\"c\"`\n\t// +kubebuilder:validation:Pattern=`[`\n\tD string `json:\"d\"`\n}\n",
            None,
        ),
        (
            "a type that no schema has",
            GENERATE,
            "type Spec struct {\n\tA Part `json:\"a\"`\n}\n\n// +kubebuilder:validation:Type=list\ntype Part struct{}\n\nfunc (p Part) MarshalJSON() ([]byte, error) { return nil, nil }\n",
            None,
        ),
        (
            "an inline field that is no object",
            GENERATE,
            "type Spec struct {\n\tA bool `json:\",omitempty\"`\n}\n",
            None,
        ),
    ];
    let mut out = String::new();
    for (name, arguments, types, other) in cases {
        let _ = writeln!(out, "# {name}\n{}\n", said(arguments, types, *other));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn package_without_built_files_is_an_error_when_it_is_the_only_one() {
    let folder = support::Crate { dir: tempfile::tempdir().unwrap() };
    folder.write("go.mod", "module example.com/op\n");
    folder.write("api/v1/types.go", "//go:build windows\n\n// +groupName=example.com\npackage v1\n");
    for arguments in [GENERATE, IMPORT] {
        let output = folder.run(arguments);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{shown}");
        assert!(shown.contains("warning[KS1002]: api/v1 has Go files, and none is built"), "{shown}");
        assert!(shown.contains("error[KS0414]") && shown.contains("`+groupName`"), "{shown}");
    }
}
