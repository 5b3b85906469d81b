//! Texts of definitions: byte order marks, directives, templates, JSON, duplicate names, and input without an
//! end.

use kubesmith::diag::{self, MessageFormat};
use kubesmith::import::{self, Imported, Input};
use kubesmith_core::diag::Code;
use serde_json::{Value, json};

use crate::import::definition;
use crate::support::Crate;

fn read(name: &str, text: &str) -> Imported {
    import::import(vec![Input { name: name.to_string(), text: text.to_string() }], "sample-api")
}

fn short(imported: &Imported) -> String {
    diag::render(&imported.diagnostics, &imported.sources, MessageFormat::Short, diag::Style::Plain)
}

fn yaml(value: &Value) -> String {
    serde_yaml::to_string(value).unwrap()
}

fn sample() -> Value {
    let spec =
        json!({"type": "object", "properties": {"a": {"type": "string", "description": "As {{ a }}."}}});
    serde_json::from_str(&definition(&spec)).unwrap()
}

#[test]
fn definition_after_byte_order_mark_or_directives_is_imported() {
    let text = yaml(&sample());
    for before in
        ["\u{feff}", "\u{feff}---\n", "%YAML 1.2\n---\n", "# x\n%YAML 1.1\n%TAG !a! tag:a,2000:\n---\n"]
    {
        let imported = read("a.yaml", &format!("{before}{text}"));
        assert_eq!((imported.definitions, &*short(&imported)), (1, ""), "{before:?}");
    }
    let imported = read("a.json", &format!("\u{feff}{}", sample()));
    assert_eq!((imported.definitions, &*short(&imported)), (1, ""));
    // A second document with directives of its own.
    let imported = read("a.yaml", &format!("a: 1\n...\n%YAML 1.1\n---\n{text}"));
    assert_eq!((imported.definitions, imported.skipped, &*short(&imported)), (1, 1, ""));
}

#[test]
fn invalid_yaml_is_called_a_template_only_with_template_syntax() {
    let broken = yaml(&sample()).replace("scope: Namespaced", "scope: 'Namespaced");
    let imported = read("a.yaml", &broken);
    assert!(short(&imported).contains("not valid YAML"), "{}", short(&imported));
    let template = yaml(&sample())
        .replace("scope: Namespaced", "{{- if .Values.x }}\n  scope: Namespaced\n  {{- end }}");
    let imported = read("a.yaml", &template);
    assert!(short(&imported).contains("the file is a template"), "{}", short(&imported));
}

#[test]
fn quoted_templates_are_reported_in_versions() {
    for (pointer, path) in
        [("/served", "served"), ("/name", "name"), ("/storage", "storage"), ("/schema", "schema")]
    {
        let mut object = sample();
        *object.pointer_mut(&format!("/spec/versions/0{pointer}")).unwrap() = "{{ .Values.x }}".into();
        let text = yaml(&object);
        let imported = read("a.yaml", &text);
        let line = text.lines().position(|line| line.contains("{{ .Values")).unwrap() + 1;
        let wanted = format!("a.yaml:{line}:");
        let told = short(&imported);
        let template =
            told.lines().find(|line| line.contains("the definition is a template")).unwrap_or_default();
        assert!(template.starts_with(&wanted), "{path}: {told}");
    }
}

#[test]
fn duplicate_members_get_a_warning() {
    let text = yaml(&sample()).replace("  scope: Namespaced\n", "  scope: Cluster\n  scope: Namespaced\n");
    let imported = read("a.yaml", &text);
    assert_eq!(imported.definitions, 1);
    let line = text.lines().position(|line| line == "  scope: Namespaced").unwrap() + 1;
    let wanted = format!(
        "a.yaml:{line}:3: warning[KS0912]: `spec.scope` is given more than once, and the last one is taken\n"
    );
    assert_eq!(short(&imported), wanted);
    assert!(imported.files["src/v1.rs"].contains("#[resource(group = \"example.com\", version = \"v1\")]"));
    let json = sample().to_string().replace("\"scope\":", "\"scope\":\"Cluster\",\n\"scope\":");
    assert!(
        short(&read("a.json", &json)).starts_with("a.json:2:1: warning[KS0912]"),
        "{}",
        short(&read("a.json", &json))
    );
    // The import ignores other objects.
    let other = read("a.yaml", &format!("a: 1\na: 2\n---\n{}", yaml(&sample())));
    assert_eq!(short(&other), "");
    let labels: String = (0..90).map(|at| format!("    l{}: a\n", at % 30)).collect();
    let imported =
        read("a.yaml", &yaml(&sample()).replace("metadata:\n", &format!("metadata:\n  labels:\n{labels}")));
    assert_eq!(imported.diagnostics.len(), 20);
    assert_eq!(imported.diagnostics[19].notes.last().unwrap(), "and 10 more of this document");
}

#[test]
fn errors_in_json_have_positions() {
    let mut object = sample();
    object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["$ref"] = "#/a".into();
    let pretty = serde_json::to_string_pretty(&json!({"kind": "List", "items": [object]})).unwrap();
    let at = pretty.lines().position(|line| line.contains("$ref")).unwrap();
    let column = pretty.lines().nth(at).unwrap().find('"').unwrap() + 1;
    let told = short(&read("a.json", &pretty));
    assert!(told.starts_with(&format!("a.json:{}:{column}: error[KS0905]", at + 1)), "{told}");
    let flat = object.to_string();
    let told = short(&read("a.json", &flat));
    assert!(told.starts_with(&format!("a.json:1:{}: error", flat.find("\"$ref\"").unwrap() + 1)), "{told}");
}

#[test]
fn errors_of_a_file_are_limited_to_100() {
    let stub = |at: usize| {
        format!(
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: x{at}}}\nspec: {{}}\n"
        )
    };
    let text: String = (0..150).map(stub).collect();
    let imported = read("a.yaml", &text);
    assert_eq!((imported.diagnostics.len(), imported.untold), (100, 50));
    assert!(imported.diagnostics.iter().all(|found| found.code == Code::UNKNOWN_DEFINITION));
    assert_eq!(imported.diagnostics[99].notes.last().unwrap(), "and 50 more errors of this file");
    let folder = Crate::with_files(&[]);
    folder.write("a.yaml", &text);
    folder.write("b.yaml", stub(0));
    let out = folder.run(&["import", "a.yaml", "b.yaml", "--output", "x"]);
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(told.contains("151 errors; the affected definitions are not imported"), "{told}");
    assert!(told.contains("b.yaml:5:1"), "each file has its own");
}

/// The parser's time would grow with the square of the depth, so such input is refused before.
#[test]
fn document_that_is_too_deep_is_not_parsed() {
    for open in ["{\"a\":", "[", "{a: ", "- [\n  ", "k: [\n"] {
        let imported = read("a.yaml", &open.repeat(200_000));
        assert_eq!(imported.diagnostics.len(), 1, "{open}");
    }
    let imported = read("a.yaml", &"---\n[\n".repeat(1_000));
    assert_eq!((imported.diagnostics.len(), imported.untold), (100, 900));
}
