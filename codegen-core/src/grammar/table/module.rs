//! Rows of the facts about a module, which only its doc comment can state: `//! +groupName=example.com`.

use super::{KeySpec, Shape, key};

/// Markers in the documentation of a module, for the types in it and in its child modules.
pub static MODULE: &[KeySpec] = &[
    key(
        "group",
        Shape::String,
        &["groupName"],
        "API group of the module's resources",
        r#"group = "hopegi.com""#,
    ),
    key(
        "version",
        Shape::String,
        &["versionName"],
        "API version of the module's resources; default: the name of the module that has the group, or of one in it",
        r#"version = "v1alpha1""#,
    ),
    key(
        "group_name_in_code",
        Shape::String,
        &["groupGoName"],
        "Name of the group in the clientset",
        r#"group_name_in_code = "Ecs""#,
    ),
    key("skip", Shape::Flag, &["kubebuilder:skip"], "The module's resources are left out", "skip"),
    key(
        "optional",
        Shape::Flag,
        &["kubebuilder:validation:Optional"],
        "Fields of the module's types are optional unless they are said to be required",
        "optional",
    ),
    key(
        "required",
        Shape::Flag,
        &["kubebuilder:validation:Required"],
        "Fields are required unless their type or serde says otherwise, as they are by default",
        "required",
    ),
];
