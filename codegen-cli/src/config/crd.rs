//! The settings of CRDs in the file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::known::KubernetesVersion;

/// Table `[crd]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrdConfig {
    /// Folder of the YAML files.
    pub output: Option<PathBuf>,
    /// Maximum length of descriptions in bytes. 0 removes all descriptions.
    pub max_desc_len: Option<usize>,
    /// Whether floating point fields are allowed.
    #[serde(default)]
    pub allow_dangerous_types: bool,
    /// Whether the schema of embedded metadata has the fields name, namespace, labels, annotations and finalizers.
    /// Otherwise the schema is an object without fields, and an API server prunes the metadata.
    #[serde(default)]
    pub generate_embedded_object_meta: bool,
    /// Whether schemas of kube-rs's types keep formats that API servers do not know, such as `uint32`. Implied if the lock
    /// file has kube.
    #[serde(default)]
    pub keep_unknown_formats: bool,
    /// Kubernetes version of the built-in types in schemas of kube-rs's types, such as `1.31`. Default: the version that
    /// the features of k8s-openapi select.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub kubernetes_version: Option<KubernetesVersion>,
    /// Whether unexported fields of Go structs are omitted.
    #[serde(default)]
    pub ignore_unexported_fields: bool,
    /// The value of `spec.preserveUnknownFields`, for CRDs that an API server converted from v1beta1. v1 only allows `false`.
    pub deprecated_v1beta1_compatibility_preserve_unknown_fields: Option<bool>,
    /// File with the header comments of every CRD. `year` replaces ` YEAR` in it.
    pub header_file: Option<PathBuf>,
    /// The value for ` YEAR` in the header. Default: the file's `year`.
    pub year: Option<String>,
}
