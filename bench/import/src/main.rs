//! Times `import` and `generate` on folders of CRDs, each folder a crate of its own, and prints the peak memory.
//!
//! ```text
//! cargo run --release -p kubesmith-bench-import FOLDER...
//! ```
//!
//! With `--growth` it reads malformed files, and one definition whose names are all alike in Rust, each twice as long
//! as the one before: the time should also double.
//!
//! `import` checks its output by generating from it, so that this time is in both columns.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first thing that goes wrong")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kubesmith::config::{self, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::import::{self, Input};
use kubesmith::pipeline;

#[derive(Default)]
struct Row {
    read: usize,
    definitions: usize,
    written: usize,
    import: Duration,
    generate: Duration,
}

fn main() {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders == [PathBuf::from("--growth")] {
        return growth();
    }
    println!(
        "{:<44} {:>5} {:>9} {:>9} {:>8} {:>8}",
        "folder", "CRDs", "read", "written", "import", "generate"
    );
    let mut all = Row::default();
    for folder in &folders {
        let row = measure(folder);
        print(&folder.to_string_lossy(), &row);
        all.read += row.read;
        all.definitions += row.definitions;
        all.written += row.written;
        all.import += row.import;
        all.generate += row.generate;
    }
    print("all", &all);
    println!("peak memory {:.0} MB", peak_memory() as f64 / 1e6);
}

/// Malformed files.
const MISTAKES: [(&str, &str); 6] = [
    ("objects in each other, in one line", "{\"a\":"),
    ("lists in each other, in one line", "["),
    ("items in each other, in one line", "- "),
    ("documents that are broken", "---\n[\n"),
    (
        "definitions without anything",
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {}\n",
    ),
    ("names that stand twice", "a: 1\n"),
];

fn growth() {
    println!("{:<38} {:>9} {:>9} {:>9} {:>9}", "file of", "0.1 MB", "0.2 MB", "0.4 MB", "0.8 MB");
    for (name, part) in MISTAKES {
        grow(name, 0, |size| part.repeat(size / part.len()));
    }
    grow("names that are alike in Rust", 1, alike);
}

/// Times files of four sizes, each with this number of definitions that can be imported.
fn grow(name: &str, definitions: usize, text: impl Fn(usize) -> String) {
    let times = [1, 2, 4, 8].map(|size| {
        let text = text(size * 100_000);
        let start = Instant::now();
        let imported = import::import(vec![Input { name: "a.yaml".to_owned(), text }], "bench-api");
        let shown =
            diag::render(&imported.diagnostics, &imported.sources, MessageFormat::Human, diag::Style::Plain);
        assert!(imported.definitions == definitions && (definitions > 0 || !shown.is_empty()), "{shown}");
        format!("{:>6.0} ms", start.elapsed().as_secs_f64() * 1e3)
    });
    println!("{name:<38} {}", times.join(" "));
}

/// The beginning of a definition, up to the fields of its spec.
const HEAD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
";

/// Returns a definition of about this size whose fields, and their types, would all have one name.
fn alike(size: usize) -> String {
    let mut text = HEAD.to_owned();
    let mut number = 0;
    while text.len() < size {
        let name = "-".repeat(number % 50) + &"_".repeat(number / 50);
        let inner = format!("{{type: object, properties: {{b{number}: {{type: string}}}}}}");
        text += &format!("              {name:?}: {{type: object, properties: {{a: {inner}}}}}\n");
        number += 1;
    }
    text
}

fn print(name: &str, row: &Row) {
    println!(
        "{:<44} {:>5} {:>6.1} MB {:>6.1} MB {:>6.2} s {:>6.2} s",
        name,
        row.definitions,
        row.read as f64 / 1e6,
        row.written as f64 / 1e6,
        row.import.as_secs_f64(),
        row.generate.as_secs_f64(),
    );
}

/// Imports a folder and generates CRDs from the crate.
fn measure(folder: &Path) -> Row {
    let mut inputs = Vec::new();
    files(folder, &mut inputs);
    let read = inputs.iter().map(|input| input.text.len()).sum();
    let start = Instant::now();
    let imported = import::import(inputs, "bench-api");
    let import = start.elapsed();
    let mut row = Row { read, definitions: imported.definitions, import, ..Row::default() };
    if imported.files.is_empty() {
        return row;
    }
    row.written = imported.files.values().map(String::len).sum();
    let out = tempfile::tempdir().unwrap();
    for (path, text) in &imported.files {
        let path = out.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let start = Instant::now();
    let settings = config::settings(Some(&out.path().join("kubesmith.toml")), Overrides::default()).unwrap();
    let made = pipeline::generate(&settings[0]);
    row.generate = start.elapsed();
    assert!(!made.targets.is_empty(), "{:?}", made.diagnostics.first());
    row
}

/// Collects YAML and JSON files in a folder and below it, in the order of their names.
fn files(folder: &Path, out: &mut Vec<Input>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            files(&path, out);
        } else if matches!(extension, Some("yaml" | "yml" | "json")) {
            let text = fs::read_to_string(&path).unwrap();
            out.push(Input { name: path.to_string_lossy().into_owned(), text });
        }
    }
}

/// Returns the peak memory of this process, in bytes; 0 if the kernel does not report it.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
