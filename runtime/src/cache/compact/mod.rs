//! Objects that use little memory.

mod decode;
mod intern;
mod pattern;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use kube::core::TypeMeta;
use serde::de::DeserializeOwned;

use super::ObjectKey;
use crate::json;
use crate::labels::Selector;
use crate::object::{Cached, DynamicType, Key};
use intern::Labels;
use pattern::Stored;

/// An object of kind `K` that is decoded on access: for caches of many objects of which few are read.
///
/// The key, the version, the uid and the labels are decoded; all objects of an informer share the texts of labels.
/// The rest is kept as the JSON that the server sent, without managedFields unless they are asked for. Objects share
/// the JSON in which they differ only by strings and numbers. A small object takes about a quarter of its size as a
/// `K`, a pod a tenth.
///
/// Because objects are decoded on access, an object that does not fit its type is found only then
/// ([`Self::object`]). The informer itself reports only objects without a name as undecodable.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::{Pod, PodStatus};
/// use kubesmith_runtime::cache::Compact;
/// use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
///
/// # fn example(client: kube::Client) -> Result<(), kubesmith_runtime::cache::DecodeError> {
/// let informer = SharedInformer::<Compact<Pod>>::new(client, InformerOptions::new());
/// informer.start();
/// if let Some(pod) = informer.store().get("default", "web-0") {
///     println!("{:?}", pod.label("app"));
///     println!("{:?}", pod.field::<PodStatus>("status")?);
///     let whole: Pod = pod.object()?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// Parts that are available without decoding, and parts that are decoded:
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::cache::{Compact, DecodeError};
///
/// fn show(pod: &Compact<Pod>) -> Result<(), DecodeError> {
///     println!("{} {} {}", pod.key(), pod.uid(), pod.resource_version());
///     for (name, value) in pod.labels() {
///         println!("{name}={value}");
///     }
///     println!("{:?} {:?}", pod.annotation("note"), pod.metadata()?.owner_references);
///     println!("{} bytes for {}", pod.json_len(), pod.to_json());
///     Ok(())
/// }
/// ```
///
/// `Compact<PartialObjectMeta<Pod>>` keeps only metadata, and the server sends only that.
pub struct Compact<K> {
    key: ObjectKey,
    labels: Labels,
    /// The members of the metadata that are not stored elsewhere, and the object's members, without their values.
    pattern: Arc<str>,
    /// The uid, the version, and the values of these members.
    text: Box<str>,
    ends: Ends,
    kind: PhantomData<fn() -> K>,
}

/// The ends of the parts of the text; the values end with the text.
#[derive(Clone, Copy, Default)]
struct Ends {
    uid: u32,
    version: u32,
}

/// A compact object cannot be decoded because it does not fit its type. Compare the type with the CRD's schema.
/// [`Compact`] has an example.
#[derive(Debug, thiserror::Error)]
#[error("cannot decode {kind} \"{key}\": {source}")]
pub struct DecodeError {
    /// The kind.
    pub kind: String,
    /// The object.
    pub key: ObjectKey,
    /// The decoder's error.
    pub source: serde_json::Error,
}

impl<K> Compact<K> {
    /// Returns namespace and name.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Returns `metadata.uid`; empty if there is none.
    #[must_use]
    pub fn uid(&self) -> &str {
        &self.text[..self.ends.uid as usize]
    }

    /// Returns `metadata.resourceVersion`; empty if there is none.
    #[must_use]
    pub fn resource_version(&self) -> &str {
        &self.text[self.ends.uid as usize..self.ends.version as usize]
    }

    /// Returns the labels, sorted by name.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.labels.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        let place = self.labels.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.labels.get(place).map(|(_, value)| &**value)
    }

    /// Returns the value of an annotation. Each call searches the JSON of the metadata.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<String> {
        decode::annotation(&self.stored().metadata(), name)
    }

    /// Returns the size in bytes of the JSON beside key and labels, including what other objects share.
    #[must_use]
    pub fn json_len(&self) -> usize {
        self.ends.version as usize + self.stored().len()
    }

    fn stored(&self) -> Stored<'_> {
        Stored { pattern: &self.pattern, values: &self.text[self.ends.version as usize..] }
    }

    /// Decodes a member of the metadata; null counts as absent.
    fn metadata_member<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, serde_json::Error> {
        Ok(decode::member_of::<Option<T>>(&self.stored().metadata(), name)?.flatten())
    }

    /// Returns the metadata as JSON.
    fn metadata_json(&self) -> String {
        let members = self.stored().metadata();
        let mut out = String::with_capacity(members.len() + 256);
        out.push('{');
        member(&mut out, "name", self.key.name());
        for (name, value) in [
            ("namespace", self.key.namespace()),
            ("uid", self.uid()),
            ("resourceVersion", self.resource_version()),
        ] {
            if !value.is_empty() {
                out.push(',');
                member(&mut out, name, value);
            }
        }
        if !self.labels.is_empty() {
            out.push_str(",\"labels\":{");
            for (at, (name, value)) in self.labels().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                member(&mut out, name, value);
            }
            out.push('}');
        }
        if !members.is_empty() {
            out.push(',');
            out.push_str(&members);
        }
        out.push('}');
        out
    }
}

impl<K: Resource<DynamicType: DynamicType>> Compact<K> {
    /// Returns the object as JSON. The order of its members may differ from the server's.
    #[must_use]
    pub fn to_json(&self) -> String {
        let members = self.stored().members();
        let mut out = String::with_capacity(self.json_len() + 512);
        out.push('{');
        // They are among the members if they differ from the kind's own, or if the type does not know its kind.
        if let Some(known) = K::DynamicType::of_static() {
            if !decode::has_member(&members, "apiVersion") {
                member(&mut out, "apiVersion", &K::api_version(&known));
                out.push(',');
            }
            if !decode::has_member(&members, "kind") {
                member(&mut out, "kind", &K::kind(&known));
                out.push(',');
            }
        }
        out.push_str("\"metadata\":");
        out.push_str(&self.metadata_json());
        if !members.is_empty() {
            out.push(',');
            out.push_str(&members);
        }
        out.push('}');
        out
    }

    /// Decodes the metadata.
    ///
    /// # Errors
    /// [`DecodeError`] if it does not fit.
    pub fn metadata(&self) -> Result<ObjectMeta, DecodeError> {
        self.decoded(json::from_str(&self.metadata_json()))
    }

    /// Decodes a single member of the object, such as `spec` or `status`; `None` if it does not exist.
    ///
    /// # Errors
    /// [`DecodeError`] if it does not fit `T`.
    pub fn field<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, DecodeError> {
        self.decoded(decode::member_of(&self.stored().members(), name))
    }

    fn decoded<T>(&self, result: Result<T, serde_json::Error>) -> Result<T, DecodeError> {
        result.map_err(|source| DecodeError { kind: self.kind_name(), key: self.key.clone(), source })
    }

    fn kind_name(&self) -> String {
        match K::DynamicType::of_static() {
            Some(known) => K::kind(&known).into_owned(),
            None => decode::member_of(&self.stored().members(), "kind").ok().flatten().unwrap_or_default(),
        }
    }
}

impl<K: Resource<DynamicType: DynamicType> + DeserializeOwned> Compact<K> {
    /// Decodes the whole object, anew on each call.
    ///
    /// # Errors
    /// [`DecodeError`] if it does not fit `K`.
    pub fn object(&self) -> Result<K, DecodeError> {
        self.decoded(json::from_str(&self.to_json()))
    }
}

/// Writes `"name":"value"`.
fn member(out: &mut String, name: &str, value: &str) {
    decode::push_string(out, name);
    out.push(':');
    decode::push_string(out, value);
}

impl<K> Cached for Compact<K>
where
    K: Resource<DynamicType: DynamicType> + DeserializeOwned + Send + Sync + 'static,
{
    type Kind = K;
    type DynamicType = K::DynamicType;

    fn object_key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn object_version(&self) -> Option<&str> {
        Some(self.resource_version()).filter(|version| !version.is_empty())
    }

    fn object_uid(&self) -> Option<&str> {
        Some(self.uid()).filter(|uid| !uid.is_empty())
    }

    fn object_controller(&self) -> Option<Cow<'_, OwnerReference>> {
        let owners: Vec<OwnerReference> = self.metadata_member("ownerReferences").ok().flatten()?;
        owners.into_iter().find(|owner| owner.controller == Some(true)).map(Cow::Owned)
    }

    fn is_selected_by(&self, selector: &Selector) -> bool {
        selector.matches_by(|name| self.label(name))
    }

    fn object_generation(&self) -> Option<i64> {
        self.metadata_member("generation").ok().flatten()
    }

    fn has_labels_of(&self, other: &Self) -> bool {
        self.labels().eq(other.labels())
    }

    fn has_annotations_of(&self, other: &Self) -> bool {
        let (one, two) = (self.stored().metadata(), other.stored().metadata());
        if one == two {
            return true;
        }
        let annotations = |members: &str| {
            let annotations = decode::member_of::<Option<BTreeMap<String, String>>>(members, "annotations");
            annotations.map(Option::flatten)
        };
        match (annotations(&one), annotations(&two)) {
            (Ok(one), Ok(two)) => one.unwrap_or_default() == two.unwrap_or_default(),
            // The texts differ, and neither can be decoded.
            _ => false,
        }
    }

    fn form() -> &'static str {
        if K::metadata_api() { "compact metadata" } else { "compact" }
    }

    fn complete(&mut self, kind: &K::DynamicType, context: &mut Self::Context) {
        let Some(TypeMeta { api_version, kind }) = kind.type_meta() else { return };
        // Lists contain built-in objects without their type.
        let members = self.stored().members();
        if !decode::has_member(&members, "kind") {
            let mut pattern = self.pattern.to_string();
            if !members.is_empty() {
                pattern.push(',');
            }
            member(&mut pattern, "apiVersion", &api_version);
            pattern.push(',');
            member(&mut pattern, "kind", &kind);
            self.pattern = context.shared_pattern(&pattern);
        }
    }
}

impl<K> Clone for Compact<K> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            labels: self.labels.clone(),
            pattern: Arc::clone(&self.pattern),
            text: self.text.clone(),
            ends: self.ends,
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Compact<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compact")
            .field("key", &self.key)
            .field("resource_version", &self.resource_version())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
