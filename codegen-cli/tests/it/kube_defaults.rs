//! Defaults in schemas of kube-rs's types.

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::pipeline;
use serde_json::{Value, json};

use crate::support::{self, Crate};

const HEAD: &str = "use k8s_openapi::api::{core::v1::Service, rbac::v1::Role};\n\
    #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
    #[kube(group = \"example.com\", version = \"v1\", kind = \"Cart\")]\n";

/// The default of the field `value`.
fn default(source: &str) -> Result<Value, String> {
    schema(source).map(|schema| schema["default"].clone())
}

/// The schema of the field `value`.
fn schema(source: &str) -> Result<Value, String> {
    let crate_ = Crate::new(&format!("{HEAD}{source}"));
    let overrides = Overrides {
        input: vec![crate_.path("api")],
        crd_output: Some("crds".into()),
        only: vec![Generator::Crd],
        ..Overrides::default()
    };
    let generated = pipeline::generate(&config::settings(None, overrides).unwrap()[0]);
    let text = support::crd_texts(&generated).into_values().next();
    let crd: Value = serde_yaml::from_str(&text.ok_or_else(|| support::short(&generated))?).unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    Ok(spec["properties"]["value"].clone())
}

#[test]
fn default_of_a_kubernetes_kind_has_its_api_version_and_kind() {
    let service = default("pub struct CartSpec { #[serde(default)] value: Service }");
    assert_eq!(service, Ok(json!({"apiVersion": "v1", "kind": "Service", "metadata": {}})));
    let role = default(
        "pub struct CartSpec { #[serde(default = \"role\")] value: Role }\n\
         fn role() -> Role { Role { rules: None, ..Default::default() } }",
    );
    let expected = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {}});
    assert_eq!(role, Ok(expected));
}

#[test]
fn default_may_be_the_start_of_unix_time() {
    for start in ["SystemTime::UNIX_EPOCH.clone()", "std::time::UNIX_EPOCH"] {
        let source = format!(
            "pub struct CartSpec {{ #[serde(default = \"start\")] value: SystemTime }}\nuse std::time::SystemTime;\n\
             fn start() -> SystemTime {{ {start} }}"
        );
        assert_eq!(default(&source), Ok(json!({"secs_since_epoch": 0, "nanos_since_epoch": 0})), "{start}");
    }
}

#[test]
fn primitive_type_beside_an_imported_module_of_its_name_is_known() {
    let schema = schema("pub struct CartSpec { value: usize, small: u8 }\nuse std::{u8, usize};");
    assert_eq!(schema.unwrap(), json!({"type": "integer", "minimum": 0}));
}

#[test]
fn function_of_a_type_parameter_is_that_of_its_argument() {
    let schema = schema(
        "pub struct CartSpec { value: Cache<Users> }\n\
         #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
         struct Cache<D: Limits> { #[serde(default = \"D::limit\")] limit: u32, \
         #[serde(skip)] of: std::marker::PhantomData<D> }\n\
         trait Limits { fn limit() -> u32; }\n\
         #[derive(Clone, Debug, schemars::JsonSchema)]\nstruct Users;\n\
         impl Limits for Users { fn limit() -> u32 { 5 * 60 } }",
    );
    assert_eq!(schema.unwrap()["properties"]["limit"]["default"], 300);
}

#[test]
fn constants_of_kubernetes_kinds_are_known() {
    for (constant, expected) in [
        ("Service::API_VERSION", "v1"),
        ("<Role as k8s_openapi::Resource>::API_VERSION", "rbac.authorization.k8s.io/v1"),
        ("Role::GROUP", "rbac.authorization.k8s.io"),
        ("Role::VERSION", "v1"),
        ("Service::GROUP", ""),
        ("k8s_openapi::api::core::v1::Service::KIND", "Service"),
        ("Role::URL_PATH_SEGMENT", "roles"),
    ] {
        let value = default(&format!(
            "pub struct CartSpec {{ #[serde(default = \"text\")] value: String }}\n\
             fn text() -> String {{ {constant}.to_string() }}"
        ));
        assert_eq!(value, Ok(json!(expected)), "{constant}");
    }
}

#[test]
fn default_of_educe_is_that_of_its_fields() {
    let inner = |of_type: &str, of_field: &str| {
        default(&format!(
            "pub struct CartSpec {{ #[serde(default)] value: Inner }}\n\
             #[derive(Clone, Debug, educe::Educe, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
             #[educe({of_type})]\nstruct Inner {{ {of_field} name: Option<String>, count: u32 }}"
        ))
    };
    let expected = Ok(json!({"count": 0, "name": null}));
    assert_eq!(inner("Default", ""), expected);
    assert_eq!(inner("Clone(bound()), Default(bound())", ""), expected);
    for (of_type, of_field) in [
        ("Default(expression = \"Inner::new()\")", ""),
        ("Default", "#[educe(Default = \"a\")]"),
        ("Debug", ""),
    ] {
        let error = inner(of_type, of_field).unwrap_err();
        assert!(error.contains("the default of `value` is not known"), "{error}");
    }
}

#[test]
fn root_type_of_a_kind_may_be_the_type_of_a_field() {
    let schema = schema(
        "pub struct CartSpec { value: Order, all: Vec<Order> }\n\
         #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
         #[kube(group = \"example.com\", version = \"v1\", kind = \"Order\", status = \"OrderStatus\", doc = \"An order\")]\n\
         #[serde(rename_all = \"camelCase\")]\npub struct OrderSpec { item_count: u8 }\n\
         #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
         pub struct OrderStatus { ready: bool }",
    );
    let expected = json!({
        "description": "An order",
        "properties": {
            "spec": {
                "properties": {"itemCount": {"maximum": 255, "minimum": 0, "type": "integer"}},
                "required": ["itemCount"],
                "type": "object",
            },
            "status": {
                "nullable": true,
                "properties": {"ready": {"type": "boolean"}},
                "required": ["ready"],
                "type": "object",
            },
        },
        "required": ["spec"],
        "type": "object",
    });
    assert_eq!(schema, Ok(expected));
}
