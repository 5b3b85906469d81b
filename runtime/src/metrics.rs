//! Counters, gauges and histograms, and their text for Prometheus.
//!
//! Small on purpose: what the runtime counts is known, so a registry of named families with labels and the text
//! format (version 0.0.4) is all it takes. Values that live elsewhere, a queue's depth for instance, are asked for
//! when the text is made.
//!
//! ```
//! use kubesmith_runtime::metrics::Registry;
//!
//! let registry = Registry::new();
//! let pods = registry.counter("pods_seen_total", "Pods seen.", &[("namespace", "default")]);
//! pods.inc();
//! assert!(registry.encode().contains("pods_seen_total{namespace=\"default\"} 1"));
//! ```
//!
//! The kinds of metrics:
//!
//! ```
//! use std::time::Duration;
//! use kubesmith_runtime::metrics::{Counter, Gauge, Histogram, Registry, exponential_buckets};
//!
//! let registry = Registry::new();
//! let bytes: Counter = registry.counter("bytes_total", "Bytes read.", &[]);
//! bytes.add(512.0);
//! assert_eq!(bytes.get(), 512.0);
//! let open: Gauge = registry.gauge("open", "Open files.", &[]);
//! open.set(3.0);
//! open.add(-1.0);
//! assert_eq!(open.get(), 2.0);
//! let times: Histogram = registry.histogram("seconds", "Times.", &[], &exponential_buckets(0.001, 10.0, 5));
//! times.observe(0.25);
//! times.observe_duration(Duration::from_millis(3));
//! assert_eq!(times.count(), 2);
//! // Numbers that live elsewhere are asked for when the text is made.
//! registry.gauge_fn("length", "Length of a queue.", &[], || Some(7.0));
//! registry.counter_fn("adds_total", "Adds to a queue.", &[], || Some(9.0));
//! registry.gauges_fn("rooms", "Rooms by floor.", &[], "floor", || vec![("1".to_owned(), 4.0)]);
//! assert!(registry.encode().contains("length 7\n") && registry.encode().contains("rooms{floor=\"1\"} 4\n"));
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// `Content-Type` of [`Registry::encode`]'s text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A set of metrics. Clones share it.
#[derive(Clone, Default)]
pub struct Registry {
    families: Arc<Mutex<BTreeMap<String, Family>>>,
}

/// Metrics of one name.
#[derive(Clone)]
struct Family {
    help: String,
    kind: Kind,
    /// Rendered labels, so that the text is the same each time.
    series: BTreeMap<String, Series>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

type Read = Arc<dyn Fn() -> Option<f64> + Send + Sync>;
type ReadMany = Arc<dyn Fn() -> Vec<(String, f64)> + Send + Sync>;

#[derive(Clone)]
enum Series {
    Value(Arc<AtomicU64>),
    Read(Read),
    /// By the values of one more label.
    ReadMany(String, ReadMany),
    Histogram(Arc<Buckets>),
}

/// A number that only grows.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.add(1.0);
    }

    /// Adds `amount`, which must not be negative.
    pub fn add(&self, amount: f64) {
        add_to(&self.0, amount.max(0.0));
    }

    /// The number so far.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// A number that goes up and down.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// Replaces the number.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Adds `amount`, which may be negative.
    pub fn add(&self, amount: f64) {
        add_to(&self.0, amount);
    }

    /// The number now.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// How many observations fell into which bucket.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Buckets>);

#[derive(Debug)]
struct Buckets {
    /// Upper bounds, ascending; one more count than bounds.
    bounds: Vec<f64>,
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

impl Histogram {
    fn new(bounds: &[f64]) -> Self {
        let mut bounds: Vec<f64> = bounds.iter().copied().filter(|bound| bound.is_finite()).collect();
        bounds.sort_by(f64::total_cmp);
        bounds.dedup();
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram(Arc::new(Buckets { bounds, counts, sum: AtomicU64::new(0) }))
    }

    /// Counts `value`.
    pub fn observe(&self, value: f64) {
        let at = self.0.bounds.partition_point(|bound| *bound < value);
        self.0.counts[at].fetch_add(1, Ordering::Relaxed);
        add_to(&self.0.sum, value);
    }

    /// Counts a time in seconds.
    pub fn observe_duration(&self, value: Duration) {
        self.observe(value.as_secs_f64());
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.0.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

/// `count` bucket bounds beginning at `start`, each `factor` times the one before.
pub fn exponential_buckets(start: f64, factor: f64, count: usize) -> Vec<f64> {
    std::iter::successors(Some(start), |bound| Some(bound * factor)).take(count).collect()
}

fn add_to(cell: &AtomicU64, amount: f64) {
    let mut bits = cell.load(Ordering::Relaxed);
    loop {
        let sum = (f64::from_bits(bits) + amount).to_bits();
        match cell.compare_exchange_weak(bits, sum, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return,
            Err(actual) => bits = actual,
        }
    }
}

impl Registry {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The counter of this name and these labels; asking twice gives the same one.
    ///
    /// Where the name already stands for another kind of metric, the returned counter works but appears nowhere, and
    /// an error is logged. The same is true of the methods below.
    pub fn counter(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Counter {
        let fresh = Series::Value(Arc::default());
        match self.series(name, help, Kind::Counter, labels, fresh) {
            Some(Series::Value(cell)) => Counter(cell),
            _ => Counter::default(),
        }
    }

    /// The gauge of this name and these labels.
    pub fn gauge(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Gauge {
        let fresh = Series::Value(Arc::default());
        match self.series(name, help, Kind::Gauge, labels, fresh) {
            Some(Series::Value(cell)) => Gauge(cell),
            _ => Gauge::default(),
        }
    }

    /// The histogram of this name and these labels. `bounds` count where the histogram is new.
    pub fn histogram(&self, name: &str, help: &str, labels: &[(&str, &str)], bounds: &[f64]) -> Histogram {
        let fresh = Histogram::new(bounds);
        match self.series(name, help, Kind::Histogram, labels, Series::Histogram(fresh.0.clone())) {
            Some(Series::Histogram(buckets)) => Histogram(buckets),
            _ => fresh,
        }
    }

    /// A gauge whose value is asked for when the text is made; `None` leaves it out. Replaces one of the same name
    /// and labels.
    pub fn gauge_fn<F>(&self, name: &str, help: &str, labels: &[(&str, &str)], read: F)
    where
        F: Fn() -> Option<f64> + Send + Sync + 'static,
    {
        self.replace(name, help, Kind::Gauge, labels, Series::Read(Arc::new(read)));
    }

    /// As [`gauge_fn`](Self::gauge_fn), with one gauge for each value of one more label, `by`.
    pub fn gauges_fn<F>(&self, name: &str, help: &str, labels: &[(&str, &str)], by: &str, read: F)
    where
        F: Fn() -> Vec<(String, f64)> + Send + Sync + 'static,
    {
        self.replace(name, help, Kind::Gauge, labels, Series::ReadMany(by.to_owned(), Arc::new(read)));
    }

    /// As [`gauge_fn`](Self::gauge_fn), for a number that only grows.
    pub fn counter_fn<F>(&self, name: &str, help: &str, labels: &[(&str, &str)], read: F)
    where
        F: Fn() -> Option<f64> + Send + Sync + 'static,
    {
        self.replace(name, help, Kind::Counter, labels, Series::Read(Arc::new(read)));
    }

    /// All metrics in Prometheus' text format, ordered by name and labels.
    pub fn encode(&self) -> String {
        // The values are read after the lock is gone: reading may take other locks.
        let families = self.lock().clone();
        let mut text = String::new();
        for (name, family) in families {
            let kind = match family.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, series) in family.series {
                let _ = encode_series(&mut text, &name, &labels, &series);
            }
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Family>> {
        self.families.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The series under these labels, made from `fresh` where there is none. `None`: the name is of another kind.
    fn series(
        &self,
        name: &str,
        help: &str,
        kind: Kind,
        labels: &[(&str, &str)],
        fresh: Series,
    ) -> Option<Series> {
        let mut families = self.lock();
        let family = family(&mut families, name, help, kind)?;
        Some(family.series.entry(render_labels(labels)).or_insert(fresh).clone())
    }

    fn replace(&self, name: &str, help: &str, kind: Kind, labels: &[(&str, &str)], series: Series) {
        let mut families = self.lock();
        if let Some(family) = family(&mut families, name, help, kind) {
            family.series.insert(render_labels(labels), series);
        }
    }
}

fn family<'f>(
    families: &'f mut BTreeMap<String, Family>,
    name: &str,
    help: &str,
    kind: Kind,
) -> Option<&'f mut Family> {
    let family = families.entry(name.to_owned()).or_insert_with(|| Family {
        help: help.to_owned(),
        kind,
        series: BTreeMap::new(),
    });
    if family.kind != kind {
        tracing::error!(metric = name, is = ?family.kind, wanted = ?kind, "a metric of this name has another kind");
        return None;
    }
    Some(family)
}

fn render_labels(labels: &[(&str, &str)]) -> String {
    let rendered: Vec<String> = labels
        .iter()
        .map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("{name}=\"{value}\"")
        })
        .collect();
    rendered.join(",")
}

fn encode_series(text: &mut String, name: &str, labels: &str, series: &Series) -> fmt::Result {
    let comma = if labels.is_empty() { "" } else { "," };
    let braced = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    match series {
        Series::Value(cell) => {
            writeln!(text, "{name}{braced} {}", f64::from_bits(cell.load(Ordering::Relaxed)))
        }
        Series::Read(read) => match read() {
            Some(value) => writeln!(text, "{name}{braced} {value}"),
            None => Ok(()),
        },
        Series::ReadMany(by, read) => read().iter().try_for_each(|(of, value)| {
            let label = render_labels(&[(by, of)]);
            writeln!(text, "{name}{{{labels}{comma}{label}}} {value}")
        }),
        Series::Histogram(buckets) => {
            let mut total = 0;
            for (at, count) in buckets.counts.iter().enumerate() {
                total += count.load(Ordering::Relaxed);
                let bound =
                    buckets.bounds.get(at).map_or_else(|| "+Inf".to_owned(), |bound| format!("{bound:?}"));
                writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}")?;
            }
            writeln!(text, "{name}_sum{braced} {}", f64::from_bits(buckets.sum.load(Ordering::Relaxed)))?;
            writeln!(text, "{name}_count{braced} {total}")
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let families = self.lock();
        f.debug_struct("Registry").field("metrics", &families.keys().collect::<Vec<_>>()).finish()
    }
}
