//! DELETE of a collection.

use serde_json::{Value, json};

use super::delete::{DeleteOptions, delete_one};
use super::read::Selectors;
use crate::conversion::{self, Served};
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
    let mut deleted = Vec::new();
    for (key, object) in selectors.selected(&call.server, snapshot.objects.into_iter()).await? {
        match delete_one(call, &key, "", &options).await {
            Ok(_) => deleted.push(object),
            // Somebody else deleted it in the meantime.
            Err(error) if error.code() == 404 => {}
            Err(error) => return Err(error),
        }
    }
    let served = conversion::all(&call.server, def, &deleted).await?;
    let items: Vec<&Value> = served.iter().map(Served::value).collect();
    let mut list = json!({
        "apiVersion": def.api_version(), "kind": def.list_kind,
        "metadata": {"resourceVersion": snapshot.rv.to_string()}, "items": items,
    });
    if def.is_custom() {
        list["metadata"]["continue"] = "".into();
    }
    Ok(Reply::value(200, &list, call.accepted.yaml))
}
