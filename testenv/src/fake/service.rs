//! The transport of a fake's client: records requests, calls the reactors, then the server.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use kubesmith_apiserver::{ApiError, ApiServer, ApiService, Body, Reply};
use tower::{BoxError, Service, ServiceExt as _};

use super::action::Action;
use super::reaction::{Answer, Reaction};
use super::tracker::Tracker;

/// The function of a reactor.
pub(super) type React = dyn Fn(&Action) -> Reaction + Send + Sync;

/// A function and the requests that it handles.
#[derive(Clone)]
pub(super) struct Reactor {
    pub(super) verb: String,
    pub(super) resource: String,
    pub(super) react: Arc<React>,
}

/// The state shared by a fake's clones and its client. It lives as long as one of them.
pub(super) struct Core {
    /// `None` after the fake was stopped; the service still works.
    pub(super) server: Mutex<Option<ApiServer>>,
    pub(super) service: ApiService,
    pub(super) tracker: Tracker,
    pub(super) actions: Mutex<Vec<Action>>,
    pub(super) reactors: Mutex<Vec<Reactor>>,
}

impl Core {
    /// Handles a request.
    async fn answer(&self, request: Request<kube::client::Body>) -> Result<Response<Body>, BoxError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let action = Action::of(&parts, &body);
        self.actions.lock().unwrap_or_else(PoisonError::into_inner).push(action.clone());
        // Copied, so that a reactor may add reactors.
        let reactors = self.reactors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let concerned = reactors.iter().filter(|reactor| action.matches(&reactor.verb, &reactor.resource));
        for reactor in concerned {
            match (reactor.react)(&action).0 {
                Answer::Pass => {}
                answer => return respond(&action, answer),
            }
        }
        let request = Request::from_parts(parts, Full::new(body));
        Ok(self.service.clone().oneshot(request).await?)
    }
}

/// Sends a reactor's response.
fn respond(action: &Action, answer: Answer) -> Result<Response<Body>, BoxError> {
    let wrong = |text: &str| Ok(Reply::error(&ApiError::internal(format!("{text}: {action}"))));
    let reply = match answer {
        Answer::Pass => wrong("nobody answers"),
        Answer::Watch(watcher) if action.verb() == "watch" => Ok(Reply::stream(watcher.into_stream())),
        Answer::Watch(_) => wrong("a reactor answers another request with a watch"),
        Answer::Object(_) if action.verb() == "watch" => wrong("a reactor answers a watch with an object"),
        Answer::Object(object) => match object.value() {
            Ok(value) => Ok(Reply::json(if action.verb() == "create" { 201 } else { 200 }, value)),
            Err(error) => wrong(&error.to_string()),
        },
        Answer::Error { code, status } => Ok(Reply::json(code, &status)),
        Answer::Broken(reason) => Err(reason.into()),
    };
    reply.map(Reply::into_response)
}

/// The service of the client.
#[derive(Clone)]
pub(super) struct FakeService(pub(super) Arc<Core>);

impl Service<Request<kube::client::Body>> for FakeService {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let core = self.0.clone();
        Box::pin(async move { core.answer(request).await })
    }
}
