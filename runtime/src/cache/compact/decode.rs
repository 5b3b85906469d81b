//! Decodes compact objects from JSON, and their parts from the stored text.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use kube::Resource;
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::intern::Interner;
use super::pattern::{Cut, join};
use super::{Compact, Ends, Key, ObjectKey};
use crate::json::{self, JsonReader, Raw};
use crate::object::{Decode, DynamicType};

/// State kept between objects: the interned texts, and buffers to build an object in.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Context {
    interner: Interner,
    parts: Parts,
}

/// The texts of an object.
#[derive(Debug, Default)]
struct Parts {
    has_metadata: bool,
    namespace: String,
    name: String,
    uid: String,
    version: String,
    metadata: Cut,
    members: Cut,
    pattern: String,
}

impl Parts {
    fn clear(&mut self) {
        self.has_metadata = false;
        for text in [&mut self.namespace, &mut self.name, &mut self.uid, &mut self.version] {
            text.clear();
        }
        self.metadata.clear();
        self.members.clear();
        self.pattern.clear();
    }
}

impl Context {
    /// Returns the pattern that all objects share.
    pub(super) fn shared_pattern(&mut self, pattern: &str) -> Arc<str> {
        self.interner.pattern(pattern)
    }
}

impl<K> Decode for Compact<K>
where
    K: Resource<DynamicType: DynamicType> + DeserializeOwned + 'static,
{
    type Context = Context;

    fn decode(json: &mut JsonReader<'_>, lean: bool, context: &mut Context) -> Result<Self, json::Error> {
        context.parts.clear();
        context.interner.clear();
        read_object::<K>(json, lean, context)?;
        let Context { interner, parts } = context;
        if parts.name.is_empty() {
            return Err(de::Error::custom("the object has no metadata.name"));
        }
        join(&mut parts.pattern, &parts.metadata.pattern, &parts.members.pattern);
        let pattern = interner.pattern(&parts.pattern);
        let texts = [&parts.uid, &parts.version, &parts.metadata.values, &parts.members.values];
        let length = texts.iter().map(|text| text.len()).sum();
        let end = |text: &str, before: u32| {
            let length = u32::try_from(text.len()).ok();
            let end = length.and_then(|length| before.checked_add(length));
            end.ok_or_else(|| de::Error::custom("uid and version are longer than 4 GiB"))
        };
        let uid = end(&parts.uid, 0)?;
        let ends = Ends { uid, version: end(&parts.version, uid)? };
        let mut text = String::with_capacity(length);
        texts.into_iter().for_each(|part| text.push_str(part));
        let key = ObjectKey::namespaced(&parts.namespace, &parts.name);
        Ok(Self { key, labels: interner.labels(), pattern, text: text.into(), ends, kind: PhantomData })
    }
}

fn read_object<K: Resource<DynamicType: DynamicType>>(
    json: &mut JsonReader<'_>,
    lean: bool,
    context: &mut Context,
) -> Result<(), json::Error> {
    let known = K::DynamicType::of_static();
    json.members(&mut |json, name| {
        let own = match name {
            "metadata" if std::mem::replace(&mut context.parts.has_metadata, true) => {
                return Err(de::Error::duplicate_field("metadata"));
            }
            "metadata" => return read_metadata(json, lean, context),
            "apiVersion" => known.as_ref().map(K::api_version),
            "kind" => known.as_ref().map(K::kind),
            _ => None,
        };
        let Some(own) = own else { return context.parts.members.member(name, json) };
        let value = Raw::deserialize(json)?.0;
        if is_text(value, &own) {
            Ok(())
        } else {
            context.parts.members.member(name, &mut JsonReader::new(value))
        }
    })
}

/// Reports whether the JSON is this string; `text` needs no escapes.
fn is_text(json: &str, text: &str) -> bool {
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')) == Some(text)
}

fn read_metadata(json: &mut JsonReader<'_>, lean: bool, context: &mut Context) -> Result<(), json::Error> {
    let Context { interner, parts } = context;
    json.members(&mut |json, name| {
        let place = match name {
            "name" => &mut parts.name,
            "namespace" => &mut parts.namespace,
            "uid" => &mut parts.uid,
            "resourceVersion" => &mut parts.version,
            "labels" => {
                interner.clear();
                return LabelsSeed(&mut *interner).deserialize(json);
            }
            "managedFields" if lean => return json.skip(),
            _ => return parts.metadata.member(name, json),
        };
        place.clear();
        place.push_str(Option::<Key<'_>>::deserialize(json)?.as_ref().map_or("", |Key(text)| text));
        Ok(())
    })
}

struct LabelsSeed<'c>(&'c mut Interner);

impl<'de> DeserializeSeed<'de> for LabelsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for LabelsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(name), Key(value))) = map.next_entry::<Key<'de>, Key<'de>>()? {
            self.0.label(&name, &value);
        }
        Ok(())
    }
}

/// Appends a JSON string.
pub(super) fn push_string(out: &mut String, text: &str) {
    let is_plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
    if text.as_bytes().iter().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// Finds an annotation among the members of the metadata.
pub(super) fn annotation(members: &str, name: &str) -> Option<String> {
    let annotations = JsonReader::new(members).bare_members(Find::<Raw<'_>>::new("annotations"));
    let found = match annotations {
        Ok(None) => return None,
        Ok(Some(Raw(annotations))) => JsonReader::new(annotations).deserialize_map(Find::new(name)),
        Err(error) => Err(error),
    };
    found.unwrap_or_else(|_| {
        let annotations = member_of::<Option<BTreeMap<String, String>>>(members, "annotations");
        annotations.ok()???.remove(name)
    })
}

/// Finds a member of the object with these members; the last one, if a name occurs twice.
pub(super) fn member_of<T: DeserializeOwned>(
    members: &str,
    name: &str,
) -> Result<Option<T>, serde_json::Error> {
    let mut json = JsonReader::new(members);
    let found = json.bare_members(Find::new(name));
    found.map_err(|error| json.explain(&error))
}

/// Reports whether the member exists.
pub(super) fn has_member(members: &str, name: &str) -> bool {
    // Most objects do not contain the name at all, which is quick to check.
    members.contains(name) && matches!(member_of::<IgnoredAny>(members, name), Ok(Some(_)))
}

/// Finds the member with this name.
struct Find<'n, T> {
    name: &'n str,
    kind: PhantomData<T>,
}

impl<'n, T> Find<'n, T> {
    fn new(name: &'n str) -> Self {
        Self { name, kind: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Find<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let mut found = None;
        while let Some(Key(name)) = map.next_key::<Key<'de>>()? {
            if name == self.name {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
