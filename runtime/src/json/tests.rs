use std::collections::BTreeMap;
use std::fmt::Debug;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

fn fast<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    from_str(text).map_err(|error| error.to_string())
}

/// Decodes with serde_json.
fn slow<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Accepted values are accepted by serde_json too, with the same result.
fn agrees<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(fast::<T>(text).ok(), slow::<T>(text).ok(), "{}", text);
    Ok(())
}

/// Rejected values have serde_json's message.
fn same<T: DeserializeOwned + PartialEq + Debug>(text: &str) {
    let what = |error: String| error.split(" at line").next().unwrap().to_owned();
    assert_eq!(fast::<T>(text).map_err(what), slow::<T>(text).map_err(what), "{text}");
}

#[derive(Debug, PartialEq, Deserialize)]
enum Shape {
    Empty,
    Circle(f64),
    Rectangle { width: i32, height: i32 },
    Pair(u8, bool),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct All {
    text: String,
    small: u8,
    negative: i64,
    float: f64,
    flag: bool,
    nothing: Option<String>,
    something: Option<Vec<String>>,
    map: BTreeMap<String, Value>,
    shapes: Vec<Shape>,
    letter: char,
    unit: (),
    pair: (i32, String),
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[test]
fn values_of_all_types_decode() {
    let text = r#" {"text" : "plain", "small": 7, "negative": -12, "float": 1.5e3, "flag": true, "nothing": null,
        "something": ["a", "é\n\u00e9"], "map": {"a\"b": [1, {"c": []}], "d": {}}, "letter": "x", "unit": null,
        "shapes": ["Empty", {"Circle": 2}, {"Rectangle": {"width": 1, "height": -2}}, {"Pair": [3, false]}],
        "pair": [1, "b"], "more": {"x": [true, false, null]}} "#;
    assert_eq!(fast::<All>(text).unwrap(), serde_json::from_str::<All>(text).unwrap());
}

#[test]
fn vectors_have_no_spare_capacity() {
    let pod = json!({
        "metadata": { "name": "a" },
        "spec": { "containers": [{ "name": "a" }, { "name": "b", "args": ["x,]", "y", "z"] }] },
    });
    let pod = fast::<Pod>(&pod.to_string()).unwrap();
    let containers = pod.spec.unwrap().containers;
    assert_eq!(containers.capacity(), 2);
    assert_eq!(containers[1].args.as_ref().unwrap().capacity(), 3);
}

#[test]
fn unwanted_members_are_skipped() {
    for text in [r#"{"a": [1, "]", {"b": "}\""}]}"#, "-1.5", "null", r#""a\\""#, "[[[]]]"] {
        assert!(fast::<IgnoredAny>(text).is_ok(), "{text}");
    }
    for text in ["{", "[}", "{]", "\"a", "\"a\\", "", "[[]", "nul"] {
        assert!(fast::<IgnoredAny>(text).is_err(), "{text}");
    }
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert!(fast::<IgnoredAny>(&deep(127)).is_ok());
    assert!(fast::<IgnoredAny>(&deep(128)).is_err());
}

#[test]
fn rare_forms_decode_as_in_serde_json() {
    ["1.5", "1", "\"1\"", "null"].into_iter().for_each(same::<f32>);
    let huge = "170141183460469231731687303715884105727";
    [huge, "-1", &format!("{huge}0")].into_iter().for_each(same::<i128>);
    [huge, "-1", "7"].into_iter().for_each(same::<u128>);
    for text in
        ["-0", "99999999999999999999", "-99999999999999999999", "01", "1.", "+1", "1e", "--1", "1e999"]
    {
        same::<Value>(text);
        same::<f64>(text);
        assert!(fast::<u8>(text).is_err(), "{text}");
    }
    for levels in [127, 128] {
        same::<Value>(&("[".repeat(levels) + &"]".repeat(levels)));
    }
    for text in [r#""Em\u0070ty""#, r#"{"C\u0069rcle":1}"#, r#"{"Empty":null}"#, r#""Round""#] {
        same::<Shape>(text);
    }
    assert!(fast::<Shape>(r#"{"Circle":1,"Empty":null}"#).is_err());
    same::<BTreeMap<u16, bool>>(r#"{"1":true,"65535":false}"#);
    same::<BTreeMap<bool, i64>>(r#"{"true":1}"#);
    for key in ["x", " 1", "1 ", "\\t1", "", "-", "+1", "1.5"] {
        assert!(fast::<BTreeMap<u16, bool>>(&format!("{{\"{key}\":true}}")).is_err(), "{key}");
    }
    assert_eq!(fast::<Box<RawValue>>(" [1, 2]").unwrap().get(), "[1, 2]");
    assert_eq!(fast::<serde_bytes_of::Bytes>("\"a\"").unwrap().0, b"a");
}

/// A value that asks for bytes.
mod serde_bytes_of {
    use super::*;

    pub(super) struct Bytes(pub(super) Vec<u8>);

    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct BytesVisitor;
            impl Visitor<'_> for BytesVisitor {
                type Value = Bytes;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("bytes")
                }
                fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                    Ok(Bytes(bytes.to_vec()))
                }
            }
            deserializer.deserialize_bytes(BytesVisitor)
        }
    }
}

#[test]
fn decode_errors_equal_those_of_serde_json() {
    for text in ["7", "1.5", "\"x\"", "true", "null", "[1]", "{\"a\":1}", "nul", ""] {
        same::<bool>(text);
        same::<String>(text);
        same::<u8>(text);
        same::<()>(text);
        same::<Vec<String>>(text);
        same::<BTreeMap<String, String>>(text);
    }
    same::<All>("{\n  \"text\": \"a\",\n  \"small\": 300\n}");
    same::<(i32, i32)>("[1]");
    same::<(i32, i32)>("[1, 2, 3]");
    assert_eq!(
        fast::<All>("{\n  \"text\": 7}").unwrap_err(),
        slow::<All>("{\n  \"text\": 7}").unwrap_err(),
        "and where"
    );
    assert!(fast::<All>("[1]").unwrap_err().starts_with("invalid type: sequence, expected struct All"));
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Nothing,
    Count(u8),
    Text(String),
    Pair(i64, bool),
    Members { a: BTreeMap<String, Option<f64>> },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
enum Inside {
    Empty,
    Members { a: Option<()>, list: Vec<Untagged> },
    Wrapped(BTreeMap<String, i32>),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Beside {
    Empty,
    One(Unit),
    Two(u8, Wrapped),
    Members { a: u128 },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(#[serde(deserialize_with = "length")] usize);

fn length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    std::borrow::Cow::<str>::deserialize(deserializer).map(|text| text.len())
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(default)]
    a: Option<Option<()>>,
    #[serde(alias = "c")]
    b: Option<char>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    #[serde(flatten)]
    inside: Option<Inside>,
    #[serde(flatten)]
    wrapped: Option<Strict>,
    #[serde(flatten)]
    rest: BTreeMap<String, Untagged>,
}

#[test]
fn all_serde_forms_decode_as_in_serde_json() {
    for text in [
        "null",
        "7",
        "-7",
        "300",
        "\"a\\u0062\"",
        "[1,true]",
        "[1]",
        "{}",
        r#"{"a":{"x":1,"y":null}}"#,
        r#"{"type":"Empty","x":[]}"#,
        r#"{"a":null,"list":[null,1,"x",[2,false]],"type":"Members"}"#,
        r#"{"type":"Members","list":[],"rest":[1,true]}"#,
        r#"{"type":"Wrapped","a":1,"b":2}"#,
        r#"{"type":"Round"}"#,
        r#"{"t":"Empty"}"#,
        r#"{"c":null,"t":"One"}"#,
        r#"{"t":"Two","c":[1,"\u00e9"]}"#,
        r#"{"c":[1,"abc"],"t":"Two"}"#,
        r#"{"t":"Members","c":{"a":340282366920938463463374607431768211455}}"#,
        r#"{"a":null,"b":"x"}"#,
        r#"{"c":"xy"}"#,
        r#"{"z":1}"#,
        r#"{"b":"x","b":"y"}"#,
        r#"{"b":"x","c":"y"}"#,
    ] {
        same::<Untagged>(text);
        same::<Inside>(text);
        same::<Unit>(text);
        same::<Wrapped>(text);
        same::<Option<Option<()>>>(text);
        same::<Flat>(text);
        // serde reads structs from arrays too.
        if !text.starts_with('[') {
            same::<Beside>(text);
            same::<Strict>(text);
        }
    }
}

#[test]
fn unpaired_surrogate_is_an_error() {
    let text = r#"{"a":"\ud800"}, 1"#;
    let mut json = JsonReader::new(text);
    let error = BTreeMap::<String, String>::deserialize(&mut json).unwrap_err();
    let error = json.explain(&error).to_string();
    assert!(error.starts_with("unexpected end of hex escape at line 1 column"), "{error}");
}

/// Reads a raw value.
fn raw(text: &str) -> Option<&str> {
    let mut fast = JsonReader::new(text);
    let Raw(raw) = Raw::deserialize(&mut fast).ok()?;
    fast.is_at_end().then_some(raw)
}

#[test]
fn raw_values_are_checked() {
    for text in [
        r#" {"a": [1, "]", {"b\u00e9": "}\""}], "c": {}, "d": [] }"#,
        "-1.5e+3",
        "0",
        "null",
        r#""a\\""#,
        "[[[]]]",
    ] {
        assert_eq!(raw(text), Some(text.trim_start()));
    }
    for text in [
        "",
        "{",
        "[}",
        "{]",
        "]",
        "\"a",
        r#""\x""#,
        r#""\u12g4""#,
        r#""\u12"#,
        "[1,]",
        "[,]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{1:2}",
        "{\"a\" 1}",
        "[1 2]",
        "nul",
        "tru",
        "01",
        "1.",
        ".5",
        "1e",
        "+1",
        "--1",
        "\"\n\"",
        "[1}",
        "{\"a\":1]",
    ] {
        assert_eq!(raw(text), None, "{text}");
    }
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert!(raw(&deep(127)).is_some());
    assert!(raw(&deep(128)).is_none());
}

#[test]
fn members_decode_without_braces() {
    type Members = BTreeMap<String, Value>;
    struct All;
    impl<'de> Visitor<'de> for All {
        type Value = Members;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("members")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    let bare = |text| JsonReader::new(text).bare_members(All);
    assert_eq!(bare(r#""a": {"b": 1}, "c": [] "#).unwrap().len(), 2);
    assert_eq!(bare("").unwrap(), Members::new());
    for text in ["}", "\"a\"", "\"a\":1}", "\"a\":1,"] {
        assert!(bare(text).is_err(), "{text}");
    }
}

#[test]
fn secrets_decode() {
    let text = r#"{"metadata":{"name":"a"},"data":{"key":"aGVsbG8="}}"#;
    assert_eq!(fast::<Secret>(text).unwrap(), serde_json::from_str::<Secret>(text).unwrap());
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,12}", "\\PC{0,6}", Just("a\"\\\n\u{1}é\u{1F600}".to_owned())]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_decodes_as_in_serde_json(value in value(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        agrees::<Value>(&text)?;
        prop_assert!(fast::<IgnoredAny>(&text).is_ok(), "{}", text);
        prop_assert_eq!(raw(&text), Some(&*text));
    }

    #[test]
    fn damaged_text_is_an_error(value in value(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}:,\"0\\\\ntx -]{0,2}") {
        let mut text = value.to_string();
        let mut place = at.index(text.len());
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        let next = text[place..].chars().next().map_or(0, char::len_utf8);
        text.replace_range(place..place + next, &with);
        agrees::<Value>(&text)?;
        agrees::<Vec<Value>>(&text)?;
        agrees::<BTreeMap<String, Option<Value>>>(&text)?;
        let expected = serde_json::from_str::<&RawValue>(&text).ok().map(RawValue::get);
        prop_assert!(raw(&text).is_none() || raw(&text) == expected, "{}", text);
    }

    #[test]
    fn numbers_decode_as_in_serde_json(text in "-?[0-9]{0,20}(\\.[0-9]{0,4})?([eE][+-]?[0-9]{0,3})?") {
        agrees::<Value>(&text)?;
        agrees::<i64>(&text)?;
        agrees::<u8>(&text)?;
        agrees::<f64>(&text)?;
    }

    #[test]
    fn objects_decode_as_in_serde_json(
        data in proptest::option::of(proptest::collection::btree_map(text(), text(), 0..4)),
        name in text(),
    ) {
        let object = json!({ "kind": "ConfigMap", "apiVersion": "v1", "metadata": { "name": name }, "data": data });
        let text = object.to_string();
        prop_assert_eq!(fast::<ConfigMap>(&text).unwrap(), serde_json::from_str::<ConfigMap>(&text).unwrap());
    }
}
