//! A client of one group version, and how to make the transport under it.

use http::HeaderValue;
use http::header::USER_AGENT;

use super::transport::Transport;
use super::user_agent::default_user_agent;
use super::{ClientOptions, Error};

/// A client bound to one group version, as a generated `EcsV1Client` holds it.
///
/// ```no_run
/// # async fn example() -> Result<(), kubesmith_runtime::client::Error> {
/// use kubesmith_runtime::client::{RestClient, try_default};
///
/// let rest = RestClient::new(try_default().await?, "hopegi.com", "v1");
/// assert_eq!(rest.group_version(), "hopegi.com/v1");
/// assert_eq!((rest.group(), rest.version()), ("hopegi.com", "v1"));
/// assert_eq!((rest.api_path(), rest.base_path().as_str()), ("/apis", "/apis/hopegi.com/v1"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RestClient {
    client: kube::Client,
    group: String,
    version: String,
    group_version: String,
}

impl RestClient {
    /// Binds `client` to a group version. The core group is the empty string.
    #[must_use]
    pub fn new(client: kube::Client, group: &str, version: &str) -> Self {
        let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        Self { client, group: group.to_owned(), version: version.to_owned(), group_version }
    }

    /// `group/version`, or `version` alone for the core group.
    #[must_use]
    pub fn group_version(&self) -> &str {
        &self.group_version
    }

    /// The group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// `/api` for the core group, `/apis` for all others.
    #[must_use]
    pub fn api_path(&self) -> &'static str {
        if self.group.is_empty() { "/api" } else { "/apis" }
    }

    /// The path all requests of this group version start with.
    #[must_use]
    pub fn base_path(&self) -> String {
        format!("{}/{}", self.api_path(), self.group_version)
    }

    /// The transport.
    #[must_use]
    pub fn client(&self) -> &kube::Client {
        &self.client
    }
}

impl std::fmt::Debug for RestClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RestClient").field("group_version", &self.group_version).finish_non_exhaustive()
    }
}

/// Makes a client from a configuration; requests carry [`default_user_agent`] unless the configuration has a
/// `User-Agent` header of its own. Nothing is sent.
///
/// The client uses HTTP/2 if the server offers it, so that a hundred informers need a connection or two. With
/// HTTP/1.1 each watch has a connection of its own, which its informer reads in its own task, while a client of kube
/// passes every chunk from another task. When the server refuses the credentials, they are read again.
///
/// # Errors
/// [`Error::Connect`] when the configuration's TLS or credentials cannot be used.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = kubesmith_runtime::client::connect(kube::Config::infer().await?).await?;
/// # Ok(())
/// # }
/// ```
pub async fn connect(config: kube::Config) -> Result<kube::Client, Error> {
    connect_with_options(config, ClientOptions::new()).await
}

/// As [`connect`], with options: HTTP version, compression, rate limit, retries, timeout, user agent.
///
/// # Errors
/// [`Error::Options`] for options that cannot be, else as [`connect`].
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use kubesmith_runtime::client::{ClientOptions, connect_with_options};
///
/// let options = ClientOptions::new().gzip(true).rate_limit(20.0, 30);
/// let client = connect_with_options(kube::Config::infer().await?, options).await?;
/// # Ok(())
/// # }
/// ```
pub async fn connect_with_options(
    config: kube::Config,
    options: ClientOptions,
) -> Result<kube::Client, Error> {
    let namespace = config.default_namespace.clone();
    let config = with_user_agent(config, options.user_agent.as_deref());
    Ok(kube::Client::new(Transport::new(config, options)?, namespace))
}

/// Makes a client from the kubeconfig or, in a pod, from the service account.
///
/// # Errors
/// [`Error::Config`] when neither is found, [`Error::Connect`] as for [`connect`].
pub async fn try_default() -> Result<kube::Client, Error> {
    let config = kube::Config::infer().await.map_err(|error| Error::Config(Box::new(error)))?;
    connect(config).await
}

fn with_user_agent(mut config: kube::Config, wanted: Option<&str>) -> kube::Config {
    let named = config.headers.iter().any(|(name, _)| name == USER_AGENT);
    let agent = match wanted {
        Some(agent) => agent.to_owned(),
        None if named => return config,
        None => default_user_agent(),
    };
    // A wanted one that cannot be sent is refused with the other options; the default is ASCII by construction.
    if let Ok(value) = HeaderValue::from_str(&agent) {
        config.headers.retain(|(name, _)| name != USER_AGENT);
        config.headers.push((USER_AGENT, value));
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> kube::Config {
        kube::Config::new("http://127.0.0.1:1".parse().unwrap())
    }

    #[test]
    fn user_agent_is_added_only_when_none_is_given() {
        let added = with_user_agent(config(), None);
        assert_eq!(added.headers[0].1.to_str().unwrap(), default_user_agent());

        let mut own = config();
        own.headers.push((USER_AGENT, HeaderValue::from_static("mine/1")));
        let kept = with_user_agent(own, None);
        assert_eq!(kept.headers.len(), 1);
        assert_eq!(kept.headers[0].1, "mine/1");
        let changed = with_user_agent(kept, Some("other/2"));
        assert_eq!(changed.headers.len(), 1);
        assert_eq!(changed.headers[0].1, "other/2");
    }

    #[tokio::test]
    async fn invalid_request_options_are_refused() {
        let refused = async |options| {
            connect_with_options(config(), options).await.err().expect("it is refused").to_string()
        };
        let limited = refused(ClientOptions::new().rate_limit(0.0, 5)).await;
        assert!(limited.contains("lets nothing pass") && limited.contains("leave it out"), "{limited}");
        let agent = refused(ClientOptions::new().user_agent("a\nb")).await;
        assert!(agent.contains("\"a\\nb\""), "{agent}");
    }

    #[tokio::test]
    async fn paths_follow_the_group() {
        let client = connect(config()).await.unwrap();
        let core = RestClient::new(client.clone(), "", "v1");
        assert_eq!((core.base_path().as_str(), core.group_version()), ("/api/v1", "v1"));
        let apps = RestClient::new(client, "apps", "v1");
        assert_eq!((apps.base_path().as_str(), apps.group_version()), ("/apis/apps/v1", "apps/v1"));
    }
}
