use serde_json::{Value, json};

use super::*;
use crate::structural::{Cause, Path, Schema};

/// A definition whose schema has these properties below `spec`.
fn crd(properties: Value) -> Value {
    json!({"metadata": {"name": "widgets.g.example.com"}, "spec": {
        "group": "g.example.com", "scope": "Namespaced",
        "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
        "conversion": {"strategy": "None"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
            "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
                "spec": {"type": "object", "properties": properties}}}}}]}})
}

fn faults(crd: &Value) -> Vec<String> {
    validate_crd(crd, None).iter().map(Cause::to_string).collect()
}

const SPEC: &str = "spec.validation.openAPIV3Schema.properties[spec]";

#[test]
fn valid_definition_has_no_errors() {
    assert_eq!(faults(&crd(json!({"a": {"type": "string", "default": "x"}}))), Vec::<String>::new());
}

#[test]
fn definition_names_are_validated() {
    let mut bad = crd(json!({}));
    bad["metadata"]["name"] = json!("wrong.g.example.com");
    bad["spec"]["names"]["listKind"] = json!("Widget");
    bad["spec"]["scope"] = json!("World");
    assert_eq!(
        faults(&bad),
        [
            "metadata.name: Invalid value: \"wrong.g.example.com\": must be spec.names.plural+\".\"+spec.group",
            "spec.scope: Unsupported value: \"World\": supported values: \"Cluster\", \"Namespaced\"",
            "spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same",
        ]
    );
}

#[test]
fn schema_must_be_structural() {
    for (schema, wanted) in [
        (
            json!({"a": {}}),
            "properties[a].type: Required value: must not be empty for specified object fields",
        ),
        (json!({"a": {"type": "array"}}), "properties[a].items: Required value: must be specified"),
        (
            json!({"a": {"type": "string", "anyOf": [{"type": "string"}]}}),
            "properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            json!({"a": {"type": "string", "pattern": "("}}),
            "properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`",
        ),
        (
            json!({"a": {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}}}),
            "properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
        ),
        (
            json!({"a": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}}}}}),
            "properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
        (
            json!({"a": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}}),
            "properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ),
        (
            json!({"a": {"type": "text"}}),
            "properties[a].type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
        ),
        (
            json!({"a": {"type": "array", "uniqueItems": true, "items": {"type": "string"}}}),
            "properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
        (
            json!({"a": {"type": "integer", "default": "x"}}),
            "properties[a].default: Invalid value: \"string\":  in body must be of type integer: \"string\"",
        ),
        (
            json!({"a": {"type": "object", "default": {"x": 1}}}),
            "properties[a].default: Invalid value: {\"x\":1}: must not have unknown fields",
        ),
        (
            json!({"a": {"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 3"}]}}),
            "properties[a].default: Invalid value: 1: failed rule: self > 3",
        ),
        (
            json!({"a": {"type": "string", "$ref": "#/x"}}),
            "properties[a].$ref: Forbidden: $ref is not supported",
        ),
        (json!({"a": {"$ref": "#/x"}}), "properties[a].$ref: Forbidden: $ref is not supported"),
        // The defaults of a schema that cannot be converted are not checked.
        (
            json!({"a": {"type": "string", "$ref": "#/x"}, "b": {"type": "integer", "default": "x"}}),
            "properties[a].$ref: Forbidden: $ref is not supported",
        ),
        (
            json!({"a": {"type": "string", "$ref": ""}}),
            "properties[a].$ref: Forbidden: $ref is not supported",
        ),
        (
            json!({"a": {"type": "string", "additionalItems": {}}}),
            "properties[a].additionalItems: Forbidden: additionalItems is not supported",
        ),
        (
            json!({"a": {"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "X"}]}}),
            "properties[a].x-kubernetes-validations[0].reason: Unsupported value: \"X\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\"",
        ),
        (
            json!({"a": {"type": "object", "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".b"}]}}),
            "properties[a].x-kubernetes-validations[0].fieldPath: Invalid value: \".b\": must be a valid path",
        ),
    ] {
        assert_eq!(faults(&crd(schema)), [format!("{SPEC}.{wanted}")]);
    }
}

/// kube-openapi leaves texts and lists to the format, even to one that it does not know.
#[test]
fn default_of_an_unknown_format_may_be_a_list() {
    let good = json!({"a": {"type": "string", "format": "nope", "default": []}});
    assert_eq!(faults(&crd(good)), Vec::<String>::new());
}

#[test]
fn int_or_string_may_name_its_types() {
    let any_of = json!([{"type": "integer"}, {"type": "string"}]);
    let good = json!({"a": {"x-kubernetes-int-or-string": true, "anyOf": any_of},
        "b": {"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": any_of}, {"pattern": "x"}]}});
    assert_eq!(faults(&crd(good)), Vec::<String>::new());
}

#[test]
fn errors_of_differing_versions_have_their_own_paths() {
    let mut two = crd(json!({"a": {}}));
    let mut other = two["spec"]["versions"][0].clone();
    other["name"] = json!("v2");
    other["storage"] = json!(false);
    other["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = json!({});
    two["spec"]["versions"].as_array_mut().unwrap().push(other);
    assert_eq!(
        faults(&two),
        [
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields"
        ]
    );
    two["spec"]["versions"][1]["name"] = json!("v1");
    two["spec"]["versions"][1]["storage"] = json!(true);
    let fields: Vec<String> = validate_crd(&two, None).into_iter().map(|c| c.field).skip(1).collect();
    assert_eq!(fields, ["spec.versions", "spec.versions"]);
}

#[test]
fn columns_subresources_and_selectable_fields_are_validated() {
    let mut bad = crd(json!({"a": {"type": "string"}, "o": {"type": "object"}}));
    let version = &mut bad["spec"]["versions"][0];
    version["deprecationWarning"] = json!("old");
    version["subresources"] =
        json!({"scale": {"specReplicasPath": "spec.replicas", "statusReplicasPath": ".spec.x"}});
    version["additionalPrinterColumns"] = json!([{"name": "", "type": "text", "jsonPath": ""}]);
    version["selectableFields"] = json!([{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.a"}, {"jsonPath": ".spec.o"},
        {"jsonPath": ".spec.nope"}]);
    bad["spec"]["conversion"] = json!({"strategy": "Webhook"});
    let fields: Vec<(String, &str)> =
        validate_crd(&bad, None).iter().map(|c| (c.field.clone(), c.reason())).collect();
    let wanted = [
        ("spec.versions[0].deprecationWarning", "FieldValueInvalid"),
        ("spec.subresources.scale.specReplicasPath", "FieldValueInvalid"),
        ("spec.subresources.scale.statusReplicasPath", "FieldValueInvalid"),
        ("spec.additionalPrinterColumns[0].name", "FieldValueRequired"),
        ("spec.additionalPrinterColumns[0].type", "FieldValueInvalid"),
        ("spec.additionalPrinterColumns[0].JSONPath", "FieldValueRequired"),
        ("spec.selectableFields[1].jsonPath", "FieldValueDuplicate"),
        ("spec.selectableFields[2].jsonPath", "FieldValueInvalid"),
        ("spec.selectableFields[3].jsonPath", "FieldValueInvalid"),
        ("spec.conversion.webhookClientConfig", "FieldValueRequired"),
        ("spec.conversion.conversionReviewVersions", "FieldValueRequired"),
    ];
    assert_eq!(fields, wanted.map(|(f, r)| (f.to_owned(), r)));
}

#[test]
fn update_is_refused_when_kind_or_stored_version_changes() {
    let mut old = crd(json!({}));
    old["status"] =
        json!({"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]});
    let mut new = old.clone();
    new["spec"]["names"]["kind"] = json!("Gadget");
    new["spec"]["versions"][0]["name"] = json!("v2");
    let texts: Vec<String> = validate_crd(&new, Some(&old)).iter().map(|c| c.field.clone()).collect();
    assert_eq!(texts, ["spec.names.kind", "status.storedVersions", "status.storedVersions[0]"]);
}

#[test]
fn version_errors_print_the_internal_go_structure() {
    let mut crd = crd(json!({}));
    crd["spec"]["versions"][0]["storage"] = json!(false);
    crd["spec"]["versions"][0]["name"] = json!("V_1");
    crd["status"] = json!({"storedVersions": null});
    let texts: Vec<String> = validate_crd(&crd, None).iter().map(Cause::to_string).collect();
    let text = |field: &str| texts.iter().find(|text| text.starts_with(field)).map(String::as_str);
    let wanted = "spec.versions: Invalid value: [{\"Name\":\"V_1\",\"Served\":true,\"Storage\":false,\"Deprecated\":false,\
                  \"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\
                  \"SelectableFields\":null}]: must have exactly one version marked as storage version";
    assert_eq!(text("spec.versions:"), Some(wanted));
    let wanted = "status.storedVersions: Invalid value: null: must have at least one stored version";
    assert_eq!(text("status.storedVersions"), Some(wanted));
    assert!(text("spec.version:").is_some_and(|text| text.contains("\"V_1\": a DNS-1035 label")));
}

#[test]
fn junctors_may_constrain_only_specified_fields() {
    let schema = Schema::enforced(&json!({"type": "object", "properties": {"a": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"properties": {"b": {"pattern": "x"}}}]}))
    .unwrap();
    let texts: Vec<String> =
        validate_structural(&Path::new("s"), &schema).iter().map(Cause::to_string).collect();
    assert_eq!(texts, ["s.properties[b]: Required value: because it is defined in s.anyOf[1].properties[b]"]);
}

#[test]
fn defaults_need_pruning() {
    let mut preserving = crd(json!({"a": {"type": "string", "default": "x"}}));
    preserving["spec"]["preserveUnknownFields"] = true.into();
    let fault = "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema";
    assert!(faults(&preserving).contains(&fault.to_owned()), "{:?}", faults(&preserving));
}

#[test]
fn default_of_the_root_is_a_whole_resource() {
    let of_root = |default: Value| {
        let mut definition = crd(json!({}));
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["default"] = default;
        faults(&definition)
    };
    let place = "spec.validation.openAPIV3Schema.default";
    assert_eq!(
        of_root(json!({})),
        [format!("{place}.apiVersion: Required value"), format!("{place}.kind: Required value")]
    );
    assert!(of_root(json!({"apiVersion": "x/v1", "kind": "X"})).is_empty());
}

#[test]
fn rule_must_compile_and_stay_within_the_cost_budget() {
    let at = format!("{SPEC}.properties[a].x-kubernetes-validations[0]");
    let shown = |rule: &str| {
        format!(
            "{{\"Rule\":\"{rule}\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}}"
        )
    };
    for (schema, wanted) in [
        (
            json!({"a": {"type": "string", "x-kubernetes-validations": [{"rule": "self.nope == 1"}]}}),
            format!(
                "Invalid value: {}: compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection\n | self.nope == 1\n | ....^",
                shown("self.nope == 1")
            ),
        ),
        (
            json!({"a": {"type": "string", "x-kubernetes-validations": [{"rule": "1"}]}}),
            format!("Invalid value: {}: cel expression must evaluate to a bool", shown("1")),
        ),
        (
            json!({"a": {"type": "array", "items": {"type": "string"},
                "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]}}),
            "Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)".to_owned(),
        ),
    ] {
        assert_eq!(faults(&crd(schema))[0], format!("{at}.rule: {wanted}"));
    }
    let uncorrelatable = json!({"a": {"type": "array", "items": {"type": "integer",
        "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}});
    assert_eq!(
        faults(&crd(uncorrelatable)),
        [format!(
            "{SPEC}.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema within {SPEC}.properties[a]"
        )]
    );
    let bounded = json!({"a": {"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 10},
        "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))", "messageExpression": "'bad: ' + self[0]"}]}});
    assert_eq!(faults(&crd(bounded)), Vec::<String>::new());
}

#[test]
fn protected_group_requires_an_approval() {
    let mut own = crd(json!({}));
    own["spec"]["group"] = json!("demo.k8s.io");
    own["metadata"]["name"] = json!("widgets.demo.k8s.io");
    for (approval, kind) in [
        (None, Some("Required value")),
        (Some(""), Some("Required value")),
        (Some("soon"), Some("Invalid value")),
        (Some("https://"), Some("Invalid value")),
        (Some("http://github.com/kubernetes/enhancements/pull/1111"), None),
        (Some("unapproved, experimental-only"), None),
    ] {
        own["metadata"]["annotations"] =
            approval.map_or(json!({}), |text| json!({"api-approved.kubernetes.io": text}));
        let found = faults(&own);
        assert_eq!(found.is_empty(), kind.is_none(), "{approval:?}: {found:?}");
        let prefix = "metadata.annotations[api-approved.kubernetes.io]: ";
        assert!(kind.is_none_or(|kind| found[0].starts_with(&format!("{prefix}{kind}"))), "{found:?}");
    }
}
