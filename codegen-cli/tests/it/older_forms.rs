//! Attributes in the forms of schemars 0.8 and validator 0.16.

use kubesmith::diag;
use kubesmith::pipeline::Generated;
use kubesmith_core::diag::Code;

use crate::support::{self, Crate};

fn run(fields: &str) -> Generated {
    let crate_ = Crate::new(&format!(
        "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{{Deserialize, Serialize}};\n\
         static RE: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| regex::Regex::new(\"^a+$\").unwrap());\n\
         static ONCE: once_cell::sync::Lazy<regex::Regex> = once_cell::sync::Lazy::new(|| {{ regex::Regex::new(TEXT).expect(\"valid\") }});\n\
         const TEXT: &str = \"^b+$\";\n\
         lazy_static::lazy_static! {{ /// Words.\n pub static ref STATIC: regex::Regex = regex::Regex::new(\"^c+$\").unwrap();\n\
         #[cfg(feature = \"none\")] static ref STATIC: regex::Regex = regex::Regex::new(\"^none$\").unwrap(); }}\n\
         fn cell() -> &'static regex::Regex {{ static CELL: std::sync::OnceLock<regex::Regex> = std::sync::OnceLock::new(); \
         CELL.get_or_init(|| regex::Regex::new(\"^d+$\").unwrap()) }}\n\
         #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]\n\
         #[kube(group = \"example.com\", version = \"v1\", kind = \"Cart\")]\npub struct CartSpec {{ {fields} }}\n"
    ));
    let manifest = std::fs::read_to_string(crate_.path("api/Cargo.toml")).unwrap();
    crate_.write("api/Cargo.toml", manifest + "ipnet = \"2\"\n");
    support::crds(crate_.path("api"), None, false)
}

#[test]
fn pattern_is_resolved_by_path_and_contains_is_a_pattern() {
    for (attribute, expected) in [
        ("#[validate(regex = \"RE\")]", "pattern: ^a+$"),
        ("#[schemars(regex = \"crate::RE\")]", "pattern: ^a+$"),
        ("#[validate(regex(path = *RE))]", "pattern: ^a+$"),
        ("#[validate(regex(path = *ONCE))]", "pattern: ^b+$"),
        ("#[validate(regex(path = STATIC))]", "pattern: ^c+$"),
        ("#[validate(regex(path = cell()))]", "pattern: ^d+$"),
        ("#[schemars(regex(pattern = *crate::RE))]", "pattern: ^a+$"),
        ("#[schemars(regex(path = \"crate::RE\"))]", "pattern: ^a+$"),
        ("#[validate(contains = \"b\")]", "pattern: b"),
        ("#[schemars(contains = \"b\")]", "pattern: b"),
    ] {
        let generated = run(&format!("{attribute} pub name: String"));
        assert!(!diag::has_errors(&generated.diagnostics), "{attribute}: {}", support::short(&generated));
        assert!(support::crd_texts(&generated).values().any(|text| text.contains(expected)), "{attribute}");
    }
}

#[test]
fn network_has_the_schema_of_ipnet() {
    let generated = run("pub network: ipnet::IpNet");
    let text = support::crd_texts(&generated).into_values().next();
    let text = text.unwrap_or_else(|| panic!("{}", support::short(&generated)));
    for part in ["title: IP network", "maxLength: 18", "maxLength: 43", "oneOf:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn unresolved_pattern_is_an_error() {
    for attribute in ["#[validate(regex = \"ELSEWHERE\")]", "#[schemars(regex = \"not a path\")]"] {
        let generated = run(&format!("{attribute} pub name: String"));
        let codes: Vec<Code> = generated.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::SCHEMA_AT_RUN_TIME], "{attribute}");
    }
}

#[test]
fn unknown_default_error_points_at_the_expression() {
    let generated = run("#[serde(default = \"crate::unknown\")] pub name: String } \
         fn unknown() -> String { format!(\"{}-1\", host()) } \
         fn host() -> String { std::env::var(\"HOST\").unwrap() } struct Rest {");
    let [found] = &generated.diagnostics[..] else { panic!("{}", support::short(&generated)) };
    assert_eq!(found.code, Code::SCHEMA_AT_RUN_TIME);
    let (place, _) = &found.secondary[0];
    let text = &generated.sources.file(place.file).text[place.range()];
    assert_eq!(text, "std::env::var(\"HOST\")");
}

#[test]
fn default_that_cannot_be_evaluated_exactly_is_an_error() {
    for body in [
        // The order of variants is up to an implementation.
        "if Level::High > Level::Low { 1 } else { 2 }",
        // These end the function, not the block.
        "let b = if true { return 7; } else { 3 }; b * 2",
        "let v = match 3 { 3 => return 9, _ => 1 }; v + 1",
        // It has no end.
        "include_str!(\"/dev/zero\").len()",
    ] {
        let generated = run(&format!(
            "#[serde(default = \"crate::number\")] pub number: u32 }} fn number() -> u32 {{ {body} }} \
             #[derive(PartialEq, PartialOrd, Serialize)] enum Level {{ Low, High }} struct Rest {{"
        ));
        let codes: Vec<Code> = generated.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::SCHEMA_AT_RUN_TIME], "{body}: {}", support::short(&generated));
    }
}
