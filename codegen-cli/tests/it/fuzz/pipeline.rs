//! One source file through all stages.

use std::fs;
use std::path::Path;

use kubesmith::config::{self, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::pipeline::{self, Generated};
use kubesmith_apiextensions::structural::{aggregate, validate_crd};
use kubesmith_core::grammar::{FAMILIES, definitions, marker_text};
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

const MANIFEST: &str = "[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
    k8s-openapi = \"0.29\"\nkubesmith-runtime = \"0.1\"\nserde = \"1\"\nserde_json = \"1\"\n";

/// Texts that nest or chain if repeated: the text before, the repeated opening, the middle, the repeated end,
/// the text after.
pub(crate) const DEEP: &[[&str; 5]] = &[
    ["type A = ", "(", "u8", ")", ";"],
    ["type A = ", "Vec<", "u8", ">", ";"],
    ["type A = ", "fn() -> ", "u8", "", ";"],
    ["type A = ", "fn(", "u8", ")", ";"],
    ["type A = ", "&'a ", "u8", "", ";"],
    ["type A = ", "*const ", "u8", "", ";"],
    ["type A = ", "a::", "B", "", ";"],
    ["type A = ", "<", "u8", " as B>::C", ";"],
    ["type A = ", "dyn Fn() -> ", "u8", "", ";"],
    ["type A = ", "for<'a> fn() -> ", "u8", "", ";"],
    ["struct A { a: ", "Option<", "u8", ">", " }"],
    ["struct A { a: [u8; ", "1 + ", "1", "", "] }"],
    ["use ", "a::", "b", "", ";"],
    ["use ", "a::{", "b", "}", ";"],
    ["use a::{", "b, ", "c", "", "};"],
    ["const A: u8 = ", "1 + ", "1", "", ";"],
    ["const A: u8 = ", "-", "1", "", ";"],
    ["const A: u8 = ", "a = ", "1", "", ";"],
    ["const A: u8 = ", "|| ", "1", "", ";"],
    ["const A: u8 = ", "|a| ", "1", "", ";"],
    ["const A: u8 = ", "move || ", "1", "", ";"],
    ["const A: u8 = ", "return ", "1", "", ";"],
    ["const A: u8 = ", "break ", "1", "", ";"],
    ["const A: u8 = ", "break 'a ", "1", "", ";"],
    ["const A: u8 = a", ".b()", "", "", ";"],
    ["const A: u8 = a", ".b", "", "", ";"],
    ["const A: u8 = a", "()", "", "", ";"],
    ["const A: u8 = a", "[0]", "", "", ";"],
    ["const A: u8 = a", "?", "", "", ";"],
    ["const A: u8 = a", " as u8", "", "", ";"],
    ["const A: u8 = ", "&mut ", "1", "", ";"],
    ["const A: u8 = ", "a..", "1", "", ";"],
    ["const A: u8 = ", "if a {} else ", "{}", "", ";"],
    ["const A: u8 = ", "if ", "a", " {}", ";"],
    ["const A: u8 = ", "match ", "a", " {}", ";"],
    ["const A: u8 = ", "unsafe { ", "1", " }", ";"],
    ["const A: u8 = ", "let a = ", "1", "", ";"],
    ["fn a() { ", "fn b() { ", "", "}", "}"],
    ["fn a() { ", "let a = 1; ", "", "", "}"],
    ["fn a() { let ", "a @ ", "b", "", " = 1; }"],
    ["fn a() { let ", "&", "b", "", " = 1; }"],
    ["fn a() { let ", "a | ", "b", "", " = 1; }"],
    ["fn a<", "'a: 'a + ", "'a", "", ">() {}"],
    ["fn a() -> ", "impl Fn() -> ", "u8", "", " {}"],
    ["", "mod a { ", "", "}", ""],
    ["", "mod a {}\n", "", "", ""],
    ["", "#[a]\n", "struct A;", "", ""],
    ["#[derive(Schema)] #[validation(", "items(", "", ")", ")] struct A;"],
    ["#[derive(Schema)] #[schema(default = ", "[", "", "]", ")] struct A { a: u8 }"],
    ["#[derive(Schema)] struct A { #[schema(default = ", "{a: ", "1", "}", ")] a: u8 }"],
    ["#[derive(Schema)] struct A {\n/// +kubebuilder:default=", "{", "1", "}", "\na: u8 }"],
    ["#[derive(Schema)] struct A {\n/// +kubebuilder:default=", "{a: ", "1", "}", "\na: u8 }"],
    ["#[derive(Schema)] struct A {\n/// +default=", "[", "1", "]", "\na: u8 }"],
    ["#[derive(Schema)]\n/// +kubebuilder:validation:", "items:", "MinLength=1", "", "\nstruct A(String);"],
    ["#[derive(Schema)] struct A {\n#[serde(with = \"", "a::", "b", "", "\")] a: u8 }"],
    ["#[derive(Schema)] struct A {\n#[serde(default = \"", "a(", "", ")", "\")] a: u8 }"],
    ["#[derive(Schema)] #[serde(from = \"", "Vec<", "u8", ">", "\")] struct A { a: u8 }"],
    ["", "#[cfg_attr(all(), ", "derive(Schema)", ")]", " struct A;"],
    ["#[cfg(", "not(", "test", ")", ")] struct A;"],
    ["", "/*", "", "*/", ""],
    ["macro_rules! a { () => { ", "{", "", "}", "} }"],
];

/// A text of [`DEEP`], repeated this often.
pub(crate) fn deep([before, open, middle, close, after]: &[&str; 5], times: usize) -> String {
    [before, open.repeat(times).as_str(), middle, close.repeat(times).as_str(), after].concat()
}

/// Parts of sources: attributes, markers and types.
pub(crate) fn words() -> Vec<String> {
    let types = "u8 i64 f64 bool char String Vec<u8> Option<String> Box<Self> Self BTreeMap<String,String> HashMap<u8,u8> \
        ObjectMeta Condition Quantity IntOrString LabelSelector Time serde_json::Value RawExtension PodTemplateSpec \
        crate::Widget super::Widget [u8;3] (u8,u8) &'static str";
    let items = "#[derive(Resource)] #[derive(Schema)] #[deepcopy] #[genclient] #[serde(flatten)] #[serde(untagged)] #[serde(transparent)] \
        #[serde(rename_all=\"camelCase\")] #[serde(skip)] #[serde(default)] #[serde(tag=\"t\")] #[cfg(test)] #[cfg_attr(x,serde(skip))] \
        mod use pub enum struct type const static fn impl trait union where for as dyn extern macro_rules! include!() \
        => -> .. ..= 'a <T> <'a,T:Clone> *";
    let mut out: Vec<String> =
        types.split_whitespace().chain(items.split_whitespace()).map(str::to_owned).collect();
    for family in FAMILIES {
        out.extend(family.keys.iter().flat_map(|key| {
            [
                key.name.to_owned(),
                format!("#[{}({})]\n", family.family.name(), key.example),
                format!(", {}", key.example),
            ]
        }));
    }
    out.extend(definitions().values().map(|definition| format!("\n/// {}\n", marker_text(definition))));
    out
}

/// A crate whose only file changes.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("api/src")).expect("a folder");
        fs::write(folder.path().join("api/Cargo.toml"), MANIFEST).expect("a file");
        Self(folder)
    }

    /// Runs all generators on this source.
    ///
    /// # Panics
    /// If some output cannot be used.
    pub(crate) fn check(&self, source: &str) {
        let api = self.0.path().join("api");
        fs::write(api.join("src/lib.rs"), source).expect("a file");
        let flags =
            Overrides { input: vec![api], output: Some(self.0.path().join("out")), ..Overrides::default() };
        for settings in config::settings(None, flags).expect("these flags go together") {
            check(&pipeline::generate(&settings), source);
        }
    }
}

/// Checks that diagnostics can be printed, and that files have the format of their names.
///
/// # Panics
/// If one of these fails.
pub(crate) fn check(generated: &Generated, source: &str) {
    for format in [MessageFormat::Human, MessageFormat::Short, MessageFormat::Json] {
        let shown = diag::render(&generated.diagnostics, &generated.sources, format, diag::Style::Plain);
        assert!(generated.diagnostics.is_empty() || !shown.is_empty());
    }
    let has_errors = diag::has_errors(&generated.diagnostics);
    assert!(!has_errors || generated.targets.is_empty());
    for (path, text) in generated.targets.iter().flat_map(|target| target.tree.iter()) {
        match Path::new(path).extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                assert!(syn::parse_file(text).is_ok(), "{path} is not Rust:\n{text}\nfrom\n{source}");
            }
            Some("toml") => assert!(text.parse::<::toml::Table>().is_ok(), "{path}:\n{text}\nfrom\n{source}"),
            Some("json") => assert!(serde_json::from_str::<Value>(text).is_ok(), "{path} from\n{source}"),
            Some("yaml") => check_yaml(path, text, source),
            _ => {}
        }
    }
}

fn check_yaml(path: &str, text: &str, source: &str) {
    for document in serde_yaml::Deserializer::from_str(text) {
        let document = Value::deserialize(document);
        let mut document =
            document.unwrap_or_else(|error| panic!("{path}: {error}:\n{text}\nfrom\n{source}"));
        if document["kind"] == "CustomResourceDefinition" {
            // Defaults that a server sets before validation.
            let names = &mut document["spec"]["names"];
            if names["listKind"].is_null() {
                names["listKind"] = format!("{}List", names["kind"].as_str().unwrap()).into();
            }
            let causes = validate_crd(&document, None);
            assert!(causes.is_empty(), "{path}: {}\nfrom\n{source}", aggregate(&causes));
        }
    }
}
