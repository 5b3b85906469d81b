//! `kubesmith diff`

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Args;
use kubesmith_core::book;

use super::{Exit, print, style};
use crate::cluster::Access;
use crate::diag::{self, MessageFormat};
use crate::diff::load::{self, Loaded, Locator, Operand};
use crate::diff::render::{self, Format};
use crate::diff::{self, Allowed, Report, Unread};
use crate::notice::Notice;
use crate::paths::display;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Diff {
    /// The old side, in one of these forms: a file or folder with CRDs, or `-` for standard input; a crate or a
    /// kubesmith.toml, from which CRDs are generated; a git revision, `REV:PATH` or `git:REV:PATH` (`git:REV` uses the path
    /// of the other side, and has no definitions if the path does not exist there); a cluster, `cluster` or
    /// `cluster:CONTEXT`, with the definitions that the other side names.
    #[arg(value_name = "OLD")]
    old: String,
    /// The new side, in the same forms.
    #[arg(value_name = "NEW")]
    new: String,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    format: Format,
    #[arg(long, value_name = "FILE", help = concat!("TOML file with allowed changes, each with a reason; see ", book!("reference/diff.md")))]
    allow: Option<PathBuf>,
    /// Assumes API servers since 1.33, which accept invalid values that an update does not change.
    #[arg(long)]
    ratcheting: bool,
    /// Assumes a conversion webhook for all definitions, for example one that kustomize adds.
    #[arg(long)]
    conversion_webhook: bool,
    #[command(flatten)]
    access: Access,
}

const EXAMPLES: &str = "Examples:
  kubesmith diff git:main config/crd/bases
  kubesmith diff v1.2.0:config/crd HEAD:config/crd --format json
  kubesmith diff cluster:production api --ratcheting
  kubesmith diff git:origin/main kubesmith.toml --allow allowed-changes.toml --format github

Exit codes: 0 all changes are compatible or allowed, 1 some changes are not, or a side cannot be read, 2 invalid usage.";

/// Runs the command.
pub(super) fn run(arguments: &Diff) -> io::Result<Exit> {
    let allowed = match allowed(arguments) {
        Ok(allowed) => allowed,
        Err(message) => return Ok(super::usage(&message)),
    };
    let (old, new) = (Operand::parse(&arguments.old), Operand::parse(&arguments.new));
    if let Some(message) = needless(arguments, [&old, &new]) {
        return Ok(super::usage(message));
    }
    let notice = Notice::of(format!("reading {} and {}", arguments.old, arguments.new));
    let loaded = load::load(&old, &new, &arguments.access);
    drop(notice);
    let (mut old, mut new) = match loaded {
        Ok(sides) => sides,
        Err(error) => {
            diag::print_to_stderr(&format!("error: {error}\n  = help: {}\n", error.help()));
            // Programs that read the output need the message too.
            if arguments.format != Format::Text {
                let report = Report { ratcheting: arguments.ratcheting, ..Report::default() };
                let report = report.without([Unread { message: error.to_string(), place: None }]);
                print(&render::render(&report, arguments.format))?;
            }
            return Ok(Exit::Failed);
        }
    };
    let mut exit = Exit::Fine;
    for side in [&old, &new] {
        let human = MessageFormat::Human;
        let text = diag::render(&side.diagnostics, &side.sources, human, style(human));
        diag::print_to_stderr(&text);
        for note in &side.notes {
            diag::print_to_stderr(&format!("note: {}\n", diag::printable(note)));
        }
        if side.has_errors() {
            exit = Exit::Failed;
        }
    }
    let unread: Vec<Unread> = old.unread().chain(new.unread()).collect();
    if exit == Exit::Failed {
        both_only(&mut old, &mut new);
    }
    if arguments.conversion_webhook {
        let all = old.definitions.values_mut().chain(new.definitions.values_mut());
        all.for_each(|definition| definition.is_converted = true);
    }
    let changes = diff::compare(&old.definitions, &new.definitions);
    let mut locator = Locator::new(&old, &new);
    let place = |(file, at)| (shown(file, arguments.format), at);
    let report =
        Report::new(changes, &allowed, arguments.ratcheting, |change| locator.locate(change).map(place));
    let report =
        report.without(unread.into_iter().map(|found| Unread { place: found.place.map(place), ..found }));
    print(&render::render(&report, arguments.format))?;
    if let Some(file) = &arguments.allow {
        for (line, entry) in &report.unused {
            diag::print_to_stderr(&format!("warning: {}:{line}: allows nothing: {entry}\n", display(file)));
        }
    }
    Ok(if report.is_breaking() { Exit::Failed } else { exit })
}

/// The file in the format's notation: a workflow's annotations name files from the top of its checkout, in
/// any working directory.
fn shown(file: String, format: Format) -> String {
    let workspace = std::env::var_os("GITHUB_WORKSPACE").filter(|_| format == Format::Github);
    let full = || fs::canonicalize(&file).ok();
    let below =
        workspace.and_then(|top| Some(full()?.strip_prefix(fs::canonicalize(top).ok()?).ok()?.to_owned()));
    below.map_or(file, |below| display(&below))
}

/// Returns a flag that has no effect on these sides.
fn needless(arguments: &Diff, sides: [&Operand; 2]) -> Option<&'static str> {
    let has = |wanted: fn(&Operand) -> bool| sides.into_iter().any(wanted);
    if arguments.access.kubeconfig.is_some() && !has(|side| matches!(side, Operand::Cluster { .. })) {
        return Some("--kubeconfig has no effect: no side is a cluster");
    }
    if arguments.access.context.is_some() && !has(|side| *side == Operand::Cluster { context: None }) {
        return Some("--context has no effect: no side is `cluster` without a context");
    }
    None
}

/// Removes definitions that the other side could not read, so that they count as neither removed nor added.
fn both_only(old: &mut Loaded, new: &mut Loaded) {
    let names: Vec<String> =
        old.definitions.keys().filter(|name| new.definitions.contains_key(*name)).cloned().collect();
    for side in [old, new] {
        side.definitions.retain(|name, _| names.contains(name));
    }
    let text = format!("compared only definitions that both sides have: {}\n", names.len());
    diag::print_to_stderr(&text);
}

fn allowed(arguments: &Diff) -> Result<Allowed, String> {
    let Some(file) = &arguments.allow else { return Ok(Allowed::default()) };
    let text = fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", display(file)))?;
    Allowed::parse(&text).map_err(|error| format!("{}: {error}", display(file)))
}
