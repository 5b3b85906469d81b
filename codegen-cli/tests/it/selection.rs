//! `--kind`, `--group`, `--exclude` and `--keep-going`.

use kubesmith::config::{self, FeatureFlags, Generator, KindFlags, Overrides};
use kubesmith::diag;
use kubesmith::pipeline::{self, Generated};
use kubesmith_core::diag::Code;

use crate::support::{self, Crate};

const USES: &str =
    "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n";

/// A spec of kube-rs's dialect with more keys of `#[kube]`, and fields.
fn spec(group: &str, kind: &str, more: &str, fields: &str) -> String {
    format!(
        "#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]\n\
         #[kube(group = \"{group}\", version = \"v1\", kind = \"{kind}\"{more})]\npub struct {kind}Spec {{ {fields} }}\n"
    )
}

fn run(source: &str, kinds: KindFlags) -> Generated {
    let crate_ = Crate::new(source);
    let overrides = Overrides {
        input: vec![crate_.path("api")],
        crd_output: Some("crds".into()),
        only: vec![Generator::Crd],
        kinds,
        ..Overrides::default()
    };
    pipeline::generate(&config::settings(None, overrides).unwrap()[0])
}

fn list(entries: &[&str]) -> Vec<String> {
    entries.iter().map(ToString::to_string).collect()
}

fn files(generated: &Generated) -> Vec<String> {
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    files.map(|(path, _)| path.to_string()).collect()
}

fn codes(generated: &Generated) -> Vec<Code> {
    generated.diagnostics.iter().map(|found| found.code).collect()
}

fn two_kinds() -> String {
    USES.to_string() + &spec("example.com", "Cart", "", "") + &spec("example.org", "Order", "", "")
}

#[test]
fn selection_chooses_kinds_and_groups() {
    let [cart, order] = ["example.com_carts.yaml", "example.org_orders.yaml"];
    for (flags, expected) in [
        (KindFlags { kinds: list(&["Cart"]), ..Default::default() }, vec![cart]),
        (KindFlags { kinds: list(&["Order.example.org"]), ..Default::default() }, vec![order]),
        (KindFlags { groups: list(&["*.com"]), ..Default::default() }, vec![cart]),
        (KindFlags { groups: list(&["example.org"]), ..Default::default() }, vec![order]),
        (KindFlags { exclude: list(&["example.org"]), ..Default::default() }, vec![cart]),
        (KindFlags::default(), vec![cart, order]),
    ] {
        let generated = run(&two_kinds(), flags);
        assert_eq!(files(&generated), expected, "{}", support::short(&generated));
    }
}

#[test]
fn entry_without_a_kind_is_an_error() {
    let generated = run(&two_kinds(), KindFlags { exclude: list(&["Ordr"]), ..Default::default() });
    assert_eq!(codes(&generated), [Code::UNKNOWN_KIND]);
    assert_eq!(generated.diagnostics[0].help.as_deref(), Some("did you mean `Order`?"));
}

#[test]
fn selection_without_a_kind_is_an_error() {
    let generated = run(&two_kinds(), KindFlags { exclude: list(&["Order", "Cart"]), ..Default::default() });
    assert_eq!(codes(&generated), [Code::NO_RESOURCE]);
    assert!(generated.diagnostics[0].message.starts_with("every kind in "));
}

#[test]
fn kind_with_invalid_attributes_is_not_reported_as_missing() {
    let source = USES.to_string() + &spec("example.com", "Cart", ", finalizer = \"a\"", "");
    for keep_going in [false, true] {
        let generated = run(&source, KindFlags { keep_going, ..Default::default() });
        assert_eq!(codes(&generated), [Code::UNKNOWN_KEY], "{keep_going}");
    }
}

#[test]
fn optional_kube_that_is_off_is_named_when_no_kind_is_found() {
    let source = USES.to_string() + &spec("example.com", "Cart", "", "");
    let crate_ = Crate::with_files(&[
        ("src/lib.rs", "#[cfg(feature = \"controller\")]\nmod crds;"),
        ("src/crds.rs", &source),
    ]);
    let generate = |features: FeatureFlags| {
        crate_.write(
            "api/Cargo.toml",
            "[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\n[features]\ncontroller = [\"kube\"]\n[dependencies]\n\
             serde = \"1\"\nschemars = \"1\"\nkube = { version = \"*\", optional = true }\n",
        );
        support::run(Overrides {
            input: vec![crate_.path("api")],
            crd_output: Some("crds".into()),
            only: vec![Generator::Crd],
            features,
            ..Overrides::default()
        })
    };
    let generated = generate(FeatureFlags::default());
    assert_eq!(codes(&generated), [Code::NO_RESOURCE]);
    assert!(generated.diagnostics[0].notes.iter().any(|note| note.contains("`--all-features`")));
    let all = generate(FeatureFlags { all_features: true, ..FeatureFlags::default() });
    assert_eq!(files(&all), ["example.com_carts.yaml"], "{}", support::short(&all));
}

#[test]
fn kinds_without_schema_or_of_protected_groups_need_a_selection() {
    let source = USES.to_string()
        + &spec("gateway.networking.k8s.io", "Gateway", "", "")
        + &spec("example.com", "Open", ", schema = \"disabled\"", "")
        + &spec("example.com", "Cart", "", "");
    let generated = run(&source, KindFlags::default());
    assert_eq!(codes(&generated), [Code::KIND_LEFT_OUT, Code::KIND_LEFT_OUT]);
    assert_eq!(files(&generated), ["example.com_carts.yaml"]);
    let named = run(&source, KindFlags { kinds: list(&["Open"]), ..Default::default() });
    assert_eq!(codes(&named), [Code::SCHEMA_AT_RUN_TIME]);
    let foreign = run(&source, KindFlags { groups: list(&["*.k8s.io"]), ..Default::default() });
    assert_eq!(codes(&foreign), [Code::INVALID_API_APPROVED]);
    let excluded = run(&source, KindFlags { exclude: list(&["Open", "Gateway"]), ..Default::default() });
    assert_eq!(codes(&excluded), []);
}

/// A kind for each stage that finds errors, and one without.
fn failing() -> String {
    USES.to_string()
        + &spec("example.com", "Good", "", "pub name: String")
        + &spec("example.com", "Unresolved", "", "pub name: Missing")
        + &spec("example.com", "Serde", "", "#[serde(rename_al = \"x\")] pub name: String")
        + &spec("example.com", "Code", "", "#[serde(default = \"outside\")] pub name: String")
        + &spec(
            "example.com",
            "Server",
            ", printcolumn = r#\"{\"name\":\"a\",\"type\":\"no\",\"jsonPath\":\".spec\"}\"#",
            "",
        )
        + "fn outside() -> String { std::fs::read_to_string(\"x\").unwrap_or_default() }\n"
}

#[test]
fn errors_in_one_kind_do_not_stop_others_when_keeping_going() {
    let stopped = run(&failing(), KindFlags::default());
    assert!(stopped.targets.is_empty());
    let generated = run(&failing(), KindFlags { keep_going: true, ..Default::default() });
    assert_eq!(files(&generated), ["example.com_goods.yaml"], "{}", support::short(&generated));
    assert!(diag::has_errors(&generated.diagnostics));
    for code in [Code::UNRESOLVED_TYPE, Code::SERDE_ATTRIBUTE, Code::SCHEMA_AT_RUN_TIME] {
        assert!(codes(&generated).contains(&code), "{code}: {}", support::short(&generated));
    }
    let hint = generated.diagnostics.iter().find(|found| found.code == Code::SCHEMA_AT_RUN_TIME).unwrap();
    assert!(hint.notes.contains(&"`--exclude Code` leaves the kind out".to_string()), "{:?}", hint.notes);
}

#[test]
fn keep_going_fails_when_no_kind_remains() {
    let source = USES.to_string() + &spec("example.com", "Bad", "", "pub name: Missing");
    let generated = run(&source, KindFlags { keep_going: true, ..Default::default() });
    assert!(generated.targets.is_empty());
    assert_eq!(codes(&generated), [Code::UNRESOLVED_TYPE]);
}

#[test]
fn command_keeps_files_of_kinds_that_are_not_chosen() {
    let crate_ = Crate::new(&two_kinds());
    let flags = ["generate", "--input", "api", "--only", "crd", "--crd-output", "crds"];
    assert!(crate_.run(&flags).status.success());
    let one = [&flags[..], &["--kind", "Cart"]].concat();
    assert!(crate_.run(&one).status.success());
    assert_eq!(crate_.tree("crds").len(), 2);
    crate_.write("api/src/lib.rs", two_kinds() + &spec("example.com", "Bad", "", "pub name: Missing"));
    let going = crate_.run(&[&flags[..], &["--keep-going"]].concat());
    assert_eq!(going.status.code(), Some(1));
    let text = String::from_utf8_lossy(&going.stderr);
    assert!(text.contains("1 error; the kinds without errors go on"), "{text}");
    assert_eq!(crate_.tree("crds").len(), 2);
}

#[test]
fn excluded_kind_of_the_configuration_file_is_removed() {
    let crate_ = Crate::new(&two_kinds());
    let config = "input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\n";
    crate_.write("kubesmith.toml", config);
    assert!(crate_.run(&["generate"]).status.success());
    crate_.write("kubesmith.toml", format!("exclude = [\"Order\"]\n{config}"));
    assert!(crate_.run(&["generate"]).status.success());
    assert_eq!(crate_.tree("crds").into_keys().collect::<Vec<_>>(), ["example.com_carts.yaml"]);
}
