//! What kube-apiserver's admission plugins and allocators add to built-in objects: nobody owns these fields.

use serde_json::{Value, json};

use crate::meta;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::status::{ApiError, ApiResult};
use crate::types;

/// Priorities that every cluster has.
const SYSTEM_PRIORITIES: &[(&str, i64)] =
    &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Completes a new object whose identity is settled.
///
/// # Errors
/// What an admission plugin refuses.
pub(crate) fn created(server: &Server, def: &ResourceDef, value: &mut Value) -> ApiResult<()> {
    let Behaviour::BuiltIn(kind) = &def.behaviour else { return Ok(()) };
    if kind.status && value["status"].is_null() {
        let blank = kind.message().map(types::decode::blank);
        if let Some(status) = blank.and_then(|mut blank| blank.get_mut("status").map(Value::take)) {
            value["status"] = status;
        }
    }
    (kind.default)(value, super::Stage::Create);
    (kind.prepare)(value);
    match def.collection.as_str() {
        "services" => addresses(server, value),
        "pods" => pod(server, def, value)?,
        "persistentvolumeclaims" => storage_class(server, value),
        _ => {}
    }
    Ok(())
}

/// Completes an object that replaces `current`.
pub(crate) fn updated(server: &Server, def: &ResourceDef, current: &Value, value: &mut Value) {
    match def.collection.as_str() {
        "pods" => keep_priority(current, value),
        "services" => keep_addresses(server, current, value),
        _ => {}
    }
}

/// `Priority` and `DefaultTolerationSeconds` work on updates, too.
fn keep_priority(current: &Value, pod: &mut Value) {
    for field in ["priority", "preemptionPolicy"] {
        if pod["spec"][field].is_null() {
            pod["spec"][field] = current["spec"][field].clone();
        }
    }
    super::defaults::tolerate_broken_nodes(pod);
}

fn keep_addresses(server: &Server, current: &Value, value: &mut Value) {
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if value["spec"][field].is_null() && !current["spec"][field].is_null() {
            value["spec"][field] = current["spec"][field].clone();
        }
    }
    let old = current["spec"]["ports"].as_array().map_or(&[][..], Vec::as_slice);
    if has_node_ports(&value["spec"]) {
        for port in value["spec"]["ports"].as_array_mut().into_iter().flatten() {
            let same = old.iter().find(|o| o["port"] == port["port"] && o["protocol"] == port["protocol"]);
            if port["nodePort"].is_null()
                && let Some(number) = same.map(|o| &o["nodePort"]).filter(|n| !n.is_null())
            {
                port["nodePort"] = number.clone();
            }
        }
    } else if has_node_ports(&current["spec"]) {
        for port in
            value["spec"]["ports"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut)
        {
            port.remove("nodePort");
        }
    }
    addresses(server, value);
}

/// A service's own address and ports on the nodes.
fn addresses(server: &Server, service: &mut Value) {
    let spec = &mut service["spec"];
    if spec["type"] == "ExternalName" {
        return;
    }
    if spec["clusterIP"].as_str().unwrap_or_default().is_empty() {
        spec["clusterIP"] = Value::from(server.service_address());
    }
    spec["clusterIPs"] = Value::Array(vec![spec["clusterIP"].clone()]);
    ip_families(spec);
    if has_node_ports(spec) {
        for port in spec["ports"].as_array_mut().into_iter().flatten() {
            if port["nodePort"].is_null() {
                port["nodePort"] = server.node_port().into();
            }
        }
    }
}

/// The families of a service without any: a headless one without selector gets all of them.
fn ip_families(spec: &mut Value) {
    let all =
        spec["clusterIP"] == "None" && spec["selector"].as_object().is_none_or(serde_json::Map::is_empty);
    let (families, policy) = match all {
        true => (json!(["IPv4", "IPv6"]), "RequireDualStack"),
        false => (json!(["IPv4"]), "SingleStack"),
    };
    if spec["ipFamilies"].is_null() {
        spec["ipFamilies"] = families;
    }
    if spec["ipFamilyPolicy"].is_null() {
        spec["ipFamilyPolicy"] = policy.into();
    }
}

fn has_node_ports(spec: &Value) -> bool {
    let balanced = spec["type"] == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false;
    spec["type"] == "NodePort" || balanced
}

/// `Priority`, and with controllers `ServiceAccount`.
fn pod(server: &Server, def: &ResourceDef, pod: &mut Value) -> ApiResult<()> {
    if server.controllers() && pod["spec"]["serviceAccountName"].as_str().unwrap_or_default().is_empty() {
        for field in ["serviceAccountName", "serviceAccount"] {
            pod["spec"][field] = "default".into();
        }
    }
    let class = pod["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let system = SYSTEM_PRIORITIES.iter().find(|(name, _)| *name == class);
    let (priority, policy) = match (system, class.as_str()) {
        (Some((_, priority)), _) => (*priority, json!("PreemptLowerPriority")),
        (None, "") => match default_class(server) {
            Some(class) => {
                pod["spec"]["priorityClassName"] = meta::name(&class).into();
                (class["value"].as_i64().unwrap_or(0), class["preemptionPolicy"].clone())
            }
            None => (0, json!("PreemptLowerPriority")),
        },
        (None, name) => {
            let found = server.store.get("priorityclasses.scheduling.k8s.io", name);
            let class = found.ok_or_else(|| {
                let text = format!("no PriorityClass with name {name} was found");
                ApiError::forbidden(def.about(meta::name(pod)), &text)
            })?;
            (class.value["value"].as_i64().unwrap_or(0), class.value["preemptionPolicy"].clone())
        }
    };
    pod["spec"]["priority"] = priority.into();
    if pod["spec"]["preemptionPolicy"].is_null() {
        pod["spec"]["preemptionPolicy"] = policy;
    }
    Ok(())
}

/// The class of pods that name none.
fn default_class(server: &Server) -> Option<Value> {
    let all = server.store.list("priorityclasses.scheduling.k8s.io", "", None).ok()?;
    all.objects.into_iter().map(|(_, class)| class.value.clone()).find(|class| class["globalDefault"] == true)
}

/// `DefaultStorageClass`.
fn storage_class(server: &Server, claim: &mut Value) {
    if !claim["spec"]["storageClassName"].is_null() {
        return;
    }
    let Ok(all) = server.store.list("storageclasses.storage.k8s.io", "", None) else { return };
    let key = "storageclass.kubernetes.io/is-default-class";
    let default = all.objects.iter().find(|(_, class)| class.value["metadata"]["annotations"][key] == "true");
    if let Some((name, _)) = default {
        claim["spec"]["storageClassName"] = name.to_string().into();
    }
}
