//! The fake clientset of a package: when it is generated, and its CRDs.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubesmith::config::{self, Overrides};
use kubesmith::pipeline;
use kubesmith_testenv::fake::Fake;
use serde_json::Value;

use crate::support::{Crate, USES, kind};

fn sample() -> Crate {
    Crate::new(&format!("{USES}\n{}", kind("Cart", "    /// Its description.\n    pub description: String,")))
}

/// The texts of the client package by path, with `configuration` for the client.
fn package(sample: &Crate, configuration: &str) -> Vec<(String, String)> {
    let configuration = format!(
        "input = [\"api\"]\n[crd]\noutput = \"crds\"\n[client]\noutput = \"client\"\n{configuration}"
    );
    sample.write("kubesmith.toml", configuration);
    let file = sample.path("kubesmith.toml");
    let generated = pipeline::generate(&config::settings(Some(&file), Overrides::default()).unwrap()[0]);
    let trees = generated.targets.iter().flat_map(|target| target.tree.iter());
    trees.map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

fn text<'t>(package: &'t [(String, String)], end: &str) -> Option<&'t str> {
    package.iter().find(|(path, _)| path.ends_with(end)).map(|(_, text)| text.as_str())
}

#[test]
fn fake_clientset_is_the_default_for_crates_but_not_modules() {
    let sample = sample();
    for (configuration, there) in [
        ("", true),
        ("fake_clientset = false", false),
        ("module = \"crate::generated\"", false),
        ("module = \"crate::generated\"\nfake_clientset = true", true),
    ] {
        let package = package(&sample, configuration);
        assert_eq!(text(&package, "clientset/fake.rs").is_some(), there, "{configuration}");
        let clientset = text(&package, "clientset/mod.rs").unwrap();
        let gate =
            if configuration.contains("module") { "#[cfg(test)]" } else { "#[cfg(feature = \"fake\")]" };
        assert_eq!(clientset.contains(&format!("{gate}\npub mod fake;")), there, "{configuration}");
    }
}

#[test]
fn disabled_fake_and_validations_are_removed() {
    let sample = sample();
    sample.write("client/src/clientset/fake/mine.json", "{}");
    sample.write("kubesmith.toml", "input = [\"api\"]\nonly = [\"client\"]\n[client]\noutput = \"client\"\n");
    assert!(sample.run(&["generate"]).status.success());
    let openapi = ["generate", "--only", "openapi", "--openapi-output", "client/openapi"];
    assert!(sample.run(&openapi).status.success());
    let without = "input = [\"api\"]\nonly = [\"client\"]\n[client]\noutput = \"client\"\nfake_clientset = false\nvalidations = false\n";
    assert!(sample.tree("client").contains_key("src/crds.json"));
    sample.write("kubesmith.toml", without);
    assert!(sample.run(&["generate"]).status.success());
    let left = sample.tree("client");
    assert!(!left.contains_key("src/crds.json") && !left.contains_key("src/clientset/fake.rs"));
    assert!(left.contains_key("src/clientset/fake/mine.json"));
    assert!(left.keys().any(|path| path.starts_with("openapi/")), "{:?}", left.keys());
}

#[test]
fn embedded_crds_equal_the_written_ones_without_descriptions() {
    let package = package(&sample(), "");
    let list: Value = serde_json::from_str(text(&package, "crds.json").unwrap()).unwrap();
    let mut written: Value = serde_yaml::from_str(text(&package, "example.com_carts.yaml").unwrap()).unwrap();
    let schema = &mut written["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    undescribed(schema);
    assert_eq!(list["items"], Value::Array(vec![written]));
    let properties = &list["items"][0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    assert_eq!(
        properties["spec"]["properties"]["description"]["type"], "string",
        "a field of this name stays"
    );
}

/// Takes the descriptions out of a schema of plain properties.
fn undescribed(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    members.remove("description");
    for property in members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        undescribed(property.1);
    }
}

#[tokio::test]
async fn kind_without_crd_accepts_any_object_in_the_fake() {
    let skipped =
        kind("Ghost", "    pub size: i32,").replace("version = \"v1\"", "version = \"v1\", skip_version");
    let sample = Crate::new(&format!("{USES}\n{}\n{skipped}", kind("Cart", "    pub size: i32,")));
    let package = package(&sample, "");
    assert!(text(&package, "example.com_ghosts.yaml").is_none());
    let list: Value = serde_json::from_str(text(&package, "crds.json").unwrap()).unwrap();
    let crds: Vec<CustomResourceDefinition> = serde_json::from_value(list["items"].clone()).unwrap();
    let names: Vec<_> = crds.iter().map(|crd| crd.metadata.name.clone().unwrap()).collect();
    assert_eq!(names, ["carts.example.com", "ghosts.example.com"]);
    let ghost = serde_json::json!({"apiVersion": "example.com/v1", "kind": "Ghost",
        "metadata": {"name": "boo"}, "spec": {"anything": true}});
    let fake = Fake::<kube::Client>::builder().crds(crds).build().unwrap();
    fake.tracker().add(kubesmith_testenv::fake::Object::from_value(ghost)).unwrap();
}
