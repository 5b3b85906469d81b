//! +groupName=example.com
pub mod v1 {
    //! +versionName=v1
    use super::*;

    #[derive(kubesmith_runtime::Resource)]
    #[resource(storage_version, scope = "Cluster", scale(spec_path = ".spec.n", status_path = ".status.n"))]
    #[genclient(non_namespaced, skip_verbs("watch"))]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: Spec,
        pub status: Option<Spec>,
    }
}

pub mod v2 {
    #[derive(kubesmith_runtime::Resource)]
    #[resource(group = "example.com", version = "v2", deprecated_version)]
    pub struct Widget {
        pub metadata: crate::ObjectMeta,
        pub spec: super::Spec,
    }
}

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

pub type Number = i32;
pub const DEFAULT: Number = 3;

#[derive(serde::Serialize, serde::Deserialize, kubesmith_runtime::Schema)]
pub struct Spec {
    #[serde(default = "number")]
    pub n: Number,
    pub next: Option<Box<Inner>>,
}

#[derive(serde::Serialize, serde::Deserialize, kubesmith_runtime::Schema)]
#[serde(transparent)]
pub struct Inner(#[validation(min_items = 1)] Vec<[u8; 3]>);

fn number() -> Number {
    DEFAULT
}

#[kubesmith_runtime::rbac(groups = "apps", resources = "deployments", verbs("get", "list"))]
#[kubesmith_runtime::webhook(
    mutating = false, name = "v.example.com", path = "/v", groups = "example.com", versions = "v1", resources = "widgets",
    verbs("create", "update"), failure_policy = "Fail", side_effects = "None", admission_review_versions = "v1"
)]
async fn reconcile() {}
