//! `kubesmith generate`

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use kubesmith_core::diag::Code;

use super::{Exit, committed, print, report, report_with, usage};
use crate::api_rules::Report;
use crate::config::{self, FeatureFlags, Generator, KindFlags, ManifestFlags, Overrides, Settings};
use crate::diag::{self, Diagnostic, MessageFormat};
use crate::known::KubernetesVersion;
use crate::lints::LintConfig;
use crate::notice::Notice;
use crate::output::Target;
use crate::paths::{above, display};
use crate::pipeline::{self, Generated};
use crate::source::SourceMap;
use crate::write::{self, OutputError, Plan, Summary};

/// The settings of a run, from kubesmith.toml and flags; flags win.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Configuration file; default: kubesmith.toml in the current folder, if it exists and no --input is given.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of a crate with API types and its Cargo.toml; may be repeated.
    #[arg(long, value_name = "DIR", num_args = 1..)]
    input: Vec<PathBuf>,
    #[command(flatten)]
    features: FeatureFlags,
    #[command(flatten)]
    kinds: KindFlags,
    /// Folder of the client package. CRDs, roles and webhook configurations go to its subfolders `crds`, `rbac` and
    /// `webhook`, unless other flags set their folders.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Folder of the CRDs.
    #[arg(long, value_name = "DIR")]
    crd_output: Option<PathBuf>,
    /// Generators to run; default: all except OpenAPI documents and reference documentation, which need a
    /// folder. Flags for generators that do not run, here or by `only` in kubesmith.toml, are errors.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<Generator>,
    /// Writes the client as a separate crate with this name.
    #[arg(long, value_name = "NAME", conflicts_with = "module")]
    crate_name: Option<String>,
    /// Writes the client as a module of an existing crate, at this path, such as crate::generated.
    #[arg(long, value_name = "PATH")]
    module: Option<String>,
    /// File with the header comments of every generated Rust file; --year replaces ` YEAR` in them.
    #[arg(long, value_name = "FILE")]
    header_file: Option<PathBuf>,
    /// The value for ` YEAR` in headers.
    #[arg(long, value_name = "YEAR")]
    year: Option<String>,
    /// Maximum length of descriptions in CRDs, in bytes; 0 removes all descriptions.
    #[arg(long, value_name = "N")]
    max_desc_len: Option<usize>,
    /// Allows floating point fields, which some clients do not preserve.
    #[arg(long)]
    allow_dangerous_types: bool,
    /// Writes a schema for embedded metadata: name, namespace, labels, annotations, finalizers.
    #[arg(long)]
    generate_embedded_object_meta: bool,
    /// Keeps formats that API servers do not know, such as uint32, in schemas of kube-rs's types; implied if the
    /// lock file has kube.
    #[arg(long)]
    keep_unknown_formats: bool,
    /// Kubernetes version of the built-in types in schemas of kube-rs's types, such as 1.31; default: the version
    /// that the features of k8s-openapi select.
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<KubernetesVersion>,
    /// Omits unexported fields of Go structs.
    #[arg(long)]
    ignore_unexported_fields: bool,
    /// Writes spec.preserveUnknownFields into CRDs that were once v1beta1; v1 allows only false.
    #[arg(long = "deprecated-v1beta1-compatibility-preserve-unknown-fields", value_name = "BOOL")]
    preserve_unknown_fields: Option<bool>,
    /// File with the header comments (`#`) of every CRD; --year replaces ` YEAR` in them.
    #[arg(long, value_name = "FILE")]
    crd_header_file: Option<PathBuf>,
    #[command(flatten)]
    manifests: ManifestFlags,
    #[command(flatten)]
    lints: LintConfig,
}

/// Arguments of `kubesmith generate`.
#[derive(Debug, Args)]
pub(super) struct Generate {
    #[command(flatten)]
    flags: Flags,
    /// Accepts the current violations of API rules: writes them to the file of --report-filename.
    #[arg(long, conflicts_with = "check")]
    update_report: bool,
    /// Writes nothing; prints a diff and exits with 1 if files are out of date.
    #[arg(long)]
    check: bool,
    /// Prints the intermediate representation as JSON and writes nothing.
    #[arg(long, conflicts_with = "check")]
    dump_ir: bool,
    /// Format of diagnostics.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    message_format: MessageFormat,
}

impl Flags {
    /// Reads the file and adds the flags; one result for each member.
    ///
    /// # Errors
    /// As [`config::settings`].
    pub(super) fn settings(self) -> Result<Vec<Settings>, config::UsageError> {
        let implied =
            self.config.is_none() && self.input.is_empty() && Path::new(config::FILE_NAME).is_file();
        if self.config.is_none()
            && self.input.is_empty()
            && !implied
            && let Some(folder) = above(Path::new(config::FILE_NAME))
        {
            return Err(config::UsageError(format!(
                "no input: {0} is in {folder}; run the command there, or add `--config {folder}/{0}`",
                config::FILE_NAME
            )));
        }
        let file = self.config.clone().or_else(|| implied.then(|| PathBuf::from(config::FILE_NAME)));
        config::settings(
            file.as_deref(),
            Overrides {
                input: self.input,
                features: self.features,
                kinds: self.kinds,
                output: self.output,
                crd_output: self.crd_output,
                only: self.only,
                crate_name: self.crate_name,
                module: self.module,
                header_file: self.header_file,
                year: self.year,
                max_desc_len: self.max_desc_len,
                allow_dangerous_types: self.allow_dangerous_types,
                generate_embedded_object_meta: self.generate_embedded_object_meta,
                keep_unknown_formats: self.keep_unknown_formats,
                kubernetes_version: self.kubernetes_version,
                ignore_unexported_fields: self.ignore_unexported_fields,
                preserve_unknown_fields: self.preserve_unknown_fields,
                crd_header_file: self.crd_header_file,
                manifests: self.manifests,
                lints: self.lints,
            },
        )
    }
}

/// Runs the command.
pub(super) fn run(arguments: Generate) -> io::Result<Exit> {
    let start = Instant::now();
    let format = arguments.message_format;
    let (check, dump_ir, update_report) = (arguments.check, arguments.dump_ir, arguments.update_report);
    let settings = match settings_of(arguments) {
        Ok(settings) => settings,
        Err(fault) => return Ok(usage(&fault)),
    };
    let mut generated = generate_all(&settings);
    let failed = generated.iter().any(|generated| diag::has_errors(&generated.diagnostics));
    let is_stopped = failed && !goes_on(&settings, &generated);
    let end = if is_stopped { "nothing was written" } else { "the kinds without errors go on" };
    for generated in &generated {
        report_with(&generated.diagnostics, &generated.sources, format, end);
    }
    if is_stopped {
        return Ok(Exit::Failed);
    }
    let fine = if failed { Exit::Failed } else { Exit::Fine };
    if dump_ir {
        dump(&generated)?;
        return Ok(fine);
    }
    let is_part = failed || settings.iter().any(|settings| settings.chosen_for_run);
    let accepted = if update_report { Exit::Fine } else { report::check(&generated, format)? };
    if accepted != Exit::Fine && !check {
        return Ok(accepted);
    }
    let reports =
        generated.iter().filter(|_| update_report).filter_map(|generated| generated.report.as_ref());
    let mut targets: Vec<Target> = reports.filter_map(Report::target).collect();
    targets.extend(generated.iter_mut().flat_map(|generated| std::mem::take(&mut generated.targets)));
    let mut plan = match write::plan(&targets) {
        Ok(plan) => plan,
        Err(errors) => return Ok(refuse(&errors, format)),
    };
    if is_part {
        plan.keep_others();
    }
    if let Exit::Failed = tell_breaks(&plan, &settings.into_iter().zip(generated).collect::<Vec<_>>(), format)
    {
        return Ok(Exit::Failed);
    }
    if check {
        let exit = if accepted == Exit::Fine { fine } else { accepted };
        return if plan.is_clean() && exit != Exit::Fine { Ok(exit) } else { drift(&plan) };
    }
    let kept = kept(&plan);
    match plan.write() {
        Ok(summary) => {
            print(&(sentence(summary, start) + &kept))?;
            Ok(fine)
        }
        Err(error) => Ok(refuse(&[error], format)),
    }
}

/// Returns the settings of each run.
fn settings_of(arguments: Generate) -> Result<Vec<Settings>, String> {
    let (dump_ir, update_report) = (arguments.dump_ir, arguments.update_report);
    let settings = arguments.flags.settings().map_err(|error| error.to_string())?;
    if dump_ir && settings.len() > 1 {
        return Err("--dump-ir prints one representation: choose a member with --config".to_owned());
    }
    if update_report && settings.iter().all(|settings| settings.openapi.report.is_none()) {
        let text = "--update-report has no effect: name the file with --report-filename, or `report_filename` in the \
                    `[openapi]` table";
        return Err(text.to_owned());
    }
    Ok(settings)
}

/// Generates everything in memory, and says so when it takes long.
fn generate_all(settings: &[Settings]) -> Vec<Generated> {
    let inputs = settings.iter().flat_map(|settings| &settings.input).map(|input| display(input));
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let _notice = Notice::of(format!("reading {inputs} and their dependencies"));
    settings.iter().map(pipeline::generate).collect()
}

/// Whether files can be written despite errors.
fn goes_on(settings: &[Settings], generated: &[Generated]) -> bool {
    let mut runs = settings.iter().zip(generated);
    runs.all(|(settings, generated)| settings.keep_going || !diag::has_errors(&generated.diagnostics))
        && generated.iter().any(|generated| !generated.targets.is_empty())
}

/// Reports changes that break the files on disk.
fn tell_breaks(plan: &Plan, runs: &[(Settings, Generated)], format: MessageFormat) -> Exit {
    let mut exit = Exit::Fine;
    for (found, (_, generated)) in committed::check(plan, runs).iter().zip(runs) {
        report(found, &generated.sources, format);
        if diag::has_errors(found) {
            exit = Exit::Failed;
        }
    }
    exit
}

fn dump(generated: &[Generated]) -> io::Result<()> {
    for generated in generated {
        let text = serde_json::to_string_pretty(&generated.ir).map_err(io::Error::other)?;
        print(&(text + "\n"))?;
    }
    Ok(())
}

/// The deployment's files that belong to the user; outputs made from the others may differ from the tree.
fn kept(plan: &Plan) -> String {
    let files = plan.kept_files();
    if files.is_empty() {
        return String::new();
    }
    let list: String = files.iter().map(|file| format!("  {file}\n")).collect();
    format!("kept files without a marker comment; the installer does not include their changes:\n{list}")
}

/// "wrote 14 files, removed 1, 3 unchanged in 12 ms"
fn sentence(summary: Summary, start: Instant) -> String {
    let files = if summary.written == 1 { "file" } else { "files" };
    let removed = if summary.removed > 0 { format!(", removed {}", summary.removed) } else { String::new() };
    format!(
        "wrote {} {files}{removed}, {} unchanged in {} ms\n",
        summary.written,
        summary.unchanged,
        start.elapsed().as_millis()
    )
}

fn drift(plan: &Plan) -> io::Result<Exit> {
    if plan.is_clean() {
        print("everything is up to date\n")?;
        return Ok(Exit::Fine);
    }
    print(&plan.diff())?;
    let files = plan.changed_files();
    let mut text = String::from("error: generated files are out of date; run `kubesmith generate`\n");
    for file in &files {
        text.push_str(&format!("  {file}\n"));
    }
    diag::print_to_stderr(&text);
    Ok(Exit::Failed)
}

pub(super) fn refuse(errors: &[OutputError], format: MessageFormat) -> Exit {
    let diagnostics: Vec<Diagnostic> = errors.iter().map(output_diagnostic).collect();
    report(&diagnostics, &SourceMap::default(), format);
    Exit::Failed
}

fn output_diagnostic(error: &OutputError) -> Diagnostic {
    match error {
        OutputError::Foreign { .. } => Diagnostic::error(Code::FOREIGN_FILE, None, error.to_string())
            .note("files that do not bear kubesmith's mark are never overwritten")
            .help("move or delete the file, or choose another output folder"),
        OutputError::Io { .. } => Diagnostic::error(Code::CANNOT_WRITE, None, error.to_string())
            .help("check the permissions of the output folder and the space on its disk"),
        OutputError::NoFolder { .. } => Diagnostic::error(Code::CANNOT_WRITE, None, error.to_string())
            .help("move or delete the file, or choose another output folder"),
        OutputError::Kept { .. } => Diagnostic::error(Code::CANNOT_WRITE, None, error.to_string())
            .note("lines between these comments are carried over from run to run"),
        OutputError::Twice { .. } => Diagnostic::error(Code::CANNOT_WRITE, None, error.to_string())
            .help("choose different output folders for the CRDs and the client"),
    }
}
