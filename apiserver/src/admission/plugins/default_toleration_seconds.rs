//! `DefaultTolerationSeconds`: a pod stays on a broken node for five minutes, unless it says otherwise.

use serde_json::{Value, json};

use super::super::{Attributes, Operation};
use super::object_of;
use crate::status::ApiResult;

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let both = [Operation::Create, Operation::Update];
    if let Some(pod) = object_of(attributes, object, "pods", &both) {
        tolerate_broken_nodes(pod);
    }
    Ok(())
}

fn tolerate_broken_nodes(pod: &mut Value) {
    let spec = &mut pod["spec"];
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerations = spec["tolerations"].as_array().map_or(&[][..], Vec::as_slice);
        let tolerated = |t: &Value| {
            let effect = t["effect"].as_str().unwrap_or_default();
            (t["key"] == key || t["key"].as_str().unwrap_or_default().is_empty())
                && (effect == "NoExecute" || effect.is_empty())
        };
        if tolerations.iter().any(tolerated) {
            continue;
        }
        let toleration =
            json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
        match spec["tolerations"].as_array_mut() {
            Some(list) => list.push(toleration),
            None => spec["tolerations"] = json!([toleration]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_tolerations_are_added_unless_pod_has_its_own() {
        let tolerations = |own: Value| {
            let mut pod = json!({"spec": {"tolerations": own}});
            tolerate_broken_nodes(&mut pod);
            pod["spec"]["tolerations"].as_array().unwrap().len()
        };
        assert_eq!(tolerations(Value::Null), 2);
        assert_eq!(tolerations(json!([{"operator": "Exists"}])), 1);
        assert_eq!(tolerations(json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}])), 2);
    }
}
