//! The command reads the source of this crate and writes the CRDs that kube-rs answers at run time.
//!
//! Compared is data: what the documents mean, not how they are spelled. A whole number is the same with and without a
//! fraction, as kube-rs holds bounds in floats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::slice;

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::diag::{self, Diagnostic, MessageFormat};
use kubesmith::lints::LintConfig;
use kubesmith::pipeline::{self, Generated};
use kubesmith_kube_compare::kinds;
use serde_json::{Map, Value};

/// Kinds that are to differ, as `module::Root`, with the reason.
const DIFFERENCES: &[(&str, &str)] =
    &[("rules::StructMerges", "kube-rs loses the merge strategy of structs; it is `x-kubernetes-map-type`")];

/// How much of one kind is shown.
const SHOWN: usize = 5;

#[test]
fn generated_crds_equal_those_of_kube_rs() {
    let generated = generate(Path::new(env!("CARGO_MANIFEST_DIR")), true);
    let ours = written(&generated);
    let (mut report, mut equal, mut different) = (shown_errors(&generated), BTreeSet::new(), BTreeSet::new());
    for kind in kinds() {
        let theirs = comparable(super::crd(&kind).unwrap());
        let found = match ours.get(theirs["metadata"]["name"].as_str().unwrap()) {
            Some(ours) => differences(&theirs, ours),
            None => vec!["is not written".to_string()],
        };
        let name = format!("{}::{}", kind.module, kind.root);
        if found.is_empty() {
            equal.insert(name);
            continue;
        }
        report.push_str(&format!("{name}: {} differences\n", found.len()));
        different.insert(name);
        found.iter().take(SHOWN).for_each(|line| report.push_str(&format!("    {line}\n")));
    }
    let allowed: BTreeSet<String> = DIFFERENCES.iter().map(|(kind, _)| kind.to_string()).collect();
    let unexpected: Vec<_> = different.difference(&allowed).collect();
    let outdated: Vec<_> = allowed.intersection(&equal).collect();
    assert!(outdated.is_empty(), "these are equal by now and no longer to be listed: {outdated:?}");
    assert!(
        unexpected.is_empty(),
        "{report}\n{} kinds equal, {} different: {unexpected:?}",
        equal.len(),
        different.len()
    );
}

/// A schema that only exists at run time is reported, on the line that leads to it, and never replaced by another.
#[test]
fn schema_that_only_exists_at_run_time_is_reported() {
    let source = include_str!("unreadable.rs");
    let marks = source.lines().zip(1..).filter(|(line, _)| line.ends_with("// unreadable"));
    let marked: BTreeSet<usize> =
        marks.map(|(line, number)| number + usize::from(line.trim() == "// unreadable")).collect();
    let folder = krate(source);
    let generated = generate(folder.path(), true);
    let reported: BTreeSet<usize> = errors(&generated)
        .filter_map(|error| Some(generated.sources.position(error.primary?).line))
        .collect();
    let text =
        diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Short, diag::Style::Plain);
    assert_eq!(reported, marked, "{text}");
}

/// Where kube-rs panics or writes what no API server takes, the command writes what one takes, or says why not.
#[test]
fn kinds_that_kube_rs_cannot_express_are_generated_or_reported() {
    let mut source = include_str!("refused.rs").to_string();
    let mut reported = BTreeMap::new();
    let ours = loop {
        let folder = krate(&source);
        let generated = generate(folder.path(), false);
        let mut kinds = BTreeSet::new();
        for error in errors(&generated) {
            let line = generated.sources.position(error.primary.unwrap()).line;
            let kind = kind_at(&source, line);
            reported.entry(kind.clone()).or_insert_with(|| format!("{}: {}", error.code, error.message));
            kinds.insert(kind);
        }
        if kinds.is_empty() {
            break written(&generated);
        }
        source = without(&source, &kinds);
    };
    for (kind, _) in super::refused::kinds() {
        let name = kind.root.to_lowercase();
        let Some((_, crd)) = ours.iter().find(|(crd, _)| crd.starts_with(&name)) else {
            assert!(reported.contains_key(kind.root), "{} is neither written nor reported", kind.root);
            continue;
        };
        assert_eq!(super::faults(crd), "", "{}", kind.root);
    }
    let text: BTreeMap<&String, &Value> = ours
        .iter()
        .map(|(name, crd)| {
            (name, &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"])
        })
        .collect();
    insta::assert_yaml_snapshot!("said", text);
    insta::assert_yaml_snapshot!("reported", reported);
}

/// The kind whose definition a line belongs to.
fn kind_at(source: &str, line: usize) -> String {
    let before: Vec<&str> = source.lines().take(line + 1).collect();
    let attribute = before.iter().rev().find(|line| line.starts_with("#[kube(")).unwrap();
    let (_, rest) = attribute.split_once("kind = \"").unwrap();
    rest.split('"').next().unwrap().to_string()
}

/// The source without the kinds.
fn without(source: &str, kinds: &BTreeSet<String>) -> String {
    let is_left_out = |line: &str| line.starts_with("#[kube(") && kinds.contains(&kind_at(line, 0));
    let mut out: Vec<String> = source.lines().map(str::to_string).collect();
    for at in 0..out.len() {
        if is_left_out(&out[at]) {
            out[at - 1] = out[at - 1].replace("CustomResource, ", "");
            out[at] = String::new();
        }
    }
    out.join("\n")
}

/// A crate of one file, with the dependencies of this one.
fn krate(source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "either",
        "bytes",
        "chrono",
        "indexmap",
        "jiff",
        "k8s-openapi",
        "kube",
        "schemars",
        "semver",
        "serde",
        "serde_json",
    ];
    let dependencies: String = names.iter().map(|name| format!("{name} = \"*\"\n")).collect();
    let package = "[package]\nname = \"one-file\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fs::write(folder.path().join("Cargo.toml"), format!("{package}[dependencies]\n{dependencies}")).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), source).unwrap();
    folder
}

fn shown_errors(generated: &Generated) -> String {
    diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Short, diag::Style::Plain)
}

fn errors(generated: &Generated) -> impl Iterator<Item = &Diagnostic> {
    generated.diagnostics.iter().filter(|found| diag::has_errors(slice::from_ref(*found)))
}

fn generate(folder: &Path, keep_unknown_formats: bool) -> Generated {
    let overrides = Overrides {
        input: vec![folder.to_path_buf()],
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        keep_unknown_formats,
        // A kind that is left out is reported as well.
        lints: LintConfig {
            allow: vec!["all".to_string()],
            deny: vec!["KS0423".to_string()],
            ..LintConfig::default()
        },
        ..Overrides::default()
    };
    pipeline::generate(&config::settings(None, overrides).unwrap()[0])
}

fn written(generated: &Generated) -> BTreeMap<String, Value> {
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    let crds = files.map(|(_, text)| comparable(serde_yaml::from_str(text).unwrap()));
    crds.map(|crd| (crd["metadata"]["name"].as_str().unwrap().to_string(), crd)).collect()
}

/// A CRD without what is ours alone or the server's.
fn comparable(mut crd: Value) -> Value {
    let object = crd.as_object_mut().unwrap();
    object.remove("status");
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut).unwrap();
    let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
    if annotations.is_some_and(|annotations| {
        annotations.remove("kubesmith.dev/version").is_some() && annotations.is_empty()
    }) {
        metadata.remove("annotations");
    }
    crd
}

/// What differs, each with its path, in the order of the paths.
fn differences(theirs: &Value, ours: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", Some(theirs), Some(ours), &mut found);
    found
}

fn walk(path: &str, theirs: Option<&Value>, ours: Option<&Value>, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Some(Value::Object(theirs)), Some(Value::Object(ours))) => {
            for key in keys(theirs, ours) {
                walk(&format!("{path}/{key}"), theirs.get(key), ours.get(key), found);
            }
        }
        (Some(Value::Array(theirs)), Some(Value::Array(ours))) => {
            for index in 0..theirs.len().max(ours.len()) {
                walk(&format!("{path}/{index}"), theirs.get(index), ours.get(index), found);
            }
        }
        (Some(Value::Number(theirs)), Some(Value::Number(ours))) if theirs.as_f64() == ours.as_f64() => {}
        (theirs, ours) if theirs == ours => {}
        (theirs, ours) => found.push(format!("{path}: kube-rs {}, kubesmith {}", shown(theirs), shown(ours))),
    }
}

fn keys<'v>(theirs: &'v Map<String, Value>, ours: &'v Map<String, Value>) -> BTreeSet<&'v String> {
    theirs.keys().chain(ours.keys()).collect()
}

fn shown(value: Option<&Value>) -> String {
    value.map_or("nothing".to_string(), |value| {
        let text = value.to_string();
        if text.chars().count() > 200 { text.chars().take(200).chain("…".chars()).collect() } else { text }
    })
}
