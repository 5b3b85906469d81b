use std::borrow::Cow;

use kube::core::{NamespaceResourceScope, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;

macro_rules! widget {
    ($name:ident, $kind:literal, $version:literal, $field:ident) => {
        #[derive(Serialize, Deserialize)]
        struct $name {
            metadata: ObjectMeta,
            #[serde(default)]
            $field: u8,
        }

        impl Resource for $name {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind(_: &()) -> Cow<'_, str> {
                $kind.into()
            }

            fn group(_: &()) -> Cow<'_, str> {
                "a.example".into()
            }

            fn version(_: &()) -> Cow<'_, str> {
                $version.into()
            }

            fn plural(_: &()) -> Cow<'_, str> {
                "widgets".into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

widget!(Old, "Widget", "v1", size);
widget!(Middle, "Widget", "v2", width);
widget!(New, "Widget", "v3", length);
widget!(Gadget, "Gadget", "v1", size);

impl Hub for Middle {}

impl Convertible<Middle> for Old {
    fn convert_to(self) -> Result<Middle, ConversionError> {
        let mut metadata = self.metadata;
        match self.size {
            0 => return Err(ConversionError::new("too small")),
            // Drops the metadata.
            99 => metadata = ObjectMeta::default(),
            // Changes metadata that may change, and metadata that may not.
            98 => {
                metadata.labels.get_or_insert_default().insert("b".to_owned(), "2".to_owned());
                metadata.annotations = None;
                metadata.generation = Some(7);
            }
            _ => {}
        }
        Ok(Middle { metadata, width: self.size })
    }

    fn convert_from(hub: Middle) -> Result<Self, ConversionError> {
        Ok(Old { metadata: hub.metadata, size: hub.width })
    }
}

impl Convertible<Middle> for New {
    fn convert_to(self) -> Result<Middle, ConversionError> {
        Ok(Middle { metadata: self.metadata, width: self.length })
    }

    fn convert_from(hub: Middle) -> Result<Self, ConversionError> {
        let length = hub.width.checked_mul(10).ok_or_else(|| ConversionError::new("too wide"))?;
        Ok(New { metadata: hub.metadata, length })
    }
}

impl Convertible<Middle> for Gadget {
    fn convert_to(self) -> Result<Middle, ConversionError> {
        Ok(Middle { metadata: self.metadata, width: self.size })
    }

    fn convert_from(hub: Middle) -> Result<Self, ConversionError> {
        Ok(Gadget { metadata: hub.metadata, size: hub.width })
    }
}

fn conversions() -> Conversions {
    Conversions::new().kind(HubSpokes::<Middle>::new().spoke::<Old>().spoke::<New>()).check().unwrap()
}

fn widget(version: &str, field: &str, number: u8) -> Value {
    json!({
        "apiVersion": format!("a.example/{version}"), "kind": "Widget", field: number,
        "metadata": {"name": "w", "namespace": "n", "uid": "u", "generation": 3, "unknown": true,
            "labels": {"a": "1"}, "annotations": {"x": "y"}},
    })
}

fn convert(object: &Value, to: &str) -> Result<Value, String> {
    let raw = RawObject::from_value(object).unwrap();
    conversions().convert(&raw, to).map(|converted| converted.to_value().unwrap())
}

#[test]
fn versions_convert_to_each_other_and_keep_metadata() {
    let fields = [("v1", "size", 2), ("v2", "width", 2), ("v3", "length", 20)];
    for (to, to_field, to_number) in fields {
        for (from, from_field, number) in &fields[..2] {
            let converted = convert(&widget(from, from_field, *number), &format!("a.example/{to}"));
            assert_eq!(converted.unwrap(), widget(to, to_field, to_number), "{from} to {to}");
        }
    }
}

#[test]
fn only_labels_and_annotations_may_change() {
    let converted = convert(&widget("v1", "size", 98), "a.example/v2").unwrap();
    let expected = json!({"name": "w", "namespace": "n", "uid": "u", "generation": 3, "unknown": true,
        "labels": {"a": "1", "b": "2"}});
    assert_eq!(converted["metadata"], expected);
}

#[test]
fn failed_conversion_names_the_object() {
    let from = "cannot convert a.example/v1, Kind=Widget n/w to ";
    let mut nameless = widget("v1", "size", 1);
    nameless["metadata"] = Value::Null;
    for (object, to, text) in [
        (widget("v1", "size", 0), "a.example/v2", format!("{from}a.example/v2: too small")),
        (widget("v1", "size", 30), "a.example/v3", format!("{from}a.example/v3: too wide")),
        (
            widget("v1", "size", 99),
            "a.example/v2",
            format!("{from}a.example/v2: the conversion must keep metadata.name: it was \"w\" and became \"\""),
        ),
        (
            widget("v1", "size", 1),
            "a.example/v9",
            format!(
                "{from}a.example/v9: a.example/v9 is not registered; known are a.example/v2, a.example/v1, a.example/v3"
            ),
        ),
        (
            widget("v7", "size", 1),
            "a.example/v2",
            "cannot convert a.example/v7, Kind=Widget n/w to a.example/v2: a.example/v7 is not registered; known are \
             a.example/v2, a.example/v1, a.example/v3"
                .to_owned(),
        ),
        (
            json!({"apiVersion": "b.example/v1", "kind": "Widget"}),
            "b.example/v2",
            "cannot convert b.example/v1, Kind=Widget to b.example/v2: the kind is not registered; known are \
             a.example/v2, a.example/v1, a.example/v3"
                .to_owned(),
        ),
    ] {
        assert_eq!(convert(&object, to).unwrap_err(), text);
    }
    assert!(convert(&nameless, "a.example/v2").unwrap_err().contains("cannot decode"));
    assert!(convert(&json!([]), "a.example/v2").is_err());
}

#[test]
fn nulls_count_as_absent_where_they_do_not_fit() {
    let mut object = widget("v3", "length", 1);
    object["length"] = Value::Null;
    assert_eq!(convert(&object, "a.example/v2").unwrap(), widget("v2", "width", 0));
    object["length"] = json!("long");
    let error = convert(&object, "a.example/v2").unwrap_err();
    assert!(error.contains("length: invalid type: string"), "{error}");
}

#[test]
fn metadata_may_be_absent_but_not_of_another_type() {
    let converted = Value::from_iter([("size", 1)]);
    let kept = |object: Value| metadata::kept(&RawObject::from_value(&object).unwrap(), converted.clone());
    assert_eq!(kept(json!({})).unwrap(), json!({"size": 1, "metadata": {}}));
    assert!(kept(json!({"metadata": null})).is_err());
    assert!(metadata::kept(&RawObject::from_value(&json!({})).unwrap(), Value::Null).is_err());
}

#[test]
fn object_of_the_requested_version_is_unchanged() {
    let object = json!({"apiVersion": "a.example/v1", "kind": "Widget", "anything": 1});
    assert_eq!(convert(&object, "a.example/v1").unwrap(), object);
}

#[test]
fn inconsistent_kinds_are_refused() {
    let hub = HubSpokes::<Middle>::new;
    for (conversions, text) in [
        (
            Conversions::new().kind(hub().spoke::<Gadget>()),
            "a.example/v1, Kind=Gadget cannot be a spoke of a.example/v2, Kind=Widget: group and kind must be the same",
        ),
        (
            Conversions::new().kind(hub().spoke::<Old>().spoke::<Old>()),
            "a.example/v1, Kind=Widget is registered twice for conversion; register each version once",
        ),
        (
            Conversions::new().kind(hub().spoke::<Old>()).kind(hub().spoke::<New>()),
            "a.example/v2, Kind=Widget is registered twice for conversion; register each version once",
        ),
    ] {
        assert_eq!(conversions.check().unwrap_err().to_string(), text);
    }
}
