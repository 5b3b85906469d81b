//! The endpoint of a webhook: the `clientConfig` of a webhook configuration or of a CRD.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Uri;
use kubesmith_apimachinery::golang;
use serde_json::Value;

use crate::store::Store;

/// The address of this host where the webhooks of services are. Nothing routes the cluster IPs of services.
#[derive(Clone, Debug)]
pub struct WebhookHost {
    /// The address that is called.
    pub address: SocketAddr,
    /// The authority in PEM of a certificate for this address. A certificate for the service's name is trusted by `caBundle`.
    pub authority: String,
}

/// A webhook's endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    place: Place,
    /// The certificate authorities of the webhook in PEM; those of the system when empty.
    pub(super) authorities: Vec<u8>,
    /// A further name that the certificate may have instead of that of the called URL.
    pub(super) other_name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Url(String),
    Service { namespace: String, name: String, path: String, port: u64 },
}

impl Endpoint {
    /// Reads a valid `clientConfig`.
    pub(crate) fn of(config: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let authorities = BASE64.decode(text(&config["caBundle"])).unwrap_or_default();
        // White space counts as empty.
        let blank = authorities.iter().all(u8::is_ascii_whitespace);
        let authorities = if blank { Vec::new() } else { authorities };
        let service = &config["service"];
        let place = match &config["url"] {
            Value::String(url) => Place::Url(called(url)),
            _ => Place::Service {
                namespace: text(&service["namespace"]),
                name: text(&service["name"]),
                path: cleaned(service["path"].as_str().unwrap_or_default()),
                port: service["port"].as_u64().unwrap_or(443),
            },
        };
        Self { place, authorities, other_name: None }
    }

    /// Returns the endpoint of a service on this host; `None` if the webhook has a URL of its own.
    pub(super) fn on(&self, host: &WebhookHost) -> Option<Self> {
        let Place::Service { path, .. } = &self.place else { return None };
        let url = format!("https://{}{path}", host.address);
        let own = if self.authorities.is_empty() { None } else { self.server_name() };
        let authorities = [self.authorities.as_slice(), b"\n", host.authority.as_bytes()].concat();
        Some(Self { place: Place::Url(url), authorities, other_name: own })
    }

    /// Returns the URL for the webhook's certificate and for messages.
    pub(super) fn url(&self) -> String {
        match &self.place {
            Place::Url(url) => url.clone(),
            Place::Service { path, port, .. } => {
                format!("https://{}:{port}{path}", self.server_name().unwrap_or_default())
            }
        }
    }

    /// Returns the name in the certificate, if it differs from that of the called URL.
    pub(super) fn server_name(&self) -> Option<String> {
        match &self.place {
            Place::Url(_) => None,
            Place::Service { namespace, name, .. } => Some(format!("{name}.{namespace}.svc")),
        }
    }

    /// Returns the URL to call: services are resolved as in kube-apiserver, which needs no cluster DNS.
    ///
    /// # Errors
    /// Returns the reason why the service has no address.
    pub(super) fn address(&self, store: &Store) -> Result<String, String> {
        let Place::Service { namespace, name, path, port } = &self.place else { return Ok(self.url()) };
        let stored = store.get("services", &format!("{namespace}/{name}"));
        let service = stored.ok_or_else(|| format!("service {} not found", golang::quote(name)))?;
        let spec = &service.value["spec"];
        let host = match spec["type"].as_str().unwrap_or_default() {
            "ExternalName" => spec["externalName"].as_str().unwrap_or_default(),
            "ClusterIP" if spec["clusterIP"] == "None" => {
                return Err("cannot route to service with ClusterIP \"None\"".to_owned());
            }
            "ClusterIP" | "LoadBalancer" | "NodePort" => {
                let ports = spec["ports"].as_array().into_iter().flatten();
                if !ports.into_iter().any(|p| p["port"].as_u64() == Some(*port)) {
                    return Err(format!("no service port {port} found for service {}", golang::quote(name)));
                }
                // The server gives the address out itself; on the host's network, it is another machine's.
                return Err(format!(
                    "cannot route to service with ClusterIP {}: no cluster's network is here",
                    spec["clusterIP"]
                ));
            }
            other => return Err(format!("unsupported service type {}", golang::quote(other))),
        };
        Ok(format!("https://{host}:{port}{path}"))
    }
}

/// The URL that is called for that of a configuration.
fn called(url: &str) -> String {
    let Ok(uri) = url.parse::<Uri>() else { return url.to_owned() };
    let (Some(scheme), Some(host)) = (uri.scheme(), uri.authority()) else { return url.to_owned() };
    format!("{scheme}://{host}{}", cleaned(uri.path()))
}

/// The path that is called for that of a configuration, by Go's `path.Join("/", path)`: envtest writes `//mutate`
/// (`DefaultVersionedAPIPath` in `client-go/rest/url_utils.go`).
fn cleaned(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(spec: Value) -> Store {
        let store = Store::new(10);
        store.create("services", "ns/hook", json!({"metadata": {}, "spec": spec})).unwrap();
        store
    }

    #[test]
    fn webhook_address_is_read_from_the_service_object() {
        let config = json!({"service": {"namespace": "ns", "name": "hook", "path": "/mutate", "port": 8443}});
        let endpoint = Endpoint::of(&config);
        assert_eq!(endpoint.url(), "https://hook.ns.svc:8443/mutate");
        let external = service(json!({"type": "ExternalName", "externalName": "localhost"}));
        assert_eq!(endpoint.address(&external).unwrap(), "https://localhost:8443/mutate");
        let spec = json!({"type": "ClusterIP", "clusterIP": "10.0.0.9", "ports": [{"port": 8443}]});
        let error = endpoint.address(&service(spec)).unwrap_err();
        assert_eq!(
            error,
            "cannot route to service with ClusterIP \"10.0.0.9\": no cluster's network is here"
        );
        let spec = json!({"type": "ClusterIP", "clusterIP": "10.0.0.9", "ports": [{"port": 443}]});
        let error = endpoint.address(&service(spec)).unwrap_err();
        assert_eq!(error, "no service port 8443 found for service \"hook\"");
        assert_eq!(endpoint.address(&Store::new(10)).unwrap_err(), "service \"hook\" not found");
    }

    #[test]
    fn path_of_a_webhook_is_cleaned() {
        for (path, expected) in [("//mutate", "/mutate"), ("/a/./b/../c/", "/a/c"), ("", "/")] {
            let url = Endpoint::of(&json!({"url": format!("https://[::1]:9443{path}")}));
            assert_eq!(url.url(), format!("https://[::1]:9443{expected}"));
            let service =
                Endpoint::of(&json!({"service": {"namespace": "ns", "name": "hook", "path": path}}));
            assert_eq!(service.url(), format!("https://hook.ns.svc:443{expected}"));
        }
    }

    #[test]
    fn webhook_of_a_service_is_on_the_host_if_there_is_one() {
        let host = WebhookHost { address: ([127, 0, 0, 1], 9443).into(), authority: "pem".to_owned() };
        let config =
            json!({"service": {"namespace": "ns", "name": "hook", "path": "/mutate"}, "caBundle": "Zm9v"});
        let endpoint = Endpoint::of(&config).on(&host).unwrap();
        assert_eq!(endpoint.address(&Store::new(10)).unwrap(), "https://127.0.0.1:9443/mutate");
        let names = (endpoint.server_name(), endpoint.other_name.as_deref());
        assert_eq!((names, &endpoint.authorities[..]), ((None, Some("hook.ns.svc")), &b"foo\npem"[..]));
        assert_eq!(Endpoint::of(&json!({"url": "https://example.com/mutate"})).on(&host), None);
    }
}
