//! Properties of all configurations.

use proptest::prelude::*;

use super::*;

fn specs() -> impl Strategy<Value = Value> {
    let port = ("[abc]", 0..3_i32).prop_map(|(name, port)| json!({"name": name, "port": port}));
    let ports = prop::collection::vec(port, 0..3).prop_map(|ports| {
        let mut seen = std::collections::BTreeSet::new();
        ports.into_iter().filter(|p| seen.insert(p["name"].to_string())).collect::<Vec<_>>()
    });
    let tags = prop::collection::btree_set("[xyz]", 0..3);
    (prop::option::of(0..3_i32), prop::option::of(ports), prop::option::of(tags), prop::option::of("[pq]"))
        .prop_map(|(size, ports, tags, free)| {
            let mut spec = serde_json::Map::new();
            if let Some(size) = size {
                spec.insert("size".into(), json!(size));
            }
            if let Some(ports) = ports.filter(|p| !p.is_empty()) {
                spec.insert("ports".into(), json!(ports));
            }
            if let Some(tags) = tags.filter(|t| !t.is_empty()) {
                spec.insert("tags".into(), json!(tags));
            }
            if let Some(free) = free {
                spec.insert("free".into(), json!({"inner": {free: 1}}));
            }
            Value::Object(spec)
        })
}

proptest! {
    #[test]
    fn applying_again_changes_nothing(specs in prop::collection::vec((specs(), "[mn]"), 1..6)) {
        let typed = Typed::custom(&schema());
        let mut live = Value::Null;
        for (i, (spec, name)) in (0..).zip(&specs) {
            // A map that loses all of its fields becomes null, as on the server; one field always stays.
            let mut config = config(spec.clone());
            config["spec"]["color"] = json!("red");
            live = apply(&typed, &live, &config, &manager(name, i), true).unwrap().object;
            let again = apply(&typed, &live, &config, &manager(name, 59), false).unwrap();
            prop_assert!(!again.changed);
            prop_assert_eq!(&again.object, &live);
        }
    }

    #[test]
    fn sole_manager_gets_exactly_its_last_configuration(specs in prop::collection::vec(specs(), 1..6)) {
        let typed = Typed::custom(&schema());
        let mut live = Value::Null;
        for spec in &specs {
            live = apply(&typed, &live, &config(spec.clone()), &manager("m", 1), false).unwrap().object;
        }
        let last = specs.last().unwrap();
        let mut got = live["spec"].clone();
        if let (Some(got), Some(want)) = (got["ports"].as_array_mut(), last["ports"].as_array()) {
            prop_assert_eq!(got.len(), want.len());
            got.sort_by_key(Value::to_string);
        }
        let mut want = last.clone();
        if let Some(ports) = want["ports"].as_array_mut() {
            ports.sort_by_key(Value::to_string);
        }
        for part in ["size", "ports", "tags", "free"] {
            prop_assert_eq!(got.get(part).filter(|v| !v.is_null()), want.get(part).filter(|v| !v.is_null()));
        }
    }

    #[test]
    fn owned_field_has_one_update_manager(a in specs(), b in specs()) {
        let typed = Typed::custom(&schema());
        let live = update(&typed, &Value::Null, &config(a), &manager("a", 1));
        let mut new = config(b);
        new["metadata"] = live["metadata"].clone();
        let object = update(&typed, &live, &new, &manager("b", 2));
        let sets: Vec<Set> = fields(&object).iter().map(|(_, f)| Set::from_fields_v1(f).unwrap()).collect();
        if let [x, y] = sets.as_slice() {
            prop_assert!(x.intersection(y).is_empty());
        }
    }
}
