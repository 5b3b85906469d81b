//! The known types, and the source of each form.

use kubesmith_apiextensions::schema::{Number, Pattern, Schema};
use serde_json::Value;

use super::{Known, list_of};

/// Pattern of quantities, as controller-gen writes it.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// The type of an object's metadata.
pub(super) const OBJECT_META: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta";

/// Makes a schema.
type Make = fn() -> Schema;

/// Types without relevant parameters, and the function that makes their schema.
#[rustfmt::skip]
pub(super) const PLAIN: &[(&str, Make)] = &[
    // serde_core 1, ser/impls.rs: text.
    ("String", string),
    ("str", string),
    ("char", string),
    ("std::path::PathBuf", string),
    ("std::path::Path", string),
    // serde_core 1, ser/impls.rs: primitives. Formats by Go's rules: only for 32 and 64 bits, equal for
    // signed and unsigned.
    ("bool", boolean),
    ("i8", integer),
    ("i16", integer),
    ("u8", integer),
    ("u16", integer),
    ("isize", integer),
    ("usize", integer),
    ("i32", int32),
    ("u32", int32),
    ("i64", int64),
    ("u64", int64),
    ("f32", || Schema::of_type("number")),
    ("f64", || Schema::of_type("number")),
    // serde_core 1, ser/impls.rs, `impl_serialize_non_zero`: the number. JSON cannot say that it is not zero.
    ("std::num::NonZeroI8", integer),
    ("std::num::NonZeroI16", integer),
    ("std::num::NonZeroI32", int32),
    ("std::num::NonZeroI64", int64),
    ("std::num::NonZeroIsize", integer),
    ("std::num::NonZeroU8", positive),
    ("std::num::NonZeroU16", positive),
    ("std::num::NonZeroU32", positive),
    ("std::num::NonZeroU64", positive),
    ("std::num::NonZeroUsize", positive),
    // serde_core 1, ser/impls.rs, `atomic_impl`: the value.
    ("std::sync::atomic::AtomicBool", boolean),
    ("std::sync::atomic::AtomicI8", integer),
    ("std::sync::atomic::AtomicI16", integer),
    ("std::sync::atomic::AtomicI32", int32),
    ("std::sync::atomic::AtomicI64", int64),
    ("std::sync::atomic::AtomicIsize", integer),
    ("std::sync::atomic::AtomicU8", integer),
    ("std::sync::atomic::AtomicU16", integer),
    ("std::sync::atomic::AtomicU32", int32),
    ("std::sync::atomic::AtomicU64", int64),
    ("std::sync::atomic::AtomicUsize", integer),
    // serde_core 1, ser/impls.rs: addresses are text in human-readable formats.
    ("std::net::IpAddr", string),
    ("std::net::Ipv4Addr", || Schema::formatted("string", "ipv4")),
    ("std::net::Ipv6Addr", || Schema::formatted("string", "ipv6")),
    ("std::net::SocketAddr", string),
    ("std::net::SocketAddrV4", string),
    ("std::net::SocketAddrV6", string),
    // serde_core 1, ser/impls.rs: structs of two numbers.
    ("std::time::Duration", std_duration),
    ("std::time::SystemTime", system_time),
    // serde_core 1, ser/impls.rs: a variant named after the platform.
    ("std::ffi::OsString", || object([("Unix", bytes())])),
    // serde_core 1, ser/impls.rs: `serialize_bytes`.
    ("std::ffi::CString", bytes),
    // serde_json 1: any JSON; value/ser.rs, number.rs, raw.rs.
    ("serde_json::Value", any),
    ("serde_json::Map", preserving_object),
    ("serde_json::Number", || Schema::of_type("number")),
    ("serde_json::value::RawValue", any),
    // k8s-openapi 0.29: byte_string.rs, and controller-gen's pkg/crd/known_types.go where the OpenAPI document says less.
    ("k8s_openapi::ByteString", || Schema::formatted("string", "byte")),
    ("k8s_openapi::apimachinery::pkg::util::intstr::IntOrString", int_or_string),
    ("k8s_openapi::apimachinery::pkg::api::resource::Quantity", quantity),
    ("k8s_openapi::apimachinery::pkg::runtime::RawExtension", preserving_object),
    (OBJECT_META, || Schema::of_type("object")),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::Time", date_time),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime", date_time),
    ("k8s_openapi::apimachinery::pkg::apis::meta::v1::FieldsV1", || Schema::of_type("object")),
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON", any),
    // Go writes these by methods of their own: controller-gen does not describe their form.
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrArray", any),
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrBool", any),
    ("k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrStringArray", any),
    // kube-core 5: duration.rs writes Go's durations (`1h30m`).
    ("kube::core::Duration", string),
    // kube-core 5: derived in metadata.rs, gvk.rs and dynamic.rs.
    ("kube::core::TypeMeta", || object([("apiVersion", string()), ("kind", string())])),
    ("kube::core::GroupVersion", || object([("group", string()), ("version", string())])),
    ("kube::core::GroupVersionKind", || object([("group", string()), ("version", string()), ("kind", string())])),
    ("kube::core::DynamicObject", preserving_object),
    // chrono 0.4: datetime/serde.rs and naive/*/serde.rs write RFC 3339 or the type's part of it.
    ("chrono::DateTime", date_time),
    ("chrono::NaiveDate", date),
    ("chrono::NaiveDateTime", string),
    ("chrono::NaiveTime", string),
    // chrono 0.4: weekday.rs writes short names, month.rs long ones.
    ("chrono::Weekday", || one_of(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])),
    ("chrono::Month", || one_of([
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ])),
    // chrono 0.4: time_delta.rs writes seconds and nanoseconds.
    ("chrono::TimeDelta", || Schema { min_items: Some(2), max_items: Some(2), ..list_of(int64()) }),
    // jiff 0.2: each type's `Display`: timestamp.rs and civil/*.rs are RFC 3339 or a part of it, zoned.rs is RFC 9557, span.rs and
    // signed_duration.rs ISO 8601.
    ("jiff::Timestamp", date_time),
    ("jiff::Zoned", string),
    ("jiff::Span", string),
    ("jiff::SignedDuration", string),
    ("jiff::civil::Date", date),
    ("jiff::civil::Time", string),
    ("jiff::civil::DateTime", string),
    ("jiff::civil::ISOWeekDate", string),
    // uuid 1: external/serde_support.rs; fmt.rs for the other notations, which have no format.
    ("uuid::Uuid", uuid),
    ("uuid::fmt::Hyphenated", uuid),
    ("uuid::fmt::Simple", string),
    ("uuid::fmt::Urn", string),
    ("uuid::fmt::Braced", string),
    // url 2: lib.rs writes the URL.
    ("url::Url", || Schema::formatted("string", "uri")),
    // ipnet 2: ipnet_serde.rs, text in human-readable formats.
    ("ipnet::IpNet", string),
    ("ipnet::Ipv4Net", string),
    ("ipnet::Ipv6Net", string),
    // bytes 1: serde.rs, `serialize_bytes`.
    ("bytes::Bytes", bytes),
    ("bytes::BytesMut", bytes),
    // semver 1: serde.rs writes `Display`.
    ("semver::Version", string),
    ("semver::VersionReq", string),
    ("semver::Comparator", string),
];

/// Types with parameters.
#[rustfmt::skip]
pub(super) const GENERIC: &[(&str, Known)] = &[
    // serde_core 1, ser/impls.rs: lists.
    ("Vec", Known::List),
    ("std::collections::BTreeSet", Known::List),
    ("std::collections::HashSet", Known::List),
    ("std::collections::VecDeque", Known::List),
    ("std::collections::BinaryHeap", Known::List),
    ("std::collections::LinkedList", Known::List),
    // serde_core 1, ser/impls.rs: maps.
    ("std::collections::BTreeMap", Known::Map),
    ("std::collections::HashMap", Known::Map),
    // serde_core 1, ser/impls.rs: none is null.
    ("Option", Known::Option),
    // serde_core 1, ser/impls.rs, `deref_impl`, and the same for cells and locks: their content.
    ("Box", Known::Transparent),
    ("std::sync::Arc", Known::Transparent),
    ("std::rc::Rc", Known::Transparent),
    ("std::borrow::Cow", Known::Transparent),
    ("std::cell::Cell", Known::Transparent),
    ("std::cell::RefCell", Known::Transparent),
    ("std::sync::Mutex", Known::Transparent),
    ("std::sync::RwLock", Known::Transparent),
    ("std::num::Wrapping", Known::Transparent),
    ("std::num::Saturating", Known::Transparent),
    ("std::cmp::Reverse", Known::Transparent),
    ("std::num::NonZero", Known::NonZero),
    // serde_core 1, ser/impls.rs: a unit struct.
    ("std::marker::PhantomData", Known::Unit),
    // serde_core 1, ser/impls.rs: structs.
    ("std::ops::Range", Known::Object(&[("start", 0), ("end", 0)])),
    ("std::ops::RangeInclusive", Known::Object(&[("start", 0), ("end", 0)])),
    ("std::ops::RangeFrom", Known::Object(&[("start", 0)])),
    ("std::ops::RangeTo", Known::Object(&[("end", 0)])),
    // serde_core 1, ser/impls.rs: enums.
    ("std::ops::Bound", Known::Choice(&[("Unbounded", None), ("Included", Some(0)), ("Excluded", Some(0))])),
    ("Result", Known::Choice(&[("Ok", Some(0)), ("Err", Some(1))])),
    // either 1, lib.rs: derived.
    ("either::Either", Known::Choice(&[("Left", Some(0)), ("Right", Some(1))])),
    // indexmap 2: serde.rs.
    ("indexmap::IndexMap", Known::Map),
    ("indexmap::IndexSet", Known::List),
];

fn string() -> Schema {
    Schema::of_type("string")
}

fn integer() -> Schema {
    Schema::of_type("integer")
}

fn positive() -> Schema {
    Schema { minimum: Some(Number::from(1)), ..integer() }
}

fn date_time() -> Schema {
    Schema::formatted("string", "date-time")
}

fn any() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::default() }
}

fn preserving_object() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::of_type("object") }
}

fn int_or_string() -> Schema {
    let any_of = vec![integer(), string()];
    Schema { int_or_string: true, any_of, ..Schema::default() }
}

fn quantity() -> Schema {
    Schema { pattern: Some(Pattern::new(QUANTITY_PATTERN)), ..int_or_string() }
}

fn std_duration() -> Schema {
    object([("secs", whole()), ("nanos", whole())])
}

fn system_time() -> Schema {
    object([("secs_since_epoch", whole()), ("nanos_since_epoch", whole())])
}

/// A nonnegative number.
fn whole() -> Schema {
    Schema { minimum: Some(Number::from(0)), ..int64() }
}

fn object<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let required = fields.iter().map(|(name, _)| (*name).to_string()).collect();
    let properties = fields.map(|(name, schema)| (name.to_string(), schema.into())).into();
    Schema { properties, required, ..Schema::of_type("object") }
}

fn boolean() -> Schema {
    Schema::of_type("boolean")
}

fn int32() -> Schema {
    Schema::formatted("integer", "int32")
}

fn int64() -> Schema {
    Schema::formatted("integer", "int64")
}

fn date() -> Schema {
    Schema::formatted("string", "date")
}

fn uuid() -> Schema {
    Schema::formatted("string", "uuid")
}

/// serde's bytes, a list of numbers in JSON.
fn bytes() -> Schema {
    list_of(integer())
}

fn one_of<const N: usize>(names: [&str; N]) -> Schema {
    Schema { enum_: Some(names.map(Value::from).into()), ..string() }
}
