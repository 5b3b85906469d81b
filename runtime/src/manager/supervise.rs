//! The groups of a manager: their supervision, and the order in which they stop.

use std::future::{Future, pending};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::ManagerError;
use super::group::{Runnable, run_group};
use super::leader::LeaderHandle;
use crate::deadline::after;
use crate::leaderelection::{LeaderCallbacks, LeaderElector};
use crate::sharding::Sharding;

/// The task of a group; aborted when dropped.
pub(super) struct Supervised {
    stop: CancellationToken,
    task: JoinHandle<Result<(), ManagerError>>,
    has_ended: bool,
}

impl Supervised {
    pub(super) fn spawn<Fut>(run: impl FnOnce(CancellationToken) -> Fut) -> Self
    where
        Fut: Future<Output = Result<(), ManagerError>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let task = tokio::spawn(run(stop.clone()));
        Supervised { stop, task, has_ended: false }
    }

    /// Waits for the end of the group.
    async fn ended(&mut self) -> Result<(), ManagerError> {
        let result = (&mut self.task).await;
        self.has_ended = true;
        result.unwrap_or_else(|error| {
            Err(ManagerError::Runnable { name: "the manager".to_owned(), source: error.into() })
        })
    }

    /// Waits for a failure of the group.
    pub(super) async fn failed(&mut self) -> ManagerError {
        if !self.has_ended
            && let Err(error) = self.ended().await
        {
            return error;
        }
        pending().await
    }

    pub(super) async fn stop(&mut self, deadline: Instant, grace: Duration) -> Result<(), ManagerError> {
        self.stop.cancel();
        if self.has_ended {
            return Ok(());
        }
        match timeout_at(deadline, self.ended()).await {
            Ok(result) => result,
            Err(_) => Err(ManagerError::ShutdownTimeout(grace)),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Runs the groups until the stop or a failure, including one of the webhooks, and stops them in order. The
/// webhooks continue. Returns the deadline for the rest of the shutdown.
pub(super) async fn work(
    mut groups: [Supervised; 3],
    webhooks: &mut Supervised,
    mut stop: impl Future<Output = ()> + Unpin,
    grace: Duration,
) -> (Result<(), ManagerError>, Instant) {
    let mut result = Ok(());
    while result.is_ok() {
        let [replica, shard, leader] = &mut groups;
        tokio::select! {
            biased;
            () = &mut stop => break,
            ended = replica.ended(), if !replica.has_ended => result = ended,
            ended = shard.ended(), if !shard.has_ended => result = ended,
            ended = leader.ended(), if !leader.has_ended => result = ended,
            error = webhooks.failed() => result = Err(error),
        }
    }
    let deadline = after(grace);
    for group in &mut groups {
        result = result.and(group.stop(deadline, grace).await);
    }
    (result, deadline)
}

/// Runs the parts that replicas share. The share is kept until they have ended.
pub(super) async fn share(
    runnables: Vec<Runnable>,
    sharding: Option<Sharding>,
    stop: CancellationToken,
) -> Result<(), ManagerError> {
    let Some(sharding) = sharding else { return run_group(runnables, stop).await };
    let stop = stop.child_token();
    let leave = CancellationToken::new();
    let member = async {
        let result = sharding.run(leave.clone()).await;
        stop.cancel();
        result
    };
    let work = async {
        let result = run_group(runnables, stop.clone()).await;
        if result.is_ok() {
            stop.cancelled().await;
        }
        leave.cancel();
        result
    };
    let (member, worked) = tokio::join!(member, work);
    worked.and(member.map_err(ManagerError::from))
}

/// Runs the leader's parts, if there is an elector only while it leads.
pub(super) async fn lead(
    runnables: Vec<Runnable>,
    elector: Option<LeaderElector>,
    handle: LeaderHandle,
    stop: CancellationToken,
) -> Result<(), ManagerError> {
    let Some(elector) = elector else { return run_group(runnables, stop).await };
    let failure: Arc<Mutex<Option<ManagerError>>> = Arc::default();
    let (cell, give_up) = (failure.clone(), stop.clone());
    let callbacks = LeaderCallbacks::new(move |leadership| async move {
        handle.set(leadership.clone());
        match run_group(runnables, leadership.token()).await {
            Ok(()) => leadership.ended().await,
            Err(error) => {
                *cell.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                give_up.cancel();
            }
        }
    });
    let elected = elector.run(callbacks, stop).await;
    let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    failure.map_or(Ok(()), Err).and(elected.map_err(ManagerError::from))
}
