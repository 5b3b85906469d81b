//! Which fields and variants match.

use super::super::{code, docs};
use super::{Body, Pair, Pairs, Source, Way};
use crate::ir::{Enum, Field, Shape, TypeDef, TypeId, TypeRef, Variant};

impl Pairs<'_> {
    fn definition(&self, id: TypeId) -> &TypeDef {
        &self.ir.types[id.0 as usize]
    }

    /// How a pair is converted, and the pairs that it takes.
    pub(super) fn body(&self, (from, to): Pair) -> (Body, Vec<Pair>) {
        let mut needed = Vec::new();
        let body = match (&self.definition(from).shape, &self.definition(to).shape) {
            (Shape::Struct(input), Shape::Struct(output)) if self.is_open(to) => {
                self.fields((from, input), (to, output), &mut needed)
            }
            (Shape::Struct(_), Shape::Struct(_)) => Body::Manual(format!(
                "not every field of `{}` can be set from outside of its crate",
                self.name(to)
            )),
            (Shape::Enum(input), Shape::Enum(output)) => {
                self.variants((from, input), (to, output), &mut needed).unwrap_or_else(Body::Manual)
            }
            _ => Body::Manual("the two are of different sorts".to_owned()),
        };
        (body, needed)
    }

    /// Whether code of other crates can write the struct down.
    fn is_open(&self, id: TypeId) -> bool {
        let definition = self.definition(id);
        definition.whole && definition.shape.fields().all(|field| field.rust.public)
    }

    fn fields(
        &self,
        (_, input): (TypeId, &[Field]),
        (_, output): (TypeId, &[Field]),
        needed: &mut Vec<Pair>,
    ) -> Body {
        let mut taken = Vec::new();
        let fields = output.iter().map(|field| {
            let peer = input.iter().find(|peer| peer.name == field.name && peer.flatten == field.flatten);
            let way =
                peer.filter(|peer| peer.rust.public).and_then(|peer| Some((peer, self.way(peer, field)?)));
            let source = match way {
                Some((peer, way)) => {
                    taken.push(&peer.name);
                    needed.extend(way.pair());
                    Source::Field(code::identifier(&peer.rust_name), way)
                }
                None => self.unmatched(field, peer),
            };
            (code::identifier(&field.rust_name), source)
        });
        let fields: Vec<_> = fields.collect();
        let unnamed =
            fields.iter().find(|(_, source)| matches!(source, Source::Method(ty, _) if ty.is_empty()));
        if let Some((name, _)) = unnamed {
            return Body::Manual(format!("the type of `{name}` cannot be named"));
        }
        let lost = input.iter().filter(|field| !taken.contains(&&field.name));
        Body::Struct { lost: lost.map(|field| field.name.clone()).collect(), fields }
    }

    /// What a field is made of that has no peer of its type.
    fn unmatched(&self, field: &Field, peer: Option<&Field>) -> Source {
        if peer.is_none() && field.rust.optional {
            return Source::Default;
        }
        let why = if peer.is_some() { "has another type there" } else { "has no peer there" };
        match self.type_of(field) {
            Some(ty) => Source::Method(ty, why.to_owned()),
            None => Source::Method(String::new(), why.to_owned()),
        }
    }

    /// The type of a field as generated code writes it, if it can be named.
    fn type_of(&self, field: &Field) -> Option<String> {
        let id = match code::leaf(&field.ty) {
            TypeRef::Named(id) => {
                code::is_nameable(self.definition(*id), &self.nameable).then(|| self.path(*id))
            }
            _ => None,
        };
        code::type_text(&field.rust.form, id.as_deref())
    }

    fn way(&self, from: &Field, to: &Field) -> Option<Way> {
        if from.rust.form != to.rust.form || from.rust.optional != to.rust.optional {
            return None;
        }
        let way = self.way_of(&from.ty, &to.ty)?;
        let holds = from.rust.form.matches('_').count();
        match way {
            Way::Each(_) => (code::is_plain(&from.rust.form) && !from.rust.form.contains('[') && holds == 1)
                .then_some(way),
            // Of types that nothing is known of, nothing can be said.
            Way::Clone if from.schemaless || to.schemaless => (holds == 0).then_some(way),
            Way::Clone => Some(way),
        }
    }

    fn way_of(&self, from: &TypeRef, to: &TypeRef) -> Option<Way> {
        match (from, to) {
            (TypeRef::Named(from), TypeRef::Named(to)) if from != to => {
                let known = |id: TypeId| {
                    let definition = self.definition(id);
                    matches!(definition.shape, Shape::Struct(_) | Shape::Enum(_))
                        && code::is_nameable(definition, &self.nameable)
                };
                (known(*from) && known(*to)).then_some(Way::Each((*from, *to)))
            }
            (TypeRef::List(from), TypeRef::List(to))
            | (TypeRef::Map(from), TypeRef::Map(to))
            | (TypeRef::Nullable(from), TypeRef::Nullable(to)) => self.way_of(from, to),
            (from, to) => (from == to).then_some(Way::Clone),
        }
    }

    fn variants(
        &self,
        (from, input): (TypeId, &Enum),
        (to, output): (TypeId, &Enum),
        needed: &mut Vec<Pair>,
    ) -> Result<Body, String> {
        let mut out = Vec::new();
        for variant in &input.variants {
            let peer = output.variants.iter().find(|peer| peer.name == variant.name);
            let Some(peer) = peer else {
                return Err(format!("`{}` has no variant `{}`", self.name(to), docs::plain(&variant.name)));
            };
            let way = self.content((from, variant), (to, peer));
            let way = way.ok_or_else(|| {
                format!("what the variant `{}` holds does not match", docs::plain(&variant.name))
            })?;
            needed.extend(way.iter().filter_map(Way::pair));
            out.push((code::identifier(&variant.rust_name), code::identifier(&peer.rust_name), way));
        }
        match self.definition(from).whole {
            true => Ok(Body::Enum(out)),
            false => Err(format!("not every variant of `{}` is read", self.name(from))),
        }
    }

    /// How what a variant holds is converted: nothing, or one value without a name.
    #[allow(clippy::option_option, reason = "no way, and nothing to convert")]
    fn content(&self, from: (TypeId, &Variant), to: (TypeId, &Variant)) -> Option<Option<Way>> {
        match (&from.1.content, &to.1.content) {
            (None, None) => Some(None),
            (Some(input), Some(output)) if self.is_newtype(from) && self.is_newtype(to) => {
                self.way_of(&input.ty, &output.ty).map(Some)
            }
            _ => None,
        }
    }

    /// Whether a variant holds one value without a name; of others the content is a type of its own, called like it.
    fn is_newtype(&self, (id, variant): (TypeId, &Variant)) -> bool {
        let Some(TypeRef::Named(content)) = variant.content.as_ref().map(|content| &content.ty) else {
            return true;
        };
        self.definition(*content).path != format!("{}::{}", self.definition(id).path, variant.rust_name)
    }
}

impl Way {
    /// The pair that it takes.
    fn pair(&self) -> Option<Pair> {
        match self {
            Way::Clone => None,
            Way::Each(pair) => Some(*pair),
        }
    }
}
