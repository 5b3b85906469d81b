//! The levels of the log, read and changed while the program runs: `/debug/flags/v`, as in Kubernetes' components
//! (`DebugFlags` in k8s.io/apiserver, pkg/server/routes/flags.go).

use std::fmt;
use std::sync::Arc;

use ::http::StatusCode;
use http_body_util::{BodyExt, Limited};
use hyper::body::Body;
use tokio::time::timeout;

use super::http::HEAD_TIMEOUT;

/// The path.
pub(super) const PATH: &str = "/debug/flags/v";
/// The size limit of a filter.
const MAX_BYTES: usize = 4096;

type Get = dyn Fn() -> String + Send + Sync;
type Set = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// The functions that read and change the program's log levels.
#[derive(Clone)]
pub(super) struct LogLevels {
    get: Arc<Get>,
    set: Arc<Set>,
}

impl LogLevels {
    pub(super) fn new<G, S>(get: G, set: S) -> Self
    where
        G: Fn() -> String + Send + Sync + 'static,
        S: Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    {
        Self { get: Arc::new(get), set: Arc::new(set) }
    }

    /// The levels as a line.
    pub(super) fn shown(&self) -> String {
        format!("{}\n", (self.get)())
    }

    /// Changes the levels to what a request's body says.
    pub(super) async fn put<B>(&self, body: B) -> (StatusCode, String)
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let body = match timeout(HEAD_TIMEOUT, Limited::new(body, MAX_BYTES).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) => return (StatusCode::BAD_REQUEST, format!("cannot read the levels: {error}\n")),
            Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the levels did not arrive in time\n".to_owned()),
        };
        let text = String::from_utf8_lossy(&body);
        let levels = text.trim();
        if levels.is_empty() {
            return (
                StatusCode::BAD_REQUEST,
                "the body has no levels, such as `info` or `my_operator=debug`\n".to_owned(),
            );
        }
        match (self.set)(levels) {
            Ok(()) => {
                tracing::info!(levels, "log levels changed");
                (StatusCode::OK, format!("successfully set log levels to {levels}\n"))
            }
            Err(error) => (StatusCode::BAD_REQUEST, format!("{levels}: {error}\n")),
        }
    }
}

impl fmt::Debug for LogLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogLevels").field(&(self.get)()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bytes::Bytes;
    use http_body_util::Full;

    use super::*;

    fn levels() -> LogLevels {
        let now = Arc::new(Mutex::new("info".to_owned()));
        let shared = now.clone();
        let set = move |text: &str| {
            if text.contains(' ') {
                return Err("not a filter".to_owned());
            }
            text.clone_into(&mut shared.lock().unwrap());
            Ok(())
        };
        LogLevels::new(move || now.lock().unwrap().clone(), set)
    }

    async fn put(levels: &LogLevels, body: impl Into<Bytes>) -> (u16, String) {
        let (status, text) = levels.put(Full::new(body.into())).await;
        (status.as_u16(), text)
    }

    #[tokio::test]
    async fn log_levels_change_on_request() {
        let levels = levels();
        let said = put(&levels, "my_operator=debug\n").await;
        assert_eq!(said, (200, "successfully set log levels to my_operator=debug\n".to_owned()));
        assert_eq!(levels.shown(), "my_operator=debug\n");
    }

    #[tokio::test]
    async fn log_levels_are_kept_when_the_request_is_invalid() {
        let levels = levels();
        assert_eq!(put(&levels, "a b").await, (400, "a b: not a filter\n".to_owned()));
        assert_eq!(put(&levels, " \n").await.0, 400);
        assert_eq!(put(&levels, "x".repeat(MAX_BYTES + 1)).await.0, 400);
        assert_eq!(levels.shown(), "info\n");
    }
}
