//! Models of outside systems, such as a database or a cloud, with the faults of requests.

use std::sync::{Arc, Mutex, PoisonError};

use futures::channel::oneshot;

use super::gate::{Call, CallFate, Gate};

/// The model of a system outside the cluster. [`Sim::outside`](super::Sim::outside) creates one.
///
/// Clones are the same system. It outlives an operator that crashes.
#[derive(Debug)]
pub struct Outside<T> {
    name: Arc<str>,
    state: Arc<Mutex<T>>,
}

impl<T> Clone for Outside<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), state: self.state.clone() }
    }
}

/// The connection to an outside system broke. The call may or may not have had its effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection to {system} broke during: {call}")]
pub struct OutsideError {
    system: String,
    call: String,
}

impl<T: Send + 'static> Outside<T> {
    pub(super) fn new(name: &str, state: T) -> Self {
        Self { name: name.into(), state: Arc::new(Mutex::new(state)) }
    }

    /// Calls the system from an operator. `what` names the call in stories and schedules, such as `"create user one"`;
    /// `effect` is the system's action. An operator can crash before and after it, and the response can be lost.
    ///
    /// # Errors
    /// Returns an error if the schedule breaks the connection, before or after the effect.
    pub async fn call<R, F>(&self, what: &str, effect: F) -> Result<R, OutsideError>
    where
        R: Send + 'static,
        F: FnOnce(&mut T) -> R + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let state = self.state.clone();
        let carry_out = Box::new(move |fate| {
            if fate == CallFate::Unsent {
                return;
            }
            let result = effect(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
            if fate == CallFate::Answered {
                // The operator may have stopped waiting.
                let _ = reply.send(result);
            }
        });
        if let Some(call) = Gate::add_call(Call { label: format!("{}: {what}", self.name), carry_out }) {
            (call.carry_out)(CallFate::Answered);
        }
        let broken = OutsideError { system: self.name.to_string(), call: what.to_owned() };
        answer.await.map_err(|_| broken)
    }

    /// Reads the system's state, for checks.
    pub fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
