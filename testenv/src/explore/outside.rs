//! Models of outside systems, such as a database or a cloud, with the faults of requests.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures::channel::oneshot;
use serde_json::Value;

use super::gate::{Call, CallFate, Gate};
use super::state::{Names, is_incidental, scrub};
use super::world::World;

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

impl World {
    /// Returns the states of outside systems.
    pub(super) fn outside(&self) -> Vec<Value> {
        self.spec.outside.iter().map(|(_, show)| show()).collect()
    }

    /// Returns the entries of outside systems.
    pub(super) fn entries(&self) -> BTreeSet<String> {
        let mut entries = BTreeSet::new();
        for (name, show) in &self.spec.outside {
            add_entries(&show(), &scrub(&format!("Outside {name}"), &self.names), &self.names, &mut entries);
        }
        entries
    }

    /// Records the entries that a call has removed from outside systems. Those of this step may be half done, so that an
    /// operator begins anew.
    pub(super) fn note_removed(&mut self, before: &BTreeSet<String>) {
        let after = self.entries();
        for entry in
            before.iter().filter(|entry| !after.contains(*entry) && self.old_entries.contains(*entry))
        {
            *self.deleted.entry(entry.clone()).or_default() += 1;
        }
    }
}

/// Finds the paths of a value's fields, and the simple items of its lists.
fn add_entries(value: &Value, path: &str, names: &Names, out: &mut BTreeSet<String>) {
    let below = |key: &str| format!("{path} {}", scrub(key, names));
    match value {
        Value::Object(map) => {
            let compared = map.iter().filter(|(key, _)| !is_incidental(key, true));
            compared.for_each(|(key, value)| add_entries(value, &below(key), names, out));
        }
        Value::Array(items) => {
            let simple = items.iter().filter(|item| !item.is_object() && !item.is_array());
            out.extend(
                simple.map(|item| below(&item.as_str().map_or_else(|| item.to_string(), str::to_owned))),
            );
        }
        _ => drop(out.insert(path.to_owned())),
    }
}
