//! `--evaluate`: definitions from running code. The project depends on stand-ins of kube, schemars and serde,
//! which compile in a second.

use std::fs;

use kubesmith::config::{self, EvaluatedProgram, Evaluation, Generator, KindFlags, Overrides, Settings};
use kubesmith::diag;
use kubesmith::pipeline::{self, Generated};
use kubesmith::selection::Selection;
use kubesmith_core::diag::Code;

use crate::support::{self, Crate};

/// The macros of the stand-ins: `CustomResource` makes the root type of a kind.
const DERIVES: &str = r####"
use proc_macro::TokenStream;

#[proc_macro_derive(CustomResource, attributes(kube, serde, schemars))]
pub fn custom_resource(input: TokenStream) -> TokenStream {
    let text = input.to_string();
    let kind = text.split("kind = \"").nth(1).unwrap().split('"').next().unwrap();
    let plural = format!("{}s", kind.to_lowercase());
    let crd = format!(
        r##"{{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",
        "metadata":{{"name":"{plural}.example.com"}},
        "spec":{{"group":"example.com","scope":"Cluster","names":{{"kind":"{kind}","plural":"{plural}"}},
        "versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":
        {{"type":"object","description":"Of code.","properties":{{"n":{{"type":"integer","format":"uint8"}}}}}}}}}}]}}}}"##
    );
    let crd = crd.replace('\n', "");
    format!(
        "pub struct {kind};
        impl ::kube::core::CustomResourceExt for {kind} {{ fn crd() -> String {{ {crd:?}.to_string() }} }}"
    )
    .parse()
    .unwrap()
}

#[proc_macro_derive(JsonSchema, attributes(serde, schemars))]
pub fn json_schema(_: TokenStream) -> TokenStream { TokenStream::new() }

#[proc_macro_derive(Serialize, attributes(serde))]
pub fn serialize(_: TokenStream) -> TokenStream { TokenStream::new() }

#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn deserialize(_: TokenStream) -> TokenStream { TokenStream::new() }
"####;

/// One kind that can be read from source, and one whose default only running code has.
const SOURCE: &str = r#"
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Order")]
pub struct OrderSpec { pub name: String }

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Cart")]
pub struct CartSpec {
    #[serde(default = "host")]
    pub host: String,
}

pub fn host() -> String { std::env::var("HOST").unwrap() }

pub fn definitions() -> Vec<String> {
    use kube::core::CustomResourceExt;
    vec![Cart::crd()]
}

pub fn definition(kind: &str) -> String { definitions().remove(0).replace("Cart", kind) }

pub fn checked() -> Result<String, ()> { Ok(definition("Cart")) }
"#;

/// A program that prints its definitions. One of them is not in the source of the library.
const PROGRAM: &str = r#"
use kube::core::CustomResourceExt;

fn main() {
    let own = api::Cart::crd();
    println!("{own}\n{}", own.replace("Cart", "Made").replace("carts", "mades"));
}
"#;

fn project(source: &str) -> Crate {
    let crate_ = Crate::with_files(&[("src/lib.rs", source), ("src/bin/crdgen.rs", PROGRAM)]);
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let on = |names: &[&str]| {
        let lines: String =
            names.iter().map(|name| format!("{name} = {{ path = \"../{name}\" }}\n")).collect();
        format!("[dependencies]\n{lines}")
    };
    let files = [
        ("api", manifest("api", &(on(&["kube", "schemars", "serde"]) + "[workspace]\n")), None),
        ("derives", manifest("derives", "[lib]\nproc-macro = true\n"), Some(DERIVES)),
        (
            "serde_json",
            manifest("serde_json", ""),
            Some("pub fn to_string(text: &String) -> Result<String, ()> { Ok(text.clone()) }"),
        ),
        (
            "kube-core",
            manifest("kube-core", &on(&["serde_json"])),
            Some("pub use serde_json; pub trait CustomResourceExt { fn crd() -> String; }"),
        ),
        (
            "kube",
            manifest("kube", &on(&["derives", "kube-core"])),
            Some("pub use derives::CustomResource; pub use kube_core as core;"),
        ),
        ("schemars", manifest("schemars", &on(&["derives"])), Some("pub use derives::JsonSchema;")),
        ("serde", manifest("serde", &on(&["derives"])), Some("pub use derives::{Deserialize, Serialize};")),
    ];
    for (folder, manifest, lib) in files {
        crate_.write(&format!("{folder}/Cargo.toml"), manifest);
        if let Some(lib) = lib {
            crate_.write(&format!("{folder}/src/lib.rs"), lib);
        }
    }
    crate_
}

fn settings(crate_: &Crate, keep_going: bool) -> Settings {
    let overrides = Overrides {
        input: vec![crate_.path("api")],
        crd_output: Some("crds".into()),
        only: vec![Generator::Crd],
        kinds: KindFlags { evaluate: true, keep_going, ..KindFlags::default() },
        ..Overrides::default()
    };
    config::settings(None, overrides).unwrap().remove(0)
}

fn run(crate_: &Crate, program: EvaluatedProgram) -> Generated {
    let evaluation = Some(Evaluation { folder: None, program });
    pipeline::generate(&Settings { evaluation, ..settings(crate_, false) })
}

fn files(generated: &Generated) -> Vec<&str> {
    assert!(!diag::has_errors(&generated.diagnostics), "{}", support::short(generated));
    generated.targets.iter().flat_map(|target| target.tree.iter()).map(|(path, _)| path).collect()
}

fn evaluated(generated: &Generated) -> Vec<&str> {
    generated.ir.evaluated.iter().map(|found| found.kind.as_str()).collect()
}

#[test]
fn definitions_that_source_lacks_are_evaluated() {
    let crate_ = project(SOURCE);
    let generated = run(&crate_, EvaluatedProgram::Roots);
    assert_eq!(files(&generated), ["example.com_carts.yaml", "example.com_orders.yaml"]);
    assert_eq!(evaluated(&generated), ["Cart"]);
    let tree = &generated.targets[0].tree;
    let cart = tree.get("example.com_carts.yaml").unwrap();
    assert!(cart.contains("kubesmith.dev/version") && cart.contains("description: Of code."), "{cart}");
    assert!(!cart.contains("uint8"), "formats that servers do not know are dropped: {cart}");
    assert!(!tree.get("example.com_orders.yaml").unwrap().contains("Of code."));

    let generated = run(&crate_, EvaluatedProgram::Function("api::definitions".to_string()));
    assert_eq!(evaluated(&generated), ["Cart"]);

    for call in ["api::definition(\"Cart\")", "api::checked"] {
        let generated = run(&crate_, EvaluatedProgram::Function(call.to_string()));
        assert_eq!(evaluated(&generated), ["Cart"], "{call}: {}", support::short(&generated));
    }
    let generated = run(&crate_, EvaluatedProgram::Function("api::definitions;".to_string()));
    assert!(support::short(&generated).contains("neither the path of a function nor a call"));

    let crdgen = EvaluatedProgram::Binary { name: "crdgen".to_string(), arguments: Vec::new() };
    let generated = run(&crate_, crdgen);
    assert_eq!(
        files(&generated),
        ["example.com_carts.yaml", "example.com_mades.yaml", "example.com_orders.yaml"]
    );
    assert_eq!(evaluated(&generated), ["Cart", "Made"]);
}

#[test]
fn project_that_aborts_on_panics_is_evaluated() {
    let crate_ = project(SOURCE);
    let manifest = fs::read_to_string(crate_.path("api/Cargo.toml")).unwrap();
    crate_.write("api/Cargo.toml", manifest + "[profile.dev]\npanic = \"abort\"\n");
    assert_eq!(evaluated(&run(&crate_, EvaluatedProgram::Roots)), ["Cart"]);
}

#[test]
fn definition_that_an_impl_makes_is_an_error_and_evaluated() {
    let crate_ = project(
        &(SOURCE.replace("std::env::var(\"HOST\").unwrap()", "\"a\".to_string()")
            + "pub struct Parcel;\n\
               impl Resource for Parcel { fn group(_: &()) -> String { GROUP.into() } }\n\
               const GROUP: &str = \"example.com\";\n\
               pub trait Resource { fn group(_: &()) -> String; }\n\
               impl kube::core::CustomResourceExt for Parcel {\n\
               fn crd() -> String { <Cart as kube::core::CustomResourceExt>::crd().replace(\"Cart\", \"Parcel\").replace(\"carts\", \"parcels\") } }\n"),
    );
    let of_source = Settings { evaluation: None, ..settings(&crate_, true) };
    let generated = pipeline::generate(&of_source);
    let [found] = &generated.diagnostics[..] else { panic!("{}", support::short(&generated)) };
    assert_eq!(found.code, Code::SCHEMA_AT_RUN_TIME);
    assert_eq!(found.message, "the definition of Parcel is not known before the program runs");
    assert_eq!(generated.targets[0].tree.len(), 2);

    let left_out = Selection { exclude: vec!["Parcel.example.com".to_string()], ..Selection::default() };
    let generated = pipeline::generate(&Settings { selection: left_out, ..of_source });
    assert_eq!(files(&generated), ["example.com_carts.yaml", "example.com_orders.yaml"]);

    let generated = run(&crate_, EvaluatedProgram::Roots);
    assert_eq!(evaluated(&generated), ["Parcel"]);
    assert_eq!(files(&generated).len(), 3);
}

#[test]
fn project_is_not_built_when_source_suffices() {
    let crate_ = project(&SOURCE.replace("std::env::var(\"HOST\").unwrap()", "\"a\".to_string()"));
    let generated = pipeline::generate(&settings(&crate_, false));
    assert_eq!(files(&generated), ["example.com_carts.yaml", "example.com_orders.yaml"]);
    assert!(generated.ir.evaluated.is_empty() && !crate_.path("api/target").exists());
}

#[test]
fn kind_that_cannot_be_evaluated_is_an_error() {
    let codes =
        |generated: &Generated| generated.diagnostics.iter().map(|found| found.code).collect::<Vec<Code>>();
    let private = project(&SOURCE.replace("pub struct CartSpec", "struct CartSpec"));
    let generated = pipeline::generate(&settings(&private, false));
    assert_eq!(
        codes(&generated),
        [Code::EVALUATION, Code::SCHEMA_AT_RUN_TIME],
        "{}",
        support::short(&generated)
    );
    let generated = pipeline::generate(&settings(&private, true));
    assert_eq!(generated.targets[0].tree.len(), 1, "the other kind goes on");

    let broken = project(&(SOURCE.to_string() + "fn broken() -> u8 { missing }"));
    let generated = pipeline::generate(&settings(&broken, false));
    assert!(codes(&generated).contains(&Code::EVALUATION), "{}", support::short(&generated));
    assert!(generated.targets.is_empty());

    let evaluated = project(SOURCE);
    let output = Overrides {
        input: vec![evaluated.path("api")],
        output: Some(evaluated.path("client")),
        only: vec![Generator::Crd, Generator::Client],
        kinds: KindFlags { evaluate: true, ..KindFlags::default() },
        ..Overrides::default()
    };
    let generated = pipeline::generate(&config::settings(None, output).unwrap()[0]);
    assert!(codes(&generated).contains(&Code::EVALUATED_ALONE), "{}", support::short(&generated));
}

#[test]
fn program_output_without_definitions_is_an_error() {
    let print = |body: &str| {
        format!("use kube::core::CustomResourceExt;\nfn main() {{ let own = api::Cart::crd(); {body} }}")
    };
    for (body, expected) in [
        ("drop(own);", "the program printed no definition"),
        ("println!(\"{own}\\n{own}\");", "Cart is not the only definition"),
        ("println!(\"{}\", own.replace(\"carts\", \"orders\"));", "Cart is not the only definition"),
        ("println!(\"{}\", own.replace(\"/v1\\\"\", \"/v1beta1\\\"\"));", "not of apiextensions.k8s.io/v1"),
        (
            "println!(\"{}\", own.replace(\"\\\"name\\\":\\\"carts\", \"\\\"annotations\\\":1,\\\"name\\\":\\\"carts\"));",
            "annotations of Cart",
        ),
    ] {
        let crate_ = project(SOURCE);
        crate_.write("api/src/bin/crdgen.rs", print(body));
        let crdgen = EvaluatedProgram::Binary { name: "crdgen".to_string(), arguments: Vec::new() };
        let generated = run(&crate_, crdgen);
        let is_told =
            |found: &diag::Diagnostic| found.code == Code::EVALUATION && found.message.contains(expected);
        assert!(generated.diagnostics.iter().any(is_told), "{body}: {}", support::short(&generated));
        assert!(generated.targets.is_empty());
    }
}

#[test]
fn kind_of_a_program_is_refused_before_the_project_is_built() {
    let crate_ = project(SOURCE);
    std::fs::rename(crate_.path("api/src/lib.rs"), crate_.path("api/src/main.rs")).unwrap();
    let generated = run(&crate_, EvaluatedProgram::Roots);
    let found = generated.diagnostics.iter().find(|found| found.code == Code::EVALUATION).unwrap();
    assert_eq!(found.message, "Cart is in a program, which no other crate can use");
}
