//! Lowers definitions of enums.

use kubesmith_core::diag::Code;

use super::Ctx;
use super::generics::Scope;
use super::shape::are_all_read;
use crate::diag::Diagnostic;
use crate::ir::{Element, Enum, Places, RustType, Shape, Tagging, TypeDef, TypeRef, Variant};
use crate::schema::Schema;
use crate::syntax::{ContainerSerde, TypeItem, VariantItem, VariantKind};

impl Ctx<'_> {
    pub(super) fn enumeration(
        &mut self,
        scope: &Scope,
        item: &TypeItem,
        variants: &[VariantItem],
    ) -> Option<Shape> {
        let kept: Vec<&VariantItem> = variants.iter().filter(|variant| !variant.skip).collect();
        if kept.is_empty() {
            self.shape_error(item, "an enum without variants has no values", "add a variant");
            return None;
        }
        let variants: Vec<_> = kept.into_iter().map(|variant| self.variant(scope, item, variant)).collect();
        let variants = variants.into_iter().collect::<Option<_>>()?;
        Some(Shape::Enum(Enum { tagging: tagging(&item.serde), variants }))
    }

    fn variant(&mut self, scope: &Scope, item: &TypeItem, variant: &VariantItem) -> Option<Variant> {
        if let Some(with) = variant.with {
            self.report_functions(
                with,
                &format!("functions have the JSON form of the variant `{}`", variant.name.text),
            );
            return None;
        }
        let content = match &variant.kind {
            VariantKind::Unit => None,
            VariantKind::Tuple(fields) => match &fields[..] {
                [field] if !field.serde.skip => Some(self.element(scope, field)?),
                _ => {
                    self.check_tuple(item, variant)?;
                    let elements = self.elements(scope, fields)?;
                    Some(self.content(scope, variant, Shape::Tuple(elements)))
                }
            },
            VariantKind::Struct(fields) => {
                let fields = self.fields(scope, item, fields)?;
                Some(self.content(scope, variant, Shape::Struct(fields)))
            }
        };
        Some(Variant {
            name: variant.json_name.clone(),
            rust_name: variant.name.text.clone(),
            aliases: variant.aliases.clone(),
            span: self.sources.span(variant.name.loc),
            description: variant.description.clone(),
            content,
            untagged: variant.untagged,
            other: variant.other,
        })
    }

    /// Refuses an internally tagged tuple, which serde does not have.
    fn check_tuple(&mut self, item: &TypeItem, variant: &VariantItem) -> Option<()> {
        if variant.untagged || !matches!(tagging(&item.serde), Tagging::Internal { .. }) {
            return Some(());
        }
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_ENUM,
                variant.name.loc,
                "a variant with several unnamed fields has no place beside a tag",
            )
            .help("name its fields"),
        );
        None
    }

    /// Returns the contents of a variant as a type of its own.
    fn content(&mut self, scope: &Scope, variant: &VariantItem, shape: Shape) -> Element {
        let span = self.sources.span(variant.name.loc);
        let whole = match &variant.kind {
            VariantKind::Struct(fields) | VariantKind::Tuple(fields) => are_all_read(fields),
            VariantKind::Unit => true,
        };
        let enumeration = self.open.last().map(|(id, _)| self.instance_path(*id, scope)).unwrap_or_default();
        let definition = TypeDef {
            path: format!("{enumeration}::{}", variant.name.text),
            code_path: None,
            whole,
            non_exhaustive: false,
            span: span.clone(),
            description: None,
            shape,
            facts: Schema::default(),
            places: Places::new(),
        };
        let ty = TypeRef::Named(self.add(definition));
        Element::new(ty, RustType::Unknown, span)
    }
}

fn tagging(serde: &ContainerSerde) -> Tagging {
    match (&serde.tag, &serde.content) {
        _ if serde.untagged => Tagging::Untagged,
        (Some(tag), Some(content)) => Tagging::Adjacent { tag: tag.clone(), content: content.clone() },
        (Some(tag), None) => Tagging::Internal { tag: tag.clone() },
        (None, _) => Tagging::External,
    }
}
