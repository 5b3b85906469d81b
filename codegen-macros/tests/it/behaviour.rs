//! What the derived impls do.

use std::collections::BTreeMap;

use kubesmith_runtime::api::{Object, ObjectMeta, Resource, ResourceInfo, Schema, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json, to_string, to_value};

/// A binding.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "hopegi.com",
    version = "v1",
    plural = "ecsbinding",
    short_name = "ecsb",
    category("all", "ecs"),
    scope = "Cluster",
    status,
    group_name_in_code = "Ecs",
    print_column(name = "Age", type = "date", json_path = ".metadata.creationTimestamp")
)]
#[genclient(non_namespaced)]
#[deepcopy]
struct EcsBinding {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: EcsBindingSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<EcsBindingStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
struct EcsBindingSpec {
    #[validation(min_length = 1)]
    id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
struct EcsBindingStatus {
    ready: bool,
}

fn binding() -> EcsBinding {
    EcsBinding {
        metadata: ObjectMeta { name: Some("a".into()), ..ObjectMeta::default() },
        spec: EcsBindingSpec { id: "i-1".into() },
        status: None,
    }
}

#[test]
fn api_version_and_kind_are_serialized_first() {
    let text = to_string(&binding()).unwrap();
    assert_eq!(
        text,
        r#"{"apiVersion":"hopegi.com/v1","kind":"EcsBinding","metadata":{"name":"a"},"spec":{"id":"i-1"}}"#
    );
}

#[test]
fn object_survives_a_round_trip() {
    let with_status = EcsBinding { status: Some(EcsBindingStatus { ready: true }), ..binding() };
    for object in [binding(), with_status] {
        assert_eq!(from_value::<EcsBinding>(to_value(&object).unwrap()).unwrap(), object);
    }
}

#[test]
fn items_of_lists_may_lack_api_version_and_kind() {
    let object: EcsBinding = from_value(json!({"metadata": {"name": "a"}, "spec": {"id": "i-1"}})).unwrap();
    assert_eq!(object, binding());
}

#[test]
fn other_api_version_or_kind_is_refused() {
    for (field, value, expected) in [
        (
            "apiVersion",
            json!("hopegi.com/v2"),
            r#"expected apiVersion "hopegi.com/v1", found "hopegi.com/v2""#,
        ),
        ("kind", json!("Pod"), r#"expected kind "EcsBinding", found "Pod""#),
        ("kind", json!(5), r#"invalid type: integer `5`, expected kind "EcsBinding""#),
        ("kind", Value::Null, r#"invalid type: null, expected kind "EcsBinding""#),
    ] {
        let mut object = to_value(binding()).unwrap();
        object[field] = value;
        assert_eq!(from_value::<EcsBinding>(object).unwrap_err().to_string(), expected);
    }
}

#[test]
fn error_for_another_shape_names_kind_or_missing_field() {
    let error = from_value::<EcsBinding>(json!(true)).unwrap_err().to_string();
    assert_eq!(error, "invalid type: boolean `true`, expected an object of kind EcsBinding");
    let error = from_value::<EcsBinding>(json!({"spec": {"id": "a"}})).unwrap_err().to_string();
    assert_eq!(error, "missing field `metadata`");
}

#[test]
fn resource_constants_have_the_values_of_the_attributes() {
    assert_eq!(EcsBinding::GROUP, "hopegi.com");
    assert_eq!(EcsBinding::VERSION, "v1");
    assert_eq!(EcsBinding::API_VERSION, "hopegi.com/v1");
    assert_eq!(EcsBinding::KIND, "EcsBinding");
    assert_eq!(EcsBinding::LIST_KIND, "EcsBindingList");
    assert_eq!((EcsBinding::PLURAL, EcsBinding::SINGULAR), ("ecsbinding", "ecsbinding"));
    assert_eq!(EcsBinding::SHORT_NAMES, ["ecsb"]);
    assert_eq!(EcsBinding::CATEGORIES, ["all", "ecs"]);
    assert_eq!(EcsBinding::SCOPE, Scope::Cluster);
    const { assert!(EcsBinding::HAS_STATUS) };
}

#[test]
fn derived_type_implements_resource_of_kube() {
    assert_eq!(EcsBinding::kind(&()), "EcsBinding");
    assert_eq!(EcsBinding::api_version(&()), "hopegi.com/v1");
    assert_eq!(EcsBinding::url_path(&(), None), "/apis/hopegi.com/v1/ecsbinding");
    let mut object = binding();
    object.meta_mut().name = Some("b".into());
    assert_eq!(object.meta().name.as_deref(), Some("b"));
    fn cluster_scoped<K: Resource<Scope = k8s_openapi::ClusterResourceScope>>() {}
    cluster_scoped::<EcsBinding>();
}

#[test]
fn objects_are_copied_and_inspected_without_their_type() {
    let mut object: Box<dyn Object> = Box::new(binding());
    let copy = object.deep_copy_object();
    object.metadata_mut().name = Some("changed".into());
    assert_eq!(copy.metadata().name.as_deref(), Some("a"));
    assert_eq!(copy.downcast_ref::<EcsBinding>(), Some(&binding()));
    assert!(copy.is::<EcsBinding>() && !copy.is::<Defaulted>());
    assert_eq!(copy.group_version_kind().kind, "EcsBinding");
    let typed = copy.into_any().downcast::<EcsBinding>().unwrap();
    assert_eq!(*typed, binding());
}

#[test]
fn type_meta_serializer_accepts_only_maps() {
    use kubesmith_runtime::api::__private::TypeMetaSerializer;
    let serializer = || TypeMetaSerializer::new::<EcsBinding>(serde_json::value::Serializer);
    for error in [
        "text".serialize(serializer()).unwrap_err(),
        [1, 2].serialize(serializer()).unwrap_err(),
        Some(1).serialize(serializer()).unwrap_err(),
        ().serialize(serializer()).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "a resource is written as a map");
    }
    let map = BTreeMap::from([("a", 1)]).serialize(serializer()).unwrap();
    assert_eq!(map, json!({"apiVersion": "hopegi.com/v1", "kind": "EcsBinding", "a": 1}));
}

/// A type whose container has serde attributes of its own.
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1beta1")]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[deepcopy]
struct Defaulted {
    metadata: ObjectMeta,
    spec: BTreeMap<String, String>,
    extra_data: Vec<i32>,
    #[serde(default = "seven", alias = "num")]
    number: i32,
    #[serde(skip)]
    cache: Option<i32>,
    r#type: String,
}

fn seven() -> i32 {
    7
}

impl Default for Defaulted {
    fn default() -> Self {
        Self {
            metadata: ObjectMeta::default(),
            spec: BTreeMap::from([("a".into(), "b".into())]),
            extra_data: vec![1],
            number: 1,
            cache: Some(9),
            r#type: "t".into(),
        }
    }
}

#[test]
fn container_default_fills_missing_fields() {
    let object: Defaulted = from_value(json!({})).unwrap();
    assert_eq!(object, Defaulted { number: 7, ..Defaulted::default() });
    let object: Defaulted = from_value(json!({"num": 3, "extraData": [], "spec": {}, "type": "u"})).unwrap();
    assert_eq!((object.number, object.extra_data.len(), object.spec.len()), (3, 0, 0));
}

#[test]
fn serde_attributes_of_the_type_apply() {
    let error = from_value::<Defaulted>(json!({"surplus": 1})).unwrap_err().to_string();
    assert!(
        error.starts_with("unknown field `surplus`, expected one of `apiVersion`, `kind`, `metadata`"),
        "{error}"
    );
    let written = to_value(Defaulted::default()).unwrap();
    assert_eq!(
        written,
        json!({"apiVersion": "example.com/v1beta1", "kind": "Defaulted", "metadata": {}, "spec": {"a": "b"},
               "extraData": [1], "number": 1, "type": "t"})
    );
    assert_eq!(Defaulted::PLURAL, "defaulteds");
    assert_eq!(Defaulted::SCOPE, Scope::Namespaced);
}

/// A type with functions for single fields and a flattened one.
#[derive(Debug, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", kind = "Flat", list_kind = "Flats")]
#[serde(default = "flattened")]
struct Flattened {
    metadata: ObjectMeta,
    #[serde(with = "as_text")]
    spec: i32,
    #[serde(skip_serializing_if = "is_default")]
    size: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

fn flattened() -> Flattened {
    Flattened { metadata: ObjectMeta::default(), spec: 5, size: 2, rest: BTreeMap::new() }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

mod as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: ToString, S: Serializer>(value: &T, s: S) -> Result<S::Ok, S::Error> {
        value.to_string().serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<i32, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[test]
fn flattened_fields_and_serde_functions_apply() {
    let object = Flattened { size: 0, rest: BTreeMap::from([("x".into(), json!(1))]), ..flattened() };
    let text = to_string(&object).unwrap();
    assert_eq!(text, r#"{"apiVersion":"example.com/v1","kind":"Flat","metadata":{},"spec":"5","x":1}"#);
    let read: Flattened = serde_json::from_str(&text).unwrap();
    assert_eq!((read.spec, read.rest), (5, object.rest));
    assert_eq!(Flattened::LIST_KIND, "Flats");
    let read: Flattened = from_value(json!({"kind": "Flat"})).unwrap();
    assert_eq!(read, flattened());
}

#[test]
fn resource_may_be_declared_in_a_function() {
    #[derive(Clone, Debug, Resource)]
    #[resource(group = "example.com", version = "v1")]
    struct Local {
        #[serde(default)]
        metadata: ObjectMeta,
        spec: Inner,
    }
    #[derive(Clone, Debug, Serialize, Deserialize, Schema)]
    struct Inner(i32);
    let local: Local = from_value(json!({"spec": 1})).unwrap();
    assert_eq!(local.spec.0, 1);
    assert_eq!(to_value(&local).unwrap()["kind"], "Local");
}

#[test]
fn generic_types_have_a_schema() {
    #[derive(Schema)]
    struct Range<T: PartialOrd, const N: usize>
    where
        T: Copy,
    {
        #[validation(max_items = 3)]
        _values: [T; N],
    }
    #[derive(Schema)]
    enum Protocol {
        _Tcp,
        _Udp { _port: u16 },
    }
    fn has_schema<T: Schema>() {}
    has_schema::<Range<i32, 3>>();
    has_schema::<Protocol>();
}

#[test]
fn kind_without_a_spec_compiles() {
    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(group = "a.example", version = "v1")]
    struct Data {
        metadata: ObjectMeta,
        #[serde(default)]
        data: BTreeMap<String, String>,
    }
    let data: Data = from_value(json!({"metadata": {"name": "d"}, "data": {"a": "b"}})).unwrap();
    assert_eq!((Data::KIND, data.meta().name.as_deref(), &*data.data["a"]), ("Data", Some("d"), "b"));
    assert_eq!(to_value(&data).unwrap()["apiVersion"], "a.example/v1");
}
