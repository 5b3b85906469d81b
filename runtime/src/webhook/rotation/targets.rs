//! Objects from which API servers take the authorities to trust.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::ApiResource;
use serde_json::{Value, json};

use super::pair::authorities;
use crate::client::{self, Request};

/// An object whose `caBundle` fields a [`CertRotator`](super::CertRotator) writes.
///
/// Its text is the resource and the name, as in an RBAC rule and for `kubectl get`.
///
/// ```
/// use kubesmith_runtime::webhook::CaBundleTarget;
///
/// let target: CaBundleTarget = "validatingwebhookconfigurations/shop".parse()?;
/// assert_eq!(target, CaBundleTarget::ValidatingWebhookConfiguration("shop".to_owned()));
/// assert!("shop".parse::<CaBundleTarget>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaBundleTarget {
    /// A MutatingWebhookConfiguration of this name.
    MutatingWebhookConfiguration(String),
    /// A ValidatingWebhookConfiguration of this name.
    ValidatingWebhookConfiguration(String),
    /// The conversion webhook of a CustomResourceDefinition of this name.
    CustomResourceDefinition(String),
}

use CaBundleTarget::{
    CustomResourceDefinition, MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};

impl CaBundleTarget {
    fn parts(&self) -> (&'static str, &'static str, &'static str, &str) {
        let admission = "admissionregistration.k8s.io";
        match self {
            MutatingWebhookConfiguration(name) => {
                (admission, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", name)
            }
            ValidatingWebhookConfiguration(name) => {
                (admission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", name)
            }
            CustomResourceDefinition(name) => {
                ("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", name)
            }
        }
    }

    pub(super) fn api(&self, client: &kube::Client) -> Api<DynamicObject> {
        let (group, kind, plural, _) = self.parts();
        let resource = ApiResource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            api_version: format!("{group}/v1"),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        Api::all_with(client.clone(), &resource)
    }

    fn failed(&self, verb: &'static str, source: kube::Error) -> client::Error {
        let (group, _, plural, name) = self.parts();
        let resource = format!("{plural}.{group}");
        client::Error::from_kube(
            Request { verb, resource, namespace: None, name: Some(name.to_owned()) },
            source,
        )
    }

    /// The object, if there is one.
    pub(super) async fn get(&self, client: &kube::Client) -> Result<Option<DynamicObject>, client::Error> {
        let found = self.api(client).get_opt(self.parts().3).await;
        found.map_err(|source| self.failed("get", source))
    }

    /// The authorities that `object` has where it leads to `server`.
    pub(super) fn authorities(
        &self,
        object: &DynamicObject,
        server: &Address<'_>,
        now: Timestamp,
    ) -> Vec<String> {
        let bundles = configs(object).filter(|config| server.is_of(config)).filter_map(|config| {
            let bundle: ByteString = serde_json::from_value(config.get("caBundle")?.clone()).ok()?;
            Some(authorities(&String::from_utf8_lossy(&bundle.0), now))
        });
        bundles.flatten().collect()
    }

    /// Returns why the authority is not written into the object; `None` if it is.
    pub(super) fn obstacle(object: Option<&DynamicObject>, server: &Address<'_>) -> Option<String> {
        let Some(object) = object else { return Some("there is no such object".to_owned()) };
        let is_reached = configs(object).any(|config| server.is_of(config));
        (!is_reached).then(|| format!("it has no clientConfig with {server}"))
    }

    /// Returns the apply patch that makes `object` trust `bundle` where it points to `server`, and whether it has it
    /// already. `bundle` is base64.
    fn wanted(&self, object: &DynamicObject, server: &Address<'_>, bundle: &str) -> (Value, bool) {
        let (group, kind, _, name) = self.parts();
        let mut is_there = true;
        let mut lead = |config: Option<&Value>| {
            let config = config.filter(|config| server.is_of(config))?;
            is_there &= config["caBundle"] == bundle;
            Some(json!({"caBundle": bundle}))
        };
        let mut patch = json!({
            "apiVersion": format!("{group}/v1"),
            "kind": kind,
            // The uid keeps a deleted object from being created, and the version what another replica wrote since.
            "metadata": {"name": name, "uid": object.metadata.uid, "resourceVersion": object.metadata.resource_version},
        });
        if let CustomResourceDefinition(_) = self {
            if let Some(config) = lead(object.data.pointer("/spec/conversion/webhook/clientConfig")) {
                patch["spec"] = json!({"conversion": {"webhook": {"clientConfig": config}}});
            }
        } else {
            let webhooks = object.data["webhooks"].as_array().into_iter().flatten();
            let ours = webhooks.filter_map(|webhook| {
                let config = lead(webhook.get("clientConfig"))?;
                Some(json!({"name": webhook["name"], "clientConfig": config}))
            });
            patch["webhooks"] = Value::Array(ours.collect());
        }
        (patch, is_there)
    }

    /// Writes `bundle`, which is base64, into `object`, unless it is in place.
    pub(super) async fn trust(
        &self,
        client: &kube::Client,
        object: &DynamicObject,
        server: &Address<'_>,
        bundle: &str,
    ) -> Result<(), client::Error> {
        let (patch, is_there) = self.wanted(object, server, bundle);
        if is_there {
            return Ok(());
        }
        let params = PatchParams::apply(super::FIELD_MANAGER).force();
        let applied = self.api(client).patch(self.parts().3, &params, &Patch::Apply(patch)).await;
        applied.map(drop).map_err(|source| self.failed("patch", source))
    }
}

/// The `clientConfig`s of an object.
fn configs(object: &DynamicObject) -> impl Iterator<Item = &Value> {
    let webhooks = object.data["webhooks"].as_array().into_iter().flatten();
    let configs = webhooks.filter_map(|webhook| webhook.get("clientConfig"));
    configs.chain(object.data.pointer("/spec/conversion/webhook/clientConfig"))
}

/// The address by which a `clientConfig` points to the server.
pub(super) struct Address<'a> {
    pub(super) namespace: &'a str,
    pub(super) service: Option<&'a str>,
    /// Hosts of URLs.
    pub(super) names: &'a [String],
}

impl Address<'_> {
    fn is_of(&self, config: &Value) -> bool {
        if let Some(service) = config.get("service") {
            return service["namespace"] == self.namespace && service["name"].as_str() == self.service;
        }
        let url = config["url"].as_str().and_then(|url| url.parse::<http::Uri>().ok());
        let host = url.as_ref().and_then(http::Uri::host);
        host.is_some_and(|host| self.names.iter().any(|name| name == host.trim_matches(['[', ']'])))
    }
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.service {
            Some(service) => write!(f, "the Service {}/{service}", self.namespace),
            None => write!(f, "a URL of {}", self.names.join(", ")),
        }
    }
}

impl fmt::Display for CaBundleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, _, plural, name) = self.parts();
        write!(f, "{plural}/{name}")
    }
}

impl FromStr for CaBundleTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let made = text.split_once('/').filter(|(_, name)| !name.is_empty()).and_then(|(plural, name)| {
            let makes =
                [MutatingWebhookConfiguration, ValidatingWebhookConfiguration, CustomResourceDefinition];
            makes.into_iter().map(|make| make(name.to_owned())).find(|target| target.parts().2 == plural)
        });
        made.ok_or_else(|| {
            format!(
                "{text:?} is not a place for an authority: write it like validatingwebhookconfigurations/NAME, \
                 mutatingwebhookconfigurations/NAME or customresourcedefinitions/NAME"
            )
        })
    }
}
