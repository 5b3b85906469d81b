//! The model of a CustomResourceDefinition.
//!
//! [`build`] makes it from the intermediate representation and the schemas. `validate` checks it, and emitters print it.

pub(crate) mod columns;
pub(crate) mod path;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::ir::{Conversion, CrdStyle, CrdVersion, Ir, PrintColumn, Resource, Scale, Scope, WebhookEndpoint};
use crate::output::YAML_MARK;
use crate::schema::{Schema, Schemas};

/// A CustomResourceDefinition: the versions of a kind. It has at least one version.
#[derive(Debug)]
pub(crate) struct Definition<'a> {
    /// The group.
    pub(crate) group: &'a str,
    /// Its versions, ordered by name.
    pub(crate) versions: Vec<Version<'a>>,
    /// The conversion between the versions; `None`: the API server's default.
    pub(crate) conversion: Option<&'a Conversion>,
    /// Whether `preserveUnknownFields: false`, the default, is written.
    pub(crate) refuses_unknown_fields: bool,
}

/// A version of a definition.
#[derive(Debug)]
pub(crate) struct Version<'a> {
    /// Its name: `v1alpha1`.
    pub(crate) name: &'a str,
    /// The kind in this version.
    pub(crate) resource: &'a Resource,
    /// Whether the API server serves it.
    pub(crate) served: bool,
    /// Whether objects are stored in it.
    pub(crate) storage: bool,
    /// Its schema; `None` if none could be built.
    pub(crate) schema: Option<&'a Schema>,
}

/// Builds the definitions of the representation, ordered by group and kind. Omits skipped versions.
pub(crate) fn build<'a>(ir: &'a Ir, schemas: &'a Schemas) -> Vec<Definition<'a>> {
    let mut kinds: BTreeMap<(&str, &str), Vec<(&str, &Resource)>> = BTreeMap::new();
    for group in &ir.groups {
        for version in &group.versions {
            for resource in version.resources.iter().filter(|resource| !resource.crd.skipped) {
                kinds.entry((&group.name, &resource.kind)).or_default().push((&version.name, resource));
            }
        }
    }
    let ordered = kinds.into_iter().map(|((group, _), mut resources)| {
        resources.sort_by_key(|(name, _)| *name);
        let single = resources.len() == 1;
        let versions = resources.iter().map(|&(name, resource)| Version {
            name,
            resource,
            served: resource.crd.served,
            storage: single || resource.crd.storage,
            schema: schemas.of(resource),
        });
        Definition {
            group,
            versions: versions.collect(),
            // The versions agree, as `validate` reports differences.
            conversion: resources.iter().find_map(|(_, resource)| resource.crd.conversion.as_ref()),
            refuses_unknown_fields: false,
        }
    });
    ordered.collect()
}

impl<'a> Definition<'a> {
    /// The version with the definition's names and scope; all versions agree on them.
    pub(crate) fn first(&self) -> &'a Resource {
        self.versions[0].resource
    }

    /// The object as written to files.
    pub(crate) fn to_value(&self) -> Value {
        self.print(self.conversion, self.first().crd.style == CrdStyle::ControllerGen)
    }

    /// The object as an API server completes it before validation.
    pub(crate) fn to_completed_value(&self) -> Value {
        self.print(Some(self.conversion.unwrap_or(&Conversion::None)), true)
    }

    fn print(&self, conversion: Option<&Conversion>, has_list_kind: bool) -> Value {
        let first = self.first();
        let mut out = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata(self),
            "spec": {
                "group": self.group,
                "names": names(first, has_list_kind),
                "scope": match first.scope {
                    Scope::Cluster => "Cluster",
                    Scope::Namespaced => "Namespaced",
                },
            },
        });
        if let Some(conversion) = conversion {
            out["spec"]["conversion"] = conversion_value(conversion);
        }
        if self.refuses_unknown_fields {
            out["spec"]["preserveUnknownFields"] = false.into();
        }
        // Schemas are moved into place: `json!` would copy them at each level.
        out["spec"]["versions"] = self.versions.iter().map(version).collect();
        out
    }
}

fn metadata(definition: &Definition<'_>) -> Value {
    let mut annotations = BTreeMap::new();
    let mut labels = BTreeMap::new();
    for Version { resource, .. } in &definition.versions {
        annotations.extend(resource.crd.annotations.iter());
        labels.extend(resource.crd.labels.iter());
    }
    let version = env!("CARGO_PKG_VERSION").to_string();
    let mark = YAML_MARK.to_string();
    annotations.insert(&mark, &version);
    let mut out = json!({
        "annotations": annotations,
        "name": format!("{}.{}", definition.first().plural, definition.group),
    });
    if !labels.is_empty() {
        out["labels"] = json!(labels);
    }
    out
}

fn conversion_value(conversion: &Conversion) -> Value {
    let webhook = match conversion {
        Conversion::None => return json!({"strategy": "None"}),
        Conversion::Webhook(webhook) => webhook,
    };
    let mut client = match &webhook.endpoint {
        WebhookEndpoint::Url(url) => json!({"url": url}),
        WebhookEndpoint::Service { namespace, name, path, port } => {
            let mut service = json!({"name": name, "namespace": namespace});
            if let Some(path) = path {
                service["path"] = json!(path);
            }
            if let Some(port) = port {
                service["port"] = json!(port);
            }
            json!({"service": service})
        }
    };
    if let Some(bundle) = &webhook.ca_bundle {
        client["caBundle"] = json!(bundle);
    }
    json!({
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": webhook.review_versions},
    })
}

fn names(resource: &Resource, has_list_kind: bool) -> Value {
    let mut out = json!({"kind": resource.kind, "plural": resource.plural, "singular": resource.singular});
    if has_list_kind {
        out["listKind"] = json!(resource.list_kind);
    }
    if !resource.categories.is_empty() {
        out["categories"] = json!(resource.categories);
    }
    if !resource.short_names.is_empty() {
        out["shortNames"] = json!(resource.short_names);
    }
    out
}

fn version(version: &Version<'_>) -> Value {
    let crd = &version.resource.crd;
    let mut out = json!({
        "name": version.name,
        "schema": {},
        "served": version.served,
        "storage": version.storage,
    });
    out["schema"]["openAPIV3Schema"] = version.schema.map_or(Value::Null, Schema::to_value);
    if !crd.print_columns.is_empty() {
        out["additionalPrinterColumns"] =
            crd.print_columns.iter().map(|found| column(found, crd.style)).collect();
    }
    if let Some(subresources) = subresources(crd) {
        out["subresources"] = subresources;
    }
    if let Some(deprecation) = &crd.deprecated {
        out["deprecated"] = json!(true);
        if let Some(warning) = &deprecation.warning {
            out["deprecationWarning"] = json!(warning);
        }
    }
    if !crd.selectable_fields.is_empty() {
        let fields = crd.selectable_fields.iter().map(|path| json!({ "jsonPath": path }));
        out["selectableFields"] = fields.collect();
    }
    out
}

/// The subresources of a version. controller-gen writes an empty object for a version that has columns but no subresource.
pub(crate) fn subresources(crd: &CrdVersion) -> Option<Value> {
    let mut out = Map::new();
    if crd.status_subresource {
        out.insert("status".to_string(), json!({}));
    }
    if let Some(scale) = &crd.scale {
        out.insert("scale".to_string(), scale_value(scale));
    }
    let says_nothing = crd.style == CrdStyle::ControllerGen && !crd.print_columns.is_empty();
    (!out.is_empty() || says_nothing).then_some(Value::Object(out))
}

fn scale_value(scale: &Scale) -> Value {
    let mut out = json!({
        "specReplicasPath": scale.spec_replicas_path,
        "statusReplicasPath": scale.status_replicas_path,
    });
    if let Some(path) = &scale.label_selector_path {
        out["labelSelectorPath"] = json!(path);
    }
    out
}

fn column(column: &PrintColumn, style: CrdStyle) -> Value {
    let mut out = json!({
        "jsonPath": column.json_path,
        "name": column.name,
        "type": column.type_,
    });
    if let Some(description) = &column.description {
        out["description"] = json!(description);
    }
    if let Some(format) = &column.format {
        out["format"] = json!(format);
    }
    if let Some(priority) = column.priority.filter(|priority| *priority != 0 || style == CrdStyle::Kube) {
        out["priority"] = json!(priority);
    }
    out
}
