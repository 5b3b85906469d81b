//! Allocates and releases a Service's addresses and ports: pkg/registry/core/service/storage and strategy.go.

use serde_json::{Value, json};

use crate::server::Server;

/// The fields of addresses, which a Service without its own address lacks.
const ADDRESSES: &[&str] = &["clusterIP", "clusterIPs"];

/// Completes a new Service.
pub(super) fn created(server: &Server, service: &mut Value) {
    allocate(server, &mut service["spec"]);
}

/// Completes a Service that replaces another.
pub(super) fn updated(server: &Server, current: &Value, service: &mut Value) {
    let (old, new) = (&current["spec"], &mut service["spec"]);
    keep(old, new);
    drop_dependent(old, new);
    allocate(server, new);
}

/// Keeps allocated values that the client left out (`patchAllocatedValues`).
fn keep(old: &Value, new: &mut Value) {
    if needs_address(old) && needs_address(new) {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if new[field].is_null() || new[field] == "" {
                copy(old, new, field);
            }
        }
    }
    if needs_node_ports(old) && needs_node_ports(new) {
        let used: Vec<Value> = ports(new).filter_map(|port| port.get("nodePort").cloned()).collect();
        for port in new["ports"].as_array_mut().into_iter().flatten() {
            let same = ports(old).find(|own| own["name"] == port["name"]);
            let number = same.map(|own| &own["nodePort"]).filter(|own| !own.is_null() && !used.contains(own));
            if let (true, Some(number)) = (port["nodePort"].is_null(), number) {
                port["nodePort"] = number.clone();
            }
        }
    }
}

/// Drops fields that the new type does not use, unless the client changed them (`dropTypeDependentFields`).
fn drop_dependent(old: &Value, new: &mut Value) {
    let mut unused: Vec<&str> = Vec::new();
    if needs_address(old) && !needs_address(new) {
        if ADDRESSES.iter().all(|field| old[*field] == new[*field]) {
            unused.extend(ADDRESSES);
        }
        unused.extend(["ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    }
    let is_balanced = |spec: &Value| spec["type"] == "LoadBalancer";
    if is_balanced(old) && !is_balanced(new) {
        unused.extend(["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]);
    }
    let is_external = |spec: &Value| is_balanced(spec) || spec["type"] == "NodePort";
    if is_external(old) && !is_external(new) {
        unused.push("externalTrafficPolicy");
    }
    let numbers = |spec: &Value| ports(spec).map(|port| port["nodePort"].clone()).collect::<Vec<_>>();
    if needs_node_ports(old) && !needs_node_ports(new) && numbers(old) == numbers(new) {
        for port in new["ports"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            port.remove("nodePort");
        }
    }
    if let Some(new) = new.as_object_mut() {
        new.retain(|field, value| !unused.contains(&field.as_str()) || old[field] != *value);
    }
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    if !from[field].is_null() {
        to[field] = from[field].clone();
    }
}

fn ports(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["ports"].as_array().into_iter().flatten()
}

/// Allocates the address and the node ports of a Service.
fn allocate(server: &Server, spec: &mut Value) {
    if !needs_address(spec) {
        return;
    }
    let is_given = |value: &Value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    // The check refuses `clusterIPs` without `clusterIP` (`NormalizeClusterIPs`).
    if !is_given(&spec["clusterIP"]) && !is_given(&spec["clusterIPs"]) {
        spec["clusterIP"] = server.service_address().into();
    }
    if is_given(&spec["clusterIP"]) {
        spec["clusterIPs"] = Value::Array(vec![spec["clusterIP"].clone()]);
    }
    ip_families(spec);
    if needs_node_ports(spec) {
        for port in spec["ports"].as_array_mut().into_iter().flatten() {
            if port["nodePort"].is_null() {
                port["nodePort"] = server.node_port().into();
            }
        }
    }
    let is_checked = spec["type"] == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local";
    if is_checked && matches!(spec["healthCheckNodePort"].as_i64(), None | Some(0)) {
        spec["healthCheckNodePort"] = server.node_port().into();
    }
}

/// Sets the families of a Service without any: a headless one without selector gets all of them.
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

fn needs_address(spec: &Value) -> bool {
    spec["type"] != "ExternalName"
}

fn needs_node_ports(spec: &Value) -> bool {
    let balanced = spec["type"] == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false;
    spec["type"] == "NodePort" || balanced
}
