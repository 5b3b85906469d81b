//! The way of a request: its deadline, body, user and permission, and the resource that answers it.

use std::sync::{Arc, Mutex, PoisonError};

use ::http::request::Parts;
use ::http::{Method, Request, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::upgrade::OnUpgrade;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::paths;
use crate::access::{self, TIME_LIMIT};
use crate::authorization;
use crate::http::negotiate;
use crate::http::path::{self, ResourcePath, Target};
use crate::http::query::Query;
use crate::http::reply::{Body, Reply};
use crate::registry::ResourceDef;
use crate::server::{Call, OfController, Origin, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::NotDurable;
use crate::{authentication, discovery, verbs};

/// The size limit of bodies, in bytes; kube-apiserver's own limit.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// The parts of a request beside its head.
struct Asked {
    query: Query,
    body: Bytes,
    user: Value,
    /// The time at which the request fails; `None` for long-running requests.
    deadline: Option<Instant>,
}

impl Server {
    /// Handles one request; never fails.
    pub(crate) async fn handle<B>(self: Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let head = parts.method == Method::HEAD;
        let reply = self.answer(&parts, body).await.unwrap_or_else(|error| {
            let error = match error {
                ApiError::NoSuchPath if path::is_routed(parts.uri.path()) => ApiError::no_such_resource(),
                error => error,
            };
            Reply::error_in(&error, negotiate::error_form(&parts.headers))
        });
        // The response depends on writes that must be durable before it is sent.
        let reply = match self.store.settled().await {
            Ok(()) => reply,
            Err(NotDurable(why)) => Reply::error(&ApiError::internal(&*why)),
        };
        let response = reply.into_response();
        if head { response.map(|_| http_body_util::Empty::new().boxed_unsync()) } else { response }
    }

    /// Handles a request until its deadline (`WithTimeoutForNonLongRunningRequests` of apiserver's pkg/server/filters).
    ///
    /// # Cancel safety
    /// Dropping the future before a write is stored changes nothing.
    async fn answer<B>(self: &Arc<Self>, parts: &Parts, body: B) -> ApiResult<Reply>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if path::is_malformed(parts.uri.path()) {
            return Ok(Reply::text(400, "400 Bad Request"));
        }
        let target = path::parse(parts.uri.path()).map_err(|()| ApiError::NoSuchPath)?;
        if target == Target::VerbAlone {
            return Ok(paths::no_request_info(parts));
        }
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let limit = access::Request::new(parts, &target, &query).timeout(&query)?;
        let Some(limit) = limit else {
            return match timeout(TIME_LIMIT, whole(body)).await {
                Ok(body) => self.route(parts, target, query, body?, None).await,
                Err(_) => Ok(Reply::timed_out()),
            };
        };
        let deadline = Instant::now() + limit;
        let answered = async { self.route(parts, target, query, whole(body).await?, Some(deadline)).await };
        timeout_at(deadline, answered).await.unwrap_or_else(|_| Ok(Reply::timed_out()))
    }

    async fn route(
        self: &Arc<Self>,
        parts: &Parts,
        target: Target,
        query: Query,
        body: Bytes,
        deadline: Option<Instant>,
    ) -> ApiResult<Reply> {
        let other = match &target {
            Target::Other(path) => Some(path),
            _ => None,
        };
        let request = access::Request::new(parts, &target, &query);
        if let Some(path) =
            other.filter(|path| paths::is_public(path, &parts.method, self.options().authorization))
        {
            authentication::check(self, parts)?;
            return paths::answer(self, path, parts);
        }
        let user = authentication::user(self, parts, &request).map_err(authorization::refused)?;
        authorization::authorize_request(self, &user, &request).map_err(authorization::refused)?;
        if let Some(path) = other {
            return paths::answer(self, path, parts);
        }
        let registry = self.registry();
        match target {
            Target::Resource(path) => {
                let def = registry
                    .find(&path.group, &path.version, &path.resource)
                    .filter(|def| {
                        // The handler of custom resources sees no empty namespace.
                        let has_no_namespace = path.namespace.is_empty() && def.is_custom();
                        !path.proxy && (def.namespaced || has_no_namespace || path.is_without_namespace())
                    })
                    .filter(|def| def.serves(&path, &parts.method))
                    .ok_or(ApiError::NoSuchPath)?;
                self.resource(parts, path, def, Asked { query, body, user, deadline }).await
            }
            other => discovery::answer(&registry, &other, parts),
        }
    }

    async fn resource(
        self: &Arc<Self>,
        parts: &Parts,
        path: ResourcePath,
        def: Arc<ResourceDef>,
        asked: Asked,
    ) -> ApiResult<Reply> {
        let headers = &parts.headers;
        // Only existing subresources of built-in kinds have routes, which are found before media types are compared.
        let is_bare = def.namespaced && path.is_without_namespace() && !path.name.is_empty();
        let has_route = (def.is_review() || !is_bare) && discovery::is_served(&def, &path.subresource);
        if !def.is_custom() && !has_route {
            return Err(ApiError::NoSuchPath);
        }
        let endpoint = def.endpoint(&path);
        negotiate::route(headers, endpoint)?;
        let deprecated = def.deprecated.clone();
        let accepted = negotiate::accept(headers, endpoint, def.has_message())
            .map_err(|error| error.with_first_warnings(deprecated.clone()))?;
        let warnings = Mutex::default();
        let is_of_controller = parts.extensions.get::<OfController>().is_some();
        let own_token = parts.extensions.get::<Origin>().and_then(|origin| origin.token.clone());
        let upgrade = parts.extensions.get::<OnUpgrade>().cloned();
        let call = Call {
            server: self.clone(),
            def,
            path,
            query: asked.query,
            headers,
            body: asked.body,
            user: asked.user,
            deadline: asked.deadline,
            is_of_controller,
            own_token,
            accepted,
            upgrade,
            warnings,
        };
        let reply = verbs::dispatch(&call, &parts.method).await;
        let warnings = call.warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
        match reply {
            Ok(reply) => Ok(reply.with_warnings(warnings).with_first_warnings(deprecated)),
            Err(error) => Err(error.with_more_warnings(warnings).with_first_warnings(deprecated)),
        }
    }
}

/// Reads a whole body.
async fn whole<B>(body: B) -> ApiResult<Bytes>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(match error.downcast::<http_body_util::LengthLimitError>() {
            Ok(_) => ApiError::too_large(BODY_LIMIT),
            Err(error) => ApiError::bad_request(format!("the body could not be read: {error}")),
        }),
    }
}
