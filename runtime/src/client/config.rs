//! Finds the configuration of a program's cluster.

use std::path::Path;

use kube::Config;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};

use super::{Error, Result};

/// Returns the configuration for a program's flags `--master` and `--kubeconfig`, like client-go's
/// `BuildConfigFromFlags`:
///
/// - With a kubeconfig file: its configuration, with the address `master` if given.
/// - With `master` alone: only the address. No file is read, and no credentials are sent there.
/// - Without both: the configuration that [`try_default`](super::try_default) finds: `$KUBECONFIG`,
///   `~/.kube/config`, or the pod's service account. client-go reads only the service account.
///
/// A file's credentials are for TLS: they are omitted if the address begins with `http://`.
///
/// ```no_run
/// use kubesmith_runtime::client::{build_config_from_flags, connect};
///
/// # async fn run(master: Option<&str>, kubeconfig: Option<&std::path::Path>) -> Result<(), Box<dyn std::error::Error>> {
/// let config = build_config_from_flags(master, kubeconfig).await?;
/// println!("working in {} of {}", config.default_namespace, config.cluster_url);
/// let client = connect(config).await?;
/// # drop(client);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The file cannot be read or is incomplete, no configuration is found, or `master` is not a URL.
pub async fn build_config_from_flags(master: Option<&str>, kubeconfig: Option<&Path>) -> Result<Config> {
    let url = master.map(url).transpose()?;
    match (kubeconfig, url) {
        (Some(path), url) => {
            let mut config = from_file(path).await?;
            config.cluster_url = url.unwrap_or(config.cluster_url);
            Ok(over_tls_alone(config))
        }
        (None, Some(url)) => Ok(Config::new(url)),
        (None, None) => Config::infer().await.map_err(|error| Error::Config(Box::new(error))),
    }
}

/// Removes credentials. The impersonated user is not a secret and stays.
fn over_tls_alone(mut config: Config) -> Config {
    if config.cluster_url.scheme() != Some(&http::uri::Scheme::HTTPS) {
        let AuthInfo { impersonate, impersonate_uid, impersonate_groups, impersonate_user_extra, .. } =
            config.auth_info;
        config.auth_info = AuthInfo {
            impersonate,
            impersonate_uid,
            impersonate_groups,
            impersonate_user_extra,
            ..AuthInfo::default()
        };
    }
    config
}

fn url(master: &str) -> Result<http::Uri> {
    let problem = |reason: String| {
        Error::Options(format!("--master {master}: {reason}; write it like https://10.0.0.1:6443"))
    };
    let url: http::Uri = master.parse().map_err(|error: http::uri::InvalidUri| problem(error.to_string()))?;
    if url.scheme().is_none() || url.host().is_none() {
        return Err(problem("it has no scheme or no host".to_owned()));
    }
    Ok(url)
}

async fn from_file(path: &Path) -> Result<Config> {
    let problem = |error: &dyn std::error::Error| {
        Error::Options(format!("--kubeconfig {}: {}", path.display(), super::error::causes(error)))
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| problem(&error))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    config.map_err(|error| problem(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  \
        context: {cluster: k, user: u, namespace: shop}\nclusters:\n- name: k\n  cluster: {server: 'https://a:6443'}\n\
        users:\n- name: u\n  user: {token: secret}\n";

    #[tokio::test]
    async fn flags_choose_file_and_address() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, FILE).unwrap();
        let config = build_config_from_flags(None, Some(&path)).await.unwrap();
        assert_eq!(
            (config.cluster_url.to_string().as_str(), config.default_namespace.as_str()),
            ("https://a:6443/", "shop")
        );
        let config = build_config_from_flags(Some("https://127.0.0.1:8001"), Some(&path)).await.unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://127.0.0.1:8001/");
        assert!(config.auth_info.token.is_some(), "the rest is the file's");
    }

    #[tokio::test]
    async fn credentials_are_sent_only_to_the_address_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, FILE.replace("token: secret", "token: secret, as: somebody")).unwrap();
        let config = build_config_from_flags(Some("http://127.0.0.1:8001"), Some(&path)).await.unwrap();
        assert!(config.auth_info.token.is_none(), "everybody on the way could read it");
        assert_eq!(config.auth_info.impersonate.as_deref(), Some("somebody"));
        assert_eq!(config.default_namespace, "shop");
        // No kubeconfig or service account applies, because the address is another cluster's.
        let config = build_config_from_flags(Some("https://10.1.2.3:6443"), None).await.unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://10.1.2.3:6443/");
        let config = format!("{config:?}");
        assert_eq!(config, format!("{:?}", Config::new("https://10.1.2.3:6443".parse().unwrap())));
    }

    #[tokio::test]
    async fn config_errors_name_the_flag() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none");
        let error = build_config_from_flags(None, Some(&path)).await.unwrap_err().to_string();
        assert!(error.contains("--kubeconfig") && error.contains("none"), "{error}");
        for master in ["10.0.0.1", "not a url", ""] {
            let error = build_config_from_flags(Some(master), Some(&path)).await.unwrap_err().to_string();
            assert!(error.contains(&format!("--master {master}")), "{error}");
        }
    }
}
