//! Macros by example in inputs and their path dependencies.

use kubesmith::diag::{self, MessageFormat};
use kubesmith::pipeline::Generated;
use kubesmith_core::diag::Code;

use crate::support::{self, Crate, USES, kind};

/// The files and the diagnostics of a crate.
fn run(files: &[(&str, &str)]) -> Generated {
    Crate::with_files(files).generate()
}

/// The CRD of a kind in a run without errors.
#[track_caller]
fn crd(generated: &Generated, plural: &str) -> String {
    assert!(!diag::has_errors(&generated.diagnostics), "{}", support::short(generated));
    let name = format!("example.com_{plural}.yaml");
    let trees = generated.targets.iter().find_map(|target| target.tree.get(&name));
    trees.unwrap_or_else(|| panic!("no {name}")).to_string()
}

#[track_caller]
fn has_field(files: &[(&str, &str)], field: &str) {
    let text = crd(&run(files), "carts");
    assert!(text.contains(&format!("{field}:")), "{text}");
}

const PART: &str = "macro_rules! part {\n    ($name:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* $(,)? }) => {\n        \
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n        \
    pub struct $name { $($(#[$meta])* pub $field: $ty,)* }\n    };\n}\n";

fn cart() -> String {
    USES.to_string() + &kind("Cart", "pub part: Part,")
}

#[test]
fn macro_makes_types_and_keeps_attributes_of_fields() {
    let lib =
        cart() + PART + "part! { Part { #[validation(max_length = 7)] /// Its label.\n label: String } }";
    let text = crd(&run(&[("src/lib.rs", &lib)]), "carts");
    for expected in ["label:", "maxLength: 7", "description: Its label."] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn macro_makes_a_kind() {
    let lib = USES.to_string()
        + "macro_rules! kinds {\n    ($group:literal: $($name:ident, $spec:ident { $($field:ident: $ty:ty),* };)*) => { $(\n\
           #[doc = concat!(stringify!($name), \" is a kind.\")]\n#[derive(Clone, Debug, Default, PartialEq, Resource)]\n\
           #[resource(group = $group, version = \"v1\")]\npub struct $name { pub metadata: ObjectMeta, pub spec: $spec }\n\
           #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\npub struct $spec { $(pub $field: $ty),* }\n)* };\n}\n\
           kinds! { \"example.com\": Cart, CartSpec { items: Vec<String> }; Order, OrderSpec { total: i32 }; }\n";
    let generated = run(&[("src/lib.rs", &lib)]);
    assert!(crd(&generated, "carts").contains("items:"));
    assert!(crd(&generated, "orders").contains("total:"));
}

#[test]
fn macro_of_an_outer_module_is_known_after_its_definition() {
    let lib = PART.to_string() + "mod inner;\npub use inner::*;";
    let inner = cart() + "part! { Part { label: String } }";
    has_field(&[("src/lib.rs", &lib), ("src/inner.rs", &inner)], "label");
}

#[test]
fn macro_use_brings_macros_out_of_a_module() {
    let lib = "#[macro_use]\nmod macros;\n".to_string() + &cart() + "part! { Part { label: String } }";
    has_field(&[("src/lib.rs", &lib), ("src/macros.rs", PART)], "label");
}

#[test]
fn later_definition_shadows_an_earlier_one() {
    let other = PART.replace("pub $field: $ty", "pub $field: Option<$ty>");
    let lib = cart() + PART + &other + "part! { Part { label: String } }";
    let text = crd(&run(&[("src/lib.rs", &lib)]), "carts");
    assert!(!text.contains("- label"), "{text}");
}

#[test]
fn macro_is_found_by_path_and_by_use() {
    let macros = PART.to_string()
        + "pub(crate) use part;\n#[macro_export]\nmacro_rules! exported { ($($t:tt)*) => { $crate::macros::part! { $($t)* } }; }";
    for call in [
        "crate::macros::part! { Part { label: String } }",
        "use crate::macros::part as piece;\npiece! { Part { label: String } }",
        "use crate::macros::*;\npart! { Part { label: String } }",
        "crate::exported! { Part { label: String } }",
    ] {
        let lib = cart() + call + "\nmod macros;";
        has_field(&[("src/lib.rs", &lib), ("src/macros.rs", &macros)], "label");
    }
}

#[test]
fn modules_that_import_each_other_are_searched_once_for_a_macro() {
    let names: Vec<String> = (0..24).map(|at| format!("m{at}")).collect();
    let globs: String = names.iter().map(|name| format!("use crate::{name}::*; ")).collect();
    let modules: String = names.iter().map(|name| format!("pub mod {name} {{ {globs} }}\n")).collect();
    let lib = cart()
        + "#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
        pub struct Part { pub label: String }\n"
        + &modules
        + &globs
        + "\nelsewhere! { nothing }";
    has_field(&[("src/lib.rs", &lib)], "label");
}

#[test]
fn macro_of_a_path_dependency_names_its_own_crate() {
    let lib = cart() + "parts::part! { Part }";
    let crate_ = Crate::with_files(&[("src/lib.rs", &lib)]);
    crate_.write(
        "api/Cargo.toml",
        "[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nk8s-openapi = \"0.29\"\n\
         kubesmith-runtime = \"0.1\"\nserde = \"1\"\nparts = { path = \"../parts\" }\n",
    );
    crate_.write("parts/Cargo.toml", "[package]\nname = \"parts\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nserde = \"1\"\nkubesmith-runtime = \"0.1\"\n");
    crate_.write(
        "parts/src/lib.rs",
        "use serde::{Serialize, Deserialize};\n#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, kubesmith_runtime::Schema)]\n\
         pub struct Inner { pub label: String }\n#[macro_export]\nmacro_rules! part { ($name:ident) => { \
         #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)] pub struct $name { pub inner: $crate::Inner } }; }",
    );
    assert!(crd(&crate_.generate(), "carts").contains("label:"));
}

#[test]
fn macro_defines_macros_modules_and_uses() {
    let lib = cart()
        + "macro_rules! outer { ($inner:ident, $name:ident) => {\n\
           mod $inner { use super::*; #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)] pub struct $name { pub label: Text } }\n\
           pub use $inner::$name;\npub type Text = String;\nmacro_rules! $inner { ($t:ident) => { pub type $t = $name; }; }\n}; }\n\
           outer!(made, Piece);\nmade!(Part);";
    has_field(&[("src/lib.rs", &lib)], "label");
}

#[test]
fn error_in_an_expansion_shows_call_and_definition() {
    let lib = cart() + PART + "part! { Part { label: Missing, other: Strin } }";
    let generated = run(&[("src/lib.rs", &lib)]);
    let text =
        diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Human, diag::Style::Plain);
    assert!(
        text.contains("cannot find the type `Missing`")
            && text.contains("part! { Part { label: Missing, other: Strin } }"),
        "{text}"
    );
    let lib = cart()
        + &PART.replace("pub $field: $ty", "pub $field: Gone<$ty>")
        + "part! { Part { label: String } }";
    let generated = run(&[("src/lib.rs", &lib)]);
    let text =
        diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Human, diag::Style::Plain);
    assert!(
        text.contains("cannot find the type `Gone`") && text.contains("written by the macro `part!`"),
        "{text}"
    );
}

#[test]
fn macro_call_that_cannot_be_expanded_is_an_error() {
    for (source, expected) in [
        (format!("{PART}part! {{ Part [ label: String ] }}"), "`part!` cannot be expanded: no rule expects"),
        (format!("{PART}part! {{ Part {{ label: struct }} }}"), "no rule expects `struct` here"),
        ("macro_rules! again { () => { again!(); }; } again!();".to_string(), "more than 128 deep"),
        ("macro_rules! twice { () => { twice!(); twice!(); }; } twice!();".to_string(), "tokens"),
        ("macro_rules! broken { () => { struct }; } broken!();".to_string(), "`broken!` gives no Rust items"),
        ("macro_rules! wrong { ($a) => {}; } wrong!();".to_string(), "no fragment specifier"),
        ("macro_rules! file { () => { mod elsewhere; }; } file!();".to_string(), "the module `elsewhere`"),
    ] {
        let lib = USES.to_string() + &kind("Cart", "pub name: String,") + &source;
        let generated = run(&[("src/lib.rs", &lib)]);
        let found: Vec<_> =
            generated.diagnostics.iter().filter(|found| found.code == Code::MACRO_EXPANSION).collect();
        assert!(
            found.iter().any(|found| found.message.contains(expected)),
            "{expected}: {}",
            support::short(&generated)
        );
    }
}

#[test]
fn maps_that_macros_make_are_defaults() {
    for name in ["maplit::btreemap", "hashmap", "indexmap::indexmap"] {
        let crate_ = Crate::new(&format!(
            "use std::collections::BTreeMap;\nuse kube::CustomResource;\nuse schemars::JsonSchema;\n\
             use serde::{{Deserialize, Serialize}};\n\
             fn labels() -> BTreeMap<String, String> {{ log::debug!(\"made\"); println!(\"made\"); \
             {name}! {{ \"a\".into() => \"b\".to_string(), \"c\".into() => 5.to_string() }} }}\n\
             #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]\n\
             #[kube(group = \"example.com\", version = \"v1\", kind = \"Cart\")]\n\
             pub struct CartSpec {{ #[serde(default = \"labels\")] pub labels: BTreeMap<String, String> }}\n"
        ));
        let text = crd(&support::crds(crate_.path("api"), None, false), "carts");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("default: a: b c: \"5\""), "{text}");
    }
}
