use super::*;
use crate::fieldpath::path_text;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn fields_v1_round_trips() {
    let fields = json!({"f:spec": {".": {}, "f:size": {}, "f:ports": {"k:{\"name\":\"web\"}": {".": {}, "f:port": {}}},
        "f:tags": {"v:\"x\"": {}}, "f:l": {"i:3": {}}}});
    let set = Set::from_fields_v1(&fields).unwrap();
    assert_eq!(set.to_fields_v1(), fields);
    let texts: Vec<String> = set.paths().iter().map(|p| path_text(p)).collect();
    assert!(texts.contains(&".spec.ports[name=\"web\"].port".to_owned()), "{texts:?}");
    assert!(texts.contains(&".spec.tags[=\"x\"]".to_owned()));
    for bad in [json!({"x": {}}), json!({"k:{": {}}), json!([]), json!({"f:a": 1})] {
        assert!(Set::from_fields_v1(&bad).is_err(), "{bad}");
    }
}

#[test]
fn unknown_kinds_of_elements_are_left_out() {
    let fields = json!({"f:spec": {"z:later": {}, "f:size": {}}});
    let set = Set::from_fields_v1(&fields).unwrap();
    assert_eq!(set.to_fields_v1(), json!({"f:spec": {"f:size": {}}}));
}

fn sets() -> impl Strategy<Value = Set> {
    prop::collection::vec(prop::collection::vec("[abc]", 1..4), 0..8).prop_map(|paths| {
        let mut set = Set::default();
        for path in paths {
            set.insert(&path.into_iter().map(PathElement::Field).collect::<Vec<_>>());
        }
        set
    })
}

proptest! {
    #[test]
    fn sets_obey_the_laws_of_sets(a in sets(), b in sets()) {
        prop_assert_eq!(a.union(&b).paths().len() + a.intersection(&b).paths().len(), a.paths().len() + b.paths().len());
        prop_assert!(a.difference(&b).intersection(&b).is_empty());
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)).to_fields_v1(), a.to_fields_v1());
        prop_assert_eq!(Set::from_fields_v1(&a.to_fields_v1()).unwrap(), a);
    }
}
