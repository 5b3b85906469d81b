//! The attributes of a request for authorization: `RequestInfo` of apiserver/pkg/endpoints/request/requestinfo.go.

use std::time::Duration;

use http::Method;
use http::request::Parts;
use kubesmith_apiextensions::formats::parse_go_duration;
use serde_json::Value;

use super::{Attributes, Resource, Target};
use crate::http::path;
use crate::http::query::Query;
use crate::status::{ApiError, ApiResult};

/// The time limit of requests; kube-apiserver's `--request-timeout`.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The parts of a request that rules match.
pub(crate) struct Request<'a> {
    verb: String,
    path: &'a str,
    resource: Option<Resource<'a>>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(parts: &'a Parts, target: &'a path::Target, query: &'a Query) -> Self {
        let path = parts.uri.path();
        let path::Target::Resource(on) = target else {
            return Self { verb: parts.method.as_str().to_lowercase(), path, resource: None };
        };
        let mut resource = Resource {
            group: &on.group,
            resource: &on.resource,
            // The rest of the path does not count.
            subresource: on.subresource.split('/').next().unwrap_or_default(),
            namespace: &on.namespace,
            name: &on.name,
        };
        // A namespace counts as an object in itself, so that its own roles can allow to read it.
        if on.group.is_empty() && on.resource == "namespaces" && on.namespace.is_empty() {
            resource.namespace = &on.name;
        }
        let verb = verb(&parts.method, on, query, &mut resource.name);
        Self { verb: verb.to_owned(), path, resource: Some(resource) }
    }

    /// Returns the time that the request may take; `None` for long-running requests (`WithRequestDeadline` of apiserver's
    /// pkg/endpoints/filters).
    ///
    /// # Errors
    /// Returns `BadRequest` for a malformed `timeout`.
    pub(crate) fn timeout(&self, query: &Query) -> ApiResult<Option<Duration>> {
        if self.is_long_running() {
            return Ok(None);
        }
        let text = query.get("timeout");
        if text.is_empty() {
            return Ok(Some(TIME_LIMIT));
        }
        let nanos = parse_go_duration(text).map_err(|fault| {
            ApiError::bad_request(format!("invalid timeout specified in the request URL - {fault}"))
        })?;
        let asked = u64::try_from(nanos).map(Duration::from_nanos).unwrap_or_default();
        Ok(Some(asked).filter(|asked| !asked.is_zero() && *asked < TIME_LIMIT).or(Some(TIME_LIMIT)))
    }

    /// Reports whether the request may take any time, and has no deadline (`BasicLongRunningRequestCheck` of apiserver's
    /// pkg/server/filters, as kube-apiserver sets it up).
    fn is_long_running(&self) -> bool {
        let subresource = self.resource.as_ref().map(|resource| resource.subresource);
        matches!(self.verb.as_str(), "watch" | "proxy")
            || matches!(subresource, Some("attach" | "exec" | "proxy" | "log" | "portforward"))
    }

    pub(crate) fn attributes(&'a self, user: &'a Value) -> Attributes<'a> {
        let target = self.resource.map_or(Target::Path(self.path), Target::Resource);
        Attributes { user, verb: &self.verb, target }
    }
}

/// The verb of a request for a resource. A list of one name counts as a request for that name.
fn verb<'a>(method: &Method, on: &path::ResourcePath, query: &'a Query, name: &mut &'a str) -> &'static str {
    match *method {
        // The deprecated prefixes are verbs for every method.
        _ if on.proxy => "proxy",
        _ if on.watch => "watch",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if on.name.is_empty() => "deletecollection",
        Method::DELETE => "delete",
        Method::GET | Method::HEAD if on.name.is_empty() => {
            let selector = query.get("fieldSelector");
            let mut selected = selector.split(',').filter_map(|part| part.split_once('='));
            if let Some((_, value)) = selected.find(|(field, _)| *field == "metadata.name") {
                *name = value.trim_start_matches('=');
            }
            if query.flag("watch") { "watch" } else { "list" }
        }
        Method::GET | Method::HEAD => "get",
        _ => "",
    }
}
