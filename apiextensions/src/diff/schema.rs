//! Walks two schemas side by side.

use crate::cel::touches;
use crate::schema::{KEYWORDS, Values};
use crate::structural::{ListType, Path, Schema};
use serde_json::Value;

use super::{Certainty, Change, ChangeCode, Class, Ratchets, constraints, expressions, fields};

/// The place of compared schemas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) crd: &'a str,
    pub(super) version: &'a str,
}

/// Collects the changes between the schemas of a version.
pub(super) fn compare(place: Place<'_>, old: &Schema, new: &Schema, changes: &mut Vec<Change>) {
    let mut walk = Walk {
        place,
        path: Path::root(),
        steps: Vec::new(),
        documented: 0,
        entangled: false,
        ratchets: Ratchets::Alone,
        correlated: true,
        changes,
    };
    walk.node(old, new, Context { guarded: false, resource: (true, true), keys: &[] });
    let documented = walk.documented;
    if documented > 0 {
        let plural = if documented == 1 { "description differs" } else { "descriptions differ" };
        walk.add(ChangeCode::DocumentationChanged, format!("{documented} {plural}"));
    }
}

/// The context of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    /// Whether the new schema around the node may refuse an object for the node's content.
    pub(super) guarded: bool,
    /// Whether the object is a resource, before and after.
    pub(super) resource: (bool, bool),
    /// The key fields of a surrounding list.
    pub(super) keys: &'a [String],
}

pub(super) struct Walk<'a> {
    place: Place<'a>,
    path: Path,
    /// The path below the schema of the version.
    steps: Vec<String>,
    documented: usize,
    /// Whether something in the old schema may exclude the values that a change would break.
    entangled: bool,
    /// The condition under which servers accept a value of this node that is no longer valid.
    ratchets: Ratchets,
    /// Whether servers can match a value of this node with its old one: not in the items of a list without keys.
    correlated: bool,
    changes: &'a mut Vec<Change>,
}

impl Walk<'_> {
    /// Adds a change of this node.
    pub(super) fn add(&mut self, code: ChangeCode, message: impl Into<String>) {
        self.add_at(code, &[], message);
    }

    /// Like [`Walk::add`]; `below` are keywords that lead to the changed one.
    pub(super) fn add_at(&mut self, code: ChangeCode, below: &[&str], message: impl Into<String>) {
        let mut steps: Vec<String> =
            ["spec", "versions", self.place.version, "schema", "openAPIV3Schema"].map(str::to_owned).to_vec();
        steps.extend(self.steps.iter().cloned());
        steps.extend(below.iter().map(ToString::to_string));
        let path = match self.path.as_str() {
            "" => ".".to_owned(),
            path => path.to_owned(),
        };
        let rule = code.rule();
        self.changes.push(Change {
            crd: self.place.crd.to_owned(),
            version: Some(self.place.version.to_owned()),
            path,
            code,
            certain: rule.class != Class::Stored || (rule.certainty != Certainty::Unclear && !self.entangled),
            ratchets: if rule.ratchets { self.ratchets } else { Ratchets::Never },
            message: message.into(),
            steps,
        });
    }

    /// Adds changes for which no server accepts an old value.
    pub(super) fn unratcheted(&mut self, add: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.ratchets, Ratchets::Never);
        add(self);
        self.ratchets = around;
    }

    /// Enters a field.
    pub(super) fn field(&mut self, name: &str, walk: impl FnOnce(&mut Self)) {
        let path = field_path(&self.path, name);
        self.below(path, &["properties", name], walk);
    }

    /// Enters the values of a map.
    pub(super) fn values(&mut self, walk: impl FnOnce(&mut Self)) {
        self.below(self.path.key("*"), &["additionalProperties"], walk);
    }

    fn below(&mut self, path: Path, steps: &[&str], walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.path, path);
        let length = self.steps.len();
        self.steps.extend(steps.iter().map(ToString::to_string));
        walk(self);
        self.steps.truncate(length);
        self.path = before;
    }

    /// Compares two nodes and their children.
    pub(super) fn node(&mut self, old: &Schema, new: &Schema, context: Context<'_>) {
        if old == new {
            return;
        }
        self.documented += usize::from((&old.description, &old.title) != (&new.description, &new.title));
        if !self.types(old, new) {
            return;
        }
        self.nullable(old, new);
        self.embedded(old, new);
        let around = self.entangled;
        self.entangled = around || is_entangled(old);
        let holds_others = Types::of(old).has(Types::OBJECT) || Types::of(old).has(Types::ARRAY);
        self.ratchets =
            if holds_others || !self.correlated { Ratchets::WithAllAround } else { Ratchets::Alone };
        constraints::check(self, old, new);
        expressions::check(self, old, new);
        self.entangled = around || guards(old);
        self.children(old, new, context);
        self.entangled = around;
    }

    fn children(&mut self, old: &Schema, new: &Schema, context: Context<'_>) {
        let types = Types::of(old);
        if types.has(Types::OBJECT) {
            fields::object(self, old, new, context);
        }
        if types.has(Types::ARRAY) {
            self.list(old, new, context);
        }
    }

    /// Compares the types; returns whether the rest is worth comparing.
    fn types(&mut self, old: &Schema, new: &Schema) -> bool {
        let (before, after) = (Types::of(old), Types::of(new));
        let message = || format!("{} became {}", shown(old), shown(new));
        if !after.contains(before) {
            let around = self.entangled;
            // An API server accepts a list as a text with a format.
            self.entangled = around || (before == Types::ARRAY && new.format.is_some());
            self.add_at(ChangeCode::TypeChanged, &["type"], message());
            self.entangled = around;
            return false;
        }
        if before != after {
            self.add_at(ChangeCode::TypeWidened, &["type"], message());
        }
        true
    }

    fn nullable(&mut self, old: &Schema, new: &Schema) {
        match (old.nullable, new.nullable) {
            (true, false)
                if !old.allowed_values().is_empty() && !old.allowed_values().contains(&Value::Null) =>
            {
                let message = "null is not admitted any more; it never was by the enum";
                self.add(ChangeCode::ConstraintChanged, message);
            }
            (true, false) => self.add(ChangeCode::NullableRemoved, "null is not admitted any more"),
            (false, true) => self.add_at(ChangeCode::NullableAdded, &["nullable"], "null is admitted"),
            _ => {}
        }
    }

    fn embedded(&mut self, old: &Schema, new: &Schema) {
        let below = &["x-kubernetes-embedded-resource"];
        match (old.embedded_resource, new.embedded_resource) {
            (false, true) => {
                let message = "the value has to be an object with apiVersion, kind and valid metadata";
                self.add_at(ChangeCode::EmbeddedResourceAdded, below, message);
            }
            (true, false) if new.preserve_unknown_fields && !new.properties.contains_key("metadata") => {
                let message = "apiVersion, kind and metadata are fields like any other";
                self.add_at(ChangeCode::EmbeddedResourceOpened, below, message);
            }
            (true, false) => {
                let message = "apiVersion, kind and metadata are dropped, or cut to their schemas";
                self.add_at(ChangeCode::EmbeddedResourceRemoved, below, message);
            }
            _ => {}
        }
    }

    fn list(&mut self, old: &Schema, new: &Schema, context: Context<'_>) {
        self.list_type(old, new);
        let (Some(before), Some(after)) = (&old.items, &new.items) else { return };
        let type_ = new.effective_list_type();
        let guarded = context.guarded || new.unique_items || type_ == ListType::Set || guards(new);
        let keys: &[String] = if type_ == ListType::Map { &new.list_map_keys } else { &[] };
        let resource = (before.embedded_resource, after.embedded_resource);
        let around = self.correlated;
        self.correlated &= type_ == ListType::Map;
        self.below(self.path.key("*"), &["items"], |walk| {
            fields::default(walk, before, after, guarded, false);
            walk.node(before, after, Context { guarded, resource, keys });
        });
        self.correlated = around;
    }

    fn list_type(&mut self, old: &Schema, new: &Schema) {
        let (before, after) = (old.effective_list_type(), new.effective_list_type());
        let below = &["x-kubernetes-list-type"];
        let message = format!("list type {} became {}", word(before), word(after));
        match (before, after) {
            (ListType::Map, ListType::Map) => self.list_keys(old, new),
            (before, after) if before == after => {}
            (_, ListType::Set | ListType::Map) => {
                self.add_at(ChangeCode::ListTypeTightened, below, message);
            }
            (_, ListType::Atomic) => self.add_at(ChangeCode::ListTypeLoosened, below, message),
        }
    }

    fn list_keys(&mut self, old: &Schema, new: &Schema) {
        let (before, after) = (&old.list_map_keys, &new.list_map_keys);
        let covers = |all: &[String], some: &[String]| some.iter().all(|key| all.contains(key));
        let code = match (covers(after, before), covers(before, after)) {
            (true, true) => return,
            (true, false) => ChangeCode::ListKeysWidened,
            (false, _) => ChangeCode::ListKeysNarrowed,
        };
        let message = format!("keys {} became {}", before.join(", "), after.join(", "));
        self.add_at(code, &["x-kubernetes-list-map-keys"], message);
    }
}

/// Returns the path of a field. An ambiguous name is quoted: `[*]` are the items of a list, or the values of a map,
/// `["*"]` is a field.
fn field_path(path: &Path, name: &str) -> Path {
    if name.is_empty() || name.contains(['[', ']', '*', '"']) {
        path.key(&Value::from(name).to_string())
    } else if name.contains('.') {
        path.key(name)
    } else {
        path.child(name)
    }
}

fn word(list_type: ListType) -> &'static str {
    match list_type {
        ListType::Atomic => "atomic",
        ListType::Set => "set",
        ListType::Map => "map",
    }
}

/// Reports whether other constraints of the node may already exclude the values that one of them newly excludes.
fn is_entangled(old: &Schema) -> bool {
    // A format of 32 bits acts like bounds.
    !matches!(constraints::effective(old).as_str(), "" | "int32")
        || old.pattern.is_some()
        || old.multiple_of.is_some()
        || !old.validations.is_empty()
        || KEYWORDS.iter().any(|keyword| keyword.narrows() && keyword.is_set(old))
        || old.junctions().next().is_some()
}

/// Reports whether the node may refuse a value for its fields.
pub(super) fn guards(schema: &Schema) -> bool {
    !schema.validations.is_empty() || guards_all(schema)
}

/// Reports whether the node may refuse a value for this field.
pub(super) fn guards_field(schema: &Schema, name: &str) -> bool {
    guards_all(schema) || schema.validations.iter().any(|rule| touches(&rule.rule, name))
}

fn guards_all(schema: &Schema) -> bool {
    schema.junctions().next().is_some()
        || schema.max_properties.is_some()
        || !schema.allowed_values().is_empty()
}

fn shown(schema: &Schema) -> &str {
    match schema.type_name() {
        _ if schema.int_or_string => "integer or string",
        "" => "any type",
        type_ => type_,
    }
}

/// The types of JSON that a node admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const INTEGER: Types = Types(1);
    pub(super) const FRACTION: Types = Types(2);
    pub(super) const STRING: Types = Types(4);
    pub(super) const BOOLEAN: Types = Types(8);
    pub(super) const OBJECT: Types = Types(16);
    pub(super) const ARRAY: Types = Types(32);

    pub(super) fn of(schema: &Schema) -> Types {
        match schema.type_name() {
            _ if schema.int_or_string => Types(Types::INTEGER.0 | Types::STRING.0),
            "" => Types(63),
            "integer" => Types::INTEGER,
            "number" => Types(Types::INTEGER.0 | Types::FRACTION.0),
            "string" => Types::STRING,
            "boolean" => Types::BOOLEAN,
            "object" => Types::OBJECT,
            "array" => Types::ARRAY,
            // An unknown type accepts no value.
            _ => Types(0),
        }
    }

    pub(super) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// Reports whether values that a keyword restricts are among them.
    pub(super) fn any_of(self, values: Values) -> bool {
        self.has(match values {
            Values::Numbers => Types(Types::INTEGER.0 | Types::FRACTION.0),
            Values::Strings => Types::STRING,
            Values::Lists => Types::ARRAY,
            Values::Objects => Types::OBJECT,
        })
    }

    pub(super) fn contains(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Formats a value for a message, shortened if it is long.
pub(super) fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns two texts that differ, without their common beginning if they are too long.
pub(super) fn contrasted(old: &str, new: &str, limit: usize) -> [String; 2] {
    const BEFORE: usize = 20;
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let is_long = |text: &str| text.chars().nth(limit).is_some();
    let start = if is_long(old) || is_long(new) { same.saturating_sub(BEFORE) } else { 0 };
    [old, new].map(|text| {
        let mut rest = text.chars().skip(start);
        let shown: String = rest.by_ref().take(limit).collect();
        let (before, after) =
            (if start > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
        format!("{before}{shown}{after}")
    })
}
