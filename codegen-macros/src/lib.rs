//! Derive and attribute macros for Kubernetes API types and their controllers. Use them through `kubesmith_runtime`.
//!
//! The macros read attributes with kubesmith-core, as the command does, so that both accept the same
//! input and report the same mistakes. They emit the trait impls that need the type itself; clients,
//! informers and manifests are the command's: the attribute macros for roles and webhooks check their arguments and leave the
//! item as it is.

#![cfg_attr(test, allow(clippy::unwrap_used))]

// Examples are files, since they need the runtime, which needs this crate. The package of the book compiles them.

mod constants;
mod manifest;
mod module;
mod report;
mod resource;
mod resource_serde;
mod schema;

use kubesmith_core::grammar::Family;
use proc_macro::TokenStream;

/// Makes a struct the root type of a resource.
///
/// Implements `Serialize` and `Deserialize` (with `apiVersion` and `kind`), `kube::Resource`,
/// `ResourceInfo`; `#[deepcopy]` has the compiler check that the type is an `Object`. All keys are listed in docs/reference/attributes.md.
///
#[doc = include_str!("examples/resource.md")]
#[proc_macro_derive(Resource, attributes(resource, genclient, deepcopy, policy, validation, schema, serde))]
pub fn derive_resource(input: TokenStream) -> TokenStream {
    resource::derive(input.into()).into()
}

/// Lets a nested type carry `#[validation]` and `#[schema]`, and checks them.
///
#[doc = include_str!("examples/schema.md")]
#[proc_macro_derive(Schema, attributes(validation, schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    schema::derive(input.into()).into()
}

/// States a rule of the role that a controller needs: on the reconciler, or on any other item.
///
/// `kubesmith generate` writes the ClusterRoles and Roles of all rules in the crates that it reads. All keys are listed in
/// docs/reference/attributes.md.
///
#[doc = include_str!("examples/rbac.md")]
#[proc_macro_attribute]
pub fn rbac(arguments: TokenStream, item: TokenStream) -> TokenStream {
    manifest::attribute(Family::Rbac, &arguments.into(), &item.into()).into()
}

/// States an admission webhook: on its handler, on the type that it is about, or on any other item.
///
/// `kubesmith generate` writes the webhook configurations of the crates that it reads. All keys are listed in
/// docs/reference/attributes.md.
///
#[doc = include_str!("examples/webhook.md")]
#[proc_macro_attribute]
pub fn webhook(arguments: TokenStream, item: TokenStream) -> TokenStream {
    manifest::attribute(Family::Webhook, &arguments.into(), &item.into()).into()
}

/// Names the object that holds the mutating or the validating webhooks.
///
#[doc = include_str!("examples/webhook_configuration.md")]
#[proc_macro_attribute]
pub fn webhook_configuration(arguments: TokenStream, item: TokenStream) -> TokenStream {
    manifest::attribute(Family::WebhookConfiguration, &arguments.into(), &item.into()).into()
}

/// Defines an admission policy for a kind of kube-rs's `CustomResource`. Types that derive `Resource` have the attribute
/// without this macro.
///
/// `kubesmith generate` writes the policies of the crates that it reads. All keys are listed in
/// docs/reference/attributes.md, and docs/guides/policies.md has an example.
#[proc_macro_attribute]
pub fn policy(arguments: TokenStream, item: TokenStream) -> TokenStream {
    manifest::policy(&arguments.into(), &item.into()).into()
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use proc_macro2::TokenStream;

    /// Inputs that a derive may get from broken or unusual source.
    const ODD: &[&str] = &[
        "",
        "struct",
        "fn main() {}",
        "struct Foo;",
        "struct Foo {}",
        "struct Foo<'a, T: Clone, const N: usize>(&'a T, [u8; N]) where T: Copy;",
        "union Foo { a: u8 }",
        "enum Foo {}",
        "#[resource] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource()] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource = 1] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\")] struct r#type { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\", kind = \"K\")] struct r#type { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\")] #[serde] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\")] #[serde = 1] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\")] #[serde(default = \"1 + 1\")] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\")] #[serde(,,default,)] struct Foo { metadata: ObjectMeta, spec: S }",
        "#[resource(group = \"a.b\", version = \"v1\")] struct Foo { metadata: ObjectMeta, spec: dyn Fn(i32) -> ! }",
        "#[validation(minimum = {)] struct Foo { a: i32 }",
        "struct Foo { #[validation(enum())] #[schema(default)] a: (i32, fn()) , }",
        "enum Foo { A = 1, #[validation] B(i32), C { #[schema(example = [])] a: i32 } }",
    ];

    #[test]
    fn malformed_input_expands_to_valid_rust() {
        for input in ODD {
            let Ok(tokens) = TokenStream::from_str(input) else { continue };
            let resource = super::resource::derive(tokens.clone());
            let schema = super::schema::derive(tokens);
            for output in [resource, schema] {
                assert!(syn::parse2::<syn::File>(output.clone()).is_ok(), "{input}: {output}");
            }
        }
    }

    #[test]
    fn attribute_macros_keep_the_item_and_report_every_error() {
        use kubesmith_core::grammar::Family;
        for (family, arguments, errors) in [
            (Family::Rbac, "groups = \"apps\", resources = \"pods\", verbs = \"get\"", 0),
            (Family::Rbac, "", 1),
            (Family::Rbac, "resources = \"pods\", verbs = \"get\", namespace = \"A\"", 2),
            (Family::Webhook, "mutating, =", 2),
            (Family::WebhookConfiguration, "mutating = true, colour", 1),
        ] {
            let arguments = TokenStream::from_str(arguments).unwrap();
            let item = TokenStream::from_str("impl A { fn f() {} }").unwrap();
            let output = super::manifest::attribute(family, &arguments, &item).to_string();
            assert!(output.ends_with(&item.to_string()), "{output}");
            let found = output.matches("compile_error").count();
            assert!(if errors > 1 { found >= errors } else { found == errors }, "{output}");
        }
    }

    #[test]
    fn impls_are_generated_when_attributes_have_errors() {
        let input = "#[resource(group = \"a.b\", version = \"v1\", colour)] struct Foo { metadata: ObjectMeta, spec: S }";
        let output = super::resource::derive(TokenStream::from_str(input).unwrap()).to_string();
        assert_eq!(output.matches("compile_error").count(), 1, "{output}");
        assert!(output.contains("ResourceInfo for Foo"), "{output}");
    }

    #[test]
    fn every_error_of_an_invalid_root_is_reported_without_impls() {
        let input = "#[resource(grup = \"a.b\", version = \"v1\", colour)] struct Foo { spec: S }";
        let output = super::resource::derive(TokenStream::from_str(input).unwrap()).to_string();
        assert_eq!(output.matches("compile_error").count(), 3, "{output}");
        for part in [
            "KS0002: unknown key `grup` in #[resource]\\n  help: did you mean `group`?",
            "`colour`",
            "KS0103",
        ] {
            assert!(output.contains(part), "{part} is missing in {output}");
        }
        assert!(!output.contains("impl"), "{output}");
    }
}
