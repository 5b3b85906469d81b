//! Traces of a controller.
//!
//! A trace has four steps, each a child of the one before:
//!
//! 1. `watch_event`: an event handler gets a change of an object.
//! 2. `queue`: a key waits for a worker. It has links to the further changes that queue the key meanwhile. If a reconcile queues
//!    the key, the trace begins here, with a link to the reconcile.
//! 3. `reconcile`. If no traced change queued the key, the trace begins here.
//! 4. `HTTP`: a request, with the attributes of kube's client.
//!
//! `reconcile` has the level `INFO`, the others have `DEBUG`.
//!
//! With the feature `otlp`, a `TraceExporter` sends the spans to an OpenTelemetry collector. Then the span of a
//! reconcile has the field `trace_id`, which log lines show; the events of the reconcile have the annotation
//! `kubesmith.dev/trace-id`; and requests have the header `traceparent`, which kube-apiserver's own traces continue.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod exporter;
#[cfg(feature = "otlp")]
mod settings;

pub use crate::trace::TRACE_ID_ANNOTATION;
#[cfg(feature = "otlp")]
pub use exporter::{TraceExporter, TraceExporterBuilder, TraceExporterError};
