//! Reports failures of requests and of objects, and hands them to the machine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use kube::core::Status;
use tokio::time::Instant;

use super::super::decode::Broken;
use super::super::error::failure;
use super::super::machine::{Failure, Input};
use super::super::{Batch, Event, WatchError};
use super::{Io, Reflector};

impl Reflector {
    pub(super) fn undecodable(&mut self, broken: Broken, staged: bool, batch: &mut Batch) {
        let Broken { key, why, .. } = broken;
        if let (true, Some(key)) = (staged, &key) {
            self.staged.add_undecodable(key.clone());
        }
        let resource = self.settings.resource.clone();
        let message = why.message.clone();
        self.report(WatchError::Undecodable { resource, key: key.clone(), message }, batch);
        batch.events.push(Event::Undecodable { key, why });
    }

    /// Handles a deletion whose object does not decode; its key is enough.
    pub(super) fn deleted_unseen(&mut self, broken: Broken, batch: &mut Batch) {
        match broken.key.clone() {
            Some(key) => batch.events.push(Event::Deleted { key, object: None }),
            None => self.undecodable(broken, false, batch),
        }
    }

    pub(super) fn refused(
        &mut self,
        code: u16,
        retry_after: Option<Duration>,
        body: &[u8],
        batch: &mut Batch,
    ) {
        let mut status = serde_json::from_slice::<Status>(body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
            Status::failure(text.trim(), "")
        });
        if status.code == 0 {
            status.code = code;
        }
        let failure = failure(&status, retry_after);
        self.report_refusal(failure, Box::new(status), batch);
        self.input(Instant::now(), Input::Failed(failure), batch);
    }

    pub(super) fn report_refusal(&mut self, failure: Failure, status: Box<Status>, batch: &mut Batch) {
        if failure == Failure::Expired {
            // This is expected now and then; the next list resolves it.
            tracing::debug!(resource = %self.settings.resource, "the resource version expired");
            return;
        }
        let resource = self.settings.resource.clone();
        self.report(WatchError::Refused { verb: self.machine.verb(), resource, status }, batch);
    }

    pub(super) fn broke(&mut self, message: &str, batch: &mut Batch) {
        self.io = Io::Idle;
        let (verb, resource) = (self.machine.verb(), self.settings.resource.clone());
        self.report(WatchError::Transport { verb, resource, message: message.to_owned() }, batch);
        self.input(Instant::now(), Input::Failed(Failure::Transport), batch);
    }

    pub(super) fn malformed(&mut self, message: &str, batch: &mut Batch) {
        let (verb, resource) = (self.machine.verb(), self.settings.resource.clone());
        self.report(WatchError::Malformed { verb, resource, message: message.to_owned() }, batch);
        self.input(Instant::now(), Input::Failed(Failure::Malformed), batch);
    }

    pub(super) fn report(&self, error: WatchError, batch: &mut Batch) {
        tracing::warn!(%error, "list and watch goes on after a failure");
        if let Some(hook) = &self.settings.error_hook
            && catch_unwind(AssertUnwindSafe(|| hook(&error))).is_err()
        {
            tracing::error!(resource = %self.settings.resource, "the watch error handler panicked");
        }
        batch.events.push(Event::Failed(error));
    }
}
