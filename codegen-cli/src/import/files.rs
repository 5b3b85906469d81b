//! Finds the files with definitions.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;

use super::Input;
use crate::diag::Diagnostic;
use crate::paths::display;

/// The word that files with definitions contain; other files of a folder are skipped.
const WORD: &str = "CustomResourceDefinition";

/// Reads a file, or the files with definitions in a folder and below it. A file that is named itself is
/// read whatever its name and content.
pub(crate) fn read(path: &Path, inputs: &mut Vec<Input>, unreadable: &mut Vec<Diagnostic>) {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        match io::stdin().read_to_string(&mut text) {
            Ok(_) => inputs.push(Input { name: "-".to_string(), text }),
            Err(error) => fail(path, &error, unreadable),
        }
        return;
    }
    if !path.is_dir() {
        match fs::read_to_string(path) {
            Ok(text) => inputs.push(Input { name: display(path), text }),
            Err(error) => fail(path, &error, unreadable),
        }
        return;
    }
    let before = (inputs.len(), unreadable.len());
    folder(path, &mut Vec::new(), inputs, unreadable);
    if before == (inputs.len(), unreadable.len()) {
        let message = format!("no CustomResourceDefinition in the folder {}", display(path));
        let help = "files that end with .yaml, .yml or .json are looked at";
        unreadable.push(Diagnostic::error(Code::NO_DEFINITION, None, message).help(help));
    }
}

fn fail(path: &Path, error: &io::Error, unreadable: &mut Vec<Diagnostic>) {
    let message = format!("cannot read {}: {error}", display(path));
    let help = "name files with CRDs, folders of them, or - for standard input";
    unreadable.push(Diagnostic::error(Code::UNREADABLE_FILE, None, message).help(help));
}

/// `around` holds the enclosing folders, so that a link to one of them does not recurse forever.
fn folder(path: &Path, around: &mut Vec<PathBuf>, inputs: &mut Vec<Input>, unreadable: &mut Vec<Diagnostic>) {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if around.contains(&real) {
        return;
    }
    let entries = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>());
    let mut found = match entries {
        Ok(found) => found,
        Err(error) => return fail(path, &error, unreadable),
    };
    found.sort();
    around.push(real);
    for path in found {
        if path.is_dir() {
            folder(&path, around, inputs, unreadable);
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json") {
            file(&path, inputs, unreadable);
        }
    }
    around.pop();
}

/// Reads a file of a folder if it has definitions.
fn file(path: &Path, inputs: &mut Vec<Input>, unreadable: &mut Vec<Diagnostic>) {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return fail(path, &error, unreadable),
    };
    match String::from_utf8(bytes) {
        Ok(text) if text.contains(WORD) => inputs.push(Input { name: display(path), text }),
        Ok(_) => {}
        Err(error) if String::from_utf8_lossy(error.as_bytes()).contains(WORD) => {
            fail(path, &io::Error::new(io::ErrorKind::InvalidData, error), unreadable);
        }
        Err(_) => {}
    }
}
