//! Checks the stored objects with the schemas of a definition before it is installed.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apiextensions::diff::{Definition, Version};
use kubesmith_apiextensions::schema::Schema;
use kubesmith_apiextensions::structural::CustomResource;
use serde_json::Value;

use super::CrdError;
use super::cluster::{Cluster, Collection, key};
use crate::cache::ObjectKey;

/// The limit of objects and fields that a report names.
const TOLD: usize = 1000;

/// The stored objects under the schemas of a new definition. The [module](super) has an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Objects {
    /// The number of objects that were read.
    pub checked: u64,
    /// Objects that a new schema finds errors in, which the old one does not; the first 1,000.
    pub broken: Vec<Broken>,
    /// The number of them.
    pub broken_total: u64,
    /// Fields in use that a new schema drops and the old one keeps; the first 1,000.
    pub dropped: Vec<DroppedField>,
    /// How often objects use other fields that are dropped.
    pub dropped_more: u64,
    /// Versions that no object could be checked in, because only the new conversion webhook knows them.
    pub unchecked: Vec<String>,
}

/// An object that a new schema finds errors in. The [module](super) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The object.
    pub object: ObjectKey,
    /// The version whose schema finds the errors.
    pub version: String,
    /// The errors, in the server's words.
    pub errors: Vec<String>,
}

/// A field in use that a new schema drops. The [module](super) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedField {
    /// The version whose schema drops it.
    pub version: String,
    /// The field, with `[*]` for the items of lists and the keys of maps.
    pub path: String,
    /// The number of objects that use it.
    pub objects: u64,
    /// The first of them.
    pub example: ObjectKey,
}

/// A version of the new definition, with the old schema that its objects were read by.
struct Check {
    version: String,
    api_version: String,
    old: CustomResource,
    new: CustomResource,
}

/// A version to list objects in, and the versions to check them in.
struct View {
    objects: Collection,
    checks: Vec<Check>,
}

/// Reads all objects and checks them with the schemas of `new`.
pub(super) async fn check(
    cluster: &Cluster<'_>,
    manifest: &Value,
    old: &Definition,
    new: &Definition,
) -> Result<Objects, CrdError> {
    let (views, unchecked) = views(manifest, old, new);
    let mut report =
        Report { objects: Objects { unchecked, ..Objects::default() }, dropped: BTreeMap::new() };
    for (at, view) in views.iter().enumerate() {
        let mut next = String::new();
        loop {
            let page = cluster.objects(&view.objects, &next).await?;
            for object in &page.items {
                report.objects.checked += u64::from(at == 0);
                view.checks.iter().for_each(|check| report.add(check, object));
            }
            if page.next.is_empty() {
                break;
            }
            next = page.next;
        }
    }
    Ok(report.done())
}

/// Returns the versions in which objects are read: one if the server converts by changing `apiVersion`, all if a
/// webhook converts.
fn views(manifest: &Value, old: &Definition, new: &Definition) -> (Vec<View>, Vec<String>) {
    let group = manifest["spec"]["group"].as_str().unwrap_or_default();
    let is_read = |version: &&Version| version.served && (version.storage || old.has_webhook());
    // A storage version that is not served is read in another version.
    let fallback = old.versions.iter().find(|version| version.served);
    let mut views: Vec<View> = Vec::new();
    let mut unchecked = Vec::new();
    for version in new
        .versions
        .iter()
        .filter(|version| version.served || version.storage || old.stored.contains(&version.name))
    {
        let same = old.version(&version.name);
        let read = match (old.has_webhook(), new.has_webhook()) {
            (false, false) => old.storage().filter(is_read).or(fallback),
            _ => same.filter(|version| version.served),
        };
        let Some(read) = read else {
            unchecked.push(version.name.clone());
            continue;
        };
        // A migration rewrites the objects in a new storage version: what their own version keeps counts, not what the new one kept.
        let moves = version.storage && !old.has_webhook() && !new.has_webhook();
        let stored = if moves { old.storage() } else { None };
        let before = stored.or(same).unwrap_or(read);
        let check = Check {
            version: version.name.clone(),
            api_version: format!("{group}/{}", version.name),
            old: resource(before),
            new: resource(version),
        };
        match views.iter_mut().find(|view| view.objects.version == read.name) {
            Some(view) => view.checks.push(check),
            None => {
                let objects = Collection::of(manifest, &read.name);
                views.push(View { objects, checks: vec![check] });
            }
        }
    }
    (views, unchecked)
}

fn resource(version: &Version) -> CustomResource {
    CustomResource::new(version.schema.clone()).with_subresources(&version.value["subresources"])
}

/// The result of a schema's check of an object: dropped fields and errors.
fn seen(resource: &CustomResource, object: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut object = object.clone();
    if let Err(cause) = resource.coerce(&mut object) {
        return (BTreeSet::new(), BTreeSet::from([cause.to_string()]));
    }
    let whole = object.clone();
    resource.prune_unknown(&mut object);
    let mut dropped = BTreeSet::new();
    compare(Some(resource.schema()), &whole, &object, "", &mut dropped);
    resource.prune(&mut object);
    resource.default(&mut object);
    (dropped, resource.check(&object, None, false).causes.iter().map(ToString::to_string).collect())
}

/// Collects the fields that are only in `before`, with `[*]` for the items of lists and the keys of maps, as `diff` names them.
fn compare(schema: Option<&Schema>, before: &Value, after: &Value, path: &str, out: &mut BTreeSet<String>) {
    match before {
        Value::Object(fields) => {
            for (name, before) in fields {
                let is_key = schema.is_some_and(|schema| {
                    schema.additional_properties.is_some() && !schema.properties.contains_key(name)
                });
                let below = match path {
                    "" => name.clone(),
                    _ if is_key => format!("{path}[*]"),
                    _ => format!("{path}.{name}"),
                };
                let schema = schema.and_then(|schema| schema.field(name));
                let Some(after) = after.get(name) else {
                    out.insert(below);
                    continue;
                };
                compare(schema, before, after, &below, out);
            }
        }
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            let pairs = items.iter().zip(after.as_array().into_iter().flatten());
            pairs.for_each(|(before, after)| compare(schema, before, after, &format!("{path}[*]"), out));
        }
        _ => {}
    }
}

struct Report {
    objects: Objects,
    /// The dropped fields by version and path.
    dropped: BTreeMap<(String, String), DroppedField>,
}

impl Report {
    fn add(&mut self, check: &Check, object: &Value) {
        let mut object = object.clone();
        object["apiVersion"] = check.api_version.clone().into();
        let (dropped, errors) = seen(&check.new, &object);
        if dropped.is_empty() && errors.is_empty() {
            return;
        }
        let (dropped_before, errors_before) = seen(&check.old, &object);
        let errors: Vec<String> = errors.difference(&errors_before).cloned().collect();
        if !errors.is_empty() {
            self.objects.broken_total += 1;
            if self.objects.broken.len() < TOLD {
                let (object, version) = (key(&object), check.version.clone());
                self.objects.broken.push(Broken { object, version, errors });
            }
        }
        for path in dropped.difference(&dropped_before) {
            let place = (check.version.clone(), path.clone());
            if self.dropped.len() >= TOLD && !self.dropped.contains_key(&place) {
                self.objects.dropped_more += 1;
                continue;
            }
            let (version, path) = place.clone();
            let first = || DroppedField { version, path, objects: 0, example: key(&object) };
            self.dropped.entry(place).or_insert_with(first).objects += 1;
        }
    }

    fn done(mut self) -> Objects {
        self.objects.dropped = self.dropped.into_values().collect();
        self.objects
    }
}
