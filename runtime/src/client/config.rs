//! How a program finds its cluster.

use std::path::Path;

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::{Error, Result};

/// The configuration that a program's flags `--master` and `--kubeconfig` ask for, as client-go's `BuildConfigFromFlags`:
/// the kubeconfig file, or without one what [`try_default`](super::try_default) finds (`$KUBECONFIG`, `~/.kube/config`, the
/// pod's service account); an address given as `master` takes the place of the file's, and alone it is enough.
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
/// The file cannot be read or says too little, no configuration is found, or `master` is no URL.
pub async fn build_config_from_flags(master: Option<&str>, kubeconfig: Option<&Path>) -> Result<Config> {
    let url = master.map(url).transpose()?;
    let config = match (kubeconfig, &url) {
        (Some(path), _) => from_file(path).await,
        (None, _) => Config::infer().await.map_err(|error| Error::Config(Box::new(error))),
    };
    match (config, url) {
        (Ok(mut config), Some(url)) => {
            config.cluster_url = url;
            Ok(config)
        }
        // Nothing says more than the address, which may do, as behind `kubectl proxy`.
        (Err(Error::Config(_)), Some(url)) if kubeconfig.is_none() => Ok(Config::new(url)),
        (config, _) => config,
    }
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
    async fn flags_choose_the_file_and_the_address() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, FILE).unwrap();
        let config = build_config_from_flags(None, Some(&path)).await.unwrap();
        assert_eq!(
            (config.cluster_url.to_string().as_str(), config.default_namespace.as_str()),
            ("https://a:6443/", "shop")
        );
        let config = build_config_from_flags(Some("http://127.0.0.1:8001"), Some(&path)).await.unwrap();
        assert_eq!(config.cluster_url.to_string(), "http://127.0.0.1:8001/");
        assert!(config.auth_info.token.is_some(), "the rest is the file's");
    }

    #[tokio::test]
    async fn what_is_wrong_names_the_flag() {
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
