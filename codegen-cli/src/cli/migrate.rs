//! `kubesmith migrate`

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kubesmith_core::book;

use super::{Exit, print};
use crate::diag;
use crate::migrate::{self, Report, WriteError};
use crate::notice::Notice;
use crate::paths::display;
use crate::scaffold;

#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// Folder of the package with its Cargo.toml.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The library that the program uses.
    #[arg(long, value_name = "LIBRARY", value_enum)]
    from: Library,
    /// Writes kubesmith.toml, and declares the module of the generated clients in src/lib.rs. Nothing is
    /// changed where a kubesmith.toml exists.
    #[arg(long)]
    write: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Library {
    /// kube, kube-runtime, and crates for leader election and tests.
    KubeRs,
}

pub(super) fn run(arguments: &Migrate) -> io::Result<Exit> {
    let Library::KubeRs = arguments.from;
    let folder = arguments.folder.as_path();
    let notice = Notice::of(format!("reading the sources in {}", display(folder)));
    let report = migrate::report(folder);
    drop(notice);
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            return Ok(failed("read", folder, &error, "name the folder with the sources of the program"));
        }
    };
    print(&text(&report))?;
    for file in &report.unread {
        diag::print_to_stderr(&format!("warning: {file}\n"));
    }
    if !arguments.write {
        return Ok(Exit::Fine);
    }
    match migrate::write(folder) {
        Ok(written) => {
            let lines = written.iter().map(|path| format!("wrote {}\n", display(path)));
            print(&(lines.collect::<String>() + &next(folder)))?;
            Ok(Exit::Fine)
        }
        Err(error @ WriteError::NoPackage) => {
            Ok(failed("write to", folder, &error, &packages(&report.packages(folder))))
        }
        Err(error) => Ok(failed("write to", folder, &error, "choose a folder that you may write to")),
    }
}

/// Where `--write` has an effect.
fn packages(found: &BTreeSet<String>) -> String {
    let command = |package: &String| format!("`kubesmith migrate --from kube-rs --write {package}`");
    match found.is_empty() {
        true => "name the folder with the Cargo.toml of the package that has the types".to_owned(),
        false => format!("run {}", found.iter().map(command).collect::<Vec<_>>().join(" and ")),
    }
}

/// The next steps: dependencies for Cargo.toml, from the source of this command.
fn next(folder: &Path) -> String {
    match scaffold::usual_dependencies(folder) {
        Ok(lines) => {
            format!("next: add this to Cargo.toml, then run `kubesmith generate`\n\n[dependencies]\n{lines}")
        }
        Err(error) => format!("next: depend on kubesmith-runtime, then run `kubesmith generate`; {error}\n"),
    }
}

fn failed(action: &str, folder: &Path, error: &dyn Error, help: &str) -> Exit {
    let folder = folder.display();
    diag::print_to_stderr(&format!("error: cannot {action} {folder}: {error}\n  = help: {help}\n"));
    Exit::Failed
}

/// The places for each piece of advice, in the order of the guide's steps.
fn text(report: &Report) -> String {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for place in &report.places {
        groups.entry((place.row.step, place.row.advice)).or_default().push(place);
    }
    let mut out = String::new();
    let mut step = 0;
    for ((of_step, advice), places) in groups {
        if step != of_step {
            step = of_step;
            out.push_str(&format!("step {step} of {}\n\n", book!("from-kube-rs/migration.md")));
        }
        for place in places {
            out.push_str(&format!("  {}:{}:{}: {}\n", place.file, place.line, place.column, place.path));
        }
        out.push_str(&format!("    {advice}\n\n"));
    }
    let count = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let with_places: BTreeSet<_> = report.places.iter().map(|place| &place.file).collect();
    let (places, files) = (count(report.places.len(), "place"), count(report.files, "file"));
    out.push_str(&format!("{places} in {} of {files}; code in macros is not read\n", with_places.len()));
    out
}
