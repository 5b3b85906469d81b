//! Lowers known types with arguments: ranges, bounds, results.

use super::Ctx;
use super::generics::Scope;
use super::types::Use;
use crate::ir::{
    Element, Enum, Field, Places, RustField, RustType, Shape, Tagging, TypeDef, TypeRef, Variant,
};
use crate::schema::Schema;
use crate::syntax::PathExpr;

impl Ctx<'_> {
    /// A struct whose fields have the arguments' types.
    pub(super) fn known_object(
        &mut self,
        scope: &Scope,
        path: &PathExpr,
        external: &str,
        fields: &[(&str, usize)],
    ) -> Option<Use> {
        let span = self.sources.span(path.loc);
        let mut out = Vec::new();
        for (name, index) in fields {
            let used = self.argument(scope, path, *index)?;
            out.push(Field {
                name: (*name).to_string(),
                rust_name: (*name).to_string(),
                span: span.clone(),
                description: None,
                required: !used.optional,
                ty: used.ty,
                flatten: false,
                immutable: false,
                schemaless: false,
                facts: Schema::default(),
                places: Places::new(),
                rust: RustField::default(),
            });
        }
        let argument = self.argument(scope, path, 0)?.nullable();
        Some(self.known_type(path, external, &[argument], Shape::Struct(out)))
    }

    /// An enum whose variants have the arguments' types.
    pub(super) fn known_choice(
        &mut self,
        scope: &Scope,
        path: &PathExpr,
        external: &str,
        variants: &[(&str, Option<usize>)],
    ) -> Option<Use> {
        let span = self.sources.span(path.loc);
        let mut arguments = Vec::new();
        let mut out = Vec::new();
        for (name, index) in variants {
            let content = match index {
                Some(index) => {
                    let ty = self.argument(scope, path, *index)?.nullable();
                    if *index == arguments.len() {
                        arguments.push(ty.clone());
                    }
                    Some(Element::new(ty, RustType::Unknown, span.clone()))
                }
                None => None,
            };
            out.push(Variant {
                name: (*name).to_string(),
                rust_name: (*name).to_string(),
                aliases: Vec::new(),
                span: span.clone(),
                description: None,
                content,
                untagged: false,
                other: false,
            });
        }
        let shape = Shape::Enum(Enum { tagging: Tagging::External, variants: out });
        Some(self.known_type(path, external, &arguments, shape))
    }

    /// The type in the arena, one for each set of arguments.
    fn known_type(&mut self, path: &PathExpr, external: &str, arguments: &[TypeRef], shape: Shape) -> Use {
        let names: Vec<String> = arguments.iter().map(|argument| self.type_name(argument)).collect();
        let name = format!("{external}<{}>", names.join(", "));
        if let Some(known) = self.made.get(&name) {
            return Use::from(TypeRef::Named(*known));
        }
        let id = self.add(TypeDef {
            path: name.clone(),
            code_path: None,
            whole: true,
            non_exhaustive: false,
            span: self.sources.span(path.loc),
            description: None,
            shape,
            facts: Schema::default(),
            places: Places::new(),
        });
        self.made.insert(name, id);
        Use::from(TypeRef::Named(id))
    }
}
