//! Finds the files with definitions.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use kubesmith_core::diag::Code;

use super::Input;
use crate::diag::Diagnostic;
use crate::output::display;

/// Reads a file or what is in a folder; what was named is read whatever it is called.
pub(crate) fn read(path: &Path, inputs: &mut Vec<Input>, unreadable: &mut Vec<Diagnostic>) {
    self::path(path, true, inputs, unreadable);
}

fn path(path: &Path, is_named: bool, inputs: &mut Vec<Input>, unreadable: &mut Vec<Diagnostic>) {
    let mut fail = |error: &io::Error| {
        let message = format!("cannot read {}: {error}", display(path));
        let help = "name files with CRDs, folders of them, or - for standard input";
        unreadable.push(Diagnostic::error(Code::UNREADABLE_FILE, None, message).help(help));
    };
    if path.as_os_str() == "-" {
        let mut text = String::new();
        match io::stdin().read_to_string(&mut text) {
            Ok(_) => inputs.push(Input { name: "-".to_string(), text }),
            Err(error) => fail(&error),
        }
        return;
    }
    if path.is_dir() {
        match fs::read_dir(path)
            .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>())
        {
            Ok(mut found) => {
                found.sort();
                found.iter().for_each(|path| self::path(path, false, inputs, unreadable));
            }
            Err(error) => fail(&error),
        }
        return;
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !is_named && !matches!(extension, Some("yaml" | "yml" | "json")) {
        return;
    }
    match fs::read_to_string(path) {
        Ok(text) => inputs.push(Input { name: display(path), text }),
        Err(error) => fail(&error),
    }
}
