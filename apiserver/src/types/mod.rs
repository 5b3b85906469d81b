//! The types of built-in kinds: one table of messages and fields, read from `types.txt`.
//!
//! The table has the facts of Go's types for each field: its name, its number in protobuf, its type, whether it is
//! written when it is empty, and how it merges. Decoding, protobuf, server-side apply, strategic merge patches and the
//! published schemas all use this one table.

pub(crate) mod decode;
pub(crate) mod show;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kubesmith_apimachinery::patch::{self, PatchMeta, Strategy};
use serde_json::Value;

static TYPES: LazyLock<BTreeMap<&'static str, Type>> = LazyLock::new(|| table(include_str!("types.txt")));

/// Messages for protobuf and the order of members only.
static MESSAGES: LazyLock<BTreeMap<&'static str, Type>> =
    LazyLock::new(|| table(include_str!("messages.txt")));

fn table(text: &'static str) -> BTreeMap<&'static str, Type> {
    let mut types: BTreeMap<&str, Type> = text.lines().filter_map(Type::parse).collect();
    let flat: Vec<(&str, Vec<Field>)> = types.values().map(|t| (t.name, fields(&types, t.name))).collect();
    for (name, fields) in flat {
        if let Some(of) = types.get_mut(name) {
            let at = |(position, field): (usize, Field)| (field.name, Field { position, ..field });
            of.members = fields.into_iter().enumerate().map(at).collect();
        }
    }
    types
}

/// Returns the fields of a message in Go's order, with those of inline messages in their places.
fn fields(types: &BTreeMap<&str, Type>, name: &str) -> Vec<Field> {
    let mut own: Vec<Field> =
        types.get(name).into_iter().flat_map(|t| t.numbered.values()).copied().collect();
    own.sort_by_key(|field| field.position);
    let flat = |field: Field| match field.shape {
        Shape::Inline => {
            let outer = field.of.rsplit('.').next().unwrap_or(field.of);
            let inside = |field: Field| Field { embedded: Some(field.embedded.unwrap_or(outer)), ..field };
            fields(types, field.of).into_iter().map(inside).collect()
        }
        _ => vec![field],
    };
    own.into_iter().flat_map(flat).collect()
}

/// A message.
#[derive(Debug)]
pub(crate) struct Type {
    /// Package and name, such as `core.PodSpec`.
    pub(crate) name: &'static str,
    /// Whether server-side apply owns it as a whole.
    pub(crate) atomic: bool,
    /// The fields by number, for protobuf.
    pub(crate) numbered: BTreeMap<u64, Field>,
    /// The fields by name, for JSON.
    pub(crate) members: BTreeMap<&'static str, Field>,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// Its place among the fields of the message, from 0: the order of the fields in Go.
    pub(crate) position: usize,
    pub(crate) shape: Shape,
    /// Its type, or the type of the elements of its list or map.
    pub(crate) of: &'static str,
    /// Whether absence differs from the zero value.
    pub(crate) optional: bool,
    /// Whether it is written when it is empty.
    pub(crate) always: bool,
    /// The rule by which server-side apply merges it.
    pub(crate) merge: Merge,
    /// The rule by which strategic merge patches merge it.
    pub(crate) patch: Patch,
    pub(crate) default: Option<&'static str>,
    /// The innermost struct that Go embeds and that has the field; decoding errors name it.
    pub(crate) embedded: Option<&'static str>,
    /// Its type in Go's notation, unless `of` implies it.
    pub(crate) go: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    One,
    List,
    Map,
    /// The members belong to the message around it.
    Inline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// Maps and messages by their members, lists as a whole.
    ByShape,
    Set,
    /// A list whose elements have these members as keys, separated by commas.
    Keys(&'static str),
    Atomic,
    /// A message by its members, although messages of its type are atomic elsewhere.
    Granular,
}

/// The tags `patchStrategy` and `patchMergeKey`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    /// Elements are merged instead of replaced.
    pub(crate) merge: bool,
    /// The key of elements; `None` for lists of scalars.
    pub(crate) key: Option<&'static str>,
    pub(crate) retain_keys: bool,
    /// Whether the tag names the default, which is to replace.
    pub(crate) replace: bool,
}

impl Type {
    /// Reports whether objects of the type have their own version and kind.
    pub(crate) fn has_type_meta(&self) -> bool {
        self.members.get("metadata").is_some_and(|m| m.of == "meta.ObjectMeta")
            && !self.name.ends_with("TemplateSpec")
            && self.name != "core.PersistentVolumeClaimTemplate"
    }

    fn parse(line: &'static str) -> Option<(&'static str, Self)> {
        let mut words = line.split(' ');
        let head = words.next().filter(|head| *head != "#")?;
        let (name, atomic) = head.strip_suffix(":atomic").map_or((head, false), |name| (name, true));
        let numbered = words.enumerate().filter_map(|(at, word)| Field::parse(word, at)).collect();
        Some((name, Self { name, atomic, numbered, members: BTreeMap::new() }))
    }
}

impl PatchMeta for &'static Type {
    fn name(self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    fn field(self, name: &str) -> Option<patch::Field<Self>> {
        let field = self.members.get(name)?;
        let strategy = match field.patch {
            Patch { merge: true, .. } => Strategy::Merge,
            Patch { replace: true, .. } => Strategy::Replace,
            _ => Strategy::Default,
        };
        // The fields of a map are its keys, which the table does not know.
        let of = if field.shape == Shape::Map { None } else { find(field.of) };
        Some(patch::Field { strategy, merge_key: field.patch.key, of })
    }
}

impl Field {
    /// Returns the value of an absent key member: its default, or the zero value of a member that is always written.
    ///
    /// kube-openapi publishes that zero value as the default of every field without a pointer and `omitempty`.
    pub(crate) fn key_default(&self) -> Option<Value> {
        match (self.default, self.of) {
            (Some(text), "string") => Some(text.into()),
            (Some(json), _) => serde_json::from_str(json).ok(),
            (None, _) => (self.always && !self.optional).then(|| decode::zero(self)),
        }
    }

    /// Parses `name=number:type?!;fact`.
    fn parse(word: &'static str, position: usize) -> Option<(u64, Self)> {
        let (name, rest) = word.split_once('=')?;
        let (number, rest) = rest.split_once(':')?;
        let mut facts = rest.split(';');
        let kind = facts.next()?;
        let (kind, always) = kind.strip_suffix('!').map_or((kind, false), |kind| (kind, true));
        let (kind, optional) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
        let (shape, of) = match kind.split_once(':') {
            Some(("list", of)) => (Shape::List, of),
            Some(("map", of)) => (Shape::Map, of),
            Some(("inline", of)) => (Shape::Inline, of),
            _ => (Shape::One, kind),
        };
        let (merge, patch) = (Merge::ByShape, Patch::default());
        let mut field = Self {
            name,
            position,
            shape,
            of,
            optional,
            always,
            merge,
            patch,
            default: None,
            embedded: None,
            go: None,
        };
        for fact in facts {
            field.note(fact);
        }
        Some((number.parse().ok()?, field))
    }

    fn note(&mut self, fact: &'static str) {
        let argument = |name: &str| fact.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        if let Some(keys) = argument("map") {
            self.merge = Merge::Keys(keys);
        } else if let Some(value) = argument("default") {
            self.default = Some(value);
        } else if let Some(name) = argument("go") {
            self.go = Some(name);
        } else if fact == "set" {
            self.merge = Merge::Set;
        } else if fact == "atomic" {
            self.merge = Merge::Atomic;
        } else if fact == "granular" {
            self.merge = Merge::Granular;
        } else {
            let (strategy, key) = fact.split_once('=').map_or((fact, None), |(s, key)| (s, Some(key)));
            let has = |word: &str| strategy.split('+').any(|part| part == word);
            let (merge, retain_keys, replace) = (has("merge"), has("retainKeys"), has("replace"));
            self.patch = Patch { merge, key, retain_keys, replace };
        }
    }
}

/// Returns a message by its name.
pub(crate) fn find(name: &str) -> Option<&'static Type> {
    TYPES.get(name)
}

/// Returns the message of a kind; `None` for kinds that are not in the table.
pub(crate) fn of_kind(api_version: &str, kind: &str) -> Option<&'static Type> {
    if matches!(kind, "DeleteOptions" | "Status") {
        return find(&format!("meta.{kind}"));
    }
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("core", api_version));
    let package = group.split('.').next().unwrap_or_default();
    // The package's name has the version unless it is v1.
    let version = if version == "v1" { "" } else { version };
    find(&format!("{package}{version}.{kind}"))
}

/// Returns a message of protobuf by its name.
pub(crate) fn message(name: &str) -> Option<&'static Type> {
    find(name).or_else(|| MESSAGES.get(name))
}

/// Returns the message of a kind in protobuf; `None` for kinds without one.
pub(crate) fn message_of_kind(api_version: &str, kind: &str) -> Option<&'static Type> {
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let package = match (group, kind) {
        ("", "APIGroup" | "APIGroupList" | "APIResourceList" | "APIVersions") => "meta",
        ("apidiscovery.k8s.io", _) => "apidiscovery",
        ("apiextensions.k8s.io", _) => "apiextensions",
        _ => return of_kind(api_version, kind),
    };
    MESSAGES.get(format!("{package}.{kind}").as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The types of fields other than messages.
    const LEAVES: &[&str] = &[
        "string",
        "bytes",
        "bool",
        "int32",
        "int64",
        "double",
        "Quantity",
        "IntOrString",
        "RawExtension",
        "meta.Time",
        "meta.MicroTime",
        "meta.FieldsV1",
        "strings",
    ];

    #[test]
    fn types_in_the_table_are_defined() {
        for of in TYPES.values().chain(MESSAGES.values()) {
            for field in of.numbered.values() {
                assert!(LEAVES.contains(&field.of) || message(field.of).is_some(), "{} {field:?}", of.name);
            }
        }
    }

    #[test]
    fn keys_are_members_of_the_elements() {
        for (of, field) in TYPES.values().flat_map(|t| t.members.values().map(move |f| (t.name, f))) {
            let keys = match field.merge {
                Merge::Keys(keys) => keys.split(',').collect(),
                _ => Vec::new(),
            };
            for key in keys.into_iter().chain(field.patch.key) {
                assert!(find(field.of).is_some_and(|t| t.members.contains_key(key)), "{of}.{}", field.name);
            }
        }
    }

    #[test]
    fn table_line_is_parsed_with_all_its_attributes() {
        let spec = find("core.PodSpec").unwrap();
        let containers = spec.members["containers"];
        assert_eq!((containers.shape, containers.of), (Shape::List, "core.Container"));
        assert!(containers.always && !containers.optional);
        assert_eq!(containers.merge, Merge::Keys("name"));
        let patch = Patch { merge: true, key: Some("name"), ..Patch::default() };
        assert_eq!(containers.patch, patch);
        assert!(spec.members["volumes"].patch.retain_keys);
        assert!(find("core.Volume").unwrap().members.contains_key("secret"), "inline messages are members");
        assert!(find("meta.LabelSelector").unwrap().atomic);
        assert_eq!(of_kind("v1", "Pod").unwrap().name, "core.Pod");
        assert_eq!(of_kind("rbac.authorization.k8s.io/v1", "Role").unwrap().name, "rbac.Role");
        assert!(of_kind("autoscaling/v2", "HorizontalPodAutoscaler").is_some());
    }
}
