//! Settings of a [`CertRotator`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use jiff::Timestamp;

use super::state::Policy;
use super::{CaBundleTarget, CertRotator, Inner, Metrics};
use crate::metrics::Registry;

/// The validity of a certificate (cert-manager's usual duration).
const VALIDITY: Duration = Duration::from_secs(90 * 24 * 3600);
/// The longest validity: times of X.509 end with the year 9999.
const LONGEST: Duration = Duration::from_secs(3650 * 24 * 3600);
/// The time limit for API servers to notice a change of a webhook's configuration.
const PROPAGATION: Duration = Duration::from_secs(60);
/// The interval of checks of Secret and targets.
const INTERVAL: Duration = Duration::from_secs(10);

/// Settings of a [`CertRotator`].
///
/// ```no_run
/// use std::time::Duration;
/// use k8s_openapi::jiff::Timestamp;
/// use kubesmith_runtime::metrics::Registry;
/// use kubesmith_runtime::webhook::{CaBundleTarget, CertRotator};
///
/// fn rotator(client: kube::Client, registry: &Registry) -> CertRotator {
///     let day = Duration::from_secs(24 * 3600);
///     CertRotator::builder(client, "shop-system", "shop-webhook-server-cert")
///         .service("shop-webhook-service")
///         .dns_name("webhooks.example.com")
///         .inject_into(CaBundleTarget::CustomResourceDefinition("items.shop.example.com".to_owned()))
///         .validity(30 * day)
///         .renew_before(10 * day)
///         .propagation(Duration::from_secs(120))
///         .interval(Duration::from_secs(30))
///         .metrics(registry)
///         .clock(Timestamp::now)
///         .build()
/// }
/// ```
#[must_use = "build the rotator"]
pub struct CertRotatorBuilder {
    client: kube::Client,
    namespace: String,
    secret: String,
    service: Option<String>,
    names: Vec<String>,
    targets: Vec<CaBundleTarget>,
    validity: Duration,
    renew_before: Option<Duration>,
    propagation: Duration,
    interval: Duration,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    registry: Option<Registry>,
}

impl CertRotatorBuilder {
    pub(super) fn new(client: kube::Client, namespace: String, secret: String) -> Self {
        Self {
            client,
            namespace,
            secret,
            service: None,
            names: Vec::new(),
            targets: Vec::new(),
            validity: VALIDITY,
            renew_before: None,
            propagation: PROPAGATION,
            interval: INTERVAL,
            clock: Box::new(Timestamp::now),
            registry: None,
        }
    }

    /// Makes the certificate for the Service in front of the server, in the namespace of the Secret.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = Some(name.into());
        self
    }

    /// Makes the certificate for this DNS name or IP address too, which URLs of webhooks have.
    pub fn dns_name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Writes the authority into this object, into each `clientConfig` that points to the Service or to a URL with
    /// one of the names. Without any target, another tool has to copy `ca.crt` from the Secret.
    pub fn inject_into(mut self, target: CaBundleTarget) -> Self {
        self.targets.push(target);
        self
    }

    /// Sets how long certificates are valid; 90 days by default, ten years at most.
    pub fn validity(mut self, validity: Duration) -> Self {
        self.validity = validity.min(LONGEST);
        self
    }

    /// Sets how long before its expiry a certificate is renewed; a third of the validity by default, two
    /// thirds of it at most.
    pub fn renew_before(mut self, time: Duration) -> Self {
        self.renew_before = Some(time);
        self
    }

    /// Sets how long an authority is in all targets before its certificate is served: the longest time that API servers take
    /// to notice a change. One minute by default.
    pub fn propagation(mut self, time: Duration) -> Self {
        self.propagation = time;
        self
    }

    /// Sets how often Secret and targets are read; every 10 s by default.
    pub fn interval(mut self, interval: Duration) -> Self {
        // An interval of zero would be a busy loop.
        self.interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Registers the metrics `cert_rotator_errors_total` and `cert_rotator_certificate_expiration_timestamp_seconds`.
    pub fn metrics(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Sets the clock for validities; the system's by default.
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Makes the rotator. It reads and writes nothing before its server starts.
    #[must_use]
    pub fn build(self) -> CertRotator {
        let host = self.service.as_ref().map(|service| format!("{service}.{}.svc", self.namespace));
        let hosts = host.into_iter().flat_map(|host| [host.clone(), format!("{host}.cluster.local")]);
        let metrics = self.registry.map(|registry| Metrics {
            errors: registry.counter(
                "cert_rotator_errors_total",
                "Total number of failures to look after the serving certificate",
                &[],
            ),
            expiry: registry.gauge(
                "cert_rotator_certificate_expiration_timestamp_seconds",
                "When the serving certificate expires",
                &[],
            ),
        });
        CertRotator(Arc::new(Inner {
            client: self.client,
            namespace: self.namespace,
            secret: self.secret,
            service: self.service,
            policy: Policy {
                names: hosts.chain(self.names).collect(),
                validity: self.validity,
                // A new certificate that is due already would be renewed without end.
                renew_before: self.renew_before.unwrap_or(self.validity / 3).min(self.validity * 2 / 3),
            },
            targets: self.targets,
            propagation: self.propagation,
            interval: self.interval,
            clock: self.clock,
            served: RwLock::new(None),
            trusted: Mutex::new(BTreeMap::new()),
            unwritten: Mutex::new(BTreeMap::new()),
            metrics,
        }))
    }
}

impl fmt::Debug for CertRotatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertRotatorBuilder")
            .field("namespace", &self.namespace)
            .field("secret", &self.secret)
            .field("service", &self.service)
            .field("names", &self.names)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}
