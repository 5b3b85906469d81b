//! The manager's leadership, for reconcilers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::leaderelection::Leadership;

/// The leadership of a manager, once it leads. Check it before a write that a former leader must not make, and pass
/// its number to other systems. Clones share it.
///
/// ```no_run
/// use kubesmith_runtime::cache::ObjectKey;
/// use kubesmith_runtime::controller::{Action, ReconcileError, Reconciler};
/// use kubesmith_runtime::manager::LeaderHandle;
///
/// struct Buckets {
///     leader: LeaderHandle,
/// }
///
/// impl Reconciler for Buckets {
///     type Key = ObjectKey;
///
///     async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
///         // Storage that refuses smaller numbers than it has seen is safe from a suspended former leader.
///         let token = self.leader.fencing_token().ok_or_else(|| ReconcileError::new("leads no more"))?;
///         println!("writing {key} as leader number {token}");
///         Ok(Action::done())
///     }
/// }
/// ```
#[derive(Clone, Default)]
pub struct LeaderHandle(Arc<OnceLock<Leadership>>);

impl LeaderHandle {
    /// Returns the leadership; `None` before it begins, and always without an elector.
    #[must_use]
    pub fn leadership(&self) -> Option<&Leadership> {
        self.0.get()
    }

    /// Returns how often the lease had changed hands when this replica got it; `None` unless it holds the lease
    /// now.
    #[must_use]
    pub fn fencing_token(&self) -> Option<i32> {
        self.leadership().filter(|leadership| leadership.is_valid()).map(Leadership::transitions)
    }

    /// Records the leadership. A manager runs once, so it leads at most once.
    pub(super) fn set(&self, leadership: Leadership) {
        let _ = self.0.set(leadership);
    }
}

impl fmt::Debug for LeaderHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderHandle").field("fencing_token", &self.fencing_token()).finish()
    }
}
