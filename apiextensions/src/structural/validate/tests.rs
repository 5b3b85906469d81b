use super::*;
use serde_json::json;

fn causes(schema: Value, object: Value) -> Vec<String> {
    validate(&Schema::enforced(&schema).unwrap(), &object).iter().map(Cause::to_string).collect()
}

#[track_caller]
fn refused(schema: Value, value: Value, wanted: &[&str]) {
    let schema = json!({"type": "object", "properties": {"a": schema}});
    assert_eq!(causes(schema, json!({"a": value})), wanted);
}

#[test]
fn int_or_string_errors_have_the_text_of_the_server() {
    let schema = json!({"type": "object", "properties": {"ios": {"x-kubernetes-int-or-string": true,
        "anyOf": [{"type": "integer"}, {"type": "string"}]}}});
    assert_eq!(causes(schema.clone(), json!({"ios": "80%"})), Vec::<String>::new());
    assert_eq!(
        causes(schema, json!({"ios": 1.5})),
        [
            "ios: Invalid value: \"number\": ios in body must be of type integer,string: \"number\"",
            "<nil>: Invalid value: \"\": \"ios\" must validate at least one schema (anyOf)",
            "ios: Invalid value: \"number\": ios in body must be of type integer: \"number\"",
            "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in ios",
        ]
    );
}

#[test]
fn numbers_outside_their_bounds_and_formats_are_refused() {
    for (schema, value, wanted) in [
        (
            json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
            json!(0.0),
            vec!["a: Invalid value: 0: a in body should be greater than 0"],
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(3_000_000_000_i64),
            vec!["<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in a"],
        ),
        (json!({"type": "integer"}), json!(2.0), vec![]),
        (
            json!({"type": "integer", "format": "int64"}),
            json!(9_223_372_036_854_775_808_u64),
            vec![
                "a: Invalid value: \"float64\": a in body must be of type int64: \"float64\"",
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int64 in a",
            ],
        ),
        (
            json!({"type": "integer", "format": "int64", "maximum": 9_223_372_036_854_775_807_i64}),
            json!(1),
            vec![
                "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer with format int64 in a",
            ],
        ),
        (
            json!({"type": "integer", "minimum": i64::MIN}),
            json!(1),
            vec![
                "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer (default format) in a",
            ],
        ),
        // The float below 2^63.
        (json!({"type": "integer", "maximum": 9_223_372_036_854_774_784_i64}), json!(1), vec![]),
        (
            json!({"type": "integer", "format": "int32", "maximum": 4_294_967_295_u32}),
            json!(i64::MAX),
            vec![
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in a",
                "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer with format int32 in a",
                "a: Invalid value: 9.223372036854776e+18: a in body should be less than or equal to 4.294967295e+09",
            ],
        ),
    ] {
        refused(schema, value, &wanted);
    }
}

#[test]
fn values_of_other_types_and_formats_are_refused() {
    for (schema, value, wanted) in [
        (
            json!({"type": "string"}),
            json!(null),
            vec!["a: Invalid value: \"null\": a in body must be of type string: \"null\""],
        ),
        (json!({"type": "string", "nullable": true}), json!(null), vec![]),
        (
            json!({"type": "string", "nullable": true, "enum": ["x", null]}),
            json!(null),
            vec!["a: Unsupported value: null: supported values: \"x\", \"null\""],
        ),
        (
            json!({"type": "string", "format": "date"}),
            json!("x"),
            vec!["a: Invalid value: \"x\": a in body must be of type date: \"x\""],
        ),
        (
            json!({"type": "string", "format": "date"}),
            json!(1),
            vec!["a: Invalid value: \"int64\": a in body must be of type date: \"int64\""],
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            json!("äöü"),
            vec!["a: Too long: may not be more than 2 bytes"],
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!(3),
            vec!["a: Unsupported value: 3: supported values: \"1\", \"2\""],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"k": "v"}),
            vec!["a.k: Invalid value: \"string\": a.k in body must be of type integer: \"string\""],
        ),
        (
            json!({"type": "string", "not": {"pattern": "^a"}}),
            json!("ab"),
            vec!["<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)"],
        ),
        (
            json!({"type": "string", "oneOf": [{"pattern": "a"}, {"pattern": "b"}]}),
            json!("ab"),
            vec![
                "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ],
        ),
    ] {
        refused(schema, value, &wanted);
    }
}

#[test]
fn update_accepts_invalid_parts_when_they_did_not_change() {
    let schema = Schema::enforced(&json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 1}, "b": {"type": "integer"},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
              "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 1}}}}}}))
    .unwrap();
    let old = json!({"a": "long", "b": 1, "l": [{"k": "x", "v": "long"}]});
    let ok = json!({"a": "long", "b": 2, "l": [{"k": "y"}, {"k": "x", "v": "long"}]});
    assert_eq!(validate_update(&schema, &ok, &old), []);
    let bad = json!({"a": "longer", "b": 2});
    assert_eq!(validate_update(&schema, &bad, &old).len(), 1);
}

#[test]
fn update_of_a_part_that_cannot_be_compared_is_validated() {
    let schema = Schema::enforced(&json!({"type": "object", "properties": {
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "maxItems": 1,
              "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "maxProperties": 0}}}))
    .unwrap();
    let faults = |new: Value, old: Value| validate_update(&schema, &new, &old).len();
    let (one, two) = (json!({"k": "1"}), json!({"k": "2"}));
    assert_eq!(faults(json!({"l": [two, one]}), json!({"l": [one, two]})), 0);
    assert_eq!(faults(json!({"l": [{"v": "1"}]}), json!({"l": [{"v": "1"}]})), 1);
    assert_eq!(faults(json!({"any": {"a": 1}}), json!({"any": {"a": 1}})), 1);
}
