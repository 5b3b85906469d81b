//! Containers and volumes of a pod.

use serde_json::Value;

use super::{duplicate, items, one_of, text};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

/// Checks volumes; answers their names.
pub(super) fn volumes<'a>(list: &'a Value, path: &str, causes: &mut Vec<Cause>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (i, volume) in items(list) {
        named(volume, &format!("{path}[{i}]"), &mut names, causes);
        if volume.as_object().is_some_and(|v| v.len() > 2) {
            let text = "may not specify more than 1 volume type";
            let extra =
                volume.as_object().into_iter().flatten().map(|(k, _)| k).filter(|k| *k != "name").nth(1);
            let field = extra.map_or_else(|| format!("{path}[{i}]"), |key| format!("{path}[{i}].{key}"));
            causes.push(Cause::forbidden(field, text));
        }
    }
    names
}

/// A name that is a label and that no other element has.
fn named<'a>(element: &'a Value, path: &str, seen: &mut Vec<&'a str>, causes: &mut Vec<Cause>) {
    let name = text(element, "name");
    if name.is_empty() {
        causes.push(Cause::required(format!("{path}.name"), ""));
    } else if seen.contains(&name) {
        causes.push(duplicate(format!("{path}.name"), name));
    } else {
        for fault in NameRule::Label.check(name) {
            causes.push(Cause::invalid(format!("{path}.name"), quoted(name), &fault));
        }
    }
    seen.push(name);
}

/// Checks containers whose names differ from those in `names`.
pub(super) fn containers<'a>(
    list: &'a Value,
    path: &str,
    volumes: &[&str],
    names: &mut Vec<&'a str>,
    causes: &mut Vec<Cause>,
) {
    for (i, container) in items(list) {
        let path = format!("{path}[{i}]");
        named(container, &path, names, causes);
        if text(container, "image").is_empty() {
            causes.push(Cause::required(format!("{path}.image"), ""));
        }
        one_of(container, &path, "imagePullPolicy", &["Always", "IfNotPresent", "Never"], causes);
        ports(&container["ports"], &format!("{path}.ports"), causes);
        environment(&container["env"], &format!("{path}.env"), causes);
        mounts(&container["volumeMounts"], &format!("{path}.volumeMounts"), volumes, causes);
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            handler(&container[probe], &format!("{path}.{probe}"), causes);
        }
    }
}

fn ports(list: &Value, path: &str, causes: &mut Vec<Cause>) {
    let mut seen: Vec<&str> = Vec::new();
    for (i, port) in items(list) {
        let path = format!("{path}[{i}]");
        let name = text(port, "name");
        if !name.is_empty() && seen.contains(&name) {
            causes.push(duplicate(format!("{path}.name"), name));
        }
        seen.push(name);
        match port["containerPort"].as_i64() {
            None | Some(0) => causes.push(Cause::required(format!("{path}.containerPort"), "")),
            Some(number) if !(1..=65535).contains(&number) => {
                let text = "must be between 1 and 65535, inclusive";
                causes.push(Cause::invalid(format!("{path}.containerPort"), number, text));
            }
            Some(_) => {}
        }
        one_of(port, &path, "protocol", &["SCTP", "TCP", "UDP"], causes);
    }
}

fn environment(list: &Value, path: &str, causes: &mut Vec<Cause>) {
    for (i, variable) in items(list) {
        let path = format!("{path}[{i}]");
        if text(variable, "name").is_empty() {
            causes.push(Cause::required(format!("{path}.name"), ""));
        }
        if variable["valueFrom"].is_object() && !text(variable, "value").is_empty() {
            let text = "may not be specified when `value` is not empty";
            causes.push(Cause::invalid(format!("{path}.valueFrom"), "\"\"", text));
        }
    }
}

fn mounts(list: &Value, path: &str, volumes: &[&str], causes: &mut Vec<Cause>) {
    let mut seen: Vec<&str> = Vec::new();
    for (i, mount) in items(list) {
        let path = format!("{path}[{i}]");
        let (name, place) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            causes.push(Cause::required(format!("{path}.name"), ""));
        } else if !volumes.contains(&name) {
            let message = format!("Not found: {}", quoted(name));
            causes.push(Cause::new("FieldValueNotFound", format!("{path}.name"), message));
        }
        if place.is_empty() {
            causes.push(Cause::required(format!("{path}.mountPath"), ""));
        } else if seen.contains(&place) {
            let text = "must be unique";
            causes.push(Cause::invalid(format!("{path}.mountPath"), quoted(place), text));
        }
        seen.push(place);
    }
}

/// A probe has to say one thing that it does.
fn handler(probe: &Value, path: &str, causes: &mut Vec<Cause>) {
    if probe.is_null() {
        return;
    }
    let kinds = ["exec", "grpc", "httpGet", "tcpSocket"];
    let given: Vec<&str> = kinds.into_iter().filter(|kind| !probe[*kind].is_null()).collect();
    match given.as_slice() {
        [] => causes.push(Cause::required(path, "must specify a handler type")),
        [_] => {}
        [_, second, ..] => {
            let text = "may not specify more than 1 handler type";
            causes.push(Cause::forbidden(format!("{path}.{second}"), text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(container: Value) -> Vec<String> {
        let mut causes = Vec::new();
        let list = json!([container]);
        containers(&list, "c", &["v"], &mut Vec::new(), &mut causes);
        causes.into_iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    #[test]
    fn faults_are_told_by_path() {
        assert!(faults(json!({"name": "a", "image": "i"})).is_empty());
        assert_eq!(
            faults(json!({"name": "A_", "ports": [{"containerPort": 0}],
                "volumeMounts": [{"name": "x", "mountPath": "/"}], "livenessProbe": {}, "env": [{}]}))
            .iter()
            .map(|fault| fault.split(':').next().unwrap_or_default())
            .collect::<Vec<_>>(),
            [
                "c[0].name",
                "c[0].image",
                "c[0].ports[0].containerPort",
                "c[0].env[0].name",
                "c[0].volumeMounts[0].name",
                "c[0].livenessProbe"
            ]
        );
    }

    #[test]
    fn names_are_unique_and_volumes_have_one_source() {
        let mut causes = Vec::new();
        let list = json!([{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}, "hostPath": {}}]);
        assert_eq!(volumes(&list, "v", &mut causes), ["v", "v"]);
        let fields: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
        assert_eq!(fields, ["v[1].name", "v[1].hostPath"]);
    }
}
