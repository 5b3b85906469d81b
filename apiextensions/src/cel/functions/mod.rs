//! Functions at run time. Names and types are checked already; values that a function does not accept, and values of type dyn,
//! still give errors.

mod convert;
mod format;
mod list;
mod net;
mod ops;
mod patterns;
mod text;
mod time;

use std::sync::Arc;

use kubesmith_apimachinery::quantity::Quantity;

use super::access;
use super::semver::Semver;
use super::url::Url;
use super::value::{Key, List, ListKind, Value};
pub(super) use convert::text_of;
pub(super) use format::check as check_format;
pub(super) use patterns::{Patterns, search};

pub(super) type Called = Result<Value, String>;

/// The error of a call without a matching signature at run time.
pub(super) fn no_overload<T>() -> Result<T, String> {
    Err("no such overload".to_owned())
}

/// Calls a function. The receiver is the first argument.
pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match function {
        _ if matches!(args, [Value::Question(_) | Value::Decision(_), ..]) && !function.starts_with('_') => {
            access::call(function, args)
        }
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "_+_" | "_-_" | "_*_" | "_/_" | "_%_" | "-_"
        | "!_" | "@in" | "_[_]" | "_[?_]" | "size" | "cel.@mapInsert" => ops::call(function, args),
        "type" | "dyn" | "bool" | "bytes" | "double" | "duration" | "int" | "string" | "timestamp"
        | "uint" => convert::call(function, args),
        "contains"
        | "endsWith"
        | "startsWith"
        | "charAt"
        | "lowerAscii"
        | "upperAscii"
        | "replace"
        | "split"
        | "substring"
        | "trim"
        | "format"
        | "strings.quote"
        | "join"
        | "jsonpatch.escapeKey" => text::call(function, args),
        "indexOf" | "lastIndexOf" => match args.first() {
            Some(Value::String(_)) => text::call(function, args),
            _ => list::call(function, args),
        },
        "ip"
        | "isIP"
        | "ip.isCanonical"
        | "family"
        | "isUnspecified"
        | "isLoopback"
        | "isLinkLocalMulticast"
        | "isLinkLocalUnicast"
        | "isGlobalUnicast"
        | "cidr"
        | "isCIDR"
        | "containsIP"
        | "containsCIDR"
        | "prefixLength"
        | "masked" => net::call(function, args),
        _ if function.starts_with("get") && matches!(args, [Value::Url(_)]) => url(function, args),
        _ if function.starts_with("get") => time::call(function, args),
        _ if function.starts_with("optional.") || matches!(function, "value" | "hasValue" | "unwrapOpt") => {
            optional(function, args)
        }
        "url" | "isURL" => url(function, args),
        _ if function.starts_with("format.") || function == "validate" => named_format(function, args),
        "quantity" | "isQuantity" | "sign" | "asApproximateFloat" | "asInteger" | "isInteger" | "add"
        | "sub" => quantity(function, args),
        "isGreaterThan" | "isLessThan" | "compareTo" => ordered(function, args),
        "semver" | "isSemver" | "major" | "minor" | "patch" => semver(function, args),
        _ => list::call(function, args),
    }
}

fn ordered(function: &str, args: &[Value]) -> Called {
    let order = match args {
        [Value::Quantity(a), Value::Quantity(b)] => a.cmp(b),
        [Value::Semver(a), Value::Semver(b)] => a.compare(b),
        _ => return no_overload(),
    };
    Ok(match function {
        "isGreaterThan" => Value::Bool(order.is_gt()),
        "isLessThan" => Value::Bool(order.is_lt()),
        _ => Value::Int(order as i64),
    })
}

fn quantity(function: &str, args: &[Value]) -> Called {
    let wrap = |q: Quantity| Value::Quantity(Arc::new(q));
    Ok(match (function, args) {
        ("quantity", [Value::String(text)]) => {
            wrap(Quantity::parse(text).map_err(|error| error.to_string())?)
        }
        ("isQuantity", [Value::String(text)]) => Value::Bool(Quantity::parse(text).is_ok()),
        ("sign", [Value::Quantity(q)]) => Value::Int(q.sign()),
        ("asApproximateFloat", [Value::Quantity(q)]) => Value::Double(q.as_f64()),
        ("isInteger", [Value::Quantity(q)]) => Value::Bool(q.as_i64().is_some()),
        ("asInteger", [Value::Quantity(q)]) => match q.as_i64() {
            Some(i) => Value::Int(i),
            None => return Err("cannot convert value to integer".to_owned()),
        },
        ("add", [Value::Quantity(a), Value::Quantity(b)]) => wrap(**a + **b),
        ("sub", [Value::Quantity(a), Value::Quantity(b)]) => wrap(**a - **b),
        ("add", [Value::Quantity(a), Value::Int(b)]) => wrap(**a + Quantity::from(*b)),
        ("sub", [Value::Quantity(a), Value::Int(b)]) => wrap(**a - Quantity::from(*b)),
        _ => return no_overload(),
    })
}

fn semver(function: &str, args: &[Value]) -> Called {
    // Go wraps around.
    let number = |n: u64| Value::Int(i64::from_ne_bytes(n.to_ne_bytes()));
    Ok(match (function, args) {
        ("semver", [Value::String(text), rest @ ..]) => {
            Value::Semver(Arc::new(Semver::parse(text, matches!(rest, [Value::Bool(true)]))?))
        }
        ("isSemver", [Value::String(text), rest @ ..]) => {
            Value::Bool(Semver::parse(text, matches!(rest, [Value::Bool(true)])).is_ok())
        }
        ("major", [Value::Semver(v)]) => number(v.major),
        ("minor", [Value::Semver(v)]) => number(v.minor),
        ("patch", [Value::Semver(v)]) => number(v.patch),
        _ => return no_overload(),
    })
}

fn url(function: &str, args: &[Value]) -> Called {
    Ok(match (function, args) {
        ("url", [Value::String(text)]) => {
            let url = Url::parse(text)
                .map_err(|fault| format!("URL parse error during conversion from string: {fault}"))?;
            Value::Url(Arc::new(url))
        }
        ("isURL", [Value::String(text)]) => Value::Bool(Url::parse(text).is_ok()),
        ("getScheme", [Value::Url(url)]) => Value::string(&url.scheme),
        ("getHost", [Value::Url(url)]) => Value::string(&url.host),
        ("getHostname", [Value::Url(url)]) => Value::string(url.hostname()),
        ("getPort", [Value::Url(url)]) => Value::string(url.port()),
        ("getEscapedPath", [Value::Url(url)]) => Value::string(&url.path),
        ("getQuery", [Value::Url(url)]) => {
            let mut map = std::collections::BTreeMap::<Key, Vec<Value>>::new();
            for (key, value) in url.query() {
                map.entry(Key::String(Arc::from(key))).or_default().push(Value::string(value));
            }
            Value::map(map.into_iter().map(|(key, values)| (key, Value::list(values))).collect())
        }
        _ => return no_overload(),
    })
}

fn optional(function: &str, args: &[Value]) -> Called {
    Ok(match (function, args) {
        ("optional.of", [value]) => Value::some(value.clone()),
        ("optional.none", []) => Value::Optional(None),
        ("optional.ofNonZeroValue", [value]) if value.is_zero() => Value::Optional(None),
        ("optional.ofNonZeroValue", [value]) => Value::some(value.clone()),
        ("hasValue", [Value::Optional(inner)]) => Value::Bool(inner.is_some()),
        ("value", [Value::Optional(Some(inner))]) => (**inner).clone(),
        ("value", [Value::Optional(None)]) => return Err("optional.none() dereference".to_owned()),
        ("optional.unwrap" | "unwrapOpt", [list]) => {
            let inner = |item: &Value| match item {
                Value::Optional(inner) => Ok(inner.as_deref().cloned()),
                other => Err(format!("value {} is not optional", text_of(other))),
            };
            let inner = items(list)?.iter().filter_map(|item| inner(item).transpose());
            Value::list(inner.collect::<Result<_, _>>()?)
        }
        _ => return no_overload(),
    })
}

const FORMATS: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

fn named_format(function: &str, args: &[Value]) -> Called {
    let known = |name: &str| FORMATS.iter().find(|known| **known == name).copied();
    match (function, args) {
        ("format.named", [Value::String(name)]) => {
            Ok(Value::Optional(known(name).map(|name| Arc::new(Value::Format(name)))))
        }
        ("validate", [Value::Format(name), Value::String(text)]) => {
            let faults: Vec<Value> = format_faults(name, text).iter().map(Value::string).collect();
            Ok(Value::Optional((!faults.is_empty()).then(|| Arc::new(Value::list(faults)))))
        }
        (name, []) => match name.strip_prefix("format.").and_then(known) {
            Some(name) => Ok(Value::Format(name)),
            None => no_overload(),
        },
        _ => no_overload(),
    }
}

fn format_faults(name: &str, text: &str) -> Vec<String> {
    use crate::formats;
    use kubesmith_apimachinery::names;
    let prefix = text.strip_suffix('-').filter(|t| !t.is_empty());
    let check = |fine: bool, fault: &str| if fine { Vec::new() } else { vec![fault.to_owned()] };
    match name {
        "dns1123Label" => names::dns1123_label(text),
        "dns1123LabelPrefix" => names::dns1123_label(prefix.unwrap_or(text)),
        "dns1123Subdomain" => names::dns1123_subdomain(text),
        "dns1123SubdomainPrefix" => names::dns1123_subdomain(prefix.unwrap_or(text)),
        "dns1035Label" => names::dns1035_label(text),
        "dns1035LabelPrefix" => names::dns1035_label(prefix.unwrap_or(text)),
        "qualifiedName" => names::qualified_name(text),
        "labelValue" => names::label_value(text),
        "uri" => check(Url::parse(text).is_ok(), "invalid URI"),
        "uuid" => check(formats::validates("uuid", text), "does not match the UUID format"),
        "byte" => check(formats::validates("byte", text), "invalid base64"),
        "date" => check(formats::validates("date", text), "invalid date"),
        _ => check(formats::validates("datetime", text), "invalid datetime"),
    }
}

/// The items of a list argument.
pub(super) fn items(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::List(list) => Ok(&list.items),
        _ => no_overload(),
    }
}

pub(super) fn same_kind(items: Vec<Value>, kind: &ListKind) -> Value {
    Value::List(Arc::new(List { items, kind: kind.clone() }))
}
