//! Lowers uses of types: paths, lists, maps, options.

use kubesmith_core::diag::Code;

use super::Ctx;
use super::generics::{Arg, Instance, Scope};
use crate::diag::Diagnostic;
use crate::ir::{Element, RustType, Shape, Tagging, TypeDef, TypeRef};
use crate::known::{self, Known};
use crate::load::ModuleId;
use crate::resolve::{ItemId, Target, Unresolved};
use crate::source::Loc;
use crate::syntax::{Argument, PathExpr, TypeExpr, TypeKind, ValueExpr};

/// The longest chain of aliases, far from the end of the stack.
pub(super) const ALIAS_LIMIT: usize = 128;

/// The most parts in a tuple, including those of nested tuples.
const TUPLE_LIMIT: usize = 1024;

/// The target of a type's path.
pub(super) enum Found {
    /// A type with source.
    Item(ItemId),
    /// The path of another type.
    External(String),
}

/// A type in use, without its `Option`.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) ty: TypeRef,
    pub(super) optional: bool,
}

impl Use {
    fn plain(ty: TypeRef) -> Self {
        Self { ty, optional: false }
    }

    /// The type in a position where a value must be present: `None` is null.
    pub(super) fn nullable(self) -> TypeRef {
        match self.ty {
            ty @ TypeRef::Nullable(_) => ty,
            ty if self.optional => TypeRef::Nullable(Box::new(ty)),
            ty => ty,
        }
    }
}

impl From<TypeRef> for Use {
    fn from(ty: TypeRef) -> Self {
        match ty {
            TypeRef::Nullable(inner) => Self { ty: *inner, optional: true },
            ty => Self::plain(ty),
        }
    }
}

impl Ctx<'_> {
    /// Lowers a use of a type; `None` after a diagnostic.
    pub(super) fn use_of(&mut self, scope: &Scope, expr: &TypeExpr) -> Option<Use> {
        match expr {
            TypeExpr::Path(path) => self.path(scope, path),
            TypeExpr::Array(inner, len) => {
                let item = Box::new(self.use_of(scope, inner)?.nullable());
                Some(Use::plain(match len {
                    Some(len) => TypeRef::Array(item, self.length(scope, len)?),
                    None => TypeRef::List(item),
                }))
            }
            TypeExpr::Reference(inner) => self.use_of(scope, inner),
            TypeExpr::Tuple(items, _) if items.is_empty() => Some(Use::plain(TypeRef::Unit)),
            TypeExpr::Tuple(items, loc) => self.tuple_use(scope, items, *loc),
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

    fn tuple_use(&mut self, scope: &Scope, items: &[TypeExpr], loc: Loc) -> Option<Use> {
        let items: Option<Vec<TypeRef>> =
            items.iter().map(|item| self.use_of(scope, item).map(Use::nullable)).collect();
        let tuple = TypeRef::Tuple(items?);
        if tuple.parts() > TUPLE_LIMIT {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::SCHEMA_TOO_LARGE,
                    loc,
                    format!("the tuple has more than {TUPLE_LIMIT} parts"),
                )
                .help("use a struct with named fields"),
            );
            return None;
        }
        Some(Use::plain(tuple))
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

    fn length(&mut self, scope: &Scope, expr: &ValueExpr) -> Option<u64> {
        let length = self.integer(scope, expr).and_then(|length| u64::try_from(length).ok());
        if length.is_none() {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UNSUPPORTED_TYPE,
                    expr.loc,
                    "the length of the array is not known before the program runs",
                )
                .help("write a number or a constant that is one, or use a Vec"),
            );
        }
        length
    }

    fn path(&mut self, scope: &Scope, path: &PathExpr) -> Option<Use> {
        if !path.global
            && let Some(argument) = scope.param(&path.segments[0])
        {
            return self.parameter(path, argument.clone());
        }
        match self.found(scope.krate, scope.module, path)? {
            Found::Item(id) => self.item_use(scope, path, id),
            Found::External(external) => self.external(scope, path, &external),
        }
    }

    /// The target of a path in a module; `None` after a diagnostic.
    pub(super) fn found(&mut self, krate: usize, module: ModuleId, path: &PathExpr) -> Option<Found> {
        match self.resolver.resolve(krate, module, path) {
            Ok(Target::Item(id)) => return Some(Found::Item(id)),
            Ok(Target::External(external)) => return Some(Found::External(external)),
            Ok(Target::Unread(at, external)) => self.report_unread(path, at, &external),
            Ok(Target::Module(..)) => self.report_module(path),
            Err(unresolved) => self.report_unresolved(path, unresolved),
        }
        None
    }

    fn report_module(&mut self, path: &PathExpr) {
        let message = format!("`{}` is a module, not a type", path.text());
        self.diagnostics.push(
            Diagnostic::error(Code::UNRESOLVED_TYPE, path.loc, message)
                .help(format!("name a type of the module: `{}::...`", path.text())),
        );
    }

    pub(crate) fn report_unresolved(&mut self, path: &PathExpr, unresolved: Unresolved) {
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
    }

    /// A type parameter in use.
    fn parameter(&mut self, path: &PathExpr, argument: Arg) -> Option<Use> {
        if path.segments.len() > 1 {
            self.unsupported(
                path.loc,
                &format!("`{}` is chosen by an implementation of a trait", path.text()),
                "name the type",
            );
            return None;
        }
        match argument {
            Arg::Type(ty) => Some(ty.into()),
            Arg::Withheld(at) => {
                self.replay(at);
                None
            }
            Arg::Value(_) => {
                self.unsupported(path.loc, &format!("`{}` is a constant", path.text()), "name a type");
                None
            }
        }
    }

    fn item_use(&mut self, scope: &Scope, path: &PathExpr, id: ItemId) -> Option<Use> {
        let item = self.resolver.item(id);
        let inner = self.bind(scope, path, id)?;
        let instance = (id, inner.arguments());
        if let TypeKind::Alias(target) = &item.kind {
            return self.alias_use(&inner, instance, target).map(Use::from);
        }
        if self.open.contains(&instance) {
            self.report_cycle(path, id);
            // controller-gen writes an empty schema.
            return self.is_go().then(|| Use::plain(TypeRef::Opaque));
        }
        self.type_id(id, &inner, path).map(|id| Use::plain(TypeRef::Named(id)))
    }

    /// Returns the meaning of an alias; each is resolved once.
    fn alias_use(&mut self, inner: &Scope, instance: Instance, target: &TypeExpr) -> Option<TypeRef> {
        match self.known_aliases.get(&instance) {
            Some(Ok(known)) => return Some(known.clone()),
            Some(Err(found)) => {
                let found = *found;
                self.replay(found);
                return None;
            }
            None => {}
        }
        if self.aliases.contains(&instance) || self.aliases.len() >= ALIAS_LIMIT {
            self.report_aliases(&instance);
            return None;
        }
        let before = self.diagnostics.len();
        self.aliases.push(instance.clone());
        let used = self.use_of(inner, target).map(|used| self.described(inner, instance.0, used).nullable());
        self.aliases.pop();
        let known = match used {
            Some(ty) => Ok(ty),
            None => Err(self.keep(self.diagnostics[before..].to_vec())),
        };
        self.known_aliases.insert(instance, known.clone());
        known.ok()
    }

    /// The target of an alias with the alias' documentation and facts, in a type of its own if there are any.
    fn described(&mut self, inner: &Scope, id: ItemId, used: Use) -> Use {
        let item = self.resolver.item(id);
        // The documentation of a type is better than that of its alias.
        let is_simple = match &used.ty {
            TypeRef::Known(path) => known::simple(path).is_some(),
            ty => matches!(ty, TypeRef::List(_) | TypeRef::Array(..) | TypeRef::Map(_) | TypeRef::Tuple(_)),
        };
        let description = item.description.clone().filter(|_| is_simple);
        if item.facts.schema.is_empty() && description.is_none() {
            return used;
        }
        let span = self.sources.span(item.name.loc);
        let element = Element::new(used.ty, RustType::Unknown, span.clone());
        let definition = TypeDef {
            path: self.instance_path(id, inner),
            code_path: None,
            whole: true,
            non_exhaustive: false,
            span,
            description,
            shape: Shape::Newtype(Box::new(element)),
            facts: item.facts.schema.clone(),
            places: self.spans(&item.facts.places),
        };
        Use { ty: TypeRef::Named(self.add(definition)), ..used }
    }

    /// The type behind aliases.
    pub(super) fn bare<'t>(&'t self, mut ty: &'t TypeRef) -> &'t TypeRef {
        while let TypeRef::Named(id) = ty
            && let Shape::Newtype(element) = &self.types[id.0 as usize].shape
        {
            ty = &element.ty;
        }
        ty
    }

    fn report_aliases(&mut self, instance: &Instance) {
        let name = &self.resolver.item(instance.0).name;
        let message = if self.aliases.contains(instance) {
            format!("the alias `{}` leads to itself", name.text)
        } else {
            format!("more than {ALIAS_LIMIT} aliases follow each other")
        };
        self.diagnostics.push(
            Diagnostic::error(Code::RECURSIVE_TYPE, name.loc, message)
                .help("let the alias name a struct or an enum"),
        );
    }

    fn report_cycle(&mut self, path: &PathExpr, id: ItemId) {
        let start = self.open.iter().position(|(open, _)| *open == id).unwrap_or(0);
        let mut names: Vec<&str> =
            self.open[start..].iter().map(|(open, _)| self.resolver.item(*open).name.text.as_str()).collect();
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
        self.diagnostics.push(if self.is_go() { diagnostic.of_a_server() } else { diagnostic });
    }

    fn is_go(&self) -> bool {
        self.crates.list.iter().any(|krate| krate.is_go)
    }

    fn external(&mut self, scope: &Scope, path: &PathExpr, external: &str) -> Option<Use> {
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
                Some(Use::plain(TypeRef::List(Box::new(item.nullable()))))
            }
            Known::Map => {
                let key = self.argument(scope, path, 0);
                let value = self.argument(scope, path, 1);
                self.check_key(path, &key?)?;
                Some(Use::plain(TypeRef::Map(Box::new(value?.nullable()))))
            }
            Known::Unit => Some(Use::plain(TypeRef::Unit)),
            Known::NonZero => {
                let argument = self.argument(scope, path, 0)?.ty;
                let known = match self.bare(&argument) {
                    TypeRef::Known(number) => known::non_zero(number),
                    _ => None,
                };
                if known.is_none() {
                    self.report_foreign(path, external);
                }
                known.map(|known| Use::plain(TypeRef::Known(known.to_string())))
            }
            Known::Object(fields) => self.known_object(scope, path, external, fields),
            Known::Choice(variants) => self.known_choice(scope, path, external, variants),
        }
    }

    fn plain(&mut self, path: &PathExpr, external: &str) -> Option<Use> {
        if known::is_float(external) && !self.options.allow_dangerous_types {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UNSUPPORTED_TYPE,
                    path.loc,
                    format!("floating point numbers (`{external}`) are not portable between clients"),
                )
                .note("their text form differs between languages, so that an object changes when it is read and written")
                .help("use an integer of a smaller unit, a string or a Quantity; or allow them with `--allow-dangerous-types`"),
            );
            return None;
        }
        Some(Use::plain(TypeRef::Known(external.to_string())))
    }

    fn report_foreign(&mut self, path: &PathExpr, external: &str) {
        let mut diagnostic = Diagnostic::error(
            Code::UNRESOLVED_TYPE,
            path.loc,
            format!("the JSON form of `{external}` is not known"),
        );
        let name = external.rsplit("::").next().unwrap_or(external);
        diagnostic = match known::by_name(name).filter(|known| *known != external) {
            Some(known) => diagnostic.help(format!("did you mean `{known}`?")),
            None => diagnostic
                .help("say what it is with `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field"),
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports a type of an unread crate.
    pub(crate) fn report_unread(&mut self, path: &PathExpr, at: usize, external: &str) {
        let foreign = &self.crates.foreign[at];
        let mut diagnostic = Diagnostic::error(
            Code::UNREAD_CRATE,
            path.loc,
            format!("`{external}` is not known, as its crate `{}` could not be read", foreign.package),
        );
        if let Some(unread) = &foreign.unread {
            diagnostic = diagnostic.note(unread.reason.clone()).help(format!(
                "{}; or name the folder of the crate as a further --input, or say what the JSON is with \
                 `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field",
                unread.help
            ));
        }
        self.diagnostics.push(diagnostic);
    }

    /// A type argument.
    pub(super) fn argument(&mut self, scope: &Scope, path: &PathExpr, index: usize) -> Option<Use> {
        match path.arguments.get(index) {
            Some(Argument::Type(argument)) => self.use_of(scope, argument),
            _ => {
                self.diagnostics.push(Diagnostic::error(
                    Code::UNRESOLVED_TYPE,
                    path.loc,
                    format!("`{}` needs a type argument", path.text()),
                ));
                None
            }
        }
    }

    /// Refuses map keys that are neither strings nor string enums. serde also writes numbers as strings, but
    /// no schema could require that.
    fn check_key(&mut self, path: &PathExpr, key: &Use) -> Option<()> {
        if !key.optional && self.is_key(&key.ty) {
            return Some(());
        }
        let loc = path.arguments.first().and_then(Argument::loc).unwrap_or(path.loc);
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
                Shape::Enum(definition) => {
                    definition.tagging == Tagging::External
                        && definition.variants.iter().all(|v| v.content.is_none() && !v.untagged)
                }
                Shape::Newtype(inner) => self.is_key(&inner.ty),
                Shape::Struct(_) | Shape::Tuple(_) | Shape::Unit | Shape::Given(_) => false,
            },
            _ => false,
        }
    }
}
