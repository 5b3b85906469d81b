//! Each row of docs/from-kube-rs/attributes.md: an attribute is applied, refused, or has no effect on a CRD.

use std::fs;
use std::path::Path;

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::diag;
use kubesmith::pipeline::{self, Generated};

use crate::support::{self, Crate};

/// The places of attributes: `ATTRIBUTE@place` is a line of its own.
const SOURCE: &str = r##"
use std::collections::BTreeMap;
use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};

static RE: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| regex::Regex::new("^a$").unwrap());

fn text() -> String { "a".to_string() }
fn rule() -> kube::core::Rule { kube::core::Rule::new("self.spec.number < 5").message("many") }
fn unknown() -> String { std::env::var("A").unwrap() }
fn schema(_: &mut schemars::SchemaGenerator) -> Schema { json_schema!({"type": "integer"}) }
fn change(schema: &mut Schema) { schema.insert("maxLength".to_string(), 3.into()); }

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Order")]
@kind
pub struct OrderSpec {
    @text
    pub text: String,
    @number
    pub number: u32,
    @list
    pub list: Vec<String>,
    @map
    pub map: BTreeMap<String, String>,
    @inner
    pub inner: Inner,
    @option
    pub option: Option<String>,
    pub choice: Choice,
    pub either: Either,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, KubeSchema)]
@struct
pub struct Inner {
    @count
    pub count: u32,
    @tags
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Text(String);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
@enum
pub enum Choice { FirstOne, SecondOne }

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
@tagged
pub enum Either { @variant One { some_text: String }, Two { some_number: u32 } }
"##;

const PLACES: [&str; 13] = [
    "kind", "struct", "count", "tags", "enum", "tagged", "variant", "text", "number", "list", "map", "inner",
    "option",
];

/// The CRD with an attribute at a place.
fn generate(attribute: &str, place: &str) -> Generated {
    let source = PLACES.iter().fold(SOURCE.to_string(), |source, name| {
        source.replace(&format!("@{name}"), if *name == place { attribute } else { "" })
    });
    let crate_ = Crate::new(&source);
    let overrides = Overrides {
        input: vec![crate_.path("api")],
        crd_output: Some("crds".into()),
        only: vec![Generator::Crd],
        keep_unknown_formats: true,
        ..Overrides::default()
    };
    pipeline::generate(&config::settings(None, overrides).unwrap()[0])
}

fn text(generated: &Generated) -> String {
    support::crd_texts(generated).into_values().collect()
}

/// The result for the attribute, in the words of the table.
fn result(generated: &Generated, without: &str) -> String {
    let codes = || generated.diagnostics.iter().map(|found| found.code.to_string()).collect::<Vec<_>>();
    match () {
        () if diag::has_errors(&generated.diagnostics) => codes().join(", "),
        () if text(generated) != without => "applied".to_string(),
        () => "not in CRDs".to_string(),
    }
}

#[test]
fn every_attribute_is_applied_or_reported() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/from-kube-rs/attributes.md");
    let page = fs::read_to_string(path).unwrap();
    let rows = page.lines().filter_map(|line| {
        let (attribute, rest) = line.strip_prefix("| `")?.rsplit_once("` | ")?;
        let (place, result) = rest.strip_suffix(" |")?.split_once(" | ")?;
        Some((attribute, place, result))
    });
    let base = generate("", "");
    assert!(!diag::has_errors(&base.diagnostics), "{}", support::short(&base));
    let without = text(&base);
    let (mut count, mut wrong) = (0, String::new());
    for (attribute, place, expected) in rows {
        assert!(PLACES.contains(&place), "{place}");
        count += 1;
        let generated = generate(attribute, place);
        let found = result(&generated, &without);
        let is_told = generated.diagnostics.iter().any(|found| found.code.to_string() == expected);
        if found != expected && !is_told {
            wrong +=
                &format!("{attribute} at {place}: {found}, not {expected}\n{}", support::short(&generated));
        }
    }
    assert!(count > 100, "the table has {count} rows");
    assert!(wrong.is_empty(), "{wrong}");
}
