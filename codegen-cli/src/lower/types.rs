//! Uses of types: paths, lists, maps, options.

use kubesmith_core::diag::Code;

use super::Ctx;
use crate::diag::Diagnostic;
use crate::ir::{Shape, TypeId, TypeRef};
use crate::known::{self, Known};
use crate::load::ModuleId;
use crate::resolve::{ItemId, Target};
use crate::source::Loc;
use crate::syntax::{PathExpr, TypeExpr, TypeKind};

/// How many aliases may lead to each other; more is a circle.
const ALIAS_LIMIT: usize = 32;

/// A type in use, with its `Option` taken off.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) ty: TypeRef,
    pub(super) optional: bool,
}

impl Use {
    fn plain(ty: TypeRef) -> Self {
        Self { ty, optional: false }
    }
}

/// Where a type is used.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) krate: usize,
    pub(super) module: ModuleId,
    pub(super) aliases: usize,
}

impl From<ItemId> for Scope {
    fn from(id: ItemId) -> Self {
        Self { krate: id.krate, module: id.module, aliases: 0 }
    }
}

/// How deep types may hold each other: deeper than any API, and far from the end of a thread's stack.
const DEPTH_LIMIT: usize = 64;

impl Ctx<'_> {
    /// Lowers a use of a type; `None` after a diagnostic.
    pub(super) fn use_of(&mut self, scope: Scope, expr: &TypeExpr) -> Option<Use> {
        match expr {
            TypeExpr::Path(path) => self.path(scope, path),
            TypeExpr::Array(inner) => {
                let item = self.use_of(scope, inner)?;
                Some(Use::plain(TypeRef::List(Box::new(item.ty))))
            }
            TypeExpr::Reference(inner) => self.use_of(scope, inner),
            TypeExpr::Tuple(items, loc) => {
                let what = if items.is_empty() {
                    "`()` is null in JSON"
                } else {
                    "a tuple is a list of mixed types in JSON"
                };
                self.unsupported(*loc, what, "use a struct with named fields");
                None
            }
            TypeExpr::Unsupported(what, loc) => {
                self.unsupported(
                    *loc,
                    &format!("{what} has no JSON form"),
                    "use a type that serde can write",
                );
                None
            }
        }
    }

    fn unsupported(&mut self, loc: Loc, message: &str, help: &str) {
        let diagnostic = Diagnostic::error(
            Code::UNSUPPORTED_TYPE,
            loc,
            format!("{message}, which no schema can describe"),
        )
        .help(format!(
            "{help}, or say what it is with `#[schema(schemaless)]` and `#[validation(type = \"...\")]`"
        ));
        self.diagnostics.push(diagnostic);
    }

    fn path(&mut self, scope: Scope, path: &PathExpr) -> Option<Use> {
        match self.resolver.resolve(scope.krate, scope.module, path) {
            Ok(Target::Item(id)) => self.item_use(scope, path, id),
            Ok(Target::External(external)) => self.external(scope, path, &external),
            Ok(Target::Module(..)) => {
                self.diagnostics.push(Diagnostic::error(
                    Code::UNRESOLVED_TYPE,
                    path.loc,
                    format!("`{}` is a module, not a type", path.text()),
                ));
                None
            }
            Err(unresolved) => {
                let message = if path.segments.len() == 1 {
                    format!("cannot find the type `{}`", path.text())
                } else {
                    format!("cannot find `{}` in the path `{}`", unresolved.name, path.text())
                };
                self.diagnostics.push(
                    Diagnostic::error(Code::UNRESOLVED_TYPE, path.loc, message)
                        .label("not found in the input crates or among the known types")
                        .help_opt(unresolved.hint),
                );
                None
            }
        }
    }

    fn item_use(&mut self, scope: Scope, path: &PathExpr, id: ItemId) -> Option<Use> {
        let item = self.resolver.item(id);
        if item.generics.is_some() || !path.arguments.is_empty() {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::GENERIC_TYPE,
                    path.loc,
                    format!("`{}` is generic, and a schema needs a concrete type", item.name.text),
                )
                .secondary(item.generics, "its parameters")
                .help("write a struct for each use"),
            );
            return None;
        }
        if let TypeKind::Alias(target) = &item.kind {
            if scope.aliases >= ALIAS_LIMIT {
                self.diagnostics.push(Diagnostic::error(
                    Code::RECURSIVE_TYPE,
                    item.name.loc,
                    format!("the alias `{}` leads to itself", item.name.text),
                ));
                return None;
            }
            return self.use_of(Scope { aliases: scope.aliases + 1, ..Scope::from(id) }, target);
        }
        if self.open.contains(&id) {
            self.report_cycle(path, id);
            return None;
        }
        self.type_id(id).map(|id| Use::plain(TypeRef::Named(id)))
    }

    fn report_cycle(&mut self, path: &PathExpr, id: ItemId) {
        let start = self.open.iter().position(|open| *open == id).unwrap_or(0);
        let mut names: Vec<&str> =
            self.open[start..].iter().map(|open| self.resolver.item(*open).name.text.as_str()).collect();
        names.push(&self.resolver.item(id).name.text);
        let cycle = names.join(" -> ");
        let diagnostic = Diagnostic::error(
            Code::RECURSIVE_TYPE,
            path.loc,
            format!("`{}` contains itself: {cycle}", self.resolver.item(id).name.text),
        )
        .secondary(self.resolver.item(id).name.loc, "defined here")
        .note("a structural schema is finite, so an API server refuses recursive ones")
        .help(
            "break the cycle with `#[schema(schemaless, preserve_unknown_fields)]` and `#[validation(type = \"object\")]` on this field",
        );
        self.diagnostics.push(diagnostic);
    }

    fn external(&mut self, scope: Scope, path: &PathExpr, external: &str) -> Option<Use> {
        let Some(known) = known::find(external) else {
            self.report_foreign(path, external);
            return None;
        };
        match known {
            Known::Plain => self.plain(path, external),
            Known::Option => {
                let inner = self.argument(scope, path, 0)?;
                Some(Use { optional: true, ..inner })
            }
            Known::Transparent => self.argument(scope, path, 0),
            Known::List => {
                let item = self.argument(scope, path, 0)?;
                Some(Use::plain(TypeRef::List(Box::new(item.ty))))
            }
            Known::Map => {
                let key = self.argument(scope, path, 0);
                let value = self.argument(scope, path, 1);
                self.check_key(path, &key?)?;
                Some(Use::plain(TypeRef::Map(Box::new(value?.ty))))
            }
        }
    }

    fn plain(&mut self, path: &PathExpr, external: &str) -> Option<Use> {
        if known::is_float(external) && !self.options.allow_dangerous_types {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UNSUPPORTED_TYPE,
                    path.loc,
                    format!("floating point numbers (`{external}`) do not survive the way through every client"),
                )
                .note("their text form differs between languages, so that an object changes when it is read and written")
                .help("use an integer of a smaller unit, a string or a Quantity; or allow them with `--allow-dangerous-types`"),
            );
            return None;
        }
        Some(Use::plain(TypeRef::Known(external.to_string())))
    }

    fn report_foreign(&mut self, path: &PathExpr, external: &str) {
        let krate = external.split("::").next().unwrap_or(external);
        let mut diagnostic = Diagnostic::error(
            Code::UNRESOLVED_TYPE,
            path.loc,
            format!("the JSON form of `{external}` is not known"),
        );
        let name = external.rsplit("::").next().unwrap_or(external);
        diagnostic = match known::by_name(name).filter(|known| *known != external) {
            Some(known) => diagnostic.help(format!("did you mean `{known}`?")),
            None if external == krate || matches!(krate, "std" | "k8s_openapi" | "serde_json") => diagnostic
                .help("say what it is with `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field"),
            None => diagnostic.help(format!(
                "name the folder of the crate `{krate}` as a further --input, or say what it is with \
                 `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field"
            )),
        };
        self.diagnostics.push(diagnostic);
    }

    /// A type argument.
    fn argument(&mut self, scope: Scope, path: &PathExpr, index: usize) -> Option<Use> {
        match path.arguments.get(index) {
            Some(argument) => self.use_of(scope, argument),
            None => {
                self.diagnostics.push(Diagnostic::error(
                    Code::UNRESOLVED_TYPE,
                    path.loc,
                    format!("`{}` needs a type argument", path.text()),
                ));
                None
            }
        }
    }

    /// Keys of JSON objects are strings: text and string enums. serde writes numbers as text too, but no schema could say
    /// that the keys are numbers.
    fn check_key(&mut self, path: &PathExpr, key: &Use) -> Option<()> {
        if !key.optional && self.is_key(&key.ty) {
            return Some(());
        }
        let loc = path.arguments.first().and_then(TypeExpr::loc).unwrap_or(path.loc);
        self.diagnostics.push(
            Diagnostic::error(Code::UNSUPPORTED_TYPE, loc, "keys of a map must be strings in JSON")
                .help("use `String`, a newtype of it, or an enum without data"),
        );
        None
    }

    fn is_key(&self, ty: &TypeRef) -> bool {
        match ty {
            TypeRef::Known(path) => {
                known::schema(path).is_some_and(|schema| schema.type_.as_deref() == Some("string"))
            }
            TypeRef::Named(id) => match &self.types[id.0 as usize].shape {
                Shape::StringEnum(_) => true,
                Shape::Newtype(inner) => self.is_key(inner),
                _ => false,
            },
            TypeRef::List(_) | TypeRef::Map(_) | TypeRef::Opaque => false,
        }
    }

    /// The type's place in the arena; lowers it when it is met first. `None` after a diagnostic.
    pub(super) fn type_id(&mut self, id: ItemId) -> Option<TypeId> {
        if let Some(known) = self.known.get(&id) {
            return Some(*known);
        }
        // Lowering goes as deep as the schema will be, on the stack.
        if self.open.len() >= DEPTH_LIMIT {
            self.report_depth(id);
            return None;
        }
        self.open.push(id);
        let definition = self.definition(id);
        self.open.pop();
        let definition = definition?;
        let type_id = TypeId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        self.types.push(definition);
        self.known.insert(id, type_id);
        Some(type_id)
    }

    fn report_depth(&mut self, id: ItemId) {
        let item = self.resolver.item(id);
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_TYPE,
                item.name.loc,
                format!("the schema of `{}` would be nested more than {DEPTH_LIMIT} levels deep", item.name.text),
            )
            .note("a schema repeats a type wherever it is used")
            .help("leave a part open with `#[schema(schemaless, preserve_unknown_fields)]` and `#[validation(type = \"object\")]` on a field"),
        );
    }
}
