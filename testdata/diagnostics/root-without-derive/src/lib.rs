//! A root type without its derive.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
}
