//! Resolves types in use: paths, aliases and parameters.

use std::collections::HashMap;
use std::rc::Rc;

use kubesmith_core::diag::Code;
use serde_json::Value;

use crate::diag::Diagnostic;
use crate::load::{Locked, ModuleId};
use crate::lower::generics::{DEPTH_LIMIT, NESTED_INSTANCES};
use crate::lower::{Ctx, Scope};
use crate::resolve::{ItemId, Target};
use crate::source::Loc;
use crate::syntax::{Argument, PathExpr, TypeExpr, TypeItem, TypeKind, ValueExpr, ValueKind};

/// The most values in the JSON of a schema.
pub(super) const SIZE_LIMIT: usize = 100_000;

/// A type in use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ty {
    /// A type with source, and its arguments.
    Item(ItemId, Rc<[Param]>),
    /// A type by its path, with its arguments.
    Known(String, Rc<[Param]>),
    /// `[T; N]`
    Array(Rc<Ty>, u64),
    /// `[T]`
    Slice(Rc<Ty>),
    /// `(A, B)`
    Tuple(Rc<[Ty]>),
}

/// The meaning of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Param {
    /// A type.
    Type(Ty),
    /// A constant.
    Value(i128),
    /// An unreadable argument; its diagnostics are reported if it is used.
    Withheld(usize),
}

impl Ty {
    /// The number of types in it, counted up to a little more than the limit.
    fn parts(&self) -> usize {
        let sum = |params: &[Param]| {
            params.iter().try_fold(1, |sum, param| match param {
                Param::Type(ty) => Some(sum + ty.parts()).filter(|sum| *sum <= PARTS_LIMIT),
                Param::Value(_) | Param::Withheld(_) => Some(sum + 1),
            })
        };
        match self {
            Ty::Item(_, params) | Ty::Known(_, params) => sum(params).unwrap_or(PARTS_LIMIT + 1),
            Ty::Array(item, _) | Ty::Slice(item) => item.parts().saturating_add(1),
            Ty::Tuple(items) => {
                let sum = items
                    .iter()
                    .try_fold(1, |sum, ty| Some(sum + ty.parts()).filter(|sum| *sum <= PARTS_LIMIT));
                sum.unwrap_or(PARTS_LIMIT + 1)
            }
        }
    }
}

/// The scope in which a type is used, with the values of its parameters.
#[derive(Clone, Debug)]
pub(super) struct Env {
    pub(super) krate: usize,
    pub(super) module: ModuleId,
    pub(super) params: Vec<(String, Param)>,
    /// The type of `Self`.
    pub(super) owner: Option<Ty>,
    /// Arguments of the function being evaluated, with their scopes.
    locals: Rc<[(String, Env, ValueExpr)]>,
    /// Parameters without the bound `Serialize`.
    unwritable: Rc<[String]>,
}

impl Env {
    /// The scope of a module.
    pub(super) fn module(krate: usize, module: ModuleId) -> Self {
        Self {
            krate,
            module,
            params: Vec::new(),
            owner: None,
            locals: Rc::default(),
            unwritable: Rc::default(),
        }
    }

    /// The same scope with this type as `Self`.
    pub(super) fn owned(self, owner: Option<Ty>) -> Self {
        Self { owner, ..self }
    }

    /// Whether the type names a parameter without the bound `Serialize`.
    pub(super) fn mentions_unwritable(&self, ty: &TypeExpr) -> bool {
        let argument = |argument: &Argument| match argument {
            Argument::Type(ty) => self.mentions_unwritable(ty),
            Argument::Value(_) => false,
        };
        match ty {
            TypeExpr::Path(path) => {
                let is_param = matches!(&path.segments[..], [name] if self.unwritable.contains(name));
                is_param || path.arguments.iter().any(argument)
            }
            TypeExpr::Array(inner, _) | TypeExpr::Reference(inner) => self.mentions_unwritable(inner),
            TypeExpr::Tuple(items, _) => items.iter().any(|item| self.mentions_unwritable(item)),
            TypeExpr::Unsupported(..) => false,
        }
    }

    /// The same scope with the arguments of a function.
    pub(super) fn with_locals(self, locals: Vec<(String, Env, ValueExpr)>) -> Self {
        Self { locals: locals.into(), ..self }
    }

    /// The same scope with variables, each of which may use those before it.
    pub(super) fn with_block(self, variables: &[(String, ValueExpr)]) -> Self {
        variables.iter().fold(self, |env, (name, value)| {
            let local = (name.clone(), env.clone(), value.clone());
            let locals = std::iter::once(local).chain(env.locals.iter().cloned()).collect();
            Self { locals, ..env }
        })
    }

    /// The argument with this name.
    pub(super) fn local(&self, path: &PathExpr) -> Option<&(String, Env, ValueExpr)> {
        let [name] = &path.segments[..] else { return None };
        self.locals.iter().find(|(known, ..)| known == name)
    }

    /// The same parameters in another module of the crate.
    pub(super) fn within(&self, module: ModuleId) -> Self {
        Self { module, ..self.clone() }
    }

    /// The corresponding scope for evaluating numbers.
    pub(super) fn scope(&self) -> Scope {
        let values = self.params.iter().filter_map(|(name, param)| match param {
            Param::Value(value) => Some((name.clone(), *value)),
            _ => None,
        });
        Scope::with_values(self.krate, self.module, values)
    }
}

/// Makes schemas of types in kube's dialect.
pub(crate) struct Dialect<'c, 'a> {
    pub(super) ctx: &'c mut Ctx<'a>,
    /// The types whose schemas are being made, outermost first.
    pub(super) open: Vec<Ty>,
    /// Finished schemas; `None` after a diagnostic.
    pub(super) done: HashMap<Ty, Option<(Value, usize)>>,
    /// The results of functions, by location; `None` after a diagnostic.
    pub(super) functions: HashMap<Loc, Option<Value>>,
    /// The number of nested calls.
    pub(super) calls: usize,
    /// The number of expressions and types that the current query may still visit: functions that call others
    /// twice, and aliases of tuples, grow exponentially.
    pub(super) budget: usize,
    /// The first unknown expression of the current query.
    pub(super) beyond: Option<Loc>,
    /// The versions of crates whose schemas to reproduce.
    pub(super) locked: Locked,
    /// The number of values that code of the current query may still move.
    pub(super) moves: usize,
    /// The first environment variable that a value depends on.
    pub(super) environment: Option<Loc>,
    /// Types that contain themselves, with the location of the use: reported if a reference stays in a
    /// schema.
    pub(super) cycles: Vec<Diagnostic>,
    /// The outermost open type that a schema refers to.
    pub(super) outermost: usize,
    /// Whether a query is running.
    asked: bool,
    /// The nesting of the current expression.
    nesting: usize,
}

/// The most types in a type.
const PARTS_LIMIT: usize = 10_000;

/// The most expressions and types per query.
const BUDGET: usize = 100_000;

/// The most values that code of one query may move: variables that contain each other twice grow
/// exponentially.
const MOVES: usize = 5_000_000;

impl<'c, 'a> Dialect<'c, 'a> {
    pub(crate) fn new(ctx: &'c mut Ctx<'a>) -> Self {
        Self {
            ctx,
            open: Vec::new(),
            done: HashMap::new(),
            functions: HashMap::new(),
            calls: 0,
            budget: BUDGET,
            beyond: None,
            moves: MOVES,
            environment: None,
            cycles: Vec::new(),
            outermost: usize::MAX,
            locked: Locked::default(),
            asked: false,
            nesting: 0,
        }
    }

    /// Makes schemas in the forms of these versions from here on.
    pub(crate) fn lock(&mut self, locked: Locked) {
        if self.locked != locked {
            self.locked = locked;
            self.done.clear();
            self.functions.clear();
        }
    }

    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        if !self.ctx.diagnostics.contains(&diagnostic) {
            self.ctx.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn item(&self, id: ItemId) -> &'a TypeItem {
        self.ctx.resolver.item(id)
    }

    /// Runs a query, unless it is part of another one.
    pub(super) fn ask<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        if self.asked {
            return look(self);
        }
        (self.asked, self.budget, self.moves, self.beyond) = (true, BUDGET, MOVES, None);
        let answer = look(self);
        self.asked = false;
        answer
    }

    /// Evaluates a nested expression; `None`: too deeply nested.
    pub(super) fn nested<T>(&mut self, look: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.nested_to(DEPTH_LIMIT, look)
    }

    /// Like [`Self::nested`], with another limit.
    pub(super) fn nested_to<T>(
        &mut self,
        limit: usize,
        look: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        if self.nesting >= limit {
            return None;
        }
        self.nesting += 1;
        let answer = look(self);
        self.nesting -= 1;
        answer
    }

    /// Counts a step; `None`: too many steps.
    pub(super) fn step(&mut self) -> Option<()> {
        self.budget = self.budget.checked_sub(1)?;
        Some(())
    }

    /// Visits a definition with its parameters bound, and reports a type that contains itself.
    pub(super) fn inside<T>(
        &mut self,
        id: ItemId,
        params: &Rc<[Param]>,
        look: impl FnOnce(&mut Self, &Env) -> Option<T>,
    ) -> Option<T> {
        let ty = Ty::Item(id, params.clone());
        let instances =
            self.open.iter().filter(|open| matches!(open, Ty::Item(other, _) if *other == id)).count();
        if self.open.contains(&ty) || self.open.len() >= DEPTH_LIMIT || instances >= NESTED_INSTANCES {
            self.report_cycle(id, &ty);
            return None;
        }
        let env = self.env_of(id, params);
        self.open.push(ty);
        let found = look(self, &env);
        self.open.pop();
        found
    }

    /// Visits a definition for a value, possibly while its schema is being made.
    pub(super) fn value_inside<T>(
        &mut self,
        id: ItemId,
        params: &Rc<[Param]>,
        look: impl FnOnce(&mut Self, &Env) -> Option<T>,
    ) -> Option<T> {
        let env = self.env_of(id, params);
        look(self, &env)
    }

    /// The scope inside a definition.
    pub(super) fn env_of(&self, id: ItemId, params: &Rc<[Param]>) -> Env {
        let item = self.item(id);
        let names = item.generics.iter().map(|param| param.name.text.clone());
        let written = item.schemars.as_ref().map_or(&[][..], |derived| &derived.serialize_params);
        let types = item.generics.iter().filter(|param| !param.is_const).map(|param| param.name.text.clone());
        Env {
            params: names.zip(params.iter().cloned()).collect(),
            unwritable: types.filter(|name| !written.contains(name)).collect(),
            ..Env::module(id.krate, id.module).owned(Some(Ty::Item(id, params.clone())))
        }
    }

    /// Resolves a type; `None` after a diagnostic.
    pub(super) fn ty(&mut self, env: &Env, expr: &TypeExpr) -> Option<Ty> {
        self.ask(|dialect| dialect.ty_at(env, expr, 0))
    }

    pub(super) fn ty_at(&mut self, env: &Env, expr: &TypeExpr, depth: usize) -> Option<Ty> {
        let found =
            if self.step().is_some() { self.ty_of(env, expr, depth)? } else { Ty::Tuple(Rc::default()) };
        if self.budget == 0 || found.parts() > PARTS_LIMIT {
            let message = format!("the type consists of more than {PARTS_LIMIT} types");
            self.error(
                Diagnostic::error(Code::SCHEMA_TOO_LARGE, expr.loc(), message)
                    .help("use structs with named fields"),
            );
            return None;
        }
        Some(found)
    }

    fn ty_of(&mut self, env: &Env, expr: &TypeExpr, depth: usize) -> Option<Ty> {
        if depth > DEPTH_LIMIT {
            self.error(Diagnostic::error(
                Code::RECURSIVE_TYPE,
                expr.loc(),
                format!("types or aliases lead more than {DEPTH_LIMIT} levels deep"),
            ));
            return None;
        }
        match expr {
            TypeExpr::Path(path) => self.path(env, path, depth),
            TypeExpr::Reference(inner) => self.ty_at(env, inner, depth),
            TypeExpr::Array(inner, None) => Some(Ty::Slice(Rc::new(self.ty_at(env, inner, depth)?))),
            TypeExpr::Array(inner, Some(len)) => {
                let inner = Rc::new(self.ty_at(env, inner, depth)?);
                let Some(len) = self.ctx.integer(&env.scope(), len).and_then(|len| u64::try_from(len).ok())
                else {
                    let message = "the length of the array is not known before the program runs";
                    let help = "write a number or a constant that is one, or use a Vec";
                    self.error(Diagnostic::error(Code::UNSUPPORTED_TYPE, len.loc, message).help(help));
                    return None;
                };
                Some(Ty::Array(inner, len))
            }
            TypeExpr::Tuple(items, _) => {
                let items: Option<Vec<Ty>> = items.iter().map(|item| self.ty_at(env, item, depth)).collect();
                Some(Ty::Tuple(items?.into()))
            }
            TypeExpr::Unsupported(what, loc) => {
                self.unreadable(*loc, &format!("{what} has no JSON form"));
                None
            }
        }
    }

    fn path(&mut self, env: &Env, path: &PathExpr, depth: usize) -> Option<Ty> {
        let first = path.segments.first()?;
        if !path.global && path.segments.len() == 1 {
            if first == "Self" {
                return env.owner.clone();
            }
            if let Some((_, param)) = env.params.iter().find(|(name, _)| name == first) {
                return self.parameter(path, &param.clone());
            }
        }
        match self.ctx.resolver.resolve(env.krate, env.module, path) {
            Ok(Target::Item(id)) => self.definition(env, path, id, depth),
            Ok(Target::External(external)) => {
                let arguments = self.arguments(env, path, depth);
                Some(Ty::Known(external, arguments.into()))
            }
            Ok(Target::Unread(at, external)) => {
                self.ctx.report_unread(path, at, &external);
                None
            }
            Ok(Target::Module(..)) => {
                let message = format!("`{}` is a module, not a type", path.text());
                self.error(Diagnostic::error(Code::UNRESOLVED_TYPE, path.loc, message).help(
                    "where `with` names a module of functions, say what the JSON is with \
                     `#[schemars(with = \"String\")]`",
                ));
                None
            }
            Err(unresolved) => self.projected(env, path, depth).or_else(|| {
                self.ctx.report_unresolved(path, unresolved);
                None
            }),
        }
    }

    fn parameter(&mut self, path: &PathExpr, param: &Param) -> Option<Ty> {
        match param {
            Param::Type(ty) => Some(ty.clone()),
            Param::Withheld(at) => {
                self.ctx.replay(*at);
                None
            }
            Param::Value(_) => {
                self.unreadable(path.loc, &format!("`{}` is a constant, not a type", path.text()));
                None
            }
        }
    }

    pub(super) fn definition(&mut self, env: &Env, path: &PathExpr, id: ItemId, depth: usize) -> Option<Ty> {
        let item = self.item(id);
        let given = self.arguments(env, path, depth);
        let mut params: Vec<Param> = Vec::with_capacity(item.generics.len());
        for (at, param) in item.generics.iter().enumerate() {
            let names = item.generics.iter().map(|param| param.name.text.clone());
            let inner = Env {
                params: names.zip(params.iter().cloned()).collect(),
                ..Env::module(id.krate, id.module)
            };
            let bound = match (given.get(at), &param.default) {
                (Some(argument), _) => argument.clone(),
                (None, Some(default)) => self.argument(&inner, default, depth),
                (None, None) => {
                    let message = format!(
                        "`{}` is generic, and nothing says what `{}` is",
                        item.name.text, param.name.text
                    );
                    self.error(Diagnostic::error(Code::GENERIC_TYPE, path.loc, message));
                    return None;
                }
            };
            params.push(bound);
        }
        let TypeKind::Alias(target) = &item.kind else { return Some(Ty::Item(id, params.into())) };
        let names = item.generics.iter().map(|param| param.name.text.clone());
        let inner = Env { params: names.zip(params).collect(), ..Env::module(id.krate, id.module) };
        self.ty_at(&inner, target, depth + 1)
    }

    fn arguments(&mut self, env: &Env, path: &PathExpr, depth: usize) -> Vec<Param> {
        path.arguments.iter().map(|argument| self.argument(env, argument, depth)).collect()
    }

    /// The value of an argument.
    pub(super) fn argument(&mut self, env: &Env, argument: &Argument, depth: usize) -> Param {
        let value = match argument {
            Argument::Value(value) => Some(value.clone()),
            // A constant's name looks like a type.
            Argument::Type(TypeExpr::Path(path)) if path.arguments.is_empty() => {
                Some(ValueExpr { kind: ValueKind::Path(path.clone()), loc: path.loc })
            }
            Argument::Type(_) => None,
        };
        let before = self.ctx.diagnostics.len();
        if let Argument::Type(ty) = argument
            && let Some(ty) = self.ty_at(env, ty, depth + 1)
        {
            return Param::Type(ty);
        }
        if let Some(value) = value.and_then(|value| self.ctx.integer(&env.scope(), &value)) {
            self.ctx.diagnostics.truncate(before);
            return Param::Value(value);
        }
        let found = self.ctx.diagnostics.split_off(before);
        Param::Withheld(self.ctx.keep(found))
    }

    /// A type argument of a known type; `None` after a diagnostic.
    pub(super) fn type_argument(&mut self, path: &str, arguments: &[Param], at: usize) -> Option<Ty> {
        match arguments.get(at) {
            Some(Param::Type(ty)) => Some(ty.clone()),
            Some(Param::Withheld(found)) => {
                self.ctx.replay(*found);
                None
            }
            _ => {
                let message = format!("`{path}` needs a type argument");
                self.error(Diagnostic::error(Code::UNRESOLVED_TYPE, None, message));
                None
            }
        }
    }
}
