//! The state of informers, for people and for Prometheus.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kubesmith_apimachinery::sharding::ShardSelector;

use super::control::Control;
use super::{HandlerState, SharedInformer};
use crate::metrics::Registry;
use crate::object::{Cached, KindFacts};

/// The state of an informer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InformerState {
    /// `plural.group` of the kind, with the form of its objects unless they are whole: `pods (metadata)`.
    pub resource: String,
    /// Whether the cache has been complete.
    pub has_synced: bool,
    /// The number of objects in the cache.
    pub objects: usize,
    /// The version that the cache has reached.
    pub resource_version: String,
    /// The number of objects whose present state cannot be decoded.
    pub undecodable: usize,
    /// The last failure to list or watch.
    pub last_error: Option<String>,
    /// The bytes of lists and watches, after decompression.
    pub received_bytes: u64,
    /// The shard of the cache; `None` if it follows all objects.
    pub shard: Option<CacheShard>,
    /// The handlers, in the order in which they were added.
    pub handlers: Vec<HandlerState>,
}

/// The shard of a cache that has a [shard selector](super::InformerOptions::shard_selector).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheShard {
    /// Selects the objects of the shard.
    pub selector: ShardSelector,
    /// Whether the server sends objects of other shards, so that the informer filters. The feature
    /// `ShardedListAndWatch` is off there.
    pub filters_here: bool,
    /// The number of objects and events of other shards that arrived and were dropped.
    pub dropped: u64,
}

impl<K: Cached> SharedInformer<K> {
    /// Returns the informer's state.
    #[must_use]
    pub fn state(&self) -> InformerState {
        self.control.state()
    }

    /// Registers the informer's metrics in `registry` until its last handle is dropped. `name` distinguishes it
    /// from others of its kind, such as another cluster's. The labels are those of client-go's informers: `name`,
    /// `group`, `version`, `resource`. Informers of metadata or compact objects also have the label `form`:
    /// `metadata`, `compact`, `compact metadata`.
    ///
    /// - `informer_objects`: objects in the cache
    /// - `informer_store_resource_version`: the version that the cache has reached, if it is a number
    /// - `informer_undecodable_objects`: existing objects whose present state cannot be decoded
    /// - `informer_undecodable_total`: how often such an object arrived
    /// - `informer_watch_errors_total`: failures to list, watch or decode
    /// - `informer_synced`: 1 once the cache has been complete
    /// - `informer_received_bytes_total`: bytes of lists and watches, after decompression
    /// - `informer_queued_items`: changes that wait for handlers
    /// - `informer_handler_panics_total`: calls of handlers that panicked
    /// - `informer_handler_slow_calls_total`: calls of handlers that exceeded their limit
    /// - `informer_handler_longest_running_call_seconds`: age of the oldest running call of a handler
    ///
    /// Informers with a [shard selector](super::InformerOptions::shard_selector) also have:
    ///
    /// - `informer_shard_info`: 1, with the label `selector`
    /// - `informer_shard_server_filters`: 1 if the server sends only objects of the shard; 0 if it sends others too
    /// - `informer_shard_dropped_total`: objects and events of other shards that arrived
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kubesmith_runtime::informer::SharedInformer;
    /// use kubesmith_runtime::metrics::Registry;
    ///
    /// fn show(pods: &SharedInformer<Pod>, registry: &Registry) {
    ///     pods.register_metrics(registry, "");
    /// }
    /// ```
    pub fn register_metrics(&self, registry: &Registry, name: &str) {
        self.control.register_metrics(registry, name);
    }
}

impl Control {
    pub(super) fn state(&self) -> InformerState {
        InformerState {
            resource: match self.form {
                "" => self.resource.clone(),
                form => format!("{} ({form})", self.resource),
            },
            has_synced: self.has_synced(),
            objects: self.contents.len(),
            resource_version: self.contents.resource_version(),
            undecodable: self.contents.undecodable(),
            last_error: self.last_error(),
            received_bytes: self.status.traffic.received(),
            shard: self.selection.shards.as_ref().map(|selector| CacheShard {
                selector: selector.clone(),
                filters_here: self.status.traffic.is_filtering(),
                dropped: self.status.traffic.dropped(),
            }),
            handlers: self.status.handlers.states(),
        }
    }

    pub(super) fn register_metrics(self: &Arc<Self>, registry: &Registry, name: &str) {
        let KindFacts { group, version, plural, .. } = &self.facts;
        let mut labels = vec![("name", name), ("group", group), ("version", version), ("resource", plural)];
        if !self.form.is_empty() {
            labels.push(("form", self.form));
        }
        let gauge = |name, help, read: fn(&Self) -> Option<f64>| {
            registry.gauge_fn(name, help, &labels, self.reading(read));
        };
        gauge("informer_objects", "Objects in the cache.", |informer| Some(count(informer.contents.len())));
        gauge("informer_store_resource_version", "The version that the cache has reached.", |informer| {
            informer.contents.resource_version().parse().ok()
        });
        gauge("informer_undecodable_objects", "Objects whose present state cannot be decoded.", |informer| {
            Some(count(informer.contents.undecodable()))
        });
        gauge("informer_synced", "1 once the cache was complete.", |informer| {
            Some(if *informer.status.synced.borrow() { 1.0 } else { 0.0 })
        });
        gauge("informer_queued_items", "Changes that wait for handlers.", |informer| {
            Some(count(informer.status.handlers.states().iter().map(|handler| handler.waiting).sum()))
        });
        let longest = "informer_handler_longest_running_call_seconds";
        gauge(longest, "Age of the oldest call that handlers are in.", |informer| {
            let handlers = informer.status.handlers.states();
            let ages = handlers.iter().filter_map(|handler| Some(handler.in_call.as_ref()?.running));
            Some(ages.max().unwrap_or_default().as_secs_f64())
        });
        let counter = |name, help, read: fn(&Self) -> Option<u64>| {
            registry.counter_fn(name, help, &labels, self.reading(read));
        };
        counter("informer_undecodable_total", "Objects that arrived and could not be decoded.", |informer| {
            Some(informer.status.undecodable.load(Ordering::Relaxed))
        });
        counter("informer_watch_errors_total", "Failures to list, watch or decode.", |informer| {
            Some(informer.status.errors.load(Ordering::Relaxed))
        });
        counter("informer_handler_panics_total", "Calls of handlers that panicked.", |informer| {
            Some(informer.status.handlers.totals.panics.load(Ordering::Relaxed))
        });
        counter(
            "informer_handler_slow_calls_total",
            "Calls of handlers that did not end in time.",
            |informer| Some(informer.status.handlers.totals.slow_calls.load(Ordering::Relaxed)),
        );
        let received = "informer_received_bytes_total";
        counter(received, "Bytes of lists and watches, after decompression.", |informer| {
            Some(informer.status.traffic.received())
        });
        self.register_shard_metrics(registry, &labels);
    }

    fn register_shard_metrics(self: &Arc<Self>, registry: &Registry, labels: &[(&str, &str)]) {
        let Some(selector) = &self.selection.shards else { return };
        let filters = self.reading(|informer| {
            informer.has_synced().then(|| if informer.status.traffic.is_filtering() { 0.0 } else { 1.0 })
        });
        let help = "1 if the server sends only the shard.";
        registry.gauge_fn("informer_shard_server_filters", help, labels, filters);
        let dropped = self.reading(|informer| Some(informer.status.traffic.dropped()));
        let help = "Objects and events of other shards that arrived.";
        registry.counter_fn("informer_shard_dropped_total", help, labels, dropped);
        let selector = selector.to_string();
        let labels = [labels, &[("selector", selector.as_str())]].concat();
        let info = self.reading(|_| Some(1.0));
        registry.gauge_fn("informer_shard_info", "The shard selector.", &labels, info);
    }

    fn reading<T: 'static>(
        self: &Arc<Self>,
        read: fn(&Self) -> Option<T>,
    ) -> impl Fn() -> Option<T> + Send + Sync + use<T> + 'static {
        let informer = Arc::downgrade(self);
        move || read(&*informer.upgrade()?)
    }
}

fn count(number: usize) -> f64 {
    number as f64
}
