//! Synchronisation primitives. `tests/shuttle` compiles the modules that use them with shuttle's versions.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard};

pub(crate) use crossbeam_utils::sync::{ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard};

pub(crate) use tokio::sync::Notify;
