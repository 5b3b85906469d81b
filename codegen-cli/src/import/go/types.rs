//! Makes the model of the written types from the intermediate representation.

use std::collections::{BTreeMap, HashSet};

use kubesmith_core::names;
use serde_json::Value;

use super::super::attributes::Key;
use super::super::facts::facts;
use super::super::keys::{self, Annotations, On};
use super::super::model::{Body, Constant, Field, MAP, Module, OBJECT_META, Text, Ty, Type, VALUE};
use super::super::typing::{BYTES, INT_OR_STRING, QUANTITY, metadata_field};
use super::super::{naming, resource};
use super::plan::{Plan, Planned, PlannedModule, go_name};
use crate::go::SurveyedConstant;
use crate::ir::{self, Element, Shape, TypeDef, TypeRef};
use crate::known;
use crate::schema::Schema;
use kubesmith_apiextensions::diff::canonical;

/// The modules of a plan, in its order; `definitions` are the CRDs by their files.
pub(super) fn modules(plan: &Plan<'_>, definitions: &BTreeMap<String, String>) -> Vec<Module> {
    let objects = definitions.iter().filter_map(|(file, text)| {
        let object: Value = serde_yaml::from_str(text).ok()?;
        Some((file.clone(), canonical(&object)))
    });
    let definitions = objects.collect();
    let make = |(here, module)| Maker { plan, definitions: &definitions, here }.module(module);
    let mut modules: Vec<Module> = plan.modules.iter().enumerate().map(make).collect();
    defaults(&mut modules, plan);
    modules
}

/// Makes a module.
struct Maker<'a> {
    plan: &'a Plan<'a>,
    /// The definitions in their canonical form, by their files.
    definitions: &'a BTreeMap<String, Value>,
    /// The module, by its index.
    here: usize,
}

impl Maker<'_> {
    fn module(&self, planned: &PlannedModule<'_>) -> Module {
        let (group, version) = planned.version.unwrap_or_default();
        let shared = planned.version.is_none().then(|| planned.survey.path.clone());
        let mut constants = Vec::new();
        for constant in planned.survey.constants.iter().filter(|constant| constant.ty.is_none()) {
            add(&mut constants, constant, "");
        }
        Module {
            group: group.to_string(),
            version: version.to_string(),
            shared,
            constants: if planned.survey.is_input { constants } else { Vec::new() },
            types: planned.types.iter().map(|at| self.definition(planned, *at)).collect(),
            ..Module::default()
        }
    }

    fn definition(&self, planned: &PlannedModule<'_>, at: usize) -> Type {
        let definition = &self.plan.ir.types[at];
        let name = match &self.plan.types[at] {
            Some(Planned::Own { name, .. }) => name.clone(),
            _ => go_name(definition).to_string(),
        };
        let whole = self.plan.schemas.of_type(at).cloned().unwrap_or_default();
        let own = go_name(definition);
        let constants: Vec<&SurveyedConstant> =
            planned.survey.constants.iter().filter(|constant| constant.ty.as_deref() == Some(own)).collect();
        let mut over = definition.facts.clone();
        over.description.clone_from(&definition.description);
        let body = match texts(definition, &constants) {
            Some(texts) => {
                over.enum_ = None;
                Body::Texts(texts)
            }
            None => self.body(definition, &whole),
        };
        let mut of_type = Vec::new();
        if let Body::Newtype { ty: Ty::Plain("String"), .. } = body {
            constants.iter().for_each(|constant| add(&mut of_type, constant, own));
        }
        let mut resource = Vec::new();
        if let Some(found) = self.plan.resources.get(&at) {
            resource = self.resource(found, &name, &planned.survey.markers);
        }
        let mut ty = Type {
            name,
            annotations: keys::annotations(&over, &whole, On::Type),
            resource,
            body,
            constants: of_type,
            has_default: true,
        };
        if !ty.resource.is_empty()
            && let Body::Struct { fields, .. } = &mut ty.body
        {
            fields.retain(|field| field.name != "metadata");
            fields.insert(0, metadata_field(&whole));
        }
        ty
    }

    /// The attributes of a root type: those from its definition, and the markers of clients.
    fn resource(
        &self,
        (group, version, found): &(&ir::Group, &ir::Version, &ir::Resource),
        name: &str,
        markers: &BTreeMap<String, Vec<String>>,
    ) -> Vec<(&'static str, Vec<Key>)> {
        let Some(schema) = self.plan.schemas.of(found) else { return Vec::new() };
        let Some(object) = self.definitions.get(&super::file_name(group, found)) else { return Vec::new() };
        let versions = object["spec"]["versions"].as_array().into_iter().flatten();
        let said = versions.into_iter().find(|it| it["name"] == version.name.as_str());
        let skipped = serde_json::json!({"name": version.name, "served": true});
        let first = group.name.split('.').next().unwrap_or_default();
        let groups = self.plan.ir.groups.iter().map(|group| group.name.as_str()).collect();
        let code = naming::groups(&groups).remove(group.name.as_str()).unwrap_or_else(|| first.to_string());
        let mut out = resource::attributes(object, said.unwrap_or(&skipped), schema, (name, &code));
        let own = markers.get(go_name(&self.plan.ir.types[found.root.0 as usize]));
        for (attribute, keys) in &mut out {
            match *attribute {
                "resource" => {
                    keys.extend(said.is_none().then(|| Key::Plain("skip_version".to_string())));
                    keys.extend(found.crd.hub.then(|| Key::Plain("hub".to_string())));
                }
                "genclient" => {
                    let own = own.into_iter().flatten();
                    keys.extend(
                        own.filter_map(|marker| client(marker).or_else(|| self.method(marker, found))),
                    );
                }
                _ => {}
            }
        }
        out
    }

    /// The key of a method with a name of its own. Those of `/scale` follow from the definition.
    fn method(&self, marker: &str, resource: &ir::Resource) -> Option<Key> {
        let (name, rest) = marker.strip_prefix("+genclient:method=")?.split_once(',')?;
        let mut keys = vec![Key::text("name", name.trim())];
        for (key, value) in rest.split(',').filter_map(|argument| argument.split_once('=')) {
            match (key.trim(), value.trim()) {
                ("subresource", "scale") if resource.crd.scale.is_some() => return None,
                (key @ ("verb" | "subresource"), value) => keys.push(Key::text(key, value)),
                (key @ ("input" | "result"), value) => keys.push(Key::text(key, &self.path_of(value)?)),
                _ => {}
            }
        }
        Some(Key::List("method".to_string(), keys))
    }

    /// The path of a type that Go names by its package: `k8s.io/api/autoscaling/v1.Scale`.
    fn path_of(&self, named: &str) -> Option<String> {
        let (package, name) = named.rsplit_once('.')?;
        let own = self.plan.types.iter().zip(&self.plan.ir.types).find_map(|(planned, definition)| {
            let Some(Planned::Own { module, name: rust, .. }) = planned else { return None };
            let is_it = self.plan.modules[*module].survey.path == package && go_name(definition) == name;
            is_it.then(|| self.plan.path(*module, rust))
        });
        own.or_else(|| crate::go::kubernetes_type(package, name))
    }

    fn body(&self, definition: &TypeDef, whole: &Schema) -> Body {
        match &definition.shape {
            Shape::Struct(fields) => {
                let mut idents = HashSet::new();
                let fields = fields.iter().map(|field| self.field(field, whole, &mut idents));
                Body::Struct { fields: fields.collect(), open: None, choice: None }
            }
            Shape::Newtype(element)
                if !is_retyped(&definition.facts, &self.base(&element.ty), &element.ty) =>
            {
                let Element { ty, .. } = &**element;
                Body::Newtype { ty: self.ty(ty), is_schemaless: false }
            }
            _ => Body::Newtype { ty: plain(whole), is_schemaless: true },
        }
    }

    fn field(&self, field: &ir::Field, owner: &Schema, idents: &mut HashSet<String>) -> Field {
        let mut over = field.facts.clone();
        over.description.clone_from(&field.description);
        let whole = owner.properties.get(&field.name).map_or_else(|| over.clone(), |own| (**own).clone());
        let is_schemaless = field.schemaless || matches!(field.ty, TypeRef::Opaque | TypeRef::Unit);
        let (ty, mut annotations) = if is_schemaless || is_retyped(&over, &self.base(&field.ty), &field.ty) {
            let wanted = if is_schemaless { &over } else { &whole };
            substituted(wanted)
        } else if self.plan.ir.older().keeps_both_enums && self.lists_again(&over, &field.ty) {
            (self.ty(&field.ty), schemaless(&whole))
        } else {
            (self.ty(&field.ty), keys::annotations(&over, &whole, On::Field))
        };
        if field.immutable {
            annotations.schema.push(Key::Plain("immutable".to_string()));
        }
        let is_optional = !field.flatten && (!field.required || whole.nullable);
        if is_optional && field.required {
            annotations.schema.insert(0, Key::Plain("required".to_string()));
        }
        let named = if field.flatten { &field.rust_name } else { &field.name };
        Field {
            name: field.name.clone(),
            ident: naming::field(named, idents),
            annotations,
            ty: if is_optional { Ty::Option(Box::new(ty)) } else { ty },
            is_optional,
            is_flat: field.flatten,
            is_defaulted_null: whole.nullable && whole.default.as_ref().is_some_and(|value| !value.is_null()),
        }
    }

    fn ty(&self, ty: &TypeRef) -> Ty {
        match ty {
            TypeRef::Named(id) => match &self.plan.types[id.0 as usize] {
                Some(Planned::Known(path)) => Ty::Known(path),
                Some(Planned::Own { module, at, .. }) if *module == self.here => Ty::Own(*at),
                Some(Planned::Own { module, name, .. }) => Ty::Other(self.plan.path(*module, name)),
                None => Ty::Known(VALUE),
            },
            TypeRef::Known(path) => known_type(path),
            TypeRef::List(inner) | TypeRef::Array(inner, _) => Ty::List(Box::new(self.ty(inner))),
            TypeRef::Map(inner) => Ty::Map(Box::new(self.ty(inner))),
            TypeRef::Nullable(inner) => Ty::Option(Box::new(self.ty(inner))),
            TypeRef::Tuple(_) | TypeRef::Unit | TypeRef::Opaque => Ty::Known(VALUE),
        }
    }

    /// Whether a field's list of values repeats that of its type. In Rust, one list would allow only the
    /// values in both.
    fn lists_again(&self, over: &Schema, ty: &TypeRef) -> bool {
        match (ty, &over.items) {
            (TypeRef::List(item) | TypeRef::Array(item, _), Some(items)) => self.lists_again(items, item),
            _ => over.enum_.is_some() && self.base(ty).enum_.is_some(),
        }
    }

    /// The schema of a type where it is used.
    fn base(&self, ty: &TypeRef) -> Schema {
        match ty {
            TypeRef::Named(id) => self.plan.schemas.of_type(id.0 as usize).cloned().unwrap_or_default(),
            TypeRef::Known(path) => known::schema(path).unwrap_or_default(),
            TypeRef::List(_) | TypeRef::Array(..) | TypeRef::Tuple(_) => Schema::of_type("array"),
            TypeRef::Map(_) => Schema::of_type("object"),
            TypeRef::Nullable(inner) => self.base(inner),
            TypeRef::Unit | TypeRef::Opaque => Schema::default(),
        }
    }
}

/// Whether attributes replace the form of their type.
fn is_retyped(over: &Schema, base: &Schema, ty: &TypeRef) -> bool {
    let other_type = over.type_.is_some() && over.type_ != base.type_;
    !matches!(ty, TypeRef::Named(_)) && (other_type || over.int_or_string && !base.int_or_string)
}

/// The Rust type of values that only a schema describes.
fn plain(schema: &Schema) -> Ty {
    match schema.type_name() {
        _ if schema.int_or_string => Ty::Known(INT_OR_STRING),
        "string" => Ty::Plain("String"),
        "integer" => Ty::Plain("i64"),
        "number" => Ty::Plain("f64"),
        "boolean" => Ty::Plain("bool"),
        "object" => Ty::Known(MAP),
        _ => Ty::Known(VALUE),
    }
}

/// A field's type and attributes where they replace what follows from its type in Go.
fn substituted(wanted: &Schema) -> (Ty, Annotations) {
    let ty = plain(wanted);
    let base = match &ty {
        Ty::Plain(path) | Ty::Known(path) => known::schema(path).unwrap_or_default(),
        _ => Schema::default(),
    };
    if let Some(rest) = facts(&base, wanted) {
        return (ty, keys::annotations(&rest, wanted, On::Field));
    }
    (ty, schemaless(wanted))
}

/// The attributes of a field whose type has no schema.
fn schemaless(wanted: &Schema) -> Annotations {
    let mut annotations = keys::annotations(wanted, wanted, On::Field);
    annotations.schema.insert(0, Key::Plain("schemaless".to_string()));
    annotations
}

fn known_type(path: &str) -> Ty {
    if let Some(name) = known::prelude().find(|name| *name == path) {
        return Ty::Plain(name);
    }
    match known::paths().find(|known| *known == path) {
        // Go writes durations as texts.
        Some("kube::core::Duration") => Ty::Plain("String"),
        Some(path) => Ty::Known(path),
        None => Ty::Known(VALUE),
    }
}

/// The variants of a type whose values are listed, with the documentation of their constants.
fn texts(definition: &TypeDef, constants: &[&SurveyedConstant]) -> Option<Vec<Text>> {
    let is_text = matches!(&definition.shape, Shape::Newtype(element)
        if element.ty == TypeRef::Known("String".to_string()) && definition.facts.type_.as_deref() != Some("integer"));
    let values: Option<Vec<&str>> = definition.facts.enum_.as_ref()?.iter().map(Value::as_str).collect();
    let values = values.filter(|values| {
        is_text && !values.is_empty() && values.iter().collect::<HashSet<_>>().len() == values.len()
    })?;
    let idents = naming::variants(&values);
    let text = |(ident, value): (String, &str)| {
        let constant = constants.iter().find(|constant| constant.value == value);
        let docs = constant.map(|constant| docs(&constant.description)).unwrap_or_default();
        Text { ident, value: value.to_string(), docs }
    };
    Some(idents.into_iter().zip(values).map(text).collect())
}

fn docs(description: &str) -> Vec<String> {
    if description.is_empty() { Vec::new() } else { keys::documentation(description).unwrap_or_default() }
}

/// Adds a constant under its name in Rust: without the name of its type, in capitals.
fn add(out: &mut Vec<Constant>, constant: &SurveyedConstant, ty: &str) {
    let own = constant.name.as_str();
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let short = own.strip_prefix(ty).filter(is_name).or_else(|| own.strip_suffix(ty).filter(is_name));
    let name = names::snake_case(short.unwrap_or(own)).to_uppercase();
    let is_free = |name: &String| !out.iter().any(|other| other.name == *name);
    let mut all = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}_{number}")));
    let name = all.find(is_free).unwrap_or(name);
    if syn::parse_str::<syn::Ident>(&name).is_ok() {
        out.push(Constant { name, value: constant.value.clone(), docs: docs(&constant.description) });
    }
}

/// The key for a marker of client-gen, apart from those that follow from the definition.
fn client(marker: &str) -> Option<Key> {
    let rest = marker.strip_prefix("+genclient:")?;
    let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
    let list = |key: &str| {
        let verbs = value.split(',').map(|verb| Key::Plain(format!("{:?}", verb.trim())));
        Key::List(key.to_string(), verbs.collect())
    };
    match name {
        "noStatus" => Some(Key::Plain("no_status".to_string())),
        "noVerbs" => Some(Key::Plain("no_verbs".to_string())),
        "readonly" => Some(Key::Plain("readonly".to_string())),
        "onlyVerbs" => Some(list("only_verbs")),
        "skipVerbs" => Some(list("skip_verbs")),
        _ => None,
    }
}

/// Finds the types that have `Default`: those whose parts all have it.
fn defaults(modules: &mut [Module], plan: &Plan<'_>) {
    let mut paths = BTreeMap::new();
    for planned in plan.types.iter().flatten() {
        if let Planned::Own { module, at, name } = planned {
            paths.insert(plan.path(*module, name), (*module, *at));
        }
    }
    let has_default = |modules: &[Module], here: usize, ty: &Ty| match ty {
        Ty::Plain(_) | Ty::List(_) | Ty::Map(_) | Ty::Option(_) => true,
        Ty::Known(path) => [OBJECT_META, BYTES, INT_OR_STRING, QUANTITY, VALUE, MAP].contains(path),
        Ty::Own(at) => modules[here].types[*at].has_default,
        Ty::Other(path) => {
            paths.get(path).is_some_and(|(module, at)| modules[*module].types[*at].has_default)
        }
    };
    loop {
        let mut lost = Vec::new();
        for (here, module) in modules.iter().enumerate() {
            for (at, ty) in module.types.iter().enumerate().filter(|(_, ty)| ty.has_default) {
                let has = match &ty.body {
                    Body::Struct { fields, .. } => {
                        fields.iter().all(|field| has_default(modules, here, &field.ty))
                    }
                    Body::Newtype { ty, .. } => has_default(modules, here, ty),
                    Body::Texts(_) | Body::OneOf(_) => false,
                };
                lost.extend((!has).then_some((here, at)));
            }
        }
        if lost.is_empty() {
            return;
        }
        lost.into_iter().for_each(|(here, at)| modules[here].types[at].has_default = false);
    }
}
