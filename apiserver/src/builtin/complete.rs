//! Completes built-in objects before they are checked: blank status, defaults and allocated addresses. Nobody owns these
//! fields.

use serde_json::{Value, json};

use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::types;

/// Completes a new object whose identity is settled.
pub(crate) fn created(server: &Server, def: &ResourceDef, value: &mut Value) {
    let Behaviour::BuiltIn(kind) = &def.behaviour else { return };
    if kind.status && value["status"].is_null() {
        let blank = kind.message().map(types::decode::blank);
        if let Some(status) = blank.and_then(|mut blank| blank.get_mut("status").map(Value::take)) {
            value["status"] = status;
        }
    }
    (kind.default)(value, super::Stage::Create);
    (kind.prepare)(value);
    if def.collection == "services" {
        addresses(server, value);
    }
}

/// Completes an object that replaces `current`.
pub(crate) fn updated(server: &Server, def: &ResourceDef, current: &Value, value: &mut Value) {
    if def.collection == "services" {
        keep_addresses(server, current, value);
    }
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
