//! Serving certificates that the replicas of a program issue and renew by themselves.
//!
//! The rules are in `state`: the wanted content of the Secret, given the current one. This file reads, writes and
//! repeats.

mod builder;
mod error;
mod own;
mod pair;
mod state;
mod targets;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, PostParams};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::certwatcher::PairSource;
use super::{CertWatcher, CertWatcherBuilder};
use crate::client::{self, Request};
use crate::metrics::{Counter, Gauge};
pub use builder::CertRotatorBuilder;
pub use error::RotationError;
pub(crate) use own::own_certificate;
use pair::Pair;
use state::{Known, Policy, State};
use targets::Address;
pub use targets::CaBundleTarget;

/// The field manager of `caBundle` fields, and of the Secret.
const FIELD_MANAGER: &str = "kubesmith-cert-rotator";

/// The limit of attempts to write the Secret when others change it at the same time.
const TRIES: usize = 10;

/// Issues the certificate of a webhook server, renews it, and makes API servers trust it: the work of cert-manager
/// with its injector, without either.
///
/// All replicas share a Secret. A replica that finds it empty, broken or about to expire makes a new certificate with an authority
/// of its own, whose key is forgotten at once, and writes it with the version that it has read, so that one replica succeeds.
/// Each replica writes the authorities into the `caBundle` fields that lead to the server, by server-side apply.
///
/// No request fails when a certificate is renewed: the new one waits in the Secret until every `caBundle` has had its authority
/// for the time of [`propagation`](CertRotatorBuilder::propagation), and the old authority stays there until it expires.
///
/// The manager needs `get` and `update` for the Secret, `create` if no other tool creates an empty one, and `get` and
/// `patch` for each target. `kubesmith generate` writes exactly these rules with `certificates = "self-managed"` in
/// `[deploy]`.
///
/// ```no_run
/// use kubesmith_runtime::manager::{Manager, shutdown_signal};
/// use kubesmith_runtime::webhook::{AdmissionResponse, CaBundleTarget, CertRotator, Server, admission_fn};
///
/// # async fn run(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let rotator = CertRotator::builder(client.clone(), "shop-system", "shop-webhook-server-cert")
///     .service("shop-webhook-service")
///     .inject_into(CaBundleTarget::ValidatingWebhookConfiguration("shop".to_owned()))
///     .build();
/// let all = admission_fn(|_| async { AdmissionResponse::allowed() });
/// let server = Server::builder().cert_rotator(rotator).admission("/validate-all", all).build()?;
/// let mut manager = Manager::builder(client).build();
/// manager.add_webhooks(server);
/// manager.run(shutdown_signal()?).await?;
/// # Ok(())
/// # }
/// ```
///
/// A Secret with other data is an error, not overwritten:
///
/// ```
/// use kubesmith_runtime::webhook::RotationError;
///
/// let error = RotationError::Foreign { secret: "shop-system/database".into(), key: "password".into() };
/// assert!(error.to_string().contains("choose another name"));
/// ```
#[derive(Clone)]
pub struct CertRotator(Arc<Inner>);

struct Inner {
    client: kube::Client,
    namespace: String,
    secret: String,
    service: Option<String>,
    policy: Policy,
    targets: Vec<CaBundleTarget>,
    propagation: Duration,
    interval: Duration,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    served: RwLock<Option<Served>>,
    /// The authorities that all targets have, and since when this replica has seen it.
    trusted: Mutex<BTreeMap<String, Timestamp>>,
    /// The targets that do not get the authority, and why.
    unwritten: Mutex<BTreeMap<CaBundleTarget, String>>,
    metrics: Option<Metrics>,
}

/// The served certificate of this replica.
#[derive(Clone)]
struct Served {
    pair: Pair,
    /// The authorities that it needs.
    authorities: Vec<String>,
}

struct Metrics {
    errors: Counter,
    expiry: Gauge,
}

impl CertRotator {
    /// Starts the settings for this Secret.
    pub fn builder(
        client: kube::Client,
        namespace: impl Into<String>,
        secret: impl Into<String>,
    ) -> CertRotatorBuilder {
        CertRotatorBuilder::new(client, namespace.into(), secret.into())
    }

    /// Watches the pair that is to be served now.
    pub(super) fn watcher(&self) -> CertWatcherBuilder {
        let key = |key| format!("{key} of Secret {}", self.secret_name());
        let rotator = self.clone();
        let source = PairSource(Arc::new(move || match rotator.served() {
            Some(Served { pair, .. }) => (pair.certificate.into_bytes(), pair.key.into_bytes()),
            None => Default::default(),
        }));
        CertWatcher::builder(key("tls.crt"), key("tls.key")).source(source).interval(self.0.interval)
    }

    fn served(&self) -> Option<Served> {
        self.0.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn secret_name(&self) -> String {
        format!("{}/{}", self.0.namespace, self.0.secret)
    }

    /// Obtains a pair to serve, issued now if there is none, and makes API servers trust it, if possible.
    pub(crate) async fn obtain(&self) -> Result<(), RotationError> {
        match self.tick().await {
            Err(error) if self.served().is_some() => {
                self.count(&error);
                Ok(())
            }
            done => done,
        }
    }

    /// Looks after Secret and targets until `stop` is cancelled. Failures are logged and counted, and tried again.
    pub(crate) async fn run(&self, stop: CancellationToken) {
        let mut ticks = interval(self.0.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.tick().await {
                self.count(&error);
            }
        }
    }

    fn count(&self, error: &RotationError) {
        tracing::error!(%error, "cannot look after the serving certificate");
        if let Some(metrics) = &self.0.metrics {
            metrics.errors.inc();
        }
    }

    /// Checks and updates Secret and targets once.
    ///
    /// The targets are read before the Secret, and written only if they have not changed since. So a writer has seen
    /// all authorities that it replaces, and an old bundle never replaces a newer one.
    async fn tick(&self) -> Result<(), RotationError> {
        let Inner { client, targets, .. } = &*self.0;
        let (server, now) = (self.address(), (self.0.clock)());
        let mut found = Vec::new();
        let mut failure = None;
        for target in targets {
            match target.get(client).await {
                Ok(object) => {
                    self.note(target, CaBundleTarget::obstacle(object.as_ref(), &server));
                    found.extend(object.map(|object| (target, object)));
                }
                Err(error) => failure = Some(error),
            }
        }
        let seen: Vec<String> =
            found.iter().flat_map(|(target, object)| target.authorities(object, &server, now)).collect();
        let state = self.secure(&seen).await?;
        let failure = self.publish(&state.bundle, &found).await.or(failure);
        match failure {
            Some(error) if error.is_conflict() => {
                tracing::debug!(%error, "another replica was faster");
                Ok(())
            }
            Some(error) => Err(error.into()),
            None => {
                self.observe(&state.bundle);
                Ok(())
            }
        }
    }

    /// Records why a target does not get the authority, and warns of each new reason: API servers would refuse the certificate.
    fn note(&self, target: &CaBundleTarget, obstacle: Option<String>) {
        let mut unwritten = self.0.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reason) = obstacle else {
            unwritten.remove(target);
            return;
        };
        if unwritten.get(target) != Some(&reason) {
            tracing::warn!(%target, reason, "the authority of the webhooks' certificate is not written");
            unwritten.insert(target.clone(), reason);
        }
    }

    fn address(&self) -> Address<'_> {
        let Inner { namespace, service, policy, .. } = &*self.0;
        Address { namespace, service: service.as_deref(), names: &policy.names }
    }

    /// Writes these authorities into the targets. Writes all targets even if some fail, and returns a failure.
    async fn publish(
        &self,
        bundle: &[String],
        found: &[(&CaBundleTarget, DynamicObject)],
    ) -> Option<client::Error> {
        let (client, server) = (&self.0.client, self.address());
        let bytes = ByteString(bundle.concat().into_bytes());
        let text = serde_json::to_value(bytes).unwrap_or_default();
        let text = text.as_str().unwrap_or_default();
        let mut failure = None;
        for (target, object) in found {
            failure = target.trust(client, object, &server, text).await.err().or(failure);
        }
        failure
    }

    /// Remembers that all targets have these authorities now.
    fn observe(&self, bundle: &[String]) {
        let now = (self.0.clock)();
        let mut trusted = self.0.trusted.lock().unwrap_or_else(PoisonError::into_inner);
        trusted.retain(|authority, _| bundle.contains(authority));
        for authority in bundle {
            trusted.entry(authority.clone()).or_insert(now);
        }
    }

    /// The authorities that API servers have had time to learn of.
    fn settled(&self, now: Timestamp) -> Vec<String> {
        let trusted = self.0.trusted.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |since: Timestamp| {
            let age = now.duration_since(since);
            !age.is_negative() && age.unsigned_abs() >= self.0.propagation
        };
        trusted.iter().filter(|(_, since)| is_old(**since)).map(|(authority, _)| authority.clone()).collect()
    }

    /// Updates the Secret, given the authorities in the targets, and serves its pair if API servers trust it.
    async fn secure(&self, seen: &[String]) -> Result<State, RotationError> {
        let secrets: Api<Secret> = Api::namespaced(self.0.client.clone(), &self.0.namespace);
        for _ in 0..TRIES {
            let now = (self.0.clock)();
            let found = secrets.get_opt(&self.0.secret).await.map_err(|error| self.failed("get", error))?;
            let is_there = found.is_some();
            let mut secret = found.unwrap_or_else(|| self.empty());
            let state = State::read(&secret, &self.secret_name(), now)?;
            let served = self.served().map(|served| served.authorities).unwrap_or_default();
            let known = Known { now, trusted: &self.settled(now), served: &served, seen };
            let Some(wanted) = state.next(&self.0.policy, &known)? else {
                self.serve(&state, now);
                return Ok(state);
            };
            wanted.write(&mut secret);
            let params =
                PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let written = match is_there {
                true => secrets.replace(&self.0.secret, &params, &secret).await,
                false => secrets.create(&params, &secret).await,
            };
            match written.map_err(|error| self.failed(if is_there { "update" } else { "create" }, error)) {
                Ok(_) => {
                    self.serve(&wanted, now);
                    return Ok(wanted);
                }
                Err(error) if error.is_conflict() || error.is_already_exists() => {}
                Err(error) if is_there && error.is_not_found() => {}
                Err(source) if !is_there && source.is_forbidden() => {
                    let source = Box::new(source);
                    return Err(RotationError::Missing { secret: self.secret_name(), source });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(RotationError::Contended { secret: self.secret_name() })
    }

    fn empty(&self) -> Secret {
        let mut secret = Secret::default();
        secret.metadata.namespace = Some(self.0.namespace.clone());
        secret.metadata.name = Some(self.0.secret.clone());
        secret
    }

    /// Serves the pair of the Secret, unless API servers may not trust it yet and the old one is still good.
    fn serve(&self, state: &State, now: Timestamp) {
        let Some(pair) = &state.current else { return };
        let name = self.0.policy.names.first().map_or("", String::as_str);
        let is_good = self.served().is_some_and(|old| {
            let is_trusted = || pair.check(&self.settled(now), name, now).is_ok();
            let is_old_good = || old.pair.check(&old.authorities, name, now).is_ok();
            old.pair == *pair || (!is_trusted() && is_old_good())
        });
        if is_good {
            return;
        }
        let needed =
            state.bundle.iter().filter(|one| pair.check(std::slice::from_ref(*one), name, now).is_ok());
        let served = Served { pair: pair.clone(), authorities: needed.cloned().collect() };
        if let Ok(expiry) = pair.check(&state.bundle, name, now) {
            tracing::info!(secret = self.secret_name(), %expiry, "a new serving certificate");
            if let Some(metrics) = &self.0.metrics {
                #[allow(clippy::cast_precision_loss, reason = "seconds are far below 2^52")]
                metrics.expiry.set(expiry.as_second() as f64);
            }
        }
        *self.0.served.write().unwrap_or_else(PoisonError::into_inner) = Some(served);
    }

    fn failed(&self, verb: &'static str, source: kube::Error) -> client::Error {
        let request = Request {
            verb,
            resource: "secrets".to_owned(),
            namespace: Some(self.0.namespace.clone()),
            name: Some(self.0.secret.clone()),
        };
        client::Error::from_kube(request, source)
    }
}

impl fmt::Debug for CertRotator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertRotator")
            .field("secret", &self.secret_name())
            .field("names", &self.0.policy.names)
            .field("targets", &self.0.targets)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
