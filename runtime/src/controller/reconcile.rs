//! What a user writes: a reconciler, and what it answers.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

use crate::client;
use crate::retry::Conflict;
use crate::workqueue::QueueKey;

/// Brings the world in line with what a key names.
///
/// It is called with a key, not with an event: several changes may have come together, and the object may be gone.
/// One key is never reconciled twice at a time.
pub trait Reconciler: Send + Sync + 'static {
    /// What is queued, often an object's namespace and name.
    type Key: QueueKey + Sync + fmt::Debug;

    /// Reconciles what `key` names.
    ///
    /// # Errors
    ///
    /// Any error makes the key come again after a delay that grows with each failure;
    /// [`ReconcileError::terminal`] gives it up.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at an await when the controller's reconcile timeout or shutdown grace has passed.
    fn reconcile(&self, key: &Self::Key) -> impl Future<Output = Result<Action, ReconcileError>> + Send;
}

/// What follows a successful reconcile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "return it from reconcile"]
pub struct Action {
    requeue_after: Option<Duration>,
    priority: Option<i32>,
}

impl Action {
    /// Nothing to do until the key is added again.
    pub fn done() -> Self {
        Self::default()
    }

    /// The key comes again after `delay`, or earlier if it is added meanwhile. A delay of zero queues it at once.
    pub fn requeue_after(delay: Duration) -> Self {
        Action { requeue_after: Some(delay), priority: None }
    }

    /// The priority with which the key comes again; without it the one it had.
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// The delay, if the key is to come again.
    pub fn requeue_delay(&self) -> Option<Duration> {
        self.requeue_after
    }

    /// The priority, if one was given.
    pub fn priority(&self) -> Option<i32> {
        self.priority
    }
}

/// Why a reconcile failed. Every error converts into it with `?`; it is therefore no [`std::error::Error`] itself.
pub struct ReconcileError {
    source: Box<dyn StdError + Send + Sync>,
    terminal: bool,
}

impl ReconcileError {
    /// An error that trying again cannot mend: the key is not queued again until something adds it.
    pub fn terminal(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ReconcileError { source: error.into(), terminal: true }
    }

    /// An error from a message or another error; the key is tried again.
    pub fn new(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ReconcileError { source: error.into(), terminal: false }
    }

    /// Whether trying again is pointless.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether somebody else wrote the object meanwhile, as [`Conflict`] tells it of this error or of one that has caused it.
    /// The cache will show what they wrote: the key is tried again as after any error, without a warning in the log.
    ///
    /// An enum's variant that is `#[error(transparent)]` hides the error that it holds; `#[error("{0}")]` does not.
    ///
    /// ```
    /// use kubesmith_runtime::controller::ReconcileError;
    /// use kubesmith_runtime::kube::core::Status;
    ///
    /// let changed = Status::failure("the object has been modified", "Conflict").with_code(409);
    /// let error = ReconcileError::from(kubesmith_runtime::kube::Error::Api(changed.boxed()));
    /// assert!(error.is_conflict());
    /// assert!(!ReconcileError::new("conflict").is_conflict());
    /// ```
    pub fn is_conflict(&self) -> bool {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*self.source);
        while let Some(error) = cause {
            let ours = error.downcast_ref::<client::Error>().is_some_and(Conflict::is_conflict);
            if ours || error.downcast_ref::<kube::Error>().is_some_and(Conflict::is_conflict) {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// The error behind it.
    pub fn source(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.source
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ReconcileError {
    fn from(error: E) -> Self {
        ReconcileError::new(error)
    }
}

impl fmt::Display for ReconcileError {
    /// The error and what caused it, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        let mut cause = self.source.source();
        let mut shown = self.source.to_string();
        while let Some(error) = cause {
            // Many errors repeat their cause in their own message.
            let text = error.to_string();
            if !shown.contains(&text) {
                write!(f, ": {text}")?;
            }
            shown = text;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconcileError")
            .field("source", &self.source)
            .field("terminal", &self.terminal)
            .finish()
    }
}

/// A reconciler from a function of the key; made by [`reconcile_fn`].
pub struct FnReconciler<T, F> {
    function: F,
    key: PhantomData<fn(T)>,
}

/// A reconciler from a function that takes the key.
///
/// ```
/// use kubesmith_runtime::controller::{Action, reconcile_fn};
///
/// let reconciler = reconcile_fn(|key: String| async move {
///     println!("reconciling {key}");
///     Ok(Action::done())
/// });
/// # let _ = reconciler;
/// ```
pub fn reconcile_fn<T, F, Fut>(function: F) -> FnReconciler<T, F>
where
    T: QueueKey + Sync + fmt::Debug,
    F: Fn(T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, ReconcileError>> + Send,
{
    FnReconciler { function, key: PhantomData }
}

impl<T, F, Fut> Reconciler for FnReconciler<T, F>
where
    T: QueueKey + Sync + fmt::Debug,
    F: Fn(T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, ReconcileError>> + Send,
{
    type Key = T;

    fn reconcile(&self, key: &T) -> impl Future<Output = Result<Action, ReconcileError>> + Send {
        (self.function)(key.clone())
    }
}

impl<T, F> fmt::Debug for FnReconciler<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnReconciler").finish_non_exhaustive()
    }
}
