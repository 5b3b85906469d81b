//! Builds schemas of other crates' types, as their implementations of `JsonSchema` do (schemars'
//! `json_schema_impls`, k8s-openapi with its feature `schemars`, kube-core).

use kubesmith_core::diag::Code;
use serde_json::{Map, Value, json};

use super::pieces;
use super::types::{Dialect, Param, Ty};
use crate::diag::Diagnostic;
use crate::known;

/// Types whose schema is that of their first argument (`wrapper.rs`).
const TRANSPARENT: &[&str] = &[
    "Box",
    "std::borrow::Cow",
    "std::cell::Cell",
    "std::cell::RefCell",
    "std::cmp::Reverse",
    "std::num::Wrapping",
    "std::rc::Rc",
    "std::rc::Weak",
    "std::sync::Arc",
    "std::sync::Mutex",
    "std::sync::RwLock",
    "std::sync::Weak",
];

/// Lists (`sequences.rs`).
pub(super) const LISTS: &[&str] = &[
    "Vec",
    "std::collections::BinaryHeap",
    "std::collections::LinkedList",
    "std::collections::VecDeque",
    "smallvec::SmallVec",
];

/// Sets (`sequences.rs`, `indexmap2.rs`).
pub(super) const SETS: &[&str] =
    &["std::collections::BTreeSet", "std::collections::HashSet", "indexmap::IndexSet"];

/// Maps (`maps.rs`, `indexmap2.rs`).
pub(super) const MAPS: &[&str] =
    &["std::collections::BTreeMap", "std::collections::HashMap", "indexmap::IndexMap"];

/// Types with a type and a format: path, type, format (empty: none).
const FORMATTED: &[(&str, &str, &str)] = &[
    // primitives.rs
    ("str", "string", ""),
    ("String", "string", ""),
    ("bool", "boolean", ""),
    ("f32", "number", "float"),
    ("f64", "number", "double"),
    ("i32", "integer", "int32"),
    ("i64", "integer", "int64"),
    ("i128", "integer", "int128"),
    ("isize", "integer", "int"),
    ("std::net::IpAddr", "string", "ip"),
    ("std::net::Ipv4Addr", "string", "ipv4"),
    ("std::net::Ipv6Addr", "string", "ipv6"),
    ("std::net::SocketAddr", "string", ""),
    ("std::net::SocketAddrV4", "string", ""),
    ("std::net::SocketAddrV6", "string", ""),
    ("std::path::Path", "string", ""),
    // arrayvec07.rs, smol_str02.rs
    ("arrayvec::ArrayString", "string", ""),
    ("smol_str::SmolStr", "string", ""),
    ("std::path::PathBuf", "string", ""),
    // serdejson.rs
    ("serde_json::Number", "number", ""),
    // chrono04.rs
    ("chrono::DateTime", "string", "date-time"),
    ("chrono::NaiveDate", "string", "date"),
    ("chrono::NaiveDateTime", "string", "partial-date-time"),
    ("chrono::NaiveTime", "string", "partial-time"),
    // jiff02.rs
    ("jiff::SignedDuration", "string", "duration"),
    ("jiff::Span", "string", "duration"),
    ("jiff::Timestamp", "string", "date-time"),
    ("jiff::Zoned", "string", "zoned-date-time"),
    ("jiff::civil::Date", "string", "date"),
    ("jiff::civil::DateTime", "string", "partial-date-time"),
    ("jiff::civil::Time", "string", "partial-time"),
    // url2.rs, uuid1.rs
    ("url::Url", "string", "uri"),
    ("uuid::Uuid", "string", "uuid"),
    // kube-core's duration.rs, for Go's metav1.Duration
    ("kube::core::Duration", "string", ""),
];

/// Integers with bounds: path, format, smallest value, largest value (`None`: unbounded).
const BOUNDED: &[(&str, &str, i64, Option<i64>)] = &[
    ("i8", "int8", -128, Some(127)),
    ("i16", "int16", -32768, Some(32767)),
    ("u8", "uint8", 0, Some(255)),
    ("u16", "uint16", 0, Some(65535)),
    ("u32", "uint32", 0, None),
    ("u64", "uint64", 0, None),
    ("u128", "uint128", 0, None),
    ("usize", "uint", 0, None),
];

/// Pattern of semver's versions (`semver1.rs`, from semver.org).
const SEMVER: &str = concat!(
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)",
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?",
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$"
);

/// Patterns of ipnet's networks (its `ipnet_schemars_08.rs` and `ipnet_schemars_1.rs`).
const IPV4_NETWORK: &str = concat!(
    r"^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\.){3}",
    r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\/(?:3[0-2]|[1-2][0-9]|[0-9])$"
);
const IPV6_NETWORK: &str = r"^[0-9A-Fa-f:\.]+\/(?:[0-9]|[1-9][0-9]|1[0-1][0-9]|12[0-8])$";

/// Whether the schema of a type is that of its first argument.
pub(super) fn is_transparent(path: &str) -> bool {
    TRANSPARENT.contains(&path)
}

/// Whether values of the type hold values of its arguments, which serde writes and reads.
pub(super) fn is_container(path: &str) -> bool {
    path == "Option" || is_transparent(path) || LISTS.contains(&path) || MAPS.contains(&path)
}

impl Dialect<'_, '_> {
    /// The schema of a type without source; `None` after a diagnostic.
    pub(super) fn known(&mut self, path: &str, arguments: &[Param]) -> Option<Value> {
        if is_transparent(path) {
            let inner = self.type_argument(path, arguments, 0)?;
            return self.schema(&inner);
        }
        if path == "Option" {
            let inner = self.type_argument(path, arguments, 0)?;
            let schema = self.schema(&inner)?;
            return Some(self.nullable(schema));
        }
        if LISTS.contains(&path) {
            let item = match self.type_argument(path, arguments, 0)? {
                Ty::Array(item, _) if path == "smallvec::SmallVec" => (*item).clone(),
                item => item,
            };
            return Some(json!({"type": "array", "items": self.schema(&item)?}));
        }
        if SETS.contains(&path) {
            let item = self.type_argument(path, arguments, 0)?;
            return Some(json!({"type": "array", "uniqueItems": true, "items": self.schema(&item)?}));
        }
        if MAPS.contains(&path) {
            let key = self.type_argument(path, arguments, 0)?;
            let value = self.type_argument(path, arguments, 1)?;
            let (key, value) = (self.schema(&key)?, self.schema(&value)?);
            // schemars 0.8 does not restrict keys, and until 1.2.0 only patterns and integers did.
            let is_any = self.locked.is_schemars_0_8()
                || (self.locked.is_schemars_before(2, 0) && !is_pattern_or_integer(&key));
            return Some(map(if is_any { &Value::Bool(true) } else { &key }, &value));
        }
        if let Some(mut schema) = simple(path) {
            if self.locked.is_schemars_0_8() {
                older_form(path, &mut schema);
            }
            return Some(schema);
        }
        if let Some(schema) = self.composed(path, arguments) {
            return schema;
        }
        if let Some(schema) = self.locked.types.schema(path) {
            return Some(schema);
        }
        self.report_foreign(path);
        None
    }

    /// The schema of an `Option`. schemars 0.8 writes `nullable` itself.
    pub(super) fn nullable(&self, mut schema: Value) -> Value {
        if !self.locked.is_schemars_0_8() {
            return pieces::nullable(schema);
        }
        pieces::insert(&mut schema, "nullable", true);
        schema
    }

    /// Types with arguments; `None`: another type.
    fn composed(&mut self, path: &str, arguments: &[Param]) -> Option<Option<Value>> {
        let variant = |name: &str, schema: Value, closed: bool| {
            let mut out = json!({"type": "object", "properties": {name: schema}, "required": [name]});
            if closed {
                pieces::insert(&mut out, "additionalProperties", false);
            }
            out
        };
        let is_0_8 = self.locked.is_schemars_0_8();
        let mut argument = |at: usize| {
            let ty = self.type_argument(path, arguments, at)?;
            self.schema(&ty)
        };
        Some(match path {
            "either::Either" => argument(0).zip(argument(1)).map(|(left, right)| match is_0_8 {
                // `json_schema_impls/either.rs`
                true => json!({"anyOf": [left, right]}),
                false => json!({"oneOf": [variant("Left", left, true), variant("Right", right, true)]}),
            }),
            "Result" => argument(0).zip(argument(1)).map(|(ok, error)| {
                json!({"oneOf": [variant("Ok", ok, false), variant("Err", error, false)]})
            }),
            "std::ops::Bound" => argument(0).map(|bound| {
                json!({"oneOf": [
                    variant("Included", bound.clone(), false),
                    variant("Excluded", bound, false),
                    {"type": "string", "const": "Unbounded"},
                ]})
            }),
            "std::ops::Range" | "std::ops::RangeInclusive" => argument(0).map(|bound| {
                json!({"type": "object", "properties": {"start": bound, "end": bound}, "required": ["start", "end"]})
            }),
            "std::num::NonZero" => match arguments.first() {
                Some(Param::Type(Ty::Known(primitive, _))) => non_zero(primitive),
                _ => argument(0),
            },
            "arrayvec::ArrayVec" => argument(0).map(|item| {
                let mut list = json!({"type": "array", "items": item});
                if let Some(Param::Value(len)) = arguments.get(1) {
                    pieces::insert(&mut list, "maxItems", super::enums::integer(*len));
                }
                list
            }),
            "serde_json::Map" => Some(json!({"type": "object", "additionalProperties": true})),
            _ => return None,
        })
    }

    fn report_foreign(&mut self, path: &str) {
        if known::was_ever_known(path) {
            let message = format!("`{path}` does not exist in {}", self.locked.types);
            self.error(
                Diagnostic::error(Code::UNRESOLVED_TYPE, None, message)
                    .help("name the version of Kubernetes that the program uses with `--kubernetes-version`"),
            );
            return;
        }
        let krate = path.split("::").next().unwrap_or(path);
        self.error(
            Diagnostic::error(Code::UNRESOLVED_TYPE, None, format!("the schema of `{path}` is not known")).help(format!(
                "name the folder of the crate `{krate}` as a further --input, or say what the JSON is with \
                 `#[schemars(with = \"...\")]`"
            )),
        );
    }
}

/// Types without arguments.
fn simple(path: &str) -> Option<Value> {
    if let Some((_, kind, format)) = FORMATTED.iter().find(|(known, ..)| *known == path) {
        return Some(if format.is_empty() {
            json!({"type": kind})
        } else {
            json!({"type": kind, "format": format})
        });
    }
    let number = path.rsplit("::").next().unwrap_or(path);
    if let Some(schema) = path.starts_with("std::sync::atomic::Atomic").then(|| atomic(number)).flatten() {
        return Some(schema);
    }
    if let Some(primitive) = path.strip_prefix("std::num::NonZero") {
        return non_zero(&primitive.to_ascii_lowercase());
    }
    if let Some((_, format, minimum, maximum)) = BOUNDED.iter().find(|(known, ..)| *known == path) {
        let mut out = json!({"type": "integer", "format": format, "minimum": minimum});
        if let Some(maximum) = maximum {
            pieces::insert(&mut out, "maximum", *maximum);
        }
        return Some(out);
    }
    Some(match path {
        "char" => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        "std::marker::PhantomData" => json!({"type": "null"}),
        "serde_json::Value" => Value::Bool(true),
        "std::time::Duration" => seconds("secs", "nanos"),
        "std::time::SystemTime" => seconds("secs_since_epoch", "nanos_since_epoch"),
        "std::ffi::OsString" => json!({"oneOf": [
            {"type": "object", "properties": {"Unix": list_of("u8")}, "required": ["Unix"]},
            {"type": "object", "properties": {"Windows": list_of("u16")}, "required": ["Windows"]},
        ]}),
        "chrono::Weekday" => {
            json!({"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]})
        }
        "chrono::TimeDelta" | "chrono::Duration" => json!({
            "type": "array",
            "prefixItems": [
                {"type": "integer", "format": "int64"},
                {"type": "integer", "minimum": 0, "exclusiveMaximum": 1_000_000_000},
            ],
            "minItems": 2,
            "maxItems": 2,
        }),
        "semver::Version" => json!({"type": "string", "pattern": SEMVER}),
        "bytes::Bytes" | "bytes::BytesMut" => {
            json!({"type": ["array", "string"], "items": simple("u8")})
        }
        "ipnet::IpNet" => json!({
            "title": "IP network",
            "description": "An IPv4 or IPv6 address with prefix length",
            "examples": ["192.168.0.0/24", "fd00::/32"],
            "oneOf": [simple("ipnet::Ipv4Net"), simple("ipnet::Ipv6Net")],
        }),
        "ipnet::Ipv4Net" => network("IPv4", ["0.0.0.0/0", "192.168.0.0/24"], 18, IPV4_NETWORK),
        "ipnet::Ipv6Net" => network("IPv6", ["::/0", "fd00::/32"], 43, IPV6_NETWORK),
        "rust_decimal::Decimal" | "bigdecimal::BigDecimal" => {
            json!({"type": ["string", "number"], "pattern": r"^-?\d+(\.\d+)?([eE]\d+)?$"})
        }
        _ => return None,
    })
}

/// Converts a schema to the form of schemars 0.8 (its `json_schema_impls`), whose integers have one bound at
/// most.
fn older_form(path: &str, schema: &mut Value) {
    // The schema of any value is `true`, which stays so in `additionalProperties`.
    let Some(members) = schema.as_object_mut() else { return };
    if path == "chrono::NaiveTime" {
        members.insert("format".to_string(), "partial-date-time".into());
    }
    match members.get("format").and_then(Value::as_str) {
        Some("int8" | "int16") => {
            members.remove("minimum");
            members.remove("maximum");
        }
        Some("uint8" | "uint16") => {
            members.remove("maximum");
        }
        _ => {}
    }
}

fn network(protocol: &str, examples: [&str; 2], longest: u64, pattern: &str) -> Value {
    json!({
        "title": format!("{protocol} network"),
        "description": format!("An {protocol} address with prefix length"),
        "examples": examples,
        "type": "string",
        "maxLength": longest,
        "pattern": pattern,
    })
}

fn list_of(item: &str) -> Value {
    json!({"type": "array", "items": simple(item)})
}

fn seconds(seconds: &str, nanos: &str) -> Value {
    json!({
        "type": "object",
        "required": [seconds, nanos],
        "properties": {seconds: simple("u64"), nanos: simple("u32")},
    })
}

fn atomic(name: &str) -> Option<Value> {
    simple(&name.strip_prefix("Atomic")?.to_ascii_lowercase())
}

/// `NonZeroU32` and similar (`nonzero.rs`).
fn non_zero(primitive: &str) -> Option<Value> {
    let mut out = simple(primitive).filter(|schema| pieces::has_type(schema, "integer"))?;
    if primitive.starts_with('u') {
        pieces::insert(&mut out, "minimum", 1);
    } else {
        pieces::insert(&mut out, "not", json!({"const": 0}));
    }
    Some(out)
}

/// Whether the schema of a key restricts it in schemars 1.0 and 1.1 (`maps.rs` of 1.1.0).
fn is_pattern_or_integer(key: &Value) -> bool {
    match key.get("type").and_then(Value::as_str) {
        Some("string") => key.get("pattern").is_some(),
        Some("integer") => true,
        _ => false,
    }
}

/// The schema of a map, which depends on the keys' schema (`maps.rs`).
fn map(key: &Value, value: &Value) -> Value {
    let options: Option<Vec<&Map<String, Value>>> = match key.get("anyOf").and_then(Value::as_array) {
        Some(options) => options.iter().map(Value::as_object).collect(),
        None => key.as_object().map(|key| vec![key]),
    };
    let Some(options) = options else {
        return json!({"type": "object", "additionalProperties": value});
    };
    let mut is_open = false;
    let mut patterns = Map::new();
    let mut properties = Map::new();
    for option in options {
        let kind = option.get("type").and_then(Value::as_str);
        let names: Option<Vec<&str>> = option
            .get("enum")
            .and_then(Value::as_array)
            .and_then(|names| names.iter().map(Value::as_str).collect());
        match (kind, option.get("pattern").and_then(Value::as_str), names) {
            (Some("string"), Some(pattern), _) => {
                patterns.insert(pattern.to_string(), value.clone());
            }
            (Some("string"), None, Some(names)) => {
                properties.extend(names.iter().map(|name| ((*name).to_string(), value.clone())));
            }
            (Some("integer"), ..) => {
                let is_unsigned = option.get("minimum").and_then(Value::as_u64) == Some(0);
                let pattern = if is_unsigned { r"^\d+$" } else { r"^-?\d+$" };
                patterns.insert(pattern.to_string(), value.clone());
            }
            _ => is_open = true,
        }
    }
    let mut out = json!({"type": "object"});
    pieces::insert(
        &mut out,
        "additionalProperties",
        if is_open { value.clone() } else { Value::Bool(false) },
    );
    for (key, members) in [("patternProperties", patterns), ("properties", properties)] {
        if !members.is_empty() {
            pieces::insert(&mut out, key, members);
        }
    }
    out
}
