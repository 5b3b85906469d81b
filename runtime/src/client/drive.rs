//! HTTP/1.1 connections that are polled by the task that reads from them.
//!
//! hyper moves the bytes of each connection in a future. If that future has a task of its own, it wakes the reader for every
//! chunk, mostly on another thread, which takes most of the time of a watch of small objects. A [`Driver`] takes the
//! connections that are opened while it is entered and polls them in its owner's task; other connections run in tasks. When
//! the driver is dropped, its connections continue in tasks, since other requests may use them.
//!
//! The benchmark that pays for the thread-local variable is `bench/runtime`, row `watch`: an event over HTTP/1.1 takes 0.32 of
//! the processor time that it takes kube-runtime, whose connections have tasks.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    /// The futures to spawn while a driver is entered on this thread.
    static ENTERED: RefCell<Option<Vec<Work>>> = const { RefCell::new(None) };
}

/// Gives futures to the entered driver, or spawns them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriverExecutor;

impl hyper::rt::Executor<Work> for DriverExecutor {
    fn execute(&self, work: Work) {
        let left = ENTERED.with_borrow_mut(|entered| match entered {
            Some(entered) => {
                entered.push(work);
                None
            }
            None => Some(work),
        });
        if let Some(work) = left {
            tokio::spawn(work);
        }
    }
}

/// The connections of one task.
#[derive(Default)]
pub(crate) struct Driver {
    work: Vec<Work>,
}

impl Driver {
    /// Calls `call`. Connections that it opens belong to this driver.
    pub(crate) fn enter<T>(&mut self, call: impl FnOnce() -> T) -> T {
        /// Restores the outer driver, even if the call panics.
        struct Restore(Option<Vec<Work>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                ENTERED.set(self.0.take());
            }
        }
        let outer = ENTERED.replace(Some(std::mem::take(&mut self.work)));
        let restore = Restore(outer);
        let result = call();
        self.work = ENTERED.take().unwrap_or_default();
        drop(restore);
        result
    }

    /// Polls the connections.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) {
        let mut at = 0;
        while let Some(work) = self.work.get_mut(at) {
            match work.as_mut().poll(context) {
                Poll::Ready(()) => drop(self.work.swap_remove(at)),
                Poll::Pending => at += 1,
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Without a runtime the connections close.
        if let Ok(runtime) = Handle::try_current() {
            self.work.drain(..).for_each(|work| drop(runtime.spawn(work)));
        }
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("connections", &self.work.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use hyper::rt::Executor as _;
    use tokio::sync::Notify;

    use super::*;

    /// A future that counts its polls until it may end.
    fn counted(polls: &Arc<AtomicU32>, end: &Arc<Notify>) -> Work {
        let (polls, end) = (Arc::clone(polls), Arc::clone(end));
        Box::pin(async move {
            let mut ended = std::pin::pin!(end.notified());
            std::future::poll_fn(|context| {
                polls.fetch_add(1, Ordering::Relaxed);
                ended.as_mut().poll(context)
            })
            .await;
        })
    }

    async fn poll_once(driver: &mut Driver) {
        std::future::poll_fn(|context| {
            driver.poll(context);
            Poll::Ready(())
        })
        .await;
    }

    #[tokio::test]
    async fn futures_spawned_inside_are_polled_by_the_driver_alone() {
        let (polls, end) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let mut driver = Driver::default();
        driver.enter(|| DriverExecutor.execute(counted(&polls, &end)));
        tokio::task::yield_now().await;
        assert_eq!(polls.load(Ordering::Relaxed), 0);
        poll_once(&mut driver).await;
        assert_eq!((polls.load(Ordering::Relaxed), driver.work.len()), (1, 1));
        end.notify_one();
        poll_once(&mut driver).await;
        assert!(driver.work.is_empty());
    }

    #[tokio::test]
    async fn futures_spawned_outside_run_in_a_task() {
        let (polls, end) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let mut driver = Driver::default();
        driver.enter(|| ());
        DriverExecutor.execute(counted(&polls, &end));
        tokio::task::yield_now().await;
        assert_eq!((polls.load(Ordering::Relaxed), driver.work.len()), (1, 0));
    }

    #[tokio::test]
    async fn connections_outlive_their_driver() {
        let (polls, end) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let mut driver = Driver::default();
        driver.enter(|| DriverExecutor.execute(counted(&polls, &end)));
        drop(driver);
        tokio::task::yield_now().await;
        assert_eq!(polls.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn panic_leaves_the_driver_and_keeps_its_connections() {
        let (polls, end) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let mut driver = Driver::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            driver.enter(|| panic!("as a connector might"));
        }));
        assert!(panicked.is_err());
        DriverExecutor.execute(counted(&polls, &end));
        tokio::task::yield_now().await;
        assert_eq!(polls.load(Ordering::Relaxed), 1, "nothing is entered any more");
    }
}
