//! Values of patches as Go holds them. Some of them have no place in JSON, and kube-apiserver refuses these late.
//!
//! Source: `Value` and `ConvertToNative` of cel-go's common/types, and of apiserver's pkg/cel/mutation/dynamic/objects.go.

use std::collections::BTreeMap;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value as Json, json};

use super::functions::text_of;
use super::message::{JSON_PATCH, Message};
use super::value::{Key, Value, duration_text};

/// The greatest integer that JSON's readers agree on; greater ones become strings. Source: cel-go's conversion of integers
/// to JSON.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// The origin of a list or a map, which decides how cel-go holds it. It matters only in patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Read from JSON, or joined from lists.
    Read,
    /// Made by a literal or a macro.
    Written,
    /// A list of texts that a function returned.
    Texts,
}

/// The entries of a map.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    map: BTreeMap<Key, Value>,
    pub(super) form: Form,
}

impl Entries {
    pub(super) fn new(map: BTreeMap<Key, Value>, form: Form) -> Self {
        Self { map, form }
    }
}

impl Deref for Entries {
    type Target = BTreeMap<Key, Value>;

    fn deref(&self) -> &Self::Target {
        &self.map
    }
}

/// The name under which JSON holds a foreign value.
const FOREIGN: &str = "\0";

/// A value in an apply configuration that is no JSON: cel-go's null, bytes, times, or a literal within a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign<'a> {
    /// The value as Go's `%v` prints it.
    pub shown: &'a str,
    /// The value as Go's `%#v` prints it.
    pub syntax: &'a str,
    /// The type as Go's `%T` prints it.
    pub type_name: &'a str,
}

impl<'a> Foreign<'a> {
    /// Returns the foreign value that a JSON value stands for.
    #[must_use]
    pub fn of(json: &'a Json) -> Option<Self> {
        let held = json.as_object().filter(|map| map.len() == 1)?.get(FOREIGN)?;
        let text = |i: usize| held.get(i)?.as_str();
        Some(Self { shown: text(0)?, syntax: text(1)?, type_name: text(2)? })
    }

    fn json(shown: impl Into<String>, syntax: impl Into<String>, type_name: &str) -> Json {
        json!({FOREIGN: [shown.into(), syntax.into(), type_name]})
    }

    /// A value behind a pointer, whose address differs from time to time.
    fn pointer(shown: impl Into<String>, type_name: &str) -> Json {
        Self::json(shown, format!("({type_name})(0xc000000000)"), type_name)
    }
}

/// A value as Go's `%v` prints it.
#[must_use]
pub fn shown(value: &Json) -> String {
    match (Foreign::of(value), value) {
        (Some(foreign), _) => foreign.shown.to_owned(),
        (None, Json::Array(items)) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        (None, Json::Object(map)) => {
            let members: Vec<String> = map.iter().map(|(k, v)| format!("{k}:{}", shown(v))).collect();
            format!("map[{}]", members.join(" "))
        }
        (None, other) => golang::display(other),
    }
}

/// A value as Go's `%#v` prints it.
#[must_use]
pub fn syntax(value: &Json) -> String {
    match (Foreign::of(value), value) {
        (Some(foreign), _) => foreign.syntax.to_owned(),
        (None, Json::Null) => "interface {}(nil)".to_owned(),
        (None, Json::String(text)) => golang::quote(text),
        (None, Json::Array(items)) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(syntax).collect::<Vec<_>>().join(", "))
        }
        (None, Json::Object(map)) => {
            let members: Vec<String> =
                map.iter().map(|(k, v)| format!("{}:{}", golang::quote(k), syntax(v))).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        (None, other) => golang::display(other),
    }
}

/// The value of an apply configuration. JSON that stands for [`Foreign`] values may be in it.
///
/// # Errors
/// Returns the fault of a value that has no fields.
pub(super) fn configuration(message: &Message) -> Result<Json, String> {
    fields(message).map_err(|_| "invalid return type: *dynamic.ObjectVal".to_owned())
}

/// The fields of an object (`ConvertToNative` of `ObjectVal`).
fn fields(message: &Message) -> Result<Json, String> {
    let converted = message.fields.iter().map(|(name, value)| {
        let value = field(value).map_err(|fault| format!("fail to convert field {name:?}: {fault}"))?;
        Ok((name.clone(), value))
    });
    converted.collect::<Result<Map<_, _>, String>>().map(Json::Object)
}

/// A field of an object (`convertField`): lists and maps that the expression wrote are converted, but not those within.
fn field(value: &Value) -> Result<Json, String> {
    match value {
        Value::Optional(Some(inner)) => field(inner),
        Value::List(list) if list.kind.form() == Form::Written => Ok(list.items.iter().map(own).collect()),
        Value::Map(map) if map.form == Form::Written => {
            let entries = map.iter().map(|(key, value)| match key {
                Key::String(key) => Ok((key.to_string(), own(value))),
                other => {
                    let key = other.value();
                    Err(format!("map key {} is of type {}, not string", rune(other), types_name(&key)))
                }
            });
            entries.collect::<Result<Map<_, _>, String>>().map(Json::Object)
        }
        other => Ok(own(other)),
    }
}

/// The key of a map as Go's `%q` prints it.
fn rune(key: &Key) -> String {
    match key {
        Key::Int(number) => match u32::try_from(*number).ok().and_then(char::from_u32) {
            Some(c) if golang::is_print(c) => format!("'{c}'"),
            Some(c) => format!("'\\x{:02x}'", u32::from(c)),
            None => "'\u{fffd}'".to_owned(),
        },
        other => format!("%!q(types.Bool={})", text_of(&other.value())),
    }
}

/// The Go type of a value in cel-go.
fn types_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "types.Bool",
        Value::Uint(_) => "types.Uint",
        _ => "types.Int",
    }
}

/// A value as Go holds it (`Value` of `ref.Val`).
fn own(value: &Value) -> Json {
    match value {
        Value::Null => Foreign::json("NULL_VALUE", "0", "structpb.NullValue"),
        Value::Bool(value) => json!(value),
        Value::Int(number) => json!(number),
        Value::Double(number) => json!(number),
        Value::String(text) => json!(text.as_ref()),
        Value::Uint(number) => Foreign::json(number.to_string(), format!("{number:#x}"), "uint64"),
        Value::Bytes(bytes) => {
            let shown: Vec<String> = bytes.iter().map(ToString::to_string).collect();
            let syntax: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            let syntax = format!("[]uint8{{{}}}", syntax.join(", "));
            Foreign::json(format!("[{}]", shown.join(" ")), syntax, "[]uint8")
        }
        Value::Duration(nanos) => Foreign::json(golang::duration(*nanos), nanos.to_string(), "time.Duration"),
        Value::Timestamp(_) => {
            let text = text_of(value);
            Foreign::json(text.replace('T', " ").replace('Z', " +0000 UTC"), date(&text), "time.Time")
        }
        Value::List(within) => match within.kind.form() {
            Form::Read => native(value),
            Form::Written => composite(&within.items, reference, "[]ref.Val"),
            Form::Texts => composite(&within.items, |item| shown(&own(item)), "[]string"),
        },
        Value::Map(map) if map.form == Form::Read => native(value),
        Value::Map(map) => {
            let (mut texts, mut parts) = (Vec::new(), Vec::new());
            for (key, value) in map.iter() {
                let key = text_of(&key.value());
                texts.push(format!("{key}:{}", reference(value)));
                parts.push(format!("{}:{}", golang::quote(&key), syntax(&own(value))));
            }
            let name = "map[ref.Val]ref.Val";
            let parts = format!("{name}{{{}}}", parts.join(", "));
            Foreign::json(format!("map[{}]", texts.join(" ")), parts, name)
        }
        Value::Message(message) if message.name == JSON_PATCH => {
            Foreign::pointer("0xc000000000", "*mutation.JSONPatchVal")
        }
        Value::Message(message) => {
            fields(message).unwrap_or_else(|fault| Foreign::pointer(fault, "*types.Err"))
        }
        Value::Optional(Some(inner)) => own(inner),
        Value::Optional(None) => Json::Null,
        Value::Type(name) => json!(name.as_ref()),
        Value::Quantity(quantity) => Foreign::pointer(quantity.to_string(), "*resource.Quantity"),
        Value::Url(url) => Foreign::pointer(url.text(), "*url.URL"),
        Value::Ip(_) => Foreign::pointer(text_of(value), "netip.Addr"),
        Value::Cidr(..) => Foreign::pointer(text_of(value), "netip.Prefix"),
        Value::Semver(_) => Foreign::pointer(text_of(value), "semver.Version"),
        Value::Object(_) => native(value),
        Value::Format(_)
        | Value::Variables
        | Value::Question(_)
        | Value::Decision(_)
        | Value::Unreadable(_) => Foreign::pointer("no such overload", "*types.Err"),
    }
}

/// A `ref.Val` as Go's `%v` prints it (`String` of cel-go's lists and maps).
fn reference(value: &Value) -> String {
    match value {
        Value::Null => "0".to_owned(),
        Value::List(list) => format!("[{}]", list.items.iter().map(reference).collect::<Vec<_>>().join(", ")),
        Value::Map(map) => {
            let entries =
                map.iter().map(|(key, value)| format!("{}: {}", text_of(&key.value()), reference(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => shown(&own(other)),
    }
}

/// A list in a literal, whose items `text` prints.
fn composite(items: &[Value], text: impl Fn(&Value) -> String, type_name: &str) -> Json {
    let texts: Vec<String> = items.iter().map(text).collect();
    let parts: Vec<String> = items.iter().map(|item| syntax(&own(item))).collect();
    Foreign::json(format!("[{}]", texts.join(" ")), format!("{type_name}{{{}}}", parts.join(", ")), type_name)
}

/// A time as Go's `%#v` prints it.
fn date(text: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let number = |part: &str| part.parse::<usize>().unwrap_or_default();
    let parts: Vec<usize> = text.split(|c: char| !c.is_ascii_digit()).map(number).collect();
    let [year, month, day, hour, minute, second, ..] = parts.as_slice() else { return text.to_owned() };
    let month = MONTHS.get(month.saturating_sub(1)).unwrap_or(&"January");
    let nanos =
        text.split_once('.').map_or(0, |(_, rest)| number(&format!("{:0<9}", rest.trim_end_matches('Z'))));
    format!("time.Date({year}, time.{month}, {day}, {hour}, {minute}, {second}, {nanos}, time.UTC)")
}

/// A value that was read as JSON.
fn native(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::List(list) => list.items.iter().map(native).collect(),
        Value::Map(map) if map.form == Form::Read => {
            Json::Object(map.iter().map(|(key, value)| (text_of(&key.value()), native(value))).collect())
        }
        Value::Object(fields) => {
            Json::Object(fields.iter().map(|(name, value)| (name.clone(), native(value))).collect())
        }
        other => own(other),
    }
}

/// The reason why the value of an operation is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchFault {
    /// The patch fails.
    Failed(String),
    /// kube-apiserver panics, and closes the connection.
    Panic(String),
}

/// The value of an operation of a JSON patch, once messages have the names of their fields.
///
/// # Errors
/// Returns the reason why it is no JSON.
pub(super) fn operand(value: &Value) -> Result<Json, PatchFault> {
    let unfit = |fault: String| {
        PatchFault::Failed(format!(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {fault}"
        ))
    };
    match value {
        Value::Message(message) if message.name != JSON_PATCH => {
            fields(message).and_then(|json| structure(&json)).map_err(unfit)
        }
        other => marshalled(other).map_err(|fault| match fault {
            PatchFault::Failed(fault) => unfit(fault),
            panic @ PatchFault::Panic(_) => panic,
        }),
    }
}

/// An object as `structpb.NewStruct` has it, in which all numbers are floats.
fn structure(json: &Json) -> Result<Json, String> {
    match (Foreign::of(json), json) {
        (Some(Foreign { syntax, type_name: "[]uint8", .. }), _) => {
            let byte = |text: &str| u8::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
            let held = syntax.trim_start_matches("[]uint8{").trim_end_matches('}');
            Ok(json!(BASE64.encode(held.split(',').filter_map(byte).collect::<Vec<u8>>())))
        }
        (Some(Foreign { shown, type_name: "uint64", .. }), _) => {
            Ok(shown.parse::<f64>().map_or(Json::Null, float))
        }
        (Some(foreign), _) => Err(format!("proto: invalid type: {}", foreign.type_name)),
        (None, Json::Array(items)) => items.iter().map(structure).collect(),
        (None, Json::Object(map)) => {
            let entries = map.iter().map(|(name, value)| Ok((name.clone(), structure(value)?)));
            entries.collect::<Result<Map<_, _>, String>>().map(Json::Object)
        }
        (None, Json::Number(number)) => Ok(number.as_f64().map_or(Json::Null, float)),
        (None, other) => Ok(other.clone()),
    }
}

/// A float as protojson writes it: without a fraction of zero.
fn float(number: f64) -> Json {
    serde_json::from_str(&golang::json_float(number)).unwrap_or(Json::Null)
}

/// A value as cel-go converts it to `structpb.Value`.
fn marshalled(value: &Value) -> Result<Json, PatchFault> {
    let unfit = |name: &str| {
        Err(PatchFault::Failed(format!("type conversion error from '{name}' to '*structpb.Value'")))
    };
    let failed = |text: &str| Err(PatchFault::Failed(text.to_owned()));
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(number) if number.unsigned_abs() <= MAX_SAFE.unsigned_abs() => json!(number),
        Value::Int(number) => json!(number.to_string()),
        Value::Uint(number) if *number <= MAX_SAFE.unsigned_abs() => json!(number),
        Value::Uint(number) => json!(number.to_string()),
        Value::Double(number) if number.is_finite() => float(*number),
        Value::Double(number) => {
            let name = if number.is_nan() { "NaN" } else { "Inf" };
            return failed(&format!("google.protobuf.Value cannot have {name}"));
        }
        Value::String(text) => json!(text.as_ref()),
        Value::Bytes(bytes) => json!(BASE64.encode(bytes)),
        Value::Duration(nanos) => json!(duration_text(*nanos)),
        Value::Timestamp(_) => json!(text_of(value)),
        Value::List(list) if list.kind.form() == Form::Read => {
            list.items.iter().map(joined).collect::<Result<_, _>>()?
        }
        Value::List(list) => list.items.iter().map(element).collect::<Result<_, _>>()?,
        Value::Object(fields) => {
            let entries = fields.iter().map(|(name, value)| Ok((name.clone(), element(value)?)));
            Json::Object(entries.collect::<Result<_, PatchFault>>()?)
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| match key {
                Key::String(key) => Ok((key.to_string(), element(value)?)),
                other => Err(PatchFault::Failed(format!(
                    "unsupported type conversion from '{}' to string",
                    other.value().type_name()
                ))),
            });
            Json::Object(entries.collect::<Result<_, PatchFault>>()?)
        }
        Value::Optional(Some(inner)) => marshalled(inner)?,
        Value::Optional(None) => return failed("optional.none() dereference"),
        Value::Message(message) if message.name == JSON_PATCH => {
            return failed("cannot convert to native type: *structpb.Value");
        }
        Value::Message(message) => {
            return fields(message).and_then(|json| structure(&json)).map_err(PatchFault::Failed);
        }
        Value::Type(_) => return failed("type conversion not supported for 'type'"),
        Value::Variables => return failed("disallowed conversion from \"kubernetes.variables\" to \"\""),
        Value::Quantity(_) => return unfit("Quantity"),
        Value::Url(_) => return unfit("URL"),
        Value::Ip(_) => return unfit("IP"),
        Value::Cidr(..) => return unfit("CIDR"),
        Value::Semver(_) => return unfit("Semver"),
        other => return unfit(other.type_name()),
    })
}

/// An element of a joined list, which is converted to a Go value first (`concatList` of cel-go's common/types/list.go).
fn joined(value: &Value) -> Result<Json, PatchFault> {
    match value {
        Value::Message(message) if message.name != JSON_PATCH => {
            let entries = message.fields.iter().map(|(name, value)| Ok((name.clone(), joined(value)?)));
            Ok(Json::Object(entries.collect::<Result<_, PatchFault>>()?))
        }
        Value::List(list) => list.items.iter().map(joined).collect(),
        other => marshalled(other),
    }
}

/// An element of a list or a map. An object in one is a `*structpb.Struct` where cel-go puts a `*structpb.Value`.
fn element(value: &Value) -> Result<Json, PatchFault> {
    match value {
        Value::Message(message) if message.name != JSON_PATCH => Err(PatchFault::Panic(format!(
            "kube-apiserver panics on {}{{}} in a list or a map of a JSON patch: reflect.Set: value of type *structpb.Struct is \
             not assignable to type *structpb.Value; write a map instead",
            message.name
        ))),
        other => marshalled(other),
    }
}
