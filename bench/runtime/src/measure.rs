//! The measurements of a contender, in a process of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::probe;
use crate::seen::Seen;
use crate::server;
use crate::shapes::{self, NAMESPACES};

/// The figures of a run.
pub type Figures = BTreeMap<&'static str, f64>;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Work {
    pub objects: u64,
    pub events: u64,
    pub rate: u64,
    pub address: String,
    /// Address and certificate of the server over TLS.
    pub secure: Option<(String, Vec<u8>)>,
}

impl Work {
    /// Returns the configuration of a client.
    pub fn config(&self) -> kube::Config {
        let Some((address, certificate)) = &self.secure else {
            return kube::Config::new(format!("http://{}", self.address).parse().expect("an address is one"));
        };
        let mut config = kube::Config::new(format!("https://{address}").parse().expect("an address is one"));
        config.root_cert = Some(vec![certificate.clone()]);
        config
    }
}

/// A cache under measurement.
pub trait Cache: Sized {
    /// Starts to fill it; `seen` gets every change.
    fn start(work: &Work, seen: &Arc<Seen>) -> impl Future<Output = Self>;
    /// Waits until it holds everything.
    fn synced(&self) -> impl Future<Output = ()>;
    fn len(&self) -> usize;
}

/// Look-ups in a cache.
pub trait Lookup: Sync {
    type Key: Sync;
    fn key(&self, namespace: &str, name: &str) -> Self::Key;
    fn get(&self, key: &Self::Key) -> bool;
    fn get_by_name(&self, namespace: &str, name: &str) -> bool;
    fn list(&self) -> usize;
    fn list_namespace(&self, namespace: &str) -> usize;
    /// Counts by label; through an index if there is one.
    fn list_tier(&self, tier: &str) -> usize;
}

/// Measures the seconds until the cache is full and the handler has seen all objects, and the memory then.
pub async fn sync<C: Cache>(work: &Work, begin: Instant) -> (C, Arc<Seen>, Figures) {
    let seen = Arc::new(Seen::new(work.objects, work.rate > 0));
    let cache = C::start(work, &seen).await;
    cache.synced().await;
    seen.reached().await;
    let seconds = begin.elapsed().as_secs_f64();
    let cpu = probe::cpu_seconds();
    assert_eq!(cache.len() as u64, work.objects);
    let peak = probe::peak_megabytes();
    // Waits for tasks that are ending to free their memory.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let figures = [("seconds", seconds), ("cpu", cpu), ("live", probe::live_megabytes()), ("peak", peak)];
    (cache, seen, figures.into())
}

/// Measures changes per second and the processor time of each, or their delays if the work has a rate.
pub async fn watch<C: Cache>(work: &Work, begin: Instant) -> Figures {
    let (_cache, seen, _) = sync::<C>(work, begin).await;
    seen.expect(work.events);
    let before = probe::cpu_seconds();
    let (address, events, rate) = (work.address.clone(), work.events, work.rate);
    let ordered = tokio::task::spawn_blocking(move || server::go(&address, events, rate)).await;
    ordered.expect("no panic").expect("the server takes orders");
    seen.reached().await;
    let cpu = (probe::cpu_seconds() - before) * 1e6 / events as f64;
    let delays = seen.delays();
    let micros = |share| probe::percentile(&delays, share) / 1e3;
    let figures = [
        ("events", events as f64 / seen.seconds()),
        ("cpu", cpu),
        ("p50", micros(0.5)),
        ("p99", micros(0.99)),
        ("peak", probe::peak_megabytes()),
    ];
    figures.into()
}

/// Measures look-ups per second.
pub fn lookups(cache: &impl Lookup, objects: usize) -> Figures {
    let order: Vec<usize> =
        (0..objects).map(|i| (shapes::mixed(i as u64) % objects as u64) as usize).collect();
    let names: Vec<(String, String)> =
        order.iter().map(|&i| (shapes::namespace(i), shapes::name(i))).collect();
    let keys: Vec<_> = names.iter().map(|(namespace, name)| cache.key(namespace, name)).collect();
    let tiers: Vec<String> = (0..10).map(|tier| format!("t{tier}")).collect();
    let namespaces: Vec<String> = (0..NAMESPACES).map(shapes::namespace).collect();
    let by_name = |i: usize| {
        let (namespace, name) = &names[i % objects];
        assert!(cache.get_by_name(namespace, name));
    };
    let figures = [
        ("get", probe::rate(|i| assert!(cache.get(&keys[i % objects])))),
        ("get_all", probe::rate_of_threads(|i| assert!(cache.get(&keys[i % objects])))),
        ("get_by_name", probe::rate(by_name)),
        ("list", probe::rate(|_| assert_eq!(cache.list(), objects))),
        ("list_namespace", probe::rate(|i| assert!(cache.list_namespace(&namespaces[i % NAMESPACES]) > 0))),
        ("list_label", probe::rate(|i| assert!(cache.list_tier(&tiers[i % 10]) > 0))),
    ];
    figures.into()
}
