//! Outlines the items of a file: their attributes, and the space between them.

use std::ops::Range;

use kubesmith_core::grammar::Place;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Field, File, ForeignItem, ImplItem, Item, ItemForeignMod, ItemImpl, ItemMod, ItemTrait,
    TraitItem, Variant,
};

use crate::cfg::Cfg;
use crate::parse::attributes;

/// Parts of a file, in bytes.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The braces that hold items.
    pub(super) open: Vec<Range<usize>>,
    /// The parts that are not compiled.
    pub(super) left_out: Vec<Range<usize>>,
}

/// The callback for the attributes of an item, or for one attribute inside an item.
type Read<'a> = dyn FnMut(&[Attribute], Place) + 'a;

impl Outline {
    /// Outlines a file.
    pub(super) fn file(&mut self, file: &File, cfg: &Cfg, read: &mut Read<'_>) {
        read(&file.attrs, Place::Item);
        Walk { outline: self, cfg, read, inside: false }.visit_file(file);
    }
}

struct Walk<'a, 'b> {
    outline: &'a mut Outline,
    cfg: &'a Cfg,
    read: &'a mut Read<'b>,
    /// Whether the visitor is inside an item.
    inside: bool,
}

impl Walk<'_, '_> {
    /// Visits an item, field or variant that is compiled.
    fn list(
        &mut self,
        attributes: &[Attribute],
        place: Place,
        span: impl FnOnce() -> Span,
        visit: impl FnOnce(&mut Self),
    ) {
        if self.cfg.active(attributes) {
            (self.read)(attributes, place);
            self.within(false, visit);
        } else {
            self.outline.left_out.push(span().byte_range());
        }
    }

    fn within(&mut self, inside: bool, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.inside, inside);
        visit(self);
        self.inside = outer;
    }

    fn open(&mut self, braces: Span) {
        self.outline.open.push(braces.byte_range());
    }
}

impl<'ast> Visit<'ast> for Walk<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        self.list(attributes(item), Place::Item, || item.span(), |walk| visit::visit_item(walk, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        self.list(attributes, Place::Item, || item.span(), |walk| visit::visit_impl_item(walk, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes: &[Attribute] = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        self.list(attributes, Place::Item, || item.span(), |walk| visit::visit_trait_item(walk, item));
    }

    fn visit_foreign_item(&mut self, item: &'ast ForeignItem) {
        let attributes: &[Attribute] = match item {
            ForeignItem::Fn(item) => &item.attrs,
            ForeignItem::Static(item) => &item.attrs,
            ForeignItem::Type(item) => &item.attrs,
            ForeignItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        self.list(attributes, Place::Item, || item.span(), |walk| visit::visit_foreign_item(walk, item));
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if let Some((braces, _)) = &item.content {
            self.open(braces.span.join());
        }
        visit::visit_item_mod(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        self.open(item.brace_token.span.join());
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.open(item.brace_token.span.join());
        visit::visit_item_trait(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast ItemForeignMod) {
        self.open(item.brace_token.span.join());
        visit::visit_item_foreign_mod(self, item);
    }

    fn visit_field(&mut self, field: &'ast Field) {
        self.list(&field.attrs, Place::Field, || field.span(), |walk| visit::visit_field(walk, field));
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.list(
            &variant.attrs,
            Place::Variant,
            || variant.span(),
            |walk| visit::visit_variant(walk, variant),
        );
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.within(true, |walk| visit::visit_block(walk, block));
    }

    /// Skips attributes of items, which were read as a whole.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if self.inside {
            (self.read)(std::slice::from_ref(attribute), Place::Part);
        }
    }
}
