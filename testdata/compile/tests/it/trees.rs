//! The inputs of the cases generate the expected trees. `KUBESMITH_UPDATE=1` writes these again.

use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::config::{self, Overrides};
use kubesmith::{pipeline, write};

/// The folders of the cases, in order.
fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    let mut cases: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 10, "{cases:?}");
    cases
}

#[test]
fn expected_trees_are_up_to_date() {
    let update = std::env::var("KUBESMITH_UPDATE").is_ok_and(|value| value == "1");
    for case in cases() {
        let settings =
            config::settings(Some(&case.join("kubesmith.toml")), Overrides::default()).unwrap().remove(0);
        let generated = pipeline::generate(&settings);
        assert!(generated.diagnostics.is_empty(), "{}: {:?}", case.display(), generated.diagnostics);
        let plan = write::plan(&generated.targets).unwrap();
        if update {
            plan.write().unwrap();
        } else {
            assert!(plan.is_clean(), "{} (KUBESMITH_UPDATE=1 stores it):\n{}", case.display(), plan.diff());
        }
    }
}

#[test]
fn every_expected_tree_is_compiled() {
    let compiled = include_str!("../../src/lib.rs");
    for case in cases() {
        let name = case.file_name().unwrap().to_str().unwrap();
        let package =
            case.join("expected/client/Cargo.toml").is_file() || case.join("api/src/generated").is_dir();
        let module = compiled.contains(&format!("\"../../cases/{name}/expected/mod.rs\""));
        // Not all output is Rust.
        let others = ["index.html", "config"];
        let is_other = others.iter().any(|other| case.join("expected").join(other).exists());
        let rust = case.join("expected").is_dir() && !is_other;
        assert!(
            package || module || !rust,
            "{name} is neither a package of the workspace nor a module of this one"
        );
    }
}

#[test]
fn defaults_and_conversions_are_optional() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    let file = std::env::temp_dir().join(format!("kubesmith-{}.toml", std::process::id()));
    let paths = |switches: &str| {
        let inputs = ["defaults", "conversions"].map(|case| cases.join(case).join("api"));
        let text = format!(
            "input = {inputs:?}\nonly = [\"client\"]\n[client]\noutput = \"out\"\nmodule = \"crate::x\"\n{switches}"
        );
        fs::write(&file, text).unwrap();
        let generated =
            pipeline::generate(&config::settings(Some(&file), Overrides::default()).unwrap().remove(0));
        assert!(generated.diagnostics.is_empty(), "{:?}", generated.diagnostics);
        let trees = generated.targets.iter().flat_map(|target| target.tree.iter().map(|(path, _)| path));
        let parts = trees.filter(|path| path.starts_with("defaults/") || path.starts_with("conversions/"));
        parts
            .map(|path| path.split('/').next().unwrap().to_owned())
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(paths("").len(), 2);
    assert_eq!(Vec::from_iter(paths("defaults = false\n")), ["conversions"]);
    assert_eq!(Vec::from_iter(paths("conversions = false\n")), ["defaults"]);
    fs::remove_file(&file).unwrap();
}
