//! `componentstatuses`: the status of the control plane's parts. They are computed, so they can only be read.

use std::sync::Arc;

use ::http::Method;
use serde_json::{Map, json};

use super::{list, read};
use crate::http::reply::Reply;
use crate::meta;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::store::Object;

/// The components besides the store, and the ports of their health checks in kube-apiserver (`serversToValidate` of
/// pkg/registry/core/rest/storage_core.go).
const MANAGER: (&str, u16) = ("controller-manager", 10257);
const SCHEDULER: (&str, u16) = ("scheduler", 10259);

/// Runs a verb. The store is always healthy; the others are if the server does their work.
pub(super) async fn dispatch(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    if *method != Method::GET || call.path.watch {
        return Err(ApiError::method_not_allowed());
    }
    let options = call.server.options();
    let part = |(name, port): (&str, u16), runs: bool| component(name, if runs { Ok(()) } else { Err(port) });
    let components = [
        part(MANAGER, options.controllers),
        component("etcd-0", Ok(())),
        part(SCHEDULER, options.simulated_node),
    ];
    match call.path.name.as_str() {
        "" => list::answer(call, &components, Map::new()).await,
        name => match components.iter().find(|component| meta::name(&component.value) == name) {
            Some(component) => read::shown(call, 200, component).await,
            None => Err(ApiError::not_found(call.def.subject(name))),
        },
    }
}

/// Returns the status of a component; one that does not run refuses connections on its port.
fn component(name: &str, health: Result<(), u16>) -> Arc<Object> {
    let (status, message) = match health {
        Ok(()) => ("True", "ok".to_owned()),
        Err(port) => {
            let url = format!("https://127.0.0.1:{port}/healthz");
            ("False", format!("Get {url:?}: dial tcp 127.0.0.1:{port}: connect: connection refused"))
        }
    };
    Arc::new(Object::unstored(json!({
        "apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": name},
        "conditions": [{"type": "Healthy", "status": status, "message": message}],
    })))
}
