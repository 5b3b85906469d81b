//! The status of a definition, and the next step.

use serde_json::Value;

use super::cluster::{Cluster, Collection, PAGE};
use super::mark::Mark;
use super::owner::Owner;
use super::{CrdError, judge};

/// The status of a definition in a cluster. The [module](super) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The definition.
    pub name: String,
    /// The operator that owns it, and its version, if they are recorded.
    pub owner: Option<(String, String)>,
    /// The reason why the server does not serve it; `None` if it does.
    pub not_established: Option<String>,
    /// The versions, in the definition's order.
    pub versions: Vec<VersionStatus>,
    /// The last object that an unfinished migration has rewritten.
    pub migrated_to: Option<String>,
    /// The next steps in the life of its versions, as sentences.
    pub advice: Vec<String>,
}

/// The status of a definition's version, in [`Status`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionStatus {
    /// The version.
    pub name: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether objects are written in it.
    pub storage: bool,
    /// Whether objects may be stored in it.
    pub stored: bool,
    /// Whether clients get a warning about it.
    pub deprecated: bool,
}

/// Reads the status of a definition.
///
/// # Errors
/// Returns [`CrdError::Missing`] if it does not exist, or the error of a request.
///
/// # Cancel safety
/// Nothing is written.
pub async fn status(client: &kube::Client, name: &str) -> Result<Status, CrdError> {
    let found = Cluster(client).definition(name).await?;
    let found = found.ok_or_else(|| CrdError::Missing { name: name.to_owned() })?;
    let definition =
        judge::read(&found).map_err(|reason| CrdError::Definition { name: name.to_owned(), reason })?;
    let stored = stored_versions(&found);
    let versions = found["spec"]["versions"].as_array().into_iter().flatten();
    let versions: Vec<VersionStatus> = versions
        .map(|version| VersionStatus {
            name: version["name"].as_str().unwrap_or_default().to_owned(),
            served: version["served"] == true,
            storage: version["storage"] == true,
            stored: version["name"].as_str().is_some_and(|name| stored.contains(&name)),
            deprecated: version["deprecated"] == true,
        })
        .collect();
    let not_established = not_established(&found);
    let group = found["spec"]["group"].as_str().unwrap_or_default();
    let preferred = Cluster(client).preferred(group).await?;
    Ok(Status {
        name: name.to_owned(),
        owner: Owner::of(&found).map(|owner| (owner.operator, owner.version)),
        advice: advice(name, &versions, &preferred, not_established.as_deref(), definition.has_webhook()),
        not_established,
        migrated_to: Mark::of(&found).filter(|_| stored.len() > 1).map(|mark| mark.after),
        versions,
    })
}

/// The names of the definitions that record an operator, in order. [`Upgrade`](super::Upgrade) records it.
///
/// # Errors
/// Returns the error of a request.
///
/// # Cancel safety
/// Nothing is written.
pub async fn owned(client: &kube::Client) -> Result<Vec<String>, CrdError> {
    let (definitions, mut names, mut next) = (Collection::definitions(), Vec::new(), String::new());
    loop {
        let page = Cluster(client).metadata(&definitions, PAGE, &next).await?;
        let owned = page.items.iter().filter(|definition| Owner::of(definition).is_some());
        names
            .extend(owned.filter_map(|definition| Some(definition["metadata"]["name"].as_str()?.to_owned())));
        next = page.next;
        if next.is_empty() {
            return Ok(names);
        }
    }
}

/// Versions in which objects may be stored.
pub(super) fn stored_versions(definition: &Value) -> Vec<&str> {
    let list = definition.pointer("/status/storedVersions").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Reports whether a definition is being deleted.
pub(super) fn is_deleted(definition: &Value) -> bool {
    definition["metadata"]["deletionTimestamp"].is_string()
}

/// Returns the server's reason for not serving a definition; `None` if it serves it.
pub(super) fn not_established(definition: &Value) -> Option<String> {
    if is_deleted(definition) {
        return Some("it is being deleted, with all its objects".to_owned());
    }
    let conditions = definition.pointer("/status/conditions").and_then(Value::as_array);
    let find = |kind: &str| conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    let said = |condition: &Value| condition["message"].as_str().unwrap_or_default().to_owned();
    match (find("NamesAccepted"), find("Established")) {
        (Some(names), _) if names["status"] == "False" => Some(said(names)),
        (_, Some(established)) if established["status"] == "True" => None,
        (_, Some(established)) => Some(said(established)),
        _ => Some("the server has not looked at it yet".to_owned()),
    }
}

/// The next steps: a version is introduced, the old one deprecated, the new one stored, and the old one is migrated from, no
/// longer served, and removed.
fn advice(
    name: &str,
    versions: &[VersionStatus],
    preferred: &[String],
    not_established: Option<&str>,
    has_webhook: bool,
) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(reason) = not_established {
        out.push(format!("the server does not serve {name}: {reason}"));
    }
    let stored_in = versions.iter().find(|version| version.storage);
    let storage = stored_in.map_or("", |version| &version.name);
    let rank = |name: &str| preferred.iter().position(|other| other == name);
    let newest = versions.iter().filter_map(|version| rank(&version.name)).min();
    for version in versions.iter().filter(|version| !version.storage) {
        let own = &version.name;
        out.extend(if version.stored {
            Some(format!("objects may be stored in {own}: run `kubesmith crd migrate {name}`"))
        } else if !version.served {
            Some(format!("{own} is neither served nor stored: remove it from the definition"))
        } else if version.deprecated {
            Some(format!(
                "{own} is deprecated and not stored: when no client asks for it, set `served: false`, and apply the \
                 definition with `--allow version-unserved`"
            ))
        } else {
            match (rank(own), rank(storage)) {
                (Some(own_rank), Some(storage_rank)) if own_rank < storage_rank && Some(own_rank) > newest => None,
                (Some(own_rank), Some(storage_rank))
                    if own_rank < storage_rank && stored_in.is_some_and(|version| !version.deprecated) =>
                {
                    Some(format!(
                        "{storage} is older than {own}, which is served: set `deprecated: true`, so that the server warns its clients, \
                         and apply the definition"
                    ))
                }
                (Some(own_rank), Some(storage_rank)) if own_rank < storage_rank => Some(format!(
                    "{own} is served, and objects are stored in {storage}: when a release that serves {own} is everywhere, move \
                     `storage: true` from {storage} to {own}, and apply the definition"
                )),
                (Some(_), Some(_)) => Some(format!(
                    "{own} is served and not stored: to retire it, set `deprecated: true`, apply the definition, and have clients \
                     move to {storage}"
                )),
                _ => None,
            }
        });
    }
    if has_webhook && versions.len() == 1 {
        out.push(format!("{storage} is the only version: remove the conversion webhook"));
    }
    out
}
