//! OpenTelemetry's environment variables for the export of spans.
//!
//! Source: "Environment Variable Specification" and "OpenTelemetry Protocol Exporter" of OpenTelemetry's specification.

use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::TraceExporterError;

/// OpenTelemetry's default of the collector's address.
const ENDPOINT: &str = "http://localhost:4318";
/// OpenTelemetry's default for the time of one export.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The path of traces below the collector's address.
const TRACES_PATH: &str = "/v1/traces";

/// The settings of the environment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// The whole URL of traces.
    pub(super) url: String,
    pub(super) timeout: Duration,
    pub(super) headers: HeaderMap,
    pub(super) gzip: bool,
    /// Whether the environment names the service.
    pub(super) names_service: bool,
}

impl Settings {
    pub(super) fn from_env() -> Result<Self, TraceExporterError> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the variables. An empty one counts as unset.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, TraceExporterError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let traces_or_general = |name: &str| {
            set(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| set(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        // The variable for traces is the whole URL, and the general one is the base.
        let url = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").unwrap_or_else(|| {
            traces_below(set("OTEL_EXPORTER_OTLP_ENDPOINT").as_deref().unwrap_or(ENDPOINT))
        });
        let timeout = traces_or_general("TIMEOUT").and_then(|text| text.parse().ok());
        let attributes = set("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let mut keys = attributes.split(',').filter_map(|pair| Some(pair.split_once('=')?.0.trim()));
        Ok(Self {
            url,
            timeout: timeout.map_or(TIMEOUT, Duration::from_millis),
            headers: headers(&traces_or_general("HEADERS").unwrap_or_default()),
            gzip: gzip(traces_or_general("COMPRESSION").as_deref())?,
            names_service: set("OTEL_SERVICE_NAME").is_some() || keys.any(|key| key == "service.name"),
        })
    }
}

/// Returns the URL of traces below a collector's address.
pub(super) fn traces_below(address: &str) -> String {
    format!("{}{TRACES_PATH}", address.trim_end_matches('/'))
}

fn gzip(compression: Option<&str>) -> Result<bool, TraceExporterError> {
    match compression {
        None | Some("none") => Ok(false),
        Some("gzip") => Ok(true),
        Some(other) => Err(TraceExporterError::Compression(other.to_owned())),
    }
}

/// Reads `name=value` pairs, whose values are percent-encoded, and leaves out those that are no headers.
fn headers(text: &str) -> HeaderMap {
    let mut out = HeaderMap::new();
    for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
        let header = pair.split_once('=').and_then(|(name, value)| {
            let mut value = HeaderValue::from_bytes(&decoded(value.trim())?).ok()?;
            // Most of them are credentials.
            value.set_sensitive(true);
            Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
        });
        match header {
            Some((name, value)) => drop(out.insert(name, value)),
            None => tracing::warn!("OTEL_EXPORTER_OTLP_HEADERS has a part that is no header; it is left out"),
        }
    }
    out
}

/// Decodes `%41` to `A`; `None` for a percent sign without two digits.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        out.push(u8::from_str_radix(digits, 16).ok()?);
        out.extend_from_slice(rest.as_bytes());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, TraceExporterError> {
        Settings::read(|name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn empty_variable_counts_as_unset() {
        let unset = settings(&[]).unwrap();
        assert_eq!((unset.url.as_str(), unset.timeout), ("http://localhost:4318/v1/traces", TIMEOUT));
        assert!(unset.headers.is_empty() && !unset.gzip && !unset.names_service);
        let all = [
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TIMEOUT",
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "OTEL_EXPORTER_OTLP_COMPRESSION",
            "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
            "OTEL_SERVICE_NAME",
            "OTEL_RESOURCE_ATTRIBUTES",
        ];
        assert_eq!(settings(&all.map(|name| (name, ""))).unwrap(), unset);
        // An empty variable for traces does not hide the general one.
        let general = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", ""),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", ""),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", ""),
        ];
        let general = settings(&general).unwrap();
        assert_eq!(general.url, "http://collector:4318/v1/traces");
        assert_eq!(general.timeout, Duration::from_millis(500));
        assert_eq!(general.headers["a"], "b");
        assert!(general.gzip);
    }

    #[test]
    fn variables_for_traces_come_first() {
        let set = settings(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/spans"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2"),
        ])
        .unwrap();
        assert_eq!((set.url.as_str(), set.timeout), ("http://b/spans", Duration::from_millis(2)));
    }

    #[test]
    fn environment_names_the_service_by_variable_or_attribute() {
        let names = |variables: &[(&str, &str)]| settings(variables).unwrap().names_service;
        assert!(names(&[("OTEL_SERVICE_NAME", "shop")]));
        assert!(names(&[("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=shop")]));
        assert!(!names(&[("OTEL_RESOURCE_ATTRIBUTES", "service.namespace=shop")]));
    }

    #[test]
    fn headers_are_percent_decoded_and_malformed_ones_left_out() {
        let found = headers("authorization=Basic%20QQ%3D%3D, a = b ,broken,c=%4,=d,,x=1=2");
        let found: Vec<(&str, &[u8])> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let expected: [(&str, &[u8]); 3] = [("authorization", b"Basic QQ=="), ("a", b"b"), ("x", b"1=2")];
        assert_eq!(found, expected);
    }

    #[test]
    fn unknown_compression_is_refused() {
        let set = |value| settings(&[("OTEL_EXPORTER_OTLP_COMPRESSION", value)]);
        assert!(!set("none").unwrap().gzip);
        let error = set("brotli").unwrap_err();
        assert!(matches!(error, TraceExporterError::Compression(_)), "{error}");
    }
}
