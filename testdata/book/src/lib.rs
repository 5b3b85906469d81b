//! The code of README.md, of the book and of the macros' documentation, compiled as documentation tests.
//!
//! The examples use a client package for the bakery's orders. It is generated into this crate: `hack/update-codegen.sh`.

pub mod api;
mod generated;

pub use generated::*;

macro_rules! pages {
    ($($name:ident $path:literal),+ $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../../", $path))]
            mod $name {}
        )+
    };
}

pages! {
    readme "README.md",
    generating "docs/guides/generating.md",
    policies "docs/guides/policies.md",
    observability "docs/operations/observability.md",
    scale_out "docs/operations/scale-out.md",
    testing "docs/guides/testing.md",
    recipes "docs/guides/recipes.md",
    migration "docs/from-kube-rs/migration.md",
    example_of_resource "codegen-macros/src/examples/resource.md",
    example_of_schema "codegen-macros/src/examples/schema.md",
    example_of_rbac "codegen-macros/src/examples/rbac.md",
    example_of_webhook "codegen-macros/src/examples/webhook.md",
    example_of_webhook_configuration "codegen-macros/src/examples/webhook_configuration.md",
}
