//! Returns rustc's diagnostics for a program that uses the libraries that Cargo has built for this test. A tool that builds the
//! program as a package of its own would build Kubernetes' types and the client once more.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks a file, given relative to the package's folder, against the libraries of these names. Returns the diagnostics: nothing
/// when the program is right. Suggestions are left out, since they name whatever crates happen to be there, as is the summary. rustc
/// writes its output into `folder`.
pub(crate) fn check(file: &Path, libraries: &[&str], folder: &Path) -> String {
    let built = built();
    let mut rustc = Command::new(option_env!("RUSTC").unwrap_or("rustc"));
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--color", "never"]);
    rustc.arg("-L").arg(format!("dependency={}", built.display()));
    for name in libraries {
        rustc.arg("--extern").arg(format!("{name}={}", library(&built, name).display()));
    }
    let output = rustc.arg("--out-dir").arg(folder).arg(file).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), text.is_empty(), "{text}");
    let diagnostics: Vec<String> = text.split("\n\n").filter_map(diagnostic).collect();
    diagnostics.join("\n")
}

/// One of the paragraphs of rustc's output.
fn diagnostic(paragraph: &str) -> Option<String> {
    let is_suggestion = |line: &&str| line.starts_with("help") || line.trim_start().starts_with("= help");
    let mut lines: Vec<&str> = paragraph.lines().take_while(|line| !is_suggestion(line)).collect();
    while lines.last().is_some_and(|line| line.trim() == "|") {
        lines.pop();
    }
    let summaries = ["error: aborting due to", "For more information", "Some errors have"];
    let first = lines.first().filter(|first| !summaries.iter().any(|summary| first.starts_with(summary)));
    first.map(|_| lines.join("\n") + "\n")
}

/// The folder of what Cargo has built, this test among it.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The library of this name that this test was probably linked with: the newest one that is older than the test. Builds with other
/// features in the same folder can put another one there; `cargo clean` helps then.
fn library(built: &Path, name: &str) -> PathBuf {
    let prefix = format!("lib{name}-");
    let time = |path: &Path| path.metadata().unwrap().modified().unwrap();
    let linked = time(&std::env::current_exe().unwrap());
    let files = std::fs::read_dir(built).unwrap().map(|entry| entry.unwrap().path());
    let libraries = files.filter(|path| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&prefix) && file.ends_with(".rlib") && time(path) <= linked
    });
    libraries.max_by_key(|path| time(path)).unwrap()
}
