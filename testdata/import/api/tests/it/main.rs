//! What `kubesmith import` makes of testdata/import/good, and of the Go packages in testdata/import/go, keeps every object that the
//! definitions accept.
#![allow(clippy::unwrap_used, reason = "tests")]

mod random;
mod round_trip;

/// testdata/import/go/crate, whose modules name each other from the crate's root.
#[allow(dead_code, reason = "an API crate has more than a test uses")]
#[path = "../../../go/crate/src/api_common.rs"]
mod api_common;
#[allow(dead_code, reason = "an API crate has more than a test uses")]
#[path = "../../../go/crate/src/rights.rs"]
mod rights;
#[allow(dead_code, reason = "an API crate has more than a test uses")]
#[path = "../../../go/crate/src/bakery"]
mod bakery {
    pub mod v1;
}
#[allow(dead_code, reason = "an API crate has more than a test uses")]
#[path = "../../../go/crate/src/shop"]
mod shop {
    pub mod v1;
    pub mod v1beta1;
}
#[allow(dead_code, reason = "an API crate has more than a test uses")]
#[path = "../../../go/crate/src/webhooks.rs"]
mod webhooks;

use std::fs;
use std::path::Path;

use kubesmith_imported::{alike_example_com, alike_example_org, example, odd, old, plain};
use serde::Deserialize;
use serde_json::Value;

/// Objects of each kind.
const OBJECTS: u64 = 300;

fn definitions(folder: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let documents = serde_yaml::Deserializer::from_str(&text);
        out.extend(documents.map(|document| Value::deserialize(document).unwrap()));
    }
    out.retain(|object| object["kind"] == "CustomResourceDefinition");
    out
}

#[test]
fn objects_of_imported_types_survive_a_round_trip() {
    let definitions = definitions("../good");
    let made = [
        round_trip::check::<alike_example_com::v1::Node>(&definitions, OBJECTS),
        round_trip::check::<alike_example_org::v1::Class>(&definitions, OBJECTS),
        round_trip::check::<example::v1::Gadget>(&definitions, OBJECTS),
        round_trip::check::<example::v1beta1::Gadget>(&definitions, OBJECTS),
        round_trip::check::<plain::foo_10::Exposer>(&definitions, OBJECTS),
        round_trip::check::<plain::mod_::Exposer>(&definitions, OBJECTS),
        round_trip::check::<plain::v0::Exposer>(&definitions, OBJECTS),
        round_trip::check::<odd::v1::Postgresql>(&definitions, OBJECTS),
        round_trip::check::<odd::v1::MyThing>(&definitions, OBJECTS),
        round_trip::check::<odd::v1::OptionResource>(&definitions, OBJECTS),
    ];
    for made in made {
        let made = made.unwrap();
        assert!(made > OBJECTS / 2, "{made} objects");
    }
}

#[test]
fn objects_of_go_types_survive_a_round_trip() {
    let definitions = definitions("../go/crate/crds");
    let made = round_trip::check::<bakery::v1::Order>(&definitions, OBJECTS).unwrap();
    assert!(made > OBJECTS / 2, "{made} objects");
}

/// A definition in v1beta1 keeps unknown fields everywhere.
#[test]
fn v1beta1_definition_preserves_unknown_fields() {
    let object = serde_json::json!({
        "apiVersion": "old.example.com/v1alpha1", "kind": "Old", "metadata": {"name": "a"}, "unknown": {"b": [1]},
        "spec": {"size": "small", "unknown": true}, "status": {"unknown": null},
    });
    let read: old::v1alpha1::Old = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), object);
}
