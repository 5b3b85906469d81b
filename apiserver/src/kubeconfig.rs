//! Writes kubeconfigs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apimachinery::yaml::to_yaml;
use serde_json::{Value, json};

use crate::tls::Pair;

/// The name of the cluster, the user and the context.
const NAME: &str = "kubesmith";

/// The credentials of a client.
pub enum Credentials<'a> {
    /// No credentials.
    None,
    /// A bearer token.
    Token(&'a str),
    /// A client certificate.
    Certificate(&'a Pair),
    /// Both.
    Both(&'a str, &'a Pair),
}

/// Writes a kubeconfig for a server; `authority` is the CA certificate in PEM.
#[must_use]
pub fn write(server: &str, authority: Option<&str>, credentials: &Credentials<'_>) -> String {
    let mut cluster = json!({"server": server});
    if let Some(authority) = authority {
        cluster["certificate-authority-data"] = json!(BASE64.encode(authority));
    }
    let user = match credentials {
        Credentials::None => json!({}),
        Credentials::Token(token) => json!({"token": token}),
        Credentials::Certificate(pair) => certificate(pair),
        Credentials::Both(token, pair) => {
            let mut user = certificate(pair);
            user["token"] = (*token).into();
            user
        }
    };
    render(&cluster, &user, "default")
}

fn certificate(pair: &Pair) -> Value {
    json!({
        "client-certificate-data": BASE64.encode(&pair.certificate),
        "client-key-data": BASE64.encode(&pair.key),
    })
}

/// Writes a kubeconfig of one cluster and one user, given as their entries; `namespace` is the context's.
#[must_use]
pub fn render(cluster: &Value, user: &Value, namespace: &str) -> String {
    let config = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": namespace}}],
        "current-context": NAME,
    });
    to_yaml(&config)
}
