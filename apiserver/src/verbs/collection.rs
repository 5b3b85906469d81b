//! DELETE of a collection.

use std::sync::Arc;

use super::delete::delete_one;
use super::list;
use crate::http::list_options::ListOptions;
use crate::http::reply::Reply;
use crate::lifecycle::DeleteOptions;
use crate::server::Call;
use crate::status::ApiResult;
use crate::store::Object;

/// Deletes the objects that a list with the same options selects, and returns that list. With a limit, the rest stays.
pub(super) async fn delete_collection(call: &Call<'_>) -> ApiResult<Reply> {
    let listed = ListOptions::parse(&call.query)?;
    let options = DeleteOptions::parse(call)?;
    options.warn_of_orphans(call);
    let page = list::page(call, &listed).await?;
    let mut deleted: Vec<Arc<Object>> = Vec::new();
    for (key, object) in page.objects {
        match delete_one(call, &key, "", &options).await {
            Ok(_) => deleted.push(object),
            // Another client deleted it in the meantime.
            Err(error) if error.code() == 404 => {}
            Err(error) => return Err(error),
        }
    }
    list::answer(call, &deleted, page.metadata).await
}
