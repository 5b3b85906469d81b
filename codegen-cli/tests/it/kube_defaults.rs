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
    Ok(spec["properties"]["value"]["default"].clone())
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
