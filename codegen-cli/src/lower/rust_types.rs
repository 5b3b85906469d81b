//! Resolves types as declared, for generated code.

use super::Ctx;
use super::generics::Scope;
use super::types::ALIAS_LIMIT;
use crate::ir::RustType;
use crate::resolve::{ItemId, Target};
use crate::syntax::{Argument, PathExpr, TypeExpr, TypeKind};

/// The largest type. Aliases could double the size again and again.
const SIZE_LIMIT: usize = 1024;

/// The parameters of an alias and their values.
type Bound<'p> = [(&'p str, RustType)];

impl Ctx<'_> {
    /// The type as it is declared. An unresolved type is unknown; its use reports it.
    pub(super) fn rust_type(&self, scope: &Scope, expr: &TypeExpr) -> RustType {
        self.declared(scope, &[], expr, 0)
    }

    fn declared(&self, scope: &Scope, bound: &Bound<'_>, expr: &TypeExpr, aliases: usize) -> RustType {
        let inner = |expr: &TypeExpr| self.declared(scope, bound, expr, aliases);
        let made = match expr {
            TypeExpr::Path(path) => self.declared_path(scope, bound, path, aliases),
            TypeExpr::Array(item, None) => RustType::Slice(Box::new(inner(item))),
            TypeExpr::Array(item, Some(length)) => {
                match self.integer(scope, length).and_then(|length| u64::try_from(length).ok()) {
                    Some(length) => RustType::Array(Box::new(inner(item)), length),
                    None => RustType::Unknown,
                }
            }
            TypeExpr::Reference(referred) => RustType::Reference(Box::new(inner(referred))),
            TypeExpr::Tuple(items, _) => RustType::Tuple(items.iter().map(inner).collect()),
            TypeExpr::Unsupported(..) => RustType::Unknown,
        };
        if made.size() > SIZE_LIMIT { RustType::Unknown } else { made }
    }

    fn declared_path(&self, scope: &Scope, bound: &Bound<'_>, path: &PathExpr, aliases: usize) -> RustType {
        if let (false, [name]) = (path.global, &path.segments[..]) {
            if let Some((_, ty)) = bound.iter().find(|(known, _)| known == name) {
                return ty.clone();
            }
            // A type with parameters is never written out.
            if scope.param(name).is_some() {
                return RustType::Unknown;
            }
        }
        let argument = |argument: &Argument| match argument {
            Argument::Type(ty) => self.declared(scope, bound, ty, aliases),
            Argument::Value(_) => RustType::Unknown,
        };
        let arguments: Vec<RustType> = path.arguments.iter().map(argument).collect();
        match self.resolver.resolve(scope.krate, scope.module, path) {
            Ok(Target::External(path)) => RustType::Known(path, arguments),
            Ok(Target::Item(id)) => match &self.resolver.item(id).kind {
                TypeKind::Alias(target) => self.declared_alias(id, arguments, target, aliases),
                _ => match self.resolver.public_path(id) {
                    Some(path) => RustType::User(path, arguments),
                    None => RustType::Hidden(self.resolver.definition_path(id), arguments),
                },
            },
            _ => RustType::Unknown,
        }
    }

    /// The target of an alias. Cyclic aliases were already reported.
    fn declared_alias(
        &self,
        id: ItemId,
        arguments: Vec<RustType>,
        target: &TypeExpr,
        aliases: usize,
    ) -> RustType {
        if aliases >= ALIAS_LIMIT {
            return RustType::Unknown;
        }
        let instance = (id, arguments);
        if let Some(known) = self.declared_aliases.borrow().get(&instance) {
            return known.clone();
        }
        let scope = Scope::from(id);
        let mut arguments = instance.1.iter().cloned();
        let mut bound: Vec<(&str, RustType)> = Vec::new();
        for param in &self.resolver.item(id).generics {
            let argument = arguments.next().unwrap_or_else(|| match &param.default {
                Some(Argument::Type(default)) => self.declared(&scope, &bound, default, aliases + 1),
                _ => RustType::Unknown,
            });
            bound.push((&param.name.text, argument));
        }
        let made = self.declared(&scope, &bound, target, aliases + 1);
        self.declared_aliases.borrow_mut().insert(instance, made.clone());
        made
    }
}
