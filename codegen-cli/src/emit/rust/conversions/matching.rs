//! Matches the fields and variants of two versions.

use super::super::{code, docs};
use super::{Arm, Body, Content, Made, Pair, Pairs, Source, ValueConversion};
use crate::ir::{Element, Enum, Field, RustType, Shape, TypeDef, TypeId, TypeRef, Variant};

impl Pairs<'_> {
    fn definition(&self, id: TypeId) -> &TypeDef {
        &self.ir.types[id.0 as usize]
    }

    /// The conversion of a pair, and the pairs that it uses.
    pub(super) fn body(&self, (from, to): Pair) -> (Body, Vec<Pair>) {
        let mut needed = Vec::new();
        let body = match (&self.definition(from).shape, &self.definition(to).shape) {
            (Shape::Struct(input), Shape::Struct(output)) if self.is_open(to) => {
                self.fields(input, output, &mut needed)
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

    /// Whether the type's form is completely known, also for later versions of its crate.
    fn is_whole(&self, id: TypeId) -> bool {
        let definition = self.definition(id);
        definition.whole && (!definition.non_exhaustive || code::is_own(definition, &self.options.package))
    }

    /// Whether generated code can construct the struct.
    fn is_open(&self, id: TypeId) -> bool {
        self.is_whole(id) && self.definition(id).shape.fields().all(|field| field.rust.public)
    }

    fn fields(&self, input: &[Field], output: &[Field], needed: &mut Vec<Pair>) -> Body {
        let mut taken = Vec::new();
        let fields = output.iter().map(|field| {
            let peer = peer(field, input);
            let conversion = peer
                .filter(|peer| peer.rust.public)
                .and_then(|peer| Some((peer, self.conversion(&peer.rust.ty, &field.rust.ty)?)));
            let source = match conversion {
                Some((peer, conversion)) => {
                    taken.push(&peer.name);
                    needed.extend(conversion.pair());
                    Source::Field(code::identifier(&peer.rust_name), conversion)
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

    /// The source of a field without a peer of its type.
    fn unmatched(&self, field: &Field, peer: Option<&Field>) -> Source {
        if peer.is_none() && field.rust.ty.is_option() {
            return Source::Default;
        }
        let why = if peer.is_some() { "has another type there" } else { "has no peer there" };
        let ty = code::type_text(&field.rust.ty, &self.nameable, &self.options.package);
        Source::Method(ty.unwrap_or_default(), why.to_owned())
    }

    /// The conversion of a value to another type, if it can be derived: the types are equal, or their
    /// contents have a function.
    fn conversion(&self, from: &RustType, to: &RustType) -> Option<ValueConversion> {
        if from == to {
            return from.is_certain().then_some(ValueConversion::Clone);
        }
        let (held, wanted) = from.difference(to)?;
        let function = |path: &str| {
            let id = *self.by_path.get(path)?;
            let definition = self.definition(id);
            let is_known = matches!(definition.shape, Shape::Struct(_) | Shape::Enum(_));
            (is_known && code::is_nameable(definition, &self.nameable)).then_some(id)
        };
        Some(ValueConversion::Each((function(held)?, function(wanted)?)))
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
            let content = self.content((from, variant), (to, peer), needed);
            let content = content.ok_or_else(|| {
                format!("what the variant `{}` holds does not match", docs::plain(&variant.name))
            })?;
            let (from, to) = (code::identifier(&variant.rust_name), code::identifier(&peer.rust_name));
            out.push(Arm { from, to, content });
        }
        match [from, to].into_iter().find(|id| !self.is_whole(*id)) {
            None => Ok(Body::Enum(out)),
            Some(id) => Err(format!("not every variant of `{}` is known", self.name(id))),
        }
    }

    /// The conversion of a variant's content. It has no methods for parts: either all of it matches, or none.
    fn content(
        &self,
        from: (TypeId, &Variant),
        to: (TypeId, &Variant),
        needed: &mut Vec<Pair>,
    ) -> Option<Content> {
        let (input, output) = match (&from.1.content, &to.1.content) {
            (None, None) => return Some(Content::Nothing),
            (Some(input), Some(output)) => (input, output),
            _ => return None,
        };
        let elements = |from: &[Element], to: &[Element]| -> Option<Vec<ValueConversion>> {
            let all = from.iter().zip(to);
            let ways = all.map(|(from, to)| self.conversion(&from.rust, &to.rust));
            ways.collect::<Option<_>>().filter(|_| from.len() == to.len())
        };
        let content = match (self.own_content(from), self.own_content(to)) {
            (None, None) => {
                Content::Values(elements(std::slice::from_ref(input), std::slice::from_ref(output))?)
            }
            (Some(Shape::Tuple(input)), Some(Shape::Tuple(output))) => {
                Content::Values(elements(input, output)?)
            }
            (Some(Shape::Struct(input)), Some(Shape::Struct(output))) => {
                Content::Fields(self.named_content(input, output)?)
            }
            _ => return None,
        };
        needed.extend(content.conversions().filter_map(ValueConversion::pair));
        Some(content)
    }

    /// The fields of a variant.
    fn named_content(&self, input: &[Field], output: &[Field]) -> Option<Vec<Made>> {
        let source = |field: &Field| match peer(field, input) {
            Some(peer) => Some(Some((
                code::identifier(&peer.rust_name),
                self.conversion(&peer.rust.ty, &field.rust.ty)?,
            ))),
            None => field.rust.ty.is_option().then_some(None),
        };
        let fields: Option<Vec<_>> =
            output.iter().map(|field| Some((code::identifier(&field.rust_name), source(field)?))).collect();
        let nothing_is_lost = input.iter().all(|field| peer(field, output).is_some());
        fields.filter(|_| nothing_is_lost)
    }

    /// The content of a variant with fields or several values: a type named after the variant.
    fn own_content(&self, (id, variant): (TypeId, &Variant)) -> Option<&Shape> {
        let TypeRef::Named(content) = variant.content.as_ref()?.ty else { return None };
        let content = self.definition(content);
        let is_own = content.path == format!("{}::{}", self.definition(id).path, variant.rust_name);
        // Code could not construct fields that the JSON lacks.
        is_own.then_some(if content.whole { &content.shape } else { &Shape::Unit })
    }
}

/// The field with the same name.
fn peer<'f>(field: &Field, others: &'f [Field]) -> Option<&'f Field> {
    others.iter().find(|other| other.name == field.name && other.flatten == field.flatten)
}

impl Content {
    pub(super) fn conversions(&self) -> impl Iterator<Item = &ValueConversion> {
        let (values, fields): (&[ValueConversion], &[_]) = match self {
            Self::Nothing => (&[], &[]),
            Self::Values(ways) => (ways, &[]),
            Self::Fields(fields) => (&[], fields),
        };
        let of_fields = fields.iter().filter_map(|(_, source): &Made| source.as_ref());
        values.iter().chain(of_fields.map(|(_, conversion)| conversion))
    }
}

impl ValueConversion {
    /// The pair that it uses.
    pub(super) fn pair(&self) -> Option<Pair> {
        match self {
            ValueConversion::Clone => None,
            ValueConversion::Each(pair) => Some(*pair),
        }
    }
}
