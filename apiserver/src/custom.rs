//! The rules of a custom resource, from one version of its CRD.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Deref;
use std::sync::Arc;

use kubesmith_apiextensions::structural::{CustomResource, ScalePaths};
use serde_json::Value;

use crate::apply::{ReplicasPaths, Typed};
use crate::meta;
use crate::status::Cause;
use crate::webhook::Endpoint;

/// One served version of a CRD.
#[derive(Debug)]
pub(crate) struct Custom {
    /// The CRD's name.
    pub(crate) crd: String,
    own: Arc<Schema>,
    /// All versions, and the conversion between them.
    pub(crate) family: Arc<Family>,
}

impl Custom {
    /// Returns the rules of an `apiVersion`; `None` if the CRD does not have it.
    pub(crate) fn new(crd: &Value, api_version: &str, family: &Arc<Family>) -> Option<Self> {
        let own = family.version(api_version)?.clone();
        Some(Self { crd: meta::name(crd).to_owned(), own, family: family.clone() })
    }
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
    pub(crate) fn new(crd: &Value) -> Self {
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
        meta::text(crd, field).hash(&mut hasher);
    }
    // Servers that began with the same snapshot give the same versions to different definitions.
    version.to_string().hash(&mut hasher);
    hasher.finish().max(1)
}

/// A webhook that converts the objects of one CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConversionWebhook {
    pub(crate) endpoint: Endpoint,
    /// The newest version of `ConversionReview` that it takes; `None` if the server knows none of its versions.
    pub(crate) review_version: Option<&'static str>,
}

impl ConversionWebhook {
    /// Reads `spec.conversion`; `None` if it names no webhook.
    fn of(conversion: &Value) -> Option<Self> {
        if conversion["strategy"] != "Webhook" {
            return None;
        }
        let versions = meta::strings(&conversion["webhook"]["conversionReviewVersions"]);
        let review_version = versions.into_iter().find_map(|version| match version {
            "v1" => Some("v1"),
            "v1beta1" => Some("v1beta1"),
            _ => None,
        });
        Some(Self { endpoint: Endpoint::of(&conversion["webhook"]["clientConfig"]), review_version })
    }
}
