//! Options of calls in projects.

use super::*;

fn found(name: &str, text: &str) -> Option<(GeneratorOptions, String)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("go.mod"), "module a\n").unwrap();
    fs::create_dir_all(folder.path().join("api/v1")).unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    match of_project(&[folder.path().join("api/...")])? {
        Found::Shared(options, place) => Some((options, file_name(&place))),
        Found::ByPackages(_) | Found::Differing(..) => None,
    }
}

fn file_name(place: &str) -> String {
    place.rsplit('/').next().unwrap_or_default().to_string()
}

#[test]
fn differing_calls_are_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("go.mod"), "module a\n").unwrap();
    let text = "m:\n\t$(CONTROLLER_GEN) crd:maxDescLen=0\n\t$(CONTROLLER_GEN) crd\n";
    fs::write(folder.path().join("Makefile"), text).unwrap();
    let Some(Found::Differing(first, other)) = of_project(&[folder.path().to_path_buf()]) else { panic!() };
    assert_eq!([first, other].map(|place| file_name(&place)), ["Makefile:2", "Makefile:3"]);
}

#[test]
fn calls_for_different_packages_have_options_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("go.mod"), "module a\n").unwrap();
    for inner in ["a", "b", "c/v1"] {
        fs::create_dir_all(folder.path().join(inner)).unwrap();
    }
    let of_calls = |lines: &[&str]| {
        let text: String = lines.iter().map(|line| format!("\t$(CONTROLLER_GEN) {line}\n")).collect();
        fs::write(folder.path().join("Makefile"), format!("m:\n{text}")).unwrap();
        match of_project(&[folder.path().to_path_buf()]) {
            Some(Found::ByPackages(parts)) => parts.len(),
            Some(Found::Differing(..)) => 0,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        of_calls(&["crd:maxDescLen=0 paths=./a", "crd paths=./b", "crd:maxDescLen=0 paths=./c/..."]),
        2
    );
    for same in [
        ["crd:maxDescLen=0 paths=./c/...", "crd paths=./c/v1/..."],
        ["crd:maxDescLen=0", "crd"],
        ["crd:ignoreUnexportedFields=true paths=./a", "crd paths=./b"],
    ] {
        assert_eq!(of_calls(&same), 0, "{same:?}");
    }
}

/// A module deep inside a repository is called for from the top, as far as the call names its folder.
#[test]
fn call_at_the_top_of_a_repository_enters_a_module() {
    let folder = tempfile::tempdir().unwrap();
    for inner in [".git", "src/api/v1", "src/other"] {
        fs::create_dir_all(folder.path().join(inner)).unwrap();
    }
    for inner in ["src/api/go.mod", "src/other/go.mod"] {
        fs::write(folder.path().join(inner), "module a\n").unwrap();
    }
    let text = "m:\n\t@cd src/api && $(CONTROLLER_GEN) crd:maxDescLen=0 paths=./...\n";
    fs::write(folder.path().join("Makefile"), text).unwrap();
    let found = |inner: &str| of_project(&[folder.path().join(inner)]);
    assert!(matches!(found("src/api"), Some(Found::Shared(..))), "{:?}", found("src/api"));
    assert_eq!(found("src/other"), None);
}

#[test]
fn options_are_read_from_calls_in_makefiles_and_go_files() {
    let meta = GeneratorOptions { embedded_object_meta: true, ..GeneratorOptions::default() };
    let short = GeneratorOptions { max_desc_len: Some(0), ..GeneratorOptions::default() };
    for (name, text, wanted, line) in [
        (
            "Makefile",
            "manifests: OPTIONS ?= \"+crd:maxDescLen=0\"\nmanifests:\n\t$(CONTROLLER_GEN) $(OPTIONS) +paths=./...\n",
            &short,
            "Makefile:3",
        ),
        (
            "Makefile",
            "CRD_OPTIONS ?= \"crd:generateEmbeddedObjectMeta=true\" # x\nmanifests: controller-gen ## crd\n\t$(CONTROLLER_GEN) $(CRD_OPTIONS) \\\n\t\tpaths=\"./...\"\n",
            &meta,
            "Makefile:3",
        ),
        (
            "Makefile",
            "m:\n\t$(CONTROLLER_GEN) rbac:roleName=a crd:crdVersions=v1,maxDescLen=0 output:crd:dir=b\n",
            &short,
            "Makefile:2",
        ),
        (
            "Makefile",
            "CONTROLLER_GEN = bin/controller-gen\nm: $(CONTROLLER_GEN) a\n\t$< crd:maxDescLen=0 paths=./...\n",
            &short,
            "Makefile:3",
        ),
        (
            "Makefile",
            "CONTROLLER_GEN = bin/controller-gen\nm: $(CONTROLLER_GEN)\nifeq (a,a)\n\techo\nendif\n\t$< crd:maxDescLen=0 paths=./...\n",
            &short,
            "Makefile:6",
        ),
        (
            "api/generate.go",
            "//go:build generate\n\n//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v1 crd:maxDescLen=0 paths=./...\npackage api\n",
            &short,
            "generate.go:3",
        ),
    ] {
        let (options, place) = found(name, text).unwrap();
        assert_eq!((&options, place.as_str()), (wanted, line), "{text}");
    }
}

#[test]
fn controller_gen_version_is_read_from_a_line() {
    for (line, wanted) in [
        ("CONTROLLER_TOOLS_VERSION ?= v0.19.0", Some([0, 19, 0])),
        ("\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.21.0 crd", Some([0, 21, 0])),
        ("\tsigs.k8s.io/controller-tools v0.20.1 // indirect", Some([0, 20, 1])),
        ("controller-gen: x", None),
    ] {
        assert_eq!(version_in(line), wanted, "{line}");
    }
}

#[test]
fn options_are_not_taken_from_plain_or_differing_calls() {
    for text in [
        "m:\n\t$(CONTROLLER_GEN) crd paths=./...\n",
        "m:\n\t$(CONTROLLER_GEN) crd:maxDescLen=0\n\t$(CONTROLLER_GEN) crd\n",
        "m:\n\techo crd:maxDescLen=0\n",
        "m:\n\t$(CONTROLLER_GEN) crd:maxDescLen=0 paths=./other/... # not there\n\t$(CONTROLLER_GEN) crd paths=\"./api/...\"\n",
    ] {
        assert_eq!(found("Makefile", text), None, "{text}");
    }
}

#[test]
fn options_that_cannot_be_followed_are_named() {
    let text = "m:\n\t$(CONTROLLER_GEN) crd:maxDescLen=$(N),crdVersions=v1beta1,allowDangerousTypes=true,year=$(shell date +%Y) paths=./...\n";
    let (options, _) = found("Makefile", text).unwrap();
    assert!(options.allow_dangerous_types);
    assert_eq!(options.left, ["maxDescLen", "crdVersions", "year"]);
}

#[test]
fn packages_below_the_input_may_call() {
    let text = "package v1\n\n//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.15.0 crd:maxDescLen=0 paths=.\n";
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("api/v1")).unwrap();
    fs::write(folder.path().join("go.mod"), "module a\n").unwrap();
    fs::write(folder.path().join("api/v1/doc.go"), text).unwrap();
    let inputs = [folder.path().join("api/...")];
    let Some(Found::Shared(options, place)) = of_project(&inputs) else { panic!() };
    assert_eq!((options.max_desc_len, file_name(&place).as_str()), (Some(0), "doc.go:3"));
    assert_eq!(version(&inputs), Some([0, 15, 0]));
    // A call in a file above decides alone.
    fs::write(folder.path().join("Makefile"), "m:\n\tcontroller-gen crd paths=./...\n").unwrap();
    assert_eq!(of_project(&inputs), None);
}
