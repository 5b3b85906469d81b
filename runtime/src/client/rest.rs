//! A client of one group version, and how to make the transport under it.

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::client::ClientBuilder;

use super::Error;
use super::drive::DriverExecutor;

/// A client bound to one group version, as a generated `EcsV1Client` holds it.
///
/// ```no_run
/// # async fn example() -> Result<(), kubesmith_runtime::client::Error> {
/// use kubesmith_runtime::client::{RestClient, try_default};
///
/// let rest = RestClient::new(try_default().await?, "hopegi.com", "v1");
/// assert_eq!(rest.group_version(), "hopegi.com/v1");
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

/// The user agent sent when the configuration names none: `kubesmith/<version> (<os>/<arch>)`.
///
/// ```
/// assert!(kubesmith_runtime::client::default_user_agent().starts_with("kubesmith/"));
/// ```
#[must_use]
pub fn default_user_agent() -> String {
    format!("kubesmith/{} ({}/{})", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}

/// Makes a client from a configuration; requests carry [`default_user_agent`] unless the configuration has a
/// `User-Agent` header of its own. Nothing is sent.
///
/// Reflectors over such a client read their connections in their own task, instead of being handed every chunk by
/// another one, as over a client that kube has made.
///
/// # Errors
/// [`Error::Connect`] when the configuration's TLS or credentials cannot be used.
pub async fn connect(config: kube::Config) -> Result<kube::Client, Error> {
    let builder = ClientBuilder::try_from((with_user_agent(config), DriverExecutor));
    builder.map(ClientBuilder::build).map_err(|error| Error::Connect(Box::new(error)))
}

/// Makes a client from the kubeconfig or, in a pod, from the service account.
///
/// # Errors
/// [`Error::Config`] when neither is found, [`Error::Connect`] as for [`connect`].
pub async fn try_default() -> Result<kube::Client, Error> {
    let config = kube::Config::infer().await.map_err(|error| Error::Config(Box::new(error)))?;
    connect(config).await
}

fn with_user_agent(mut config: kube::Config) -> kube::Config {
    let named = config.headers.iter().any(|(name, _)| name == USER_AGENT);
    // The agent is ASCII by construction; a header that could not be made would only leave the field out.
    if let (false, Ok(value)) = (named, HeaderValue::from_str(&default_user_agent())) {
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
        let added = with_user_agent(config());
        assert_eq!(added.headers[0].1.to_str().unwrap(), default_user_agent());

        let mut own = config();
        own.headers.push((USER_AGENT, HeaderValue::from_static("mine/1")));
        let kept = with_user_agent(own);
        assert_eq!(kept.headers.len(), 1);
        assert_eq!(kept.headers[0].1, "mine/1");
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
