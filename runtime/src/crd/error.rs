//! Errors of upgrades and migrations.

use std::fmt;

use kubesmith_apiextensions::diff::Change;

use super::Objects;
use crate::cache::ObjectKey;
use crate::client;

/// The failure of an upgrade, a migration or a read of a definition. The [module](super) has an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrdError {
    /// A request failed. Running the same call again continues where it stopped.
    #[error(transparent)]
    Request(#[from] client::Error),
    /// The operator has no name.
    #[error("the operator has no name: give it one, which is recorded on its definitions")]
    Unnamed,
    /// The name of the operator has line breaks or control characters.
    #[error("the operator's name {operator:?} has a line break or control character: remove it")]
    OperatorName {
        /// The name.
        operator: String,
    },
    /// The version of the operator cannot be ordered.
    #[error("the operator's version {version:?} is not a semantic version ({reason}): write it as 1.2.3")]
    Version {
        /// The version.
        version: String,
        /// Its fault.
        reason: String,
    },
    /// A manifest is no definition, or one that no server takes.
    #[error("{name} cannot be installed: {reason}")]
    Definition {
        /// The definition's name, or its place among the manifests.
        name: String,
        /// Its fault.
        reason: String,
    },
    /// Upgrades that would break objects or clients. Nothing was written.
    #[error("{}", refused(.0))]
    Refused(Vec<Refusal>),
    /// Another operator owns the definition. Nothing was written.
    #[error("{name} belongs to the operator {operator:?}: remove that operator, or take over the definition")]
    Owned {
        /// The definition.
        name: String,
        /// Its owner.
        operator: String,
    },
    /// A newer operator owns the definition, which lacks versions that this one needs. Nothing was written.
    #[error(
        "{name} belongs to version {version} of the operator, and does not serve {}: run that version, or downgrade \
         the definition", .missing.join(", ")
    )]
    Newer {
        /// The definition.
        name: String,
        /// The version of the operator that owns it.
        version: String,
        /// The versions of the API that it does not serve.
        missing: Vec<String>,
    },
    /// The definition records a version of the operator that cannot be ordered. Nothing was written.
    #[error(
        "{name} belongs to version {version:?} of the operator, which is not a semantic version and may be newer: \
         downgrade the definition to replace it, after a check of all objects"
    )]
    OwnerVersion {
        /// The definition.
        name: String,
        /// The recorded version.
        version: String,
    },
    /// The definition is being deleted, and was not gone in time. Nothing was written.
    #[error(
        "{name} is being deleted with all its objects, and is still there: objects with finalizers wait for their \
         controllers; when they are gone, run the same call again"
    )]
    Deleting {
        /// The definition.
        name: String,
    },
    /// A server would refuse to put the old definition back. Nothing was written.
    #[error("the upgrade of {name} cannot be rolled back:{}", lines(.changes))]
    OneWay {
        /// The definition.
        name: String,
        /// The obstacle.
        changes: Vec<Change>,
    },
    /// The server does not establish the definition.
    #[error("{name} is not established: {reason}")]
    NotEstablished {
        /// The definition.
        name: String,
        /// The server's response.
        reason: String,
    },
    /// The cluster has no such definition.
    #[error("the cluster has no definition {name}: install it first")]
    Missing {
        /// The definition.
        name: String,
    },
    /// The definition was changed during a migration. Rewritten objects stay so; run it again.
    #[error("{name} changed during its migration: run the migration again")]
    Changed {
        /// The definition.
        name: String,
    },
    /// Objects could not be rewritten. The others are, and the definition keeps all of its stored versions.
    #[error("{total} objects of {name} cannot be rewritten to {storage}:{}", listed(.failed, *.total))]
    Unmigrated {
        /// The definition.
        name: String,
        /// The version that they should be stored in.
        storage: String,
        /// The first 100 of them.
        failed: Vec<Failed>,
        /// The number of them.
        total: u64,
    },
}

/// A definition whose upgrade is refused, and why. The [module](super) has an example.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The definition.
    pub name: String,
    /// The breaking changes.
    pub changes: Vec<Change>,
    /// The result for the stored objects, if they were checked.
    pub objects: Option<Objects>,
}

/// An object that could not be rewritten. The [module](super) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The object.
    pub object: ObjectKey,
    /// The server's words.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the upgrade of {} is refused:{}", self.name, lines(&self.changes))?;
        let Some(objects) = &self.objects else { return Ok(()) };
        for broken in &objects.broken {
            let (version, errors) = (&broken.version, broken.errors.join(", "));
            write!(f, "\n  object {} is not valid in {version}: {errors}", broken.object)?;
        }
        let untold = objects.broken_total.saturating_sub(objects.broken.len() as u64);
        if untold > 0 {
            write!(f, "\n  {untold} more objects are not valid")?;
        }
        for field in &objects.dropped {
            let (version, count) = (&field.version, field.objects);
            write!(f, "\n  field {} is dropped in {version}; objects that use it: {count}, ", field.path)?;
            write!(f, "the first is {}", field.example)?;
        }
        if objects.dropped_more > 0 {
            write!(f, "\n  other fields are dropped, too; uses of them: {}", objects.dropped_more)?;
        }
        Ok(())
    }
}

fn refused(refusals: &[Refusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn lines(changes: &[Change]) -> String {
    changes.iter().map(|change| format!("\n  {change}; {}", change.code.rule().help)).collect()
}

fn listed(failed: &[Failed], total: u64) -> String {
    let lines = failed.iter().map(|failed| format!("\n  {}: {}", failed.object, failed.reason));
    let mut out: String = lines.collect();
    let untold = total.saturating_sub(failed.len() as u64);
    if untold > 0 {
        out.push_str(&format!("\n  and {untold} more"));
    }
    out
}
