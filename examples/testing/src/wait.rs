//! Time in tests: paused if the server is in the process, otherwise the machine's.

use std::future::Future;
use std::time::Duration;

use kubesmith_testenv::Backend;
use tokio::runtime::Builder;

/// Longer than any step of a test; only failures reach it.
const LIMIT: Duration = Duration::from_secs(120);

/// The interval of polling.
const PAUSE: Duration = Duration::from_millis(10);

/// Runs a test. With the embedded server all waits are timers, so that time is paused and jumps from one to the next.
///
/// # Panics
///
/// Panics if the test does, or without threads or file descriptors for a runtime.
pub fn run<F: Future>(test: F) -> F::Output {
    let paused = Backend::from_env() == Backend::Embedded;
    let runtime = Builder::new_current_thread().enable_all().start_paused(paused).build();
    runtime.expect("a runtime").block_on(test)
}

/// Waits for the end of `future`.
///
/// # Panics
///
/// Panics if that is not within two minutes.
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what}: not within {LIMIT:?}"))
}

/// Polls until there is a result.
///
/// # Panics
///
/// Panics if there is none within two minutes.
pub async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    in_time(what, async {
        loop {
            match ask().await {
                Some(answer) => return answer,
                None => tokio::time::sleep(PAUSE).await,
            }
        }
    })
    .await
}
