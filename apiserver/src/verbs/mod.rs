//! The verbs of a resource.

mod admit;
mod collection;
mod complete;
mod components;
mod connect;
mod create;
mod delete;
mod encoded_list;
mod field_selectors;
pub(crate) mod internal_writes;
mod list;
mod patch;
mod read;
mod review;
mod scale;
mod selectors;
mod services;
mod update;
mod watch;
mod write;

use ::http::Method;

use crate::http::list_options::ListOptions;
use crate::http::reply::Reply;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};

/// Finds the verb of a request and runs it.
pub(crate) async fn dispatch(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    if call.def.is_review() && (*method != Method::POST || !call.path.name.is_empty()) {
        return Err(ApiError::method_not_allowed());
    }
    // A Binding is an action; other reviews are queries.
    if call.def.is_review() && !call.def.group.is_empty() {
        return review::create(call).await;
    }
    // An object has a namespace. The handler of custom resources sees no empty one, and the deprecated prefix reads a list.
    let names_object = !call.path.name.is_empty() || call.def.is_review();
    if call.path.empty_namespace && call.def.namespaced && names_object && !call.path.watch {
        return Err(no_namespace());
    }
    // Built-in kinds have no such route; the handler of custom resources treats it as a GET.
    if *method == Method::HEAD && !call.def.is_custom() {
        return Err(not_supported(call, method));
    }
    if call.def.is_computed() {
        return components::dispatch(call, method).await;
    }
    if !call.def.is_custom()
        && let Some(answer) = connect::dispatch(call, method).await
    {
        return answer;
    }
    match call.path.subresource.as_str() {
        "" => {}
        "status" if call.def.status => return item(call, method).await,
        "scale" if call.def.scale.is_some() => return scale::dispatch(call, method).await,
        // `FinalizeREST` of pkg/registry/core/namespace/storage can be updated alone.
        "finalize" if *method != Method::PUT && call.def.part("finalize").is_some() => {
            return Err(ApiError::method_not_allowed());
        }
        sub if call.def.part(sub).is_some() => return item(call, method).await,
        _ if call.def.is_custom() => return Err(ApiError::not_found(call.def.subject(&call.path.name))),
        _ => return Err(ApiError::NoSuchPath),
    }
    if call.path.name.is_empty() { all(call, method).await } else { item(call, method).await }
}

/// Handles requests for a collection.
async fn all(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    let everywhere = call.def.namespaced && call.path.is_without_namespace();
    match *method {
        Method::GET | Method::HEAD => {
            let options = ListOptions::parse(&call.query)?;
            if call.path.watch || options.watch {
                watch::watch(call, "", &options).await
            } else {
                list::list(call, &options).await
            }
        }
        Method::POST if !everywhere => create::create(call).await,
        Method::DELETE if call.def.collection == "namespaces" => Err(ApiError::method_not_allowed()),
        Method::DELETE if !everywhere => collection::delete_collection(call).await,
        Method::PUT | Method::PATCH if call.def.is_custom() => {
            Err(ApiError::bad_request("name must be provided"))
        }
        _ => Err(not_supported(call, method)),
    }
}

/// Refuses a request for a namespaced custom resource without a namespace.
fn no_namespace() -> ApiError {
    ApiError::bad_request("Namespace parameter required.")
}

/// Refuses a verb: kube-apiserver's handler for custom resources names it, its router for other resources does not.
fn not_supported(call: &Call<'_>, method: &Method) -> ApiError {
    if !call.def.is_custom() {
        return ApiError::method_not_allowed();
    }
    let verb = match *method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::GET | Method::HEAD => "get",
        _ => "",
    };
    ApiError::method_not_supported(call.def.subject(""), verb)
}

/// Handles requests for one object or a subresource that is a part of it.
async fn item(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    if call.def.namespaced && call.path.namespace.is_empty() {
        return Err(no_namespace());
    }
    // `namespaces//status`
    if call.path.name.is_empty() {
        return Err(ApiError::bad_request("name must be provided"));
    }
    let main = call.path.subresource.is_empty();
    match *method {
        // Only the deprecated prefix watches one object: `watch=true` has no effect on an object's path.
        Method::GET | Method::HEAD if main && call.path.watch => {
            watch::watch(call, &call.path.name, &ListOptions::parse(&call.query)?).await
        }
        Method::GET | Method::HEAD => read::get(call).await,
        Method::PUT => update::put(call).await,
        Method::PATCH => patch::patch(call).await,
        Method::DELETE if main => delete::delete(call).await,
        // kube-apiserver's handler for custom resources ignores the name of a POST.
        Method::POST if main && call.def.is_custom() => create::create(call).await,
        _ => Err(not_supported(call, method)),
    }
}
