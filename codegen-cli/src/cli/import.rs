//! `kubesmith import`

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use kubesmith_core::diag::{Code, Severity};

use super::{Exit, print, usage};
use crate::diag::{self, Diagnostic, MessageFormat};
use crate::import::{self, Imported, Input};
use crate::output::display;

/// What is written is yours: it is never written over unasked.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// YAML or JSON files with CRDs, folders of them, or `-` for standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder of the crate that is made; files that are there are not overwritten without --force.
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Name of the crate; default: the folder's name.
    #[arg(long, value_name = "NAME")]
    crate_name: Option<String>,
    /// Overwrites files that are there.
    #[arg(long)]
    force: bool,
    /// How diagnostics are shown.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    message_format: MessageFormat,
}

/// Runs the command.
pub(super) fn run(arguments: &Import) -> io::Result<Exit> {
    let package = match package(arguments) {
        Ok(package) => package,
        Err(message) => return usage(&message),
    };
    let mut unreadable = Vec::new();
    let mut inputs = Vec::new();
    for path in &arguments.files {
        read(path, true, &mut inputs, &mut unreadable);
    }
    let mut imported = import::import(inputs, &package);
    imported.diagnostics.splice(0..0, unreadable);
    let has_errors = diag::has_errors(&imported.diagnostics);
    report(&imported, arguments.message_format)?;
    if imported.files.is_empty() {
        return Ok(Exit::Failed);
    }
    if let Err(diagnostic) = write(&imported, &arguments.output, arguments.force) {
        let failed = Imported { diagnostics: vec![*diagnostic], ..imported };
        report(&failed, arguments.message_format)?;
        return Ok(Exit::Failed);
    }
    print(&sentence(&imported, &arguments.output))?;
    Ok(if has_errors { Exit::Failed } else { Exit::Fine })
}

/// The name of the crate.
fn package(arguments: &Import) -> Result<String, String> {
    let folder = arguments.output.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = arguments.crate_name.clone().or(folder).unwrap_or_else(|| "api".to_string());
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits) {
        return Ok(name);
    }
    Err(format!("{name:?} is no name of a crate: name it with --crate-name"))
}

/// Reads a file or what is in a folder; what was named is read whatever it is called.
fn read(path: &Path, is_named: bool, inputs: &mut Vec<Input>, unreadable: &mut Vec<Diagnostic>) {
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
                found.iter().for_each(|path| read(path, false, inputs, unreadable));
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

/// Writes the files, or none of them.
fn write(imported: &Imported, folder: &Path, force: bool) -> Result<(), Box<Diagnostic>> {
    let path = |name: &String| folder.join(name);
    let taken = imported.files.iter().find(|(name, text)| {
        path(name).exists() && fs::read_to_string(path(name)).ok().as_ref() != Some(*text)
    });
    if let Some((name, _)) = taken.filter(|_| !force) {
        let message = format!("{} is there already", display(&path(name)));
        return Err(Box::new(
            Diagnostic::error(Code::FOREIGN_FILE, None, message)
                .note("what is imported is yours to change, so that it is not overwritten")
                .help("choose another folder, or write over it with --force"),
        ));
    }
    for (name, text) in &imported.files {
        let path = path(name);
        let written =
            fs::create_dir_all(path.parent().unwrap_or(folder)).and_then(|()| fs::write(&path, text));
        written.map_err(|error| {
            let message = format!("cannot write {}: {error}", display(&path));
            Box::new(
                Diagnostic::error(Code::CANNOT_WRITE, None, message)
                    .help("check the permissions of the output folder and the space on its disk"),
            )
        })?;
    }
    Ok(())
}

fn report(imported: &Imported, format: MessageFormat) -> io::Result<()> {
    let text = diag::render(&imported.diagnostics, &imported.sources, format, super::has_color(format));
    let errors = imported.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    io::stderr().write_all(text.as_bytes())?;
    if errors > 0 && format == MessageFormat::Human {
        let noun = if errors == 1 { "error" } else { "errors" };
        io::stderr()
            .write_all(format!("{errors} {noun}; what they are about is not imported\n").as_bytes())?;
    }
    Ok(())
}

/// "imported 2 definitions into api, skipped 3 other objects"
fn sentence(imported: &Imported, folder: &Path) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let skipped = match imported.skipped {
        0 => String::new(),
        count => format!(", skipped {count} other object{}", plural(count)),
    };
    let count = imported.definitions;
    format!("imported {count} definition{} into {}{skipped}\n", plural(count), display(folder))
}
