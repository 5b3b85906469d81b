//! Names are resolved as in rustc.

use crate::support::{self, Crate, USES, kind};

/// The schema of a field of the kind Widget's spec.
fn field(sample: &Crate, name: &str) -> serde_json::Value {
    let generated = sample.generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    let data: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
    data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][name].clone()
}

const INNER: &str = "#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
    pub struct Inner { pub deep: bool }\n";

#[track_caller]
fn finds_inner(files: &[(&str, &str)]) {
    let inner = format!("use kubesmith_runtime::Schema;\nuse serde::{{Deserialize, Serialize}};\n{INNER}");
    let files: Vec<(String, String)> = files
        .iter()
        .map(|(path, text)| {
            let text = text.replace("KIND", &(USES.to_string() + &kind("Widget", "    pub inner: TYPE,")));
            ((*path).to_string(), text.replace("INNER", &inner))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(field(&Crate::with_files(&files), "inner")["required"], serde_json::json!(["deep"]));
}

fn with_type(text: &str, ty: &str) -> String {
    text.replace("KIND", &(USES.to_string() + &kind("Widget", &format!("    pub inner: {ty},"))))
}

#[test]
fn type_resolves_through_modules_renames_globs_and_reexports() {
    for (lib, ty) in [
        ("KIND\npub mod a { INNER }", "a::Inner"),
        ("KIND\npub mod a { INNER }", "crate::a::Inner"),
        ("KIND\npub mod a { INNER }", "self::a::Inner"),
        ("use a::Inner as Other;\nKIND\npub mod a { INNER }", "Other"),
        ("use a::*;\nKIND\npub mod a { INNER }", "Inner"),
        ("use b::Inner;\nKIND\nmod a { INNER }\nmod b { pub use super::a::*; }", "Inner"),
        ("use b::c::Inner;\nKIND\nmod a { INNER }\nmod b { pub use crate::a as c; }", "Inner"),
        ("use a::{self as z};\nKIND\nmod a { INNER }", "z::Inner"),
        ("KIND\ntype Alias = a::Inner;\nmod a { INNER }", "Alias"),
        ("extern crate self as me;\nKIND\nmod a { INNER }", "me::a::Inner"),
        ("extern crate self as me;\nKIND\nmod b { pub use ::me::a::Inner; }\nmod a { INNER }", "b::Inner"),
        ("extern crate std as s;\nKIND\nmod b { pub type B<T> = ::s::boxed::Box<T>; }\nINNER", "b::B<Inner>"),
        ("KIND\nmod a { INNER }", "Box<a::Inner>"),
        ("KIND\nmod a { INNER }", "std::sync::Arc<a::Inner>"),
        ("KIND\nmod r#type { INNER }", "r#type::Inner"),
        ("use a::*;\nuse b::Inner;\nKIND\nmod a { pub struct Inner; }\nmod b { INNER }", "Inner"),
        ("use a::*;\nKIND\nmod a { pub struct Inner; }\nINNER", "Inner"),
        ("use a::*;\nuse b::*;\nKIND\nmod a { struct Inner; }\nmod b { INNER }", "Inner"),
        ("use a::*;\nuse b::*;\nKIND\nmod a { use std::option::Option as Inner; }\nmod b { INNER }", "Inner"),
        ("use a::*;\nKIND\nmod a { pub(crate) use super::b::*; }\nmod b { INNER }", "Inner"),
        ("use a::E::*;\nuse b::*;\nKIND\nmod a { pub enum E { Inner } }\nmod b { INNER }", "Inner"),
        ("mod c { use super::*; pub type Got = Inner; }\nKIND\nuse b::Inner;\nmod b { INNER }", "c::Got"),
        ("KIND\ntype String = a::Inner;\nmod a { INNER }", "String"),
        ("use a::Inner as Vec;\nKIND\nmod a { INNER }", "Vec"),
        ("KIND\nmod serde_json { INNER }", "serde_json::Inner"),
        ("KIND\nmod a { pub mod b { pub use super::super::c::Inner; } }\nmod c { INNER }", "a::b::Inner"),
    ] {
        let text = with_type(lib, ty);
        finds_inner(&[("src/lib.rs", &text)]);
    }
}

#[test]
fn type_resolves_through_module_files() {
    let lib = |modules: &str, ty: &str| with_type(&format!("{modules}\nKIND"), ty);
    finds_inner(&[("src/lib.rs", &lib("mod a;", "a::Inner")), ("src/a.rs", "INNER")]);
    finds_inner(&[("src/lib.rs", &lib("mod a;", "a::Inner")), ("src/a/mod.rs", "INNER")]);
    finds_inner(&[
        ("src/lib.rs", &lib("mod a;", "a::b::Inner")),
        ("src/a.rs", "pub mod b;"),
        ("src/a/b.rs", "INNER"),
    ]);
    finds_inner(&[("src/lib.rs", &lib("mod a { pub mod b; }", "a::b::Inner")), ("src/a/b.rs", "INNER")]);
    finds_inner(&[
        ("src/lib.rs", &lib("#[path = \"odd/x.rs\"] mod a;", "a::b::Inner")),
        ("src/odd/x.rs", "pub mod b;"),
        ("src/odd/b.rs", "INNER"),
    ]);
    finds_inner(&[
        ("src/lib.rs", &lib("mod a { #[path = \"odd.rs\"] pub mod b; }", "a::b::Inner")),
        ("src/a/odd.rs", "INNER"),
    ]);
    // Tests are not part of the API, and their files need not exist.
    finds_inner(&[
        ("src/lib.rs", &lib("#[cfg(test)] mod tests;\nmod a;", "a::Inner")),
        ("src/a.rs", "INNER"),
    ]);
}

#[test]
fn known_type_resolves_by_any_of_its_paths() {
    for (uses, ty, expected) in [
        (
            "",
            "std::collections::BTreeMap<String, i64>",
            serde_json::json!({"type": "object", "additionalProperties": {"type": "integer", "format": "int64"}}),
        ),
        (
            "use std::collections as c;",
            "c::HashSet<String>",
            serde_json::json!({"type": "array", "items": {"type": "string"}}),
        ),
        ("", "::std::string::String", serde_json::json!({"type": "string"})),
        (
            "use k8s_openapi::apimachinery::pkg::util::intstr;",
            "intstr::IntOrString",
            serde_json::json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true}),
        ),
        (
            "use kubesmith_runtime::k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;",
            "Option<meta::Time>",
            serde_json::json!({"type": "string", "format": "date-time"}),
        ),
        ("use serde_json::*;", "Value", serde_json::json!({"x-kubernetes-preserve-unknown-fields": true})),
        ("", "std::borrow::Cow<'static, str>", serde_json::json!({"type": "string"})),
        (
            "",
            "Option<Vec<Option<u8>>>",
            serde_json::json!({"type": "array", "items": {"type": "integer", "nullable": true}}),
        ),
    ] {
        let lib = format!("{uses}\n{USES}{}", kind("Widget", &format!("    pub inner: {ty},")));
        assert_eq!(field(&Crate::new(&lib), "inner"), expected, "{ty}");
    }
}

#[test]
fn type_resolves_across_input_crates() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub inner: common::parts::Inner,")));
    sample.write(
        "api/Cargo.toml",
        "[package]\nname = \"sample-api\"\nversion.workspace = true\n[dependencies]\nk8s-openapi = \"0.29\"\n\
         kubesmith-runtime = \"0.1\"\nserde = \"1\"\ncommon = { workspace = true }\n",
    );
    sample.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"api\", \"shared\"]\n[workspace.package]\nversion = \"3.2.1\"\n[workspace.dependencies]\n\
         common = { path = \"shared\", package = \"sample-shared\" }\n",
    );
    sample.write(
        "shared/Cargo.toml",
        "[package]\nname = \"sample-shared\"\nversion = \"0.1.0\"\n[lib]\npath = \"root.rs\"\n",
    );
    sample.write(
        "shared/root.rs",
        format!("pub mod parts {{\nuse serde::{{Deserialize, Serialize}};\n{INNER}}}\n"),
    );
    let generated = support::generate(&[sample.path("api"), sample.path("shared")]);
    assert_eq!(support::short(&generated), "");
    assert_eq!(generated.ir.crates[0].version, "3.2.1");
    assert!(generated.ir.types.iter().any(|ty| ty.path == "sample_shared::parts::Inner"));
    // A path dependency need not be an input. The headers do not name a crate that only this dependency
    // needs.
    let alone = sample.generate();
    assert_eq!(support::short(&alone), "");
    assert!(alone.ir.types.iter().any(|ty| ty.path == "sample_shared::parts::Inner"));
    assert_eq!(alone.ir.crates.len(), 1);
}

/// The package depends only on the crates of kinds with a client. Their other kinds are in scheme and
/// validations.
#[test]
fn client_package_does_not_name_crates_without_clients() {
    let beside = kind("Gadget", "    pub size: i32,").replace("#[genclient]\n", "");
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,") + &beside));
    let manifest = std::fs::read_to_string(sample.path("api/Cargo.toml")).unwrap();
    sample.write("other/Cargo.toml", manifest.replace("sample-api", "other-api"));
    sample.write("other/src/lib.rs", USES.to_string() + &beside.replace("Gadget", "Stranger"));
    let generated = support::generate(&[sample.path("api"), sample.path("other")]);
    assert_eq!(support::short(&generated), "");
    let named = |name: &str| {
        let files = generated.targets.iter().flat_map(|target| target.tree.iter());
        let rust = files.filter(|(path, _)| path.ends_with(".rs"));
        rust.filter(|(_, text)| text.contains(name)).map(|(path, _)| path.to_string()).collect::<Vec<_>>()
    };
    let of_gadget = ["src/clientset/mod.rs", "src/validations/example/v1.rs"];
    assert_eq!(named("::sample_api::Gadget"), of_gadget);
    assert_eq!(named("Stranger"), [""; 0]);
}

#[test]
fn roots_are_named_by_a_public_path() {
    for (lib, path) in [
        ("pub mod v1 { KIND }", "sample_api::v1::Widget"),
        ("mod v1 { KIND }\npub use v1::Widget;", "sample_api::Widget"),
        ("mod v1 { KIND }\npub mod api { pub use crate::v1::*; }", "sample_api::api::Widget"),
        ("mod v1 { KIND }\npub use v1 as one;", "sample_api::one::Widget"),
    ] {
        let generated = Crate::new(&with_type(lib, "String")).generate();
        assert_eq!(support::short(&generated), "", "{lib}");
        assert_eq!(generated.ir.groups[0].versions[0].resources[0].code.type_path, path);
    }
}

#[test]
fn generated_headers_do_not_depend_on_where_the_command_runs() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,")));
    sample.write(
        "kubesmith.toml",
        "input = [\"api\"]\n[crd]\noutput = \"crds\"\n[client]\noutput = \"client\"\n",
    );
    for arguments in [
        &["--config", "../kubesmith.toml"][..],
        &["--input", ".", "--output", "../client", "--crd-output", "../crds"],
        &["--input", "../api/", "--output", "../client", "--crd-output", "../crds"],
    ] {
        let below = std::process::Command::new(env!("CARGO_BIN_EXE_kubesmith"))
            .arg("generate")
            .args(arguments)
            .current_dir(sample.path("api"))
            .output()
            .unwrap();
        assert_eq!(below.status.code(), Some(0), "{}", String::from_utf8_lossy(&below.stderr));
        let check = sample.run(&["generate", "--check"]);
        assert_eq!(check.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&check.stdout));
    }
    assert!(sample.tree("client")["src/lib.rs"].contains("@generated from sample-api"));
}

#[test]
fn modules_that_reexport_each_other_are_searched_once() {
    // Every module imports every other one, so there are as many paths as permutations.
    let globs: String = (0..30).map(|other| format!("pub use super::m{other}::*; ")).collect();
    let modules: String = (0..30).map(|module| format!("pub mod m{module} {{ {globs} }}\n")).collect();
    let lib = with_type(&format!("use m0::*;\n{modules}\nKIND\nmod m30 {{ INNER }}"), "Inner");
    let without = Crate::new(&lib.replace("KIND", "").replace("INNER", ""));
    assert!(support::short(&without.generate()).contains("KS0407"));
    let lib = lib.replace("pub mod m29 { ", "pub mod m29 { pub use super::m30::*; ");
    finds_inner(&[("src/lib.rs", &lib)]);
}

#[test]
fn constants_and_const_parameters_resolve_like_types() {
    let lib = |ty: &str| {
        format!(
            "{USES}pub mod limits {{\n    pub const LEN: usize = 2 * HALF;\n    const HALF: usize = 2;\n    pub struct Limits;\n    \
             impl Limits {{ pub const MAX: usize = self::LEN; }}\n    pub use self::LEN as OTHER;\n}}\n\
             use limits::*;\npub type Four<T = u8> = [T; LEN];\npub type Rows<T, const N: usize = 4> = [Four<T>; N];\n\
             #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]\n\
             pub struct Holder<T: Clone = bool, const N: usize = {{ Limits::MAX }}> where T: Default {{ pub held: [T; N] }}\n{}",
            kind("Widget", &format!("    pub inner: {ty},"))
        )
    };
    for ty in [
        "[bool; 4]",
        "[bool; LEN]",
        "[bool; limits::OTHER]",
        "[bool; Limits::MAX]",
        "[bool; crate::limits::Limits::MAX]",
        "Four<bool>",
    ] {
        let schema = field(&Crate::new(&lib(ty)), "inner");
        assert_eq!((&schema["maxItems"], &schema["items"]["type"]), (&4.into(), &"boolean".into()), "{ty}");
    }
    let rows = field(&Crate::new(&lib("Rows<String>")), "inner");
    assert_eq!((&rows["maxItems"], &rows["items"]["maxItems"]), (&4.into(), &4.into()));
    for (ty, len) in [("Holder", 4), ("Holder<bool, 3>", 3), ("Holder<bool, { limits::LEN + 1 }>", 5)] {
        let held = &field(&Crate::new(&lib(ty)), "inner")["properties"]["held"];
        assert_eq!((&held["maxItems"], &held["items"]["type"]), (&len.into(), &"boolean".into()), "{ty}");
    }
}

#[test]
fn schema_of_a_try_from_type_may_be_derived_from_deserialize() {
    let lib = format!(
        "{USES}#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]\n#[serde(try_from = \"Raw\")]\n\
         pub struct Port {{ pub number: u16 }}\n#[derive(Deserialize)]\nstruct Raw {{ number: u16 }}\n{}",
        kind("Widget", "    pub inner: Port,")
    );
    assert_eq!(field(&Crate::new(&lib), "inner")["required"], serde_json::json!(["number"]));
}
