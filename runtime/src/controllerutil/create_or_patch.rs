//! Creates an object, or patches the differences.

use std::error::Error as StdError;
use std::fmt::Debug;

use kube::Resource;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::create_or_update::{CreateOrUpdateError, OperationResult};

/// Reads the object that `object` names, calls `mutate` on it, and sends the changes as merge patches: one of the
/// object, and one of the status subresource if the status changed. If the object does not exist, calls `mutate` on
/// `object` and creates it; its status is patched afterwards, if it has one.
///
/// Unlike [`create_or_update`](super::create_or_update) it does not fail if another writer changes the object
/// meanwhile, because only the differences are written. Lists that differ are replaced as a whole. Returns the
/// server's object.
///
/// # Errors
///
/// [`CreateOrUpdateError`]. Nothing is written if `mutate` fails.
///
/// # Cancel safety
///
/// As for any request, the writes may or may not have happened if the future is dropped.
///
/// ```no_run
/// use std::convert::Infallible;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::Api;
/// use kubesmith_runtime::controllerutil::{OperationResult, create_or_patch};
///
/// # async fn example(maps: Api<ConfigMap>, map: ConfigMap) -> Result<(), Box<dyn std::error::Error>> {
/// let (done, map) = create_or_patch(&maps, map, |map| {
///     map.data.get_or_insert_default().insert("color".into(), "red".into());
///     Ok::<_, Infallible>(())
/// })
/// .await?;
/// if done != OperationResult::Unchanged {
///     println!("{done:?} {:?}", map.metadata.name);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn create_or_patch<K, F, E>(
    api: &Api<K>,
    mut object: K,
    mutate: F,
) -> Result<(OperationResult, K), CreateOrUpdateError>
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
    F: FnOnce(&mut K) -> Result<(), E>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    let kind = K::kind(&()).into_owned();
    let Some(name) = object.meta().name.clone().filter(|name| !name.is_empty()) else {
        return Err(CreateOrUpdateError::NoName { kind });
    };
    let write = Write { api, kind, name };
    let known = api.get_opt(&write.name).await.map_err(write.failed("get"))?;
    let before = known.as_ref().map(|known| write.json(known)).transpose()?;
    object = known.unwrap_or(object);
    let place = (object.meta().name.clone(), object.meta().namespace.clone());
    mutate(&mut object).map_err(|source| CreateOrUpdateError::Mutate {
        kind: write.kind.clone(),
        name: write.name.clone(),
        source: source.into(),
    })?;
    if place != (object.meta().name.clone(), object.meta().namespace.clone()) {
        return Err(CreateOrUpdateError::Renamed { kind: write.kind, name: write.name });
    }
    match before {
        None => write.create(object).await,
        Some(before) => write.patch(before, object).await,
    }
}

/// The writes of one object.
struct Write<'a, K> {
    api: &'a Api<K>,
    kind: String,
    name: String,
}

type Written<K> = Result<(OperationResult, K), CreateOrUpdateError>;

impl<K> Write<'_, K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    fn failed(&self, verb: &'static str) -> impl FnOnce(kube::Error) -> CreateOrUpdateError + use<K> {
        let (kind, name) = (self.kind.clone(), self.name.clone());
        move |source| CreateOrUpdateError::Api { verb, kind, name, source: Box::new(source) }
    }

    fn json(&self, object: &K) -> Result<Value, CreateOrUpdateError> {
        serde_json::to_value(object).map_err(|source| CreateOrUpdateError::Serialize {
            kind: self.kind.clone(),
            name: self.name.clone(),
            source,
        })
    }

    async fn create(&self, object: K) -> Written<K> {
        let (_, status) = split(self.json(&object)?);
        let created =
            self.api.create(&PostParams::default(), &object).await.map_err(self.failed("create"))?;
        let (_, has) = split(self.json(&created)?);
        // The server drops a status that is a subresource.
        match status.and_then(|status| addition(has.as_ref(), &status)) {
            None => Ok((OperationResult::Created, created)),
            Some(status) => Ok((OperationResult::Created, self.patch_status(status).await?)),
        }
    }

    async fn patch(&self, before: Value, object: K) -> Written<K> {
        let (before, before_status) = split(before);
        let (after, after_status) = split(self.json(&object)?);
        let status = difference(before_status.as_ref(), after_status.as_ref());
        let mut now = object;
        let patch = difference(Some(&before), Some(&after));
        if let Some(patch) = &patch {
            let patched = self.api.patch(&self.name, &PatchParams::default(), &Patch::Merge(patch)).await;
            now = patched.map_err(self.failed("patch"))?;
        }
        let result = match (&patch, &status) {
            (None, None) => OperationResult::Unchanged,
            (Some(_), None) => OperationResult::Updated,
            (Some(_), Some(_)) => OperationResult::UpdatedStatus,
            (None, Some(_)) => OperationResult::UpdatedStatusOnly,
        };
        if let Some(status) = status {
            now = self.patch_status(status).await?;
        }
        Ok((result, now))
    }

    async fn patch_status(&self, status: Value) -> Result<K, CreateOrUpdateError> {
        let patch = Patch::Merge(Value::Object(Map::from_iter([("status".to_owned(), status)])));
        let patched = self.api.patch_status(&self.name, &PatchParams::default(), &patch).await;
        patched.map_err(self.failed("patch the status of"))
    }
}

/// Splits the object into the object without status, and the status.
fn split(mut object: Value) -> (Value, Option<Value>) {
    let status = object.as_object_mut().and_then(|members| members.remove("status"));
    (object, status.filter(|status| !status.is_null()))
}

/// Returns the merge patch (RFC 7386) between the two, if they differ.
fn difference(before: Option<&Value>, after: Option<&Value>) -> Option<Value> {
    match (before, after) {
        (Some(before), Some(after)) if before == after => None,
        (None, None) => None,
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let mut patch = Map::new();
            for name in before.keys().chain(after.keys()) {
                if let Some(change) = difference(before.get(name), after.get(name)) {
                    patch.insert(name.clone(), change);
                }
            }
            Some(Value::Object(patch)).filter(|_| before != after)
        }
        (_, after) => Some(after.cloned().unwrap_or(Value::Null)),
    }
}

/// Returns the merge patch that adds `wanted` to a new object and keeps all values set by the server.
fn addition(has: Option<&Value>, wanted: &Value) -> Option<Value> {
    match (has, wanted) {
        (_, Value::Null) => None,
        (Some(has), wanted) if has == wanted => None,
        (None | Some(Value::Object(_)), Value::Object(wanted)) => {
            let has = |name: &String| has.and_then(|has| has.get(name));
            let added =
                wanted.iter().filter_map(|(name, wanted)| Some((name.clone(), addition(has(name), wanted)?)));
            let patch: Map<String, Value> = added.collect();
            Some(Value::Object(patch))
                .filter(|patch| patch.as_object().is_some_and(|patch| !patch.is_empty()))
        }
        (_, wanted) => Some(wanted.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merge_patch_contains_the_differences() {
        let before = json!({ "a": 1, "b": { "c": [1, 2], "d": "x" }, "gone": true });
        let after = json!({ "a": 1, "b": { "c": [2], "d": "x", "e": null }, "new": {} });
        assert_eq!(difference(Some(&before), Some(&before)), None);
        assert_eq!(
            difference(Some(&before), Some(&after)),
            Some(json!({ "b": { "c": [2], "e": null }, "gone": null, "new": {} }))
        );
        assert_eq!(difference(None, Some(&json!({ "a": 1 }))), Some(json!({ "a": 1 })));
        assert_eq!(difference(Some(&json!([])), None), Some(Value::Null));
    }

    #[test]
    fn values_set_by_the_server_are_kept() {
        let has = json!({ "phase": "Pending", "a": { "b": 1 } });
        assert_eq!(addition(Some(&has), &json!({})), None);
        assert_eq!(addition(None, &json!({ "a": {} })), None);
        assert_eq!(addition(Some(&has), &json!({ "phase": null, "a": null })), None);
        assert_eq!(
            addition(Some(&has), &json!({ "phase": "Pending", "a": { "c": 2 } })),
            Some(json!({ "a": { "c": 2 } }))
        );
        assert_eq!(addition(None, &json!({ "ready": true })), Some(json!({ "ready": true })));
    }
}
