//! `metadata.managedFields`: the owners of fields.

use std::collections::BTreeMap;

use kubesmith_apimachinery::fieldpath::Set;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value};

/// The operation by which a manager got its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write.
    Update,
}

impl Operation {
    /// The name in `managedFields`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// The manager of a write, with the write's version, subresource and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// The field manager's name.
    pub name: String,
    /// `group/version` of the request, `version` in the core group.
    pub api_version: String,
    /// The subresource of the request, empty for the object itself.
    pub subresource: String,
    /// The time of the request, in RFC 3339 with whole seconds.
    pub time: String,
    /// Fields that the endpoint ignores, such as `status` where it is a subresource; with dots between their names.
    pub ignored: &'static [&'static str],
    /// Beginnings of the only paths that the endpoint considers, `*` for any element; empty: all.
    pub only: &'static [&'static [&'static str]],
}

/// The key of an entry. Appliers are distinguished by name and subresource alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) operation: Operation,
    pub(super) api_version: String,
    pub(super) subresource: String,
}

impl Identity {
    pub(super) fn new(manager: &Manager, operation: Operation) -> Self {
        let name = if manager.name.is_empty() { "unknown" } else { &manager.name };
        Self {
            name: name.to_owned(),
            operation,
            api_version: match operation {
                Operation::Apply => String::new(),
                Operation::Update => manager.api_version.clone(),
            },
            subresource: manager.subresource.clone(),
        }
    }

    /// The key by which the server sorts managers: an entry of `managedFields` without time and fields.
    pub(super) fn sort_key(&self) -> String {
        let members = [
            ("manager", self.name.as_str()),
            ("operation", self.operation.as_str()),
            ("apiVersion", &self.api_version),
            ("subresource", &self.subresource),
        ];
        let written = members.iter().filter(|(_, text)| !text.is_empty());
        let written: Vec<String> =
            written.map(|(name, text)| format!("\"{name}\":{}", golang::json_string(text))).collect();
        format!("{{{}}}", written.join(","))
    }

    /// The manager as conflicts name it.
    pub(super) fn text(&self) -> String {
        let mut text = golang::quote(&self.name);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", golang::quote(&self.subresource)));
        }
        if self.operation == Operation::Update {
            text.push_str(&format!(" using {}", self.api_version));
        }
        text
    }
}

/// The fields of one manager.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Owned {
    pub(super) set: Set,
    pub(super) api_version: String,
    pub(super) time: Option<String>,
}

/// All managers of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Managed(pub(super) BTreeMap<Identity, Owned>);

impl Managed {
    /// Reads `managedFields` (`DecodeManagedFields` of apimachinery's util/managedfields/internal/managedfields.go).
    ///
    /// # Errors
    /// Returns the fault of the first malformed entry.
    pub(super) fn decode(entries: &Value) -> Result<Self, String> {
        let mut managed = Self::default();
        for (at, entry) in entries.as_array().into_iter().flatten().enumerate() {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let operation = match text("operation").as_str() {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            let api_version = text("apiVersion");
            if api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType").as_str() {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {at}")),
                other => {
                    let other = golang::quote(other);
                    return Err(format!("invalid fieldsType {other} in managed fields entry {at}"));
                }
            }
            let set = match entry.get("fieldsV1") {
                None | Some(Value::Null) => Set::default(),
                // Go shows the address of the fields.
                Some(fields) => Set::from_fields_v1(fields)
                    .map_err(|fault| format!("error decoding versioned set: error decoding set: {fault}"))?,
            };
            let identity = Identity {
                name: text("manager"),
                operation,
                api_version: if operation == Operation::Apply { String::new() } else { api_version.clone() },
                subresource: text("subresource"),
            };
            let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
            managed.0.insert(identity, Owned { set, api_version, time });
        }
        Ok(managed)
    }

    /// The managers that an object names; none if they cannot be read.
    pub(super) fn of(object: &Value) -> Self {
        object
            .pointer("/metadata/managedFields")
            .and_then(|entries| Self::decode(entries).ok())
            .unwrap_or_default()
    }

    /// Writes `managedFields` in the server's order: appliers first, then by time, name, version and subresource.
    pub(super) fn encode(&self) -> Value {
        let mut entries: Vec<(&Identity, &Owned)> = self.0.iter().collect();
        entries.sort_by(|(a, x), (b, y)| {
            (a.operation, &x.time, &a.name, &x.api_version, &a.subresource).cmp(&(
                b.operation,
                &y.time,
                &b.name,
                &y.api_version,
                &b.subresource,
            ))
        });
        Value::Array(entries.into_iter().map(|(identity, owned)| entry(identity, owned)).collect())
    }

    /// Puts the entries into an object.
    pub(super) fn write_to(&self, object: &mut Value) {
        let Some(object) = object.as_object_mut() else { return };
        let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        let Some(metadata) = metadata.as_object_mut() else { return };
        if self.0.is_empty() {
            metadata.remove("managedFields");
        } else {
            metadata.insert("managedFields".to_owned(), self.encode());
        }
    }

    /// Keeps at most ten updaters; the oldest ones of a version are joined under one name.
    pub(super) fn cap_updaters(&mut self) {
        const MAX_UPDATERS: usize = 10;
        let mut updaters: Vec<Identity> =
            self.0.keys().filter(|id| id.operation == Operation::Update).cloned().collect();
        let mut count = updaters.len();
        if count <= MAX_UPDATERS {
            return;
        }
        updaters.sort_by_cached_key(|id| (self.0[id].time.clone(), id.sort_key()));
        let mut first_of: BTreeMap<String, Identity> = BTreeMap::new();
        for identity in updaters {
            if count <= MAX_UPDATERS {
                break;
            }
            let version = identity.api_version.clone();
            let Some(first) = first_of.get(&version) else {
                first_of.insert(version, identity);
                continue;
            };
            let bucket = Identity {
                name: "ancient-changes".to_owned(),
                operation: Operation::Update,
                api_version: version,
                subresource: String::new(),
            };
            if !self.0.contains_key(&bucket)
                && let Some(owned) = self.0.remove(first)
            {
                self.0.insert(bucket.clone(), owned);
            }
            let Some(owned) = self.0.remove(&identity) else { continue };
            if let Some(joined) = self.0.get_mut(&bucket) {
                joined.set = joined.set.union(&owned.set);
                joined.time = owned.time;
            }
            count -= 1;
        }
    }
}

fn entry(identity: &Identity, owned: &Owned) -> Value {
    let mut entry = Map::new();
    entry.insert("manager".to_owned(), identity.name.clone().into());
    entry.insert("operation".to_owned(), identity.operation.as_str().into());
    entry.insert("apiVersion".to_owned(), owned.api_version.clone().into());
    if let Some(time) = &owned.time {
        entry.insert("time".to_owned(), time.clone().into());
    }
    entry.insert("fieldsType".to_owned(), "FieldsV1".into());
    entry.insert("fieldsV1".to_owned(), owned.set.to_fields_v1());
    if !identity.subresource.is_empty() {
        entry.insert("subresource".to_owned(), identity.subresource.clone().into());
    }
    Value::Object(entry)
}
