//! Installs webhook configurations for the webhook server under test.

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::LocalServing;
use crate::error::Error;

/// Webhook configurations of both kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configurations {
    pub(crate) mutating: Vec<MutatingWebhookConfiguration>,
    pub(crate) validating: Vec<ValidatingWebhookConfiguration>,
}

impl Configurations {
    pub(crate) fn is_empty(&self) -> bool {
        self.mutating.is_empty() && self.validating.is_empty()
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.mutating.append(&mut other.mutating);
        self.validating.append(&mut other.validating);
    }

    /// Points all webhooks to the local server.
    fn lead_to(&mut self, serving: &LocalServing) {
        let mutating = self.mutating.iter_mut().flat_map(|c| c.webhooks.iter_mut().flatten());
        mutating.for_each(|hook| lead_to(&mut hook.client_config, serving));
        let validating = self.validating.iter_mut().flat_map(|c| c.webhooks.iter_mut().flatten());
        validating.for_each(|hook| lead_to(&mut hook.client_config, serving));
    }
}

fn lead_to(config: &mut WebhookClientConfig, serving: &LocalServing) {
    config.ca_bundle = Some(ByteString(serving.ca_bundle().as_bytes().to_vec()));
    if let Some(service) = config.service.take() {
        config.url = Some(serving.url(service.path.as_deref().unwrap_or_default()));
    }
}

/// Reports whether a CRD's conversion webhook has a service.
pub(crate) fn converts_by_service(crd: &CustomResourceDefinition) -> bool {
    let conversion = crd.spec.conversion.as_ref().and_then(|c| c.webhook.as_ref());
    conversion.and_then(|w| w.client_config.as_ref()).is_some_and(|config| config.service.is_some())
}

/// Points a CRD's conversion webhook with a service to the local server.
pub(crate) fn lead_conversion_to(crd: &mut CustomResourceDefinition, serving: &LocalServing) {
    let conversion = crd.spec.conversion.as_mut().and_then(|c| c.webhook.as_mut());
    let Some(config) = conversion.and_then(|w| w.client_config.as_mut()) else { return };
    if let Some(service) = config.service.take() {
        config.url = Some(serving.url(service.path.as_deref().unwrap_or_default()));
        config.ca_bundle = Some(ByteString(serving.ca_bundle().as_bytes().to_vec()));
    }
}

/// Creates the configurations, or replaces existing ones.
pub(crate) async fn install(
    client: &Client,
    mut configurations: Configurations,
    serving: &LocalServing,
) -> Result<(), Error> {
    configurations.lead_to(serving);
    for configuration in &configurations.mutating {
        put(client, configuration).await?;
    }
    for configuration in &configurations.validating {
        put(client, configuration).await?;
    }
    Ok(())
}

/// Deletes the existing configurations of these names.
pub(crate) async fn uninstall<K>(client: &Client, names: &[String]) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = kube::core::ClusterResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let api: Api<K> = Api::all(client.clone());
    for name in names {
        match api.delete(name, &DeleteParams::default()).await {
            Err(error) if !matches!(&error, kube::Error::Api(status) if status.code == 404) => {
                return Err(Error::UninstallWebhook { name: name.clone(), source: Box::new(error) });
            }
            _ => {}
        }
    }
    Ok(())
}

async fn put<K>(client: &Client, configuration: &K) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = kube::core::ClusterResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + Serialize,
{
    let api: Api<K> = Api::all(client.clone());
    let name = configuration.meta().name.clone().unwrap_or_default();
    let refused = |source| Error::InstallWebhook { name: name.clone(), source: Box::new(source) };
    let params = PostParams::default();
    match api.get_opt(&name).await.map_err(refused)? {
        None => api.create(&params, configuration).await.map_err(refused)?,
        Some(old) => {
            let mut next = configuration.clone();
            next.meta_mut().resource_version.clone_from(&old.meta().resource_version);
            api.replace(&name, &params, &next).await.map_err(refused)?
        }
    };
    Ok(())
}
