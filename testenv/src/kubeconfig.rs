//! Kubeconfigs, written and read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kubesmith_apiserver::kubeconfig::render;
use kubesmith_apiserver::tls::pem;
use serde_json::json;

use crate::error::Error;

/// Writes a kubeconfig from a client configuration.
pub(crate) fn from_config(config: &Config) -> Result<String, Error> {
    let mut cluster = json!({"server": config.cluster_url.to_string().trim_end_matches('/')});
    if let Some(authority) = &config.root_cert {
        let text: String = authority.iter().map(|der| pem("CERTIFICATE", der)).collect();
        cluster["certificate-authority-data"] = json!(BASE64.encode(text));
    }
    if config.accept_invalid_certs {
        cluster["insecure-skip-tls-verify"] = json!(true);
    }
    if let Some(name) = &config.tls_server_name {
        cluster["tls-server-name"] = json!(name);
    }
    if let Some(proxy) = &config.proxy_url {
        cluster["proxy-url"] = json!(proxy.to_string());
    }
    let user = serde_json::to_value(&config.auth_info).map_err(|e| Error::Config(e.to_string()))?;
    Ok(render(&cluster, &user, &config.default_namespace))
}

/// Reads the client configuration in a kubeconfig.
pub(crate) async fn read(text: &str) -> Result<Config, Error> {
    let kubeconfig = Kubeconfig::from_yaml(text).map_err(|e| Error::Config(e.to_string()))?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|e| Error::Config(e.to_string()))
}

#[cfg(test)]
mod tests {
    use kubesmith_apiserver::kubeconfig::{Credentials, write};

    use super::*;

    #[tokio::test]
    async fn kubeconfig_round_trips() {
        let authority = kubesmith_apiserver::tls::Authority::new().unwrap();
        let pair = authority.client("jane", &[]).unwrap();
        for credentials in [Credentials::None, Credentials::Token("secret"), Credentials::Certificate(&pair)]
        {
            let text = write("https://127.0.0.1:6443", Some(&authority.pem), &credentials);
            let config = read(&text).await.unwrap();
            let again = read(&from_config(&config).unwrap()).await.unwrap();
            assert_eq!(again.cluster_url, config.cluster_url);
            assert_eq!(again.root_cert, config.root_cert);
            let user = |config: &Config| serde_json::to_value(&config.auth_info).unwrap();
            assert_eq!(user(&again), user(&config));
        }
    }
}
