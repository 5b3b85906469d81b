//! `PodTopologyLabels`: a pod gets zone and region of its node (plugin/pkg/admission/podtopologylabels/admission.go).

use serde_json::Value;

use super::super::{Attributes, Operation};
use crate::meta;
use crate::status::ApiResult;

/// The labels of nodes that pods get.
const COPIED: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let call = attributes.call;
    let Some(object) = object.filter(|_| attributes.operation == Operation::Create) else { return Ok(()) };
    let node = match (call.def.collection.as_str(), call.path.subresource.as_str()) {
        ("pods", "") => &object["spec"]["nodeName"],
        ("pods", "binding") if object["target"]["kind"] == "Node" => &object["target"]["name"],
        _ => return Ok(()),
    };
    let Some(node) = node.as_str().and_then(|name| call.server.store.get("nodes", name)) else {
        return Ok(());
    };
    for label in COPIED {
        if let Some(value) = node.value["metadata"]["labels"].get(label) {
            // A binding's labels become those of the pod.
            meta::map_at(&mut object["metadata"], "labels").insert(label.to_owned(), value.clone());
        }
    }
    Ok(())
}
