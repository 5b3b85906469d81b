//! Emits CustomResourceDefinitions, one file per group and plural: `<group>_<plural>.yaml`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kubesmith_apiextensions::yaml;
use serde_json::{Map, Value, json};

use crate::ir::{Conversion, CrdStyle, CrdVersion, Ir, PrintColumn, Resource, Scale, Scope, WebhookEndpoint};
use crate::output::{OutputTree, YAML_MARK};
use crate::parallel;
use crate::schema::Schemas;

/// A CRD: the versions of a kind.
#[derive(Debug)]
pub struct Definition<'a> {
    /// The group.
    pub group: &'a str,
    /// Its versions with their names, ordered by name.
    pub versions: Vec<(&'a str, &'a Resource)>,
}

/// The CRDs of the representation, ordered by group and kind. Skipped versions are left out.
pub fn definitions(ir: &Ir) -> Vec<Definition<'_>> {
    let mut kinds: BTreeMap<(&str, &str), Vec<(&str, &Resource)>> = BTreeMap::new();
    for group in &ir.groups {
        for version in &group.versions {
            for resource in version.resources.iter().filter(|resource| !resource.crd.skipped) {
                kinds.entry((&group.name, &resource.kind)).or_default().push((&version.name, resource));
            }
        }
    }
    let ordered = kinds.into_iter().map(|((group, _), mut versions)| {
        versions.sort_by_key(|(name, _)| *name);
        Definition { group, versions }
    });
    ordered.collect()
}

/// Emits every CRD. `objects` has those of [`definitions`] that were made before. With `refuse_unknown_fields`,
/// `preserveUnknownFields: false` is written although it is the default.
pub fn emit(
    ir: &Ir,
    schemas: &Schemas,
    objects: &[Option<Value>],
    refuse_unknown_fields: bool,
) -> OutputTree {
    let definitions = definitions(ir);
    let numbered: Vec<_> = definitions.iter().enumerate().collect();
    let texts = parallel::map(&numbered, |(at, definition)| {
        let made = objects.get(*at).and_then(Option::as_ref).map(Cow::Borrowed);
        let mut object = made.or_else(|| object(definition, schemas).map(Cow::Owned))?;
        let (_, first) = definition.versions.first()?;
        if refuse_unknown_fields {
            object.to_mut()["spec"]["preserveUnknownFields"] = false.into();
        }
        Some((format!("{}_{}.yaml", definition.group, first.plural), yaml::document(&object)))
    });
    let mut tree = OutputTree::new();
    for (name, text) in texts.into_iter().flatten() {
        tree.insert(name, text);
    }
    tree
}

/// A CRD as data; `None` without a version.
pub fn object(definition: &Definition<'_>, schemas: &Schemas) -> Option<Value> {
    let (_, first) = definition.versions.first()?;
    let single = definition.versions.len() == 1;
    let versions = definition
        .versions
        .iter()
        .map(|(name, resource)| version(name, resource, single || resource.crd.storage, schemas));
    let mut out = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(definition, first),
        "spec": {
            "group": definition.group,
            "names": names(first),
            "scope": match first.scope {
                Scope::Cluster => "Cluster",
                Scope::Namespaced => "Namespaced",
            },
        },
    });
    if let Some(conversion) = conversion(definition) {
        out["spec"]["conversion"] = conversion_value(conversion);
    }
    // Schemas are moved into their place: `json!` would copy them at each level.
    out["spec"]["versions"] = versions.collect();
    Some(out)
}

fn metadata(definition: &Definition<'_>, first: &Resource) -> Value {
    let mut annotations = BTreeMap::new();
    let mut labels = BTreeMap::new();
    for (_, resource) in &definition.versions {
        annotations.extend(resource.crd.annotations.iter());
        labels.extend(resource.crd.labels.iter());
    }
    let version = env!("CARGO_PKG_VERSION").to_string();
    let mark = YAML_MARK.to_string();
    annotations.insert(&mark, &version);
    let mut out = json!({
        "annotations": annotations,
        "name": format!("{}.{}", first.plural, definition.group),
    });
    if !labels.is_empty() {
        out["labels"] = json!(labels);
    }
    out
}

/// What one of the versions says; they agree.
fn conversion<'a>(definition: &Definition<'a>) -> Option<&'a Conversion> {
    definition.versions.iter().find_map(|(_, resource)| resource.crd.conversion.as_ref())
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

fn names(resource: &Resource) -> Value {
    let mut out = json!({
        "kind": resource.kind,
        "listKind": resource.list_kind,
        "plural": resource.plural,
        "singular": resource.singular,
    });
    if resource.crd.style == CrdStyle::Kube
        && let Value::Object(members) = &mut out
    {
        members.remove("listKind");
    }
    if !resource.categories.is_empty() {
        out["categories"] = json!(resource.categories);
    }
    if !resource.short_names.is_empty() {
        out["shortNames"] = json!(resource.short_names);
    }
    out
}

fn version(name: &str, resource: &Resource, storage: bool, schemas: &Schemas) -> Value {
    let crd = &resource.crd;
    let mut out = json!({
        "name": name,
        "schema": {},
        "served": crd.served,
        "storage": storage,
    });
    out["schema"]["openAPIV3Schema"] =
        schemas.of(resource).map_or(Value::Null, crate::schema::Schema::to_value);
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

/// controller-gen writes an empty object for a version that has columns but no subresource.
pub(super) fn subresources(crd: &CrdVersion) -> Option<Value> {
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
