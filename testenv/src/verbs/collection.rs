//! DELETE of a collection.

use serde_json::json;

use super::delete::{DeleteOptions, delete_one, seen};
use super::read::Selectors;
use crate::http::reply::Reply;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};

pub(super) async fn delete_collection(call: &Call<'_>) -> ApiResult<Reply> {
    let def = &call.def;
    let options = DeleteOptions::parse(call)?;
    let selectors = Selectors::parse(call, "")?;
    let prefix = def.prefix(&call.path.namespace);
    let snapshot = call
        .server
        .store
        .list(&def.collection, &prefix, None)
        .map_err(|_| ApiError::internal("the present state could not be listed"))?;
    let mut items = Vec::new();
    for (key, object) in snapshot.objects.iter().filter(|(_, object)| selectors.matches(object)) {
        match delete_one(call, key, "", &options).await {
            Ok(_) => items.push(seen(call, object)),
            // Somebody else deleted it in the meantime.
            Err(error) if error.code() == 404 => {}
            Err(error) => return Err(error),
        }
    }
    let list = json!({
        "apiVersion": def.api_version(), "kind": def.list_kind,
        "metadata": {"resourceVersion": snapshot.rv.to_string()}, "items": items,
    });
    Ok(Reply::value(200, &list, call.accepted.yaml))
}
