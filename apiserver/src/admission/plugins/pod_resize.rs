//! `NodeDeclaredFeatureValidator` and `PodResizeValidator`: a bound pod is resized only if its node can do it and has the room
//! (plugin/pkg/admission/nodedeclaredfeatures and plugin/pkg/admission/podresize).

use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::super::{Attributes, Operation};
use crate::amounts::{quantities, total};
use crate::meta;
use crate::status::{ApiError, ApiResult, Cause};

pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    let is_resize = call.def.collection == "pods" && call.path.subresource == "resize";
    let (Some(pod), Some(old)) = (object.filter(|_| is_resize), attributes.old) else { return Ok(()) };
    let name = meta::member(&pod["spec"], "nodeName");
    let changes = attributes.operation == Operation::Update && pod["spec"] != old["spec"];
    if name.is_empty() || !changes || call.server.is_bare() {
        return Ok(());
    }
    let refusal = |text: &str| ApiError::forbidden(call.def.subject(&attributes.shown_name(Some(pod))), text);
    let Some(node) = call.server.store.get("nodes", name) else {
        return Err(refusal(&format!("node {} not found", golang::quote(name))));
    };
    let missing = missing_features(pod, old, &node.value);
    if !missing.is_empty() {
        let (missing, name) = (missing.join(", "), golang::quote(name));
        return Err(refusal(&format!(
            "pod update requires features {missing} which are not available on node {name}"
        )));
    }
    match misfit(pod, &node.value) {
        None => Ok(()),
        Some((reason, text)) => Err(refusal(&text).with_causes(vec![Cause::new(reason, "", String::new())])),
    }
}

/// Returns the features that the update needs and the node does not declare (`InferForUpdate` of the features in
/// component-helpers/nodedeclaredfeatures/features/inplacepodresize).
fn missing_features(pod: &Value, old: &Value, node: &Value) -> Vec<&'static str> {
    let plain = |pod: &Value| -> Vec<Value> {
        let all = meta::items(&pod["spec"]["initContainers"]);
        all.filter(|init| init["restartPolicy"] != "Always").map(|init| init["resources"].clone()).collect()
    };
    let needed = [
        (pod["spec"]["resources"] != old["spec"]["resources"], "InPlacePodLevelResourcesVerticalScaling"),
        (plain(pod) != plain(old), "InPlacePodVerticalScalingInitContainers"),
    ];
    let declared = meta::strings(&node["status"]["declaredFeatures"]);
    let is_missing =
        |(is_needed, name): (bool, &'static str)| (is_needed && !declared.contains(&name)).then_some(name);
    needed.into_iter().filter_map(is_missing).collect()
}

/// Returns why the node cannot resize the pod, with the reason of the cause (`validatePodResize`).
fn misfit(pod: &Value, node: &Value) -> Option<(&'static str, String)> {
    const SYSTEM: &str = "kubernetes.io/os";
    let name = golang::quote(meta::name(node));
    if let Some(system) = node["metadata"]["labels"][SYSTEM].as_str().filter(|system| *system != "linux") {
        let system = golang::quote(system);
        let text = format!("pod resize is only supported on linux nodes, node {name} is {system}");
        return Some(("UnsupportedPlatform", text));
    }
    let (wanted, there) = (total(pod, "requests"), quantities(&node["status"]["allocatable"]));
    let too_much = |(name, unit): (&str, i128)| {
        let whole =
            |amount: Option<&Quantity>| -(-amount.map_or(0, |amount| amount.nanos())).div_euclid(unit);
        let (wanted, there) = (wanted.get(name), there.get(name));
        let exceeds = wanted.is_some_and(|wanted| *wanted > there.copied().unwrap_or(Quantity::from(0)));
        exceeds.then(|| format!("{name}, requested: {}, allocatable: {}", whole(wanted), whole(there)))
    };
    // Processors are shown in thousandths.
    let faults: Vec<String> =
        [("cpu", 1_000_000), ("memory", 1_000_000_000)].into_iter().filter_map(too_much).collect();
    (!faults.is_empty()).then(|| {
        ("NodeCapacity", format!("node didn't have enough allocatable resources: {}", faults.join("; ")))
    })
}
