//! A single-threaded runtime. It runs until it is idle, and its time only passes when the driver moves it.
//!
//! The scheduler itself reports idleness: tokio calls `on_thread_park` when no task can run, and a hook that wakes the
//! future of `block_on` makes the call return at this moment, before any time passes (`park` in tokio's
//! `runtime/scheduler/current_thread/mod.rs`). Paused time only moves if the hook lets the runtime park.

use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::time::Instant;

/// The main future of a runtime, beside its spawned tasks.
pub(super) type Main = Pin<Box<dyn Future<Output = ()>>>;

/// The state shared by the hook and the driver.
#[derive(Default)]
struct Park {
    /// Whether the next park may let time pass.
    passes: AtomicBool,
    idle: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Park {
    fn on_park(&self) {
        if self.passes.swap(false, Ordering::SeqCst) {
            return;
        }
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            self.idle.store(true, Ordering::SeqCst);
            waker.wake();
        }
    }

    /// Reports whether the runtime has become idle; otherwise wakes the task when it does.
    fn poll_idle(&self, cx: &Context<'_>) -> bool {
        if self.idle.swap(false, Ordering::SeqCst) {
            return true;
        }
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        false
    }
}

/// The state of the main future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MainState {
    Running,
    Ended,
    Panicked,
}

/// A runtime with its own paused clock.
pub(super) struct SimRuntime {
    /// `None` while it is dropped.
    runtime: Option<Runtime>,
    park: Arc<Park>,
    main: Option<Main>,
    state: MainState,
    start: Instant,
}

impl SimRuntime {
    /// Creates a runtime whose clock shows zero.
    pub(super) fn new() -> io::Result<Self> {
        let park = Arc::<Park>::default();
        let hook = park.clone();
        let mut builder = Builder::new_current_thread();
        // Operators wait for signals, which need the driver of sockets.
        builder.enable_all().start_paused(true).on_thread_park(move || hook.on_park());
        let runtime = builder.build()?;
        let start = {
            let _context = runtime.enter();
            Instant::now()
        };
        Ok(Self { runtime: Some(runtime), park, main: None, state: MainState::Ended, start })
    }

    /// The same, with the error as a text.
    pub(super) fn open() -> Result<Self, String> {
        Self::new().map_err(|error| format!("no runtime: {error}"))
    }

    /// Sets the runtime's main future.
    pub(super) fn start(&mut self, main: Main) {
        self.main = Some(main);
        self.state = MainState::Running;
    }

    pub(super) fn main_state(&self) -> MainState {
        self.state
    }

    fn runtime(&self) -> Option<&Runtime> {
        self.runtime.as_ref()
    }

    /// Enters the runtime's context, to read the clock or create timers.
    pub(super) fn enter(&self) -> Option<EnterGuard<'_>> {
        self.runtime().map(Runtime::enter)
    }

    /// Returns the time that has passed here.
    pub(super) fn elapsed(&self) -> Duration {
        let _context = self.enter();
        Instant::now() - self.start
    }

    /// Runs a future to its end; `None` only while the runtime is dropped.
    pub(super) fn block_on<F: Future>(&self, future: F) -> Option<F::Output> {
        self.runtime().map(|runtime| runtime.block_on(future))
    }

    /// Runs all tasks until none can proceed. No time passes.
    pub(super) fn until_idle(&mut self) {
        // Due timers fire while the runtime parks for the first time.
        self.drive(None);
        self.drive(None);
    }

    /// Lets time pass until the next timer, at most `most`, then runs all tasks until none can proceed.
    pub(super) fn advance(&mut self, most: Duration) {
        let before = self.elapsed();
        self.park.passes.store(true, Ordering::SeqCst);
        self.drive(Some(most));
        self.park.passes.store(false, Ordering::SeqCst);
        if self.elapsed() == before {
            // A thread for blocking work prevents tokio from moving its clock.
            self.block_on(tokio::time::advance(most));
        }
        self.until_idle();
    }

    fn drive(&mut self, most: Option<Duration>) {
        let Some(runtime) = &self.runtime else { return };
        let (park, main, state) = (&self.park, &mut self.main, &mut self.state);
        park.idle.store(false, Ordering::SeqCst);
        runtime.block_on(async {
            let mut sleep = pin!(most.map(tokio::time::sleep));
            poll_fn(|cx| {
                poll_main(main, state, cx);
                let slept = sleep.as_mut().as_pin_mut().is_some_and(|sleep| sleep.poll(cx).is_ready());
                if park.poll_idle(cx) || slept { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        });
    }
}

fn poll_main(main: &mut Option<Main>, state: &mut MainState, cx: &mut Context<'_>) {
    let Some(future) = main else { return };
    *state = match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => return,
        Ok(Poll::Ready(())) => MainState::Ended,
        Err(_) => MainState::Panicked,
    };
    *main = None;
}

impl Drop for SimRuntime {
    /// Drops everything at once: the main future and all spawned tasks. Threads for blocking work stay behind.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        {
            let _context = runtime.enter();
            // A panic of a destructor only affects its process.
            let main = self.main.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(main)));
        }
        runtime.shutdown_background();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_stops_before_time_passes() {
        let mut runtime = SimRuntime::new().unwrap();
        runtime.start(Box::pin(async {
            tokio::spawn(tokio::task::yield_now()).await.unwrap();
            tokio::time::sleep(Duration::from_secs(3)).await;
        }));
        runtime.until_idle();
        assert_eq!((runtime.elapsed(), runtime.main_state()), (Duration::ZERO, MainState::Running));
        let mut most = 0;
        while runtime.main_state() == MainState::Running && most < 50 {
            runtime.advance(Duration::from_secs(5));
            most += 1;
        }
        assert_eq!(runtime.main_state(), MainState::Ended);
        assert!(
            runtime.elapsed() >= Duration::from_secs(3) && runtime.elapsed() < Duration::from_millis(3002)
        );
    }

    #[test]
    fn dropped_runtime_ends_spawned_tasks() {
        let alive = Arc::new(());
        let mut runtime = SimRuntime::new().unwrap();
        let held = alive.clone();
        runtime.start(Box::pin(async move {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                drop(held);
            });
            std::future::pending::<()>().await;
        }));
        runtime.until_idle();
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(runtime);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
