//! The kubelet's responses: logs, commands and attachments, as far as the test sets them; see [`crate::containers`].
//!
//! Source: `pkg/registry/core/pod/strategy.go` and `pkg/registry/core/pod/rest` for the requests, `pkg/kubelet/server` for the paths
//! behind a node's `proxy`.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use super::log::{Follow, LogOptions};
use crate::containers::{self, PROTOCOLS, Session};
use crate::http::reply::Reply;
use crate::http::upgrade;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, ErrorSubject};
use crate::store::Object;
use crate::verbs::write;

const LOG_TYPE: &str = "text/plain";
const PODS: &str = "pods";

/// Handles `exec`, `attach`, `portforward` and `proxy` after admission.
pub(super) fn answer(call: &Call<'_>, options: &Value) -> ApiResult<Reply> {
    let object = write::at_path(call)?;
    match (call.def.collection.as_str(), call.path.subresource.as_str()) {
        (PODS, "exec" | "attach") => {
            let container = options["container"].as_str().unwrap_or_default();
            stream(call, &object.value, container, options)
        }
        ("nodes", "proxy") => node(call),
        _ => no_kubelet(call, &object.value),
    }
}

/// Handles a path of the node's kubelet that names a container, with or without the pod's UID.
fn node(call: &Call<'_>) -> ApiResult<Reply> {
    let parts: Vec<&str> = call.path.proxied.split('/').collect();
    let (what, namespace, name, container) = match parts.as_slice() {
        [what, namespace, pod, container] | [what, namespace, pod, _, container] => {
            (*what, *namespace, *pod, *container)
        }
        _ => return no_kubelet(call, &Value::Null),
    };
    let pod = call.server.store.get(PODS, &format!("{namespace}/{name}"));
    let pod = pod.filter(|pod| pod.value["spec"]["nodeName"] == call.path.name.as_str());
    let pod = pod.ok_or_else(|| ApiError::not_found(ErrorSubject::new("", PODS, name)))?;
    match what {
        "exec" | "attach" => {
            let flag = |name: &str| call.query.flag(name);
            let command = if what == "exec" { call.query.all("command") } else { Vec::new() };
            let options = json!({"stdin": flag("input"), "stdout": flag("output"), "stderr": flag("error"),
                                 "tty": flag("tty"), "command": command});
            stream(call, &pod.value, container, &options)
        }
        "containerLogs" => show_log(call, &pod, container),
        _ => no_kubelet(call, &Value::Null),
    }
}

/// Connects a client to a command in a container.
fn stream(call: &Call<'_>, pod: &Value, container: &str, options: &Value) -> ApiResult<Reply> {
    let container = containers::container(pod, container)?;
    check_host(pod)?;
    if !upgrade::is_asked(call.headers) {
        return Err(ApiError::bad_request("Upgrade request required"));
    }
    containers::check_streams(options)?;
    if !containers::runs(pod, &container.name) {
        let text = format!("unable to upgrade connection: container not found ({:?})", container.name);
        return Err(ApiError::internal(text));
    }
    let words = options["command"].as_array().into_iter().flatten();
    let command: Vec<String> = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
    let runner = call.server.options().containers.runner(pod, &container, &command)?;
    let reply = upgrade::accept(call.headers, PROTOCOLS)?;
    let Some(connection) = call.upgrade.clone() else {
        return Err(ApiError::bad_request("this connection cannot be upgraded: use HTTP/1.1"));
    };
    let session = Session { container, command, runner, options: options.clone() };
    call.server.sessions.spawn(session.run(connection, call.server.stopping()));
    Ok(reply)
}

/// Returns a pod's log.
pub(super) fn log(call: &Call<'_>) -> ApiResult<Reply> {
    show_log(call, &write::at_path(call)?, call.query.get("container"))
}

fn show_log(call: &Call<'_>, pod: &Arc<Object>, container: &str) -> ApiResult<Reply> {
    let server = &call.server;
    let name = pod.value["metadata"]["name"].as_str().unwrap_or_default();
    let options = LogOptions::parse(&call.query, name, server.timestamp())?;
    let container = containers::container(&pod.value, container)?;
    if pod.value["spec"]["nodeName"].as_str().unwrap_or_default().is_empty() {
        return Ok(Reply::empty(204));
    }
    // Later writes wake a follower.
    let cursor = server.store.watch(PODS, server.store.current());
    let Some(log) = options.log(server, &pod.value, &container)? else {
        return Err(ApiError::internal(format!(
            "this server runs no containers, and nothing says what the log of {:?} is: set the annotation \
             log.kubesmith.dev/{} of pod {name:?}",
            container.name, container.name
        )));
    };
    if !options.follow {
        return Ok(Reply::text_of(LOG_TYPE, options.chosen(&log)));
    }
    let place = (PODS.to_owned(), format!("{}/{}", container.namespace, container.pod));
    let follow = Follow { server: server.clone(), options, container, cursor, place };
    Ok(Reply::streamed(LOG_TYPE, follow.parts(log)))
}

fn check_host(pod: &Value) -> ApiResult<()> {
    if !pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty() {
        return Ok(());
    }
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    Err(ApiError::bad_request(format!("pod {name} does not have a host assigned")))
}

/// Returns the error of a node without a kubelet.
fn no_kubelet(call: &Call<'_>, object: &Value) -> ApiResult<Reply> {
    // pkg/registry/core/pod/rest/subresources.go, and `IsProxyableIP` of kubernetes' pkg/proxy/util.
    let ip = object["status"]["podIP"].as_str().unwrap_or_default().parse::<IpAddr>();
    if (call.def.collection.as_str(), call.path.subresource.as_str()) == (PODS, "proxy")
        && ip.map_or(true, |ip| !is_proxyable(ip))
    {
        return Err(ApiError::bad_request("address not allowed"));
    }
    let (collection, sub, name) = (&call.def.collection, &call.path.subresource, &call.path.name);
    if collection == PODS {
        check_host(object)?;
    }
    Err(ApiError::internal(format!(
        "this server runs no containers: {collection}/{sub} of {name:?} has no answer"
    )))
}

fn is_proxyable(ip: IpAddr) -> bool {
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    !ip.is_loopback() && !is_link_local && !ip.is_multicast()
}
