//! Services and what leads to them.

use serde_json::Value;

use super::{fixed, is_empty, items, one_of, text};
use crate::status::Cause;

pub(in crate::builtin) fn service(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    let headless = spec["clusterIP"] == "None";
    let external = spec["type"] == "ExternalName";
    if is_empty(&spec["ports"]) && !headless && !external {
        causes.push(Cause::required("spec.ports", ""));
    }
    let count = spec["ports"].as_array().map_or(0, Vec::len);
    for (i, port) in items(&spec["ports"]) {
        let path = format!("spec.ports[{i}]");
        if count > 1 && text(port, "name").is_empty() {
            causes.push(Cause::required(format!("{path}.name"), ""));
        }
        let number = port["port"].as_i64().unwrap_or_default();
        if !(1..=65535).contains(&number) {
            let text = "must be between 1 and 65535, inclusive";
            causes.push(Cause::invalid(format!("{path}.port"), number, text));
        }
        one_of(port, &path, "protocol", &["SCTP", "TCP", "UDP"], &mut causes);
    }
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
    causes
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
                let value = crate::names::quoted(text(path, "path"));
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
        causes.push(Cause::not_supported("addressType", &crate::names::quoted(kind), &supported));
    }
    fixed("addressType", &object["addressType"], old.map(|old| &old["addressType"]), &mut causes);
    causes
}
