//! Installs CRDs through any client and waits until they are served.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use tokio::time::Instant;

use crate::error::Error;

/// Pauses before a write is retried after a conflict; client-go's `retry.DefaultBackoff` without its jitter.
const CONFLICT_BACKOFF: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(50), Duration::from_millis(250)];
/// The number of times that a server has to refuse a CRD's names. The first one may concern an older state.
const REFUSALS: u32 = 2;

/// Timeout and interval of waiting for CRDs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) max_time: Duration,
    pub(crate) poll_interval: Duration,
}

impl Default for Wait {
    /// envtest's `CRDInstallOptions`.
    fn default() -> Self {
        Self { max_time: Duration::from_secs(10), poll_interval: Duration::from_millis(100) }
    }
}

/// Creates or updates the CRDs and returns when discovery serves them.
pub(crate) async fn install(
    client: &Client,
    crds: &[CustomResourceDefinition],
    wait: Wait,
) -> Result<(), Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let deadline = Instant::now() + wait.max_time;
    for crd in crds {
        let name = name(crd);
        put(&api, name, crd)
            .await
            .map_err(|source| Error::Install { name: name.to_owned(), source: Box::new(source) })?;
    }
    for crd in crds {
        until_served(client, &api, crd, deadline, wait.poll_interval).await?;
    }
    Ok(())
}

/// Deletes the CRDs of these names and returns when they and their objects are gone.
pub(crate) async fn uninstall(client: &Client, names: &[String], wait: Wait) -> Result<(), Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let refused = |name: &String, source| Error::Uninstall { name: name.clone(), source: Box::new(source) };
    for name in names {
        match api.delete(name, &DeleteParams::default()).await {
            Err(error) if !is(&error, 404) => return Err(refused(name, error)),
            _ => {}
        }
    }
    let deadline = Instant::now() + wait.max_time;
    for name in names {
        while api.get_opt(name).await.map_err(|source| refused(name, source))?.is_some() {
            if Instant::now() >= deadline {
                return Err(Error::NotUninstalled { name: name.clone() });
            }
            tokio::time::sleep(wait.poll_interval).await;
        }
    }
    Ok(())
}

pub(crate) fn name(crd: &CustomResourceDefinition) -> &str {
    crd.metadata.name.as_deref().unwrap_or_default()
}

fn is(error: &kube::Error, code: u16) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code)
}

/// Creates the CRD or replaces the existing one; other processes may do the same concurrently.
async fn put(
    api: &Api<CustomResourceDefinition>,
    name: &str,
    crd: &CustomResourceDefinition,
) -> kube::Result<()> {
    for pause in CONFLICT_BACKOFF {
        match put_once(api, name, crd).await {
            // 404: it was deleted between the read and the write.
            Err(error) if is(&error, 409) || is(&error, 404) => tokio::time::sleep(pause).await,
            result => return result,
        }
    }
    put_once(api, name, crd).await
}

async fn put_once(
    api: &Api<CustomResourceDefinition>,
    name: &str,
    crd: &CustomResourceDefinition,
) -> kube::Result<()> {
    let params = PostParams::default();
    match api.get_opt(name).await? {
        None => api.create(&params, crd).await?,
        Some(old) => {
            let mut next = crd.clone();
            next.metadata.resource_version = old.metadata.resource_version;
            api.replace(name, &params, &next).await?
        }
    };
    Ok(())
}

async fn until_served(
    client: &Client,
    api: &Api<CustomResourceDefinition>,
    crd: &CustomResourceDefinition,
    deadline: Instant,
    poll_interval: Duration,
) -> Result<(), Error> {
    let mut refusals = 0;
    loop {
        let reason = match state(client, api, crd).await {
            State::Served => return Ok(()),
            State::Refused(reason) => {
                refusals += 1;
                reason
            }
            State::Waiting(reason) => reason,
        };
        if refusals >= REFUSALS || Instant::now() >= deadline {
            return Err(Error::NotEstablished { name: name(crd).to_owned(), reason });
        }
        tokio::time::sleep(poll_interval).await;
    }
}

/// The state of a CRD, with the reason why it is not served.
enum State {
    Served,
    Waiting(String),
    Refused(String),
}

async fn state(
    client: &Client,
    api: &Api<CustomResourceDefinition>,
    crd: &CustomResourceDefinition,
) -> State {
    let stored = match api.get(name(crd)).await {
        Ok(stored) => stored,
        Err(error) => return State::Waiting(error.to_string()),
    };
    let conditions = stored.status.and_then(|s| s.conditions).unwrap_or_default();
    let is = |kind: &str, status: &str| conditions.iter().any(|c| c.type_ == kind && c.status == status);
    if is("NamesAccepted", "False") || !is("Established", "True") {
        let faults = conditions.iter().filter(|c| c.status != "True");
        let texts: Vec<&str> = faults.map(|c| c.message.as_deref().unwrap_or(&c.type_)).collect();
        let reason = texts.join("; ");
        return if is("NamesAccepted", "False") { State::Refused(reason) } else { State::Waiting(reason) };
    }
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        let group_version = format!("{}/{}", crd.spec.group, version.name);
        match client.list_api_group_resources(&group_version).await {
            Ok(list) if list.resources.iter().any(|r| r.name == crd.spec.names.plural) => {}
            Ok(_) => return State::Waiting(format!("discovery of {group_version} does not list it")),
            Err(error) => return State::Waiting(format!("discovery of {group_version}: {error}")),
        }
    }
    State::Served
}
