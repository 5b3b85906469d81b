//! Shuttle's stand-ins for what `src/sync.rs` names.

pub(crate) use shuttle::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
pub(crate) use shuttle::sync::{
    RwLock as ShardedLock, RwLockReadGuard as ShardedLockReadGuard, RwLockWriteGuard as ShardedLockWriteGuard,
};

/// tokio's type, whose steps shuttle does not see: other threads may run before each step.
#[derive(Debug)]
pub(crate) struct Notify {
    inner: tokio::sync::Notify,
    others: AtomicUsize,
}

impl Notify {
    pub(crate) fn new() -> Self {
        Notify { inner: tokio::sync::Notify::new(), others: AtomicUsize::new(0) }
    }

    pub(crate) fn notified(&self) -> tokio::sync::futures::Notified<'_> {
        self.let_others_go_on();
        self.inner.notified()
    }

    pub(crate) fn notify_one(&self) {
        self.let_others_go_on();
        self.inner.notify_one();
    }

    pub(crate) fn notify_waiters(&self) {
        self.let_others_go_on();
        self.inner.notify_waiters();
    }

    fn let_others_go_on(&self) {
        self.others.load(Ordering::SeqCst);
    }
}
