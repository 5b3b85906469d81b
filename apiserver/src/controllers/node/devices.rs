//! The scheduler's and the kubelet's part in ResourceClaims. The scheduler allocates nothing here: a pod waits until the status of
//! its claims has an allocation.
//!
//! Source: `pkg/scheduler/framework/plugins/dynamicresources` and `pkg/kubelet/cm/dra`.

use std::sync::Arc;

use serde_json::Value;

use super::super::cluster::{Cluster, DEVICE_CLASSES, Fault};
use super::super::placement;
use super::super::resource_claims::{can_be_reserved, is_allocated, is_reserved_for, of_pod, reserve};
use super::fit::Misfit;
use crate::meta::{self, member};
use crate::store::Object;

/// Reports whether a pod has claims.
pub(super) fn has_claims(pod: &Value) -> bool {
    pod["spec"]["resourceClaims"].as_array().is_some_and(|claims| !claims.is_empty())
}

/// Returns why a pod's claims cannot be used on any node (`PreFilter`).
pub(super) fn unusable(cluster: &Cluster, claims: &[Arc<Object>], pod: &Value) -> Option<String> {
    for claim in claims {
        let claim: &Value = &claim.value;
        if is_allocated(claim) {
            if !can_be_reserved(claim) && !is_reserved_for(claim, pod) {
                return Some("resourceclaim in use".to_owned());
            }
            continue;
        }
        let requests = claim["spec"]["devices"]["requests"].as_array().into_iter().flatten();
        for request in requests {
            let name = member(request, "name");
            let own = request["exactly"].is_object().then(|| (name.to_owned(), &request["exactly"]));
            let others = request["firstAvailable"].as_array().into_iter().flatten();
            let others = others.map(|other| (format!("{name}/{}", member(other, "name")), other));
            for (name, wanted) in own.into_iter().chain(others) {
                let class = member(wanted, "deviceClassName");
                if cluster.get(DEVICE_CLASSES, class).is_none() {
                    return Some(format!("request {name}: device class {class} does not exist"));
                }
            }
        }
    }
    None
}

/// Returns why the node does not have the devices of a pod (`Filter`).
pub(super) fn misfit(claims: &[Arc<Object>], node: &Value) -> Option<Misfit> {
    let claims = || claims.iter().map(|claim| &*claim.value);
    let is_elsewhere = |claim: &Value| {
        let selector = &claim["status"]["allocation"]["nodeSelector"];
        selector.is_object() && !placement::meets(selector, node)
    };
    if claims().any(is_elsewhere) {
        return Misfit::never("resourceclaim not available on the node");
    }
    if !claims().all(is_allocated) { Misfit::never("cannot allocate all claims") } else { None }
}

/// Reserves a pod's claims for it (`bindClaim`).
pub(super) async fn reserve_all(cluster: &Cluster, claims: &[Arc<Object>], pod: &Value) -> Result<(), Fault> {
    for claim in claims.iter().filter(|claim| !is_reserved_for(&claim.value, pod)) {
        reserve(cluster, &claim.value, pod).await?;
    }
    Ok(())
}

/// Returns why the kubelet cannot prepare a pod's devices (`prepareResources`).
pub(super) fn unprepared(cluster: &Cluster, pod: &Value) -> Option<String> {
    let fault = match of_pod(cluster, pod) {
        Err(fault) => fault,
        Ok(claims) => {
            let claim = claims.iter().find(|claim| !is_reserved_for(&claim.value, pod))?;
            let shown = |object: &Value| format!("{} ({})", meta::name(object), meta::text(object, "uid"));
            format!("pod {} is not allowed to use ResourceClaim {}", shown(pod), shown(&claim.value))
        }
    };
    Some(format!("Failed to prepare dynamic resources: prepare dynamic resources: {fault}"))
}
