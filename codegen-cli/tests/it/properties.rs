//! Properties of the output for every input: determinism, escaped text, structural schemas.

use serde_json::Value;

use crate::support::{self, Crate, USES, kind};

#[test]
fn output_does_not_depend_on_input_order_or_repetition() {
    let dir = Crate::new("");
    let mut inputs = Vec::new();
    for (at, name) in ["alpha", "beta", "gamma"].into_iter().enumerate() {
        dir.write(
            &format!("{name}/Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n[dependencies]\nk8s-openapi = \"0.29\"\n\
                 kubesmith-runtime = \"0.1\"\nserde = \"1\"\n"
            ),
        );
        let kinds: String = (0..3).map(|n| kind(&format!("Kind{at}{n}"), "    pub size: i32,")).collect();
        dir.write(&format!("{name}/src/lib.rs"), USES.to_string() + &kinds);
        inputs.push(dir.path(name));
    }
    let first = support::everything(&inputs);
    assert_eq!(first.diagnostics, []);
    assert_eq!(
        first.targets.len(),
        7,
        "CRDs, client, roles, webhooks, policies, OpenAPI documents, documentation"
    );
    let trees = |generated: &kubesmith::pipeline::Generated| -> Vec<_> {
        generated.targets.iter().map(|target| target.tree.clone()).collect()
    };
    for order in [[2, 1, 0], [1, 0, 2], [0, 1, 2]] {
        let shuffled: Vec<_> = order.into_iter().map(|at| inputs[at].clone()).collect();
        let again = support::everything(&shuffled);
        assert_eq!(trees(&again), trees(&first));
        assert_eq!(serde_json::to_string(&again.ir).unwrap(), serde_json::to_string(&first.ir).unwrap());
    }
}

#[test]
fn output_does_not_depend_on_the_split_into_files() {
    let kinds: Vec<String> = (0..20).map(|n| format!("Kind{n:02}")).collect();
    let mut lib = String::new();
    let mut files = Vec::new();
    for name in &kinds {
        let module = name.to_lowercase();
        lib.push_str(&format!("mod {module};\npub use {module}::*;\n"));
        files.push((format!("src/{module}.rs"), USES.to_string() + &kind(name, "    pub size: i32,")));
    }
    files.push(("src/lib.rs".to_string(), lib));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let split = Crate::with_files(&files).generate();
    let one: String = kinds.iter().map(|name| kind(name, "    pub size: i32,")).collect();
    let single = Crate::new(&(USES.to_string() + &one)).generate();
    assert_eq!(split.diagnostics, []);
    assert_eq!(support::crd_texts(&split), support::crd_texts(&single));
    assert_eq!(split.ir.groups[0].versions[0].resources[3].code.type_path, "sample_api::Kind03");
}

/// Text that would be structure in YAML or Rust if it were not quoted.
pub(crate) const NASTY: &[&str] = &[
    "\"\n- injected: true\n",
    "'\nkey: value",
    "# comment",
    "*/ fn evil() {} /*",
    "\"#; fn evil() {} //",
    "{{ x }}",
    "a\n---\nb: c",
    "!!python/object x",
    "&a *a",
    "${x} $(y) `z`",
    "\u{0}\u{1b}[31m",
    "\u{2028}\u{85}",
    "%YAML 1.1",
    "]]>",
];

#[test]
fn user_text_does_not_inject_output() {
    for text in NASTY {
        let literal = format!("{text:?}").replace("\\u{0}", "\\0");
        // JSON's strings are strings of the expression language.
        let expression = serde_json::to_string(text).unwrap();
        let lib = USES.to_string()
            + &kind(
                "Widget",
                &format!(
                    "    #[doc = {literal}]\n    #[serde(rename = {literal})]\n    #[schema(default = {literal}, example = {literal})]\n    \
                     #[validation(enum({literal}, \"x\"), rule(rule = \"true\", message_expression = {expression:?}))]\n    pub name: String,"
                ),
            )
            .replacen("#[derive", &format!("#[doc = {literal}]\n#[derive"), 1);
        let generated = Crate::new(&lib).generate();
        assert!(
            !kubesmith::diag::has_errors(&generated.diagnostics),
            "{literal}: {}",
            support::short(&generated)
        );
        for (_, yaml) in support::crd_texts(&generated) {
            let data: Value = serde_yaml::from_str(&yaml).unwrap();
            let spec = &data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
            let property = &spec["properties"][*text];
            assert_eq!(property["default"], *text);
            assert_eq!(property["enum"], serde_json::json!([text, "x"]));
            assert_eq!(property["x-kubernetes-validations"][0]["messageExpression"], expression);
            assert_eq!(spec["properties"].as_object().unwrap().len(), 1);
            assert_eq!(data.as_object().unwrap().len(), 4);
        }
        for (path, rust) in generated.targets.iter().flat_map(|target| target.tree.iter()) {
            if path.ends_with(".rs") {
                assert!(syn::parse_file(rust).is_ok(), "{path} with {literal}");
                assert!(!rust.contains("\nfn evil"), "{path} with {literal}");
            }
        }
    }
}

/// The functions of a kind with two versions: `field` is one of its spec's.
fn two_versions(field: impl Fn(&str) -> String) -> kubesmith::pipeline::Generated {
    let version = |name: &str, keys: &str| {
        let kind = kind("Widget", &field(name));
        let kind = kind.replace("version = \"v1\"", &format!("version = \"{name}\"{keys}"));
        format!("pub mod {name} {{\n{USES}{kind}}}\n")
    };
    Crate::new(&(version("v1", ", storage_version") + &version("v1beta1", ""))).generate()
}

#[test]
fn user_text_does_not_inject_code_into_functions_of_types() {
    for text in NASTY {
        let literal = format!("{text:?}").replace("\\u{0}", "\\0");
        let generated = two_versions(|version| {
            // The methods to write by hand name fields that differ, and variants that only one version has.
            let (ty, variant) = if version == "v1" { ("i32", "Blue") } else { ("String", "Red") };
            format!(
                "    #[serde(rename = {literal})]\n    pub r#type: {ty},\n    #[serde(rename = \"x{version}\")]\n    pub only: {ty},\n    \
                 #[schema(default = {literal})]\n    pub text: Option<String>,\n    \
                 #[schema(default = {{\"a\": {literal}}})]\n    pub map: Option<std::collections::BTreeMap<String, String>>,\n    \
                 pub color: Color,\n}}\n#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
                 pub enum Color {{ #[default] #[serde(rename = {literal})] {variant}, \
                 #[serde(rename = \"{variant}2\")] Other{variant},"
            )
        });
        assert!(
            !kubesmith::diag::has_errors(&generated.diagnostics),
            "{literal}: {}",
            support::short(&generated)
        );
        let files = generated.targets.iter().flat_map(|target| target.tree.iter());
        let files: Vec<_> = files.filter(|(path, _)| path.ends_with(".rs")).collect();
        let of = |part: &str| files.iter().filter(|(path, _)| path.contains(part)).count();
        assert!(of("/defaults/example/") == 2 && of("/conversions/example/") == 1, "{literal}");
        for (path, rust) in files {
            assert!(!rust.contains("\nfn evil"), "{path} with {literal}");
            let file = syn::parse_file(rust).unwrap_or_else(|error| panic!("{path} with {literal}: {error}"));
            let strings = Strings::of(&file);
            let defaults = path.ends_with("/defaults/example/v1.rs");
            let json = serde_json::to_string(text).unwrap();
            assert!(!defaults || strings.contains(&json), "{path} with {literal}: {strings:?}");
        }
    }
}

/// The texts of string literals.
#[derive(Default)]
struct Strings(Vec<String>);

impl Strings {
    fn of(file: &syn::File) -> Vec<String> {
        let mut out = Self::default();
        syn::visit::visit_file(&mut out, file);
        out.0
    }
}

impl syn::visit::Visit<'_> for Strings {
    fn visit_lit_str(&mut self, literal: &syn::LitStr) {
        self.0.push(literal.value());
    }
}

#[test]
fn functions_are_generated_for_any_version_name() {
    for version in ["v2", "foo-10", "mod", "new"] {
        let field = |name: &str| if name == "v1" { "i32" } else { "String" };
        let versions =
            [("v1", "v1", ", storage_version"), ("other", version, "")].map(|(module, name, keys)| {
                let kind = kind("Widget", &format!("    pub size: i32,\n    pub other: {},", field(name)));
                let kind = kind.replace("version = \"v1\"", &format!("version = \"{name}\"{keys}"));
                format!("pub mod {module} {{\n{USES}{kind}}}\n")
            });
        let generated = Crate::new(&versions.concat()).generate();
        assert!(
            !kubesmith::diag::has_errors(&generated.diagnostics),
            "{version}: {}",
            support::short(&generated)
        );
        let mut files = generated.targets.iter().flat_map(|target| target.tree.iter());
        let (_, rust) = files.find(|(path, _)| path.ends_with("/conversions/example/widget.rs")).unwrap();
        let function = format!("convert_v1_widget_spec_to_{}_widget_spec_other(", version.replace('-', "_"));
        assert!(rust.contains(&function), "{version}: {rust}");
    }
}

#[test]
fn data_enum_is_an_object_with_one_field() {
    let lib = USES.to_string()
        + &kind("Widget", "    pub source: Source,")
        + "/// Where from.\n#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]\n\
           #[serde(rename_all = \"camelCase\")]\npub enum Source {\n    /// A file.\n    FilePath(String),\n    \
           Inline { #[validation(min_length = 1)] text: String, note: Option<String> },\n}\n";
    let generated = Crate::new(&lib).generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    let data: Value = serde_yaml::from_str(&yaml).unwrap();
    let spec = &data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert_eq!(
        spec["properties"]["source"],
        serde_json::json!({
            "description": "Where from.",
            "oneOf": [{"required": ["filePath"]}, {"required": ["inline"]}],
            "properties": {
                "filePath": {"description": "A file.", "type": "string"},
                "inline": {
                    "properties": {"note": {"type": "string"}, "text": {"minLength": 1, "type": "string"}},
                    "required": ["text"],
                    "type": "object",
                },
            },
            "type": "object",
        })
    );
}

#[test]
fn crd_versions_have_their_flags() {
    let version = |name: &str, keys: &str| {
        let kind = kind("Widget", "    pub size: i32,\n    pub color: String,")
            .replace("version = \"v1\"", &format!("version = \"{name}\", {keys}"));
        format!("pub mod {name} {{\n{USES}{kind}}}\n")
    };
    let lib = version("v2", "storage_version, selectable_field(json_path = \".spec.color\")")
        + &version("v1", "deprecated_version(warning = \"use v2\")")
        + &version("v1beta1", "unserved_version, deprecated_version")
        + &version("v1alpha1", "skip_version");
    let generated = Crate::new(&lib).generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    let data: Value = serde_yaml::from_str(&yaml).unwrap();
    let mut versions = data["spec"]["versions"].clone();
    for version in versions.as_array_mut().unwrap() {
        version.as_object_mut().unwrap().remove("schema");
    }
    assert_eq!(
        versions,
        serde_json::json!([
            {"name": "v1", "served": true, "storage": false, "deprecated": true, "deprecationWarning": "use v2"},
            {"name": "v1beta1", "served": false, "storage": false, "deprecated": true},
            {"name": "v2", "served": true, "storage": true, "selectableFields": [{"jsonPath": ".spec.color"}]},
        ])
    );
    assert!(data["spec"].get("conversion").is_none(), "the server's own is None");
    // Clients exist for every version, the most preferred first.
    let names: Vec<_> = generated.ir.groups[0].versions.iter().map(|version| version.name.as_str()).collect();
    assert_eq!(names, ["v2", "v1", "v1beta1", "v1alpha1"]);
}

#[test]
fn conversion_of_any_version_applies_to_the_crd() {
    let written = |conversion: &str| {
        let version = |name: &str, keys: &str| {
            let kind = kind("Widget", "    pub size: i32,")
                .replace("version = \"v1\"", &format!("version = \"{name}\"{keys}"));
            format!("pub mod {name} {{\n{USES}{kind}}}\n")
        };
        let lib = version("v1", &format!(", conversion({conversion})")) + &version("v2", ", storage_version");
        let generated = Crate::new(&lib).generate();
        assert_eq!(support::short(&generated), "");
        let yaml = support::crd_texts(&generated).into_values().next().unwrap();
        let data: Value = serde_yaml::from_str(&yaml).unwrap();
        data["spec"]["conversion"].clone()
    };
    assert_eq!(written("strategy = \"None\""), serde_json::json!({"strategy": "None"}));
    assert_eq!(
        written(
            "strategy = \"Webhook\", service_namespace = \"system\", service_name = \"hook\", path = \"/convert\", port = 9443"
        ),
        serde_json::json!({"strategy": "Webhook", "webhook": {
            "clientConfig": {"service": {"namespace": "system", "name": "hook", "path": "/convert", "port": 9443}},
            "conversionReviewVersions": ["v1"],
        }})
    );
    let bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t";
    assert_eq!(
        written(&format!(
            "strategy = \"Webhook\", url = \"https://example.com\", ca_bundle = \"{bundle}\", review_versions(\"v1\", \"v1beta1\")"
        )),
        serde_json::json!({"strategy": "Webhook", "webhook": {
            "clientConfig": {"url": "https://example.com", "caBundle": bundle},
            "conversionReviewVersions": ["v1", "v1beta1"],
        }})
    );
}

#[test]
fn crd_that_is_too_large_for_kubectl_apply_gets_a_warning() {
    let fields = "    pub template: k8s_openapi::api::core::v1::PodTemplateSpec,";
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", fields)));
    let generated = sample.generate();
    assert!(support::short(&generated).contains("warning[KS0510]"), "{}", support::short(&generated));
    assert_eq!(support::crd_texts(&generated).len(), 1);
    let short = support::crds(sample.path("api"), Some(0), false);
    assert_eq!(support::short(&short), "");
}

#[test]
fn tagged_enum_is_an_object_with_branches_by_tag() {
    let lib = USES.to_string()
        + &kind("Widget", "    pub check: Check,")
        + "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]\n\
           #[serde(tag = \"kind\", rename_all = \"camelCase\")]\npub enum Check {\n    None,\n    \
           HttpGet { path: String, port: Option<i32> },\n    Tcp(Socket),\n}\n\
           #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]\npub struct Socket { pub host: String }\n";
    let generated = Crate::new(&lib).generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    let data: Value = serde_yaml::from_str(&yaml).unwrap();
    let spec = &data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert_eq!(
        spec["properties"]["check"],
        serde_json::json!({
            "type": "object",
            "required": ["kind"],
            "properties": {
                "kind": {"type": "string", "enum": ["none", "httpGet", "tcp"]},
                "path": {"type": "string"},
                "port": {"type": "integer", "format": "int32"},
                "host": {"type": "string"},
            },
            "oneOf": [
                {"properties": {"kind": {"enum": ["none"]}}},
                {"properties": {"kind": {"enum": ["httpGet"]}}, "required": ["path"]},
                {"properties": {"kind": {"enum": ["tcp"]}}, "required": ["host"]},
            ],
        })
    );
}

/// A chain of structs, each holding the next.
fn chain(length: usize) -> String {
    let level = |at: usize| {
        format!("#[derive(Serialize, Deserialize, Schema)] pub struct S{at} {{ pub next: S{} }}\n", at + 1)
    };
    let end = format!("#[derive(Serialize, Deserialize, Schema)] pub struct S{length} {{ pub end: i32 }}\n");
    USES.to_string() + &kind("Widget", "pub first: S0,") + &(0..length).map(level).collect::<String>() + &end
}

#[test]
fn schemas_that_are_too_deep_are_refused() {
    let deep = Crate::new(&chain(2_000)).generate();
    let text = support::short(&deep);
    assert!(text.contains("nested more than 64 levels deep"), "{text}");
    assert_eq!(support::short(&Crate::new(&chain(30)).generate()), "");
}
