//! `kubesmith import`

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use kubesmith_core::diag::{Code, Severity};
use kubesmith_core::names;

use super::{Exit, print, usage};
use crate::cluster::{self, Access, ClusterError, Wanted};
use crate::diag::{self, Diagnostic, MessageFormat};
use crate::diff::load::LoadError;
#[cfg(feature = "go")]
use crate::diff::load::{Copied, Operand};
use crate::import::{self, Imported, Input, files};
use crate::notice::Notice;
use crate::paths::display;
use crate::scaffold;

/// The written files are yours: kubesmith overwrites them only with --force.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Import {
    /// YAML or JSON files with CRDs, folders of such files, or `-` for standard input.
    #[arg(value_name = "FILE", required_unless_present_any = INSTEAD, conflicts_with_all = INSTEAD)]
    files: Vec<PathBuf>,
    /// Imports types from Go packages: folders, modules or patterns such as `./api/...`, also from a git revision
    /// (`git:REV:PATH`).
    #[cfg(feature = "go")]
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "from_cluster")]
    go: Vec<PathBuf>,
    /// Writes the fields of embedded metadata of Go types, as controller-gen's `generateEmbeddedObjectMeta`.
    #[cfg(feature = "go")]
    #[arg(long, requires = "go")]
    generate_embedded_object_meta: bool,
    /// Omits unexported fields of Go structs, as controller-gen's `ignoreUnexportedFields`.
    #[cfg(feature = "go")]
    #[arg(long, requires = "go")]
    ignore_unexported_fields: bool,
    /// Imports CRDs from a cluster: the named ones (`widgets.example.com`), or all.
    #[arg(long, value_name = "NAME", num_args = 0..)]
    from_cluster: Option<Vec<String>>,
    #[command(flatten)]
    access: Access,
    /// Folder of the new crate. Only --force overwrites existing files.
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Name of the crate; default: the folder's name.
    #[arg(long, value_name = "NAME")]
    crate_name: Option<String>,
    /// Overwrites existing files, and removes obsolete modules of an earlier import.
    #[arg(long)]
    force: bool,
    /// Source of kubesmith-runtime: `published`, a folder with the source, or URL#REVISION of a git repository; default:
    /// the registry or, until a version is published, the source that this program was installed from.
    #[arg(long, value_name = "SOURCE")]
    kubesmith_source: Option<String>,
    /// Format of diagnostics.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    message_format: MessageFormat,
}

/// The sources of definitions other than files.
#[cfg(feature = "go")]
const INSTEAD: [&str; 2] = ["from_cluster", "go"];
#[cfg(not(feature = "go"))]
const INSTEAD: [&str; 1] = ["from_cluster"];

const EXAMPLES: &str = "Examples:
  kubesmith import config/crd/bases --output api
  kubesmith import widgets.yaml gadgets.json --output api --crate-name acme-api
  helm template CHART --include-crds | kubesmith import - --output api
  kubesmith import --go ./api/... --output api
  kubesmith import --go git:v1.2.0:./api/... --output api
  kubesmith import --from-cluster --context staging --output api
  kubesmith import --from-cluster widgets.example.com --output api --force";

/// Runs the command.
pub(super) fn run(arguments: &Import) -> io::Result<Exit> {
    let (package, runtime) = match package(arguments).and_then(|name| Ok((name, runtime(arguments)?))) {
        Ok(names) => names,
        Err(message) => return Ok(usage(&message)),
    };
    let mut unreadable = Vec::new();
    let mut inputs = match cluster(arguments) {
        Ok(inputs) => inputs,
        Err(ClusterUse::Usage(message)) => return Ok(usage(message)),
        Err(ClusterUse::Empty) => {
            diag::print_to_stderr(
                "error: the cluster has no CustomResourceDefinition\n  = help: choose another cluster with --kubeconfig or \
                 --context, or name files with CRDs\n",
            );
            return Ok(Exit::Failed);
        }
        Err(ClusterUse::Failed(error)) => {
            diag::print_to_stderr(&format!("error: {error}\n  = help: {}\n", error.help()));
            return Ok(Exit::Failed);
        }
    };
    for path in &arguments.files {
        files::read(path, &mut inputs, &mut unreadable);
    }
    let notice = Notice::of("writing Rust types, and generating from them again to compare".to_owned());
    let imported = imported(arguments, inputs, &package);
    drop(notice);
    let mut imported = match imported {
        Ok(imported) => imported,
        Err(error) => {
            diag::print_to_stderr(&format!("error: {error}\n  = help: {}\n", error.help()));
            return Ok(Exit::Failed);
        }
    };
    imported.set_runtime(&runtime);
    imported.diagnostics.splice(0..0, unreadable);
    let has_errors = diag::has_errors(&imported.diagnostics);
    report(&imported, arguments.message_format);
    if imported.files.is_empty() {
        return Ok(Exit::Failed);
    }
    let removed = match write(&imported, &arguments.output, arguments.force) {
        Ok(removed) => removed,
        Err(diagnostic) => {
            let failed = Imported { diagnostics: vec![*diagnostic], untold: 0, ..imported };
            report(&failed, arguments.message_format);
            return Ok(Exit::Failed);
        }
    };
    let removed: String = removed.iter().map(|path| format!("removed {}\n", display(path))).collect();
    print(&(removed + &sentence(&imported, &arguments.output)))?;
    Ok(if has_errors { Exit::Failed } else { Exit::Fine })
}

/// The crate of the named Go packages, or else of definitions.
fn imported(arguments: &Import, inputs: Vec<Input>, package: &str) -> Result<Imported, LoadError> {
    #[cfg(feature = "go")]
    if !arguments.go.is_empty() {
        let options = import::GoOptions {
            generate_embedded_object_meta: arguments.generate_embedded_object_meta,
            ignore_unexported_fields: arguments.ignore_unexported_fields,
        };
        return imported_go(&arguments.go, package, options);
    }
    let _ = arguments;
    Ok(import::import(inputs, package))
}

/// The crate of Go packages. Revisions are copied to be read, and messages name their files as git does.
#[cfg(feature = "go")]
fn imported_go(
    operands: &[PathBuf],
    package: &str,
    options: import::GoOptions,
) -> Result<Imported, LoadError> {
    let (mut inputs, mut copies) = (Vec::new(), Vec::new());
    for operand in operands {
        let Operand::Git { revision, path } = Operand::parse(&operand.to_string_lossy()) else {
            inputs.push(operand.clone());
            continue;
        };
        let (copied, place) = Copied::with_path(&revision, path.as_deref())?;
        inputs.push(place);
        copies.push(copied);
    }
    let mut imported = import::import_go(&inputs, package, options);
    for copied in &copies {
        imported.sources.rename(|name| copied.name(name));
        imported.diagnostics.iter_mut().for_each(|found| found.message = copied.name(&found.message));
    }
    Ok(imported)
}

/// The reason why a cluster yields no definitions.
enum ClusterUse {
    Usage(&'static str),
    Failed(ClusterError),
    /// It has no definitions.
    Empty,
}

/// The definitions of a cluster, if requested.
fn cluster(arguments: &Import) -> Result<Vec<Input>, ClusterUse> {
    let access = &arguments.access;
    let wanted = match &arguments.from_cluster {
        None if access.kubeconfig.is_some() || access.context.is_some() => {
            return Err(ClusterUse::Usage(
                "--kubeconfig and --context have no effect without --from-cluster",
            ));
        }
        None => return Ok(Vec::new()),
        Some(names) if names.is_empty() => Wanted::All,
        Some(names) => Wanted::Named(names.clone()),
    };
    let found = cluster::definitions(access, &wanted).map_err(ClusterUse::Failed)?;
    if found.is_empty() { Err(ClusterUse::Empty) } else { Ok(found) }
}

/// The name of the crate.
fn package(arguments: &Import) -> Result<String, String> {
    let folder = arguments.output.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = arguments.crate_name.clone().or(folder).unwrap_or_else(|| "api".to_string());
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let in_code = name.replace('-', "_");
    let reason = if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(fits) {
        "is not a name of a crate"
    } else if names::is_keyword(&in_code) {
        "is a word of Rust and no name of a crate"
    } else if USED.contains(&in_code.as_str()) {
        "is the name of a crate that the types need"
    } else {
        return Ok(name);
    };
    Err(format!("{name:?} {reason}: name it with --crate-name"))
}

/// The dependency on the runtime.
fn runtime(arguments: &Import) -> Result<String, String> {
    let source = arguments.kubesmith_source.as_deref();
    scaffold::types_dependency(&arguments.output, source).map_err(|error| error.to_string())
}

/// Crate names that the new crate uses.
const USED: &[&str] =
    &["alloc", "core", "k8s_openapi", "kubesmith_runtime", "serde", "serde_json", "std", "test"];

/// Writes all files or none, and returns the files of an earlier import that are removed.
fn write(imported: &Imported, folder: &Path, force: bool) -> Result<Vec<PathBuf>, Box<Diagnostic>> {
    let path = |name: &String| folder.join(name);
    let taken = imported.files.iter().find(|(name, text)| {
        path(name).exists() && fs::read_to_string(path(name)).ok().as_ref() != Some(*text)
    });
    if let Some((name, _)) = taken.filter(|_| !force) {
        let message = format!("{} already exists", display(&path(name)));
        return Err(Box::new(
            Diagnostic::error(Code::FOREIGN_FILE, None, message)
                .note("imported files are yours to change, so they are not overwritten")
                .help("choose another folder, or write over it with --force"),
        ));
    }
    for (name, text) in &imported.files {
        let path = path(name);
        let written =
            fs::create_dir_all(path.parent().unwrap_or(folder)).and_then(|()| fs::write(&path, text));
        written.map_err(|error| cannot("write", &path, &error))?;
    }
    let mut stale = Vec::new();
    if force {
        modules(&folder.join("src"), &mut stale).map_err(|error| cannot("read", folder, &error))?;
        stale.retain(|found| imported.files.keys().all(|name| path(name) != *found));
    }
    stale
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(|error| cannot("remove", path, &error)))?;
    Ok(stale)
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Box<Diagnostic> {
    let message = format!("cannot {what} {}: {error}", display(path));
    Box::new(
        Diagnostic::error(Code::CANNOT_WRITE, None, message)
            .help("check the permissions of the output folder and the space on its disk"),
    )
}

/// The modules written by an earlier import, sorted by name.
fn modules(source: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = fs::read_dir(source)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            modules(&path, out)?;
        } else if path.extension().is_some_and(|end| end == "rs")
            && fs::read_to_string(&path).is_ok_and(|text| import::is_module(&text))
        {
            out.push(path);
        }
    }
    Ok(())
}

fn report(imported: &Imported, format: MessageFormat) {
    let text = diag::render(&imported.diagnostics, &imported.sources, format, super::style(format));
    let errors = imported.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    diag::print_to_stderr(&text);
    let errors = errors + imported.untold;
    if errors > 0 && format == MessageFormat::Human {
        let noun = if errors == 1 { "error" } else { "errors" };
        diag::print_to_stderr(&format!("{errors} {noun}; the affected definitions are not imported\n"));
    }
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
