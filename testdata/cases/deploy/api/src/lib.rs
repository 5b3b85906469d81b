//! What a manager is deployed for: two kinds, their rules and their webhooks.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema, rbac, webhook};
use serde::{Deserialize, Serialize};

/// A book that can be lent.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "library.example.com", version = "v1", kind = "Book", status)]
#[policy(
    name = "titles.library.example.com",
    param_kind(api_version = "v1", kind = "ConfigMap"),
    variable(name = "longest", expression = "int(params.data.longest)"),
    match_condition(name = "not-by-the-manager", expression = "!request.userInfo.username.endsWith(':library-manager')"),
    validation(
        expression = "object.spec.title.size() <= variables.longest",
        message_expression = "'titles have at most ' + string(variables.longest) + ' letters'",
        reason = "Forbidden"
    ),
    audit_annotation(key = "title", value_expression = "string(object.spec.title)"),
    binding(param_name = "limits", param_namespace = "library-system"),
    binding(
        name = "guests.library.example.com",
        validation_actions("Warn", "Audit"),
        param_name = "guest-limits",
        parameter_not_found_action = "Allow",
        match_resources = {"namespaceSelector": {"matchLabels": {"guests": "yes"}}}
    )
)]
#[policy(
    name = "labels.library.example.com",
    verbs = "create",
    mutation(
        apply_configuration = "Object{metadata: Object.metadata{labels: {'title': object.spec.title}}}"
    ),
    reinvocation_policy = "IfNeeded"
)]
pub struct Book {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What the book is.
    pub spec: BookSpec,
    /// Where it is.
    pub status: Option<BookStatus>,
}

/// What a book is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct BookSpec {
    /// Its title.
    #[validation(min_length = 1)]
    pub title: String,
    /// Its first words; no sample can be made of them.
    #[validation(rule(rule = "self.startsWith('Once') && self.size() > 20", message = "begins with Once"))]
    pub beginning: String,
}

/// Where a book is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct BookStatus {
    /// Who has it.
    pub reader: String,
}

/// A shelf of the whole house.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "library.example.com", version = "v1", kind = "Shelf", scope = "Cluster")]
#[policy(
    name = "shelves.library.example.com",
    verbs = "delete",
    failure_policy = "Ignore",
    validation(expression = "oldObject.spec.places == 1", message = "only small shelves are removed"),
    patch = {"matchConstraints": {"objectSelector": {"matchLabels": {"kept": "yes"}}}}
)]
pub struct Shelf {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What fits on it.
    pub spec: ShelfSpec,
}

/// What fits on a shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct ShelfSpec {
    /// How many books.
    #[validation(minimum = 1)]
    pub places: i32,
}

/// The same kind in other groups, of which one has the same first part.
pub mod archive {
    use super::{ObjectMeta, Resource, ShelfSpec};

    /// A book that is no longer lent. Its first version is another project's.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "archive.example.com", version = "v1alpha1", kind = "Book", skip_version)]
    pub struct OldBook {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// Where it stands.
        pub spec: ShelfSpec,
    }

    /// A book that is no longer lent.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "archive.example.com", version = "v1", kind = "Book", storage_version)]
    pub struct Book {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// Where it stands.
        pub spec: ShelfSpec,
    }

    /// A book of another house. Only its older version has a status.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "library.example.org", version = "v1beta1", kind = "Book", status)]
    pub struct GuestBook {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// Where it stands.
        pub spec: ShelfSpec,
        /// Where it is.
        pub status: Option<super::BookStatus>,
    }

    /// A book of another house.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "library.example.org", version = "v1", kind = "Book", storage_version)]
    pub struct Guest {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// Where it stands.
        pub spec: ShelfSpec,
    }
}

/// Lends books.
#[rbac(groups = "library.example.com", resources("books", "shelves"), verbs("get", "list", "watch"))]
#[rbac(groups = "library.example.com", resources = "books/status", verbs("update", "patch"))]
#[rbac(groups = "", resources = "configmaps", verbs = "get", namespace = "readers")]
pub fn lend() {}

/// Puts titles into order.
#[webhook(
    path = "/mutate-library-example-com-v1-book",
    mutating = true,
    failure_policy = "Fail",
    groups = "library.example.com",
    resources = "books",
    verbs("create", "update"),
    versions = "v1",
    name = "mbook.library.example.com",
    side_effects = "None",
    admission_review_versions = "v1"
)]
pub fn default_book() {}
