//! The parameters of policies: the objects that a binding names.

use std::sync::Arc;

use serde_json::Value;

use super::super::attributes::Attributes;
use crate::conversion;
use crate::hooks::{ParamKind, ParamRef};
use crate::registry::ResourceDef;
use crate::selector;
use crate::store::Object;

impl ParamKind {
    /// Returns the resource of the kind.
    ///
    /// # Errors
    /// Returns an error if the server does not serve it.
    pub(super) fn resolve(&self, attributes: &Attributes<'_>) -> Result<Arc<ResourceDef>, String> {
        let registry = attributes.call.server.registry();
        let is_it = |def: &&Arc<ResourceDef>| {
            def.is_stored() && def.kind == self.kind && def.api_version() == self.api_version
        };
        registry.all().find(is_it).cloned().ok_or_else(|| {
            let (group, version) = self.api_version.rsplit_once('/').unwrap_or(("", &self.api_version));
            format!(
                "failed to find resource referenced by paramKind: '{group}/{version}, Kind={}'",
                self.kind
            )
        })
    }
}

/// Returns the parameters for a request. The policy is evaluated once with each; the only one is `null` if the policy
/// or the binding has none (`CollectParams` of generic/policy_dispatcher.go).
///
/// # Errors
/// Returns the fault of the reference.
pub(super) async fn collect(
    attributes: &Attributes<'_>,
    kind: Option<&Arc<ResourceDef>>,
    reference: Option<&ParamRef>,
) -> Result<Vec<Value>, String> {
    let (Some(def), Some(reference)) = (kind, reference) else { return Ok(vec![Value::Null]) };
    let namespace = namespace(attributes, def, reference)?;
    let server = &attributes.call.server;
    let found: Vec<Arc<Object>> = if reference.name.is_empty() {
        let list = server.store.list(&def.collection, &def.prefix(&namespace), None);
        let objects = list.map(|list| list.objects).unwrap_or_default();
        let wanted = reference.selector.as_ref().unwrap_or(&Value::Null);
        let selects = |object: &Object| {
            selector::is_empty(wanted) || selector::matches(wanted, &object.value["metadata"]["labels"])
        };
        objects.into_iter().map(|(_, object)| object).filter(|object| selects(object)).collect()
    } else {
        let key = def.key(&namespace, &reference.name);
        server.store.get(&def.collection, &key).into_iter().collect()
    };
    if found.is_empty() && reference.denies {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
    }
    let served = conversion::all(server, def, &found).await.map_err(|error| error.message().to_owned())?;
    Ok(served.iter().map(|object| object.value().clone()).collect())
}

fn namespace(attributes: &Attributes<'_>, def: &ResourceDef, reference: &ParamRef) -> Result<String, String> {
    if !def.namespaced {
        if reference.namespace.is_empty() {
            return Ok(String::new());
        }
        return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned());
    }
    match (reference.namespace.as_str(), attributes.namespace()) {
        ("", "") => {
            let text =
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
            Err(text.to_owned())
        }
        ("", own) => Ok(own.to_owned()),
        (given, _) => Ok(given.to_owned()),
    }
}
