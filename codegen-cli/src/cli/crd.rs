//! `kubesmith crd`

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, value_parser};
use kubesmith_apimachinery::decode;
use kubesmith_core::book;
use kubesmith_runtime::crd::{
    Action, ChangeCode, Class, CrdError, Migrated, Migration, Outcome, Progress, Rewrite, Status, Upgrade,
    VersionStatus, owned, status,
};
use serde_json::Value;

use super::{Exit, print};
use crate::cluster::{self, Access, ClusterError};
use crate::diag;
use crate::notice::Notice;
use crate::paths::display;

/// The limit of objects that a dry run of a migration names.
const SHOWN: usize = 20;

#[derive(Debug, Subcommand)]
pub(super) enum Crd {
    /// Installs or upgrades CRDs, after a check of their changes and, on request, of the stored objects.
    ///
    /// Exit codes: 0 all CRDs are installed, 1 an upgrade is refused or fails, 2 invalid usage.
    Apply(Apply),
    /// Shows the served and stored versions of CRDs, their owner, and the next step of a version change.
    ///
    /// Without names, shows all CRDs that `kubesmith crd apply` or an operator has installed. Exit codes: 0 the CRDs are
    /// shown, 1 one of them does not exist or cannot be read, 2 invalid usage.
    Status(Shown),
    /// Rewrites all objects in the storage version, and removes the other versions from status.storedVersions.
    ///
    /// To continue an interrupted migration, run the command again. Exit codes: 0 all objects are rewritten, 1 some are
    /// not, 2 invalid usage.
    Migrate(Migrate),
}

#[derive(Debug, Args)]
pub(super) struct Apply {
    /// Files with CRDs, folders of such files, or `-` for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The operator that owns the CRDs.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    operator: String,
    /// The operator's version, such as 1.2.3. CRDs of newer versions are not changed.
    #[arg(long, value_name = "VERSION")]
    operator_version: String,
    /// Validates all stored objects against the new schemas, and accepts schema changes if all objects are valid.
    #[arg(long)]
    check_objects: bool,
    #[arg(long, value_name = "CODE", value_parser = code, help = concat!("Allows changes with this code; ", book!("reference/diff.md"), " lists the codes"))]
    allow: Vec<ChangeCode>,
    /// Refuses an upgrade if a server would refuse the old CRD afterwards.
    #[arg(long)]
    keep_way_back: bool,
    /// Replaces CRDs of newer versions of the operator, or of versions that cannot be ordered, after a check of all stored objects.
    #[arg(long)]
    downgrade: bool,
    /// Replaces CRDs of other operators.
    #[arg(long)]
    take_over: bool,
    /// Writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// Seconds to wait until the server has established a CRD, or has deleted one that is being deleted.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub(super) struct Named {
    /// Names of CRDs, such as widgets.example.com.
    #[arg(required = true, value_name = "NAME", value_parser = name)]
    names: Vec<String>,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub(super) struct Shown {
    /// Names of CRDs, such as widgets.example.com; default: all that record an owner.
    #[arg(value_name = "NAME", value_parser = name)]
    names: Vec<String>,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub(super) struct Migrate {
    #[command(flatten)]
    named: Named,
    /// Maximum number of objects to rewrite per second.
    #[arg(long, value_name = "OBJECTS", default_value_t = 100, value_parser = value_parser!(u32).range(1..))]
    rate: u32,
    /// Writes nothing; the server still converts and validates every object. Names the fields that objects would lose or gain.
    #[arg(long)]
    dry_run: bool,
}

/// The reason why the command ends.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Crd(#[from] CrdError),
    #[error("{0}")]
    Input(String),
    #[error(transparent)]
    Output(#[from] io::Error),
    /// The failures are printed already.
    #[error("some definitions failed")]
    Printed,
}

fn code(text: &str) -> Result<ChangeCode, String> {
    ChangeCode::parse(text).ok_or_else(|| format!("no such code; {} lists them", book!("reference/diff.md")))
}

/// Parses a definition's name; a path is a likely mistake, since `apply` takes files.
fn name(text: &str) -> Result<String, String> {
    match kubesmith_apimachinery::names::dns1123_subdomain(text).is_empty() {
        true => Ok(text.to_owned()),
        false => Err("write the name of a definition, such as widgets.example.com".to_owned()),
    }
}

/// Runs the command.
pub(super) fn run(command: &Crd) -> io::Result<Exit> {
    let notice = Notice::of("waiting for the cluster".to_owned());
    let done = match command {
        Crd::Apply(arguments) => apply(arguments),
        Crd::Status(arguments) => show(arguments),
        Crd::Migrate(arguments) => migrate_all(arguments),
    };
    drop(notice);
    match done {
        Ok(text) => {
            print(&text)?;
            Ok(Exit::Fine)
        }
        Err(Failure::Output(error)) => Err(error),
        Err(Failure::Printed) => Ok(Exit::Failed),
        Err(failure) => {
            print_failure(&failure);
            Ok(Exit::Failed)
        }
    }
}

fn print_failure(failure: &Failure) {
    let mut text = format!("error: {}\n", diag::printable(&failure.to_string()));
    if let Failure::Cluster(error) = failure {
        text.push_str(&format!("  = help: {}\n", error.help()));
    }
    diag::print_to_stderr(&text);
}

fn apply(arguments: &Apply) -> Result<String, Failure> {
    let definitions = manifests(&arguments.paths)?;
    let mut upgrade = Upgrade::new(&arguments.operator, &arguments.operator_version)
        .timeout(Duration::from_secs(arguments.timeout));
    for (is_set, option) in [
        (arguments.check_objects, Upgrade::check_objects as fn(Upgrade) -> Upgrade),
        (arguments.keep_way_back, Upgrade::keep_way_back),
        (arguments.downgrade, Upgrade::downgrade),
        (arguments.take_over, Upgrade::take_over),
        (arguments.dry_run, Upgrade::dry_run),
    ] {
        if is_set {
            upgrade = option(upgrade);
        }
    }
    upgrade = arguments.allow.iter().fold(upgrade, |upgrade, code| upgrade.allow(*code));
    cluster::with_client(&arguments.access, async |client| {
        let outcomes = upgrade.apply(client, &definitions).await?;
        Ok(outcomes.iter().map(|outcome| told(outcome, arguments.dry_run)).collect())
    })
}

/// The report on a definition's upgrade.
fn told(outcome: &Outcome, dry_run: bool) -> String {
    let would = if dry_run && outcome.action != Action::Unchanged { "would be " } else { "" };
    let mut out = format!("{}: {would}{}\n", outcome.name, outcome.action);
    for change in &outcome.changes {
        let rule = change.code.rule();
        // Some compatible changes need a step too.
        let step = match rule.class {
            Class::Compatible if !rule.help.is_empty() => format!(": {}; {}", rule.reason, rule.help),
            _ => String::new(),
        };
        out.push_str(&format!("  {change}{step}\n"));
    }
    if let Some(objects) = &outcome.objects {
        out.push_str(&format!("  checked objects: {}\n", objects.checked));
        for field in &objects.dropped {
            out.push_str(&format!(
                "  field {} is dropped in {}; objects that use it: {}, the first is {}\n",
                field.path, field.version, field.objects, field.example
            ));
        }
        if objects.dropped_more > 0 {
            out.push_str(&format!(
                "  other fields are dropped, too; uses of them: {}\n",
                objects.dropped_more
            ));
        }
        for version in &objects.unchecked {
            out.push_str(&format!("  no object could be checked in {version}\n"));
        }
    }
    if !outcome.way_back.is_empty() {
        out.push_str("  a rollback to the old definition would break:\n");
        outcome.way_back.iter().for_each(|change| out.push_str(&format!("    {change}\n")));
    }
    out
}

async fn migrate(arguments: &Migrate, client: &kube::Client, name: &str) -> Result<String, Failure> {
    let mut migration = Migration::new(name).rate(arguments.rate);
    if arguments.dry_run {
        migration = migration.dry_run();
    }
    let show = |progress: &Progress| {
        let left = progress
            .left
            .filter(|left| *left > 0)
            .map(|left| format!(", about {left} left"))
            .unwrap_or_default();
        let Progress { done, failed, .. } = progress;
        diag::print_to_stderr(&format!("{name}: {done} objects done, {failed} failed{left}\n"));
    };
    let done = migration.run(client, show).await?;
    let would = if arguments.dry_run { "would be " } else { "" };
    let pruned = match done.pruned.as_slice() {
        [] => format!("{} is the only stored version", done.storage),
        pruned => format!("{} {would}removed from status.storedVersions", pruned.join(", ")),
    };
    let earlier = match done.skipped {
        0 => String::new(),
        skipped => format!(" ({skipped} by an earlier run)"),
    };
    let mut out = format!("{name}: {} objects {would}rewritten{earlier}; {pruned}\n", done.rewritten);
    if arguments.dry_run {
        out.push_str(&changes(&done));
    }
    Ok(out)
}

/// The objects that a rewrite would change, and their fields.
fn changes(done: &Migrated) -> String {
    let mut out = String::new();
    for change in done.changes.iter().take(SHOWN) {
        let Rewrite { object, lost, changed, added, more, .. } = change;
        let fields = [("loses", lost), ("changes", changed), ("gains", added)];
        let fields = fields.iter().filter(|(_, fields)| !fields.is_empty());
        let mut parts: Vec<String> =
            fields.map(|(verb, fields)| format!("{verb} {}", fields.join(", "))).collect();
        if *more {
            parts.push("and more fields".to_owned());
        }
        out.push_str(&format!("  {object} {}\n", diag::printable(&parts.join("; "))));
    }
    match done.changes_total.saturating_sub(done.changes.len().min(SHOWN) as u64) {
        0 if done.compared.is_empty() => {
            out.push_str("  no field was compared, as the storage version is not served\n");
        }
        0 if done.changes_total + done.uncompared == 0 => {
            out.push_str("  no field would be lost or changed\n");
        }
        0 => {}
        more => out.push_str(&format!("  {more} more objects would change\n")),
    }
    if done.uncompared > 0 {
        let Migrated { uncompared, rewritten, .. } = done;
        out.push_str(&format!(
            "  {uncompared} of {rewritten} objects were not compared: this needs the verb `get` on them, which is forbidden\n"
        ));
    }
    out
}

fn shown(status: &Status) -> String {
    let mut out = format!("{}\n", status.name);
    if let Some((operator, version)) = &status.owner {
        // Another client may have written line breaks.
        let (operator, version) = (operator.escape_debug(), version.escape_debug());
        out.push_str(&format!("  owner: {operator} {version}\n"));
    }
    for version in &status.versions {
        let VersionStatus { name, served, storage, stored, deprecated, .. } = version;
        let words = [
            (*served, "served"),
            (*storage, "storage version"),
            (*stored && !*storage, "objects may be stored in it"),
            (*deprecated, "deprecated"),
        ];
        let words: Vec<&str> = words.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| *word).collect();
        out.push_str(&format!(
            "  {name}: {}\n",
            if words.is_empty() { "not served".to_owned() } else { words.join(", ") }
        ));
    }
    if let Some(after) = &status.migrated_to {
        out.push_str(&format!("  a migration has rewritten the objects up to {after}\n"));
    }
    status.advice.iter().for_each(|advice| out.push_str(&format!("  next: {advice}\n")));
    out
}

fn show(arguments: &Shown) -> Result<String, Failure> {
    cluster::with_client(&arguments.access, async |client| {
        let names = match arguments.names.is_empty() {
            true => owned(client).await?,
            false => arguments.names.clone(),
        };
        if names.is_empty() {
            return Ok("no CRD of the cluster records an owner\n".to_owned());
        }
        each(client, &names, &async |client, name| Ok(shown(&status(client, name).await?))).await
    })
}

fn migrate_all(arguments: &Migrate) -> Result<String, Failure> {
    let Named { names, access } = &arguments.named;
    cluster::with_client(access, async |client| {
        each(client, names, &async |client, name| migrate(arguments, client, name).await).await
    })
}

/// Runs an action for each definition, and prints each result at once. A failure does not keep the others from their turn.
async fn each(
    client: &kube::Client,
    names: &[String],
    run: &impl AsyncFn(&kube::Client, &str) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let mut is_complete = true;
    for name in names {
        match run(client, name).await {
            Ok(text) => print(&text)?,
            Err(failure) => {
                is_complete = false;
                print_failure(&failure);
            }
        }
    }
    if is_complete { Ok(String::new()) } else { Err(Failure::Printed) }
}

/// The definitions of files and folders.
fn manifests(paths: &[PathBuf]) -> Result<Vec<Value>, Failure> {
    let mut out = Vec::new();
    for path in paths {
        let before = out.len();
        for (name, text) in texts(path)? {
            for document in serde_yaml::Deserializer::from_str(&text) {
                let broken = |error| Failure::Input(format!("{name} cannot be read: {error}"));
                // As kubectl reads it: in YAML 1.1, `yes` is a boolean.
                definitions(decode::read(document, Some(&text), &mut ()).map_err(broken)?, &mut out);
            }
        }
        if out.len() == before {
            return Err(Failure::Input(format!("{} has no CustomResourceDefinition", display(path))));
        }
    }
    Ok(out)
}

/// The definitions in an object: itself, or the items of a list.
fn definitions(mut object: Value, out: &mut Vec<Value>) {
    match object.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items.into_iter().for_each(|item| definitions(item, out)),
        _ if object["kind"] == "CustomResourceDefinition" => out.push(object),
        _ => {}
    }
}

/// The texts of a file, of the manifests in a folder, or of standard input.
fn texts(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let unreadable = |error: io::Error| Failure::Input(format!("cannot read {}: {error}", display(path)));
    if path.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        return Ok(vec![("standard input".to_owned(), text)]);
    }
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = fs::read_dir(path).map_err(unreadable)?;
        files = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<_>>()
            .map_err(unreadable)?;
        files.retain(|file| {
            file.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json")
        });
        files.sort();
    }
    let read = |file: PathBuf| Ok((display(&file), fs::read_to_string(&file).map_err(unreadable)?));
    files.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_as_kubectl_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("crds.yaml");
        let text =
            "kind: CustomResourceDefinition\nspec: {preserve: yes, mode: 0644}\n---\nkind: Namespace\n";
        fs::write(&file, text).unwrap();
        let found = manifests(&[file]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["spec"], serde_json::json!({"preserve": true, "mode": 420}));
    }
}
