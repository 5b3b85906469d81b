use std::collections::BTreeMap;

use kubesmith_runtime::Schema;

#[derive(Clone, Debug, Schema)]
struct Foo {
    #[schema(default = "three")]
    number: i32,
    #[validation(minimum = 1)]
    #[schema(default = 0)]
    low: i32,
    #[validation(enum("A", "B"))]
    #[schema(default = "C")]
    letter: String,
    #[schema(default = null)]
    nothing: Option<String>,
    #[schema(default = [1, "2"])]
    list: Vec<i32>,
    #[schema(default = {"a": 1, "a": 2})]
    object: Foo2,
    #[schema(default = {"a": [true]})]
    map: BTreeMap<String, Vec<i32>>,
}

#[derive(Clone, Debug)]
struct Foo2;

fn main() {}
