//! What threads and tasks meet at. `tests/shuttle` compiles the modules that use it with shuttle's in its place.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use tokio::sync::Notify;
