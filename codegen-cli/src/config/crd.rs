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
    /// Longest description in bytes; 0 drops all descriptions.
    pub max_desc_len: Option<usize>,
    /// Whether fields may be floating point numbers.
    #[serde(default)]
    pub allow_dangerous_types: bool,
    /// Whether the schema of embedded metadata has its name, namespace, labels, annotations and finalizers; otherwise it is
    /// an object without fields, which an API server prunes.
    #[serde(default)]
    pub generate_embedded_object_meta: bool,
    /// Whether schemas of kube-rs's types keep formats that API servers do not know, such as `uint32`. They do where the
    /// lock file has kube.
    #[serde(default)]
    pub keep_unknown_formats: bool,
    /// Version of Kubernetes whose types the schemas of kube-rs's types have: `1.31`; without it, that of the features of
    /// k8s-openapi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub kubernetes_version: Option<KubernetesVersion>,
    /// Whether fields of Go structs whose names begin with a small letter are left out.
    #[serde(default)]
    pub ignore_unexported_fields: bool,
    /// Writes `spec.preserveUnknownFields`, for API servers that converted the CRD from v1beta1. `false` is all that v1 allows.
    pub deprecated_v1beta1_compatibility_preserve_unknown_fields: Option<bool>,
    /// File whose comments begin every CRD; ` YEAR` in it is replaced.
    pub header_file: Option<PathBuf>,
    /// Replaces ` YEAR` in the header, instead of the file's `year`.
    pub year: Option<String>,
}
