//! `kubesmith import`: imported definitions generate the same definitions again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kubesmith::config::{self, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::import::{self, Imported, Input, canonical};
use kubesmith::output::Kind;
use kubesmith::pipeline::{self, Generated};
use kubesmith_core::diag::{Code, Severity};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Crate, testdata};

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Files of charts are templates, which are not YAML before Helm renders them.
        if path.is_dir() && path.file_name().is_some_and(|name| name != "charts") {
            out.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            out.push(path);
        }
    }
    out.sort();
    out
}

fn import(name: &str, text: &str) -> Imported {
    import::import(vec![Input { name: name.to_string(), text: text.to_string() }], "sample-api")
}

fn shown(imported: &Imported) -> String {
    diag::render(&imported.diagnostics, &imported.sources, MessageFormat::Human, diag::Style::Plain)
}

fn definitions(text: &str) -> Vec<Value> {
    let documents =
        serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap());
    documents.filter(|value| value["kind"] == "CustomResourceDefinition").collect()
}

fn run(files: &BTreeMap<String, String>) -> Generated {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let settings =
        config::settings(Some(&folder.path().join("kubesmith.toml")), Overrides::default()).unwrap();
    pipeline::generate(&settings[0])
}

/// The codes of the warnings of `generate`.
fn warnings(files: &BTreeMap<String, String>) -> Vec<String> {
    run(files).diagnostics.iter().map(|found| found.code.to_string()).collect()
}

/// The definitions that the crate gives, by their names.
fn generated(files: &BTreeMap<String, String>) -> BTreeMap<String, Value> {
    let made = run(files);
    let tree = &made.targets.iter().find(|target| target.kind == Kind::Crd).expect("no CRDs").tree;
    let objects = tree.iter().flat_map(|(_, text)| definitions(text));
    objects
        .map(|object| (object["metadata"]["name"].as_str().unwrap().to_string(), canonical(&object)))
        .collect()
}

#[test]
fn import_then_generate_gives_the_same_crd() {
    let mut count = 0;
    let mut refused = Vec::new();
    let folders = ["conformance", "import/good", "../examples"];
    for path in folders.iter().flat_map(|folder| yaml_files(&testdata().join(folder))) {
        let text = fs::read_to_string(&path).unwrap();
        let wanted: Vec<Value> =
            if text.contains("CustomResourceDefinition") { definitions(&text) } else { Vec::new() };
        if wanted.is_empty() {
            continue;
        }
        let imported = import("crds.yaml", &text);
        let errors = imported.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let is_known = errors.into_iter().all(|found| found.code == Code::REFUSED_DEFINITION);
        assert!(is_known, "{}: {}", path.display(), shown(&imported));
        let made = if imported.files.is_empty() { BTreeMap::new() } else { generated(&imported.files) };
        for wanted in wanted.iter().filter(|wanted| wanted["apiVersion"] == "apiextensions.k8s.io/v1") {
            let name = wanted["metadata"]["name"].as_str().unwrap();
            let is_mended = imported.diagnostics.iter().any(|found| found.code == Code::REFUSED_DEFINITION);
            if !made.contains_key(name) || is_mended {
                refused.push(format!(
                    "{name} of {}",
                    path.parent().unwrap().file_name().unwrap().to_string_lossy()
                ));
                continue;
            }
            assert_eq!(made[name], canonical(wanted), "{name} of {}", path.display());
            count += 1;
        }
    }
    assert!(count > 60, "{count} definitions");
    // Definitions that controller-gen writes and an API server refuses.
    insta::assert_snapshot!("import_refused", refused.join("\n"));
}

#[test]
fn v1beta1_definition_is_converted() {
    let text = fs::read_to_string(testdata().join("import/good/beta.yaml")).unwrap();
    let imported = import("beta.yaml", &text);
    assert_eq!(imported.skipped, 1);
    assert!(imported.diagnostics.iter().all(|found| found.code == Code::CONVERTED), "{}", shown(&imported));
    let made = &generated(&imported.files)["olds.old.example.com"];
    let version = &made["spec"]["versions"][0];
    assert_eq!(version["additionalPrinterColumns"][0]["jsonPath"], ".spec.size");
    assert_eq!(version["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"], true);
    assert_eq!(version["subresources"], json!({"status": {}}));
}

/// testdata/import/api is compiled, tested with random objects, and checked by clippy.
#[test]
fn imported_crate_equals_the_committed_one() {
    let folder = testdata().join("import/good");
    let input = |path: PathBuf| Input {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        text: fs::read_to_string(&path).unwrap(),
    };
    let imported = import::import(yaml_files(&folder).into_iter().map(input).collect(), "sample-api");
    let is_source = |path: &&String| path.starts_with("src/");
    for (path, text) in imported.files.iter().filter(|(path, _)| !is_source(path)) {
        insta::assert_snapshot!(format!("import_{}", path.replace(['/', '.'], "_")), text);
    }
    let committed = testdata().join("import/api");
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        let _ = fs::remove_dir_all(committed.join("src"));
        for (path, text) in imported.files.iter().filter(|(path, _)| is_source(path)) {
            fs::create_dir_all(committed.join(path).parent().unwrap()).unwrap();
            fs::write(committed.join(path), text).unwrap();
        }
    }
    let mut found = Vec::new();
    rust_files(&committed.join("src"), &mut found);
    let wanted: BTreeSet<PathBuf> =
        imported.files.keys().filter(is_source).map(|path| committed.join(path)).collect();
    assert_eq!(
        found.iter().cloned().collect::<BTreeSet<_>>(),
        wanted,
        "KUBESMITH_UPDATE=1 cargo test -p kubesmith import"
    );
    for path in &found {
        let name = path.strip_prefix(&committed).unwrap().to_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text, imported.files[name], "{name}: KUBESMITH_UPDATE=1 cargo test -p kubesmith import");
    }
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--check"]).args(&found);
    let output = rustfmt.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, out);
        } else {
            out.push(path);
        }
    }
}

#[test]
fn invalid_definitions_are_reported_and_valid_ones_imported() {
    let mut codes = Vec::new();
    for path in yaml_files(&testdata().join("import/bad")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let imported = import(&name, &fs::read_to_string(&path).unwrap());
        assert!(diag::has_errors(&imported.diagnostics), "{name}");
        codes.extend(imported.diagnostics.iter().map(|found| found.code));
        let text = format!("{}definitions: {}\n", shown(&imported), imported.definitions);
        insta::assert_snapshot!(format!("import_bad_{}", name.trim_end_matches(".yaml")), text);
    }
    let wanted = [
        Code::INVALID_YAML,
        Code::TEMPLATE,
        Code::NO_DEFINITION,
        Code::UNKNOWN_DEFINITION,
        Code::REFUSED_SCHEMA,
        Code::DEFINED_TWICE,
        Code::NOT_GENERATED,
        Code::LEFT_OUT,
        Code::REFUSED_DEFINITION,
    ];
    for code in wanted {
        assert!(codes.contains(&code), "{code} has no case");
    }
}

/// A definition with this schema of its spec.
pub(crate) fn definition(spec: &Value) -> String {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "properties": {"spec": spec}}}}],
        },
    })
    .to_string()
}

#[test]
fn last_applied_annotation_does_not_make_a_template() {
    let text = definition(
        &json!({"type": "object", "properties": {"to": {"type": "string", "description": "As {{ to }}."}}}),
    );
    let mut applied: Value = serde_yaml::from_str(&text).unwrap();
    applied["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": text});
    let imported = import("crds.yaml", &applied.to_string());
    assert!(imported.diagnostics.is_empty(), "{}", shown(&imported));
}

#[test]
fn deep_and_wide_schemas_are_imported() {
    let mut deep = json!({"type": "string"});
    for _ in 0..40 {
        deep = json!({"type": "object", "properties": {"next": deep, "other": {"type": "integer"}}});
    }
    // 1.5 MB.
    let text = "A field of many. ".repeat(30);
    let fields = (0..3_000)
        .map(|at| (format!("field{at}"), json!({"type": "string", "description": text.trim_end()})));
    let wide = json!({"type": "object", "properties": Value::Object(fields.collect())});
    for spec in [deep, wide] {
        let imported = import("things.json", &definition(&spec));
        assert_eq!(imported.definitions, 1, "{}", shown(&imported));
    }
    let mut endless = json!({"type": "string"});
    for _ in 0..300 {
        endless = json!({"not": endless});
    }
    let text = definition(&endless);
    assert_eq!(import("things.json", &text).definitions, 0);
}

#[test]
fn repeated_errors_of_a_definition_are_limited_to_20() {
    let fields = (0..5_000).map(|at| (format!("field{at}"), json!({"type": "string", "$ref": "#/a"})));
    let spec = json!({"type": "object", "properties": Value::Object(fields.collect())});
    let yaml = serde_yaml::to_string(&serde_json::from_str::<Value>(&definition(&spec)).unwrap()).unwrap();
    let imported = import("things.yaml", &yaml);
    assert_eq!((imported.definitions, imported.diagnostics.len()), (0, 20));
    assert!(shown(&imported).contains("and 4980 more of this definition"), "{}", shown(&imported));
}

/// A definition with stored objects cannot be corrected. The same configuration applies to new types until
/// the user changes it.
#[test]
fn broken_conventions_are_allowed_in_the_imported_crate() {
    let mut wanted: Value = serde_json::from_str(&definition(&json!({"type": "object"}))).unwrap();
    let kept = import("things.json", &wanted.to_string());
    assert!(!kept.files["kubesmith.toml"].contains("[lints]"));
    let schema = &mut wanted["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    schema["status"] = json!({"type": "object", "properties": {"last_seen": {"type": "string"}}});
    let imported = import("things.json", &wanted.to_string());
    let allowed =
        "\n[lints]\n# Conventions that the definitions do not keep.\nallow = [\"KS0701\", \"KS0704\"]\n";
    assert!(imported.files["kubesmith.toml"].ends_with(allowed), "{}", imported.files["kubesmith.toml"]);
    assert_eq!(warnings(&imported.files), [""; 0]);
}

/// A path that API servers accept but cannot read is kept, with a warning in each run.
#[test]
fn column_with_an_unreadable_path_is_a_warning() {
    let mut wanted: Value = serde_json::from_str(&definition(&json!({"type": "object"}))).unwrap();
    wanted["spec"]["versions"][0]["additionalPrinterColumns"] = json!([{"name": "A", "type": "string", "jsonPath": ".spec["}, {"name": "B", "type": "string", "jsonPath": "..."}]);
    let imported = import("things.json", &wanted.to_string());
    let told = shown(&imported);
    assert_eq!(told.matches("warning[KS0207]").count(), 2, "{told}");
    assert_eq!(generated(&imported.files)["things.example.com"], canonical(&wanted));
    assert_eq!(warnings(&imported.files), ["KS0207", "KS0207"]);
    wanted["spec"]["versions"][0]["additionalPrinterColumns"][1]["jsonPath"] = json!("a");
    assert!(
        shown(&import("things.json", &wanted.to_string()))
            .contains("must be a simple json path starting with .")
    );
}

/// The number of tried suffixes is stored beside the names.
#[test]
fn colliding_names_get_numbers() {
    let fields = (0..500).map(|at| {
        let inner = json!({"type": "object", "properties": {format!("b{at}"): {"type": "string"}}});
        let name = "-".repeat(at % 50) + &"_".repeat(at / 50);
        (name, json!({"type": "object", "properties": {"a": inner}}))
    });
    let text = definition(&json!({"type": "object", "properties": Value::Object(fields.collect())}));
    assert_eq!(import("things.json", &text).definitions, 1);
}

#[test]
fn import_writes_a_crate_and_refuses_to_overwrite() {
    let folder = Crate::with_files(&[]);
    folder.write("crd.yaml", fs::read(testdata().join("import/good/everything.yaml")).unwrap());
    let done = folder.run(&["import", "crd.yaml", "--output", "gadget-api"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let tree = folder.tree("gadget-api");
    let names: Vec<&str> = tree.keys().map(String::as_str).collect();
    assert_eq!(names, ["Cargo.toml", "kubesmith.toml", "src/lib.rs", "src/v1.rs", "src/v1beta1.rs"]);
    assert!(folder.run(&["import", "crd.yaml", "--output", "gadget-api"]).status.success(), "the same again");
    folder.write("gadget-api/src/lib.rs", "// mine\n");
    let refused = folder.run(&["import", "crd.yaml", "--output", "gadget-api"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("gadget-api/src/lib.rs already exists"));
    assert!(folder.run(&["import", "crd.yaml", "--output", "gadget-api", "--force"]).status.success());
    assert_eq!(folder.tree("gadget-api"), tree);
    folder.write("bad.yaml", fs::read(testdata().join("import/bad/mixed.yaml")).unwrap());
    assert_eq!(folder.run(&["import", "bad.yaml", "--output", "other"]).status.code(), Some(1));
    assert!(folder.path("other/src/v1.rs").is_file(), "the good definition is imported");
    for missing in ["nowhere.yaml", "gadget-api"] {
        assert_eq!(folder.run(&["import", missing, "--output", "third"]).status.code(), Some(1), "{missing}");
    }

    assert_eq!(folder.run(&["import", "crd.yaml", "--output", "9"]).status.code(), Some(2));
}

/// The import removes modules that it wrote, and keeps the user's.
#[test]
fn forced_import_removes_modules_of_an_earlier_import() {
    let folder = Crate::with_files(&[]);
    folder.write("old.json", definition(&json!({"type": "object"})).replace("\"v1\"", "\"v2\""));
    folder.write("new.json", definition(&json!({"type": "object"})));
    assert!(folder.run(&["import", "old.json", "--output", "made"]).status.success());
    folder.write("made/src/mine.rs", "//! Mine.\n");
    assert_eq!(folder.run(&["import", "new.json", "--output", "made"]).status.code(), Some(1));
    let done = folder.run(&["import", "new.json", "--output", "made", "--force"]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(said, "removed made/src/v2.rs\nimported 1 definition into made\n");
    let tree = folder.tree("made");
    let names: Vec<&str> = tree.keys().map(String::as_str).collect();
    assert_eq!(names, ["Cargo.toml", "kubesmith.toml", "src/lib.rs", "src/mine.rs", "src/v1.rs"]);
}

#[test]
fn invalid_crate_name_is_refused() {
    let folder = Crate::with_files(&[]);
    folder.write("a.json", definition(&json!({"type": "object"})));
    for name in ["crate", "self", "serde", "serde-json", "k8s-openapi", "std", "9", "a b", "type"] {
        let out = folder.run(&["import", "a.json", "--output", name]);
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{name}: {told}");
        assert!(told.contains("--crate-name") && !folder.path(name).exists(), "{told}");
    }
    assert!(folder.run(&["import", "a.json", "--output", "serde", "--crate-name", "a"]).status.success());
}

#[test]
fn imported_crate_depends_on_the_given_kubesmith_source() {
    let folder = Crate::with_files(&[]);
    folder.write("a.json", definition(&json!({"type": "object"})));
    let import = |source: &str| {
        folder.run(&["import", "a.json", "--output", "made/api", "--kubesmith-source", source, "--force"])
    };
    let refused = import("nowhere");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(
        told.contains("there is no package in nowhere/runtime") && !folder.path("made").exists(),
        "{told}"
    );

    folder.write("source/runtime/Cargo.toml", "[package]\nname = \"kubesmith-runtime\"\n");
    assert!(import("source").status.success());
    let text = fs::read_to_string(folder.path("made/api/Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&text).unwrap();
    let runtime = &manifest["dependencies"]["kubesmith-runtime"];
    assert_eq!(runtime["path"].as_str(), Some("../../source/runtime"), "{text}");
    assert_eq!(runtime["default-features"].as_bool(), Some(false));
}

#[test]
fn unusual_definitions_that_servers_accept_are_imported() {
    let rules = json!([{"rule": "self.a > 0\n", "message": "no\n"}, {"rule": "self.a > 1\n"}]);
    let number = json!({"type": "integer", "minimum": 0.5, "maximum": 9, "exclusiveMinimum": true, "exclusiveMaximum": true});
    let spec = json!({"type": "object", "x-kubernetes-validations": rules, "properties": {
        "a": number, "b": {"type": "integer", "multipleOf": 0.5},
        "c": {"type": "array", "items": {"type": "integer", "maximum": 1.5}},
        "d": {"type": "integer", "minimum": 1.0, "x-kubernetes-int-or-string": null},
    }});
    let text = definition(&spec);
    for version in ["v1", "lib", "main", "mod", "self", "bin"] {
        let text = text.replace("\"v1\"", &format!("\"{version}\""));
        let text = text.replace(&format!("k8s.io/{version}"), "k8s.io/v1");
        check_round_trip(&[text]);
    }
    let groups = [
        "3scale.net",
        "3scale.org",
        "x.3scale.net",
        "lib.example.com",
        "main.example.com",
        "bin.example.com",
    ];
    check_round_trip(&groups.map(|group| text.replace("example.com", group)));
    check_round_trip(&[text.replace("example.com", "3scale.net")]);
}

#[test]
fn bidirectional_characters_are_escaped() {
    let text = "a \u{202e}b\u{2066}c\u{200f}";
    let spec = json!({"type": "object", "description": text, "properties": {
        "a": {"type": "string", "description": text, "enum": ["x", text], "default": text},
        "b": {"type": "string", "pattern": format!("\\d{text}"), "title": text},
    }});
    let files = check_round_trip(&[definition(&spec)]);
    assert!(
        files["src/v1.rs"].contains("#[schema(description = \"a \\u{202e}b\\u{2066}c\\u{200f}\")]"),
        "{}",
        files["src/v1.rs"]
    );
    let has_hidden = |text: &String| text.chars().any(|c| ('\u{200e}'..='\u{2069}').contains(&c));
    assert!(!files.values().any(has_hidden), "{}", files["src/v1.rs"]);
}

/// Imports definitions, generates from the crate, and returns the files.
fn check_round_trip(texts: &[String]) -> BTreeMap<String, String> {
    let inputs = texts.iter().map(|text| Input { name: "a.json".to_string(), text: text.clone() });
    let imported = import::import(inputs.collect(), "sample-api");
    assert_eq!((imported.definitions, &*shown(&imported)), (texts.len(), ""));
    let made = generated(&imported.files);
    for text in texts {
        let wanted: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            made[&format!("things.{}", wanted["spec"]["group"].as_str().unwrap())]["spec"],
            canonical(&wanted)["spec"]
        );
    }
    for name in imported.files.keys().filter(|name| name.ends_with(".rs") && *name != "src/lib.rs") {
        assert!(
            !["src/lib/", "src/bin/", "src/main.rs", "src/bin.rs"].iter().any(|root| name.starts_with(root)),
            "{name}"
        );
    }
    imported.files
}

#[test]
fn files_without_definitions_are_skipped_in_a_folder() {
    let folder = Crate::with_files(&[]);
    folder.write("config/crd/bases/crd.yaml", fs::read(testdata().join("import/good/groups.yaml")).unwrap());
    folder.write("config/crd/again.json", definition(&json!({"type": "object"})));
    folder.write("config/crd/kustomization.yaml", "resources: [bases/crd.yaml]\n");
    folder.write("config/crd/values.yaml", "broken: [\n");
    folder.write("config/crd/latin.yaml", b"name: \xe4\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", folder.path("config/crd/loop")).unwrap();
    let done = folder.run(&["import", "config", "--output", "made"]);
    assert_eq!((done.status.code(), &*String::from_utf8_lossy(&done.stderr)), (Some(0), ""));
    folder.write("config/crd/latin.yaml", b"kind: CustomResourceDefinition # \xe4\n");
    let refused = folder.run(&["import", "config", "--output", "made"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("cannot read config/crd/latin.yaml: invalid utf-8"), "{said}");
}
