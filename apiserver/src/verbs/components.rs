//! `componentstatuses`: what the control plane says of its parts. They are computed, so they can only be read.

use std::sync::Arc;

use ::http::Method;
use serde_json::{Map, json};

use super::{list, read};
use crate::http::reply::Reply;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::store::Object;

/// Runs a verb. The server's one part is its store, which is healthy as long as it answers.
pub(super) async fn dispatch(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    if !matches!(*method, Method::GET | Method::HEAD) || call.path.watch {
        return Err(ApiError::method_not_allowed());
    }
    let store = Arc::new(Object::unstored(json!({
        "apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": "etcd-0"},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    })));
    match call.path.name.as_str() {
        "" => list::answer(call, &[store], Map::new()).await,
        "etcd-0" => read::shown(call, 200, &store).await,
        name => Err(ApiError::not_found(call.def.about(name))),
    }
}
