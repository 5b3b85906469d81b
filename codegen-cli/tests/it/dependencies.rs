//! Types of dependencies are read where they are.

use std::process::{Command, Output};

use kubesmith::config::{FeatureFlags, Generator, Overrides};

use crate::support::{self, Crate, USES, kind};

/// The beginning of a crate with types.
const TYPES: &str = "use serde::{Deserialize, Serialize};\n";

/// A struct.
fn structure(name: &str, fields: &str) -> String {
    format!(
        "#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]\npub struct {name} {{ {fields} }}\n"
    )
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
}

/// A crate that depends on others only, with crates in the folders beside it.
fn sample(dependencies: &str, field: &str, others: &[(&str, &str)]) -> Crate {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", &format!("    pub inner: {field},"))));
    let known = "k8s-openapi = { path = \"../stub/k8s-openapi\" }\nkubesmith-runtime = { path = \"../stub/kubesmith-runtime\" }\n\
                 serde = { path = \"../stub/serde\" }\n";
    sample.write("api/Cargo.toml", manifest("sample-api", &format!("[dependencies]\n{known}{dependencies}")));
    for name in ["k8s-openapi", "kubesmith-runtime", "serde"] {
        sample.write(&format!("stub/{name}/Cargo.toml"), manifest(name, ""));
        sample.write(&format!("stub/{name}/src/lib.rs"), "");
    }
    for (path, text) in others {
        sample.write(path, text);
    }
    sample
}

/// The field names in the schema of the field, and of the fields in it.
fn inner(sample: &Crate) -> String {
    let generated = sample.generate();
    assert_eq!(support::short(&generated), "");
    let crds = support::crd_texts(&generated);
    assert_eq!(crds.len(), 1);
    let data: serde_json::Value = serde_yaml::from_str(crds.values().next().unwrap()).unwrap();
    let spec = &data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    fn names(schema: &serde_json::Value) -> String {
        let Some(properties) = schema["properties"].as_object() else { return String::new() };
        let each = properties.iter().map(|(name, schema)| match names(schema) {
            inner if inner.is_empty() => name.clone(),
            inner => format!("{name}({inner})"),
        });
        each.collect::<Vec<_>>().join(" ")
    }
    names(&spec["inner"])
}

#[test]
fn path_dependencies_are_read() {
    let parts = TYPES.to_string() + &structure("Part", "pub size: i32");
    for (dependency, others, field) in [
        ("parts = { path = \"../parts\" }", manifest("parts", ""), "parts::Part"),
        ("p = { path = \"../parts\", package = \"parts\" }", manifest("parts", ""), "p::Part"),
        (
            "the-parts = { path = \"../parts\" }",
            manifest("the-parts", "[lib]\nname = \"short\"\n"),
            "short::Part",
        ),
        (
            "p = { path = \"../parts\", package = \"the-parts\" }",
            manifest("the-parts", "[lib]\nname = \"short\"\n"),
            "::p::Part",
        ),
    ] {
        let sample =
            sample(dependency, field, &[("parts/Cargo.toml", &others), ("parts/src/lib.rs", &parts)]);
        assert_eq!(inner(&sample), "size", "{dependency}");
    }
    let root = manifest("parts", "[lib]\npath = \"odd/root.rs\"\n");
    let sample = sample(
        "parts = { path = \"../parts\" }",
        "parts::Part",
        &[("parts/Cargo.toml", &root), ("parts/odd/root.rs", &parts)],
    );
    assert_eq!(inner(&sample), "size");
}

#[test]
fn types_are_followed_through_several_crates() {
    let sample = sample(
        "facade = { path = \"../facade\" }",
        "Holder",
        &[
            ("facade/Cargo.toml", &manifest("facade", "[dependencies]\nmiddle = { path = \"../middle\" }\n")),
            (
                "facade/src/lib.rs",
                "mod private;\npub mod api { pub use crate::private::*; }\npub use middle::r#type as kinds;\n",
            ),
            (
                "facade/src/private.rs",
                "pub use middle::{deep::Part as Renamed, *};\nuse crate as own;\npub use own::kinds::Holder as Kept;\n",
            ),
            ("middle/Cargo.toml", &manifest("middle", "[dependencies]\nleaf = { path = \"../leaf\" }\n")),
            (
                "middle/src/lib.rs",
                &format!(
                    "pub extern crate leaf;\npub mod deep {{ pub use ::leaf::Part; }}\npub use leaf::*;\n\
                 pub mod r#type {{ {TYPES}{} }}\n",
                    structure("Holder", "pub part: crate::leaf::Part, pub other: super::Other")
                ),
            ),
            ("leaf/Cargo.toml", &manifest("leaf", "")),
            (
                "leaf/src/lib.rs",
                &format!(
                    "{TYPES}{}{}",
                    structure("Part", "pub size: i32"),
                    structure("Other", "pub text: String")
                ),
            ),
        ],
    );
    let lib = |uses: &str| format!("{uses}\n{USES}{}", kind("Widget", "    pub inner: Holder,"));
    for uses in
        ["use facade::api::Kept as Holder;", "use facade::kinds::*;", "pub use facade::kinds::Holder;"]
    {
        sample.write("api/src/lib.rs", lib(uses));
        assert_eq!(inner(&sample), "other(text) part(size)", "{uses}");
    }
    for uses in [
        "use facade::api::Renamed as Holder;",
        "use facade::api::Part as Holder;",
        "use facade::api::leaf::Part as Holder;",
    ] {
        sample.write("api/src/lib.rs", lib(uses));
        assert_eq!(inner(&sample), "size", "{uses}");
    }
}

#[test]
fn dependencies_supply_types_but_no_kinds_or_diagnostics() {
    let root = kind("Other", "    pub size: i32,")
        + "#[rbac(groups = [\"\"], resources = [\"pods\"], verbs = [\"get\"])]\nfn f() {}\n";
    let parts = format!("{USES}{root}// +kubebuilder:validation:Minimum=1\nmod missing;\n");
    let others = [("parts/Cargo.toml", manifest("parts", "")), ("parts/src/lib.rs", parts)];
    let others = others.each_ref().map(|(path, text)| (*path, text.as_str()));
    let sample = sample("parts = { path = \"../parts\" }", "parts::OtherSpec", &others);
    assert_eq!(inner(&sample), "size");
    sample
        .write("api/src/lib.rs", USES.to_string() + &kind("Widget", "    pub inner: parts::missing::Part,"));
    let text =
        String::from_utf8(sample.run(&["generate", "--input", "api", "--output", "out"]).stderr).unwrap();
    assert!(
        text.contains("not all of the crate `parts` could be read: module `missing` has no file"),
        "{text}"
    );
}

#[test]
fn unresolved_reexport_of_a_dependency_is_an_error() {
    let others = [
        ("parts/Cargo.toml", manifest("parts", "")),
        ("parts/src/lib.rs", "mod inner;\npub use inner::{Part, Parts};\n".to_string()),
        ("parts/src/inner.rs", "pub struct Part {".to_string()),
    ];
    let others = others.each_ref().map(|(path, text)| (*path, text.as_str()));
    let sample = sample("parts = { path = \"../parts\" }", "parts::Part", &others);
    let text = failure(&sample.run(&["generate", "--input", "api", "--output", "out"]));
    assert!(
        text.contains("`use inner::Part` leads nowhere: not all of the crate `parts` could be read"),
        "{text}"
    );
}

/// A dependency from a registry: the folder of a vendored source.
fn vendored(features: &str) -> Crate {
    let dependency = format!("parts = {{ version = \"0.1\", {features} }}\n");
    let parts = format!(
        "{TYPES}pub mod v1;\npub use renamed::Leaf;\n{}",
        structure(
            "Part",
            "#[cfg(feature = \"one\")] pub one: bool, #[cfg(feature = \"two\")] pub two: bool, pub leaf: renamed::Leaf"
        )
    );
    let leaf = TYPES.to_string() + &structure("Leaf", "pub depth: u8");
    let sample = sample(
        &dependency,
        "parts::Part",
        &[
            (
                "api/.cargo/config.toml",
                "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"../vendor\"\n",
            ),
            (
                "vendor/parts/Cargo.toml",
                &manifest(
                    "parts",
                    "[features]\ndefault = [\"one\"]\none = []\ntwo = []\n[dependencies]\n\
                 renamed = { version = \"0.1\", package = \"leaf\" }\n",
                ),
            ),
            ("vendor/parts/src/lib.rs", &parts),
            ("vendor/parts/src/v1.rs", ""),
            ("vendor/leaf/Cargo.toml", &manifest("leaf", "[lib]\nname = \"leaf_lib\"\n")),
            ("vendor/leaf/src/lib.rs", &leaf),
        ],
    );
    for name in ["parts", "leaf"] {
        sample.write(&format!("vendor/{name}/.cargo-checksum.json"), "{\"files\":{}}");
    }
    sample
}

fn lock(sample: &Crate) {
    let run = Command::new(env!("CARGO"))
        .args(["generate-lockfile", "--offline"])
        .current_dir(sample.path("api"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn registry_crates_are_read_from_the_folders_of_cargo() {
    for (features, expected) in [
        ("features = []", "leaf(depth) one"),
        ("features = [\"two\"]", "leaf(depth) one two"),
        ("default-features = false", "leaf(depth)"),
    ] {
        let sample = vendored(features);
        lock(&sample);
        assert_eq!(inner(&sample), expected);
        sample.write("api/src/lib.rs", USES.to_string() + &kind("Widget", "    pub inner: parts::Leaf,"));
        assert_eq!(inner(&sample), "depth");
        sample.write(
            "api/src/lib.rs",
            format!("use parts::*;\n{USES}{}", kind("Widget", "    pub inner: Leaf,")),
        );
        assert_eq!(inner(&sample), "depth");
    }
}

#[test]
fn features_of_registry_crates_can_be_chosen() {
    let sample = vendored("features = []");
    let manifest = std::fs::read_to_string(sample.path("api/Cargo.toml")).unwrap();
    sample.write("api/Cargo.toml", manifest + "[features]\nwide = [\"parts/two\"]\n");
    lock(&sample);
    for chosen in ["wide", "parts/two", "sample-api/wide"] {
        let features = FeatureFlags { features: vec![chosen.to_string()], ..FeatureFlags::default() };
        let generated = support::run(Overrides {
            input: vec![sample.path("api")],
            output: Some("out".into()),
            features,
            ..Overrides::default()
        });
        assert_eq!(support::short(&generated), "");
        assert!(support::crd_texts(&generated).into_values().all(|text| text.contains("two:")), "{chosen}");
    }
}

fn failure(run: &Output) -> String {
    assert_eq!(run.status.code(), Some(1));
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[test]
fn unreadable_crate_is_named_in_the_error() {
    let sample = vendored("features = []");
    let generate = ["generate", "--input", "api", "--output", "out"];
    // Nothing is written, not even Cargo.lock.
    let text = failure(&sample.run(&generate));
    assert!(
        text.contains("KS0418") && text.contains("`parts`") && text.contains("run `cargo fetch` in api"),
        "{text}"
    );
    assert!(!sample.path("api/Cargo.lock").exists());
    sample
        .write("api/src/lib.rs", format!("use parts::*;\n{USES}{}", kind("Widget", "    pub inner: Leaf,")));
    let text = failure(&sample.run(&generate));
    assert!(text.contains("the crate `parts`, of which everything is imported, could not be read"), "{text}");
    let run = Command::new(env!("CARGO_BIN_EXE_kubesmith"))
        .args(generate)
        .current_dir(sample.dir.path())
        .env("CARGO", sample.path("no-cargo"))
        .output()
        .unwrap();
    let text = failure(&run);
    assert!(text.contains("cargo could not be started") && text.contains("install cargo"), "{text}");

    let sample = self::sample("parts = { path = \"../parts\" }", "parts::Part", &[]);
    let text = failure(&sample.run(&generate));
    assert!(text.contains("KS0418") && text.contains("cannot use parts/Cargo.toml"), "{text}");
}

#[test]
fn cargo_runs_only_when_a_type_refers_to_a_registry_crate() {
    let sample = vendored("features = []");
    let unused = "use parts::*;\nuse parts::v1 as other;\npub struct Helper(parts::Part);\nimpl From<parts::Part> for Helper {}\n";
    sample.write("api/src/lib.rs", format!("{unused}{USES}{}", kind("Widget", "    pub inner: String,")));
    // There is no Cargo.lock, so a call of Cargo would fail.
    assert_eq!(inner(&sample), "");
}

#[test]
fn program_input_yields_only_crds() {
    let text =
        USES.to_string() + &kind("Widget", "    pub inner: parts::Part,").replace("pub struct", "struct");
    let sample = Crate::with_files(&[
        ("src/main.rs", &format!("mod parts;\n{text}\nfn main() {{}}\n")),
        ("src/parts.rs", &format!("{TYPES}{}", structure("Part", "pub size: i32"))),
        (
            "src/bin/second.rs",
            &format!("{}\nfn main() {{}}\n", USES.to_string() + &kind("Gadget", "    pub size: i32,")),
        ),
    ]);
    let crds = support::crds(sample.path("api"), None, false);
    assert_eq!(support::short(&crds), "");
    assert_eq!(support::crd_texts(&crds).len(), 2);
    let client = support::short(&sample.generate());
    assert!(client.contains("KS0408") && client.contains("belongs to a program"), "{client}");
    // A module of the program itself names its types.
    let inside = support::run(Overrides {
        input: vec![sample.path("api")],
        output: Some(sample.path("api/src/generated")),
        module: Some("crate::generated".to_string()),
        only: vec![Generator::Client],
        ..Overrides::default()
    });
    assert_eq!(support::short(&inside), "");
}

#[test]
fn programs_with_the_kinds_are_read_beside_a_library_without_any() {
    let of_library = kind("Widget", "    pub inner: sample_api::Part,").replace("pub struct", "struct");
    let program = |body: &str| format!("{USES}{of_library}{body}\nfn main() {{}}\n");
    let sample = Crate::with_files(&[
        ("src/lib.rs", &format!("{TYPES}{}", structure("Part", "pub size: i32"))),
        ("src/main.rs", &program("")),
        ("src/bin/other.rs", "mod missing;\nfn main() {}\n"),
    ]);
    let crds = support::crds(sample.path("api"), None, false);
    assert_eq!(support::short(&crds), "");
    let texts = support::crd_texts(&crds);
    assert!(texts.len() == 1 && texts.values().all(|text| text.contains("size:")), "{texts:?}");
    // A library with kinds is the API, even if a macro makes them.
    let gadget = kind("Gadget", "    pub size: i32,");
    for library in [gadget.clone(), format!("macro_rules! gadget {{ () => {{ {gadget} }} }}\ngadget!();\n")] {
        sample.write("api/src/lib.rs", format!("{USES}{library}"));
        let crds = support::crds(sample.path("api"), None, false);
        let names: Vec<String> = support::crd_texts(&crds).into_keys().collect();
        assert_eq!(
            (support::short(&crds), names),
            (String::new(), vec!["example.com_gadgets.yaml".to_owned()])
        );
    }
}

#[test]
fn file_that_two_programs_name_by_different_paths_has_its_kinds_once() {
    let sample = Crate::with_files(&[
        ("src/main.rs", "mod parts;\nfn main() {}\n"),
        ("src/bin/crdgen.rs", "#[path = \"../parts.rs\"]\nmod parts;\nfn main() {}\n"),
        ("src/parts.rs", &(USES.to_string() + &kind("Widget", "    pub size: i32,"))),
    ]);
    let crds = support::crds(sample.path("api"), None, false);
    assert_eq!((support::short(&crds), support::crd_texts(&crds).len()), (String::new(), 1));
}

#[test]
fn included_files_belong_to_the_module_around_them() {
    let kinds = USES.to_string() + &kind("Widget", "    pub part: super::Part,");
    let sample = Crate::with_files(&[
        (
            "src/lib.rs",
            &format!("{TYPES}pub mod kinds {{ include!(\"kinds/widget.rs\"); }}\ninclude!(\"part.inc\");"),
        ),
        ("src/kinds/widget.rs", &kinds),
        ("src/part.inc", &structure("Part", "pub size: i32")),
    ]);
    let crds = support::crds(sample.path("api"), None, false);
    assert_eq!(support::short(&crds), "");
    assert!(support::crd_texts(&crds)["example.com_widgets.yaml"].contains("size:"));
    sample.write(
        "api/src/lib.rs",
        format!("{kinds}{TYPES}include!(\"made.rs\");").replace("super::Part", "i32"),
    );
    let crds = support::crds(sample.path("api"), None, false);
    let text = support::short(&crds);
    assert!(text.contains("warning[KS0415]") && support::crd_texts(&crds).len() == 1, "{text}");
}

#[test]
fn module_that_a_build_script_writes_is_missing_with_a_warning() {
    let text = format!("mod made;\n{USES}{}", kind("Widget", "    pub size: i32,"));
    let sample = Crate::new(&text);
    assert!(support::short(&support::crds(sample.path("api"), None, false)).contains("error[KS0406]"));
    sample.write("api/build.rs", "fn main() {}");
    let crds = support::crds(sample.path("api"), None, false);
    let text = support::short(&crds);
    assert!(text.contains("warning[KS0406]") && support::crd_texts(&crds).len() == 1, "{text}");
}
