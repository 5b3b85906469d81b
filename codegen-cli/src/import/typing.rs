//! Makes Rust types from schemas. Each type has the schema that generating gives it. Its difference from
//! the wanted schema becomes an attribute; where additions cannot express the difference, the attribute
//! holds the whole schema.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::attributes::Key;
use super::facts::facts;
use super::keys::{self, Annotations, On};
use super::model::{Body, Choice, Field, Flattened, MAP, Module, OBJECT_META, Text, Ty, Type, VALUE};
use super::naming::{self, TypeNames};
use super::shapes;
use crate::known;
use crate::schema::{Additional, Schema, nullable};

pub(super) const TIME: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1::Time";
pub(super) const BYTES: &str = "k8s_openapi::ByteString";
pub(super) const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";
pub(super) const QUANTITY: &str = "k8s_openapi::apimachinery::pkg::api::resource::Quantity";

/// A use of a type, and its generated schema.
#[derive(Clone)]
struct Typed {
    ty: Ty,
    base: Schema,
    has_default: bool,
}

/// The position of a type.
#[derive(Clone, Copy)]
struct Use<'a> {
    /// The enclosing type.
    parent: &'a str,
    /// The field that leads to it.
    field: &'a str,
    /// Whether the field has its own documentation, which precedes the type's.
    is_described: bool,
}

/// Makes the types of a module.
pub(super) struct Typing {
    pub(super) module: Module,
    pub(super) names: TypeNames,
    /// Types by their schemas without their own description.
    equal: HashMap<String, Vec<usize>>,
    /// The generated schemas of the types, by their index.
    bases: Vec<Schema>,
    /// The keys of the types in `equal`, by their index; roots have none.
    keys: Vec<Option<String>>,
    /// Whether objects with exactly one of several members become enums.
    pub(super) choices: bool,
}

impl Typing {
    /// Types do not get the names of `imported` ones.
    pub(super) fn new(group: &str, version: &str, imported: &BTreeSet<String>) -> Self {
        let module = Module { group: group.to_string(), version: version.to_string(), ..Module::default() };
        Self {
            module,
            names: TypeNames::without(imported.iter().map(String::as_str)),
            equal: HashMap::new(),
            bases: Vec::new(),
            keys: Vec::new(),
            choices: true,
        }
    }

    /// Names types that several kinds share after the common part of the kinds' names.
    pub(super) fn name_shared(&mut self) {
        let mut uses: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for ty in self.module.types.iter().filter(|ty| !ty.resource.is_empty()) {
            let Body::Struct { fields, .. } = &ty.body else { continue };
            for field in fields.iter().filter(|field| matches!(field.name.as_str(), "spec" | "status")) {
                if let Ty::Own(index) = field.ty.bare() {
                    uses.entry(*index).or_default().push(ty.name.clone() + &naming::pascal(&field.name));
                }
            }
        }
        for (index, names) in uses.into_iter().filter(|(_, names)| names.len() > 1) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let shared = naming::common_end(&names);
            // `Spec` alone is too vague.
            if shared.len() > "Status".len() && self.names.take(&shared) {
                self.module.types[index].name = shared;
            }
        }
    }

    /// Adds the root type of a resource under a name that is already reserved.
    pub(super) fn root(
        &mut self,
        name: &str,
        kind: &str,
        schema: &Schema,
        resource: Vec<(&'static str, Vec<Key>)>,
    ) {
        let mut fields = vec![metadata_field(schema)];
        let mut idents: HashSet<String> = ["metadata".to_string()].into();
        let mut has_default = true;
        let mut properties = schema.properties.clone();
        properties.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata"));
        for (field, wanted) in &properties {
            let title = match field.as_str() {
                "spec" | "status" => kind,
                _ => "",
            };
            let made = self.field(title, kind, field, wanted, schema.required.contains(field), &mut idents);
            has_default &= made.1;
            fields.push(made.0);
        }
        // The standard fields are not part of the type's schema.
        let own = |all: &Schema| Schema { properties: properties.clone(), ..all.clone() };
        let mut wanted = own(schema);
        wanted.required.remove("metadata");
        let open = wanted.preserve_unknown_fields.then(|| other_fields(&mut idents));
        let base = object_base(&wanted, open.is_some());
        let rest = facts(&base, &wanted).unwrap_or_default();
        let annotations = keys::annotations(&rest, &wanted, On::Type);
        let body = Body::Struct { fields, open, choice: None };
        let (name, constants) = (name.to_string(), Vec::new());
        self.module.types.push(Type { name, annotations, resource, body, constants, has_default });
        self.bases.push(wanted);
        self.keys.push(None);
    }

    /// A field, and whether it has a default.
    fn field(
        &mut self,
        title: &str,
        parent: &str,
        name: &str,
        wanted: &Arc<Schema>,
        is_required: bool,
        idents: &mut HashSet<String>,
    ) -> (Field, bool) {
        let place = if title.is_empty() {
            (parent.to_string(), name.to_string())
        } else {
            (String::new(), format!("{title} {name}"))
        };
        let place = Use { parent: &place.0, field: &place.1, is_described: wanted.description.is_some() };
        let typed = if name == "metadata" && is_bare_object(wanted) {
            known_type(OBJECT_META, true)
        } else {
            self.type_of(wanted, place)
        };
        let mut annotations = match facts(&typed.base, wanted) {
            Some(mut rest) => {
                // Each field keeps its own documentation for the reader, even if its type has the same.
                rest.description.clone_from(&wanted.description);
                keys::annotations(&rest, wanted, On::Field)
            }
            None => {
                let mut annotations = keys::annotations(wanted, wanted, On::Field);
                annotations.schema.insert(0, Key::Plain("schemaless".to_string()));
                annotations
            }
        };
        let is_optional = !is_required || wanted.nullable;
        if is_required && wanted.nullable {
            annotations.schema.insert(0, Key::Plain("required".to_string()));
        }
        let ty = if is_optional { Ty::Option(Box::new(typed.ty)) } else { typed.ty };
        let ident = naming::field(name, idents);
        let is_defaulted_null =
            wanted.nullable && wanted.default.as_ref().is_some_and(|value| !value.is_null());
        let name = name.to_string();
        let field = Field { name, ident, annotations, ty, is_optional, is_flat: false, is_defaulted_null };
        (field, is_optional || typed.has_default)
    }

    fn type_of(&mut self, wanted: &Schema, place: Use<'_>) -> Typed {
        if wanted.int_or_string {
            let path = if wanted.pattern.is_some() { QUANTITY } else { INT_OR_STRING };
            return known_type(path, true);
        }
        if let Some((path, base)) = shapes::recognise(wanted)
            && (place.is_described || base.description == wanted.description)
        {
            return Typed { ty: Ty::Known(path), base: base.clone(), has_default: false };
        }
        match wanted.type_.as_deref() {
            Some("string") => self.text(wanted, place),
            Some("integer") => plain(integer(wanted)),
            Some("number") => plain("f64"),
            Some("boolean") => plain("bool"),
            Some("array") => self.list(wanted, place),
            Some("object") => self.object(wanted, place),
            _ => known_type(VALUE, true),
        }
    }

    fn text(&mut self, wanted: &Schema, place: Use<'_>) -> Typed {
        if let Some(values) = wanted.enum_.as_deref().and_then(texts) {
            return self.texts(&values, wanted, place);
        }
        match wanted.format.as_deref() {
            Some("date-time") => known_type(TIME, false),
            Some("byte") => known_type(BYTES, true),
            _ => plain("String"),
        }
    }

    fn texts(&mut self, values: &[&str], wanted: &Schema, place: Use<'_>) -> Typed {
        let mut base = Schema { enum_: wanted.enum_.clone(), ..Schema::of_type("string") };
        let key = base.to_value().to_string();
        if let Some(found) = self.equal(&key, wanted, place) {
            return found;
        }
        base.description.clone_from(&wanted.description);
        let idents = naming::variants(values);
        let text =
            |(ident, value): (String, &&str)| Text { ident, value: value.to_string(), docs: Vec::new() };
        let body = Body::Texts(idents.into_iter().zip(values).map(text).collect());
        let annotations = described(&base);
        self.define(key, base, body, annotations, false, place)
    }

    fn list(&mut self, wanted: &Schema, place: Use<'_>) -> Typed {
        let Some(items) = &wanted.items else {
            let base = known::list_of(known_type(VALUE, true).base);
            return Typed { ty: Ty::List(Box::new(Ty::Known(VALUE))), base, has_default: true };
        };
        let name = naming::singular(place.field);
        let item = self.inner(items, Use { field: &name, is_described: false, ..place });
        Typed { ty: Ty::List(Box::new(item.ty)), base: known::list_of(item.base), has_default: true }
    }

    /// The type of the items of lists and maps.
    fn inner(&mut self, wanted: &Schema, place: Use<'_>) -> Typed {
        let item = self.type_of(wanted, place);
        if wanted.nullable {
            return Typed { ty: Ty::Option(Box::new(item.ty)), base: nullable(item.base), has_default: true };
        }
        item
    }

    fn object(&mut self, wanted: &Schema, place: Use<'_>) -> Typed {
        if !wanted.properties.is_empty() {
            return self.structure(wanted, place);
        }
        match &wanted.additional_properties {
            Some(Additional::Schema(values)) => {
                let name = naming::singular(place.field);
                let value = self.inner(values, Use { field: &name, is_described: false, ..place });
                Typed { ty: Ty::Map(Box::new(value.ty)), base: known::map_of(value.base), has_default: true }
            }
            Some(Additional::Allowed(true)) => {
                let base = known::map_of(known_type(VALUE, true).base);
                Typed { ty: Ty::Map(Box::new(Ty::Known(VALUE))), base, has_default: true }
            }
            _ if wanted.preserve_unknown_fields => known_type(MAP, true),
            _ => self.structure(wanted, place),
        }
    }

    fn structure(&mut self, wanted: &Schema, place: Use<'_>) -> Typed {
        // These belong to the field.
        let own = Schema { default: None, example: None, nullable: false, ..wanted.clone() };
        let mut key = Schema { description: None, ..own.clone() }.to_value().to_string();
        if !self.choices {
            key.push_str(" without enums");
        }
        if let Some(found) = self.equal(&key, wanted, place) {
            return found;
        }
        if let Some(found) = self.choice(&key, &own, place) {
            return found;
        }
        let name = self.names.choose(place.parent, place.field);
        let mut idents = HashSet::new();
        let (fields, has_default) = self.fields(&name, &own, &[], &mut idents);
        let open = own.preserve_unknown_fields.then(|| other_fields(&mut idents));
        let (base, body) = (object_base(&own, open.is_some()), Body::Struct { fields, open, choice: None });
        let (annotations, base) = match facts(&base, &own) {
            Some(rest) => (keys::annotations(&rest, &own, On::Type), own),
            // The field's attribute describes the type.
            None => (Annotations::default(), base),
        };
        self.add(name, key, base, body, annotations, has_default)
    }

    /// The fields of an object without those in an enum, and whether all of them have defaults.
    fn fields(
        &mut self,
        name: &str,
        own: &Schema,
        but: &[&String],
        idents: &mut HashSet<String>,
    ) -> (Vec<Field>, bool) {
        let mut fields = Vec::new();
        let mut has_default = true;
        for (field, schema) in own.properties.iter().filter(|(field, _)| !but.contains(field)) {
            let made = self.field("", name, field, schema, own.required.contains(field), idents);
            has_default &= made.1;
            fields.push(made.0);
        }
        (fields, has_default)
    }

    /// An object with exactly one of several members: an enum, or for an object with other members, a
    /// struct that flattens the enum.
    fn choice(&mut self, key: &str, own: &Schema, place: Use<'_>) -> Option<Typed> {
        let members = alternatives(own).filter(|_| self.choices)?;
        let base = Schema { one_of: own.one_of.clone(), ..object_base(own, false) };
        let rest = facts(&base, own)?;
        let before = (self.module.types.len(), self.names.mark());
        let name = self.names.choose(place.parent, place.field);
        let is_all = members.len() == own.properties.len();
        let enum_name = if is_all { name.clone() } else { self.names.choose(&name, "choice") };
        let Some(choices) = self.choices(&enum_name, own, &members) else {
            self.take_back(before);
            return None;
        };
        let annotations = keys::annotations(&rest, own, On::Type);
        if is_all {
            return Some(self.add(
                name,
                key.to_string(),
                own.clone(),
                Body::OneOf(choices),
                annotations,
                false,
            ));
        }
        let enum_key = format!("{key} of {name}");
        let made = self.add(enum_name, enum_key, base, Body::OneOf(choices), Annotations::default(), false);
        let Ty::Own(ty) = made.ty else { return None };
        let mut idents = HashSet::new();
        let (fields, _) = self.fields(&name, own, &members, &mut idents);
        let choice = Some(Flattened { ident: naming::field("choice", &mut idents), ty });
        let body = Body::Struct { fields, open: None, choice };
        Some(self.add(name, key.to_string(), own.clone(), body, annotations, false))
    }

    /// The variants of an enum of these members; `None` if a variant's schema would differ.
    fn choices(&mut self, name: &str, own: &Schema, members: &[&String]) -> Option<Vec<Choice>> {
        let names: Vec<&str> = members.iter().map(|member| member.as_str()).collect();
        let variant = |(ident, member): (String, &&String)| {
            let wanted = own.properties[*member].as_ref();
            let place = Use { parent: name, field: member, is_described: wanted.description.is_some() };
            let typed = self.inner(wanted, place);
            let description = wanted.description.clone().or(typed.base.description.clone());
            let content = Schema { description, ..typed.base };
            let docs = wanted.description.as_deref().map_or(Some(Vec::new()), keys::documentation)?;
            (content == *wanted).then(|| Choice { ident, name: (*member).clone(), docs, ty: typed.ty })
        };
        naming::variants(&names).into_iter().zip(members).map(variant).collect()
    }

    /// Removes all types but the first `types`, and their names.
    fn take_back(&mut self, (types, names): (usize, usize)) {
        for key in self.keys.drain(types..).flatten() {
            // The last type with this key.
            self.equal.get_mut(&key).and_then(Vec::pop);
        }
        self.module.types.truncate(types);
        self.bases.truncate(types);
        self.names.give_back(names);
    }

    /// A type with an equal schema.
    fn equal(&self, key: &str, wanted: &Schema, place: Use<'_>) -> Option<Typed> {
        let candidates = self.equal.get(key)?;
        let same = |index: &&usize| self.bases[**index].description == wanted.description;
        let found =
            candidates.iter().find(same).or_else(|| candidates.first().filter(|_| place.is_described))?;
        let has_default = self.module.types[*found].has_default;
        Some(Typed { ty: Ty::Own(*found), base: self.bases[*found].clone(), has_default })
    }

    fn define(
        &mut self,
        key: String,
        base: Schema,
        body: Body,
        annotations: Annotations,
        has_default: bool,
        place: Use<'_>,
    ) -> Typed {
        let name = self.names.choose(place.parent, place.field);
        self.add(name, key, base, body, annotations, has_default)
    }

    fn add(
        &mut self,
        name: String,
        key: String,
        base: Schema,
        body: Body,
        annotations: Annotations,
        has_default: bool,
    ) -> Typed {
        let index = self.module.types.len();
        let (resource, constants) = (Vec::new(), Vec::new());
        self.module.types.push(Type { name, annotations, resource, body, constants, has_default });
        self.bases.push(base.clone());
        self.equal.entry(key.clone()).or_default().push(index);
        self.keys.push(Some(key));
        Typed { ty: Ty::Own(index), base, has_default }
    }
}

/// The schema of a struct with these properties.
fn object_base(wanted: &Schema, is_open: bool) -> Schema {
    let mut required = wanted.required.clone();
    required.retain(|name| wanted.properties.contains_key(name));
    let properties = wanted.properties.clone();
    Schema { properties, required, preserve_unknown_fields: is_open, ..Schema::of_type("object") }
}

fn described(base: &Schema) -> Annotations {
    let facts = Schema { description: base.description.clone(), ..Schema::default() };
    keys::annotations(&facts, base, On::Type)
}

fn other_fields(idents: &mut HashSet<String>) -> String {
    naming::field("otherFields", idents)
}

pub(super) fn metadata_field(schema: &Schema) -> Field {
    let mut annotations =
        Annotations { docs: vec!["Standard object metadata.".to_string()], ..Annotations::default() };
    if schema.required.contains("metadata") {
        annotations.schema.push(Key::Plain("required".to_string()));
    }
    Field {
        name: "metadata".to_string(),
        ident: "metadata".to_string(),
        annotations,
        ty: Ty::Known(OBJECT_META),
        is_optional: false,
        is_flat: false,
        is_defaulted_null: false,
    }
}

fn is_bare_object(schema: &Schema) -> bool {
    schema.type_.as_deref() == Some("object")
        && schema.properties.is_empty()
        && schema.additional_properties.is_none()
        && !schema.preserve_unknown_fields
}

/// The members of which an object has exactly one, if its alternatives require that.
fn alternatives(own: &Schema) -> Option<Vec<&String>> {
    // An enum cannot hold members without a property.
    if own.preserve_unknown_fields || own.embedded_resource || own.additional_properties.is_some() {
        return None;
    }
    let members: Vec<&String> = own.one_of.iter().map(only_required).collect::<Option<_>>()?;
    let distinct: HashSet<&&String> = members.iter().collect();
    let is_free = |name: &&String| own.properties.contains_key(*name) && !own.required.contains(name);
    (members.len() > 1 && distinct.len() == members.len() && members.iter().all(is_free)).then_some(members)
}

fn only_required(branch: &Schema) -> Option<&String> {
    let name = branch.required.first()?;
    let alone = Schema { required: branch.required.clone(), ..Schema::default() };
    (branch.required.len() == 1 && *branch == alone).then_some(name)
}

fn texts(values: &[serde_json::Value]) -> Option<Vec<&str>> {
    let texts: Option<Vec<&str>> = values.iter().map(serde_json::Value::as_str).collect();
    let distinct = |texts: &Vec<&str>| texts.iter().collect::<HashSet<_>>().len() == texts.len();
    texts.filter(|texts| !texts.is_empty() && distinct(texts))
}

fn integer(wanted: &Schema) -> &'static str {
    match wanted.format.as_deref() {
        Some("int32") => "i32",
        Some("int64") => "i64",
        _ => "isize",
    }
}

fn plain(name: &'static str) -> Typed {
    Typed { ty: Ty::Plain(name), base: known::schema(name).unwrap_or_default(), has_default: true }
}

fn known_type(path: &'static str, has_default: bool) -> Typed {
    Typed { ty: Ty::Known(path), base: known::schema(path).unwrap_or_default(), has_default }
}
