//! Maps Go types that are known without their source to the Rust types with the same form.

use crate::known;

/// Types that controller-gen knows regardless of their source: `KnownPackages` of controller-tools,
/// pkg/crd/known_types.go.
const OVERRIDDEN: &[(&str, &str, &str)] = &[
    ("k8s.io/apimachinery/pkg/apis/meta/v1", "ObjectMeta", ""),
    ("k8s.io/apimachinery/pkg/apis/meta/v1", "Time", ""),
    ("k8s.io/apimachinery/pkg/apis/meta/v1", "MicroTime", ""),
    ("k8s.io/apimachinery/pkg/apis/meta/v1", "Duration", "kube::core::Duration"),
    ("k8s.io/apimachinery/pkg/api/resource", "Quantity", ""),
    ("k8s.io/apimachinery/pkg/runtime", "RawExtension", ""),
    ("k8s.io/apimachinery/pkg/util/intstr", "IntOrString", ""),
    ("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "JSON", ""),
    (
        "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1",
        "JSON",
        "k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON",
    ),
];

/// The package of the types in every object.
pub(super) const META: &str = "k8s.io/apimachinery/pkg/apis/meta/v1";

/// The Rust type of a Go type whose schema differs from its source.
pub(super) fn overridden(package: &str, name: &str) -> Option<String> {
    let (.., path) = OVERRIDDEN.iter().find(|(known, ty, _)| *known == package && *ty == name)?;
    if path.is_empty() { kubernetes(package, name) } else { Some((*path).to_string()) }
}

/// The Rust type of a type of Kubernetes.
pub(super) fn kubernetes(package: &str, name: &str) -> Option<String> {
    let path = package.strip_prefix("k8s.io/")?.replace('-', "_").replace('/', "::");
    let path = format!("k8s_openapi::{path}::{name}");
    known::is_known(&path).then_some(path)
}

/// Whether a known type has a method in Go: types whose form controller-gen knows marshal themselves.
pub(super) fn has_method(path: &str, method: &str) -> bool {
    let is_struct = path.ends_with("::ObjectMeta");
    method == "MarshalJSON"
        && !is_struct
        && OVERRIDDEN.iter().any(|(package, name, rust)| {
            let own = if rust.is_empty() { kubernetes(package, name) } else { Some((*rust).to_string()) };
            own.as_deref() == Some(path)
        })
}

/// The Rust type and the schema's type of a predeclared Go type.
pub(super) fn builtin(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "string" => ("::std::string::String", "string"),
        "bool" => ("bool", "boolean"),
        "int" => ("isize", "integer"),
        "int8" => ("i8", "integer"),
        "int16" => ("i16", "integer"),
        "int32" | "rune" => ("i32", "integer"),
        "int64" => ("i64", "integer"),
        "uint" | "uintptr" => ("usize", "integer"),
        "uint8" | "byte" => ("u8", "integer"),
        "uint16" => ("u16", "integer"),
        "uint32" => ("u32", "integer"),
        "uint64" => ("u64", "integer"),
        "float32" => ("f32", "number"),
        "float64" => ("f64", "number"),
        _ => return None,
    })
}

/// The package of `Unstructured`, whose form controller-gen knows: the built-in source replaces that on the
/// disk.
pub(super) const UNSTRUCTURED: &str = "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured";

/// Sources of packages for use when the disk has none: types that k8s-openapi and the table above lack.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("encoding/json", include_str!("packages/json.go")),
    ("time", include_str!("packages/time.go")),
    ("net", include_str!("packages/net.go")),
    ("net/http", include_str!("packages/http.go")),
    ("net/url", include_str!("packages/url.go")),
    ("k8s.io/apimachinery/pkg/apis/meta/v1", include_str!("packages/meta.go")),
    (UNSTRUCTURED, include_str!("packages/unstructured.go")),
    ("k8s.io/apimachinery/pkg/types", include_str!("packages/types.go")),
    ("k8s.io/api/core/v1", include_str!("packages/core.go")),
];
