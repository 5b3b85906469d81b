//! controller-gen's output for Go that operators have and its documentation does not show, and the
//! differences of older releases.

use kubesmith::config::{Generator, Overrides};
use kubesmith::import::{self, GoOptions};
use serde_json::{Value, json};

use crate::go_input::{HEADER, crd, crds, module};
use crate::support::{self, Crate};

fn spec(folder: &Crate) -> Value {
    let generated = crds(folder);
    let text = support::crd_texts(&generated).into_values().next();
    let crd: Value = serde_yaml::from_str(&text.unwrap_or_else(|| support::short(&generated))).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
}

/// The text of the files of a generator.
fn manifests(folder: &Crate, generator: Generator) -> String {
    let generated = support::run(Overrides {
        input: vec![folder.path("api")],
        output: Some("out".into()),
        only: vec![generator],
        ..Overrides::default()
    });
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    files.map(|(_, text)| text.to_string()).collect()
}

/// `infoToSchema` of controller-tools, pkg/crd/schema.go, asks for methods first. An alias of another package is a type of its own.
#[test]
fn generic_type_that_marshals_itself_has_the_type_of_its_marker() {
    let types = |package: &str| {
        format!(
            "package {package}\n\n// +kubebuilder:validation:Type=object\ntype Data[T any] struct {{\n\tValue T `json:\"-\"`\n}}\n\n\
             func (d Data[T]) MarshalJSON() ([]byte, error) {{ return nil, nil }}\n\n// +kubebuilder:validation:Type=string\n\
             type Map = Data[map[string]any]\n"
        )
    };
    let folder = module("");
    let header = HEADER.replace("example.com/other/api/v1", "example.com/op/api/json");
    let fields = "type Spec struct {\n\tA other.Map `json:\"a\"`\n\tB Map `json:\"b\"`\n}\n";
    folder.write("api/v1/types.go", header + fields);
    folder.write("api/v1/data.go", types("v1"));
    folder.write("api/json/data.go", types("json"));
    let expected = json!({"a": {"type": "string"}, "b": {"type": "object"}});
    assert_eq!(spec(&folder)["properties"], expected);
}

/// `Definition.Parse` of controller-tools, pkg/markers/parse.go: a marker of one value ignores a name before `=`.
#[test]
fn value_of_a_marker_may_have_a_name() {
    let folder = module(
        "type Spec struct {\n\t// +kubebuilder:default:string=no\n\tA string `json:\"a,omitempty\"`\n\t\
         // +kubebuilder:validation:items:MaxLength:length=3\n\tB []string `json:\"b,omitempty\"`\n\t\
         // +kubebuilder:other:string=no\n\t// +kubebuilder:validation:MaxLength:=4\n\tC string `json:\"c,omitempty\"`\n\t\
         // +default:value=\"b\"\n\tD string `json:\"d,omitempty\"`\n}\n",
    );
    let expected = json!({
        "a": {"type": "string", "default": "no"},
        "b": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "c": {"type": "string", "maxLength": 4},
        "d": {"type": "string", "default": "b"},
    });
    assert_eq!(spec(&folder)["properties"], expected);
}

/// `structToSchema` of controller-tools, pkg/crd/schema.go, leaves out fields with the name `-`.
#[test]
fn type_without_type_may_have_fields_outside_of_the_json() {
    let folder = module(
        "type Spec struct {\n\tA Amount `json:\"a\"`\n}\n\n// +kubebuilder:validation:Type=\"\"\n\
         // +kubebuilder:validation:XIntOrString\n// +kubebuilder:validation:Pattern=`^[0-9]+$`\ntype Amount struct {\n\t\
         Original string `json:\"-\"`\n\tintstr.IntOrString `json:\",inline\"`\n}\n\n\
         func (a Amount) MarshalJSON() ([]byte, error) { return nil, nil }\n",
    );
    let types = std::fs::read_to_string(folder.path("api/v1/types.go")).unwrap();
    folder.write(
        "api/v1/types.go",
        types.replace("import (", "import (\n\"k8s.io/apimachinery/pkg/util/intstr\""),
    );
    let expected = json!({"a": {"anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": "^[0-9]+$", "x-kubernetes-int-or-string": true}});
    assert_eq!(spec(&folder)["properties"], expected);
}

#[test]
fn package_markers_may_have_a_colon() {
    let folder = module("type Spec struct{}\n");
    let header = HEADER.replace("+groupName=example.com", "+groupName:=example.org\n// +versionName:=v2");
    folder.write("api/v1/types.go", format!("{header}type Spec struct{{}}\n"));
    let text: String = support::crd_texts(&crds(&folder)).into_values().collect();
    assert!(text.contains("group: example.org\n") && text.contains("name: v2\n"), "{text}");
}

#[test]
fn bound_beyond_exact_floating_point_numbers_is_rounded() {
    let text = crd("type Spec struct {\n\t// +kubebuilder:validation:Maximum=9223372036854774807\n\t\
         // +kubebuilder:validation:Minimum:=-9007199254740992\n\tA int64 `json:\"a\"`\n}\n");
    let wanted = ["maximum: 9223372036854775000\n", "minimum: -9007199254740992\n"];
    assert!(wanted.iter().all(|wanted| text.contains(wanted)), "{text}");
}

#[test]
fn headers_of_http_are_known() {
    let folder = module("");
    let header = HEADER.replace("import (", "import (\n\t\"net/http\"\n");
    folder
        .write("api/v1/types.go", format!("{header}type Spec struct {{\n\tA http.Header `json:\"a\"`\n}}\n"));
    let lists = json!({"type": "array", "items": {"type": "string"}});
    let description = "A Header represents the key-value pairs in an HTTP header.\n\nThe keys should be in canonical form, as returned by\n[CanonicalHeaderKey].";
    let wanted = json!({"description": description, "type": "object", "additionalProperties": lists});
    assert_eq!(spec(&folder)["properties"]["a"], wanted);
}

/// Commit 3765c8c2 of controller-tools removes equal counts, after 0.21.0. The release is not in a Makefile,
/// but in the CRDs.
#[test]
fn release_is_that_of_the_committed_crds_where_the_project_names_none() {
    let folder = module(
        "// +kubebuilder:validation:MaxProperties=1\ntype Spec struct {\n\tPart `json:\",inline\"`\n\tB string `json:\"b\"`\n}\n\n\
         // +kubebuilder:validation:MaxProperties=1\ntype Part struct {\n\tA string `json:\"a\"`\n}\n",
    );
    assert_eq!(spec(&folder)["maxProperties"], 1);
    let annotated = |release: &str| {
        format!(
            "kind: CustomResourceDefinition\nmetadata:\n  annotations:\n    controller-gen.kubebuilder.io/version: {release}\n"
        )
    };
    for (name, release) in [("a", "v0.21.0"), ("b", "v0.21.0"), ("c", "v0.22.0"), ("d", "(devel)")] {
        folder.write(&format!("api/config/crd/{name}.yaml"), annotated(release));
    }
    let once = json!({"maxProperties": 1});
    assert_eq!(spec(&folder)["allOf"], json!([once, once]));
    folder.write("api/Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.22.0\n");
    assert_eq!(spec(&folder)["maxProperties"], 1);
}

#[test]
fn older_releases_keep_rules_of_roles_apart_and_webhooks_by_package() {
    let folder = module("type Spec struct{}\n");
    let hook = |name: &str| {
        format!(
            "// +kubebuilder:webhook:path=/{name},mutating=true,failurePolicy=fail,sideEffects=None,groups=a.b,resources=cs,verbs=create,versions=v1,name={name}.a.b,admissionReviewVersions=v1\n"
        )
    };
    let rules = "// +kubebuilder:rbac:groups=core,resources=pods;events,verbs=get;*\n\
                 // +kubebuilder:rbac:groups=apps,resources=pods;events,verbs=get;*\n";
    folder.write("api/a/hooks.go", format!("package a\n\n{}{}{rules}", hook("z"), hook("y")));
    folder.write("api/b/hooks.go", format!("package b\n\n{}", hook("x")));
    let order = |folder: &Crate| {
        let text = manifests(folder, Generator::Webhook);
        let names = text.lines().filter_map(|line| line.strip_prefix("  name: ")?.strip_suffix(".a.b"));
        names.collect::<String>()
    };
    let role = |folder: &Crate| {
        let text = manifests(folder, Generator::Rbac);
        text.split_once("rules:\n").unwrap_or_default().1.to_string()
    };
    assert_eq!(order(&folder), "xyz");
    let merged = |verbs: &str| {
        format!("- apiGroups:\n  - \"\"\n  - apps\n  resources:\n  - events\n  - pods\n  verbs:\n{verbs}")
    };
    assert_eq!(role(&folder), merged("  - '*'\n"));
    folder.write("api/Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.16.5\n");
    assert_eq!(order(&folder), "yzx");
    assert_eq!(role(&folder), merged("  - '*'\n  - get\n"));
    folder.write("api/Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.11.4\n");
    assert_eq!(order(&folder), "zyx");
    folder.write("api/Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.15.0\n");
    let rule = |group: &str| {
        format!("- apiGroups:\n  - {group}\n  resources:\n  - events\n  - pods\n  verbs:\n  - '*'\n  - get\n")
    };
    assert_eq!(role(&folder), rule("apps") + &rule("\"\""));
}

/// The embedded `TypeMeta` is a part of a kind wherever the kind stands.
#[test]
fn kind_as_the_type_of_a_field_has_its_api_version_and_kind() {
    let folder = module("type Spec struct {\n\tA []Other `json:\"a,omitempty\"`\n}\n");
    let other = HEADER.replace("type Kind struct", "type Other struct").replace("Spec Spec", "Size int");
    folder.write("api/v1/other.go", other.replace("json:\"spec\"", "json:\"size\""));
    let generated = crds(&folder);
    let texts = support::crd_texts(&generated);
    assert_eq!(texts.len(), 2, "{}", support::short(&generated));
    let schema = |name: &str| {
        let crd: Value = serde_yaml::from_str(&texts[name]).unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    };
    let inner = &schema("example.com_kinds.yaml")["properties"]["spec"]["properties"]["a"]["items"];
    assert!(inner["properties"]["kind"]["description"].is_string());
    assert_eq!(inner, &schema("example.com_others.yaml"));
}

#[test]
fn markers_that_an_older_release_ignores_replace_no_others() {
    let folder = module(
        "type Spec struct {\n\t// +listType=set\n\t// +k8s:listType=atomic\n\tA []string `json:\"a\"`\n\t\
         // +required\n\tB string `json:\"b,omitempty\"`\n\t// +kubebuilder:validation:Required\n\tC string `json:\"c,omitempty\"`\n\t\
         // +k8s:optional\n\tD string `json:\"d\"`\n\t// +k8s:required\n\tE string `json:\"e,omitempty\"`\n}\n",
    );
    let facts = |folder: &Crate| {
        let spec = spec(folder);
        (spec["properties"]["a"]["x-kubernetes-list-type"].clone(), spec["required"].clone())
    };
    assert_eq!(facts(&folder), (json!("atomic"), json!(["a", "b", "c", "e"])));
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.21.0\n");
    assert_eq!(facts(&folder), (json!("set"), json!(["a", "b", "c", "e"])));
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.19.0\n");
    assert_eq!(facts(&folder).1, json!(["a", "b", "c", "d"]));
    // Commit 8a753ae4 of controller-tools, which is in 0.16.0, made markers stronger than tags.
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.15.0\n");
    assert_eq!(facts(&folder).1, json!(["a", "d"]));
}

#[test]
fn every_protocol_has_its_default_in_older_releases() {
    let folder = module("");
    let header = HEADER.replace("example.com/other/api/v1", "k8s.io/api/core/v1");
    let fields = "A other.Protocol `json:\"a\"`\n\tB *other.Protocol `json:\"b,omitempty\"`\n\t\
                  // +kubebuilder:default=UDP\n\tC other.Protocol `json:\"c\"`\n\tD []other.Protocol `json:\"d\"`\n\t\
                  E map[string]other.Protocol `json:\"e\"`\n\tF Alias `json:\"f\"`\n\tG Named `json:\"g\"`\n";
    let types = "type Alias = other.Protocol\n\n// Named is a type.\ntype Named other.Protocol\n\n";
    folder.write("api/v1/types.go", format!("{header}{types}type Spec struct {{\n\t{fields}}}\n"));
    let defaults = |folder: &Crate| {
        let properties = &spec(folder)["properties"];
        assert_eq!(properties["g"]["description"], json!("Named is a type."));
        let inner = [&properties["d"]["items"], &properties["e"]["additionalProperties"]];
        let plain = ["a", "b", "c", "f", "g"].map(|name| &properties[name]);
        plain.into_iter().chain(inner).map(|schema| schema["default"].clone()).collect::<Vec<_>>()
    };
    let none = Value::Null;
    let newest = [&none, &none, &json!("UDP"), &none, &none, &none, &none].map(Value::clone);
    assert_eq!(defaults(&folder), newest);
    folder.write("Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.15.0\n");
    let tcp = json!("TCP");
    assert_eq!(defaults(&folder), [&tcp, &tcp, &json!("UDP"), &tcp, &tcp, &tcp, &tcp].map(Value::clone));
    let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
    assert!(imported.diagnostics.is_empty(), "{:?}", imported.diagnostics);
}

/// Commits e92e85dc, 7587d2c0, 5c4990cb and e42b1a29 of controller-tools.
#[test]
fn older_releases_ignore_text_methods_aliases_and_markers_of_items() {
    let folder = module(
        "type Spec struct {\n\t// One two\n\tA Text `json:\"a\"`\n\tB Alias `json:\"b\"`\n\t\
         // +kubebuilder:validation:items:MinLength=1\n\tC []string `json:\"c\"`\n}\n\n\
         type Text struct {\n\tPart string `json:\"part\"`\n}\n\n\
         func (t Text) MarshalText() ([]byte, error) { return nil, nil }\n\n\
         // +kubebuilder:validation:MinLength=1\ntype Alias = string\n",
    );
    let facts = |release: &str| {
        let call = "m:\n\tcontroller-gen crd:maxDescLen=5 paths=./...\n";
        folder.write("Makefile", format!("VERSION ?= controller-gen@v{release}\n{call}"));
        let properties = &spec(&folder)["properties"];
        let text = (properties["a"]["type"].clone(), properties["a"]["description"].clone());
        (text, properties["b"]["minLength"].clone(), properties["c"]["items"]["minLength"].clone())
    };
    let (string, object, none) = (json!("string"), json!("object"), Value::Null);
    assert_eq!(facts("0.17.0"), ((string, json!("One...")), json!(1), json!(1)));
    assert_eq!(facts("0.16.5"), ((object.clone(), json!("One t")), json!(1), json!(1)));
    assert_eq!(facts("0.16.4"), ((object.clone(), json!("One t")), none.clone(), json!(1)));
    assert_eq!(facts("0.14.0"), ((object, json!("One t")), none.clone(), none));
}

/// `LoadRootsWithConfig` of controller-tools, pkg/loader/loader.go: commit 734a8a31 is in 0.9.0.
#[test]
fn modules_inside_an_input_are_read() {
    let folder = module("type Spec struct{}\n");
    folder.write("api/inner/go.mod", "module example.com/op/api/inner\n");
    let types = HEADER.replace("type Kind struct", "type Inner struct");
    folder.write("api/inner/v1/types.go", format!("{types}type Spec struct{{}}\n"));
    assert_eq!(support::crd_texts(&crds(&folder)).len(), 2);
    // A folder that is an input twice is read once.
    let inputs = vec![folder.path("api"), folder.path("api/inner/v1")];
    let twice = support::run(Overrides {
        input: inputs,
        only: vec![Generator::Crd],
        crd_output: Some("out".into()),
        ..Overrides::default()
    });
    assert_eq!(support::crd_texts(&twice).len(), 2, "{}", support::short(&twice));
    folder.write("api/Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.8.0\n");
    assert_eq!(support::crd_texts(&crds(&folder)).len(), 1);
}

#[test]
fn roles_and_webhooks_need_no_types() {
    let folder = module("type Spec struct {\n\tA other.B `json:\"a\"`\n}\n");
    assert_eq!(manifests(&folder, Generator::Rbac), "");
    folder.write("api/a/rules.go", "package a\n\n// +kubebuilder:rbac:groups=apps,resources=a,verbs=get\n");
    assert!(manifests(&folder, Generator::Rbac).contains("- apps\n"));
}

#[test]
fn marker_of_a_role_in_documentation_gets_a_warning() {
    let folder = module("type Spec struct{}\n");
    let rule = "// +kubebuilder:rbac:groups=apps,resources=a,verbs=get\n";
    folder.write(
        "api/a/rules.go",
        format!("package a\n\n{rule}func f() {{}}\n\n// T is.\n{rule}type T struct{{}}\n"),
    );
    let output = folder.run(&[
        "generate",
        "--input",
        "./api",
        "--only",
        "rbac",
        "--rbac-output",
        "out",
        "--rbac-role-name",
        "r",
    ]);
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    let warning = "warning[KS0006]: this marker has no effect in the documentation of a declaration\n";
    assert_eq!(shown.matches(warning).count(), 2, "{shown}");
    assert!(shown.contains("api/a/rules.go:3:4") && shown.contains("api/a/rules.go:7:4"), "{shown}");
    assert!(output.status.success() && !folder.path("out").exists());
}

/// Both are accepted by an API server: pkg/apis/apiextensions/validation/validation.go of apiextensions-apiserver.
#[test]
fn values_of_another_type_and_odd_columns_are_written_with_a_warning() {
    let folder =
        module("type Spec struct {\n\t// +kubebuilder:validation:Enum=a;b\n\tA []string `json:\"a\"`\n}\n");
    let types = std::fs::read_to_string(folder.path("api/v1/types.go")).unwrap();
    let column = "// +kubebuilder:printcolumn:name=\"A \",type=string,JSONPath=`.spec.a`\ntype Kind struct";
    folder.write("api/v1/types.go", types.replace("type Kind struct", column));
    let generated = crds(&folder);
    let shown = support::short(&generated);
    assert!(shown.contains("warning[KS0310]") && shown.contains("warning[KS0206]"), "{shown}");
    let text: String = support::crd_texts(&generated).into_values().collect();
    assert!(text.contains("name: 'A '\n"), "{text}");
    assert_eq!(spec(&folder)["properties"]["a"]["enum"], json!(["a", "b"]));
}

#[test]
fn rule_with_a_verb_twice_is_imported() {
    let folder = module("type Spec struct{}\n");
    folder.write(
        "api/a/rules.go",
        "package a\n\n// +kubebuilder:rbac:groups=apps,resources=a,verbs=get;list;get\n",
    );
    let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
    assert!(imported.diagnostics.is_empty(), "{:?}", imported.diagnostics);
    assert!(imported.files["src/rights.rs"].contains(r#"verbs("get", "list")"#));
    // rustc expands 128 attributes of an item.
    let rule = |at: usize| format!("// +kubebuilder:rbac:groups=apps,resources=a{at},verbs=get\n");
    let rules: String = (0..130).map(rule).collect();
    folder.write("api/a/rules.go", format!("package a\n\n{rules}"));
    let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
    let text = &imported.files["src/rights.rs"];
    let counts: Vec<usize> = text.split("pub struct").map(|part| part.matches("#[rbac").count()).collect();
    assert_eq!(counts, [64, 64, 2, 0]);
    assert!(text.contains("Controllers;") && text.contains("Controllers3;"), "{text}");
}

/// Packages are visited along their imports, to a limit; each input is also visited for itself.
#[test]
fn input_behind_a_long_chain_of_imports_is_read() {
    const LENGTH: usize = 257;
    let folder = module("type Spec struct{}\n");
    for at in 0..LENGTH {
        let next = if at + 1 < LENGTH { format!("p{:03}", at + 1) } else { "v1".to_owned() };
        let text = format!("package p{at:03}\n\nimport _ \"example.com/op/api/{next}\"\n");
        folder.write(&format!("api/p{at:03}/a.go"), text);
    }
    assert_eq!(support::crd_texts(&crds(&folder)).len(), 1);
}

/// A further package with a kind.
const OTHER: &str = "// +groupName=other.example.com\npackage v2\n\nimport . \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// Other is.\ntype Other struct {\n\tTypeMeta `json:\",inline\"`\n\t\
    ObjectMeta `json:\"metadata,omitempty\"`\n\tSpec OtherSpec `json:\"spec\"`\n}\n\ntype OtherSpec struct {\n\tAt Time `json:\"at\"`\n\tKeep ConditionStatus `json:\"keep\"`\n\t}\n";

/// `FindKubeKinds` of controller-tools, pkg/crd/gen.go, asks the type checker, which knows names of dot imports.
#[test]
fn kind_may_import_metadata_with_a_dot() {
    let folder = module("type Spec struct{}\n");
    folder.write("api/v2/types.go", OTHER);
    let generated = crds(&folder);
    let texts = support::crd_texts(&generated);
    let other = texts
        .get("other.example.com_others.yaml")
        .unwrap_or_else(|| panic!("{}", support::short(&generated)));
    assert!(other.contains("at:\n                format: date-time") && other.contains("keep:\n"), "{other}");
}

/// Each run of controller-gen has its own options and packages.
#[test]
fn options_of_a_call_hold_for_its_packages_alone() {
    let folder = module("// Spec is.\ntype Spec struct {\n\tA float64 `json:\"a\"`\n}\n");
    folder.write("api/v2/types.go", OTHER);
    folder.write(
        "Makefile",
        "m:\n\t$(CONTROLLER_GEN) crd:maxDescLen=0,allowDangerousTypes=true paths=./api/v1/...\n\t$(CONTROLLER_GEN) crd paths=./api/v2/...\n\t\
         $(CONTROLLER_GEN) rbac:roleName=a webhook paths=./...\n",
    );
    let generated = crds(&folder);
    let texts = support::crd_texts(&generated);
    let shown = support::short(&generated);
    assert_eq!(texts.len(), 2, "{shown}");
    assert!(shown.contains("Makefile:2: max_desc_len = 0, allow_dangerous_types = true"), "{shown}");
    assert!(!texts["example.com_kinds.yaml"].contains("description:"), "{texts:?}");
    assert!(texts["other.example.com_others.yaml"].contains("description: Other is."), "{texts:?}");
    // What one call allows, the others refuse.
    folder.write("api/v2/types.go", OTHER.replace("ConditionStatus", "float64"));
    let shown = support::short(&crds(&folder));
    assert!(shown.contains("v2/types.go:15:7: error[KS0409]"), "{shown}");
}

#[test]
fn type_that_is_declared_twice_is_an_error_where_it_is_used() {
    let folder = module("type Spec struct{}\n");
    let said = |text: &str| {
        folder.write("api/v1/z.go", text);
        support::short(&crds(&folder))
    };
    let shown = said("package v1\n\ntype Spec struct {\n\tA string `json:\"a\"`\n}\n");
    assert!(shown.contains("z.go:3:6: error[KS1002]: `Spec` is declared twice in the package"), "{shown}");
    for text in [
        "/*\nLicense.\n*/\n\n//go:build windows\n\npackage v1\n\ntype Spec struct{}\n",
        "package v1\n\ntype A struct{}\ntype A struct{}\ntype _ struct{}\ntype _ int\n",
    ] {
        let shown = said(text);
        assert!(!shown.contains("error"), "{shown}");
    }
}
