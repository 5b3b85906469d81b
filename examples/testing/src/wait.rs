//! Time in tests: paused where the server is in the process, the machine's where it is not.

use std::future::Future;
use std::time::Duration;

use kubesmith_testenv::Backend;
use tokio::runtime::Builder;

/// Longer than anything in a test takes; only a failing one waits for it.
const LIMIT: Duration = Duration::from_secs(120);

/// How often something is asked again.
const PAUSE: Duration = Duration::from_millis(10);

/// Runs a test. With the embedded server nobody waits for anything but timers, so that time is paused and jumps from one
/// to the next.
///
/// # Panics
///
/// Where the test does, and without threads or file descriptors for a runtime.
pub fn run<F: Future>(test: F) -> F::Output {
    let paused = Backend::from_env() == Backend::Embedded;
    let runtime = Builder::new_current_thread().enable_all().start_paused(paused).build();
    runtime.expect("a runtime").block_on(test)
}

/// Waits for the end of `future`.
///
/// # Panics
///
/// If that is not within two minutes.
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what}: not within {LIMIT:?}"))
}

/// Asks until there is an answer.
///
/// # Panics
///
/// If there is none within two minutes.
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
