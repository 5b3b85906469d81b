//! The traces of spans: their identifiers, and the headers that continue them on a server.

use http::HeaderMap;
use tracing::Span;

/// The annotation of an event with the trace in which it was recorded.
///
/// ```
/// use k8s_openapi::api::core::v1::Event;
/// use kubesmith_runtime::telemetry::TRACE_ID_ANNOTATION;
///
/// fn trace_of(event: &Event) -> Option<&String> {
///     event.metadata.annotations.as_ref()?.get(TRACE_ID_ANNOTATION)
/// }
/// ```
pub const TRACE_ID_ANNOTATION: &str = "kubesmith.dev/trace-id";

/// Returns the identifier of a span's trace, as 32 hexadecimal digits; `None` for a span that is not exported.
#[cfg(feature = "otlp")]
pub(crate) fn trace_id(span: &Span) -> Option<String> {
    use opentelemetry::trace::TraceContextExt;
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let span = context.span();
    let span = span.span_context();
    span.is_sampled().then(|| span.trace_id().to_string())
}

/// Returns the identifier of a span's trace. No span is exported without the feature `otlp`.
#[cfg(not(feature = "otlp"))]
pub(crate) fn trace_id(_: &Span) -> Option<String> {
    None
}

/// Adds the header `traceparent` for a request of the span, if the span has a trace.
#[cfg(feature = "otlp")]
pub(crate) fn inject(span: &Span, headers: &mut HeaderMap) {
    use opentelemetry::propagation::TextMapPropagator;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    if !span.is_disabled() {
        let mut injector = opentelemetry_http::HeaderInjector(headers);
        TraceContextPropagator::new().inject_context(&span.context(), &mut injector);
    }
}

/// Without the feature `otlp`, requests have no header `traceparent`.
#[cfg(not(feature = "otlp"))]
pub(crate) fn inject(_: &Span, _: &mut HeaderMap) {}
