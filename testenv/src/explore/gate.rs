//! The transport of an operator's client: every request waits here for the driver's decision. So does every call of an
//! outside system.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::channel::{mpsc, oneshot};
use futures::{Stream, TryStreamExt as _};
use http::request::Parts;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use tower::{BoxError, Service};

/// The body of a response to an operator.
pub(super) type GateBody = UnsyncBoxBody<Bytes, BoxError>;

/// The driver's end of a streamed body.
pub(super) type Sender = mpsc::UnboundedSender<Result<Bytes, BoxError>>;

/// A waiting request.
pub(super) struct Exchange {
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) reply: oneshot::Sender<Result<Response<GateBody>, BoxError>>,
}

/// The outcome of a call of an outside system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallFate {
    Answered,
    Lost,
    Unsent,
}

/// A waiting call of an outside system.
pub(super) struct Call {
    pub(super) label: String,
    pub(super) carry_out: Box<dyn FnOnce(CallFate) + Send>,
}

/// A waiting request or call.
pub(super) enum Arrival {
    Request(Box<Exchange>),
    Call(Call),
}

/// The requests and calls of one process that the driver has not taken.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<Vec<Arrival>>>);

/// An operator's connection to the simulated API server: a service for HTTP requests, for clients of any version of
/// kube since 0.88, or of another library. [`Sim::operator_over`](super::Sim::operator_over) passes it.
#[derive(Clone)]
pub struct Connection(pub(super) Gate);

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

thread_local! {
    /// The gate of the running process.
    static CURRENT: RefCell<Option<Gate>> = const { RefCell::new(None) };
}

impl Gate {
    /// Takes the requests and calls that have arrived.
    pub(super) fn take(&self) -> Vec<Arrival> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, arrival: Arrival) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(arrival);
    }

    /// Runs a part of the process that this gate belongs to.
    pub(super) fn during<T>(&self, run: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(self.clone()));
        let result = run();
        CURRENT.set(None);
        result
    }

    /// Adds a call of the running process; returns it if none runs.
    pub(super) fn add_call(call: Call) -> Option<Call> {
        match CURRENT.with_borrow(Clone::clone) {
            Some(gate) => {
                gate.add(Arrival::Call(call));
                None
            }
            None => Some(call),
        }
    }
}

impl<B> Service<Request<B>> for Connection
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future =
        Pin<Box<dyn Future<Output = Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let waiting = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            let (reply, answer) = oneshot::channel();
            waiting.add(Arrival::Request(Box::new(Exchange { parts, body, reply })));
            answer.await.map_err(|_| BoxError::from("the connection was closed"))?
        })
    }
}

/// Returns a complete body.
pub(super) fn full(body: Bytes) -> GateBody {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

/// Returns a body that the driver sends in pieces.
pub(super) fn streamed() -> (Sender, GateBody) {
    let (sender, receiver) = mpsc::unbounded();
    (sender, StreamBody::new(frames(receiver)).boxed_unsync())
}

fn frames(
    receiver: mpsc::UnboundedReceiver<Result<Bytes, BoxError>>,
) -> impl Stream<Item = Result<Frame<Bytes>, BoxError>> {
    receiver.map_ok(Frame::data)
}
