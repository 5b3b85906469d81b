//! Retries of requests: client-go's `util/retry`.
//!
//! The server refuses an update that is based on an old state of the object. Read the object again, change it
//! again, and write it:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::PostParams;
//! use kubesmith_runtime::client::{Result, TypedClient};
//! use kubesmith_runtime::retry::{DEFAULT_RETRY, retry_on_conflict};
//!
//! async fn paint(maps: &TypedClient<ConfigMap>) -> Result<ConfigMap> {
//!     retry_on_conflict(DEFAULT_RETRY, || async {
//!         let mut map = maps.get("settings").await?;
//!         map.data.get_or_insert_default().insert("color".to_owned(), "red".to_owned());
//!         maps.update(&map, &PostParams::default()).await
//!     })
//!     .await
//! }
//! ```

use std::time::Duration;

use crate::client;
use crate::random::{self, Random};

/// The number of attempts, and the pauses between them: apimachinery's `wait.Backoff`.
///
/// ```
/// use std::time::Duration;
/// use kubesmith_runtime::retry::{Backoff, DEFAULT_BACKOFF, DEFAULT_RETRY};
///
/// let patient = Backoff { steps: 10, cap: Some(Duration::from_secs(1)), ..DEFAULT_BACKOFF };
/// assert_eq!((patient.duration, DEFAULT_RETRY.steps), (Duration::from_millis(10), 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The maximal number of tries, including the first; at least one try is made.
    pub steps: u32,
    /// The first pause.
    pub duration: Duration,
    /// The factor between two pauses; at least 1.
    pub factor: f64,
    /// The share of a pause that is added at random.
    pub jitter: f64,
    /// The longest pause before jitter, if there is a limit.
    pub cap: Option<Duration>,
}

/// Five tries with pauses of 10 ms, for objects with several writers: client-go's `DefaultRetry`.
pub const DEFAULT_RETRY: Backoff =
    Backoff { steps: 5, duration: Duration::from_millis(10), factor: 1.0, jitter: 0.1, cap: None };

/// Four tries with pauses of 10, 50 and 250 ms, for objects that another writer changes for a while: client-go's
/// `DefaultBackoff`. [`on_error`] has an example.
pub const DEFAULT_BACKOFF: Backoff =
    Backoff { steps: 4, duration: Duration::from_millis(10), factor: 5.0, jitter: 0.1, cap: None };

/// Errors that may be conflicts with another writer, for [`retry_on_conflict`].
pub trait Conflict {
    /// Reports whether this is such a conflict, after which [`retry_on_conflict`] tries again.
    fn is_conflict(&self) -> bool;
}

impl Conflict for client::Error {
    fn is_conflict(&self) -> bool {
        // Applying fields of another manager fails again.
        !matches!(self, Self::ApplyConflict { .. }) && self.is_conflict()
    }
}

impl Conflict for kube::Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Api(status) if status.is_conflict())
    }
}

/// Retries `request` while it fails because another writer changed the object. Each try must read the object again.
/// The [module](self) has an example.
///
/// # Errors
/// The first error of `request` that is not a conflict, or its last conflict.
///
/// # Cancel safety
/// As for the request itself; dropping the future in a pause loses nothing.
pub async fn retry_on_conflict<T, E, F, Fut>(backoff: Backoff, request: F) -> Result<T, E>
where
    E: Conflict,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    on_error(backoff, E::is_conflict, request).await
}

/// Retries `request` while `is_retriable` accepts its error.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::client::{Error, Result, TypedClient};
/// use kubesmith_runtime::retry::{DEFAULT_BACKOFF, on_error};
///
/// async fn read(maps: &TypedClient<ConfigMap>) -> Result<ConfigMap> {
///     on_error(DEFAULT_BACKOFF, Error::is_too_many_requests, || maps.get("settings")).await
/// }
/// ```
///
/// # Errors
/// The first error of `request` that is not retriable, or its last error.
///
/// # Cancel safety
/// As for the request itself; dropping the future in a pause loses nothing.
pub async fn on_error<T, E, F, Fut>(
    backoff: Backoff,
    is_retriable: impl Fn(&E) -> bool,
    mut request: F,
) -> Result<T, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut pauses =
        Pauses { next: backoff.duration, left: backoff.steps, backoff, random: random::from_system() };
    loop {
        match request().await {
            Err(error) if is_retriable(&error) => match pauses.next() {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(error),
            },
            outcome => return outcome,
        }
    }
}

/// The pauses between tries.
struct Pauses {
    backoff: Backoff,
    next: Duration,
    /// The number of tries left, including the one before the next pause.
    left: u32,
    random: Random,
}

impl Pauses {
    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return None;
        }
        let Backoff { factor, jitter, cap, .. } = self.backoff;
        let most = cap.unwrap_or(Duration::MAX);
        let pause = times(self.next.min(most), 1.0 + jitter.max(0.0) * (self.random)());
        self.next = times(self.next, factor.max(1.0)).min(most);
        Some(pause)
    }
}

/// Returns the product, or the longest duration if it overflows.
fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use kube::core::Status;
    use tokio::time::Instant;

    use super::*;

    fn refusal(reason: &str, code: u16) -> kube::Error {
        kube::Error::Api(Status::failure("no", reason).with_code(code).boxed())
    }

    /// Counts the tries of a request that fails `failures` times.
    async fn tries(backoff: Backoff, failures: u32, reason: &'static str) -> (u32, bool) {
        let tried = Cell::new(0);
        let outcome = retry_on_conflict(backoff, || {
            tried.set(tried.get() + 1);
            let fails = tried.get() <= failures;
            async move { if fails { Err(refusal(reason, 409)) } else { Ok(()) } }
        })
        .await;
        (tried.get(), outcome.is_ok())
    }

    #[tokio::test(start_paused = true)]
    async fn only_conflicts_are_retried() {
        assert_eq!(tries(DEFAULT_RETRY, 0, "Conflict").await, (1, true));
        assert_eq!(tries(DEFAULT_RETRY, 4, "Conflict").await, (5, true));
        assert_eq!(tries(DEFAULT_RETRY, 5, "Conflict").await, (5, false));
        assert_eq!(tries(DEFAULT_RETRY, 1, "AlreadyExists").await, (1, false));
        assert_eq!(tries(Backoff { steps: 0, ..DEFAULT_RETRY }, 1, "Conflict").await, (1, false));
    }

    #[tokio::test(start_paused = true)]
    async fn apply_conflicts_are_not_retried() {
        let request = || client::Request {
            verb: "apply",
            resource: "configmaps".to_owned(),
            namespace: None,
            name: Some("a".to_owned()),
        };
        let status = || Status::failure("no", "Conflict").with_code(409).boxed();
        let written = client::Error::Api { request: request(), status: status() };
        assert!(Conflict::is_conflict(&written));
        let owned =
            client::Error::ApplyConflict { request: request(), conflicts: Vec::new(), status: status() };
        assert!(!Conflict::is_conflict(&owned));
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_up_to_their_cap() {
        let since = Instant::now();
        let exact = Backoff { jitter: 0.0, ..DEFAULT_BACKOFF };
        assert_eq!(tries(exact, 9, "Conflict").await, (4, false));
        assert_eq!(since.elapsed(), Duration::from_millis(10 + 50 + 250));
        let since = Instant::now();
        tries(Backoff { cap: Some(Duration::from_millis(40)), ..exact }, 9, "Conflict").await;
        assert_eq!(since.elapsed(), Duration::from_millis(10 + 40 + 40));
        let since = Instant::now();
        tries(DEFAULT_BACKOFF, 9, "Conflict").await;
        let waited = since.elapsed();
        assert!(waited >= Duration::from_millis(310) && waited <= Duration::from_millis(345), "{waited:?}");
        let mut endless = Pauses {
            backoff: Backoff { steps: u32::MAX, factor: f64::INFINITY, jitter: f64::NAN, ..DEFAULT_RETRY },
            next: Duration::MAX,
            left: u32::MAX,
            random: random::seeded(1),
        };
        assert!(endless.next().is_some() && endless.next().is_some());
    }
}
