//! Apply configurations through their own API: their JSON, and their effect on a server.

use std::collections::BTreeMap;

use case_apply::{Delivery, Payment, Phase, Shop};
use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::{Patch, PatchParams};
use kubesmith_expected::apply::Clientset;
use kubesmith_expected::apply::applyconfigurations::apiextensions::v1::JSONSchemaPropsApplyConfiguration;
use kubesmith_expected::apply::applyconfigurations::core::v1::{
    EnvVarApplyConfiguration, ServicePortApplyConfiguration,
};
use kubesmith_expected::apply::applyconfigurations::meta::v1::{
    ConditionApplyConfiguration, LabelSelectorApplyConfiguration, ObjectMetaApplyConfiguration,
};
use kubesmith_expected::apply::applyconfigurations::shop::v1::{
    GoodApplyConfiguration, PairGoodApplyConfiguration, PairStringApplyConfiguration,
    PortGoodApplyConfiguration, ShopApplyConfiguration, ShopSpecApplyConfiguration,
    ShopStatusApplyConfiguration, TownApplyConfiguration, TownSpecApplyConfiguration, extract_shop,
    extract_shop_from,
};
use kubesmith_expected::apply::clientset::typed::shop::v1::NamespacedShops;
use kubesmith_runtime::applyconfigurations::{ApplyConfiguration, ExtractError};
use kubesmith_runtime::client::Error;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

fn good(name: &str) -> GoodApplyConfiguration {
    GoodApplyConfiguration::default().with_name(name)
}

fn json_of(configuration: &impl ApplyConfiguration) -> Value {
    serde_json::to_value(configuration).unwrap()
}

#[test]
fn unset_fields_are_not_serialized() {
    assert_eq!(serde_json::to_value(ShopSpecApplyConfiguration::default()).unwrap(), json!({}));
    assert_eq!(serde_json::to_value(TownSpecApplyConfiguration::default()).unwrap(), json!({}));
    assert_eq!(
        json_of(&ShopApplyConfiguration::new("corner", "town")),
        json!({"apiVersion": "shop.example.com/v1", "kind": "Shop", "metadata": {"name": "corner", "namespace": "town"}})
    );
    assert_eq!(
        json_of(&TownApplyConfiguration::new("here")),
        json!({"apiVersion": "shop.example.com/v1", "kind": "Town", "metadata": {"name": "here"}})
    );
}

#[test]
fn fields_serialize_with_names_and_forms_of_the_api() {
    let spec = ShopSpecApplyConfiguration::default()
        .with_till_count(0)
        .with_type("kiosk")
        .with_match(false)
        .with_floor(3)
        .with_phase(Phase::Closed)
        .with_mood("Tired")
        .with_payment(Payment::Card { network: "visa".to_owned() })
        .with_opens(7)
        .with_street("High Street")
        .with_delivery(Delivery::Bicycle { load: 3 })
        .with_closed_since(None)
        .with_position(json!([1, 2]))
        .with_size(Quantity("2Gi".to_owned()))
        .with_door(IntOrString::Int(4))
        .with_seal(ByteString(b"wax".to_vec()))
        .with_extra(json!({"any": ["thing"]}));
    assert_eq!(
        serde_json::to_value(spec).unwrap(),
        json!({
            "tillCount": 0, "type": "kiosk", "match": false, "floor": 3, "phase": "Closed", "mood": "Tired",
            "payment": {"card": {"network": "visa"}}, "opens": 7, "street": "High Street", "closedSince": null, "by": "Bicycle", "load": 3,
            "position": [1, 2], "size": "2Gi", "door": 4, "seal": "d2F4", "extra": {"any": ["thing"]},
        })
    );
}

#[test]
fn lists_append_maps_merge_and_structs_nest() {
    let spec = ShopSpecApplyConfiguration::default()
        .with_aisles(["a"])
        .with_aisles(vec!["b".to_owned()])
        .with_shelves([1, 2])
        .with_flags(Vec::<String>::new())
        .with_goods([good("tea").with_price(3)])
        .with_goods([good("milk")])
        .with_notes([("a", "1"), ("b", "2")])
        .with_notes(BTreeMap::from([("b".to_owned(), "3".to_owned())]))
        .with_rooms([("cellar", good("wine"))])
        .with_scores([("x", vec![1, 2])])
        .with_best(good("tea"))
        .with_pair(PairGoodApplyConfiguration::default().with_first(good("one")))
        .with_names(PairStringApplyConfiguration::default().with_second("two"))
        .with_selector(LabelSelectorApplyConfiguration::default().with_match_labels([("app", "web")]))
        .with_env([EnvVarApplyConfiguration::default().with_name("HOME").with_value("/")])
        .with_ports([ServicePortApplyConfiguration::default().with_port(80).with_protocol("TCP")])
        .with_schema(
            JSONSchemaPropsApplyConfiguration::default()
                .with_not(JSONSchemaPropsApplyConfiguration::default()),
        )
        .with_good(PortGoodApplyConfiguration::default().with_ship("Beagle"));
    assert_eq!(
        serde_json::to_value(spec).unwrap(),
        json!({
            "aisles": ["a", "b"], "shelves": [1, 2], "flags": [],
            "goods": [{"name": "tea", "price": 3}, {"name": "milk"}],
            "notes": {"a": "1", "b": "3"}, "rooms": {"cellar": {"name": "wine"}}, "scores": {"x": [1, 2]},
            "best": {"name": "tea"}, "pair": {"first": {"name": "one"}}, "names": {"second": "two"},
            "selector": {"matchLabels": {"app": "web"}}, "env": [{"name": "HOME", "value": "/"}],
            "ports": [{"port": 80, "protocol": "TCP"}], "schema": {"not": {}}, "good": {"ship": "Beagle"},
        })
    );
}

#[test]
fn metadata_has_methods_where_the_kind_has_no_field_of_the_name() {
    let shop = ShopApplyConfiguration::default()
        .with_metadata(ObjectMetaApplyConfiguration::default().with_generate_name("shop-"))
        .with_name("corner")
        .with_namespace("town")
        .with_labels([("a", "1")])
        .with_annotations([("b", "2")])
        .with_finalizers(["example.com/x"]);
    assert_eq!(
        json_of(&shop)["metadata"],
        json!({"generateName": "shop-", "name": "corner", "namespace": "town", "labels": {"a": "1"},
            "annotations": {"b": "2"}, "finalizers": ["example.com/x"]})
    );
    let spec = TownSpecApplyConfiguration::default().with_title("Here").with_other([("x", 1)]);
    let town = TownApplyConfiguration::new("here").with_labels(["own"]).with_spec(spec);
    assert_eq!(json_of(&town)["labels"], json!(["own"]));
    assert_eq!(json_of(&town)["spec"], json!({"title": "Here", "x": 1}));
}

#[test]
fn apply_configuration_survives_a_round_trip() {
    for text in [
        json!({"closedSince": null, "schema": {"not": {"not": {}}}, "phase": "Open", "type": "x"}),
        json!({"by": "Never", "closedSince": "May", "rooms": {"a": {}}, "selector": {"matchExpressions": []}}),
    ] {
        let spec: ShopSpecApplyConfiguration = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(spec).unwrap(), text);
    }
}

async fn shops() -> (TestEnv, NamespacedShops) {
    let env = crate::crds::server("apply").await;
    let shops = Clientset::new(env.client()).shop_v1().shops().namespace("default");
    (env, shops)
}

fn corner(spec: ShopSpecApplyConfiguration) -> ShopApplyConfiguration {
    ShopApplyConfiguration::new("corner", "default").with_spec(spec)
}

#[tokio::test]
async fn extracted_configuration_is_changed_and_applied_again() {
    let (_env, shops) = shops().await;
    let (me, other) = (PatchParams::apply("me"), PatchParams::apply("other"));
    let spec = ShopSpecApplyConfiguration::default()
        .with_till_count(2)
        .with_goods([good("tea").with_price(3), good("milk")])
        .with_ports([
            ServicePortApplyConfiguration::default().with_port(53).with_protocol("TCP").with_name("a"),
            ServicePortApplyConfiguration::default().with_port(53).with_protocol("UDP").with_name("b"),
        ])
        .with_flags(["red", "blue"]);
    let mine = corner(spec).with_labels([("mine", "1")]);
    shops.apply(&mine, &me).await.unwrap();
    let theirs = ShopSpecApplyConfiguration::default()
        .with_goods([good("tea").with_stock(9), good("beer")])
        .with_flags(["green"])
        .with_type("kiosk");
    let shop = shops.apply(&corner(theirs).with_labels([("theirs", "2")]), &other).await.unwrap();
    assert_eq!((shop.spec.goods.len(), shop.spec.flags.len()), (3, 3));

    // `extract` returns the applied fields of either manager.
    let extracted = extract_shop(&shop, "me").unwrap();
    assert_eq!(json_of(&extracted), json_of(&mine));
    let of_other = extract_shop(&shop, "other").unwrap().spec.unwrap();
    assert_eq!(of_other.type_.as_deref(), Some("kiosk"));
    assert_eq!(of_other.goods.unwrap().len(), 2);
    assert_eq!(
        json_of(&extract_shop(&shop, "nobody").unwrap()),
        json_of(&ShopApplyConfiguration::new("corner", "default"))
    );

    // Changes one field and keeps the rest.
    let spec = extracted.spec.clone().unwrap().with_till_count(5);
    let shop = shops.apply(&extracted.with_spec(spec), &me).await.unwrap();
    assert_eq!((shop.spec.till_count, shop.spec.goods.len()), (5, 3));

    // Fields that are no longer applied are removed, and fields of other managers stay.
    let shop =
        shops.apply(&corner(ShopSpecApplyConfiguration::default().with_till_count(5)), &me).await.unwrap();
    let names: Vec<&str> = shop.spec.goods.iter().map(|good| good.name.as_str()).collect();
    assert_eq!(names, ["tea", "beer"]);
    assert_eq!(shop.spec.goods[0].price, 0);
    assert_eq!(shop.spec.flags, ["green"]);
}

#[tokio::test]
async fn conflict_names_fields_and_managers() {
    let (_env, shops) = shops().await;
    let me = PatchParams::apply("me");
    let tills =
        |count| corner(ShopSpecApplyConfiguration::default().with_till_count(count).with_type("kiosk"));
    shops.apply(&tills(1), &me).await.unwrap();
    let merge = Patch::Merge(json!({"spec": {"goods": [{"name": "tea", "price": 1}]}}));
    let by_hand = PatchParams { field_manager: Some("by hand".to_owned()), ..PatchParams::default() };
    shops.patch("corner", &by_hand, &merge).await.unwrap();

    let wanted = ShopSpecApplyConfiguration::default()
        .with_till_count(2)
        .with_type("kiosk")
        .with_goods([good("tea").with_price(2)]);
    let error = shops.apply(&corner(wanted.clone()), &PatchParams::apply("other")).await.unwrap_err();
    assert!(error.is_conflict() && error.status().is_some(), "{error:?}");
    let Error::ApplyConflict { conflicts, .. } = &error else { panic!("{error:?}") };
    let found: Vec<_> = conflicts.iter().map(|it| (it.field.as_str(), it.manager.as_str())).collect();
    assert_eq!(found, [(".spec.goods[name=\"tea\"].price", "by hand"), (".spec.tillCount", "me")]);
    assert!(
        conflicts[0].message.starts_with("conflict with \"by hand\" using shop.example.com/v1"),
        "{conflicts:?}"
    );
    assert_eq!(error.apply_conflicts().len(), 2);
    assert!(
        error.to_string().starts_with(
            "cannot patch shops.shop.example.com \"default/corner\": Apply failed with 2 conflicts"
        ),
        "{error}"
    );

    let forced = shops.apply(&corner(wanted), &PatchParams::apply("other").force()).await.unwrap();
    assert_eq!((forced.spec.till_count, forced.spec.goods[0].price), (2, 2));
    let left = extract_shop(&forced, "me").unwrap().spec.unwrap();
    assert_eq!((left.till_count, left.type_.as_deref()), (None, Some("kiosk")));

    // A lost race for the resource version is a conflict without fields.
    let mut old = forced.clone();
    old.metadata.resource_version = Some("1".to_owned());
    let error = shops.update(&old, &Default::default()).await.unwrap_err();
    assert!(error.is_conflict() && error.apply_conflicts().is_empty(), "{error:?}");
}

#[tokio::test]
async fn status_is_applied_and_extracted_separately() {
    let (_env, shops) = shops().await;
    let me = PatchParams::apply("me");
    shops.apply(&corner(ShopSpecApplyConfiguration::default().with_till_count(1)), &me).await.unwrap();
    let ready = ConditionApplyConfiguration::default()
        .with_type("Ready")
        .with_status("True")
        .with_reason("Open")
        .with_message("")
        .with_last_transition_time(
            serde_json::from_value::<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>(json!(
                "2026-01-01T00:00:00Z"
            ))
            .unwrap(),
        );
    let status = ShopStatusApplyConfiguration::default().with_customers(3).with_conditions([ready]);
    let wanted = ShopApplyConfiguration::new("corner", "default").with_status(status);
    let shop = shops.apply_status(&wanted, &me).await.unwrap();
    assert_eq!((shop.status.customers, shop.spec.till_count), (3, 1));
    assert_eq!(json_of(&extract_shop_from(&shop, "me", "status").unwrap()), json_of(&wanted));
    let main = extract_shop(&shop, "me").unwrap();
    assert!(main.status.is_none() && main.spec.unwrap().till_count == Some(1));
}

#[tokio::test]
async fn apply_requires_a_name_and_a_field_manager() {
    let (_env, shops) = shops().await;
    let unnamed = ShopApplyConfiguration::default();
    let error = shops.apply(&unnamed, &PatchParams::apply("me")).await.unwrap_err();
    assert!(
        matches!(error, Error::BadRequest { .. }) && error.to_string().contains("has no name"),
        "{error}"
    );
    let error =
        shops.apply(&ShopApplyConfiguration::new("x", "default"), &PatchParams::default()).await.unwrap_err();
    assert!(
        matches!(error, Error::BadRequest { .. }) && error.to_string().contains("field manager"),
        "{error}"
    );
}

#[test]
fn extraction_fails_when_only_part_of_an_enum_is_owned() {
    let shop: Shop = serde_json::from_value(json!({
        "apiVersion": "shop.example.com/v1", "kind": "Shop",
        "metadata": {"name": "corner", "managedFields": [{"manager": "me", "operation": "Apply",
            "fieldsV1": {"f:spec": {"f:payment": {"f:card": {"f:issuer": {}}}}}}]},
        "spec": {"tillCount": 1, "payment": {"card": {"network": "visa"}}},
    }))
    .unwrap();
    let error = extract_shop(&shop, "me").unwrap_err();
    assert!(matches!(error, ExtractError::Configuration { .. }), "{error:?}");
    assert!(error.to_string().contains("missing field `network`"), "{error}");
}
