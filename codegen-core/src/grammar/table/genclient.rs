//! Keys of `#[genclient]`.

use super::{KeySpec, Shape, VERBS, key};

pub(super) static GENCLIENT: &[KeySpec] = &[
    key(
        "non_namespaced",
        Shape::Flag,
        &["genclient:nonNamespaced"],
        "Objects have no namespace; must agree with the scope",
        "non_namespaced",
    ),
    key(
        "no_verbs",
        Shape::Flag,
        &["genclient:noVerbs"],
        "A client without methods, and no informer",
        "no_verbs",
    ),
    key(
        "only_verbs",
        Shape::SomeOf(VERBS),
        &["genclient:onlyVerbs"],
        "The client's methods",
        r#"only_verbs("get", "list", "watch")"#,
    ),
    key(
        "skip_verbs",
        Shape::SomeOf(VERBS),
        &["genclient:skipVerbs"],
        "Methods that the client does not have",
        r#"skip_verbs("deleteCollection")"#,
    ),
    key(
        "no_status",
        Shape::Flag,
        &["genclient:noStatus"],
        "No updateStatus and applyStatus although there is a status",
        "no_status",
    ),
    key("readonly", Shape::Flag, &["genclient:readonly"], "Only get, list and watch", "readonly")
        .also(&["read_only"]),
];
