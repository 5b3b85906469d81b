//! Maps a place in a schema to its field or type in the source.

use kubesmith_apiextensions::structural::{Rule, Step, locate};

use super::super::Input;
use crate::ir::{Enum, Field, Ir, Places, Resource, Shape, Span, Tagging, TypeId, TypeRef};
use crate::schema::Schema;
use crate::source::Loc;

/// A definition on the path to a place.
struct Owner<'a> {
    /// The field's name in JSON; `None` for a type.
    field: Option<&'a str>,
    span: &'a Span,
    places: &'a Places,
    facts: &'a Schema,
    /// The number of steps to it.
    depth: usize,
}

/// A place in the schema of a resource.
pub(super) struct Site<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) resource: &'a Resource,
    pub(super) root: &'a Schema,
    /// The path to the innermost node.
    pub(super) steps: Vec<Step>,
    /// The rest after the node: `.default.size`, `.x-kubernetes-validations[0].rule`.
    pub(super) tail: &'a str,
    /// Outermost first; a type precedes the field that has it.
    owners: Vec<Owner<'a>>,
}

impl<'a> Site<'a> {
    /// Reads the text after `openAPIV3Schema`.
    pub(super) fn new(input: &'a Input<'a>, resource: &'a Resource, root: &'a Schema, text: &'a str) -> Self {
        let (steps, tail) = locate(root, text);
        let owners = owners(input.ir, resource, &steps);
        Self { input, resource, root, steps, tail, owners }
    }

    /// Another place in the same schema.
    pub(super) fn at(&self, steps: Vec<Step>) -> Self {
        let owners = owners(self.input.ir, self.resource, &steps);
        Self { input: self.input, resource: self.resource, root: self.root, steps, tail: "", owners }
    }

    /// The place of a node below.
    pub(super) fn below(&self, steps: &[Step]) -> Self {
        self.at(self.steps.iter().chain(steps).cloned().collect())
    }

    /// The node at the end of the steps.
    pub(super) fn node(&self) -> &'a Schema {
        self.root.at(&self.steps).unwrap_or(self.root)
    }

    /// The first word of the tail: `x-kubernetes-validations`.
    pub(super) fn keyword(&self) -> &'a str {
        let tail = self.tail.trim_start_matches('.');
        &tail[..tail.find(['.', '[']).unwrap_or(tail.len())]
    }

    /// The number of the rule in the tail, and the part of it: `.x-kubernetes-validations[2].rule`.
    pub(super) fn rule(&self) -> Option<(usize, &'a str)> {
        let (index, part) = self.tail.strip_prefix(".x-kubernetes-validations[")?.split_once(']')?;
        Some((index.parse().ok()?, part.trim_start_matches('.')))
    }

    /// The place in the user's notation: `spec.ports[].name`, or the kind.
    pub(super) fn name(&self) -> String {
        self.name_of(&self.steps)
    }

    /// The name of another place in the same schema.
    pub(super) fn name_of(&self, steps: &[Step]) -> String {
        let out = path_of(steps);
        if out.is_empty() { self.resource.kind.clone() } else { format!("`{out}`") }
    }

    /// The attribute for the tail, or else the definition of the innermost field or type.
    pub(super) fn loc(&self) -> Option<Loc> {
        self.key_loc(self.tail).or_else(|| self.definition())
    }

    /// The location of the innermost field's definition, or the resource's.
    pub(super) fn definition(&self) -> Option<Loc> {
        self.definition_of(self.steps.len())
    }

    /// Like [`Site::definition`], for the place at this depth.
    pub(super) fn definition_of(&self, depth: usize) -> Option<Loc> {
        let field = self.owners.iter().rev().find(|owner| owner.field.is_some() && owner.depth <= depth);
        let outermost = || given(self.input.ir, self.resource, &self.steps[..depth.min(self.steps.len())]);
        self.input.loc(field.map_or_else(outermost, |owner| owner.span))
    }

    /// The location of the attribute for a tail.
    pub(super) fn key_loc(&self, tail: &str) -> Option<Loc> {
        self.owners.iter().rev().find_map(|owner| {
            let name = format!("{}{tail}", keys(&self.steps[owner.depth..])?);
            self.input.loc(longest(owner.places, name.trim_start_matches('.'))?)
        })
    }

    /// The notation of a constraint at the place, and its target.
    pub(super) fn attribute(&self, constraint: &str) -> String {
        let known = self.owners.last().map_or(0, |owner| owner.depth);
        let rest = &self.steps[known..];
        if rest.iter().any(|step| *step != Step::Items) {
            // Neither values of maps nor fields of known types have attributes.
            return format!("`{constraint}` on a type of its own for {}", self.name());
        }
        let (open, close) = ("items(".repeat(rest.len()), ")".repeat(rest.len()));
        format!("`{open}{constraint}{close}` on {}", self.name_of(&self.steps[..known]))
    }

    /// The attribute with a key of the list at this depth.
    pub(super) fn list_key(&self, depth: usize, key: &str) -> Option<Loc> {
        let list = self.at(self.steps[..depth].to_vec());
        let index = list.node().list_map_keys.iter().position(|known| known == key).unwrap_or(0);
        list.key_loc(&format!(".x-kubernetes-list-map-keys[{index}]")).or_else(|| list.definition())
    }

    /// The attribute with a part of the rule with this number: `rule`, `messageExpression`.
    pub(super) fn rule_part(&self, index: usize, part: &str) -> Option<Loc> {
        let rules = &self.node().validations;
        let wanted = rules.get(index)?;
        // Equal rules come from different attributes, in the order of the node.
        let before = rules[..index].iter().filter(|rule| *rule == wanted).count();
        let mut places = self.owners.iter().rev().flat_map(|owner| self.rule_places(owner, wanted, part));
        places.nth(before).and_then(|place| self.input.loc(place))
    }

    /// The attributes of a definition with a part of a rule.
    fn rule_places(&self, owner: &Owner<'a>, wanted: &Rule, part: &str) -> Vec<&'a Span> {
        let steps = &self.steps[owner.depth..];
        let facts = steps.iter().try_fold(owner.facts, |facts, _| facts.items.as_deref());
        let (Some(prefix), Some(facts)) = (keys(steps), facts) else { return Vec::new() };
        let place = |own: usize| {
            let name = format!("{prefix}.x-kubernetes-validations[{own}].{part}");
            longest(owner.places, name.trim_start_matches('.'))
        };
        let alike = facts.validations.iter().enumerate().filter(|(_, rule)| *rule == wanted);
        alike.filter_map(|(own, _)| place(own)).collect()
    }
}

/// The keys of attributes for steps: attributes of a list describe its items, but no deeper place.
fn keys(steps: &[Step]) -> Option<String> {
    steps.iter().all(|step| *step == Step::Items).then(|| ".items".repeat(steps.len()))
}

/// The location of the longest known prefix of a name: `default` for `default.size`.
pub(in crate::validate) fn longest<'p>(places: &'p Places, name: &str) -> Option<&'p Span> {
    let mut name = name;
    loop {
        if let Some(span) = places.get(name) {
            return Some(span);
        }
        name = &name[..name.rfind(['.', '['])?];
    }
}

/// The place in the user's notation: `spec.ports[].name`.
fn path_of(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Property(name) if out.is_empty() => out.push_str(name),
            Step::Property(name) => {
                out.push('.');
                out.push_str(name);
            }
            Step::Items => out.push_str("[]"),
            Step::Values => out.push_str("{}"),
        }
    }
    out
}

/// The field of kube-rs's types at the end of the steps, or the resource.
fn given<'a>(ir: &'a Ir, resource: &'a Resource, steps: &[Step]) -> &'a Span {
    let places = ir.types.get(resource.root.0 as usize).map(|root| &root.places);
    places.and_then(|places| longest(places, &path_of(steps))).unwrap_or(&resource.span)
}

/// The definition of the innermost field at the end of the steps, or of the resource.
pub(crate) fn definition<'a>(ir: &'a Ir, resource: &'a Resource, steps: &[Step]) -> &'a Span {
    let owners = owners(ir, resource, steps);
    let field = owners.iter().rev().find(|owner| owner.field.is_some());
    field.map_or_else(|| given(ir, resource, steps), |owner| owner.span)
}

fn owners<'a>(ir: &'a Ir, resource: &'a Resource, steps: &[Step]) -> Vec<Owner<'a>> {
    let mut walk = Walk { ir, owners: Vec::new() };
    let mut current = walk.definition(resource.root, 0);
    for (at, step) in steps.iter().enumerate() {
        current = match (step, current) {
            (Step::Property(name), Some(At::Object(id))) => walk.member(id, name).and_then(|member| {
                let inner = walk.enter(member.ty, at + 1);
                walk.owners.push(Owner {
                    field: Some(member.name),
                    span: member.span,
                    places: member.places,
                    facts: member.facts,
                    depth: at + 1,
                });
                inner
            }),
            (Step::Items, Some(At::List(inner))) | (Step::Values, Some(At::Map(inner))) => {
                walk.enter(inner, at + 1)
            }
            _ => break,
        };
    }
    walk.owners
}

/// A field, or a variant's content.
struct Member<'a> {
    name: &'a str,
    ty: &'a TypeRef,
    span: &'a Span,
    places: &'a Places,
    facts: &'a Schema,
}

impl<'a> From<&'a Field> for Member<'a> {
    fn from(field: &'a Field) -> Self {
        Self {
            name: &field.name,
            ty: &field.ty,
            span: &field.span,
            places: &field.places,
            facts: &field.facts,
        }
    }
}

/// The form at a place, behind newtypes.
enum At<'a> {
    Object(TypeId),
    List(&'a TypeRef),
    Map(&'a TypeRef),
}

struct Walk<'a> {
    ir: &'a Ir,
    owners: Vec<Owner<'a>>,
}

impl<'a> Walk<'a> {
    fn enter(&mut self, ty: &'a TypeRef, depth: usize) -> Option<At<'a>> {
        match ty {
            TypeRef::Named(id) => self.definition(*id, depth),
            TypeRef::List(inner) | TypeRef::Array(inner, _) => Some(At::List(inner)),
            TypeRef::Map(inner) => Some(At::Map(inner)),
            TypeRef::Nullable(inner) => self.enter(inner, depth),
            TypeRef::Known(_) | TypeRef::Tuple(_) | TypeRef::Unit | TypeRef::Opaque => None,
        }
    }

    /// Records the definition of a type and of a newtype's content.
    fn definition(&mut self, id: TypeId, depth: usize) -> Option<At<'a>> {
        let definition = self.ir.types.get(id.0 as usize)?;
        self.owners.push(Owner {
            field: None,
            span: &definition.span,
            places: &definition.places,
            facts: &definition.facts,
            depth,
        });
        match &definition.shape {
            Shape::Newtype(inner) => self.enter(&inner.ty, depth),
            _ => Some(At::Object(id)),
        }
    }

    /// The member of a type or of its flattened fields, by its name in JSON.
    fn member(&self, id: TypeId, name: &str) -> Option<Member<'a>> {
        let definition = self.ir.types.get(id.0 as usize)?;
        if let Shape::Enum(definition) = &definition.shape {
            return self.variant(definition, name);
        }
        definition.shape.fields().find_map(|field| match (field.flatten, self.inner(&field.ty)) {
            (true, Some(inner)) => self.member(inner, name),
            (true, None) => None,
            (false, _) => (field.name == name).then(|| Member::from(field)),
        })
    }

    /// The content of the variant with this name, or a member of one whose content is beside the tag.
    fn variant(&self, definition: &'a Enum, name: &str) -> Option<Member<'a>> {
        definition.variants.iter().find_map(|variant| {
            let content = variant.content.as_ref()?;
            match &definition.tagging {
                Tagging::External if !variant.untagged => {
                    variant.names().find(|known| *known == name).map(|name| Member {
                        name,
                        ty: &content.ty,
                        span: &variant.span,
                        places: &content.places,
                        facts: &content.facts,
                    })
                }
                Tagging::Adjacent { .. } if !variant.untagged => None,
                _ => self.member(self.inner(&content.ty)?, name),
            }
        })
    }

    /// The definition of a type, through newtypes.
    fn inner(&self, ty: &TypeRef) -> Option<TypeId> {
        let TypeRef::Named(id) = ty else { return None };
        match &self.ir.types.get(id.0 as usize)?.shape {
            Shape::Newtype(inner) => self.inner(&inner.ty),
            _ => Some(*id),
        }
    }
}
