//! `DeleteOptions`: their sources, and their effect on an object.

use kubesmith_apimachinery::golang;
use serde_json::{Map, Value, json};

use crate::http::negotiate::Form;
use crate::http::query::{self, Query};
use crate::http::{decode, negotiate, protobuf};
use crate::meta;
use crate::registry::ResourceDef;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};
use crate::types;

/// The finalizers that the garbage collector removes.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

const JOBS: &str = "jobs.batch";

/// `DeleteOptions`: the body, or the query of a request without one.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    uid: Option<String>,
    resource_version: Option<String>,
    propagation: Option<String>,
    pub(crate) orphan: Option<bool>,
    pub(super) grace: Option<i64>,
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    /// # Errors
    /// Returns `BadRequest` for a malformed body, `Invalid` for inconsistent options.
    pub(crate) fn parse(call: &Call<'_>) -> ApiResult<Self> {
        let (mut options, mut causes) = (Self::default(), Vec::new());
        if call.body.is_empty() {
            options.dry_run = query::dry_run(&call.query, &mut causes);
            options.propagation =
                Some(call.query.get("propagationPolicy").to_owned()).filter(|policy| !policy.is_empty());
            if !call.query.get("orphanDependents").is_empty() {
                options.orphan = Some(call.query.flag("orphanDependents"));
            }
            options.grace = call.query.number("gracePeriodSeconds")?;
            // `Convert_url_Values_To_v1_DeleteOptions`.
            let given = |name: &str| Some(call.query.get(name).to_owned()).filter(|text| !text.is_empty());
            (options.uid, options.resource_version) = (given("uid"), given("resourceVersion"));
        } else {
            options.read(&decoded(call)?, &mut causes);
        }
        options.check(causes).map(|()| options)
    }

    /// Reads options from within another object. The faults of dry runs are left to [`check`](Self::check).
    pub(crate) fn of(body: &Value) -> (Self, Vec<Cause>) {
        let (mut options, mut causes) = (Self::default(), Vec::new());
        options.read(body, &mut causes);
        (options, causes)
    }

    /// The options of the garbage collector: the finalizers of the object choose the policy (`attemptToDeleteItem` of
    /// pkg/controller/garbagecollector/garbagecollector.go).
    pub(super) fn of_collector(object: &Value) -> Self {
        let chosen = meta::finalizers(object).into_iter().find_map(|finalizer| match finalizer {
            ORPHAN => Some("Orphan"),
            FOREGROUND => Some("Foreground"),
            _ => None,
        });
        Self { propagation: Some(chosen.unwrap_or("Background").to_owned()), ..Self::default() }
    }

    fn read(&mut self, body: &Value, causes: &mut Vec<Cause>) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.uid = text(&body["preconditions"]["uid"]);
        self.resource_version = text(&body["preconditions"]["resourceVersion"]);
        self.propagation = text(&body["propagationPolicy"]).or(self.propagation.take());
        self.grace = body["gracePeriodSeconds"].as_i64().or(self.grace);
        self.orphan = body["orphanDependents"].as_bool().or(self.orphan);
        let pairs: Vec<String> =
            meta::strings(&body["dryRun"]).into_iter().map(|v| format!("dryRun={v}")).collect();
        self.dry_run |= query::dry_run(&Query::parse(&pairs.join("&")), causes);
    }

    /// The options as an object.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"});
        let mut preconditions = Map::new();
        for (key, text) in [("uid", &self.uid), ("resourceVersion", &self.resource_version)] {
            preconditions.extend(text.as_ref().map(|text| (key.to_owned(), json!(text))));
        }
        for (key, given) in [
            ("gracePeriodSeconds", self.grace.map(Value::from)),
            ("preconditions", (!preconditions.is_empty()).then_some(Value::Object(preconditions))),
            ("orphanDependents", self.orphan.map(Value::from)),
            ("propagationPolicy", self.propagation.clone().map(Value::from)),
            ("dryRun", self.dry_run.then(|| json!(["All"]))),
        ] {
            if let Some(given) = given {
                value[key] = given;
            }
        }
        value
    }

    /// Checks the options (`ValidateDeleteOptions`, which adds the faults of dry runs last).
    ///
    /// # Errors
    /// Returns `Invalid` for inconsistent options.
    pub(crate) fn check(&self, of_dry_run: Vec<Cause>) -> ApiResult<()> {
        let mut causes = Vec::new();
        if let Some(policy) = &self.propagation {
            if self.orphan.is_some() {
                let text = "orphanDependents and deletionPropagation cannot be both set";
                causes.push(Cause::invalid("propagationPolicy", golang::quote(policy), text));
            }
            if !matches!(policy.as_str(), "Foreground" | "Background" | "Orphan") {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                causes.push(Cause::not_supported("propagationPolicy", &golang::quote(policy), &supported));
            }
        }
        causes.extend(of_dry_run);
        if causes.is_empty() { Ok(()) } else { Err(ApiError::invalid_options("DeleteOptions", causes)) }
    }

    /// Returns the finalizers of a deleted object: `orphan` and `foregroundDeletion` follow the options, and exclude
    /// each other (`deletionFinalizersForGarbageCollection` of registry/generic/registry/store.go).
    pub(super) fn finalizers(&self, def: &ResourceDef, object: &Value) -> Vec<String> {
        let own = meta::finalizers(object);
        let mut next: Vec<String> =
            own.iter().filter(|f| !matches!(**f, ORPHAN | FOREGROUND)).map(|f| (*f).to_owned()).collect();
        // The garbage collector ignores events.
        if def.plural == "events" {
            return next;
        }
        let by_object = own.iter().copied().find(|f| matches!(*f, ORPHAN | FOREGROUND));
        let wanted = match (self.orphan, self.propagation.as_deref()) {
            (Some(true), _) | (None, Some("Orphan")) => Some(ORPHAN),
            (None, Some("Foreground")) => Some(FOREGROUND),
            (Some(false), _) | (None, Some("Background")) => None,
            (None, _) => by_object.or(orphans_dependents(def).then_some(ORPHAN)),
        };
        next.extend(wanted.map(str::to_owned));
        let is_same = next.len() == own.len() && next.iter().all(|name| own.contains(&name.as_str()));
        if is_same { own.into_iter().map(str::to_owned).collect() } else { next }
    }

    /// Warns of a deletion of jobs that names no policy (pkg/registry/batch/job/storage/storage.go).
    pub(crate) fn warn_of_orphans(&self, call: &Call<'_>) {
        if self.propagation.is_none() && self.orphan.is_none() && call.def.collection == JOBS {
            call.warn(
                "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them \
                 or set propagationPolicy=Orphan to suppress this warning",
            );
        }
    }

    pub(crate) fn check_preconditions(&self, def: &ResourceDef, object: &Value) -> ApiResult<()> {
        let about = def.subject_of_kind(meta::name(object));
        // `Delete` of pkg/registry/core/namespace/storage/storage.go checks for itself.
        if def.collection == "namespaces" {
            for (field, wanted, key) in
                [("UID", &self.uid, "uid"), ("ResourceVersion", &self.resource_version, "resourceVersion")]
            {
                let is = meta::text(object, key);
                if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != is) {
                    let text = format!(
                        "Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {is}"
                    );
                    return Err(ApiError::conflict(def.subject(meta::name(object)), &text));
                }
            }
        }
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != meta::text(object, "uid")) {
            let text = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                meta::text(object, "uid")
            );
            return Err(ApiError::conflict(about, &text));
        }
        let rv = self.resource_version.as_deref();
        if let Some(rv) = rv.filter(|rv| *rv != meta::text(object, "resourceVersion")) {
            let text = format!(
                "the ResourceVersion in the precondition ({rv}) does not match the ResourceVersion in record ({}). The \
                 object might have been modified",
                meta::text(object, "resourceVersion")
            );
            return Err(ApiError::conflict(about, &text));
        }
        Ok(())
    }
}

/// Reports whether a deletion without a policy orphans the dependents (`DefaultGarbageCollectionPolicy` of the strategies
/// of jobs and replication controllers).
fn orphans_dependents(def: &ResourceDef) -> bool {
    matches!(def.collection.as_str(), JOBS | "replicationcontrollers")
}

/// Decodes the body as `DeleteOptions` of any group (`DeleteResource` of endpoints/handlers/delete.go).
///
/// # Errors
/// `UnsupportedMediaType`, or `BadRequest` in the words of apimachinery's decoder.
fn decoded(call: &Call<'_>) -> ApiResult<Value> {
    const SCHEME: &str = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27";
    let format = negotiate::object_format(call.headers, false)?;
    let unrecognised =
        |why: &str| ApiError::bad_request(format!("couldn't get version/kind; json parse error: {why}"));
    let decoded = match format {
        Form::Json => decode::json(&call.body).map(|decoded| decoded.value),
        Form::Yaml => decode::yaml(&call.body).map(|decoded| decoded.value),
        Form::Protobuf => protobuf::decode(&call.body),
    };
    let mut body = match decoded.map_err(|why| unrecognised(&why))? {
        Value::Null => return Ok(json!({})),
        body @ Value::Object(_) => body,
        other => return Err(unrecognised(&golang::cannot_unmarshal(&other, golang::TYPE_META))),
    };
    let kind = body["kind"].as_str().unwrap_or_default();
    if !matches!(kind, "" | "DeleteOptions") {
        let version = Some(meta::member(&body, "apiVersion")).filter(|version| !version.is_empty());
        let version = version.unwrap_or("meta.k8s.io/v1");
        let text = format!("no kind {kind:?} is registered for version {version:?} in scheme {SCHEME:?}");
        return Err(ApiError::bad_request(text));
    }
    if let Some(message) = types::find("meta.DeleteOptions") {
        types::decode::settle(&mut body, message).map_err(ApiError::bad_request)?;
    }
    Ok(body)
}
