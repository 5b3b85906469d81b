//! The objects that an environment installed, for their removal.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, ResourceExt as _};

use crate::crds::{self, Wait};
use crate::error::Error;
use crate::webhook::{self, Configurations};

/// Names, in the order of the installation.
#[derive(Debug, Default)]
pub(crate) struct Installed {
    crds: Vec<String>,
    mutating: Vec<String>,
    validating: Vec<String>,
}

impl Installed {
    pub(crate) fn note_crds(&mut self, crds: &[CustomResourceDefinition]) {
        self.crds.extend(crds.iter().map(|crd| crds::name(crd).to_owned()));
    }

    pub(crate) fn note_webhooks(&mut self, webhooks: &Configurations) {
        self.mutating.extend(webhooks.mutating.iter().map(MutatingWebhookConfiguration::name_any));
        self.validating.extend(webhooks.validating.iter().map(ValidatingWebhookConfiguration::name_any));
    }

    /// Deletes everything: the webhooks first, as their server may be gone already.
    pub(crate) async fn remove(self, client: &Client, wait: Wait) -> Result<(), Error> {
        webhook::uninstall::<MutatingWebhookConfiguration>(client, &self.mutating).await?;
        webhook::uninstall::<ValidatingWebhookConfiguration>(client, &self.validating).await?;
        crds::uninstall(client, &self.crds, wait).await
    }
}
