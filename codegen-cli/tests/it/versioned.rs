//! `#[versioned]` of stackable-versioned gives the definitions of the modules that the macro makes.

use std::collections::BTreeMap;

use kubesmith::diag;
use kubesmith::pipeline::Generated;
use kubesmith_core::diag::Code;

use crate::support::{self, Crate};

const USES: &str = "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\nuse stackable_versioned::versioned;\n";
const SPEC: &str = "#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, CustomResource)]\n#[serde(rename_all = \"camelCase\")]\n";
const PART: &str = "#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]\n";

fn run(source: &str) -> Generated {
    let crate_ = Crate::new(&(USES.to_string() + source));
    support::crds(crate_.path("api"), None, false)
}

#[track_caller]
fn crds(source: &str) -> BTreeMap<String, String> {
    let generated = run(source);
    assert!(!diag::has_errors(&generated.diagnostics), "{}\n{source}", support::short(&generated));
    support::crd_texts(&generated)
}

#[track_caller]
fn are_equal(versioned: &str, written_out: &str) {
    assert_eq!(crds(versioned), crds(written_out));
}

/// `#[kube]` of a version of the kind `Farm`.
fn kube(version: &str, more: &str) -> String {
    format!(
        "#[kube(group = \"example.com\", version = \"{version}\", kind = \"Farm\", doc = \"A farm.\"{more})]\n"
    )
}

const STORED: &str = "pub fn stored() { let _ = Farm::merged_crd(FarmVersion::V1Beta1); }\n";

#[test]
fn fields_change_from_version_to_version() {
    let versioned = format!(
        "#[versioned(version(name = \"v1alpha1\"), version(name = \"v1beta1\", doc = \"Second.\"), version(name = \"v1\", deprecated))]\n\
         pub mod versioned {{\n#[versioned(crd(group = \"example.com\", doc = \"A farm.\", namespaced, shortname = \"fa\", plural = \"farmen\"))]\n\
         {SPEC}pub struct FarmSpec {{\n\
         pub always: String,\n\
         #[versioned(added(since = \"v1beta1\"))] pub later: Option<u8>,\n\
         #[versioned(changed(since = \"v1beta1\", from_name = \"was\", from_type = \"u16\", upgrade_with = up), changed(since = \"v1\", from_name = \"then\"))] /// Grows.\n pub now: u32,\n\
         #[versioned(deprecated(since = \"v1beta1\", note = \"gone\"), nested)] deprecated_old: Part,\n}}\n\
         {PART}pub struct Part {{ #[versioned(added(since = \"v1\", default = make), hint(vec))] more: Vec<String>, pub one: bool }}\n}}\n{STORED}"
    );
    let more = ", namespaced, shortname = \"fa\", plural = \"farmen\"";
    let module = |version: &str, docs: &str, fields: &str, part: &str| {
        format!(
            "pub mod {version} {{ use super::*;\n{docs}{SPEC}{}pub struct FarmSpec {{ pub always: String,\n{fields} }}\n\
             {docs}{PART}pub struct Part {{ {part} pub one: bool }}\n}}\n",
            kube(version, more)
        )
    };
    let written_out = module("v1alpha1", "", "/// Grows.\n pub was: u16, pub old: Part,", "")
        + &module(
            "v1beta1",
            "#[doc = \"Second.\"]\n",
            "pub later: Option<u8>,\n/// Grows.\n pub then: u32,\n#[deprecated = \"gone\"] pub deprecated_old: Part,",
            "",
        )
        + &module(
            "v1",
            "",
            "pub later: Option<u8>,\n/// Grows.\n pub now: u32,\n#[deprecated] pub deprecated_old: Part,",
            "pub more: Vec<String>,",
        )
        + STORED;
    are_equal(&versioned, &written_out);
    let text = crds(&versioned).into_values().next().unwrap();
    assert_eq!(text.matches("storage: true").count(), 1, "{text}");
    assert_eq!(text.matches("- name: v1").count(), 3, "{text}");
}

#[test]
fn variants_change_from_version_to_version() {
    let versioned = format!(
        "#[versioned(version(name = \"v1alpha1\"), version(name = \"v1beta1\"))]\nmod versioned {{\n\
         mod v1beta1 {{ pub use crate::outside::Shared; }}\nmod v1alpha1 {{ pub use crate::outside::Old as Shared; }}\n\
         #[versioned(crd(group = \"example.com\", doc = \"A farm.\", status = \"FarmStatus\"))]\n{SPEC}pub struct FarmSpec {{ animal: Animal, shared: Shared }}\n\
         {PART}pub enum Animal {{ #[versioned(changed(since = \"v1beta1\", from_name = \"Calf\"))] Cow, #[versioned(added(since = \"v1beta1\"))] Pig,\n\
         #[versioned(deprecated(since = \"v1beta1\"))] DeprecatedGoat }}\n}}\n"
    );
    let rest = format!(
        "{PART}pub struct FarmStatus {{ pub ready: bool }}\npub mod outside {{ use super::*; {PART}pub struct Shared {{ pub a: String }}\n\
         {PART}pub struct Old {{ pub b: String }}\n}}\n{STORED}"
    );
    let module = |version: &str, shared: &str, variants: &str| {
        format!(
            "mod {version} {{ use super::*; pub use crate::outside::{shared};\n{SPEC}{}pub struct FarmSpec {{ pub animal: Animal, pub shared: Shared }}\n\
             {PART}pub enum Animal {{ {variants} }}\n}}\n",
            kube(version, ", status = \"FarmStatus\"")
        )
    };
    let written_out = module("v1alpha1", "Old as Shared", "Calf, Goat")
        + &module("v1beta1", "Shared", "Cow, Pig, #[deprecated] DeprecatedGoat");
    are_equal(&(versioned + &rest), &(written_out + &rest));
}

#[test]
fn conversion_tracking_adds_a_status() {
    let changed = format!("{PART}#[derive(Default)] pub struct ChangedValues {{ pub from: String }}\n");
    let versioned = "#[versioned(version(name = \"v1beta1\"), crates(versioned = \"crate\"), options(preserve_module, k8s(experimental_conversion_tracking)))]\n\
         mod versioned {\n#[versioned(crd(group = \"example.com\", doc = \"A farm.\", status = crate::FarmStatus))]\n\
         #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema, kube::CustomResource)]\npub struct FarmSpec { pub one: bool }\n}\n".to_owned();
    let rest = format!("{PART}pub struct FarmStatus {{ pub ready: bool }}\n{changed}");
    let written_out = format!(
        "#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, CustomResource)]\n{}pub struct FarmSpec {{ pub one: bool }}\n\
         {PART}#[serde(rename_all = \"camelCase\")] pub struct Tracked {{ pub changed_values: ChangedValues, #[serde(flatten)] pub status: FarmStatus }}\n",
        kube("v1beta1", ", status = \"Tracked\"")
    );
    are_equal(&(versioned + &rest), &(written_out + &rest));
}

#[test]
fn single_type_may_have_versions() {
    let versioned = format!(
        "#[versioned(version(name = \"v1beta1\"), k8s(group = \"example.com\", kind = \"Farm\", doc = \"A farm.\"))]\n{SPEC}pub struct Anything {{ one: bool }}\n"
    );
    let written_out = format!(
        "pub mod v1beta1 {{ use super::*; {SPEC}{}pub struct Anything {{ pub one: bool }} }}\n",
        kube("v1beta1", "")
    );
    are_equal(&versioned, &written_out);
}

#[test]
fn several_versions_require_a_storage_version() {
    let source = format!(
        "#[versioned(version(name = \"v1alpha1\"), version(name = \"v1\"))]\nmod versioned {{\n\
         #[versioned(crd(group = \"example.com\", doc = \"A farm.\"))]\n{SPEC}pub struct FarmSpec {{ pub one: bool }}\n}}\n"
    );
    let generated = run(&source);
    assert!(
        generated.diagnostics.iter().any(|found| found.code == Code::STORAGE_VERSION),
        "{}",
        support::short(&generated)
    );
    let two =
        source + "fn a() { Farm::merged_crd(FarmVersion::V1); Farm::merged_crd(FarmVersion::V1Alpha1); }";
    assert!(diag::has_errors(&run(&two).diagnostics));
}

#[test]
fn version_that_a_program_merges_into_is_stored() {
    let module = |version: &str| {
        format!(
            "pub mod {version} {{\n#[derive(Clone, Debug, kube::CustomResource, serde::Deserialize, serde::Serialize, \
             schemars::JsonSchema)]\n#[kube(group = \"example.com\", version = \"{version}\", kind = \"Farm\")]\n\
             pub struct FarmSpec {{ pub one: bool }}\n}}\n"
        )
    };
    let barn = module("v3").replace("Farm", "Barn");
    let project = Crate::new(&(module("v1") + &module("v2") + &barn));
    let crds = || support::crds(project.path("api"), None, false);
    assert!(crds().diagnostics.iter().any(|found| found.code == Code::STORAGE_VERSION));
    let program = "fn main() { let all = vec![api::v1::Farm::crd(), api::v2::Farm::crd()];\n\
                   println!(\"{:?}\", api::v3::Barn::crd()); println!(\"{:?}\", kube::core::crd::merge_crds(all, \"v1\")); }";
    project.write("api/src/bin/crdgen.rs", program);
    let generated = crds();
    let stored = |file: &str| {
        let texts = support::crd_texts(&generated);
        let text = texts.get(file).unwrap_or_else(|| panic!("{}", support::short(&generated)));
        let crd: serde_json::Value = serde_yaml::from_str(text).unwrap();
        let versions = crd["spec"]["versions"].as_array().unwrap().clone();
        versions.into_iter().find(|version| version["storage"] == true).unwrap()["name"].clone()
    };
    assert_eq!(stored("example.com_farms.yaml"), "v1");
    assert_eq!(stored("example.com_barns.yaml"), "v3");
}

#[test]
fn errors_in_versioned_attributes_are_reported() {
    let module = |arguments: &str, content: &str| {
        format!("#[versioned({arguments})]\nmod versioned {{ {content} }}\n")
    };
    let v1 = "version(name = \"v1\")";
    for (source, expected) in [
        (module("", ""), "at least one `version"),
        (module("version", ""), "a version needs a name"),
        (module("version(name = \"1\")", ""), "called like `v1alpha1`"),
        (module("versions", ""), "unknown argument `versions`"),
        (module(v1, "fn a() {}"), "has no place in a versioned module"),
        (module(v1, "struct A { #[versioned(added(since = \"v2\"))] b: u8 }"), "no version is called `v2`"),
        (module(v1, "struct A { #[versioned(added)] b: u8 }"), "`added` needs `since`"),
        (module(v1, "struct A { #[versioned(moved(since = \"v1\"))] b: u8 }"), "unknown argument `moved`"),
        (
            module(
                v1,
                "struct A { #[versioned(deprecated(since = \"v1\"))] deprecated_: u8, deprecated_1: u8 }",
            ),
            "",
        ),
        (module(v1, "#[versioned(crd(kind = \"A\"))] struct ASpec {}"), "`group` is missing"),
        (format!("#[versioned({v1})]\nmod elsewhere;"), "has to be inline"),
        (format!("#[versioned({v1})]\nfn a() {{}}"), "takes modules, structs and enums"),
    ] {
        let generated = run(&(source.clone()
            + "#[derive(CustomResource, JsonSchema)] #[kube(group = \"example.com\", version = \"v1\", kind = \"Other\")] struct OtherSpec {}"));
        let found: Vec<&str> = generated.diagnostics.iter().map(|found| found.message.as_str()).collect();
        assert!(
            expected.is_empty() || found.iter().any(|message| message.contains(expected)),
            "{source}: {found:?}"
        );
    }
}
