//! An API server whose responses come from a closure: a `kube::Client` without a socket.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

/// A request as the script sees it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) uri: String,
    /// Null where there was none.
    pub(crate) body: Value,
}

/// The response of the script: a status and a body.
pub(crate) type Answer = (u16, Value);

/// A failure as the API server writes it.
pub(crate) fn failure(code: u16, reason: &str) -> Answer {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": reason, "reason": reason, "code": code,
    });
    (code, status)
}

/// A client whose requests are answered by `answer`, one at a time, and a log of them.
pub(crate) fn client<F>(answer: F) -> (Client, Arc<Mutex<Vec<Asked>>>)
where
    F: FnMut(&Asked) -> Answer + Send + 'static,
{
    let log: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let asked = log.clone();
    let answer = Arc::new(Mutex::new(answer));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (asked, answer) = (asked.clone(), answer.clone());
        async move {
            let (head, body) = request.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
            let request = Asked { method: head.method, uri: head.uri.to_string(), body };
            asked.lock().unwrap().push(request.clone());
            let (code, body) = (answer.lock().unwrap())(&request);
            let response = Response::builder()
                .status(StatusCode::from_u16(code).unwrap())
                .header("content-type", "application/json")
                .body(Body::from(serde_json::to_vec(&body).unwrap()))
                .unwrap();
            Ok::<_, Infallible>(response)
        }
    });
    (Client::new(service, "default"), log)
}
