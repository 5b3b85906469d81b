//! The owners of the number of replicas.

use super::*;

fn paths() -> ReplicasPaths {
    let none = ReplicasPaths::default();
    none.with("g/v1", Some(".spec.size")).with("g/v2", Some(".spec.count")).with("g/v3", None)
}

fn of_scale(name: &str) -> Manager {
    let (api_version, subresource) = (SCALE_VERSION.to_owned(), "scale".to_owned());
    Manager { api_version, subresource, ..manager(name, 2) }
}

/// An object's scale, before and after the replicas are set.
fn scaled(object: &Value, replicas: u32, name: &str) -> (Value, Value) {
    let mut old = json!({"apiVersion": SCALE_VERSION, "kind": "Scale", "metadata": {"uid": "u"},
        "spec": {"replicas": 2}});
    old["metadata"]["managedFields"] = paths().to_scale(object);
    let mut new = old.clone();
    new["spec"]["replicas"] = json!(replicas);
    let new = update(scale(), &old, &new, &of_scale(name));
    (old, new)
}

#[test]
fn scale_subresource_takes_ownership_of_replicas() {
    let typed = Typed::custom(&schema());
    let mut object = update(&typed, &Value::Null, &config(json!({"size": 2})), &manager("web", 1));
    let (old, new) = scaled(&object, 3, "hpa");
    assert_eq!(fields(&old), [("web".to_owned(), json!({"f:spec": {"f:replicas": {}}}))]);
    assert_eq!(old["metadata"]["managedFields"][0]["apiVersion"], "autoscaling/v1");
    paths().to_object(&mut object, &new, "g/v1");
    assert_eq!(
        fields(&object),
        [("hpa".to_owned(), json!({"f:spec": {"f:size": {}}})), ("web".to_owned(), json!({"f:spec": {}}))]
    );
    assert_eq!(object["metadata"]["managedFields"][0].get("time"), None, "kube-apiserver writes none");
}

/// As in kube-apiserver, whose next write then drops the entry with the replicas.
#[test]
fn unchanged_scale_lists_an_updater_of_replicas_twice() {
    let typed = Typed::custom(&schema());
    let mut object = update(&typed, &Value::Null, &config(json!({"size": 2})), &manager("web", 1));
    let (_, new) = scaled(&object, 2, "hpa");
    paths().to_object(&mut object, &new, "g/v1");
    assert_eq!(
        fields(&object),
        [("web".to_owned(), json!({"f:spec": {"f:size": {}}})), ("web".to_owned(), json!({"f:spec": {}}))]
    );
    assert_eq!(object["metadata"]["managedFields"][0].get("time"), None);
}

#[test]
fn unchanged_scale_keeps_an_applier_of_replicas() {
    let typed = Typed::custom(&schema());
    let applied = apply(&typed, &Value::Null, &config(json!({"size": 2})), &manager("web", 1), false);
    let mut object = applied.unwrap().object;
    let before = object.clone();
    let (_, new) = scaled(&object, 2, "hpa");
    paths().to_object(&mut object, &new, "g/v1");
    assert_eq!(object, before);
}

/// Each manager's version determines the path of the replicas. Managers of removed versions are dropped.
#[test]
fn replicas_path_follows_the_version_of_each_manager() {
    let entry = |name: &str, version: &str, fields: Value| {
        json!({"manager": name, "operation": "Apply", "apiVersion": format!("g/{version}"),
               "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}})
    };
    let both = |path: &str| json!({path: {}, "f:color": {}});
    let mut object = json!({"metadata": {"managedFields": [
        entry("one", "v1", both("f:size")),
        entry("two", "v2", both("f:count")),
        entry("three", "v3", both("f:size")),
        entry("four", "v4", both("f:size")),
    ]}});
    let (old, new) = scaled(&object, 5, "hpa");
    let owners: Vec<String> = fields(&old).into_iter().map(|(name, _)| name).collect();
    assert_eq!(owners, ["one", "two"]);
    paths().to_object(&mut object, &new, "g/v2");
    let colour = || json!({"f:spec": {"f:color": {}}});
    assert_eq!(
        fields(&object),
        [
            ("one".to_owned(), colour()),
            ("three".to_owned(), json!({"f:spec": both("f:size")})),
            ("two".to_owned(), colour()),
            ("hpa".to_owned(), json!({"f:spec": {"f:count": {}}})),
        ]
    );
}

#[test]
fn scale_conflict_names_the_field_of_the_scale() {
    let typed = Typed::custom(&schema());
    let object = update(&typed, &Value::Null, &config(json!({"size": 2})), &manager("web", 1));
    let (old, _) = scaled(&object, 2, "hpa");
    let wanted = json!({"apiVersion": SCALE_VERSION, "kind": "Scale", "spec": {"replicas": 4}});
    let refused = apply(scale(), &old, &wanted, &of_scale("me"), false).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Apply failed with 1 conflict: conflict with \"web\" using autoscaling/v1: .spec.replicas"
    );
}
