//! Describes a kind apart from its fields.

use super::pages::Places;
use super::sample::sample;
use super::{Column, Inline, Kind, Target, Text, Type, VersionRow, code, plain, text};
use crate::ir::{Conversion, CrdVersion, PrintColumn, Resource, Scope, WebhookEndpoint};
use crate::schema::Schemas;

/// The context of a version of a kind.
pub(super) struct Context<'a> {
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    /// Every version of the kind.
    pub(super) siblings: &'a [(&'a str, &'a Resource)],
    pub(super) places: &'a Places<'a>,
}

pub(super) fn kind(resource: &Resource, object: Type, context: &Context<'_>, schemas: &Schemas) -> Kind {
    Kind {
        facts: facts(resource, context),
        versions: context.siblings.iter().map(|(name, known)| row(name, known, context)).collect(),
        columns: resource.crd.print_columns.iter().map(column).collect(),
        sample: schemas
            .of(resource)
            .and_then(|schema| sample(context.group, context.version, resource, schema)),
        object,
    }
}

fn codes<'a>(values: impl Iterator<Item = &'a String>) -> Text {
    let mut out = Text::new();
    for value in values {
        if !out.is_empty() {
            out.push(plain(", "));
        }
        out.push(code(value));
    }
    out
}

fn facts(resource: &Resource, context: &Context<'_>) -> Vec<(&'static str, Text)> {
    let crd = &resource.crd;
    let scope = match resource.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    let mut names = vec![code(&resource.plural)];
    if resource.singular != resource.plural {
        names.extend([plain(", "), code(&resource.singular)]);
    }
    let conversion = context.siblings.iter().find_map(|(_, known)| known.crd.conversion.as_ref());
    let out = [
        ("Scope", vec![plain(scope)]),
        ("Names", names),
        ("Short names", codes(resource.short_names.iter())),
        ("Categories", codes(resource.categories.iter())),
        ("List", vec![code(&resource.list_kind)]),
        ("Subresources", subresources(crd)),
        ("Selectable fields", codes(crd.selectable_fields.iter())),
        ("Conversion", conversion.map(conversion_text).unwrap_or_default()),
    ];
    out.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

fn subresources(crd: &CrdVersion) -> Text {
    let mut out = Text::new();
    if crd.status_subresource {
        out.push(code("status"));
    }
    if let Some(scale) = &crd.scale {
        if !out.is_empty() {
            out.push(plain(", "));
        }
        out.extend([code("scale"), plain(" (replicas wanted: "), code(&scale.spec_replicas_path)]);
        out.extend([plain(", there: "), code(&scale.status_replicas_path)]);
        if let Some(path) = &scale.label_selector_path {
            out.extend([plain(", selector: "), code(path)]);
        }
        out.push(plain(")"));
    }
    out
}

fn conversion_text(conversion: &Conversion) -> Text {
    match conversion {
        Conversion::None => vec![plain("between versions only "), code("apiVersion"), plain(" changes")],
        Conversion::Webhook(webhook) => match &webhook.endpoint {
            WebhookEndpoint::Url(url) => vec![plain("by the webhook "), code(url)],
            WebhookEndpoint::Service { namespace, name, path, port } => {
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                let path = path.as_deref().unwrap_or_default();
                let address = format!("{name}.{namespace}{port}{path}");
                vec![plain("by a webhook, the service "), code(address)]
            }
        },
    }
}

fn row(name: &str, resource: &Resource, context: &Context<'_>) -> VersionRow {
    let place = context.places.get(&(context.group, resource.kind.as_str(), name));
    let label = match place.filter(|_| name != context.version) {
        Some((file, id)) => Inline::Link(name.to_string(), Target::Page(file.clone(), id.clone())),
        None => code(name),
    };
    let crd = &resource.crd;
    let deprecated = crd.deprecated.as_ref().map(|deprecation| match &deprecation.warning {
        Some(warning) => text::inlines(warning),
        None => vec![plain("deprecated")],
    });
    VersionRow {
        name: vec![label],
        served: crd.served,
        stored: crd.storage || context.siblings.len() == 1,
        deprecated,
    }
}

fn column(column: &PrintColumn) -> Column {
    let type_ = column.type_.clone().unwrap_or_default();
    Column {
        name: column.name.clone(),
        type_: match &column.format {
            Some(format) => format!("{type_} ({format})"),
            None => type_,
        },
        json_path: column.json_path.clone(),
        description: column.description.clone().unwrap_or_default(),
        wide: column.priority.is_some_and(|priority| priority > 0),
    }
}
