//! Rewrites the objects of a definition to its storage version.
//!
//! The migration leaves a [`Mark`] on the definition after each page of objects. A migration that starts again skips the
//! objects up to the mark.

use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::CrdError;
use super::cluster::{Cluster, Collection, PAGE, Page, TRIES, key, patiently};
use super::error::Failed;
use super::mark::{MARK, Mark};
use super::rewrite::Rewrite;
use super::status::{not_established, stored_versions};
use crate::cache::ObjectKey;
use crate::client;

const MANAGER: &str = "kubesmith-crd-migration";
/// The default rate of rewritten objects per second.
const RATE: u32 = 100;
/// The part of the rate that can be caught up after a pause.
const CREDIT: Duration = Duration::from_millis(100);
/// The number of objects rewritten concurrently.
const AT_ONCE: usize = 8;
/// The limit of failed objects that a report names.
const TOLD: usize = 100;

/// A migration of the objects of a definition to its storage version. The [module](super) has an example.
///
/// Every object is written again as it is; webhooks see the writes. Then `status.storedVersions` is reduced to the storage
/// version, so that the definition may drop the others. With several API servers, let all of them see a new storage version
/// before: wait some seconds after the upgrade.
#[derive(Clone, Debug)]
pub struct Migration {
    name: String,
    rate: u32,
    page: u32,
    dry_run: bool,
}

/// The progress of a migration. The [module](super) has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of finished objects, including failed ones.
    pub done: u64,
    /// The number of objects that an earlier run had finished.
    pub skipped: u64,
    /// The number of objects that could not be rewritten.
    pub failed: u64,
    /// The approximate number of remaining objects, if the server reports it.
    pub left: Option<u64>,
}

/// A migration that is done. The [module](super) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The storage version.
    pub storage: String,
    /// The number of objects that were rewritten, or changed by others meanwhile, or deleted.
    pub rewritten: u64,
    /// The number of objects that an earlier run had rewritten.
    pub skipped: u64,
    /// The versions that were removed from `status.storedVersions`, or would be.
    pub pruned: Vec<String>,
    /// The objects whose contents a rewrite would change, the first 100; found by a [dry run](Migration::dry_run).
    pub changes: Vec<Rewrite>,
    /// The number of them.
    pub changes_total: u64,
    /// The versions in which a dry run compared the objects; none if the storage version is not served.
    pub compared: Vec<String>,
    /// The number of objects that a dry run could not compare, as the server forbids `get` on them.
    pub uncompared: u64,
}

impl Migration {
    /// A migration of the objects of the definition with this name, such as `widgets.example.com`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), rate: RATE, page: PAGE, dry_run: false }
    }

    /// Sets the limit of rewritten objects per second; 100 by default, and 1 for 0.
    #[must_use]
    pub fn rate(mut self, objects_per_second: u32) -> Self {
        self.rate = objects_per_second.max(1);
        self
    }

    /// Sets the number of objects in a page; 500 by default, and 1 for 0. An interrupted run repeats less than a
    /// page.
    #[must_use]
    pub fn page(mut self, objects: u32) -> Self {
        self.page = objects.max(1);
        self
    }

    /// Writes nothing. The server converts and checks every object, and [`Migrated::changes`] lists the fields that the rewrite of
    /// an object would lose or change. This needs the verb `get` on the objects; [`Migrated::uncompared`] counts those without it.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Rewrites the objects. `progress` is called after each page.
    ///
    /// # Errors
    /// [`CrdError::Unmigrated`] if objects could not be rewritten: the others are, and `status.storedVersions` is as before.
    /// [`CrdError::Changed`] if the definition was changed meanwhile. Failed requests. Another call continues after the last page
    /// that was done.
    ///
    /// # Cancel safety
    /// Dropping the future leaves each object as it was or rewritten. Another call continues.
    pub async fn run(
        &self,
        client: &kube::Client,
        mut progress: impl FnMut(&Progress),
    ) -> Result<Migrated, CrdError> {
        let cluster = Cluster(client);
        let definition = self.definition(&cluster).await?;
        if let Some(reason) = not_established(&definition) {
            return Err(CrdError::NotEstablished { name: self.name.clone(), reason });
        }
        let storage = storage(&definition).to_owned();
        let done = |run: Run<'_>, pruned| Migrated {
            storage: storage.clone(),
            rewritten: run.progress.done - run.progress.skipped,
            skipped: run.progress.skipped,
            pruned,
            changes: run.changes,
            changes_total: run.changes_total,
            uncompared: run.uncompared,
            compared: run.compared.into_iter().map(|one| one.version).collect(),
        };
        let mut run = Run::new(self, &definition);
        if stored_versions(&definition) == [storage.as_str()] {
            // A run that was killed after it pruned the versions left its mark.
            if !self.dry_run && definition["metadata"]["annotations"].get(MARK).is_some() {
                self.unmark(&cluster).await?;
            }
            return Ok(done(run, Vec::new()));
        }
        run.pages(&cluster, &definition, &mut progress).await?;
        if run.progress.failed > 0 {
            let (failed, total) = (run.failed, run.progress.failed);
            return Err(CrdError::Unmigrated { name: self.name.clone(), storage, failed, total });
        }
        let pruned = self.prune(&cluster, &definition, &storage).await?;
        Ok(done(run, pruned))
    }

    async fn definition(&self, cluster: &Cluster<'_>) -> Result<Value, CrdError> {
        let found = cluster.definition(&self.name).await?;
        found.ok_or_else(|| CrdError::Missing { name: self.name.clone() })
    }

    /// Reduces `status.storedVersions` to the storage version, unless the definition was changed since `before`.
    async fn prune(
        &self,
        cluster: &Cluster<'_>,
        before: &Value,
        storage: &str,
    ) -> Result<Vec<String>, CrdError> {
        let identity = |definition: &Value| {
            let metadata = &definition["metadata"];
            (metadata["uid"].clone(), metadata["generation"].clone())
        };
        for attempt in 0.. {
            let now = self.definition(cluster).await?;
            if identity(&now) != identity(before) {
                break;
            }
            let stored = stored_versions(&now).into_iter().filter(|name| *name != storage);
            let stored: Vec<String> = stored.map(str::to_owned).collect();
            if self.dry_run {
                return Ok(stored);
            }
            let patch = Patch::Merge(json!({
                "metadata": {"resourceVersion": now["metadata"]["resourceVersion"]},
                "status": {"storedVersions": [storage]},
            }));
            match cluster.patch_definition(&self.name, Some("status"), &params(false), &patch).await {
                Err(error) if error.is_conflict() && attempt < TRIES => {}
                Err(error) => return Err(error.into()),
                Ok(_) => {
                    self.unmark(cluster).await?;
                    return Ok(stored);
                }
            }
        }
        Err(CrdError::Changed { name: self.name.clone() })
    }

    /// Removes the mark of the progress.
    async fn unmark(&self, cluster: &Cluster<'_>) -> Result<(), CrdError> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {MARK: null}}}));
        cluster.patch_definition(&self.name, None, &params(false), &patch).await?;
        Ok(())
    }
}

fn params(dry_run: bool) -> PatchParams {
    PatchParams { dry_run, field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() }
}

fn storage(definition: &Value) -> &str {
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let storage = versions.into_iter().find(|version| version["storage"] == true);
    storage.and_then(|version| version["name"].as_str()).unwrap_or_default()
}

/// The versions that objects can be listed in, the storage version first. Objects that do not convert to one of them may be
/// listed in another.
fn collections(definition: &Value) -> Vec<Collection> {
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let mut served: Vec<&Value> = versions.filter(|version| version["served"] == true).collect();
    served.sort_by_key(|version| version["storage"] != true);
    let names = served.into_iter().filter_map(|version| version["name"].as_str());
    names.map(|name| Collection::of(definition, name)).collect()
}

/// The versions in which a dry run reads an object, to compare it with what would be stored. If the server converts by changing
/// `apiVersion`, these are all versions that the object may be stored in: each shows other fields. A webhook names fields anew, so
/// only the storage version can be compared.
fn compared(definition: &Value) -> Vec<Collection> {
    let mut collections = collections(definition);
    let storage = storage(definition);
    let is_plain =
        definition.pointer("/spec/conversion/strategy").is_none_or(|strategy| strategy != "Webhook");
    let stored = stored_versions(definition);
    // The answer of the server is in the first version, which is another one only if the storage version is not served.
    let knows_storage = collections.first().is_some_and(|first| first.version == storage);
    collections.retain(|one| one.version == storage || is_plain && stored.contains(&one.version.as_str()));
    if knows_storage { collections } else { Vec::new() }
}

/// The state of a migration that runs.
struct Run<'a> {
    migration: &'a Migration,
    uid: String,
    generation: i64,
    /// The progress of an earlier run.
    earlier: Option<Mark>,
    progress: Progress,
    failed: Vec<Failed>,
    /// The versions to compare an object in; none unless nothing is written.
    compared: Vec<Collection>,
    changes: Vec<Rewrite>,
    changes_total: u64,
    uncompared: u64,
    /// The time from which the next object may be rewritten.
    due: Instant,
}

impl<'a> Run<'a> {
    fn new(migration: &'a Migration, definition: &Value) -> Self {
        Self {
            migration,
            uid: definition["metadata"]["uid"].as_str().unwrap_or_default().to_owned(),
            generation: definition["metadata"]["generation"].as_i64().unwrap_or_default(),
            earlier: Mark::of(definition),
            progress: Progress::default(),
            failed: Vec::new(),
            compared: if migration.dry_run { compared(definition) } else { Vec::new() },
            changes: Vec::new(),
            changes_total: 0,
            uncompared: 0,
            due: Instant::now(),
        }
    }

    async fn pages(
        &mut self,
        cluster: &Cluster<'_>,
        definition: &Value,
        progress: &mut impl FnMut(&Progress),
    ) -> Result<(), CrdError> {
        let collections = collections(definition);
        let writes = collections.first().ok_or_else(|| self.unserved())?;
        let mut page = self.list(cluster, &collections, "").await?;
        loop {
            let last = page.items.last().map(|object| text(&key(object)));
            self.page(cluster, writes, &page.items).await?;
            self.progress.left = if page.next.is_empty() { Some(0) } else { page.remaining };
            progress(&self.progress);
            if let Some(after) = last {
                self.mark(cluster, after).await?;
            }
            if page.next.is_empty() {
                return Ok(());
            }
            page = self.list(cluster, &collections, &page.next).await?;
        }
    }

    /// A page in the first version that its objects can be listed in: those of one page may not convert to the storage version.
    /// `next` is the same for all versions, as they share one place in the server's storage.
    async fn list(
        &self,
        cluster: &Cluster<'_>,
        collections: &[Collection],
        next: &str,
    ) -> Result<Page, CrdError> {
        let mut failed = None;
        for collection in collections {
            match cluster.metadata(collection, self.migration.page, next).await {
                Ok(page) => return Ok(page),
                Err(error) if error.status().is_some_and(|status| status.code >= 500) => {
                    failed.get_or_insert(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(failed.map_or_else(|| self.unserved(), CrdError::from))
    }

    fn unserved(&self) -> CrdError {
        let reason = "it serves no version".to_owned();
        CrdError::NotEstablished { name: self.migration.name.clone(), reason }
    }

    async fn page(
        &mut self,
        cluster: &Cluster<'_>,
        writes: &Collection,
        items: &[Value],
    ) -> Result<(), CrdError> {
        let compared = self.compared.clone();
        let mut running = FuturesUnordered::new();
        for object in items {
            if self.earlier.as_ref().is_some_and(|mark| mark.covers(&key(object))) {
                self.progress.done += 1;
                self.progress.skipped += 1;
                continue;
            }
            // A server that was slow for a while is not made up for.
            let due = self.due.max(Instant::now().checked_sub(CREDIT).unwrap_or(self.due));
            let mut pause = pin!(tokio::time::sleep_until(due));
            // Requests make no progress unless they are polled.
            loop {
                tokio::select! {
                    biased;
                    Some(result) = running.next() => self.count(result?),
                    () = &mut pause => break,
                }
            }
            self.due = due + Duration::from_secs(1) / self.migration.rate;
            running.push(rewritten(cluster, writes, object, self.migration.dry_run.then_some(&compared[..])));
            if running.len() >= AT_ONCE
                && let Some(result) = running.next().await
            {
                self.count(result?);
            }
        }
        while let Some(result) = running.next().await {
            self.count(result?);
        }
        Ok(())
    }

    fn count(&mut self, result: Result<Effect, Failed>) {
        self.progress.done += 1;
        match result {
            Ok(Effect::Same) => {}
            Ok(Effect::Unknown) => self.uncompared += 1,
            Ok(Effect::Change(change)) => {
                self.changes_total += 1;
                if self.changes.len() < TOLD {
                    self.changes.push(change);
                }
            }
            Err(failed) => {
                self.progress.failed += 1;
                if self.failed.len() < TOLD {
                    self.failed.push(failed);
                }
            }
        }
    }

    /// Leaves a mark, unless more objects failed than it can name, or an earlier run has come further.
    async fn mark(&self, cluster: &Cluster<'_>, after: String) -> Result<(), CrdError> {
        let is_known = self.earlier.as_ref().is_some_and(|mark| after <= mark.after);
        if self.migration.dry_run || self.progress.failed > self.failed.len() as u64 || is_known {
            return Ok(());
        }
        let failed = self.failed.iter().map(|failed| text(&failed.object)).collect();
        let mark = Mark { uid: self.uid.clone(), generation: self.generation, after, failed };
        let name = &self.migration.name;
        cluster.patch_definition(name, None, &params(false), &mark.patch()).await?;
        Ok(())
    }
}

/// The effect of a rewrite on the contents of an object.
enum Effect {
    Same,
    Change(Rewrite),
    /// The server forbids to read the object.
    Unknown,
}

/// Rewrites an object; returns why it could not be. Other failures than those of the object end the migration. With versions to
/// compare in, nothing is written, and the effect on the contents is returned.
async fn rewritten(
    cluster: &Cluster<'_>,
    writes: &Collection,
    object: &Value,
    compared: Option<&[Collection]>,
) -> Result<Result<Effect, Failed>, CrdError> {
    let before = read(cluster, compared.unwrap_or_default(), object).await?;
    let params = params(compared.is_some());
    let error = match patiently(|| cluster.rewrite(writes, object, &params)).await {
        Ok(after) => {
            let Some(before) = before else { return Ok(Ok(Effect::Unknown)) };
            let mut change = Rewrite::new(key(object));
            before.iter().for_each(|before| change.compare(before, &after));
            return Ok(Ok(if change.is_change() { Effect::Change(change) } else { Effect::Same }));
        }
        // It was changed and so rewritten, or deleted. A server that does not serve the version yet returns 404.
        Err(error) if error.is_conflict() => return Ok(Ok(Effect::Same)),
        Err(error) => error,
    };
    if !is_about_object(&error) {
        return Err(error.into());
    }
    let reason = error.status().map_or_else(|| error.to_string(), |status| status.message.clone());
    Ok(Err(Failed { object: key(object), reason }))
}

/// Reads an object in these versions; `None` if the server forbids it. A version that it does not convert to is left out; the
/// rewrite reports why.
async fn read(
    cluster: &Cluster<'_>,
    versions: &[Collection],
    object: &Value,
) -> Result<Option<Vec<Value>>, CrdError> {
    let mut out = Vec::new();
    for version in versions {
        match patiently(|| cluster.object(version, object)).await {
            Ok(found) => out.push(found),
            // No webhook sees reads, so a right is missing. Rewrites need no `get`.
            Err(error) if error.is_forbidden() => return Ok(None),
            Err(error) if error.is_not_found() || error.status().is_some_and(|status| status.code == 500) => {
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(out))
}

/// Reports whether the server refuses this very object. Webhooks and policies refuse with 403 too; a missing right
/// differs by its text.
///
/// Source: apiserver's `responsewriters.Forbidden`.
fn is_about_object(error: &client::Error) -> bool {
    error.status().is_some_and(|status| match status.code {
        401 | 404 | 429 | 503 | 504 => false,
        403 => !status.message.contains("is forbidden: User \""),
        _ => true,
    })
}

/// Returns the key as text, by which servers order lists.
fn text(key: &ObjectKey) -> String {
    key.as_str().to_owned()
}
