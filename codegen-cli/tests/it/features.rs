//! Features of the inputs and of their dependencies are on as in Cargo.

use std::collections::BTreeSet;

use kubesmith::config::{FeatureFlags, Overrides};
use kubesmith::pipeline::Generated;

use crate::support::{self, Crate, USES, kind};

/// A crate whose spec has a field for each feature, and one for each of its path dependency.
fn sample(features: &str) -> Crate {
    let fields = ["default", "a", "b", "parts"]
        .map(|name| format!("    #[cfg(feature = \"{name}\")]\n    pub of_{name}: bool,\n"))
        .concat();
    let parts = "    #[cfg(feature = \"parts\")]\n    pub parts: parts::Parts,\n";
    let sample = Crate::new(&format!("{USES}{}", kind("Widget", &(fields + parts))));
    sample.write(
        "api/Cargo.toml",
        format!(
            "[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\n[dependencies]\nk8s-openapi = \"0.29\"\n\
             kubesmith-runtime = \"0.1\"\nserde = \"1\"\nparts = {{ path = \"../parts\", optional = true }}\n{features}"
        ),
    );
    sample.write(
        "parts/Cargo.toml",
        "[package]\nname = \"parts\"\nversion = \"0.1.0\"\n[features]\ndefault = [\"one\"]\none = []\ntwo = []\n",
    );
    sample.write(
        "parts/src/lib.rs",
        "use kubesmith_runtime::Schema;\nuse serde::{Deserialize, Serialize};\n\
         #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\npub struct Parts {\n    \
         #[cfg(feature = \"one\")]\n    pub one: bool,\n    #[cfg(feature = \"two\")]\n    pub two: bool,\n}\n",
    );
    sample
}

fn generate(sample: &Crate, flags: FeatureFlags) -> Generated {
    support::run(Overrides {
        input: vec![sample.path("api"), sample.path("parts")],
        output: Some("out".into()),
        features: flags,
        ..Overrides::default()
    })
}

/// The fields that the CRD has, those of `parts` by `parts.`.
fn fields(generated: &Generated) -> Vec<String> {
    assert_eq!(support::short(generated), "");
    let yaml = support::crd_texts(generated).into_values().next().unwrap();
    let data: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
    let schema =
        &data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let names = |schema: &serde_json::Value, prefix: &str| -> BTreeSet<String> {
        schema.as_object().into_iter().flatten().map(|(name, _)| format!("{prefix}{name}")).collect()
    };
    let mut out = names(schema, "");
    out.remove("parts");
    out.extend(names(&schema["parts"]["properties"], "parts."));
    out.into_iter().collect()
}

fn named(names: &[&str]) -> FeatureFlags {
    FeatureFlags {
        features: names.iter().map(|name| (*name).to_string()).collect(),
        ..FeatureFlags::default()
    }
}

#[test]
fn default_features_are_on_unless_flags_turn_them_off() {
    let sample = sample("[features]\ndefault = [\"a\"]\na = []\nb = []\n");
    assert_eq!(fields(&generate(&sample, named(&[]))), ["of_a", "of_default"]);
    assert_eq!(fields(&generate(&sample, named(&["b"]))), ["of_a", "of_b", "of_default"]);
    let bare = FeatureFlags { no_default_features: true, ..named(&[]) };
    assert!(fields(&generate(&sample, bare)).is_empty());
    let bare = FeatureFlags { no_default_features: true, ..named(&["sample-api/b"]) };
    assert_eq!(fields(&generate(&sample, bare)), ["of_b"]);
    let all = FeatureFlags { all_features: true, ..named(&[]) };
    assert_eq!(
        fields(&generate(&sample, all)),
        ["of_a", "of_b", "of_default", "of_parts", "parts.one", "parts.two"]
    );
}

#[test]
fn features_turn_on_dependencies_and_their_features() {
    for (features, chosen, expected) in [
        ("", "parts", &["of_parts", "parts.one"][..]),
        ("[features]\na = [\"parts\"]\n", "a", &["of_a", "of_parts", "parts.one"]),
        ("[features]\na = [\"parts/two\"]\n", "a", &["of_a", "of_parts", "parts.one", "parts.two"]),
        ("[features]\na = [\"parts?/two\"]\n", "a", &["of_a"]),
    ] {
        assert_eq!(fields(&generate(&sample(features), named(&[chosen]))), expected, "{features}");
    }
}

#[test]
fn unknown_feature_is_an_error() {
    let sample = sample("[features]\nalpha = []\n");
    let text = support::short(&generate(&sample, named(&["alpah"])));
    assert_eq!(text, "error[KS0417]: no input has a feature `alpah`\n");
    let run = sample.run(&["generate", "--input", "api", "--output", "out", "--features", "alpah"]);
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(text.contains("did you mean `alpha`?"), "{text}");
}

#[test]
fn type_of_a_disabled_optional_dependency_gets_help() {
    let sample = sample("");
    sample.write("api/src/lib.rs", format!("{USES}{}", kind("Widget", "    pub parts: parts::Parts,")));
    let run = sample.run(&["generate", "--input", "api", "--output", "out"]);
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(text.contains("the dependency `parts` is optional: turn it on with `--features`"), "{text}");
}

#[test]
fn configuration_file_selects_features_like_flags() {
    let sample = sample("[features]\ndefault = [\"a\"]\na = []\nb = []\n");
    let crd = |keys: &str, arguments: &[&str]| {
        let rest = "input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\n";
        sample.write("kubesmith.toml", format!("{keys}\n{rest}"));
        let run = sample.run(&[&["generate"], arguments].concat());
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        let text = sample.tree("crds").into_values().next().unwrap();
        ["of_a", "of_b", "of_default"].into_iter().filter(|name| text.contains(*name)).collect::<Vec<_>>()
    };
    assert_eq!(crd("features = [\"b\"]", &[]), ["of_a", "of_b", "of_default"]);
    assert_eq!(crd("no_default_features = true\nfeatures = [\"b\"]", &[]), ["of_b"]);
    assert_eq!(crd("no_default_features = true\nfeatures = [\"b\"]", &["--features", "a"]), ["of_a"]);
    sample.write("kubesmith.toml", "all_featurse = true\n");
    let run = sample.run(&["generate"]);
    assert!(String::from_utf8_lossy(&run.stderr).contains("did you mean `all_features`?"));
}
