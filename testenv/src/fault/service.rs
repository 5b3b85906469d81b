//! Faults as `tower` middleware.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::ready;
use http::{Request, Response};
use http_body::Body;
use tower::{BoxError, Layer, Service};

use super::answer::answer;
use super::body::{FaultBody, reset};
use super::rule::{Fault, Rule};
use super::schedule::{Faults, Injection, Schedule};

/// Adds faults between a client and any HTTP service that connects to an API server.
///
/// All services of one layer, and their clones, share its schedule and its counts. A delayed request is passed to the
/// service at once, but its future is polled only later; services that work on the call itself see no delay.
///
/// ```
/// use kube::{Client, Config, client::ClientBuilder};
/// use kubesmith_testenv::fault::{FaultLayer, Schedule};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::new("http://127.0.0.1:8001".parse()?);
/// let faults = FaultLayer::new(Schedule::seeded(1));
/// let client: Client = ClientBuilder::try_from(config)?.with_layer(&faults).build();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FaultLayer {
    faults: Arc<Faults>,
}

impl FaultLayer {
    /// Creates a layer with this schedule.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Self { faults: Arc::new(Faults::new(schedule)) }
    }

    /// Replaces the schedule. The counts of requests continue, those of rules start again.
    pub fn set_schedule(&self, schedule: Schedule) {
        self.faults.set(schedule);
    }

    /// Adds a rule after the others, which counts the requests from now on.
    pub fn add_rule(&self, rule: Rule) {
        self.faults.add(rule);
    }

    /// Returns the faults so far, in the order of their requests; the first 10,000.
    #[must_use]
    pub fn injections(&self) -> Vec<Injection> {
        self.faults.injections()
    }

    /// Returns a report: the seed, the number of requests, and a line for each fault.
    #[must_use]
    pub fn report(&self) -> String {
        self.faults.report()
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = FaultService<S>;

    fn layer(&self, inner: S) -> FaultService<S> {
        FaultService { inner, faults: self.faults.clone() }
    }
}

/// A service with faults in front, created by [`FaultLayer`].
#[derive(Clone, Debug)]
pub struct FaultService<S> {
    inner: S,
    faults: Arc<Faults>,
}

impl<S, B, R> Service<Request<B>> for FaultService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError> + 'static,
    S::Future: Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<FaultBody>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<FaultBody>, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // Decided at the call, so that the order of the calls is the order of the requests.
        let fault = self.faults.decide(&request);
        if let Some(fault) = &fault {
            tracing::debug!(method = %request.method(), uri = %request.uri(), %fault, "fault");
        }
        let instead = |code, retry_after| {
            let answer = answer(code, retry_after).map(|body| FaultBody::new(body, None));
            Box::pin(ready(Ok(answer)))
        };
        match &fault {
            Some(Fault::DropRequest) => Box::pin(ready(Err(reset().into()))),
            Some(Fault::Status(code)) => instead(*code, None),
            Some(Fault::TooManyRequests(seconds)) => instead(429, Some(*seconds)),
            _ => Box::pin(pass(self.inner.call(request), fault)),
        }
    }
}

/// Waits for the server's response and passes it on.
async fn pass<R, E>(
    response: impl Future<Output = Result<Response<R>, E>>,
    fault: Option<Fault>,
) -> Result<Response<FaultBody>, BoxError>
where
    E: Into<BoxError>,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    if let Some(Fault::Delay(time)) = fault {
        // Polling the response sends the request.
        tokio::time::sleep(time).await;
    }
    let response = response.await.map_err(Into::into)?;
    match fault {
        Some(Fault::DropAnswer) => Err(reset().into()),
        // A watch's fault does not apply to an error response.
        Some(fault) if fault.needs_watch() && !response.status().is_success() => {
            Ok(response.map(|body| FaultBody::new(body, None)))
        }
        fault => Ok(response.map(|body| FaultBody::new(body, fault.as_ref()))),
    }
}
