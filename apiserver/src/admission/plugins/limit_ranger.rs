//! `LimitRanger`: defaults and bounds of resources in a namespace (plugin/pkg/admission/limitranger/admission.go).

use std::collections::BTreeMap;

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::meta;
use crate::status::{ApiError, ApiResult};
use crate::types::quantity::nanos;

/// The annotation that names the defaults that were set.
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
    let text = match faults.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Err(ApiError::forbidden(call.def.about(meta::name(object)), &text))
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

/// What containers get that do not say it themselves.
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

/// What something asks for and may use at most, in units of 10^-9.
struct Usage {
    requests: BTreeMap<String, (i128, String)>,
    limits: BTreeMap<String, (i128, String)>,
}

impl Usage {
    fn of(resources: &Value) -> Self {
        let read = |field: &str| {
            let read = |(name, amount): (&String, &Value)| {
                let text = amount.as_str()?;
                Some((name.clone(), (nanos(text)?, text.to_owned())))
            };
            resources[field].as_object().into_iter().flatten().filter_map(read).collect()
        };
        Self { requests: read("requests"), limits: read("limits") }
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

/// The sums of the containers; an init container counts alone, if it needs more (`podRequests` and `podLimits`).
fn of_pod(pod: &Value) -> Usage {
    let mut usage = Usage { requests: BTreeMap::new(), limits: BTreeMap::new() };
    let merge =
        |into: &mut BTreeMap<String, (i128, String)>, from: BTreeMap<String, (i128, String)>, adds: bool| {
            for (name, (amount, text)) in from {
                let own = into.entry(name).or_insert((0, String::new()));
                own.0 = if adds { own.0 + amount } else { own.0.max(amount) };
                own.1 = if own.0 == amount { text } else { crate::types::quantity::of_nanos(own.0) };
            }
        };
    for (list, adds) in [("containers", true), ("initContainers", false)] {
        for container in pod["spec"][list].as_array().into_iter().flatten() {
            let own = Usage::of(&container["resources"]);
            merge(&mut usage.requests, own.requests, adds);
            merge(&mut usage.limits, own.limits, adds);
        }
    }
    usage
}

fn container_faults(limit: &Value, kind: &str, usage: &Usage) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, bound) in bounds(limit, "min") {
        let rule = format!("minimum {name} usage per {kind} is {}", bound.1);
        match (usage.requests.get(&name), usage.limits.get(&name)) {
            (None, _) => faults.push(format!("{rule}.  No request is specified")),
            (Some((amount, text)), _) if *amount < bound.0 => {
                faults.push(format!("{rule}, but request is {text}"));
            }
            (_, Some((amount, text))) if *amount < bound.0 => {
                faults.push(format!("{rule}, but limit is {text}"));
            }
            _ => {}
        }
    }
    for (name, bound) in bounds(limit, "max") {
        let rule = format!("maximum {name} usage per {kind} is {}", bound.1);
        match (usage.limits.get(&name), usage.requests.get(&name)) {
            (None, _) => faults.push(format!("{rule}.  No limit is specified")),
            (Some((amount, text)), _) if *amount > bound.0 => {
                faults.push(format!("{rule}, but limit is {text}"));
            }
            (_, Some((amount, text))) if *amount > bound.0 => {
                faults.push(format!("{rule}, but request is {text}"));
            }
            _ => {}
        }
    }
    for (name, bound) in bounds(limit, "maxLimitRequestRatio") {
        let rule = format!("{name} max limit to request ratio per {kind} is {}", bound.1);
        faults.extend(ratio_fault(&rule, bound.0, usage.requests.get(&name), usage.limits.get(&name)));
    }
    faults
}

fn ratio_fault(
    rule: &str,
    most: i128,
    request: Option<&(i128, String)>,
    limit: Option<&(i128, String)>,
) -> Option<String> {
    let Some((request, _)) = request.filter(|(amount, _)| *amount != 0) else {
        return Some(format!("{rule}, but no request is specified or request is 0"));
    };
    let Some((limit, _)) = limit.filter(|(amount, _)| *amount != 0) else {
        return Some(format!("{rule}, but no limit is specified or limit is 0"));
    };
    #[expect(clippy::cast_precision_loss, reason = "Go compares floats here")]
    let (ratio, most) = (*limit as f64 / *request as f64, most as f64 / 1e9);
    (ratio > most).then(|| format!("{rule}, but provided ratio is {ratio:.6}"))
}

fn claim_faults(claim: &Value, limits: &[Value]) -> Vec<String> {
    let usage = Usage::of(&claim["spec"]["resources"]);
    let mut faults = Vec::new();
    for limit in limits.iter().filter(|limit| limit["type"] == "PersistentVolumeClaim") {
        for (field, word) in [("min", "minimum"), ("max", "maximum")] {
            for (name, bound) in bounds(limit, field) {
                let rule = format!("{word} {name} usage per PersistentVolumeClaim is {}", bound.1);
                match usage.requests.get(&name) {
                    None => faults.push(format!("{rule}.  No request is specified")),
                    Some((amount, text))
                        if (field == "min" && *amount < bound.0) || (field == "max" && *amount > bound.0) =>
                    {
                        faults.push(format!("{rule}, but request is {text}"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    faults
}

/// The bounds of a limit by resource.
fn bounds(limit: &Value, field: &str) -> Vec<(String, (i128, String))> {
    let read = |(name, amount): (String, Value)| {
        let text = amount.as_str().map_or_else(|| golang::display(&amount), str::to_owned);
        Some((name, (nanos(&text)?, text)))
    };
    amounts(&limit[field]).into_iter().filter_map(read).collect()
}
