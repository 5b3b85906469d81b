//! Builds the project with cargo, and programs beside it with rustc from cargo's artifacts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Deserialize;

use super::{Package, group, program};
use crate::diag::print_to_stderr;
use crate::paths::display;

/// A line of `cargo build --message-format=json`.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        manifest_path: PathBuf,
        target: Target,
        filenames: Vec<PathBuf>,
        executable: Option<PathBuf>,
    },
    BuildScriptExecuted {
        linked_paths: Vec<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

/// The artifacts of a build.
#[derive(Debug, Default)]
struct Built {
    /// The project's library.
    lib: Option<(String, PathBuf)>,
    /// Other libraries, with their names in code.
    libs: Vec<(String, PathBuf)>,
    /// Folders that are searched for libraries.
    folders: BTreeSet<PathBuf>,
    /// Folders that are searched for libraries of other languages.
    linked: BTreeSet<String>,
    /// The program.
    executable: Option<PathBuf>,
}

/// Returns the program with this name.
///
/// # Errors
/// Returns an error if cargo fails, or the program does not exist.
pub(super) fn binary(package: Package<'_>, name: &str) -> Result<PathBuf, String> {
    let built = cargo(package, &["--bin", name])?;
    built.executable.ok_or_else(|| format!("cargo built no program `{name}`"))
}

/// Returns a program that prints the definitions of the root types.
///
/// # Errors
/// Returns an error if cargo or rustc fails.
pub(super) fn roots(package: Package<'_>) -> Result<PathBuf, String> {
    compiled(package, &[package.roots.iter().map(|path| program::root(path)).collect()])
}

/// Returns a program that prints the definitions from a function. The text is its path, or a call with arguments.
///
/// # Errors
/// Returns an error if cargo or rustc fails, or the text is neither.
pub(super) fn function(package: Package<'_>, text: &str) -> Result<PathBuf, String> {
    let call = match syn::parse_str(text) {
        Ok(syn::Expr::Path(_)) => format!("{text}()"),
        Ok(syn::Expr::Call(_)) => text.to_string(),
        _ => return Err(format!("`{text}` is neither the path of a function nor a call")),
    };
    compiled(package, &program::call(&call))
}

/// Returns a program with the first of these lines that compile.
fn compiled(package: Package<'_>, variants: &[String]) -> Result<PathBuf, String> {
    let built = cargo(package, &["--lib"])?;
    let Some((name, lib)) = &built.lib else {
        return Err("the package has no library: name its program that prints the definitions".to_string());
    };
    // The file's name has cargo's hash of the package, so that projects with one target folder do not disturb each other.
    let folder = lib.parent().unwrap_or(Path::new("")).join("kubesmith-evaluate");
    let folder = folder.join(lib.file_stem().unwrap_or_default());
    let io = |error: std::io::Error| format!("cannot write {}: {error}", display(&folder));
    fs::create_dir_all(&folder).map_err(io)?;
    // A crate may have several versions, one of which the types use.
    let versions = |wanted: &str| -> Vec<&PathBuf> {
        let found = built.libs.iter().filter(|(name, _)| name == wanted);
        found.map(|(_, path)| path).collect()
    };
    let cores = versions("kube_core");
    if cores.is_empty() {
        return Err("the library does not use kube".to_string());
    }
    let mut failed = String::new();
    for lines in variants {
        fs::write(folder.join("main.rs"), program::source(lines)).map_err(io)?;
        for core in cores.iter().copied() {
            for json in versions("serde_json") {
                match rustc(&built, (name, lib), &[("kube_core", core), ("serde_json", json)], &folder) {
                    Ok(program) => return Ok(program),
                    Err(error) => failed = error,
                }
            }
        }
    }
    Err(failed)
}

/// Compiles the program in the folder.
fn rustc(
    built: &Built,
    (name, lib): (&str, &Path),
    externs: &[(&str, &PathBuf)],
    folder: &Path,
) -> Result<PathBuf, String> {
    let out = folder.join(format!("evaluate{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // Runs in the folder, so that the project's toolchain applies.
    command.current_dir(folder).arg("main.rs").args(["--edition", "2021", "-A", "warnings", "-o"]).arg(&out);
    for (name, path) in externs.iter().copied().chain([(name, &lib.to_path_buf())]) {
        command.arg("--extern").arg(format!("{name}={}", path.display()));
    }
    for path in &built.folders {
        command.arg("-L").arg(format!("dependency={}", path.display()));
    }
    for path in &built.linked {
        command.arg("-L").arg(path);
    }
    let run = |command: &mut Command| {
        command.output().map_err(|error| format!("rustc could not be started: {error}"))
    };
    let mut output = run(&mut command)?;
    // The project's profile sets the strategy; only rustc knows that of the linked crates.
    if String::from_utf8_lossy(&output.stderr).contains("panic strategy") {
        output = run(command.args(["-C", "panic=abort"]))?;
    }
    if output.status.success() {
        return Ok(out);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let first = stderr.lines().find(|line| line.starts_with("error")).unwrap_or("rustc failed");
    Err(format!("the program that prints the definitions does not compile: {first}"))
}

/// Builds, offline if cargo has all sources.
fn cargo(package: Package<'_>, what: &[&str]) -> Result<Built, String> {
    let folder = match package.folder {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    if !folder.is_dir() {
        return Err(format!("there is no folder {}", display(folder)));
    }
    let start = Instant::now();
    print_to_stderr(&format!("building {} to evaluate its definitions\n", display(folder)));
    let could_not_start = |error| format!("cargo could not be started: {error}");
    let is_offline = is_offline(folder).map_err(could_not_start)?;
    // Whatever ends this process ends the build.
    let mut command = group::command(cargo_program(), "");
    command.current_dir(folder).args(["build", "--message-format=json-render-diagnostics"]).args(what);
    if let Some(features) = package.features {
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    command.args(if is_offline { &["--offline"][..] } else { &[] });
    // The build's progress and errors go to cargo's outputs.
    let output = group::output(&mut command).map_err(could_not_start)?;
    if !output.status.success() {
        return Err(format!("cargo could not build {}; its errors are above", display(folder)));
    }
    print_to_stderr(&format!("built in {:.1} s\n", start.elapsed().as_secs_f64()));
    let manifest = fs::canonicalize(folder.join("Cargo.toml")).unwrap_or_default();
    Ok(built(&String::from_utf8_lossy(&output.stdout), &manifest))
}

fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether cargo has every source.
fn is_offline(folder: &Path) -> io::Result<bool> {
    let mut command = Command::new(cargo_program());
    command
        .current_dir(folder)
        .args(["metadata", "--format-version", "1", "--offline"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().map(|status| status.success())
}

/// The library among an artifact's files. The last built package of a name overwrites its copy without a hash in the name; the
/// metadata beside the library has the hash. (No file of a library that is a `cdylib` as well has one.)
fn library(filenames: &[PathBuf]) -> Option<PathBuf> {
    let with = |wanted: &str| {
        let is_wanted =
            |path: &&PathBuf| path.extension().is_some_and(|extension| extension.to_str() == Some(wanted));
        filenames.iter().find(is_wanted)
    };
    let copy = with("rlib")?;
    let own = with("rmeta").map(|path| path.with_extension("rlib"));
    Some(own.filter(|path| path.is_file()).unwrap_or_else(|| copy.clone()))
}

/// An artifact as cargo reports it.
fn built(messages: &str, manifest: &Path) -> Built {
    let mut out = Built::default();
    for message in messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok()) {
        match message {
            Message::CompilerArtifact { manifest_path, target, filenames, executable } => {
                let is_own = fs::canonicalize(manifest_path).unwrap_or_default() == *manifest;
                if let Some(executable) = executable.filter(|_| is_own) {
                    out.executable = Some(executable);
                }
                out.folders.extend(filenames.iter().filter_map(|path| path.parent()).map(Path::to_path_buf));
                let Some(path) = library(&filenames) else { continue };
                let name = target.name.replace('-', "_");
                if is_own && target.kind.iter().any(|kind| kind.ends_with("lib")) {
                    out.lib = Some((name, path));
                } else {
                    out.libs.push((name, path));
                }
            }
            Message::BuildScriptExecuted { linked_paths } => out.linked.extend(linked_paths),
            Message::Other => {}
        }
    }
    out
}
