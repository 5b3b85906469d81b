//! Compares CRD generation from Go packages with parsing the same files by the same grammar, on one thread.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::pipeline::{self, Generated};

use crate::{middle, ms, timed};

/// The fields of a kind in turn: a type, and the markers above it.
const FIELDS: [(&str, &str); 6] = [
    ("string", "// +kubebuilder:validation:MinLength=1\n\t// +kubebuilder:validation:MaxLength=63"),
    ("*int32", "// +optional\n\t// +kubebuilder:validation:Minimum=0"),
    ("[]string", "// +listType=set"),
    ("map[string]string", "// +optional"),
    ("*Nested__Kind__", "// +optional"),
    ("metav1.Time", "// +optional"),
];

/// Prints a row for each folder of a package or module, or for a synthetic one.
pub(crate) fn run(runs: usize, folders: &[PathBuf]) {
    println!(
        "median of {runs} runs; times in ms; read: with the files of other packages that types lead into\n\
         {:>6} {:>6} {:>8} {:>8} {:>9} {:>6} {:>6} {:>5}   input",
        "files", "read", "parse", "read", "generate", "ratio", "read", "CRDs"
    );
    let synthetic = tempfile::tempdir().unwrap();
    write(synthetic.path(), 100, 30);
    let own = [synthetic.path().to_path_buf()];
    for folder in if folders.is_empty() { &own } else { folders } {
        let (count, read) = files_read(folder);
        let input = files(folder);
        let time = |files: &[PathBuf]| ms(middle((0..runs).map(|_| timed(|| parse(files))).collect()));
        let (parse, parse_read) = (time(&input), time(&read));
        let generate = ms(middle((0..runs).map(|_| timed(|| drop(generate(folder)))).collect()));
        println!(
            "{:>6} {:>6} {parse:>8.1} {parse_read:>8.1} {generate:>9.1} {:>6.1} {:>6.1} {count:>5}   {}",
            input.len(),
            read.len(),
            generate / parse,
            generate / parse_read,
            folder.display()
        );
    }
}

fn parse(files: &[PathBuf]) {
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&tree_sitter_go::LANGUAGE.into()).unwrap();
        std::hint::black_box(parser.parse(&text, None).unwrap());
    }
}

fn generate(folder: &Path) -> Generated {
    let flags = Overrides {
        input: vec![folder.join("...")],
        only: vec![Generator::Crd],
        crd_output: Some(folder.join("out")),
        ..Overrides::default()
    };
    let settings = config::settings(None, flags).unwrap().remove(0);
    let generated = pipeline::generate(&settings);
    assert!(!kubesmith::diag::has_errors(&generated.diagnostics), "{:?}", generated.diagnostics.first());
    generated
}

/// Counts the CRDs, and lists the Go files that are read for them.
fn files_read(folder: &Path) -> (usize, Vec<PathBuf>) {
    let generated = generate(folder);
    let count = generated.targets.iter().map(|target| target.tree.iter().count()).sum();
    let files = generated.sources.into_files().into_iter().map(|file| file.path);
    let is_go = |path: &PathBuf| path.extension().is_some_and(|end| end == "go") && path.is_file();
    // A translated file is listed once more, under its path.
    let files: BTreeSet<PathBuf> = files.filter(is_go).collect();
    (count, files.into_iter().collect())
}

/// The Go files in a folder and below, without tests and vendored ones.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["vendor", "testdata"].contains(&name.as_str()) {
            out.extend(files(&path));
        } else if name.ends_with(".go") && !name.ends_with("_test.go") {
            out.push(path);
        }
    }
    out
}

/// Writes a module with one package.
fn write(folder: &Path, kinds: usize, fields: usize) {
    let package = folder.join("api/v1");
    fs::create_dir_all(&package).unwrap();
    fs::write(folder.join("go.mod"), "module example.com/synthetic\n").unwrap();
    fs::write(
        package.join("doc.go"),
        "// Package v1 is synthetic.\n// +groupName=synthetic.example.com\npackage v1\n",
    )
    .unwrap();
    for number in 0..kinds {
        let kind = format!("Widget{number:03}");
        let mut body = String::new();
        for field in 0..fields {
            let (ty, markers) = FIELDS[field % FIELDS.len()];
            let omit = if markers.contains("+optional") { ",omitempty" } else { "" };
            let _ = writeln!(
                body,
                "\t// Field{field:02} is a field of __Kind__, and its documentation has a sentence.\n\t{markers}\n\tField{field:02} {ty} \
                 `json:\"field{field:02}{omit}\"`"
            );
        }
        let text = SKELETON.replace("__Fields__", &body).replace("__Kind__", &kind);
        fs::write(package.join(format!("{}_types.go", kind.to_lowercase())), text).unwrap();
    }
}

const SKELETON: &str = r#"package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Nested__Kind__ is part of __Kind__.
type Nested__Kind__ struct {
	// Name is its name.
	Name string `json:"name"`
	// Phase is where it stands.
	Phase Phase__Kind__ `json:"phase,omitempty"`
}

// Phase__Kind__ is where a part stands.
// +kubebuilder:validation:Enum=Pending;Running;Done
type Phase__Kind__ string

// __Kind__Spec says what is wanted.
type __Kind__Spec struct {
__Fields__}

// __Kind__Status says what is there.
type __Kind__Status struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// __Kind__ is a synthetic kind.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type __Kind__ struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   __Kind__Spec   `json:"spec"`
	Status __Kind__Status `json:"status,omitempty"`
}
"#;
