//! Objects of any kind, for lists of objects of different kinds.

use kube::Resource;
use kube::core::DynamicObject;
use kubesmith_apimachinery::decode::read;
use serde::Serialize;
use serde_json::Value;

use super::error::FakeError;

/// An object of any kind, as the [`Tracker`](super::Tracker) takes it.
///
/// Every typed object becomes one by `into()`; [`objects!`](crate::objects) does so for a list of objects of different
/// kinds.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use kubesmith_testenv::fake::Object;
///
/// let objects: [Object; 2] = [ConfigMap::default().into(), Pod::default().into()];
/// assert_eq!(objects[1].value()?["kind"], "Pod");
/// # Ok::<(), kubesmith_testenv::fake::FakeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Object(Result<Value, String>);

impl Object {
    /// Returns a copy of a typed object, for one that is still needed.
    #[must_use]
    pub fn of<K>(object: &K) -> Self
    where
        K: Resource<DynamicType = ()> + Serialize,
    {
        let value = serde_json::to_value(object).map(|mut value| {
            for (key, text) in [("apiVersion", K::api_version(&())), ("kind", K::kind(&()))] {
                if value.is_object() && value[key].is_null() {
                    value[key] = Value::from(text.into_owned());
                }
            }
            value
        });
        Self(value.map_err(|error| format!("a {} cannot be written as JSON: {error}", K::kind(&()))))
    }

    /// Returns an object that is JSON already, with its `apiVersion` and `kind`.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        Self(Ok(value))
    }

    /// Returns an object whose kind is only known at run time.
    #[must_use]
    pub fn from_dynamic(object: &DynamicObject) -> Self {
        Self(serde_json::to_value(object).map_err(|error| error.to_string()))
    }

    /// Returns the objects of the documents of a YAML text, without empty ones.
    ///
    /// ```
    /// use kubesmith_testenv::fake::Object;
    ///
    /// let text = "apiVersion: v1\nkind: Node\nmetadata:\n  name: one\n---\n# nothing\n";
    /// assert_eq!(Object::from_yaml(text)?.len(), 1);
    /// # Ok::<(), kubesmith_testenv::fake::FakeError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the number and the error of a malformed document.
    pub fn from_yaml(text: &str) -> Result<Vec<Self>, FakeError> {
        let mut objects = Vec::new();
        for (at, document) in serde_yaml::Deserializer::from_str(text).enumerate() {
            let value = read(document, Some(text), &mut ())
                .map_err(|error| FakeError::Unreadable(format!("document {}: {error}", at + 1)))?;
            if !value.is_null() {
                objects.push(Self::from_value(value));
            }
        }
        Ok(objects)
    }

    /// Returns the object as JSON.
    ///
    /// # Errors
    /// Returns an error if it cannot be serialized.
    pub fn value(&self) -> Result<&Value, FakeError> {
        self.0.as_ref().map_err(|why| FakeError::Unreadable(why.clone()))
    }

    /// Returns the object itself, or those of a list.
    pub(super) fn flattened(self) -> Result<Vec<Value>, FakeError> {
        let mut value = self.0.map_err(FakeError::Unreadable)?;
        let kind = value["kind"].as_str().and_then(|kind| kind.strip_suffix("List")).map(str::to_owned);
        let (Some(kind), true) = (kind, value["items"].is_array()) else { return Ok(vec![value]) };
        let Value::Array(mut items) = value["items"].take() else { return Ok(Vec::new()) };
        // The items of a typed list may omit their kind.
        for item in items.iter_mut().filter(|item| item.is_object() && item["kind"].is_null()) {
            item["apiVersion"] = value["apiVersion"].clone();
            item["kind"] = Value::from(kind.clone());
        }
        Ok(items)
    }
}

impl<K> From<K> for Object
where
    K: Resource<DynamicType = ()> + Serialize,
{
    fn from(object: K) -> Self {
        Self::of(&object)
    }
}

/// Creates [`Object`](crate::fake::Object)s of different kinds.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
///
/// let objects = kubesmith_testenv::objects![ConfigMap::default(), Pod::default()];
/// assert_eq!(objects.len(), 2);
/// assert!(kubesmith_testenv::objects![].is_empty());
/// ```
#[macro_export]
macro_rules! objects {
    () => {
        <[$crate::fake::Object; 0]>::default()
    };
    ($($object:expr),* $(,)?) => {
        [$($crate::fake::Object::from($object)),*]
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_of_a_list_get_the_kind_of_the_list() {
        for (list, item) in [("PodList", "Pod"), ("WaitListList", "WaitList")] {
            let list = json!({"apiVersion": "v1", "kind": list, "items": [{}, {"kind": "Other"}]});
            let items = Object::from_value(list).flattened().unwrap();
            assert_eq!(items, [json!({"apiVersion": "v1", "kind": item}), json!({"kind": "Other"})]);
        }
        let no_list = json!({"apiVersion": "v1", "kind": "WaitList", "spec": {}});
        assert_eq!(Object::from_value(no_list.clone()).flattened().unwrap(), [no_list]);
    }
}
