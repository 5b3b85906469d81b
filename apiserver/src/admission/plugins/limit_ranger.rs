//! `LimitRanger`: defaults and bounds of resources in a namespace (plugin/pkg/admission/limitranger/admission.go).

use std::collections::BTreeMap;

use kubesmith_apimachinery::errors::aggregate;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::amounts::{self, Quantities, quantities};
use crate::meta;
use crate::status::{ApiError, ApiResult};

/// The annotation that lists the applied defaults.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let Some(pod) = object_of(attributes, object, "pods", &[Operation::Create]) else { return Ok(()) };
    let defaults = Defaults::of(&limits(attributes));
    let mut set = Vec::new();
    for (list, prefix) in [("containers", "container"), ("initContainers", "init container")] {
        let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            defaults.fill(container, prefix, &mut set);
        }
    }
    if !set.is_empty() {
        let text = format!("LimitRanger plugin set: {}", set.join("; "));
        meta::map_at(pod, "metadata");
        pod["metadata"]["annotations"][ANNOTATION] = text.into();
    }
    Ok(())
}

pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    let Some(object) = object.filter(|_| call.path.subresource.is_empty()) else { return Ok(()) };
    let faults = match (call.def.collection.as_str(), attributes.operation) {
        ("pods", Operation::Create) => pod_faults(object, &limits(attributes)),
        ("persistentvolumeclaims", Operation::Create | Operation::Update) => {
            claim_faults(object, &limits(attributes))
        }
        _ => Vec::new(),
    };
    if faults.is_empty() {
        return Ok(());
    }
    Err(ApiError::forbidden(call.def.subject(meta::name(object)), &aggregate(faults)))
}

/// The limits of the request's namespace, from all of its ranges.
fn limits(attributes: &Attributes<'_>) -> Vec<Value> {
    let prefix = format!("{}/", attributes.call.path.namespace);
    let stored = attributes.call.server.store.list("limitranges", &prefix, None);
    let ranges = stored.map(|list| list.objects).unwrap_or_default();
    let limits = ranges.iter().filter_map(|(_, range)| range.value["spec"]["limits"].as_array());
    limits.flatten().cloned().collect()
}

/// Amounts by resource.
type Amounts = BTreeMap<String, Value>;

fn amounts(value: &Value) -> Amounts {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(name, amount)| (name.clone(), amount.clone())).collect()
}

/// The defaults of containers that set no requests or limits.
struct Defaults {
    requests: Amounts,
    limits: Amounts,
}

impl Defaults {
    fn of(limits: &[Value]) -> Self {
        let mut defaults = Self { requests: Amounts::new(), limits: Amounts::new() };
        for limit in limits.iter().filter(|limit| limit["type"] == "Container") {
            defaults.requests.extend(amounts(&limit["defaultRequest"]));
            defaults.limits.extend(amounts(&limit["default"]));
        }
        defaults
    }

    /// `mergeContainerResources`.
    fn fill(&self, container: &mut Value, prefix: &str, set: &mut Vec<String>) {
        let name = container["name"].as_str().unwrap_or_default().to_owned();
        for (defaults, field, word) in
            [(&self.requests, "requests", "request"), (&self.limits, "limits", "limit")]
        {
            let missing =
                defaults.iter().filter(|(resource, _)| container["resources"][field][resource].is_null());
            let missing: Vec<(String, Value)> =
                missing.map(|(resource, amount)| (resource.clone(), amount.clone())).collect();
            if missing.is_empty() {
                continue;
            }
            let names: Vec<&str> = missing.iter().map(|(resource, _)| resource.as_str()).collect();
            set.push(format!("{} {word} for {prefix} {name}", names.join(", ")));
            for (resource, amount) in missing {
                container["resources"][field][resource] = amount;
            }
        }
    }
}

/// The requests and limits of a container, a pod or a claim.
struct Usage {
    requests: Quantities,
    limits: Quantities,
}

impl Usage {
    fn of(resources: &Value) -> Self {
        Self { requests: quantities(&resources["requests"]), limits: quantities(&resources["limits"]) }
    }
}

fn pod_faults(pod: &Value, limits: &[Value]) -> Vec<String> {
    let containers = |list: &str| pod["spec"][list].as_array().into_iter().flatten();
    let mut faults = Vec::new();
    for limit in limits.iter().filter(|limit| limit["type"] == "Container") {
        for container in containers("containers").chain(containers("initContainers")) {
            faults.extend(container_faults(limit, "Container", &Usage::of(&container["resources"])));
        }
    }
    for limit in limits.iter().filter(|limit| limit["type"] == "Pod") {
        faults.extend(container_faults(limit, "Pod", &of_pod(pod)));
    }
    faults
}

/// `podRequests` and `podLimits`.
fn of_pod(pod: &Value) -> Usage {
    Usage { requests: amounts::of_containers(pod, "requests"), limits: amounts::of_containers(pod, "limits") }
}

fn container_faults(limit: &Value, kind: &str, usage: &Usage) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, bound) in quantities(&limit["min"]) {
        let rule = format!("minimum {name} usage per {kind} is {bound}");
        match (usage.requests.get(&name), usage.limits.get(&name)) {
            (None, _) => faults.push(format!("{rule}.  No request is specified")),
            (Some(amount), _) if *amount < bound => {
                faults.push(format!("{rule}, but request is {amount}"));
            }
            (_, Some(amount)) if *amount < bound => {
                faults.push(format!("{rule}, but limit is {amount}"));
            }
            _ => {}
        }
    }
    for (name, bound) in quantities(&limit["max"]) {
        let rule = format!("maximum {name} usage per {kind} is {bound}");
        match (usage.limits.get(&name), usage.requests.get(&name)) {
            (None, _) => faults.push(format!("{rule}.  No limit is specified")),
            (Some(amount), _) if *amount > bound => {
                faults.push(format!("{rule}, but limit is {amount}"));
            }
            (_, Some(amount)) if *amount > bound => {
                faults.push(format!("{rule}, but request is {amount}"));
            }
            _ => {}
        }
    }
    for (name, bound) in quantities(&limit["maxLimitRequestRatio"]) {
        let rule = format!("{name} max limit to request ratio per {kind} is {bound}");
        faults.extend(ratio_fault(&rule, bound, usage.requests.get(&name), usage.limits.get(&name)));
    }
    faults
}

fn ratio_fault(
    rule: &str,
    most: Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let Some(request) = request.filter(|amount| amount.sign() != 0) else {
        return Some(format!("{rule}, but no request is specified or request is 0"));
    };
    let Some(limit) = limit.filter(|amount| amount.sign() != 0) else {
        return Some(format!("{rule}, but no limit is specified or limit is 0"));
    };
    // Go compares floats here.
    let ratio = limit.as_f64() / request.as_f64();
    (ratio > most.as_f64()).then(|| format!("{rule}, but provided ratio is {ratio:.6}"))
}

fn claim_faults(claim: &Value, limits: &[Value]) -> Vec<String> {
    let usage = Usage::of(&claim["spec"]["resources"]);
    let mut faults = Vec::new();
    for limit in limits.iter().filter(|limit| limit["type"] == "PersistentVolumeClaim") {
        for (field, word) in [("min", "minimum"), ("max", "maximum")] {
            for (name, bound) in quantities(&limit[field]) {
                let rule = format!("{word} {name} usage per PersistentVolumeClaim is {bound}");
                match usage.requests.get(&name) {
                    None => faults.push(format!("{rule}.  No request is specified")),
                    Some(amount)
                        if (field == "min" && *amount < bound) || (field == "max" && *amount > bound) =>
                    {
                        faults.push(format!("{rule}, but request is {amount}"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    faults
}
