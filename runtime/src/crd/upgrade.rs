//! Installs and upgrades definitions.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use kube::api::{Patch, PatchParams};
use kubesmith_apiextensions::diff::{Change, ChangeCode, Definition};
use serde_json::{Value, json};

use super::CrdError;
use super::cluster::{Cluster, Collection, TRIES};
use super::error::Refusal;
use super::judge::{self, Judged};
use super::managers::{
    MANAGER, adopted, check, created_as_applied, has_metadata, manage, replace_without_webhook,
};
use super::objects::{self, Objects};
use super::owner::Owner;
use super::status::{is_deleted, not_established};
use super::wait::Wait;
use crate::client;

/// The default timeout of establishing or deleting a definition.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An upgrade of an operator's definitions. The [module](super) has an example.
#[derive(Clone, Debug)]
pub struct Upgrade {
    owner: Owner,
    allowed: BTreeSet<ChangeCode>,
    check_objects: bool,
    downgrade: bool,
    take_over: bool,
    keep_way_back: bool,
    dry_run: bool,
    timeout: Duration,
}

/// The result of a definition's upgrade. The [module](super) has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The definition.
    pub name: String,
    /// The action, done or, in a dry run, planned.
    pub action: Action,
    /// The changes, compatible ones included.
    pub changes: Vec<Change>,
    /// The changes that break when the old definition is put back. An entry about a field holds as soon as an object uses it.
    pub way_back: Vec<Change>,
    /// The stored objects, if they were checked.
    pub objects: Option<Objects>,
}

/// The action on a definition. The [module](super) has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// It is new.
    Created,
    /// It replaces another one.
    Updated,
    /// It is installed already.
    Unchanged,
    /// It is not installed, because that of a newer operator exists.
    KeptNewer,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Created => "created",
            Action::Updated => "updated",
            Action::Unchanged => "unchanged",
            Action::KeptNewer => "kept, a newer operator owns it",
        })
    }
}

/// A definition to install.
struct Wanted {
    name: String,
    manifest: Value,
    definition: Definition,
}

/// The plan for a definition, and the state of the cluster that it applies to.
struct Plan {
    live: Option<Value>,
    outcome: Outcome,
}

impl Upgrade {
    /// Definitions of this version of an operator. Versions are semantic versions, such as `1.2.3`.
    #[must_use]
    pub fn new(operator: &str, version: &str) -> Self {
        Self {
            owner: Owner { operator: operator.to_owned(), version: version.to_owned() },
            allowed: BTreeSet::new(),
            check_objects: false,
            downgrade: false,
            take_over: false,
            keep_way_back: false,
            dry_run: false,
            timeout: TIMEOUT,
        }
    }

    /// Allows changes of this kind, whatever they break. A server's own refusals remain.
    #[must_use]
    pub fn allow(mut self, code: ChangeCode) -> Self {
        self.allowed.insert(code);
        self
    }

    /// Reads all stored objects and checks them with the new schemas. If all fit, changes of schemas are not refused. Objects
    /// that are written between this check and the upgrade are not seen.
    #[must_use]
    pub fn check_objects(mut self) -> Self {
        self.check_objects = true;
        self
    }

    /// Replaces definitions of newer versions of the operator, and of versions that cannot be ordered. Their objects are
    /// always checked.
    #[must_use]
    pub fn downgrade(mut self) -> Self {
        self.downgrade = true;
        self
    }

    /// Replaces definitions of other operators.
    #[must_use]
    pub fn take_over(mut self) -> Self {
        self.take_over = true;
        self
    }

    /// Refuses an upgrade if a server would not take the old definition back.
    #[must_use]
    pub fn keep_way_back(mut self) -> Self {
        self.keep_way_back = true;
        self
    }

    /// Writes nothing. The server judges the definitions as well.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Sets the timeout of establishing a definition, and of the deletion of one that is being deleted; 30 seconds by
    /// default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Installs or upgrades the definitions, and waits until the server serves them.
    ///
    /// A definition that is being deleted is installed again when it is gone.
    ///
    /// All of them are judged before the first one is written. If there are several, the server also checks all of them in dry runs
    /// first. A single one is checked by its write, or in a dry run if it takes several writes.
    ///
    /// # Errors
    /// [`CrdError::Refused`] and other refusals, after which nothing is written; failed requests; a definition that is not
    /// established in time. Another call continues where this one stopped.
    ///
    /// # Cancel safety
    /// Dropping the future leaves each definition as it was or upgraded. Another call continues.
    pub async fn apply(
        &self,
        client: &kube::Client,
        definitions: &[Value],
    ) -> Result<Vec<Outcome>, CrdError> {
        self.owner.check()?;
        let cluster = Cluster(client);
        let wanted: Vec<Wanted> = definitions.iter().enumerate().map(wanted).collect::<Result<_, _>>()?;
        once(&wanted)?;
        let (mut plans, mut refusals) = (Vec::new(), Vec::new());
        for wanted in &wanted {
            match self.plan(&cluster, wanted).await? {
                Ok(plan) => plans.push(plan),
                Err(refusal) => refusals.push(refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(CrdError::Refused(refusals));
        }
        self.rehearse(&cluster, &wanted, &plans).await?;
        let mut outcomes = Vec::new();
        for (wanted, plan) in wanted.iter().zip(plans) {
            outcomes.push(self.write(&cluster, wanted, plan).await?);
        }
        if !self.dry_run {
            for wanted in &wanted {
                self.established(&cluster, &wanted.name).await?;
            }
        }
        Ok(outcomes)
    }

    /// Has the server check all definitions before the first one is written.
    async fn rehearse(
        &self,
        cluster: &Cluster<'_>,
        wanted: &[Wanted],
        plans: &[Plan],
    ) -> Result<(), CrdError> {
        if self.dry_run || wanted.len() < 2 {
            return Ok(());
        }
        let rehearsal = Self { dry_run: true, ..self.clone() };
        for (wanted, plan) in wanted.iter().zip(plans) {
            match rehearsal.attempt(cluster, wanted, plan).await {
                // If another client changed the definition, the write judges it again.
                Err(CrdError::Request(error)) if error.is_conflict() || error.is_already_exists() => {}
                done => done?,
            }
        }
        Ok(())
    }

    async fn plan(&self, cluster: &Cluster<'_>, wanted: &Wanted) -> Result<Result<Plan, Refusal>, CrdError> {
        let mut outcome = Outcome {
            name: wanted.name.clone(),
            action: Action::Created,
            changes: Vec::new(),
            way_back: Vec::new(),
            objects: None,
        };
        let Some(live) = self.live(cluster, &wanted.name).await? else {
            return Ok(Ok(Plan { live: None, outcome }));
        };
        let definition = |reason| CrdError::Definition { name: wanted.name.clone(), reason };
        let old = judge::read(&live).map_err(definition)?;
        let owner = Owner::of(&live);
        let is_newer = self.check_owner(&wanted.name, owner.as_ref())?;
        if is_newer && !self.downgrade {
            newer(wanted, &old, owner.map(|owner| owner.version))?;
            outcome.action = Action::KeptNewer;
            return Ok(Ok(Plan { live: Some(live), outcome }));
        }
        let Judged { changes, way_back, is_same } = judge::judge(&old, &wanted.definition);
        if (self.check_objects || is_newer) && !is_same {
            outcome.objects = Some(objects::check(cluster, &live, &old, &wanted.definition).await?);
        }
        let breaking = self.breaking(&changes, outcome.objects.as_ref());
        if !breaking.is_empty() || outcome.objects.as_ref().is_some_and(|objects| !self.fits(objects)) {
            return Ok(Err(Refusal { name: outcome.name, changes: breaking, objects: outcome.objects }));
        }
        if self.keep_way_back && way_back.iter().any(judge::is_refused) {
            let changes = way_back.into_iter().filter(judge::is_refused).collect();
            return Err(CrdError::OneWay { name: outcome.name, changes });
        }
        let is_done = is_same && has_metadata(&live, &self.manifest(wanted)) && adopted(&live).is_none();
        outcome.action = if is_done { Action::Unchanged } else { Action::Updated };
        (outcome.changes, outcome.way_back) = (changes, way_back);
        Ok(Ok(Plan { live: Some(live), outcome }))
    }

    /// The definition, if there is one. A write to a definition that is being deleted is lost, so the upgrade waits until it is
    /// gone.
    async fn live(&self, cluster: &Cluster<'_>, name: &str) -> Result<Option<Value>, CrdError> {
        let mut wait = Wait::new(self.timeout);
        loop {
            let found = cluster.definition(name).await?;
            if !found.as_ref().is_some_and(is_deleted) {
                return Ok(found);
            }
            if !wait.pause().await {
                return Err(CrdError::Deleting { name: name.to_owned() });
            }
        }
    }

    /// Reports whether a newer version of the operator owns the definition.
    fn check_owner(&self, name: &str, owner: Option<&Owner>) -> Result<bool, CrdError> {
        match owner {
            Some(owner) if owner.operator != self.owner.operator && !self.take_over => {
                Err(CrdError::Owned { name: name.to_owned(), operator: owner.operator.clone() })
            }
            Some(owner) if owner.operator != self.owner.operator => Ok(false),
            // With a downgrade, a version that cannot be ordered may be a newer one.
            Some(owner) if owner.check().is_err() => match self.downgrade {
                true => Ok(true),
                false => {
                    Err(CrdError::OwnerVersion { name: name.to_owned(), version: owner.version.clone() })
                }
            },
            Some(owner) => Ok(owner.is_newer_than(&self.owner)),
            None => Ok(false),
        }
    }

    /// The changes that neither the user nor the objects allow.
    fn breaking(&self, changes: &[Change], objects: Option<&Objects>) -> Vec<Change> {
        let decides = |change: &Change| {
            let Some(objects) = objects.filter(|objects| objects.broken_total == 0) else { return false };
            // A change that drops a used field has to be allowed itself.
            if drops_fields(change.code) && !objects.dropped.is_empty() {
                return false;
            }
            let version = change.version.as_ref();
            judge::is_about_objects(change) && version.is_none_or(|name| !objects.unchecked.contains(name))
        };
        let is_breaking = |change: &&Change| {
            judge::is_breaking(change) && !self.allowed.contains(&change.code) && !decides(change)
        };
        changes.iter().filter(is_breaking).cloned().collect()
    }

    /// Reports whether all objects fit. Fields may be dropped if the user allows it.
    fn fits(&self, objects: &Objects) -> bool {
        let may_drop = self.allowed.iter().any(|code| drops_fields(*code));
        objects.broken_total == 0 && (objects.dropped.is_empty() || may_drop)
    }

    /// Carries a plan out. When another client changed the definition meanwhile, it is judged again.
    async fn write(&self, cluster: &Cluster<'_>, wanted: &Wanted, plan: Plan) -> Result<Outcome, CrdError> {
        let mut plan = plan;
        for _ in 1..TRIES {
            match self.attempt(cluster, wanted, &plan).await {
                Err(CrdError::Request(error)) if error.is_conflict() || error.is_already_exists() => {}
                done => return done.map(|()| plan.outcome),
            }
            plan = match self.plan(cluster, wanted).await? {
                Ok(plan) => plan,
                Err(refusal) => return Err(CrdError::Refused(vec![refusal])),
            };
        }
        self.attempt(cluster, wanted, &plan).await.map(|()| plan.outcome)
    }

    /// The manifest of a definition, with its owner.
    fn manifest(&self, wanted: &Wanted) -> Value {
        let mut manifest = wanted.manifest.clone();
        self.owner.record(&mut manifest);
        manifest
    }

    async fn attempt(&self, cluster: &Cluster<'_>, wanted: &Wanted, plan: &Plan) -> Result<(), CrdError> {
        if matches!(plan.outcome.action, Action::Unchanged | Action::KeptNewer) {
            return Ok(());
        }
        let mut manifest = self.manifest(wanted);
        let Some(judged) = &plan.live else {
            // An apply would also replace a definition that a newer operator installs at the same time.
            let created = cluster.create(&manifest, MANAGER, self.dry_run).await?;
            return if self.dry_run {
                Ok(())
            } else {
                created_as_applied(cluster, &wanted.name, created).await
            };
        };
        let mut live = judged.clone();
        // The apply is not the first write then.
        if self.dry_run || adopted(&live).is_some() {
            check(cluster, &wanted.name, &live, &manifest).await?;
        }
        if self.dry_run {
            return Ok(());
        }
        if converts(&live) && !converts(&manifest) {
            manifest["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            live = replace_without_webhook(cluster, &wanted.name, &manifest).await?;
        }
        if let Some(managed) = adopted(&live) {
            live = manage(cluster, &wanted.name, &live, managed).await?;
        }
        manifest["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        let params = PatchParams::apply(MANAGER).force();
        cluster.patch_definition(&wanted.name, None, &params, &Patch::Apply(manifest)).await?;
        Ok(())
    }

    async fn established(&self, cluster: &Cluster<'_>, name: &str) -> Result<(), CrdError> {
        let mut wait = Wait::new(self.timeout);
        loop {
            let found = cluster.definition(name).await?;
            let found = found.ok_or_else(|| CrdError::Missing { name: name.to_owned() })?;
            let reason = match not_established(&found) {
                Some(reason) => reason,
                None => match unserved(cluster, &found).await? {
                    Some(version) => format!("the server does not serve {version} yet"),
                    None => return Ok(()),
                },
            };
            if !wait.pause().await {
                return Err(CrdError::NotEstablished { name: name.to_owned(), reason });
            }
        }
    }
}

/// A version that the definition serves and the server does not yet: `Established` says nothing of versions that were added later.
async fn unserved(cluster: &Cluster<'_>, definition: &Value) -> Result<Option<String>, client::Error> {
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    for version in versions.filter(|version| version["served"] == true) {
        let name = version["name"].as_str().unwrap_or_default();
        if !cluster.serves(&Collection::of(definition, name)).await? {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}

fn drops_fields(code: ChangeCode) -> bool {
    matches!(
        code,
        ChangeCode::FieldRemoved
            | ChangeCode::PruningAdded
            | ChangeCode::FieldDeclared
            | ChangeCode::VersionsDiverge
    )
}

/// Checks that no definition is given twice with different contents.
fn once(wanted: &[Wanted]) -> Result<(), CrdError> {
    for (at, one) in wanted.iter().enumerate() {
        if wanted[..at].iter().any(|other| other.name == one.name && other.manifest != one.manifest) {
            let reason = "it is given twice, with different contents".to_owned();
            return Err(CrdError::Definition { name: one.name.clone(), reason });
        }
    }
    Ok(())
}

fn wanted((at, manifest): (usize, &Value)) -> Result<Wanted, CrdError> {
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let shown = if name.is_empty() { format!("manifest {}", at + 1) } else { name.clone() };
    let broken = |reason: String| CrdError::Definition { name: shown.clone(), reason };
    if manifest["kind"] != "CustomResourceDefinition" || manifest["apiVersion"] != "apiextensions.k8s.io/v1" {
        return Err(broken("it is not a CustomResourceDefinition of apiextensions.k8s.io/v1".to_owned()));
    }
    let definition = judge::read(manifest).map_err(broken)?;
    if definition.name != name {
        return Err(broken(format!("its plural and group make the name {}", definition.name)));
    }
    let mut metadata = json!({"name": name});
    for key in ["annotations", "labels"] {
        if let Some(found) = manifest["metadata"].get(key).filter(|found| found.is_object()) {
            metadata[key] = found.clone();
        }
    }
    let manifest = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": manifest["spec"],
    });
    Ok(Wanted { name, manifest, definition })
}

/// Checks that the definition of a newer operator serves the versions of the API that this operator serves.
fn newer(wanted: &Wanted, live: &Definition, version: Option<String>) -> Result<(), CrdError> {
    let serves = |name: &str| live.version(name).is_some_and(|version| version.served);
    let needed = wanted.definition.versions.iter().filter(|version| version.served);
    let missing: Vec<String> =
        needed.filter(|version| !serves(&version.name)).map(|version| version.name.clone()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(CrdError::Newer { name: wanted.name.clone(), version: version.unwrap_or_default(), missing })
}

/// Reports whether a webhook converts between the versions of a definition.
fn converts(definition: &Value) -> bool {
    definition.pointer("/spec/conversion/strategy").is_some_and(|strategy| strategy == "Webhook")
}
