//! The reconciler, which users write, and its results.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

use crate::client;
use crate::retry::Conflict;
use crate::workqueue::QueueKey;

/// Makes the world match the desired state of the object that a key names.
///
/// It gets a key, not an event: several changes may have been merged, and the object may no longer exist. A key is
/// never reconciled by two workers at once.
pub trait Reconciler: Send + Sync + 'static {
    /// The type of the keys, often namespace and name of an object.
    type Key: QueueKey + Sync + fmt::Debug;

    /// Reconciles the object that `key` names.
    ///
    /// # Errors
    ///
    /// After an error the key is retried with a delay that grows with each failure. [`ReconcileError::terminal`]
    /// drops the key.
    ///
    /// # Cancel safety
    ///
    /// The controller drops the future at an await when the reconcile timeout or the shutdown grace has passed.
    fn reconcile(&self, key: &Self::Key) -> impl Future<Output = Result<Action, ReconcileError>> + Send;
}

/// The action after a successful reconcile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "return it from reconcile"]
pub struct Action {
    requeue_after: Option<Duration>,
    priority: Option<i32>,
}

impl Action {
    /// Does nothing until the key is added again.
    pub fn done() -> Self {
        Self::default()
    }

    /// Queues the key again after `delay`, or earlier if it is added meanwhile. A delay of zero queues it at once.
    pub fn requeue_after(delay: Duration) -> Self {
        Action { requeue_after: Some(delay), priority: None }
    }

    /// Sets the priority of the requeued key; by default it keeps its priority.
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Returns the delay, if the key is to be queued again.
    pub fn requeue_delay(&self) -> Option<Duration> {
        self.requeue_after
    }

    /// Returns the priority, if one was set.
    pub fn priority(&self) -> Option<i32> {
        self.priority
    }
}

/// A reconcile failed. Every error converts into it with `?`, so it cannot be a [`std::error::Error`] itself.
pub struct ReconcileError {
    source: Box<dyn StdError + Send + Sync>,
    terminal: bool,
}

impl ReconcileError {
    /// An error that a retry cannot resolve: the key is dropped until it is added again.
    pub fn terminal(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ReconcileError { source: error.into(), terminal: true }
    }

    /// An error from a message or another error; the key is retried.
    pub fn new(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ReconcileError { source: error.into(), terminal: false }
    }

    /// Reports whether the key is not retried.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Reports whether another writer changed the object meanwhile: this error, or one of its causes, is a
    /// [`Conflict`]. The cache will show the change, so the key is retried as after any error, but without a warning
    /// in the log.
    ///
    /// A variant with `#[error(transparent)]` hides the error that it holds; `#[error("{0}")]` does not.
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

    /// Returns the underlying error.
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
    /// Writes the error and its causes on one line.
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

/// A reconciler that calls a function with the key.
struct FnReconciler<T, F> {
    function: F,
    key: PhantomData<fn(T)>,
}

/// Makes a reconciler from a function of the key.
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
pub fn reconcile_fn<T, F, Fut>(function: F) -> impl Reconciler<Key = T>
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
