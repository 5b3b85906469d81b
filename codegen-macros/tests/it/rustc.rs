//! What rustc says of a program that uses the libraries that Cargo has built for this test. A tool that builds the program as a
//! package of its own would build Kubernetes' types and the client once more.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks a file, given relative to the package's folder, against the libraries of these names. Returns the diagnostics as rustc
/// prints them: nothing when the program is right. What is written goes into `folder`.
pub fn check(file: &Path, libraries: &[&str], folder: &Path) -> String {
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
    text
}

/// The folder of what Cargo has built, this test among it.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The library of this name that was built last.
fn library(built: &Path, name: &str) -> PathBuf {
    let prefix = format!("lib{name}-");
    let files = std::fs::read_dir(built).unwrap().map(|entry| entry.unwrap());
    let libraries = files.filter(|entry| {
        let name = entry.file_name().into_string().unwrap_or_default();
        name.starts_with(&prefix) && name.ends_with(".rlib")
    });
    libraries.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap()).unwrap().path()
}
