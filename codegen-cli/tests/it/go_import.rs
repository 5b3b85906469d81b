//! `kubesmith import --go`: the crate that is written gives the same definitions as the Go packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kubesmith::config::{self, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::import::{self, GoOptions, Imported};
use kubesmith::output::Kind;
use kubesmith::pipeline::{self, Generated};
use kubesmith_core::diag::Code;

use crate::support::{self, testdata};
use crate::{conformance, go_input};

fn shown(imported: &Imported) -> String {
    diag::render(&imported.diagnostics, &imported.sources, MessageFormat::Human, diag::Style::Plain)
}

/// The CRDs of a run, by their files.
fn crds(generated: &Generated) -> BTreeMap<String, String> {
    let targets = generated.targets.iter().filter(|target| target.kind == Kind::Crd);
    let files = targets.flat_map(|target| target.tree.iter());
    files.map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

/// The CRDs of a crate with these files.
fn generated(files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let folder = support::Crate { dir: tempfile::tempdir().unwrap() };
    files.iter().for_each(|(path, text)| folder.write(path, text));
    let settings = config::settings(Some(&folder.path("kubesmith.toml")), Overrides::default()).unwrap();
    let generated = pipeline::generate(&settings[0]);
    let shown = support::short(&generated);
    assert!(!diag::has_errors(&generated.diagnostics), "{shown}");
    crds(&generated)
}

#[test]
fn imported_crate_gives_the_definitions_of_its_go_types() {
    let mut count = 0;
    for (at, (case, folder)) in go_input::cases().into_iter().enumerate() {
        let options = conformance::options(&case);
        // These options belong to the run, not to the types.
        let is_of_the_run = options.max_desc_len.is_some()
            || options.crd_header_file.is_some()
            || options.preserve_unknown_fields.is_some();
        let is_refused = !folder.join("expected.yaml").is_file();
        if is_of_the_run || is_refused || folder.join("kubesmith.toml").is_file() {
            continue;
        }
        let options = GoOptions {
            generate_embedded_object_meta: options.generate_embedded_object_meta,
            ignore_unexported_fields: case == "ignore-unexported",
        };
        let imported = import::import_go(&[folder.join("go")], "sample-api", options);
        if go_input::WARNED.contains(&case.as_str()) {
            // `generate` refuses for Rust types what an API server refuses.
            let is_refused = |found: &diag::Diagnostic| found.code == Code::NOT_GENERATED;
            assert!(imported.diagnostics.iter().any(is_refused), "{case}: {}", shown(&imported));
            continue;
        }
        assert!(!diag::has_errors(&imported.diagnostics), "{case}: {}", shown(&imported));
        // The import compares all of them; these cases show that it does.
        if at % 8 == 0 {
            assert_eq!(generated(&imported.files), crds(&go_input::generate(&case, &folder)), "{case}");
        }
        count += imported.definitions;
    }
    assert!(count > 70, "{count} definitions");
}

/// testdata/import/api compiles testdata/import/go/crate and checks its types with random objects.
#[test]
fn imported_crate_equals_the_committed_one() {
    let folder = testdata().join("import/go");
    let imported = import::import_go(&[folder.join("module")], "bakery-api", GoOptions::default());
    let codes: Vec<Code> = imported.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::GO_RENAMED, Code::GO_RENAMED], "{}", shown(&imported));
    let committed = folder.join("crate");
    let mut files = imported.files.clone();
    files.extend(generated(&imported.files).into_iter().map(|(name, text)| (format!("crds/{name}"), text)));
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        let _ = fs::remove_dir_all(&committed);
        for (path, text) in &files {
            fs::create_dir_all(committed.join(path).parent().unwrap()).unwrap();
            fs::write(committed.join(path), text).unwrap();
        }
    }
    let mut rust: Vec<PathBuf> = Vec::new();
    for (path, text) in &files {
        let found = fs::read_to_string(committed.join(path)).unwrap_or_default();
        assert_eq!(found, *text, "{path}: KUBESMITH_UPDATE=1 cargo test -p kubesmith go_import");
        rust.extend(path.ends_with(".rs").then(|| committed.join(path)));
    }
    let output = Command::new("rustfmt").args(["--edition", "2024", "--check"]).args(rust).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn types_of_go_are_renamed_when_rust_has_their_names() {
    let folder = go_input::module(
        "type Spec struct {\n\tA String `json:\"a\"`\n\tB part `json:\"b\"`\n\tC Part `json:\"c\"`\n}\n\n\
         type String string\n\ntype part string\n\ntype Part string\n",
    );
    let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
    let text = &imported.files["src/v1.rs"];
    for wanted in ["pub struct StringType(", "pub struct PartType(", "pub struct Part(", "pub b: PartType,"] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(shown(&imported).contains("types.go:21:6"), "{}", shown(&imported));
    assert!(imported.files["IMPORT.md"].contains("| `part` | `v1::PartType` |"));
}

#[test]
fn go_without_valid_definitions_is_not_imported() {
    for (types, code) in [
        ("type Spec struct {\n\tA string\n}\n", Code::GO_TAG),
        ("type Spec struct {\n\tA Missing `json:\"a\"`\n}\n", Code::UNRESOLVED_TYPE),
        ("type Spec struct {", Code::GO_SYNTAX),
    ] {
        let folder = go_input::module(types);
        let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
        assert!(imported.files.is_empty(), "{types}");
        assert!(imported.diagnostics.iter().any(|found| found.code == code), "{}", shown(&imported));
    }
    let nothing = import::import_go(&[PathBuf::from("../docs")], "sample-api", GoOptions::default());
    assert!(nothing.files.is_empty() && diag::has_errors(&nothing.diagnostics), "{}", shown(&nothing));
}

#[test]
fn command_writes_a_crate_of_go_packages_and_compares_it_with_them() {
    let folder = go_input::module("type Spec struct {\n\tA string `json:\"a\"`\n}\n");
    let output = folder.run(&["import", "--go", "./api/...", "--output", "rust"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path("rust/src/v1.rs").is_file());
    let same = folder.run(&["diff", "./api/...", "rust"]);
    assert!(same.status.success(), "{}", String::from_utf8_lossy(&same.stderr));
    let types = fs::read_to_string(folder.path("api/v1/types.go")).unwrap();
    folder.write("api/v1/types.go", types.replace("A string `json:\"a\"`", "A int32 `json:\"a\"`"));
    let changed = folder.run(&["diff", "rust", "./api/..."]);
    let text = String::from_utf8_lossy(&changed.stdout).into_owned();
    assert!(!changed.status.success(), "{text}");
    assert!(text.contains("api/v1/types.go:16"), "{text}");
}

#[test]
fn revision_of_go_packages_is_imported() {
    let folder = go_input::module(
        "type Spec struct {\n\tA string `json:\"a\"`\n\tB part `json:\"b\"`\n}\n\ntype part string\n",
    );
    commit(&folder);
    folder.write("api/v1/types.go", "package v1\n");
    let output = folder.run(&["import", "--go", "git:HEAD:./api/...", "--output", "rust"]);
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("--> HEAD:api/v1/types.go:"), "{shown}");
    assert!(fs::read_to_string(folder.path("rust/src/v1.rs")).unwrap().contains("pub a: String"));
    let missing = folder.run(&["import", "--go", "git:HEAD:./apis/...", "--output", "other"]);
    let shown = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(shown.contains("error: HEAD has no folder \"apis/...\""), "{shown}");
}

/// Makes a repository of a folder, with one commit.
fn commit(folder: &support::Crate) {
    let git = |arguments: &[&str]| {
        let mut command = folder.command("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments);
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "a"]);
}

#[test]
fn revisions_of_go_packages_are_compared() {
    let folder = go_input::module("type Spec struct {\n\tA string `json:\"a\"`\n}\n");
    commit(&folder);
    let same = folder.run(&["diff", "git:HEAD", "./api/..."]);
    assert!(same.status.success(), "{}", String::from_utf8_lossy(&same.stderr));
    let types = fs::read_to_string(folder.path("api/v1/types.go")).unwrap();
    folder.write("api/v1/types.go", types.replace("A string `json:\"a\"`", ""));
    let changed = folder.run(&["diff", "git:HEAD:./api/...", "./api/..."]);
    let text = String::from_utf8_lossy(&changed.stdout).into_owned();
    assert!(text.contains("v1 spec.a: the field is gone"), "{text}");
    for side in ["git:HEAD:./none/...", "./none/..."] {
        let missing = folder.run(&["diff", side, "./api/..."]);
        let shown = String::from_utf8_lossy(&missing.stderr);
        assert!(
            shown.contains("HEAD has no folder \"none/...\"")
                || shown.contains("input folder none does not exist"),
            "{shown}"
        );
    }
}
