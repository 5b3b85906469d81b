//! Lowers definitions of types: structs and newtypes with their fields.

use std::collections::HashMap;

use kubesmith_core::diag::Code;

use super::Ctx;
use super::generics::Scope;
use super::types::Use;
use crate::diag::Diagnostic;
use crate::ir::{Element, Field, RustField, RustType, Shape, TypeDef, TypeRef};
use crate::known;
use crate::resolve::ItemId;
use crate::source::Loc;
use crate::syntax::{FieldItem, Name, PathExpr, TypeItem, TypeKind, Unread};

impl Ctx<'_> {
    /// Lowers a definition; `None` after a diagnostic.
    pub(super) fn definition(&mut self, id: ItemId, scope: &Scope, path: &PathExpr) -> Option<TypeDef> {
        let item = self.resolver.item(id);
        self.report_unread_attribute(id, item);
        let shape = match &item.kind {
            TypeKind::Struct(_) | TypeKind::Tuple(_) | TypeKind::Unit | TypeKind::Enum(_)
                if self.is_underived(id, item) =>
            {
                self.underived(id, item, path)?
            }
            _ if item.serde.read_as.is_some() || item.serde.written_as.is_some() => {
                self.proxy(scope, item)?
            }
            TypeKind::Struct(fields) => self.structure(scope, item, fields)?,
            TypeKind::Tuple(fields) => self.tuple(scope, item, fields)?,
            TypeKind::Unit => Shape::Unit,
            TypeKind::Enum(variants) => self.enumeration(scope, item, variants)?,
            TypeKind::Alias(_) => return None,
            TypeKind::Other(what) => {
                self.shape_error(item, &format!("{what} has no JSON form"), "use a struct or an enum");
                return None;
            }
        };
        let is_program = self.crates.list[id.krate].is_program;
        let is_named = scope.arguments().is_empty() && !is_program;
        Some(TypeDef {
            path: self.instance_path(id, scope),
            code_path: self.resolver.public_path(id).filter(|_| is_named),
            whole: match &item.kind {
                TypeKind::Struct(fields) | TypeKind::Tuple(fields) => are_all_read(fields),
                TypeKind::Enum(variants) => !variants.iter().any(|variant| variant.skip),
                _ => true,
            },
            non_exhaustive: item.non_exhaustive,
            span: self.sources.span(item.name.loc),
            description: item.description.clone(),
            shape,
            facts: item.facts.schema.clone(),
            places: self.spans(&item.facts.places),
        })
    }

    /// Reports an attribute or marker of a type of an input without effect, because the type lacks its
    /// derive. Types of other crates are exempt, as users cannot change them.
    pub(super) fn report_unread_attribute(&mut self, id: ItemId, item: &TypeItem) {
        let Some(unread) = item.unread.as_ref().filter(|_| self.is_input(id)) else { return };
        let found = without_effect(&item.name, unread);
        if !self.diagnostics.contains(&found) {
            self.diagnostics.push(found);
        }
    }

    /// Whether the JSON form comes from other code than serde's derives. Source types of conversions are only
    /// read.
    fn is_underived(&self, id: ItemId, item: &TypeItem) -> bool {
        let derived = item.resource.is_some() || item.derived.serialize || item.derived.deserialize;
        !derived || self.implementation(id).is_some()
    }

    /// A handwritten implementation of one of serde's traits.
    fn implementation(&self, id: ItemId) -> Option<&Name> {
        let traits = self.resolver.impls(id).iter().filter_map(|(_, _, block)| block.of_trait.as_ref());
        traits.into_iter().find(|name| matches!(name.text.as_str(), "Serialize" | "Deserialize"))
    }

    /// The form of a type without serde's derives: attributes describe it completely.
    fn underived(&mut self, id: ItemId, item: &TypeItem, path: &PathExpr) -> Option<Shape> {
        let said = &item.facts.schema;
        if said.type_.is_some() || said.int_or_string || said.preserve_unknown_fields {
            let span = self.sources.span(item.name.loc);
            let element = Element::new(TypeRef::Opaque, RustType::Unknown, span);
            return Some(Shape::Newtype(Box::new(element)));
        }
        let name = &item.name;
        let (message, loc, label, first) = match self.implementation(id) {
            Some(found) => {
                let message =
                    format!("an implementation of `{}` makes the JSON form of `{}`", found.text, name.text);
                (message, found.loc, "written by hand", "")
            }
            None => {
                let message = format!("`{}` derives neither `Serialize` nor `Deserialize`", name.text);
                (message, name.loc, "defined here", "derive them; or ")
            }
        };
        self.diagnostics.push(
            Diagnostic::error(Code::UNSUPPORTED_SERDE, path.loc, message)
                .secondary(loc, label)
                .note("the source is read, not run, so that only derived forms are known")
                .help(format!(
                    "{first}say what the JSON is with `#[validation(type = \"...\")]` on the type, which derives `Schema`, \
                     or with `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field"
                )),
        );
        None
    }

    pub(super) fn shape_error(&mut self, item: &TypeItem, message: &str, help: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_TYPE,
                item.name.loc,
                format!("{message}, which no schema can describe"),
            )
            .help(help),
        );
    }

    pub(super) fn report_functions(&mut self, loc: Loc, message: &str) {
        self.diagnostics.push(
            Diagnostic::error(Code::UNSUPPORTED_SERDE, loc, message.to_string())
                .note("the source is read, not run, so its result cannot be known")
                .help("say what the JSON is with `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field"),
        );
    }

    /// The form of a type with `from`, `try_from` and `into`: that of another type, if both directions agree.
    fn proxy(&mut self, scope: &Scope, item: &TypeItem) -> Option<Shape> {
        let Some(read_as) = &item.serde.read_as else {
            let message = format!("`{}` is written as another type than it is read", item.name.text);
            self.diagnostics.push(
                Diagnostic::error(Code::UNSUPPORTED_SERDE, item.name.loc, message)
                    .help("add `from = \"...\"` or `try_from = \"...\"` with the same type"),
            );
            return None;
        };
        let ty = self.use_of(scope, read_as)?.nullable();
        self.check_proxy_type(item, &ty)?;
        if let Some(written_as) = &item.serde.written_as
            && self.use_of(scope, written_as)?.nullable() != ty
        {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UNSUPPORTED_SERDE,
                    item.name.loc,
                    format!("`{}` is read as one type and written as another", item.name.text),
                )
                .secondary(read_as.loc(), "read")
                .secondary(written_as.loc(), "written")
                .help("use the same type for both"),
            );
            return None;
        }
        let span = self.sources.span(item.name.loc);
        Some(Shape::Newtype(Box::new(Element::new(ty, RustType::Unknown, span))))
    }

    /// Refuses an explicit type that differs from that of the source type, unlike for a newtype.
    fn check_proxy_type(&mut self, item: &TypeItem, ty: &TypeRef) -> Option<()> {
        let said = item.facts.schema.type_.as_deref();
        let TypeRef::Known(path) = ty else { return Some(()) };
        let known = known::schema(path)?.type_;
        let (Some(said), Some(known)) = (said, known.as_deref()) else { return Some(()) };
        if said == known {
            return Some(());
        }
        let message = format!(
            "`{}` is converted from `{path}`, whose values are of type {known}, not {said}",
            item.name.text
        );
        let place = item.facts.places.get("type").copied().unwrap_or(item.name.loc);
        self.diagnostics.push(
            Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, place, message)
                .help("remove the type, or convert from another type"),
        );
        None
    }

    fn structure(&mut self, scope: &Scope, item: &TypeItem, fields: &[FieldItem]) -> Option<Shape> {
        if item.serde.transparent {
            let mut kept = fields.iter().filter(|field| !field.serde.skip);
            return match (kept.next(), kept.next()) {
                (Some(field), None) => self.newtype(scope, field),
                _ => {
                    self.shape_error(item, "a transparent struct has one field", "remove `transparent`");
                    None
                }
            };
        }
        self.fields(scope, item, fields).map(Shape::Struct)
    }

    fn tuple(&mut self, scope: &Scope, item: &TypeItem, fields: &[FieldItem]) -> Option<Shape> {
        let kept: Vec<&FieldItem> = fields.iter().filter(|field| !field.serde.skip).collect();
        match kept[..] {
            // serde leaves the list out only if there is no other field, not even a skipped one.
            [field] if fields.len() == 1 || item.serde.transparent => self.newtype(scope, field),
            _ => self.elements(scope, fields).map(Shape::Tuple),
        }
    }

    fn newtype(&mut self, scope: &Scope, field: &FieldItem) -> Option<Shape> {
        self.element(scope, field).map(|element| Shape::Newtype(Box::new(element)))
    }

    /// Returns the contents of a tuple.
    pub(super) fn elements(&mut self, scope: &Scope, fields: &[FieldItem]) -> Option<Vec<Element>> {
        let kept = fields.iter().filter(|field| !field.serde.skip);
        let elements: Vec<_> = kept.map(|field| self.element(scope, field)).collect();
        elements.into_iter().collect()
    }

    /// A field without a name.
    pub(super) fn element(&mut self, scope: &Scope, field: &FieldItem) -> Option<Element> {
        let used = self.field_use(scope, field)?;
        let nullable = used.optional;
        let mut facts = field.facts.schema.clone();
        facts.nullable |= nullable && matches!(used.ty, TypeRef::Opaque);
        let (span, places) = (self.sources.span(field.name.loc), self.spans(&field.facts.places));
        Some(Element { ty: used.nullable(), rust: self.rust_type(scope, &field.ty), facts, span, places })
    }

    /// Lowers all fields, even after an error.
    pub(super) fn fields(
        &mut self,
        scope: &Scope,
        item: &TypeItem,
        fields: &[FieldItem],
    ) -> Option<Vec<Field>> {
        let mut out = Vec::with_capacity(fields.len());
        let mut names: HashMap<String, Loc> = HashMap::new();
        let mut complete = true;
        for field in fields.iter().filter(|field| !field.serde.skip) {
            let Some(lowered) = self.field(scope, field, item.serde.default) else {
                complete = false;
                continue;
            };
            if lowered.flatten {
                out.push(lowered);
                continue;
            }
            // Core has checked the types with our derives.
            let first = names.insert(lowered.name.clone(), field.name.loc);
            if let Some(first) = first.filter(|_| !item.checked) {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::DUPLICATE_FIELD,
                        field.name.loc,
                        format!("two fields are called `{}` in JSON", lowered.name),
                    )
                    .secondary(first, "the first")
                    .help("rename one of them with `#[serde(rename = \"...\")]`"),
                );
                complete = false;
            }
            out.push(lowered);
        }
        complete.then_some(out)
    }

    /// The type of a field. A field that attributes describe completely may have any Rust type.
    fn field_use(&mut self, scope: &Scope, field: &FieldItem) -> Option<Use> {
        if field.facts.schemaless {
            return Some(Use { ty: TypeRef::Opaque, optional: field.serde.option_hint });
        }
        if let Some(with) = field.serde.with {
            self.report_functions(with, &format!("functions have the JSON form of `{}`", field.name.text));
            return None;
        }
        self.use_of(scope, &field.ty)
    }

    /// Warns of aliases, as an API server drops fields outside the schema before any reader can use the
    /// alias.
    fn warn_of_aliases(&mut self, field: &FieldItem) {
        let Some(alias) = field.serde.aliases.iter().find(|alias| **alias != field.json_name) else { return };
        let message =
            format!("`{alias}` is not a field of the API, although serde reads it as `{}`", field.json_name);
        let diagnostic = Diagnostic::warning(Code::FIELD_ALIAS, field.name.loc, message)
            .note("an API server drops or refuses fields that the schema does not have")
            .help(format!("remove the alias; to rename a field, add `{alias}` as an optional field or convert between versions"));
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn is_required(&mut self, scope: &Scope, field: &FieldItem, used: &Use, all_default: bool) -> bool {
        let serde = &field.serde;
        let may_lack = used.optional || serde.skip_serializing_if;
        if serde.flatten {
            // serde reads the fields of a flattened type even with a default.
            if field.facts.presence == Some(false) && !may_lack {
                self.report_optional_flattened(field);
            }
            return field.facts.presence == Some(true) || !may_lack;
        }
        let by_default = self.resolver.requires_fields(scope.krate, scope.module);
        field.facts.presence.unwrap_or(by_default && !(may_lack || serde.default || all_default))
    }

    fn report_optional_flattened(&mut self, field: &FieldItem) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::WRONG_PLACE,
                field.name.loc,
                format!("`{}` is flattened: it has no name that could be left out", field.name.text),
            )
            .note("serde reads the fields of its type whatever is said here")
            .help("make it an `Option`, or the fields of its type optional"),
        );
    }

    fn field(&mut self, scope: &Scope, field: &FieldItem, all_default: bool) -> Option<Field> {
        let serde = &field.serde;
        let used = self.field_use(scope, field)?;
        self.warn_of_aliases(field);
        let required = self.is_required(scope, field, &used, all_default);
        let mut facts = field.facts.schema.clone();
        if let Some(constant) = &field.facts.default_ref {
            facts.default = self.default_constant(scope, constant, &used.ty);
        } else if let Some(function) = serde.default_fn.as_ref().filter(|_| facts.default.is_none()) {
            facts.default = self.default_value(scope, function, &used.ty);
        }
        Some(Field {
            name: field.json_name.clone(),
            rust_name: field.name.text.clone(),
            span: self.sources.span(field.name.loc),
            description: field.description.clone(),
            ty: used.ty,
            required,
            flatten: serde.flatten,
            immutable: field.facts.immutable,
            schemaless: field.facts.schemaless,
            facts,
            places: self.spans(&field.facts.places),
            rust: RustField { public: field.public, ty: self.rust_type(scope, &field.ty) },
        })
    }
}

/// Whether the JSON has all fields.
pub(super) fn are_all_read(fields: &[FieldItem]) -> bool {
    !fields.iter().any(|field| field.serde.skip)
}

/// The error of an attribute or marker without its derive.
pub(super) fn without_effect(name: &Name, unread: &Unread) -> Diagnostic {
    let attribute = &unread.name.text;
    let Some(derive) = unread.derive else {
        let message = format!(
            "`{attribute}` has no effect: kube-rs reads no markers, so the line is part of the description"
        );
        return Diagnostic::warning(Code::MEANINGLESS_MARKER, unread.name.loc, message)
            .help("say it with `#[schemars(...)]` or `#[x_kube(...)]`, and remove the line");
    };
    let help = match derive {
        "Resource" | "Schema" if unread.of_kube => {
            "say it with `#[kube(...)]`, `#[schemars(...)]` or `#[x_kube(...)]`, or remove it".to_owned()
        }
        _ if unread.of_kube => format!("add `{derive}` to the derives of the type, or remove the attribute"),
        "Resource" | "Schema" => {
            format!("add `{derive}` to the derives of the type, or remove its attributes and markers")
        }
        _ => "say it with `#[validation]` or `#[schema]`, which `kubesmith explain` lists, or remove it"
            .to_owned(),
    };
    let message = format!("`{attribute}` would have no effect: `{}` does not derive `{derive}`", name.text);
    let diagnostic = Diagnostic::error(Code::WRONG_PLACE, unread.name.loc, message);
    diagnostic.secondary(name.loc, "defined here").help(help)
}
