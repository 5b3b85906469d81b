//! Services and what leads to them.

use kubesmith_apiextensions::structural::object_meta;
use kubesmith_apimachinery::names;
use serde_json::Value;

use super::{duplicate, fixed, is_empty, items, one_of, text};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

pub(in crate::builtin) fn service(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    let headless = spec["clusterIP"] == "None";
    let external = spec["type"] == "ExternalName";
    if is_empty(&spec["ports"]) && !headless && !external {
        causes.push(Cause::required("spec.ports", ""));
    }
    if external {
        external_name(spec, &mut causes);
    }
    ports(&spec["ports"], &mut causes);
    let selector = object_meta::validate_labels(&spec["selector"], "spec.selector");
    causes.extend(selector.into_iter().map(Cause::from));
    if let Some(was) = old.map(|old| &old["spec"])
        && !text(was, "clusterIP").is_empty()
        && was["clusterIP"] != spec["clusterIP"]
        && !external
        && was["type"] != "ExternalName"
    {
        causes.push(Cause::invalid("spec.clusterIPs[0]", &spec["clusterIPs"], "may not change once set"));
    }
    one_of(spec, "spec", "type", &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"], &mut causes);
    one_of(spec, "spec", "sessionAffinity", &["ClientIP", "None"], &mut causes);
    node_ports(spec, &mut causes);
    repeated_ports(&spec["ports"], &mut causes);
    causes
}

/// What an `ExternalName` service stands for; a dot at the end says that nothing is to be searched.
fn external_name(spec: &Value, causes: &mut Vec<Cause>) {
    let name = text(spec, "externalName");
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        causes.push(Cause::required("spec.externalName", ""));
        return;
    }
    let faults = NameRule::Subdomain.check(name).into_iter();
    causes.extend(faults.map(|fault| Cause::invalid("spec.externalName", quoted(name), &fault)));
}

fn ports(list: &Value, causes: &mut Vec<Cause>) {
    let count = list.as_array().map_or(0, Vec::len);
    let mut seen: Vec<&str> = Vec::new();
    for (i, port) in items(list) {
        let path = format!("spec.ports[{i}]");
        let name = text(port, "name");
        if !name.is_empty() {
            let faults = NameRule::Label.check(name).into_iter();
            causes.extend(faults.map(|it| Cause::invalid(format!("{path}.name"), quoted(name), &it)));
            if seen.contains(&name) {
                causes.push(duplicate(format!("{path}.name"), name));
            }
            seen.push(name);
        } else if count > 1 {
            causes.push(Cause::required(format!("{path}.name"), ""));
        }
        let number = port["port"].as_i64().unwrap_or_default();
        if !(1..=65535).contains(&number) {
            causes.push(Cause::invalid(format!("{path}.port"), number, PORT_RANGE));
        }
        one_of(port, &path, "protocol", &["SCTP", "TCP", "UDP"], causes);
        target_port(&port["targetPort"], &format!("{path}.targetPort"), causes);
        if let Some(protocol) = port["appProtocol"].as_str() {
            let faults = names::qualified_name(protocol).into_iter();
            let field = format!("{path}.appProtocol");
            causes.extend(faults.map(|it| Cause::invalid(&field, quoted(protocol), &it)));
        }
    }
}

/// A number, or the name of a container's port.
fn target_port(target: &Value, path: &str, causes: &mut Vec<Cause>) {
    match target {
        Value::String(name) => {
            let faults = names::port_name(name).into_iter();
            causes.extend(faults.map(|fault| Cause::invalid(path, quoted(name), &fault)));
        }
        Value::Number(number) if !number.as_i64().is_some_and(|it| (1..=65535).contains(&it)) => {
            causes.push(Cause::invalid(path, number, PORT_RANGE));
        }
        _ => {}
    }
}

/// Ports on the nodes belong to services that are reached from outside, one to each.
fn node_ports(spec: &Value, causes: &mut Vec<Cause>) {
    let given = |port: &Value| port["nodePort"].as_i64().filter(|number| *number != 0);
    if spec["type"] == "ClusterIP" {
        for (i, _) in items(&spec["ports"]).filter(|(_, port)| given(port).is_some()) {
            let text = "may not be used when `type` is 'ClusterIP'";
            causes.push(Cause::forbidden(format!("spec.ports[{i}].nodePort"), text));
        }
    }
    let mut seen = Vec::new();
    for (i, port) in items(&spec["ports"]) {
        let Some(number) = given(port) else { continue };
        let key = (number, text(port, "protocol"));
        if seen.contains(&key) {
            let field = format!("spec.ports[{i}].nodePort");
            causes.push(Cause::new("FieldValueDuplicate", field, format!("Duplicate value: {number}")));
        }
        seen.push(key);
    }
}

/// No two ports have number and protocol in common.
fn repeated_ports(list: &Value, causes: &mut Vec<Cause>) {
    let mut seen = Vec::new();
    for (i, port) in items(list) {
        let key = (&port["port"], text(port, "protocol"));
        if seen.contains(&key) {
            // The internal type that kube-apiserver counts ports by, as it shows it.
            let message = format!(
                r#"Duplicate value: {{"Name":"","Protocol":{},"AppProtocol":null,"Port":{},"TargetPort":0,"NodePort":0}}"#,
                quoted(key.1),
                key.0
            );
            causes.push(Cause::new("FieldValueDuplicate", format!("spec.ports[{i}]"), message));
        }
        seen.push(key);
    }
}

pub(in crate::builtin) fn ingress(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    if is_empty(&spec["rules"]) && spec["defaultBackend"].is_null() {
        let text = "either `defaultBackend` or `rules` must be specified";
        causes.push(Cause::invalid("spec", "[]", text));
    }
    backend(&spec["defaultBackend"], "spec.defaultBackend", &mut causes);
    for (i, rule) in items(&spec["rules"]) {
        for (j, path) in items(&rule["http"]["paths"]) {
            let at = format!("spec.rules[{i}].http.paths[{j}]");
            if text(path, "pathType").is_empty() {
                causes.push(Cause::required(format!("{at}.pathType"), "pathType must be specified"));
            }
            let supported = ["Exact", "ImplementationSpecific", "Prefix"];
            one_of(path, &at, "pathType", &supported, &mut causes);
            let absolute = text(path, "path").starts_with('/');
            if matches!(text(path, "pathType"), "Exact" | "Prefix") && !absolute {
                let value = quoted(text(path, "path"));
                causes.push(Cause::invalid(format!("{at}.path"), value, "must be an absolute path"));
            }
            backend(&path["backend"], &format!("{at}.backend"), &mut causes);
        }
    }
    causes
}

fn backend(backend: &Value, path: &str, causes: &mut Vec<Cause>) {
    let service = &backend["service"];
    if service.is_null() {
        return;
    }
    if text(service, "name").is_empty() {
        causes.push(Cause::required(format!("{path}.service.name"), ""));
    }
    let port = &service["port"];
    if port["number"].as_i64().unwrap_or(0) == 0 && text(port, "name").is_empty() {
        causes.push(Cause::required(path, "port name or number is required"));
    }
}

pub(in crate::builtin) fn endpoint_slice(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if text(object, "addressType").is_empty() {
        causes.push(Cause::required("addressType", ""));
    }
    let supported = ["FQDN", "IPv4", "IPv6"];
    let kind = text(object, "addressType");
    if !kind.is_empty() && !supported.contains(&kind) {
        causes.push(Cause::not_supported("addressType", &quoted(kind), &supported));
    }
    fixed("addressType", &object["addressType"], old.map(|old| &old["addressType"]), &mut causes);
    causes
}
