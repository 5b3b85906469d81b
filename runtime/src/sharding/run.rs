//! The shell: requests to the API server, the gate, the shutdown.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::OptionFuture;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ListParams, PostParams, Preconditions};
use kube::{Client, Error};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::core::Membership;
use super::lease::{GROUP, Identity};
use super::metrics::register;
use super::protocol::{Answer, Input, Phase, Request};
use super::shard::Shard;
use crate::deadline::after;
use crate::leaderelection::{ElectionTimes, InvalidTimes};
use crate::metrics::Registry;
use crate::random::{self, Random};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The time limit of joining: enough for the leases of crashed members to expire.
const DEFAULT_JOIN_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest value of a label.
const LONGEST_LABEL: usize = 63;
/// The longest name of an object.
const LONGEST_NAME: usize = 253;

/// A member of a group cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardingBuildError {
    /// With these times two owners could overlap.
    #[error(transparent)]
    Times(#[from] InvalidTimes),
    /// The group is not a valid label value, or group and identity do not form a valid object name.
    #[error(
        "\"{group}-{identity}\" cannot name a lease: use lower-case letters, digits, \"-\" and \".\", letters or digits at both ends, at most {LONGEST_LABEL} characters for the group and {LONGEST_NAME} for both"
    )]
    Name {
        /// The group.
        group: String,
        /// The identity.
        identity: String,
    },
}

/// A membership ended without being stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardingError {
    /// The group could not be joined in time.
    #[error(
        "{lease} has not joined its group after {} s{}{}; check that the role allows create, list, update and delete on leases",
        .waited.as_secs_f64(),
        listed(.waiting_for),
        .last_error.as_deref().map_or_else(String::new, |error| format!(": {error}"))
    )]
    NotJoined {
        /// Namespace and name of the lease.
        lease: String,
        /// The time it tried.
        waited: Duration,
        /// Members that have not acknowledged it.
        waiting_for: Vec<String>,
        /// The last failure of a request.
        last_error: Option<String>,
    },
}

fn listed(waiting_for: &[String]) -> String {
    if waiting_for.is_empty() { String::new() } else { format!(", waiting for {}", waiting_for.join(", ")) }
}

/// A replica of a group that shares keys. See the [module](super).
pub struct Sharding {
    api: Api<Lease>,
    identity: Identity,
    times: ElectionTimes,
    join_timeout: Duration,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: Random,
    shard: Shard,
}

/// Settings of a [`Sharding`].
pub struct ShardingBuilder {
    client: Client,
    identity: Identity,
    times: ElectionTimes,
    join_timeout: Duration,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: Random,
    registry: Option<Registry>,
}

impl ShardingBuilder {
    /// Sets the times, which have the meaning of leader election: how long a lease lasts, how long a replica works
    /// without a renewal, and how often it renews and lists.
    #[must_use]
    pub fn times(mut self, times: ElectionTimes) -> Self {
        self.times = times;
        self
    }

    /// Sets how long joining may take before [`Sharding::run`] fails; 2 minutes by default. Joining again after the
    /// lease was lost may take any time.
    #[must_use]
    pub fn join_timeout(mut self, timeout: Duration) -> Self {
        self.join_timeout = timeout;
        self
    }

    /// Registers the metrics `sharding_*` in `registry`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Sets the wall clock that is written into the lease; the system's by default. No decision depends on it.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Sets the source of tokens and jitter: numbers in `0.0..1.0`, which must differ between processes.
    #[must_use]
    pub fn random(mut self, random: impl FnMut() -> f64 + Send + 'static) -> Self {
        self.random = Box::new(random);
        self
    }

    /// Makes the member. It sends nothing before [`Sharding::run`].
    ///
    /// # Errors
    ///
    /// [`ShardingBuildError`] if two owners could overlap with these times, or if the names cannot name a lease.
    pub fn build(self) -> Result<Sharding, ShardingBuildError> {
        let ShardingBuilder { client, mut identity, times, join_timeout, clock, random, registry } = self;
        let times = times.check()?;
        identity.duration = times.lease_duration;
        if !is_label(&identity.group) || !is_name(&identity.name) || identity.identity.is_empty() {
            let Identity { group, identity, .. } = identity;
            return Err(ShardingBuildError::Name { group, identity });
        }
        let shard = Shard::new(&identity.name);
        if let Some(registry) = &registry {
            register(registry, &identity.group, &shard);
        }
        let api = Api::namespaced(client, &identity.namespace);
        Ok(Sharding { api, identity, times, join_timeout, clock, random, shard })
    }
}

fn is_label(text: &str) -> bool {
    is_name(text) && text.len() <= LONGEST_LABEL
}

/// Reports whether an object may have this name: labels of lower-case letters, digits and `-`, separated by dots.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(is_inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    text.len() <= LONGEST_NAME && text.split('.').all(is_part)
}

impl Sharding {
    /// Starts the settings of a replica of `group`. Each replica needs another `identity`. Its lease is
    /// `group-identity` in `namespace`.
    pub fn builder(
        client: Client,
        namespace: impl Into<String>,
        group: impl Into<String>,
        identity: impl Into<String>,
    ) -> ShardingBuilder {
        let (group, identity) = (group.into(), identity.into());
        let times = ElectionTimes::default();
        let identity = Identity {
            namespace: namespace.into(),
            name: format!("{group}-{identity}"),
            group,
            identity,
            duration: times.lease_duration,
        };
        ShardingBuilder {
            client,
            identity,
            times,
            join_timeout: DEFAULT_JOIN_TIMEOUT,
            clock: Box::new(Timestamp::now),
            random: random::from_system(),
            registry: None,
        }
    }

    /// Returns the share, for [`Controller::sharded`](crate::controller::Controller::sharded).
    #[must_use]
    pub fn shard(&self) -> Shard {
        self.shard.clone()
    }

    /// Joins the group and keeps the share up to date until `stop` is cancelled. Then waits for running reconciles,
    /// deletes the lease and returns.
    ///
    /// A replica that loses its lease aborts its reconciles and joins again.
    ///
    /// # Errors
    ///
    /// [`ShardingError`] if it could not join at first.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts running reconciles and does not delete the lease, so that others wait for it to
    /// expire.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ShardingError> {
        let Sharding { api, identity, times, join_timeout, clock, random, shard } = self;
        let lease = format!("{}/{}", identity.namespace, identity.name);
        let group = identity.group.clone();
        let now = Instant::now();
        let mut run = Run {
            api: Arc::new(api),
            lease: lease.into(),
            group: group.into(),
            membership: Membership::new(now.into_std(), identity, times, random),
            clock,
            shard,
            request: None,
        };
        run.run(&stop, join_timeout).await
    }
}

/// The state of a run.
struct Run {
    api: Arc<Api<Lease>>,
    lease: Arc<str>,
    group: Arc<str>,
    membership: Membership,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    shard: Shard,
    request: Option<BoxFuture<Result<Answer, String>>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.shard.stop();
    }
}

impl Run {
    async fn run(&mut self, stop: &CancellationToken, join_timeout: Duration) -> Result<(), ShardingError> {
        let joins_by = after(join_timeout);
        let mut has_joined = false;
        let mut is_stopping = false;
        self.step(Input::Tick);
        while self.membership.phase() != Phase::Ended {
            has_joined |= self.membership.phase() == Phase::Working;
            let wake_at = Instant::from_std(self.membership.wake_at(Instant::now().into_std()));
            let request = OptionFuture::from(self.request.as_mut());
            tokio::select! {
                biased;
                Some(answer) = request => self.answered(answer),
                () = self.shard.finished() => self.step_finishing(),
                () = stop.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    self.step(Input::Leave);
                }
                () = sleep_until(joins_by), if !has_joined && !is_stopping => {
                    return Err(self.not_joined(join_timeout));
                }
                () = sleep_until(wake_at) => self.step(Input::Tick),
            }
        }
        Ok(())
    }

    fn answered(&mut self, answer: Result<Answer, String>) {
        self.request = None;
        let (answer, error) = match answer {
            Ok(answer) => (answer, None),
            Err(error) => {
                tracing::warn!(lease = &*self.lease, error, "a request for the group's leases failed");
                (Answer::Failed, Some(error))
            }
        };
        self.shard.set_last_error(error);
        self.step(Input::Answer(answer));
    }

    fn step_finishing(&mut self) {
        let version = self.membership.version();
        self.step(Input::Finishing { version, keys: self.shard.lost() });
    }

    fn step(&mut self, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let before = self.membership.phase();
            let step = self.membership.on(Instant::now().into_std(), (self.clock)(), input);
            let phase = self.membership.phase();
            if step.is_lost {
                tracing::error!(lease = &*self.lease, "the lease could not be kept; the work is cut off");
                self.request = None;
            } else if phase != before {
                tracing::info!(
                    lease = &*self.lease,
                    ?phase,
                    members = self.membership.members().len(),
                    "sharding"
                );
            }
            let version = step.gate.as_ref().map(|(version, _)| *version);
            self.shard.apply(&self.membership, step.gate.map(|(_, mode)| mode), step.is_lost);
            if let Some(request) = step.send {
                self.request = Some(Box::pin(ask(self.api.clone(), self.group.clone(), request)));
            }
            next = version.map(|version| Input::Finishing { version, keys: self.shard.lost() });
        }
    }

    fn not_joined(&self, waited: Duration) -> ShardingError {
        let state = self.shard.state();
        ShardingError::NotJoined {
            lease: self.lease.to_string(),
            waited,
            waiting_for: state.waiting_for,
            last_error: state.last_error,
        }
    }
}

async fn ask(api: Arc<Api<Lease>>, group: Arc<str>, request: Request) -> Result<Answer, String> {
    let result = match request {
        Request::List => {
            let params = ListParams::default().labels(&format!("{GROUP}={group}"));
            api.list(&params).await.map(|list| Answer::Leases(list.items))
        }
        Request::Create(lease) => api.create(&PostParams::default(), &lease).await.map(written),
        Request::Update(lease) => {
            let name = lease.metadata.name.clone().unwrap_or_default();
            api.replace(&name, &PostParams::default(), &lease).await.map(written)
        }
        Request::Delete { name, uid, version } => {
            let preconditions = Preconditions { uid: Some(uid), resource_version: version };
            let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            match api.delete(&name, &params).await {
                Ok(_) => Ok(Answer::Deleted),
                Err(Error::Api(status)) if status.code == 404 => Ok(Answer::Deleted),
                Err(error) => Err(error),
            }
        }
    };
    match result {
        // Another replica was faster; the next list shows the result.
        Err(Error::Api(status)) if status.code == 404 || status.code == 409 => Ok(Answer::Failed),
        other => other.map_err(|error| error.to_string()),
    }
}

fn written(lease: Lease) -> Answer {
    Answer::Lease(Box::new(lease))
}

impl fmt::Debug for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharding")
            .field("identity", &self.identity)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ShardingBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardingBuilder")
            .field("identity", &self.identity)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{is_label, is_name};

    #[test]
    fn lease_names_are_validated() {
        for good in ["a", "maps-7f9c-x2", "maps.example.com"] {
            assert!(is_name(good) && is_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a..b", "A", "a_b", ".a", "a/b", "ä"] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(is_name(&"a".repeat(253)) && !is_name(&"a".repeat(254)) && !is_label(&"a".repeat(64)));
    }
}
