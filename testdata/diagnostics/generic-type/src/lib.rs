use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub missing: Pair,
    pub surplus: Pair<String, String, String>,
    pub unknown: Sides<{ count() }>,
    pub text: Sides<String>,
    pub projected: Projected<Vec<String>>,
    pub unused: Marked<Box<dyn Send>>,
    pub used: Pair<Box<dyn Send>>,
    pub growing: Growing<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Pair<A, B = A> {
    pub first: A,
    pub second: B,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Sides<const N: usize> {
    pub all: [String; N],
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Projected<T: IntoIterator> {
    pub item: T::Item,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Marked<T> {
    #[serde(skip)]
    pub marker: std::marker::PhantomData<T>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Growing<T> {
    pub item: T,
    pub next: Option<Box<Growing<Vec<T>>>>,
}

pub const fn count() -> usize {
    let sides = 3;
    sides
}
