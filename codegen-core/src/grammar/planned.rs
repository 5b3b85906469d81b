//! Markers of controller-gen and code-generator that the grammar does not have, with the keys that
//! they will become. They are documented, not accepted: an accepted key has an effect.

/// A Go marker and the key that will stand for it.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// The marker.
    pub marker: &'static str,
    /// The attribute and key.
    pub key: &'static str,
    /// What it does.
    pub doc: &'static str,
}

const fn p(marker: &'static str, key: &'static str, doc: &'static str) -> Planned {
    Planned { marker, key, doc }
}

/// Planned keys, by generator.
#[rustfmt::skip]
pub static PLANNED: &[Planned] = &[
    p("+genclient:method", "#[genclient(method(name, verb, subresource, input, result))]", "A custom method of the client"),
    p("+resourceName", "#[genclient(resource_name = \"...\")]", "Another resource name in the client's URLs"),
    p("+kubebuilder:validation:ExactlyOneOf", "#[validation(exactly_one_of(\"a\", \"b\"))]", "One of the fields is set, as a CEL rule"),
    p("+kubebuilder:validation:AtMostOneOf", "#[validation(at_most_one_of(\"a\", \"b\"))]", "At most one of the fields is set, as a CEL rule"),
    p("+kubebuilder:validation:AtLeastOneOf", "#[validation(at_least_one_of(\"a\", \"b\"))]", "At least one of the fields is set, as a CEL rule"),
    p("+kubebuilder:ac:generate", "#[applyconfiguration]", "Generate an apply configuration"),
    p("+k8s:defaulter-gen, +default", "#[defaults(...)]", "Defaulting functions"),
    p("+k8s:conversion-gen", "#[conversion(hub)], #[conversion(peer = \"...\")]", "Conversions between versions"),
    p("+k8s:openapi-gen, +k8s:openapi-gen=x-kubernetes-*", "#[openapi(...)]", "OpenAPI definitions"),
    p("+patchStrategy, +patchMergeKey", "#[schema(patch_strategy, patch_merge_key)]", "Strategic merge of lists"),
    p("+union, +unionDiscriminator", "#[schema(union, union_discriminator)]", "Unions in OpenAPI definitions"),
    p("+k8s:prerelease-lifecycle-gen", "#[lifecycle(introduced, deprecated, removed, replacement)]", "Lifecycle of an API version"),
    p("+k8s:validation-gen", "#[validate(...)]", "Validation functions in Rust, with ratcheting"),
    p("+k8s:protobuf-gen, +protobuf", "#[protobuf(...)]", "Protocol buffer encodings"),
];
