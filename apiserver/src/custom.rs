//! The rules of a custom resource, from one version of its CRD.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Deref;
use std::sync::Arc;

use http::Method;
use kubesmith_apiextensions::structural::CustomResource;
use kubesmith_apimachinery::jsonpath::JsonPath;
use serde_json::{Value, json};

use crate::apply::{ReplicasPaths, Typed};
use crate::conversion::ConversionWebhook;
use crate::crd;
use crate::http::path::ResourcePath;
use crate::registry::{Behaviour, Column, ResourceDef, ScalePaths, compare_versions};
use crate::server::Server;
use crate::status::{ApiResult, Cause};

/// One served version of a CRD.
#[derive(Debug)]
pub(crate) struct Custom {
    /// The CRD's name.
    pub(crate) crd: String,
    own: Arc<Schema>,
    /// All versions, and the conversion between them.
    pub(crate) family: Arc<Family>,
}

impl Deref for Custom {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        &self.own
    }
}

/// All versions of a CRD, served or not.
#[derive(Debug)]
pub(crate) struct Family {
    /// The webhook that converts between versions; without one only their names differ.
    pub(crate) conversion: Option<ConversionWebhook>,
    /// The schemas by `apiVersion`.
    versions: BTreeMap<String, Arc<Schema>>,
}

impl Family {
    fn new(crd: &Value) -> Self {
        let group = crd["spec"]["group"].as_str().unwrap_or_default();
        let versions = crd["spec"]["versions"].as_array().into_iter().flatten().map(|version| {
            let name = version["name"].as_str().unwrap_or_default();
            (format!("{group}/{name}"), Arc::new(Schema::new(crd, version)))
        });
        Self { conversion: ConversionWebhook::of(&crd["spec"]["conversion"]), versions: versions.collect() }
    }

    /// Returns the path of the replicas in each version.
    pub(crate) fn replicas_paths(&self) -> ReplicasPaths {
        let none = ReplicasPaths::default();
        self.versions.iter().fold(none, |paths, (name, schema)| paths.with(name, schema.replicas.as_deref()))
    }

    /// The schema of an `apiVersion`.
    pub(crate) fn version(&self, api_version: &str) -> Option<&Arc<Schema>> {
        self.versions.get(api_version)
    }

    /// Converts objects to an `apiVersion`.
    ///
    /// # Errors
    /// When the conversion webhook fails.
    pub(crate) async fn convert(
        &self,
        server: &Server,
        to: &str,
        mut objects: Vec<Value>,
    ) -> ApiResult<Vec<Value>> {
        match &self.conversion {
            Some(webhook) => webhook.convert(server, to, objects).await,
            None => {
                for object in &mut objects {
                    object["apiVersion"] = Value::from(to);
                }
                Ok(objects)
            }
        }
    }

    /// As [`Family::convert`], for one object.
    pub(crate) async fn convert_one(&self, server: &Server, to: &str, mut object: Value) -> ApiResult<Value> {
        if let Some(webhook) = &self.conversion {
            let mut converted = webhook.convert(server, to, vec![object]).await?;
            // The webhook returns as many objects as were sent.
            return Ok(converted.pop().unwrap_or_default());
        }
        object["apiVersion"] = Value::from(to);
        Ok(object)
    }
}

/// The rules of one version.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Identifies this schema among all others, those of earlier versions of its CRD included.
    pub(crate) id: u64,
    /// `openAPIV3Schema` as written.
    pub(crate) schema: Value,
    /// The enforced rules.
    rules: CustomResource,
    /// The merge rules for field ownership.
    pub(crate) typed: Typed,
    /// The path of the replicas, if the version has a scale.
    replicas: Option<String>,
}

impl Schema {
    fn new(crd: &Value, version: &Value) -> Self {
        let schema = version["schema"]["openAPIV3Schema"].clone();
        // A stored CRD has been validated; if its schema fails to parse nevertheless, everything is kept.
        let parsed = kubesmith_apiextensions::schema::Schema::enforced(&schema);
        let preserves_unknown = crd["spec"]["preserveUnknownFields"] == true || parsed.is_err();
        let structural = parsed.unwrap_or_default();
        Self {
            id: id(crd, version),
            typed: Typed::custom(&structural).keeping_unknown_fields(preserves_unknown),
            replicas: ScalePaths::parse(&version["subresources"]["scale"]).map(|paths| paths.spec),
            schema,
            rules: CustomResource::new(structural)
                .with_subresources(&version["subresources"])
                .preserving_unknown_fields(preserves_unknown),
        }
    }

    /// The structural schema.
    pub(crate) fn structural(&self) -> &kubesmith_apiextensions::schema::Schema {
        self.rules.schema()
    }

    /// Removes fields that the schema does not have; returns their paths.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        self.rules.prune(object)
    }

    /// As [`prune`](Self::prune), but keeps nulls.
    pub(crate) fn prune_unknown(&self, object: &mut Value) {
        self.rules.prune_unknown(object);
    }

    /// Fills in the schema's defaults.
    pub(crate) fn default(&self, object: &mut Value) {
        self.rules.default(object);
    }

    /// As [`default`](Self::default), but keeps nulls that have no default.
    pub(crate) fn fill_defaults(&self, object: &mut Value) {
        self.rules.fill_defaults(object);
    }

    /// Checks the types of metadata and drops unknown fields; returns their paths.
    pub(crate) fn coerce(&self, object: &mut Value) -> Result<Vec<String>, String> {
        // The object's own metadata is decoded, that of embedded resources validated.
        self.rules.coerce(object).map_err(|cause| match cause.field.as_str() {
            "metadata" => cause.detail,
            _ => cause.to_string(),
        })
    }

    /// Drops metadata of the wrong type, which a merged configuration or a mutation may set.
    pub(crate) fn drop_invalid_metadata(&self, object: &mut Value) {
        self.rules.drop_invalid_metadata(object);
    }

    /// Checks a complete object: its metadata, its values, and the schema's rules. Returns the faults, and warnings of
    /// rules that unchanged parts break.
    pub(crate) fn check(
        &self,
        object: &Value,
        old: Option<&Value>,
        status_only: bool,
    ) -> (Vec<Cause>, Vec<String>) {
        let found = self.rules.check(object, old, status_only);
        let warnings = found.warnings.iter().map(ToString::to_string).collect();
        (found.causes.into_iter().map(Cause::from).collect(), warnings)
    }
}

/// Returns an ID that is the same for a version of a CRD, practically unique, and never 0.
fn id(crd: &Value, version: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for field in ["uid", "resourceVersion"] {
        crate::meta::text(crd, field).hash(&mut hasher);
    }
    // Servers that began with the same snapshot give the same versions to different definitions.
    version.to_string().hash(&mut hasher);
    hasher.finish().max(1)
}

/// The resources that an established CRD serves.
pub(crate) fn defs(crd: &Value) -> Vec<ResourceDef> {
    let versions = crd["spec"]["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let family = Arc::new(Family::new(crd));
    let served = versions.iter().filter(|v| v["served"] == true);
    served.filter_map(|version| def(crd, version, &family)).collect()
}

fn def(crd: &Value, version: &Value, family: &Arc<Family>) -> Option<ResourceDef> {
    let spec = &crd["spec"];
    let names = &crd["status"]["acceptedNames"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| crate::meta::strings(value).into_iter().map(str::to_owned).collect();
    let group = text(&spec["group"]);
    let own = family.version(&format!("{group}/{}", text(&version["name"])))?.clone();
    let custom = Custom { crd: crate::meta::name(crd).to_owned(), own, family: family.clone() };
    let deprecated = (version["deprecated"] == true).then(|| match version["deprecationWarning"].as_str() {
        Some(warning) => warning.to_owned(),
        None => deprecation(&group, &text(&version["name"]), &text(&names["kind"]), spec),
    });
    Some(ResourceDef {
        stored_as: format!("{group}/{}", crd::storage_version(crd).unwrap_or_default()),
        collection: crd::collection(crd),
        version: text(&version["name"]),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        plural: text(&names["plural"]),
        singular: text(&names["singular"]),
        short_names: list(&names["shortNames"]),
        categories: list(&names["categories"]),
        namespaced: spec["scope"] == "Namespaced",
        status: version["subresources"]["status"].is_object(),
        scale: ScalePaths::parse(&version["subresources"]["scale"]),
        columns: columns(&version["additionalPrinterColumns"]),
        selectable: selectable(&version["selectableFields"]),
        deprecated,
        behaviour: Behaviour::Custom(Arc::new(custom)),
        group,
    })
}

/// Reports whether a resource serves a path: namespaced custom resources are only listed and watched across namespaces
/// (`possiblyAcrossAllNamespacesVerbs` of apiextensions-apiserver's customresource_handler.go).
pub(crate) fn serves(def: &ResourceDef, path: &ResourcePath, method: &Method) -> bool {
    let is_list = path.watch || path.name.is_empty();
    let is_read = matches!(*method, Method::GET | Method::HEAD) && is_list;
    !def.is_custom() || !def.namespaced || !path.namespace.is_empty() || is_read
}

/// `defaultDeprecationWarning` of apiextensions-apiserver's customresource_handler.go: names the newest served version that
/// is newer and not deprecated.
fn deprecation(group: &str, version: &str, kind: &str, spec: &Value) -> String {
    let is_newer = |name: &&str| compare_versions(name, version).is_lt();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let newest = versions
        .filter(|it| it["served"] == true && it["deprecated"] != true)
        .filter_map(|it| it["name"].as_str())
        .filter(is_newer)
        .min_by(|a, b| compare_versions(a, b));
    let instead = newest.map(|newest| format!("; use {group}/{newest} {kind}")).unwrap_or_default();
    format!("{group}/{version} {kind} is deprecated{instead}")
}

/// The printer columns before the first with a malformed path: kube-apiserver drops those after it, too.
fn columns(columns: &Value) -> Vec<Column> {
    let declared = columns.as_array().filter(|columns| !columns.is_empty());
    let age = [json!({
        "name": "Age", "type": "date", "description": CREATION_TIMESTAMP, "jsonPath": ".metadata.creationTimestamp",
    })];
    // kube-apiserver's columns for a CRD that declares none.
    declared.map_or(age.as_slice(), Vec::as_slice).iter().map_while(column).collect()
}

fn column(column: &Value) -> Option<Column> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let path = text(&column["jsonPath"]);
    let mut description = text(&column["description"]);
    if description.is_empty() {
        description = format!("Custom resource definition column (in JSONPath format): {path}");
    }
    Some(Column {
        name: text(&column["name"]),
        kind: text(&column["type"]),
        format: text(&column["format"]),
        description,
        priority: column["priority"].as_i64().unwrap_or_default(),
        path: JsonPath::parse_column(&path).ok()?,
    })
}

/// The description of `metadata.creationTimestamp` in the API's own documentation.
pub(crate) const CREATION_TIMESTAMP: &str = "CreationTimestamp is a timestamp representing the server time when this object was \
created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this \
value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More \
info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

fn selectable(fields: &Value) -> Vec<String> {
    fields
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|field| field["jsonPath"].as_str())
        .map(|path| path.trim_start_matches('.').to_owned())
        .collect()
}
