//! The definitions against what kube-apiserver's builder makes of the same schema.

use serde_json::{Value, json};

use super::{CustomKind, definitions, definitions_v2, metadata_definitions};

fn defined(schema: Value, selectable_fields: &[String]) -> (Value, Value) {
    let kind = CustomKind {
        group: "demo.example.com",
        version: "v1",
        kind: "Widget",
        list_kind: "WidgetList",
        plural: "widgets",
        selectable_fields,
    };
    let mut all = definitions(&kind, schema);
    let mut take = |name: &str| all.remove(name).unwrap();
    (take("com.example.demo.v1.Widget"), take("com.example.demo.v1.WidgetList"))
}

#[test]
fn kind_and_list_have_separate_definitions() {
    let (object, list) = defined(json!({"type": "object", "description": "A widget."}), &[]);
    assert_eq!(
        object["x-kubernetes-group-version-kind"],
        json!([{"group": "demo.example.com", "version": "v1", "kind": "Widget"}])
    );
    assert_eq!(
        list["x-kubernetes-group-version-kind"],
        json!([{"group": "demo.example.com", "version": "v1", "kind": "WidgetList"}])
    );
    assert_eq!(
        object["properties"]["metadata"]["allOf"][0]["$ref"],
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    );
    assert_eq!(object["description"], "A widget.");
    assert_eq!(list["required"], json!(["items"]));
    assert_eq!(
        list["properties"]["items"]["items"],
        json!({"$ref": "#/components/schemas/com.example.demo.v1.Widget"})
    );
    assert!(object.get("x-kubernetes-selectable-fields").is_none());
}

#[test]
fn selectable_fields_are_published_without_a_leading_dot() {
    let (object, list) = defined(json!({"type": "object"}), &[".spec.node".to_owned()]);
    let expected = json!([{"fieldPath": "spec.node"}]);
    assert_eq!(object["x-kubernetes-selectable-fields"], expected);
    assert_eq!(list["x-kubernetes-selectable-fields"], expected);
}

#[test]
fn int_or_string_extension_is_expanded() {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let property = |schema: Value| {
        let (object, _) = defined(json!({"type": "object", "properties": {"spec": schema}}), &[]);
        object["properties"]["spec"].clone()
    };
    let int_or_string = "x-kubernetes-int-or-string";
    assert_eq!(property(json!({int_or_string: true}))["anyOf"], either);
    let list = property(json!({"type": "array", "items": {int_or_string: true}}));
    assert_eq!(list["items"]["anyOf"], either);
    let done = json!({int_or_string: true, "anyOf": either});
    assert_eq!(property(done.clone()), done);
    let done = json!({int_or_string: true, "allOf": [{"anyOf": either}], "anyOf": [{"minimum": 1}]});
    assert_eq!(property(done.clone()), done);
    let other = property(json!({int_or_string: true, "anyOf": [{"minimum": 1}], "allOf": [{"maximum": 9}]}));
    assert_eq!(other["allOf"], json!([{"anyOf": either}, {"maximum": 9}]));

    let map = json!({"type": "object", "additionalProperties": {
        "type": "object", "x-kubernetes-embedded-resource": true, "required": ["kind", "spec"],
    }});
    let embedded = property(map)["additionalProperties"].clone();
    assert_eq!(embedded["required"], json!(["kind", "spec", "apiVersion"]));
    let names: Vec<&String> = embedded["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["apiVersion", "kind", "metadata"]);
}

#[test]
fn version_2_lacks_what_kubectl_cannot_handle() {
    let kind = CustomKind {
        group: "demo.example.com",
        version: "v1",
        kind: "Widget",
        list_kind: "WidgetList",
        plural: "widgets",
        selectable_fields: &[],
    };
    let of = |schema: Value| definitions_v2(&kind, schema).remove("com.example.demo.v1.Widget").unwrap();
    let open = "x-kubernetes-preserve-unknown-fields";
    let embedded = "x-kubernetes-embedded-resource";
    let object = of(json!({"type": "object", "properties": {
        "null": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}},
        "open": {"type": "array", open: true, "items": {"type": "string"}},
        "embedded": {"type": "object", embedded: true, open: true},
        "either": {"x-kubernetes-int-or-string": true, "default": 1},
        "map": {"type": "object", "required": ["a"], "additionalProperties": {"type": "string", "nullable": true}},
    }, "required": ["null", "open"]}));
    let properties = &object["properties"];
    assert_eq!(object["required"], json!(["open"]));
    assert_eq!(properties["null"], json!({}));
    assert_eq!(properties["open"], json!({open: true}));
    assert_eq!(properties["embedded"], json!({embedded: true, open: true}));
    assert_eq!(properties["either"], json!({"x-kubernetes-int-or-string": true}));
    assert_eq!(properties["map"], json!({"type": "object", "additionalProperties": {}}));
    let object = of(json!({"type": "object", open: true, "properties": {"a": {"type": "string"}}}));
    assert!(object.get("properties").is_none());
}

#[test]
fn empty_example_is_left_out() {
    let (object, _) = defined(json!({"properties": {"a": {"example": ""}, "b": {"example": 0}}}), &[]);
    assert_eq!(object["properties"]["a"], json!({}));
    assert_eq!(object["properties"]["b"], json!({"example": 0}));
}

#[test]
fn every_reference_has_a_definition() {
    let (object, list) = defined(json!({"type": "object"}), &[]);
    let mut all = metadata_definitions();
    all.insert("com.example.demo.v1.Widget".to_owned(), object);
    all.insert("com.example.demo.v1.WidgetList".to_owned(), list);
    let text = serde_json::to_string(&all).unwrap();
    let references: Vec<&str> =
        text.split("\"#/components/schemas/").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    assert!(references.len() > 6, "{references:?}");
    for reference in references {
        assert!(all.contains_key(reference), "{reference}");
    }
}

#[test]
fn malformed_properties_are_replaced() {
    for schema in [
        json!({"properties": "a"}),
        json!({"properties": [1]}),
        json!({"properties": {"a": "b"}, "items": 1}),
    ] {
        let (object, _) = defined(schema, &[]);
        assert_eq!(object["properties"]["kind"]["type"], "string");
    }
    let embedded = json!({"x-kubernetes-embedded-resource": true, "properties": 1});
    let (object, _) = defined(json!({"properties": {"a": embedded}}), &[]);
    assert_eq!(object["properties"]["a"]["properties"]["kind"]["type"], "string");
}

#[test]
fn version_without_a_schema_is_an_object() {
    let (object, _) = defined(Value::Null, &[]);
    assert_eq!(object["type"], "object");
}
