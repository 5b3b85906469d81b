//! Evictions: deletions of pods within disruption budgets. Source: `pkg/registry/core/pod/storage/eviction.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::delete;
use super::super::write::{self, Storage};
use super::{run, success};
use crate::clock::rfc3339;
use crate::disruption::{self, SYNC_FAILED};
use crate::http::reply::Reply;
use crate::lifecycle::DeleteOptions;
use crate::managed;
use crate::meta;
use crate::selector;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::store::{Object, WriteError};

const BUDGETS: &str = "poddisruptionbudgets.policy";
/// The limit of evicted pods in a budget's status (`MaxDisruptedPodSize`).
const MOST_DISRUPTED: usize = 2000;

/// Deletes a pod unless a disruption budget forbids it.
pub(super) async fn evict(call: &Call<'_>) -> ApiResult<Reply> {
    if run(call, |storage, eviction| evicted(call, storage, &eviction)).await? {
        return Ok(success(call));
    }
    // Upstream returns a status in place of an error. It has no reason.
    let text =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": text,
                        "code": 500});
    Ok(Reply::value(500, &status, call.accepted.form))
}

/// Evicts the pod; returns false if it has several budgets. Admission runs for the eviction, not for the deletion of
/// the pod.
fn evicted(call: &Call<'_>, storage: &Storage<'_>, eviction: &Value) -> ApiResult<Option<bool>> {
    if meta::name(eviction) != call.path.name {
        return Err(ApiError::bad_request("name in URL does not match name in Eviction object"));
    }
    check_options(call, &eviction["deleteOptions"])?;
    let pod = write::at_path(call)?;
    let options = DeleteOptions::of(&eviction["deleteOptions"]);
    let storage = storage.with_dry_run(options.0.dry_run);
    // After another write, the pod may need a budget.
    if is_unguarded(&pod.value) {
        return Ok(delete_pod(call, &storage, pod, &options)?.map(|()| true));
    }
    match take_from_budget(call, &storage, &pod.value)? {
        Some(true) => {}
        other => return Ok(other),
    }
    // The budget has counted the eviction: further attempts must not count it again.
    loop {
        if delete_pod(call, &storage, write::at_path(call)?, &options)?.is_some() {
            return Ok(Some(true));
        }
    }
}

/// Refuses the option to delete what cannot be read, and dry runs that differ from that of the request
/// (`propagateDryRun`).
fn check_options(call: &Call<'_>, options: &Value) -> ApiResult<()> {
    const FORCED: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";
    if options[FORCED] == true {
        let text = "can not be set for pod eviction, try after removing the option";
        let cause = Cause::invalid(format!("deleteOptions.{FORCED}"), true, text);
        return Err(ApiError::invalid(ErrorSubject::new("policy", "Eviction", &call.path.name), vec![cause]));
    }
    let (request, content) = (call.query.all("dryRun"), meta::strings(&options["dryRun"]));
    if !request.is_empty() && !content.is_empty() && request != content {
        let (request, content) = (request.join(" "), content.join(" "));
        return Err(ApiError::unexpected(format!(
            "Non-matching dry-run options in request and content: [{request}] and [{content}]"
        )));
    }
    Ok(())
}

/// Reports whether no budget applies: the pod does no work, or is terminating (`canIgnorePDB`).
fn is_unguarded(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str();
    matches!(phase, Some("Failed" | "Pending" | "Succeeded")) || meta::is_terminating(pod)
}

/// Deletes a pod after recording the reason in its status; `None` if another client wrote it meanwhile.
fn delete_pod(
    call: &Call<'_>,
    storage: &Storage<'_>,
    mut stored: Arc<Object>,
    (options, faults): &(DeleteOptions, Vec<Cause>),
) -> ApiResult<Option<()>> {
    // A dry run does not write the condition, and the deletion checks its options before preconditions.
    if storage.is_dry_run() {
        options.check(faults.clone())?;
    }
    options.check_preconditions(&call.def, &stored.value)?;
    let key = call.def.key(&call.path.namespace, &call.path.name);
    let next = target(call, &stored.value);
    if !storage.is_dry_run() && next != *stored.value {
        match storage.update(&call.def, &key, &stored, next) {
            Ok(marked) => stored = marked,
            Err(WriteError::NotFound) => return Err(ApiError::not_found(call.def.subject(&call.path.name))),
            Err(_) => return Ok(None),
        }
    }
    options.check(faults.clone())?;
    let done = delete::carry_out(storage, &call.server, &call.def, &key, &stored, options)?;
    Ok(done.map(|_| ()))
}

/// Returns the pod with the condition that it did not fail by itself (`addConditionAndDeletePod`).
fn target(call: &Call<'_>, pod: &Value) -> Value {
    let mut next = pod.clone();
    let mut condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastProbeTime": null, "lastTransitionTime": call.server.now(),
    });
    let status = meta::map_at(&mut next, "status");
    let list = status.entry("conditions").or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        match list.iter_mut().find(|old| old["type"] == condition["type"]) {
            Some(old) => {
                if old["status"] == condition["status"] {
                    condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
                }
                *old = condition;
            }
            None => list.push(condition),
        }
    }
    next
}

/// Counts an eviction in the pod's budget, if it has one. Returns false if it has several, `None` if another client
/// wrote the budget meanwhile.
fn take_from_budget(call: &Call<'_>, storage: &Storage<'_>, pod: &Value) -> ApiResult<Option<bool>> {
    let prefix = format!("{}/", call.path.namespace);
    // Only older versions can be compacted, and this is the current one.
    let all = call.server.store.list(BUDGETS, &prefix, None).map(|list| list.objects).unwrap_or_default();
    let labels = &pod["metadata"]["labels"];
    let guarding =
        all.iter().filter(|(_, budget)| selector::matches(&budget.value["spec"]["selector"], labels));
    match guarding.collect::<Vec<_>>().as_slice() {
        [] => Ok(Some(true)),
        [(key, budget)] => decrement(call, storage, pod, key, budget),
        _ => Ok(Some(false)),
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn decrement(
    call: &Call<'_>,
    storage: &Storage<'_>,
    pod: &Value,
    key: &str,
    stored: &Arc<Object>,
) -> ApiResult<Option<bool>> {
    let budget: &Value = &stored.value;
    let number = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    // An unhealthy pod can be evicted while the budget holds without it, or if the budget's policy says so.
    let holds = number("desiredHealthy") > 0 && number("currentHealthy") >= number("desiredHealthy");
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    if !is_ready(pod) && (always || holds) {
        return Ok(Some(true));
    }
    check(budget)?;
    let mut next = budget.clone();
    let status = meta::map_at(&mut next, "status");
    status.insert("disruptionsAllowed".to_owned(), (number("disruptionsAllowed") - 1).into());
    let now = call.server.timestamp();
    let disrupted = status.entry("disruptedPods").or_insert_with(|| json!({}));
    meta::object_mut(disrupted).insert(meta::name(pod).to_owned(), rfc3339(now).into());
    if number("disruptionsAllowed") == 1 {
        disruption::set_condition(&mut next, now, None);
    }
    let registry = call.server.registry();
    let Some(def) = registry.find("policy", "v1", "poddisruptionbudgets") else { return Ok(Some(true)) };
    let next = managed::updated_budget(budget, &next, &rfc3339(now));
    // If the budget was written or deleted, the eviction is retried.
    Ok(storage.update(&def, key, stored, next).ok().map(|_| true))
}

/// Checks that a budget allows an eviction (`checkAndDecrement`).
fn check(budget: &Value) -> ApiResult<()> {
    let name = meta::name(budget);
    let number = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    if number("observedGeneration") < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
        let text = format!("The disruption budget {name} is still being processed by the server.");
        return Err(ApiError::budget(&text, 10));
    }
    let forbidden =
        |why: &str| Err(ApiError::forbidden(ErrorSubject::new("policy", "poddisruptionbudget", name), why));
    if number("disruptionsAllowed") < 0 {
        return forbidden("pdb disruptions allowed is negative");
    }
    if budget["status"]["disruptedPods"].as_object().is_some_and(|pods| pods.len() > MOST_DISRUPTED) {
        return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    }
    if number("disruptionsAllowed") > 0 {
        return Ok(());
    }
    Err(ApiError::budget(&no_disruption(budget), 0))
}

/// Says why a budget allows no eviction.
fn no_disruption(budget: &Value) -> String {
    let number = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let (name, wanted, healthy) = (meta::name(budget), number("desiredHealthy"), number("currentHealthy"));
    let refusal = disruption::condition(budget)
        .filter(|condition| condition["status"] == "False")
        .map(|condition| (meta::member(condition, "reason"), meta::member(condition, "message")))
        .filter(|(_, message)| !message.is_empty());
    match refusal {
        // The numbers mean nothing then.
        Some((SYNC_FAILED, why)) => format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed sync: {why}"
        ),
        _ if healthy <= wanted => {
            format!("The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently")
        }
        Some((reason, why)) => {
            format!("The disruption budget {name} does not allow evicting pods currently ({reason}): {why}")
        }
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}
