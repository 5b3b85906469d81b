//! OpenTelemetry's environment variables for the export of spans.
//!
//! Source: "Environment Variable Specification" and "OpenTelemetry Protocol Exporter" of OpenTelemetry's specification. They ask
//! for a warning about a malformed number or enum, and for the default in its place. "Error handling" also allows a program to
//! fail at its start for a bad environment. That is done here: the program has no log yet, so a warning would be lost, and
//! spans without the credentials of a header would be lost too.

use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::TraceExporterError;

/// OpenTelemetry's default of the collector's address.
const ENDPOINT: &str = "http://localhost:4318";
/// OpenTelemetry's default for the time of one export.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The only protocol of the exporter: OTLP over HTTP, in binary.
const PROTOCOL: &str = "http/protobuf";
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
    /// The file with the authorities of the collector's certificate.
    pub(super) authorities: Option<String>,
    /// The files with the client's certificate and key.
    pub(super) client: Option<(String, String)>,
    /// Whether the environment names the service.
    pub(super) names_service: bool,
}

impl Settings {
    /// Reads the environment; `None` if it disables the export.
    pub(super) fn from_env() -> Result<Option<Self>, TraceExporterError> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the variables. An empty one counts as unset.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, TraceExporterError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        // The variable's name, and its value.
        let traces_or_general = |name: &str| {
            let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{name}"), format!("OTEL_EXPORTER_OTLP_{name}")];
            names.into_iter().find_map(|name| set(&name).map(|value| (name, value)))
        };
        // The variable for traces is the whole URL, and the general one is the base.
        let url = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").unwrap_or_else(|| {
            traces_below(set("OTEL_EXPORTER_OTLP_ENDPOINT").as_deref().unwrap_or(ENDPOINT))
        });
        if set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        if let Some((variable, value)) = traces_or_general("PROTOCOL").filter(|(_, value)| value != PROTOCOL)
        {
            return Err(TraceExporterError::Protocol { variable, value });
        }
        let file = |name: &str| traces_or_general(name).map(|(_, value)| value);
        let client = match (traces_or_general("CLIENT_CERTIFICATE"), traces_or_general("CLIENT_KEY")) {
            (Some((_, certificate)), Some((_, key))) => Some((certificate, key)),
            (None, None) => None,
            (Some((variable, _)), None) | (None, Some((variable, _))) => {
                return Err(TraceExporterError::ClientCertificate { variable });
            }
        };
        let attributes = set("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let mut keys = attributes.split(',').filter_map(|pair| Some(pair.split_once('=')?.0.trim()));
        Ok(Some(Self {
            url,
            timeout: traces_or_general("TIMEOUT").map_or(Ok(TIMEOUT), timeout)?,
            headers: traces_or_general("HEADERS").map_or(Ok(HeaderMap::new()), headers)?,
            gzip: traces_or_general("COMPRESSION").map_or(Ok(false), gzip)?,
            authorities: file("CERTIFICATE"),
            client,
            names_service: set("OTEL_SERVICE_NAME").is_some() || keys.any(|key| key == "service.name"),
        }))
    }
}

/// Returns the URL of traces below a collector's address.
pub(super) fn traces_below(address: &str) -> String {
    format!("{}{TRACES_PATH}", address.trim_end_matches('/'))
}

fn timeout((variable, value): (String, String)) -> Result<Duration, TraceExporterError> {
    match value.trim().parse() {
        Ok(millis) => Ok(Duration::from_millis(millis)),
        Err(_) => Err(TraceExporterError::Timeout { variable, value }),
    }
}

fn gzip((variable, value): (String, String)) -> Result<bool, TraceExporterError> {
    match value.as_str() {
        "none" => Ok(false),
        "gzip" => Ok(true),
        _ => Err(TraceExporterError::Compression { variable, value }),
    }
}

/// Reads `name=value` pairs, whose values are percent-encoded.
fn headers((variable, text): (String, String)) -> Result<HeaderMap, TraceExporterError> {
    let mut out = HeaderMap::new();
    for (at, pair) in text.split(',').enumerate().filter(|(_, pair)| !pair.trim().is_empty()) {
        let Some((name, value)) = header(pair) else {
            return Err(TraceExporterError::Header { variable, part: at + 1 });
        };
        out.insert(name, value);
    }
    Ok(out)
}

fn header(pair: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = pair.split_once('=')?;
    let mut value = HeaderValue::from_bytes(&decoded(value.trim())?).ok()?;
    // Most of them are credentials.
    value.set_sensitive(true);
    Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
}

/// Decodes `%41` to `A`; `None` for a percent sign without two digits.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        // `from_str_radix` accepts a sign.
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        out.push(u8::from_str_radix(digits, 16).ok()?);
        out.extend_from_slice(rest.as_bytes());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, TraceExporterError> {
        let read = Settings::read(|name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        read.map(|found| found.expect("the export is not disabled"))
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
    fn only_the_protocol_of_the_exporter_is_accepted() {
        assert!(settings(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]).is_ok());
        let error = settings(&[("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")]).unwrap_err().to_string();
        assert!(error.contains("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") && error.contains("4318"), "{error}");
    }

    #[test]
    fn files_and_the_switch_are_read() {
        let found = settings(&[
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "client.pem"),
            ("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "client.key"),
        ])
        .unwrap();
        assert_eq!(found.authorities.as_deref(), Some("ca.pem"));
        assert_eq!(found.client, Some(("client.pem".to_owned(), "client.key".to_owned())));
        let error = settings(&[("OTEL_EXPORTER_OTLP_CLIENT_KEY", "client.key")]).unwrap_err().to_string();
        assert!(error.starts_with("OTEL_EXPORTER_OTLP_CLIENT_KEY "), "{error}");
    }

    /// The other variables do not matter then.
    #[test]
    fn export_can_be_disabled() {
        let read = |value: &str| {
            Settings::read(|name| match name {
                "OTEL_SDK_DISABLED" => Some(value.to_owned()),
                "OTEL_EXPORTER_OTLP_PROTOCOL" => Some("grpc".to_owned()),
                _ => None,
            })
        };
        assert_eq!(read("TRUE").unwrap(), None);
        assert!(read("1").is_err());
    }

    #[test]
    fn environment_names_the_service_by_variable_or_attribute() {
        let names = |variables: &[(&str, &str)]| settings(variables).unwrap().names_service;
        assert!(names(&[("OTEL_SERVICE_NAME", "shop")]));
        assert!(names(&[("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=shop")]));
        assert!(!names(&[("OTEL_RESOURCE_ATTRIBUTES", "service.namespace=shop")]));
    }

    #[test]
    fn headers_are_percent_decoded() {
        let found = headers(("V".to_owned(), "authorization=Basic%20QQ%3D%3D, a = b ,,x=1=2".to_owned()));
        let found = found.unwrap();
        let found: Vec<(&str, &[u8])> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let expected: [(&str, &[u8]); 3] = [("authorization", b"Basic QQ=="), ("a", b"b"), ("x", b"1=2")];
        assert_eq!(found, expected);
    }

    #[test]
    fn malformed_header_is_refused_without_its_text() {
        for secret in ["secret", "c=secret%4", "=secret", "c=secret%+f", "c=secret%", "a b=secret"] {
            let error = settings(&[("OTEL_EXPORTER_OTLP_HEADERS", &format!("a=b,{secret}"))]).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("part 2 of OTEL_EXPORTER_OTLP_HEADERS is not a header"), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn malformed_value_is_refused_with_the_name_of_its_variable() {
        for (name, valid, malformed) in
            [("COMPRESSION", "none", "brotli"), ("TIMEOUT", "500", "10s"), ("HEADERS", "a=b", "a")]
        {
            let (general, traces) =
                (format!("OTEL_EXPORTER_OTLP_{name}"), format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
            settings(&[(&general, malformed), (&traces, valid)]).unwrap();
            for (variables, variable) in [
                (vec![(&*general, malformed)], &general),
                (vec![(&*general, valid), (&*traces, malformed)], &traces),
            ] {
                let error = settings(&variables).unwrap_err().to_string();
                assert!(error.contains(&format!("of {variable} is")), "{error}");
            }
        }
    }
}
