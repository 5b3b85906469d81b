//! `ResourceQuota`: an object has to fit the quotas of its namespace, which count it
//! (staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota).

use std::sync::Arc;

use serde_json::Value;

use super::super::{Attributes, Operation};
use crate::amounts::{self, Quantities, quantities};
use crate::quota;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};
use crate::{managed, meta};

const QUOTAS: &str = "resourcequotas";

/// The amounts that a write has added to quotas. Dropping it takes them off again, unless the write was stored.
#[derive(Debug)]
#[must_use = "a dropped charge is undone"]
pub(crate) struct Charge {
    server: Arc<Server>,
    /// The keys of the charged quotas, and the amounts.
    quotas: Vec<(Arc<str>, Quantities)>,
}

impl Charge {
    /// Leaves the write counted: it was stored.
    pub(crate) fn keep(mut self) {
        self.quotas.clear();
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        for (key, added) in std::mem::take(&mut self.quotas) {
            // The controller may have counted without the write already, so it counts again after this write.
            let mut recounts = self.server.recounts();
            recounts.insert(key.to_string());
            let now = self.server.now();
            self.server.modify(QUOTAS, &key, |quota| {
                let mut next = quota.clone();
                let mut used = quantities(&quota["status"]["used"]);
                let rest = amounts::increase(&used, &added);
                used.extend(rest.into_iter().filter(|(resource, _)| added.contains_key(resource)));
                next["status"]["used"] = amounts::to_value(&used);
                Some(managed::updated_quota(quota, &next, &now))
            });
        }
    }
}

/// Checks the object of a request, and counts it unless it is a dry run.
///
/// kube-apiserver leaves the charge of a failed write until the controller counts again; see `pkg/controller/resourcequota`.
pub(super) fn charge(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<Charge> {
    let call = attributes.call;
    let mut charge = Charge { server: call.server.clone(), quotas: Vec::new() };
    let Some(object) = object.filter(|object| handles(attributes, object)) else { return Ok(charge) };
    let listed = call.server.store.list(QUOTAS, &format!("{}/", call.path.namespace), None);
    let quotas = listed.map(|snapshot| snapshot.objects).unwrap_or_default();
    let mut charged = Vec::new();
    for (key, quota) in quotas {
        if used_with(attributes, &quota.value, object)?.is_some() {
            charged.push(key);
        }
    }
    if attributes.dry_run {
        return Ok(charge);
    }
    for key in charged {
        let (mut refused, mut added) = (None, None);
        let now = call.server.now();
        let written = call.server.modify(QUOTAS, &key, |quota| {
            added = None;
            match used_with(attributes, quota, object) {
                Ok(used) => {
                    let (mut next, used) = (quota.clone(), used?);
                    added = Some(amounts::increase(&used, &quantities(&quota["status"]["used"])));
                    next["status"]["used"] = amounts::to_value(&used);
                    Some(managed::updated_quota(quota, &next, &now))
                }
                Err(error) => {
                    refused = Some(error);
                    None
                }
            }
        });
        charge.quotas.extend(added.zip(written).map(|(added, _)| (key, added)));
        refused.map_or(Ok(()), Err)?;
    }
    Ok(charge)
}

/// Reports whether the request may change what the namespace uses (`Handles` of the evaluators).
fn handles(attributes: &Attributes<'_>, object: &Value) -> bool {
    let (call, operation) = (attributes.call, attributes.operation);
    if call.path.namespace.is_empty() || quota::is_ignored(&call.def) {
        return false;
    }
    let (creates, updates) = (operation == Operation::Create, operation == Operation::Update);
    let deadline_changes =
        || attributes.old.is_some_and(|old| quota::has_deadline(old) != quota::has_deadline(object));
    match (call.def.collection.as_str(), call.path.subresource.as_str()) {
        ("pods", "") => creates || updates && deadline_changes(),
        ("pods", "resize") | ("persistentvolumeclaims", "status") => updates,
        ("services" | "persistentvolumeclaims", "") => creates || updates,
        (_, "") => creates,
        _ => false,
    }
}

/// Returns what a quota counts with the object; `None` if it does not count it (`CheckRequest`).
///
/// # Errors
/// Returns the refusal of an object that does not fit.
fn used_with(attributes: &Attributes<'_>, quota: &Value, object: &Value) -> ApiResult<Option<Quantities>> {
    let def = &attributes.call.def;
    let refuse =
        |text: String| Err(ApiError::forbidden(def.subject(&attributes.shown_name(Some(object))), &text));
    let (name, hard) = (meta::name(quota), quantities(&quota["status"]["hard"]));
    let counted: Vec<&str> =
        hard.keys().map(String::as_str).filter(|resource| quota::uses(def, resource)).collect();
    if counted.is_empty() || !quota::is_in_scope(def, quota, object) {
        return Ok(None);
    }
    if def.collection == "pods"
        && let Some(missing) = quota::missing_amounts(object, counted.iter().copied())
    {
        return refuse(format!("failed quota: {name}: {missing}"));
    }
    let mut used = quantities(&quota["status"]["used"]);
    if counted.iter().any(|resource| !used.contains_key(*resource)) {
        return refuse(format!("status unknown for quota: {name}, resources: {}", counted.join(",")));
    }
    let now = attributes.call.server.timestamp();
    let mut requested = quota::usage(def, object, now);
    let negative: Vec<&str> =
        requested.iter().filter(|(_, amount)| amount.sign() < 0).map(|(name, _)| name.as_str()).collect();
    if !negative.is_empty() {
        return refuse(format!("quota usage is negative for resource(s): {}", negative.join(",")));
    }
    let is_update = attributes.operation == Operation::Update;
    if let Some(old) = attributes.old.filter(|old| is_update && quota::is_in_scope(def, quota, old)) {
        requested = amounts::increase(&requested, &quota::usage(def, old, now));
    }
    requested.retain(|resource, amount| amount.sign() != 0 && hard.contains_key(resource));
    if requested.is_empty() {
        return Ok(None);
    }
    let before = used.clone();
    amounts::add(&mut used, &requested);
    let exceeded: Vec<&String> =
        requested.keys().filter(|resource| used.get(*resource) > hard.get(*resource)).collect();
    if exceeded.is_empty() || attributes.call.path.subresource == "status" {
        return Ok(Some(used));
    }
    let shown = |amounts: &Quantities| {
        let of = |resource: &&String| Some(format!("{resource}={}", amounts.get(*resource)?));
        exceeded.iter().filter_map(of).collect::<Vec<_>>().join(",")
    };
    let (requested, used, limited) = (shown(&requested), shown(&before), shown(&hard));
    refuse(format!("exceeded quota: {name}, requested: {requested}, used: {used}, limited: {limited}"))
}
