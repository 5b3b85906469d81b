//! The runtime's metrics by name and labels, in an order that does not change between two scrapes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::{Counter, Gauge, Histogram};

/// Families by name.
#[derive(Clone, Default)]
pub(super) struct Families(Arc<Mutex<BTreeMap<String, Family>>>);

/// The metrics of one name, by their labels.
#[derive(Clone)]
struct Family {
    help: String,
    series: BTreeMap<Labels, Series>,
}

type Labels = Vec<(String, String)>;

/// One metric.
#[derive(Clone)]
pub(super) enum Series {
    Counter(Counter),
    Gauge(Gauge),
    Histogram(Histogram),
    CounterFn(Arc<dyn Fn() -> Option<u64> + Send + Sync>),
    GaugeFn(Arc<dyn Fn() -> Option<f64> + Send + Sync>),
    /// A gauge for each value of one more label.
    GaugesFn(&'static str, Arc<dyn Fn() -> Vec<(String, f64)> + Send + Sync>),
}

impl Families {
    /// Returns the series with these labels, or adds `new`; `None` if the name belongs to another type of metric.
    pub(super) fn series(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        new: Series,
    ) -> Option<Series> {
        self.with_family(name, help, &new.clone(), |series| {
            series.entry(owned(labels)).or_insert(new).clone()
        })
    }

    /// Adds `new`, in place of a series with the same labels.
    pub(super) fn replace(&self, name: &str, help: &str, labels: &[(&str, &str)], new: Series) {
        self.with_family(name, help, &new.clone(), |series| series.insert(owned(labels), new));
    }

    fn with_family<T>(
        &self,
        name: &str,
        help: &str,
        new: &Series,
        change: impl FnOnce(&mut BTreeMap<Labels, Series>) -> T,
    ) -> Option<T> {
        let mut families = self.lock();
        let family = families.entry(name.to_owned()).or_insert_with(|| Family {
            help: help.replace('\\', "\\\\").replace('\n', "\\n"),
            series: BTreeMap::new(),
        });
        if family.series.values().any(|series| series.metric_type().as_str() != new.metric_type().as_str()) {
            tracing::error!(metric = name, "this name belongs to another type of metric");
            return None;
        }
        Some(change(&mut family.series))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Family>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // Functions are called without the lock: they may take other locks.
        let families = self.lock().clone();
        for (name, Family { help, series }) in &families {
            let Some(metric_type) = series.values().next().map(Series::metric_type) else { continue };
            // The encoder adds the suffix of counters.
            let name = match metric_type {
                MetricType::Counter => name.strip_suffix("_total").unwrap_or(name),
                _ => name,
            };
            let mut encoder = encoder.encode_descriptor(name, help, None, metric_type)?;
            let metrics: Vec<_> = series.iter().flat_map(|(labels, series)| series.read(labels)).collect();
            match &metrics[..] {
                // A label set, even an empty one, would be written with braces.
                [(labels, metric)] if labels.is_empty() => metric.encode(encoder)?,
                metrics => {
                    for (labels, metric) in metrics {
                        metric.encode(encoder.encode_family(labels)?)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Series {
    fn metric_type(&self) -> MetricType {
        match self {
            Series::Counter(_) | Series::CounterFn(_) => MetricType::Counter,
            Series::Gauge(_) | Series::GaugeFn(_) | Series::GaugesFn(..) => MetricType::Gauge,
            Series::Histogram(_) => MetricType::Histogram,
        }
    }

    /// Returns the metrics to encode now.
    fn read(&self, labels: &Labels) -> Vec<(Labels, Box<dyn EncodeMetric>)> {
        let metric: Option<Box<dyn EncodeMetric>> = match self {
            Series::Counter(counter) => Some(Box::new(counter.clone())),
            Series::Gauge(gauge) => Some(Box::new(gauge.clone())),
            Series::Histogram(histogram) => Some(Box::new(histogram.clone())),
            Series::CounterFn(read) => read().map(|value| Box::new(ConstCounter::new(value)) as _),
            Series::GaugeFn(read) => read().map(|value| Box::new(ConstGauge::new(value)) as _),
            Series::GaugesFn(by, read) => {
                let gauge = |(of, value)| -> (Labels, Box<dyn EncodeMetric>) {
                    let label = ((*by).to_owned(), of);
                    let labels = labels.iter().cloned().chain([label]).collect();
                    (labels, Box::new(ConstGauge::new(value)))
                };
                return read().into_iter().map(gauge).collect();
            }
        };
        metric.into_iter().map(|metric| (labels.clone(), metric)).collect()
    }
}

fn owned(labels: &[(&str, &str)]) -> Labels {
    labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

impl fmt::Debug for Families {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}
