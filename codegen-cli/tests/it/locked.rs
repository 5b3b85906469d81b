//! Types of kube-rs in the forms of the locked versions.

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::known::KubernetesVersion;
use kubesmith::pipeline;
use serde_json::{Value, json};

use crate::support::{self, Crate};

const LIB: &str = "use k8s_openapi::api::core::v1::{ResourceRequirements, Toleration};\n\
    #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
    #[kube(group = \"example.com\", version = \"v1\", kind = \"Cart\")]\n\
    /// What is\n/// wanted.\n///\n/// More.\npub struct CartSpec {\n\
    small: i8, port: u16, level: Option<Level>, by_level: std::collections::BTreeMap<Level, u32>,\n\
    resources: ResourceRequirements, toleration: Toleration,\n\
    any: std::collections::BTreeMap<String, serde_json::Value> }\n\
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
    enum Level { Low, High }\n";

/// A project with these versions of kube and k8s-openapi, and this feature of the latter.
fn project(kube: &str, k8s_openapi: &str, feature: &str) -> Crate {
    let project = Crate::new(LIB);
    project.write(
        "api/Cargo.toml",
        format!(
            "[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\n[dependencies]\nkube = \"*\"\nschemars = \"*\"\nserde = \"*\"\nserde_json = \"*\"\n\
             [dependencies.k8s-openapi]\nversion = \"{k8s_openapi}\"\nfeatures = [\"{feature}\"]\n"
        ),
    );
    // Another version of k8s-openapi is further away.
    let package = |name: &str, version: &str, dependencies: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\ndependencies = [{dependencies}]\n")
    };
    let lock = [
        package("k8s-openapi", "0.20.0", ""),
        package("k8s-openapi", k8s_openapi, ""),
        package("kube", kube, "\"kube-core\""),
        package("kube-core", kube, "\"k8s-openapi 0.20.0\""),
        package("sample-api", "0.1.0", &format!("\"kube\", \"k8s-openapi {k8s_openapi}\"")),
    ];
    project.write("Cargo.lock", format!("version = 4\n{}", lock.concat()));
    project
}

/// The schema of the spec.
fn spec(project: &Crate, kubernetes_version: Option<KubernetesVersion>) -> Value {
    schema(project, kubernetes_version)["properties"]["spec"].clone()
}

/// The schema of the root type.
fn schema(project: &Crate, kubernetes_version: Option<KubernetesVersion>) -> Value {
    let overrides = Overrides {
        input: vec![project.path("api")],
        crd_output: Some("crds".into()),
        only: vec![Generator::Crd],
        kubernetes_version,
        ..Overrides::default()
    };
    let generated = pipeline::generate(&config::settings(None, overrides).unwrap()[0]);
    let text = support::crd_texts(&generated).into_values().next();
    let text = text.unwrap_or_else(|| panic!("{}", support::short(&generated)));
    let crd: Value = serde_yaml::from_str(&text).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

#[test]
fn types_have_the_forms_of_schemars_0_8_when_kube_uses_it() {
    let spec = spec(&project("0.99.0", "0.24.0", "v1_31"), None);
    assert_eq!(spec["description"], "What is wanted.\n\nMore.");
    let field = |name: &str| spec["properties"][name].clone();
    assert_eq!(field("small"), json!({"type": "integer", "format": "int8"}));
    assert_eq!(field("port"), json!({"type": "integer", "format": "uint16", "minimum": 0}));
    assert_eq!(field("level"), json!({"type": "string", "enum": ["Low", "High"], "nullable": true}));
    let values = json!({"type": "integer", "format": "uint32", "minimum": 0});
    assert_eq!(field("by_level"), json!({"type": "object", "additionalProperties": values}));
    assert_eq!(field("any"), json!({"type": "object", "additionalProperties": true}));
    let quantity = field("resources")["properties"]["limits"]["additionalProperties"].clone();
    assert_eq!(
        (quantity["type"].as_str(), quantity.get("x-kubernetes-int-or-string")),
        (Some("string"), None)
    );
}

#[test]
fn forms_follow_the_schemars_of_a_revision_of_kube() {
    let project = project("1.1.0", "0.25.0", "v1_33");
    let small = |project: &Crate| spec(project, None)["properties"]["small"].clone();
    assert_eq!(small(&project), json!({"type": "integer", "format": "int8"}));
    lock_schemars(&project, "1.0.4");
    let expected = json!({"type": "integer", "format": "int8", "minimum": -128, "maximum": 127});
    assert_eq!(small(&project), expected);
}

/// Makes this version of schemars a dependency of kube.
fn lock_schemars(project: &Crate, version: &str) {
    let lock = std::fs::read_to_string(project.path("Cargo.lock")).unwrap();
    let lock = lock.replace("\"k8s-openapi 0.20.0\"", "\"k8s-openapi 0.20.0\", \"schemars\"");
    let schemars = format!("[[package]]\nname = \"schemars\"\nversion = \"{version}\"\n");
    project.write("Cargo.lock", lock + &schemars);
}

/// `json_schema_for_flatten` changed in schemars 1.1.0, `maps.rs` in 1.2.0, `post_mutators` in 1.2.1.
#[test]
fn forms_follow_the_minor_version_of_schemars() {
    let lib = LIB.replace(
        "small: i8",
        "#[serde(flatten)] part: Option<Part>, #[schemars(length(min = 1), extend(\"minLength\" = 5))] name: String,
         #[serde(default)] #[schemars(extend(\"default\" = 7))] number: u8",
    );
    let derive = "#[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]";
    for (version, has_optional_branch, is_key_restricted, extends_last) in [
        ("1.0.5", false, false, false),
        ("1.1.0", true, false, false),
        ("1.2.0", true, true, false),
        ("1.2.1", true, true, true),
    ] {
        let project = project("2.0.1", "0.25.0", "v1_33");
        lock_schemars(&project, version);
        project.write(
            "api/src/lib.rs",
            format!("{lib}{derive} enum Part {{ One {{ x: u8 }}, Two {{ y: u8 }} }}"),
        );
        let spec = spec(&project, None);
        let fields = &spec["properties"];
        assert_eq!(spec.get("anyOf").is_some(), has_optional_branch, "{version}: {spec}");
        assert_eq!(fields["by_level"].get("properties").is_some(), is_key_restricted, "{version}: {spec}");
        assert_eq!(fields["name"]["minLength"], if extends_last { 5 } else { 1 }, "{version}");
        assert_eq!(fields["number"]["default"], if extends_last { 7 } else { 0 }, "{version}");
    }
}

#[test]
fn types_have_the_newest_forms_without_a_lock_file() {
    let project = project("0.99.0", "0.24.0", "v1_31");
    std::fs::remove_file(project.path("Cargo.lock")).unwrap();
    let spec = spec(&project, None);
    assert_eq!(spec["description"], "What is\nwanted.\n\nMore.");
    assert_eq!(spec["properties"]["small"], json!({"type": "integer", "minimum": -128, "maximum": 127}));
}

#[test]
fn types_have_the_forms_of_the_required_versions_without_a_lock_file() {
    let operator = |spec: &Value| spec["properties"]["toleration"]["properties"]["operator"].to_string();
    for (kube, small, nullable) in [
        ("\"0.99\"", json!({"type": "integer", "format": "int8"}), None),
        ("{ version = \"~1.1\" }", json!({"type": "integer", "format": "int8"}), None),
        (
            "{ version = \"2\", features = [] }",
            json!({"type": "integer", "format": "int8", "minimum": -128, "maximum": 127}),
            None,
        ),
        (
            "\"=3.0.1\"",
            json!({"type": "integer", "format": "int8", "minimum": -128, "maximum": 127}),
            Some(&Value::Bool(true)),
        ),
    ] {
        let project = project("3.1.0", "0.27.1", "v1_34");
        std::fs::remove_file(project.path("Cargo.lock")).unwrap();
        let manifest = std::fs::read_to_string(project.path("api/Cargo.toml")).unwrap();
        project.write("api/Cargo.toml", manifest.replace("kube = \"*\"", &format!("kube = {kube}")));
        let lib = LIB.replace("port: u16", "size: Option<k8s_openapi::api::core::v1::EmptyDirVolumeSource>");
        project.write("api/src/lib.rs", lib);
        let spec = spec(&project, None);
        assert_eq!(spec["properties"]["small"], small, "{kube}");
        assert_eq!(spec["properties"]["size"]["properties"]["sizeLimit"].get("nullable"), nullable, "{kube}");
        // Since Kubernetes 1.35 it may be `Lt`.
        assert!(!operator(&spec).contains("Lt"), "{kube}");
    }
}

#[test]
fn built_in_types_follow_the_kubernetes_version() {
    let operator = |spec: &Value| {
        let toleration = &spec["properties"]["toleration"]["properties"]["operator"];
        toleration["description"].as_str().unwrap().contains("Lt")
    };
    for (feature, is_new) in [("v1_34", false), ("v1_35", true), ("latest", true), ("earliest", false)] {
        let spec = spec(&project("3.1.0", "0.27.1", feature), None);
        assert_eq!(operator(&spec), is_new, "{feature}");
    }
    let chosen = spec(&project("3.1.0", "0.27.1", "v1_35"), Some("1.31".parse().unwrap()));
    assert!(!operator(&chosen));
}

#[test]
fn optional_quantity_is_nullable_since_kube_3() {
    for (kube, nullable) in [("2.0.1", None), ("3.0.0", Some(&Value::Bool(true)))] {
        let project = project(kube, "0.26.1", "v1_34");
        project.write(
            "api/src/lib.rs",
            LIB.replace("port: u16", "size: Option<k8s_openapi::api::core::v1::EmptyDirVolumeSource>"),
        );
        let spec = spec(&project, None);
        let limit = &spec["properties"]["size"]["properties"]["sizeLimit"];
        assert_eq!(limit.get("nullable"), nullable, "{kube}");
    }
}

#[test]
fn title_of_a_kind_with_rules_is_that_of_the_type_that_checks_them() {
    for (kube, attribute, expected) in [
        ("0.99.0", "rule", "Cart_kube_validation"),
        ("1.1.0", "validation", "CartValidated"),
        ("3.1.0", "validation", "CartValidated"),
        ("4.0.0", "validation", "Cart"),
    ] {
        let project = project(kube, "0.24.0", "v1_31");
        assert_eq!(schema(&project, None)["title"], "Cart", "{kube}");
        let rule = format!("kind = \"Cart\", {attribute} = \"has(self.spec)\")");
        project.write("api/src/lib.rs", LIB.replace("kind = \"Cart\")", &rule));
        assert_eq!(schema(&project, None)["title"], expected, "{kube}");
    }
}

#[test]
fn type_that_the_version_lacks_is_an_error() {
    let project = project("0.99.0", "0.24.0", "v1_31");
    let lib = LIB.replace("port: u16", "port: k8s_openapi::api::policy::v1beta1::PodDisruptionBudgetSpec");
    project.write("api/src/lib.rs", lib);
    let arguments = ["generate", "--only", "crd", "--input", "api", "--crd-output", "crds"];
    let text = String::from_utf8(project.run(&arguments).stderr).unwrap();
    let message =
        "`k8s_openapi::api::policy::v1beta1::PodDisruptionBudgetSpec` does not exist in Kubernetes 1.31";
    assert!(text.contains(message) && text.contains("--kubernetes-version"), "{text}");
    let older = [&arguments[..], &["--kubernetes-version", "1.21"]].concat();
    assert!(project.run(&older).status.success());
    let unknown = [&arguments[..], &["--kubernetes-version", "1.99"]].concat();
    let text = String::from_utf8(project.run(&unknown).stderr).unwrap();
    assert!(text.contains("use one from 1.16 to 1.37"), "{text}");
}

/// The schema of the spec whose type is followed by these, with kube 1.1 and its schemars 0.8.
fn spec_of_0_8(fields: &str, types: &str) -> Value {
    let project = project("1.1.0", "0.25.0", "v1_33");
    let lib = LIB.split_once("small: i8").unwrap().0;
    let derive = "#[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n";
    let types = types.replace("@derive ", derive);
    project.write("api/src/lib.rs", format!("{lib}{fields} }}\nuse std::collections::BTreeMap;\n{types}"));
    spec(&project, None)
}

/// `schemars_derive/src/attr` of schemars 0.8.22.
#[test]
fn attributes_have_the_meaning_of_schemars_0_8() {
    let fields = r#"
        #[garde(length(min = 2))] garde: String,
        #[validate(ip)] ip: String,
        #[validate(phone)] phone: String,
        #[validate(email(message = "no"))] email: String,
        #[validate(contains = "k")] map: BTreeMap<String, String>,
        #[validate(required_nested)] #[serde(default)] nested: Option<String>,
        #[schemars(example = "example")] example: u8,
        from: From, with: With, wrapped: Wrapped,
        /// Words.
        plain: Option<Plain>,
        all: All, one: One"#;
    let types = r#"fn example() -> u8 { 7 }
        @derive #[serde(try_from = "String")] struct From { x: u8 }
        @derive #[schemars(with = "String")] struct With { y: u8 }
        @derive struct Wrapped(/** Words. */ String);
        @derive #[serde(transparent)] /** Words. */ struct Plain(/** Words. */ String);
        @derive #[serde(rename_all_fields = "camelCase")] enum All { One { some_text: String } }
        @derive enum One { One { x: u8 }, #[serde(untagged)] Other { y: u8 } }"#;
    let spec = spec_of_0_8(fields, types);
    let field = |name: &str| spec["properties"][name].clone();
    for name in ["garde", "ip", "email", "wrapped"] {
        assert_eq!(field(name), json!({"type": "string"}), "{name}");
    }
    assert_eq!(field("phone"), json!({"type": "string", "format": "phone"}));
    assert_eq!(field("map")["required"], json!(["k"]));
    assert_eq!(field("example")["example"], 7);
    assert_eq!(field("from")["required"], json!(["x"]));
    assert_eq!(field("with")["required"], json!(["y"]));
    assert_eq!(field("plain"), json!({"type": "string", "nullable": true, "description": "Words."}));
    assert!(field("all").to_string().contains("some_text"), "{}", field("all"));
    assert_eq!(field("one")["oneOf"], json!([{"required": ["One"]}, {"required": ["Other"]}]));
    assert!(!spec["required"].as_array().unwrap().contains(&json!("nested")));
}

#[test]
fn advice_about_defaults_is_for_the_version_of_schemars() {
    for (kube, advice) in [("1.1.0", "#[schemars(default = "), ("3.1.0", "#[schemars(!default)]")] {
        let project = project(kube, "0.25.0", "v1_33");
        let lib = LIB.replace("small: i8", "#[serde(default = \"unknown\")] small: i8");
        project.write("api/src/lib.rs", format!("{lib}fn unknown() -> i8 {{ std::process::id() as i8 }}\n"));
        let arguments = ["generate", "--only", "crd", "--input", "api", "--crd-output", "crds"];
        let text = String::from_utf8(project.run(&arguments).stderr).unwrap();
        assert!(text.contains("KS0419") && text.contains(advice), "{text}");
    }
}

/// `expr_for_struct` and `json_schema_for_flatten` of schemars 0.8.22.
#[test]
fn structs_have_the_fields_of_schemars_0_8() {
    let fields = r#"
        #[serde(skip_deserializing)] written: String,
        #[serde(skip)] skipped: String,
        #[serde(default, skip_serializing)] read: String,
        #[serde(flatten)] map: BTreeMap<String, String>,
        #[serde(flatten)] one: One, #[serde(flatten)] two: Option<Two>"#;
    let types = r#"
        @derive enum One { A { x: u8 }, B { x: u8 } }
        @derive enum Two { C { x: u8 }, D { x: u8 } }"#;
    let spec = spec_of_0_8(fields, types);
    assert_eq!(spec["properties"]["written"], json!({"type": "string", "default": ""}));
    assert_eq!(spec["properties"].get("skipped"), None);
    assert_eq!(spec["required"], json!(["read"]));
    assert_eq!(spec.get("additionalProperties"), None);
    // Of two flattened enums, the first one remains.
    assert_eq!(spec["oneOf"], json!([{"required": ["A"]}, {"required": ["B"]}]));
    assert_eq!((spec.get("allOf"), spec.get("anyOf")), (None, None));
}

/// `variant_subschemas` of schemars 0.8.22.
#[test]
fn variants_of_the_same_name_do_not_exclude_each_other_in_schemars_0_8() {
    let types = r#"
        @derive enum Same { #[serde(rename = "a")] A { x: u8 }, #[serde(rename = "a")] B { x: u8 } }
        @derive #[serde(tag = "kind")] enum Tagged { A { x: u8 }, #[serde(rename = "A")] B { y: u8 } }"#;
    let spec = spec_of_0_8("same: Same, tagged: Tagged", types);
    let field = |name: &str| spec["properties"][name].clone();
    assert_eq!(field("same")["anyOf"], json!([{"required": ["a"]}, {"required": ["a"]}]));
    assert!(field("tagged").get("anyOf").is_some() && field("tagged").get("oneOf").is_none(), "{spec}");
}
