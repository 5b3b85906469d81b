//! Subresources that are actions: binding and evicting pods, tokens of service accounts, and requests to a kubelet.

mod eviction;
mod kubelet;
mod log;
mod token;

use std::marker::PhantomData;
use std::sync::Arc;

use ::http::Method;
use kubesmith_apimachinery::errors::aggregate;
use serde_json::{Value, json};

use super::write::{self, Storage, Write};
use super::{admit, update};
use crate::admission::{self, Attributes, Operation, Options};
use crate::bodies;
use crate::conversion::Served;
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::meta;
use crate::names::quoted;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::store::{Object, WriteError};
use crate::tokens;

/// Handles the subresource of a path; `None` when it is no action.
pub(super) async fn dispatch(call: &Call<'_>, method: &Method) -> Option<ApiResult<Reply>> {
    let action = (call.def.collection.as_str(), call.path.subresource.as_str());
    let known = matches!(
        action,
        ("pods", "binding" | "eviction" | "log" | "exec" | "attach" | "portforward" | "proxy")
            | ("serviceaccounts", "token")
            | ("bindings", "")
            | ("services" | "nodes", "proxy")
    );
    if !known {
        return None;
    }
    Some(match action {
        (_, "binding") | ("bindings", _) if *method == Method::POST => bind(call).await,
        (_, "eviction") if *method == Method::POST => eviction::evict(call).await,
        (_, "token") if *method == Method::POST => token::create(call).await,
        (_, "binding" | "eviction" | "token") | ("bindings", _) => Err(ApiError::method_not_allowed()),
        (_, "log") => kubelet::log(call),
        _ => connect(call).await,
    })
}

/// Runs an action on the object in the body, which is a binding, an eviction or a token request.
async fn run<T: Send>(
    call: &Call<'_>,
    act: impl FnMut(&Storage<'_>, Value) -> ApiResult<Option<T>> + Send,
) -> ApiResult<T> {
    let kind = admission::kind_of_subresource(&call.def.plural, &call.path.subresource);
    let (group, version, kind) = kind.unwrap_or(("", "v1", &call.def.kind));
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let mut body = bodies::read_typed(call, (group, version, kind), &options)?;
    bodies::settle_namespace(call, &mut body)?;
    admit::dedup_owners(call, &mut body, false);
    if kind == tokens::REQUEST {
        token::default(&mut body);
    }
    let request = Attributes {
        call,
        operation: Operation::Create,
        name: &call.path.name,
        old: None,
        options: Options::Write(&options),
        dry_run: options.dry_run,
    };
    write::run(request, &mut Connect { body, act, done: PhantomData }).await
}

/// A write whose object is an action and is not stored.
struct Connect<A, T> {
    body: Value,
    act: A,
    done: PhantomData<fn() -> T>,
}

impl<A, T> Write for Connect<A, T>
where
    A: FnMut(&Storage<'_>, Value) -> ApiResult<Option<T>> + Send,
    T: Send,
{
    type Done = T;

    fn stored(&mut self) -> ApiResult<Option<Arc<Object>>> {
        Ok(None)
    }

    async fn wanted(&mut self, _: Option<&Value>) -> ApiResult<Option<Value>> {
        Ok(Some(self.body.clone()))
    }

    fn prepare(&mut self, _: Option<&Served>, _: Option<&mut Value>) -> ApiResult<()> {
        Ok(())
    }

    fn commit(
        &mut self,
        storage: &Storage<'_>,
        _: Option<&Arc<Object>>,
        object: Option<Value>,
    ) -> ApiResult<Option<T>> {
        (self.act)(storage, object.unwrap_or_default())
    }
}

/// Refuses an object without a name (`NamespaceKeyFunc` of apiserver's pkg/registry/generic/registry).
fn has_name(name: &str) -> ApiResult<()> {
    if name.is_empty() { Err(ApiError::bad_request("Name parameter required.")) } else { Ok(()) }
}

fn success(call: &Call<'_>) -> Reply {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Reply::value(201, &status, call.accepted.form)
}

/// Binds a pod to a node.
async fn bind(call: &Call<'_>) -> ApiResult<Reply> {
    run(call, |storage, binding| bound(call, storage, &binding)).await?;
    Ok(success(call))
}

/// `ValidatePodBinding` of pkg/apis/core/validation, whose errors have no status.
fn check_target(target: &Value) -> ApiResult<()> {
    let text = |field: &str| target[field].as_str().unwrap_or_default();
    let mut causes = Vec::new();
    if !matches!(text("kind"), "" | "Node") {
        causes.push(Cause::not_supported("target.kind", &quoted(text("kind")), &["Node", "<empty>"]));
    }
    if text("name").is_empty() {
        causes.push(Cause::required("target.name", ""));
    }
    let faults = aggregate(causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)));
    if faults.is_empty() { Ok(()) } else { Err(ApiError::unexpected(faults)) }
}

fn bound(call: &Call<'_>, storage: &Storage<'_>, binding: &Value) -> ApiResult<Option<()>> {
    // The deprecated form of a binding names the pod only in the object.
    let name = if call.path.name.is_empty() { meta::name(binding) } else { &call.path.name };
    if meta::name(binding) != name {
        return Err(ApiError::bad_request("name in URL does not match name in Binding object"));
    }
    check_target(&binding["target"])?;
    has_name(name)?;
    let node = binding["target"]["name"].as_str().unwrap_or_default();
    let missing = || ApiError::not_found(ErrorSubject::new("", "pods", name));
    let def = call.server.registry().find("", "v1", "pods").ok_or_else(missing)?;
    let key = def.key(&call.path.namespace, name);
    let stored = call.server.store.get(&def.collection, &key).ok_or_else(missing)?;
    let pod: &Value = &stored.value;
    let bound = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let refuse = |text: &str| Err(ApiError::conflict(ErrorSubject::new("", "pods/binding", name), text));
    // Only the subresource keeps the UID of the binding (`PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate`).
    let uid = (!call.path.name.is_empty()).then_some(("uid", "UID"));
    for (field, shown) in uid.into_iter().chain([("resourceVersion", "ResourceVersion")]) {
        let (wanted, is) = (meta::text(binding, field), meta::text(pod, field));
        if !wanted.is_empty() && wanted != is {
            return Err(update::precondition_failed(
                &def,
                &def.storage_key(&call.path.namespace, name),
                name,
                (shown, wanted, is),
            ));
        }
    }
    if meta::is_terminating(pod) {
        return refuse(&format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if !bound.is_empty() {
        return refuse(&format!("pod {name} is already assigned to node {bound:?}"));
    }
    if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
        return refuse(&format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    let mut next = pod.clone();
    next["spec"]["nodeName"] = node.into();
    meta::map_at(&mut next, "status").remove("nominatedNodeName");
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            meta::map_at(&mut next["metadata"], field).insert(key.clone(), value.clone());
        }
    }
    let scheduled = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null,
                           "lastTransitionTime": call.server.now()});
    let conditions = next["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let others = conditions.into_iter().filter(|c| c["type"] != "PodScheduled");
    next["status"]["conditions"] = others.chain([scheduled]).collect();
    match storage.update(&def, &key, &stored, next) {
        Ok(_) => Ok(Some(())),
        Err(WriteError::NotFound) => Err(missing()),
        Err(_) => Ok(None),
    }
}

/// Runs admission for a connection before it is opened (`ConnectResource` of endpoints/handlers/rest.go).
async fn connect(call: &Call<'_>) -> ApiResult<Reply> {
    let mut options = connect_options(call);
    let request = Attributes {
        call,
        operation: Operation::Connect,
        name: &call.path.name,
        old: None,
        options: Options::Connect,
        dry_run: false,
    };
    admission::mutate(&request, Some(&mut options)).await?;
    admission::validate(&request, Some(&options)).await?.keep();
    kubelet::answer(call, &options)
}

/// Returns the object of a connection: its query as the options of its kind (`PodExecOptions` and the like).
fn connect_options(call: &Call<'_>) -> Value {
    let kind = admission::kind_of_subresource(&call.def.plural, &call.path.subresource);
    let mut options = json!({"kind": kind.map_or("", |(_, _, kind)| kind), "apiVersion": "v1"});
    let query = &call.query;
    match call.path.subresource.as_str() {
        "exec" | "attach" => {
            for stream in ["stdin", "stdout", "stderr", "tty"].into_iter().filter(|name| query.flag(name)) {
                options[stream] = true.into();
            }
            if !query.get("container").is_empty() {
                options["container"] = query.get("container").into();
            }
            if call.path.subresource == "exec" {
                options["command"] = query.all("command").into();
            }
        }
        "portforward" => {
            let ports: Vec<i64> = query.all("ports").iter().filter_map(|port| port.parse().ok()).collect();
            if !ports.is_empty() {
                options["ports"] = ports.into();
            }
        }
        _ if !call.path.proxied.is_empty() => options["path"] = format!("/{}", call.path.proxied).into(),
        _ if !query.get("path").is_empty() => options["path"] = query.get("path").into(),
        _ => {}
    }
    options
}
