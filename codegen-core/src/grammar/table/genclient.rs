//! Keys of `#[genclient]`.

use super::{KeySpec, METHOD_VERBS, Shape, VERBS, key};

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
        "A client without verbs, and no informer",
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
    key(
        "method",
        Shape::Nested(METHOD),
        &["genclient:method"],
        "A method of the client with a name of its own, often for a subresource",
        r#"method(name = "GetScale", verb = "get", subresource = "scale", result = "k8s_openapi::api::autoscaling::v1::Scale")"#,
    )
    .repeatable()
    .also(&["methods"]),
    key(
        "no_scale",
        Shape::Flag,
        &[],
        "No get_scale, update_scale and apply_scale although there is the /scale subresource",
        "no_scale",
    ),
    key(
        "resource_name",
        Shape::String,
        &["resourceName"],
        "Resource name in the client's URLs; must be the plural",
        r#"resource_name = "ecsbindings""#,
    ),
];

static METHOD: &[KeySpec] = &[
    key("name", Shape::String, &["method"], "Name, in snake case that of the method", r#"name = "GetScale""#)
        .required(),
    key("verb", Shape::OneOf(METHOD_VERBS), &["verb"], "The verb", r#"verb = "get""#).required(),
    key(
        "subresource",
        Shape::String,
        &["subresource"],
        "Subresource that it is for; default: the resource itself",
        r#"subresource = "scale""#,
    )
    .also(&["sub_resource"]),
    key(
        "input",
        Shape::String,
        &["input"],
        "Path of the type that it takes, of create, update and apply; default: the kind's own",
        r#"input = "k8s_openapi::api::autoscaling::v1::Scale""#,
    ),
    key(
        "result",
        Shape::String,
        &["result"],
        "Path of the type that it returns; default: the kind's own",
        r#"result = "k8s_openapi::api::autoscaling::v1::Scale""#,
    )
    .also(&["output"]),
];
