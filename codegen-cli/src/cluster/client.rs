//! Connects with kube's client and kubectl's kubeconfig.

use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use kubesmith_apimachinery::yaml;
use kubesmith_core::names::closest;
use kubesmith_core::names::dns_subdomain;
use serde_json::{Map, Value};

use super::{Access, ClusterError, Wanted};
use crate::import::Input;

/// The requested definitions.
pub(super) fn definitions(access: &Access, wanted: &Wanted) -> Result<Vec<Input>, ClusterError> {
    block_on(async {
        let (client, url) = connect(access).await?;
        let cluster = Cluster { api: Api::all_with(client, &resource()), url };
        let found = cluster.find(wanted).await?;
        Ok(found.iter().map(input).collect())
    })
}

/// Runs a function with a client.
///
/// # Errors
/// Returns the error of the function, or the reason why the cluster cannot be reached.
pub(crate) fn with_client<T, E: From<ClusterError>>(
    access: &Access,
    run: impl AsyncFnOnce(&Client) -> Result<T, E>,
) -> Result<T, E> {
    block_on(async {
        let (client, _) = connect(access).await?;
        run(&client).await
    })
}

fn block_on<T, E: From<ClusterError>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let failed = |error: std::io::Error| ClusterError::Kubeconfig(error.to_string());
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?.block_on(future)
}

/// A client and the server's address.
async fn connect(access: &Access) -> Result<(Client, String), ClusterError> {
    let config = config(access).await?;
    let url = config.cluster_url.to_string();
    let client = Client::try_from(config).map_err(|error| ClusterError::Kubeconfig(chain(&error)))?;
    Ok((client, url))
}

fn resource() -> ApiResource {
    ApiResource {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
    }
}

async fn config(access: &Access) -> Result<Config, ClusterError> {
    let broken = |error: KubeconfigError| ClusterError::Kubeconfig(chain(&error));
    let mut config = if access.kubeconfig.is_none() && access.context.is_none() {
        Config::infer().await.map_err(|error| ClusterError::Kubeconfig(chain(&error)))?
    } else {
        let kubeconfig = match &access.kubeconfig {
            Some(path) => Kubeconfig::read_from(path).map_err(broken)?,
            None => Kubeconfig::read().map_err(broken)?,
        };
        check_context(&kubeconfig, access.context.as_deref())?;
        let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
        Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(broken)?
    };
    config.connect_timeout = Some(Duration::from_secs(10));
    config.read_timeout = Some(Duration::from_secs(30));
    Ok(config)
}

fn check_context(kubeconfig: &Kubeconfig, context: Option<&str>) -> Result<(), ClusterError> {
    let known = || kubeconfig.contexts.iter().map(|context| context.name.as_str());
    match context.filter(|context| known().all(|known| known != *context)) {
        None => Ok(()),
        Some(name) => {
            let similar = closest(name, known()).map(str::to_owned);
            Err(ClusterError::NoContext { name: name.to_owned(), similar })
        }
    }
}

struct Cluster {
    api: Api<DynamicObject>,
    url: String,
}

/// The size of a page: this many definitions have some megabytes.
const PAGE: u32 = 100;

impl Cluster {
    async fn find(&self, wanted: &Wanted) -> Result<Vec<DynamicObject>, ClusterError> {
        let names = match wanted {
            Wanted::All => return self.all().await,
            Wanted::Named(names) | Wanted::IfThere(names) => names,
        };
        let mut out = Vec::new();
        for name in names.iter().filter(|name| dns_subdomain(name).is_ok()) {
            match self.api.get_opt(name).await.map_err(|error| self.error(error))? {
                Some(found) => out.push(found),
                None if matches!(wanted, Wanted::IfThere(_)) => {}
                None => return Err(self.not_found(name).await),
            }
        }
        Ok(out)
    }

    async fn all(&self) -> Result<Vec<DynamicObject>, ClusterError> {
        let mut out = Vec::new();
        let mut params = ListParams::default().limit(PAGE);
        loop {
            let page = self.api.list(&params).await.map_err(|error| self.error(error))?;
            out.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = ListParams::default().limit(PAGE).continue_token(&token),
                None => return Ok(out),
            }
        }
    }

    async fn not_found(&self, name: &str) -> ClusterError {
        // Suggestions need the right to list.
        let known = self.api.list_metadata(&ListParams::default()).await;
        let known: Vec<String> = known
            .map(|list| list.items.into_iter().filter_map(|item| item.metadata.name).collect())
            .unwrap_or_default();
        let similar = closest(name, known.iter().map(String::as_str)).map(str::to_owned);
        // `widgets` for `widgets.example.com`
        let by_plural = || known.iter().find(|known| known.split('.').next() == Some(name)).cloned();
        ClusterError::NotFound { name: name.to_owned(), similar: by_plural().or(similar) }
    }

    fn error(&self, error: kube::Error) -> ClusterError {
        let url = self.url.clone();
        match error {
            kube::Error::Api(status) => {
                let reason = status.message.clone();
                match status.code {
                    401 => ClusterError::Unauthorized { url, reason },
                    403 => ClusterError::Forbidden { url, reason },
                    _ => ClusterError::Refused { url, reason },
                }
            }
            kube::Error::HyperError(_) | kube::Error::Service(_) => {
                ClusterError::Unreachable { url, reason: chain(&error) }
            }
            kube::Error::Auth(_) => ClusterError::Unauthorized { url, reason: chain(&error) },
            error => ClusterError::Refused { url, reason: chain(&error) },
        }
    }
}

/// The error with its causes, without repetition.
fn chain(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        let text = cause.to_string();
        if !out.contains(&text) {
            out.push_str(": ");
            out.push_str(&text);
        }
        at = cause.source();
    }
    out
}

/// The definition as a user would write it.
fn input(found: &DynamicObject) -> Input {
    let name = found.metadata.name.clone().unwrap_or_default();
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.clone().into());
    for (key, pairs) in [("annotations", &found.metadata.annotations), ("labels", &found.metadata.labels)] {
        let pairs: Option<Map<String, Value>> =
            pairs.as_ref().map(|pairs| pairs.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect());
        if let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) {
            metadata.insert(key.to_owned(), pairs.into());
        }
    }
    let mut object = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": found.data.get("spec").cloned().unwrap_or_default(),
    });
    if let Some(stored) = found.data.pointer("/status/storedVersions") {
        object["status"] = serde_json::json!({ "storedVersions": stored });
    }
    Input { name: format!("cluster/{name}"), text: yaml::document(&object) }
}
