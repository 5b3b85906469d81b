//! Derive macros for Kubernetes API types. Use them through `kubesmith_runtime`.
//!
//! The macros read attributes with kubesmith-core, as the command does, so that both accept the same
//! input and report the same mistakes. They emit the trait impls that need the type itself; clients,
//! informers and manifests are the command's.

mod report;
mod resource;
mod resource_serde;
mod schema;

use proc_macro::TokenStream;

/// Makes a struct the root type of a resource.
///
/// Implements `Serialize` and `Deserialize` (with `apiVersion` and `kind`), `kube::Resource`,
/// `ResourceInfo` and, with `#[deepcopy]`, `Object`. All keys are listed in docs/attributes.md.
///
/// ```ignore
/// #[derive(Clone, Debug, Resource)]
/// #[resource(group = "hopegi.com", version = "v1", scope = "Cluster")]
/// #[genclient(non_namespaced)]
/// #[deepcopy]
/// pub struct EcsBinding {
///     pub metadata: ObjectMeta,
///     pub spec: EcsBindingSpec,
/// }
/// ```
#[proc_macro_derive(Resource, attributes(resource, genclient, deepcopy, validation, schema, serde))]
pub fn derive_resource(input: TokenStream) -> TokenStream {
    resource::derive(input.into()).into()
}

/// Lets a nested type carry `#[validation]` and `#[schema]`, and checks them.
///
/// ```ignore
/// #[derive(Serialize, Deserialize, Schema)]
/// pub struct BackendSpec {
///     #[validation(minimum = 1)]
///     pub weight: i32,
/// }
/// ```
#[proc_macro_derive(Schema, attributes(validation, schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    schema::derive(input.into()).into()
}
