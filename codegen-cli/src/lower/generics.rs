//! Lowers generic types: each use binds their parameters, and each set of arguments is a separate type.

use std::rc::Rc;

use kubesmith_core::diag::Code;

use super::Ctx;
use crate::diag::Diagnostic;
use crate::ir::{TypeDef, TypeId, TypeRef};
use crate::load::ModuleId;
use crate::resolve::ItemId;
use crate::syntax::{Argument, ParamItem, PathExpr, TypeExpr, ValueExpr, ValueKind};

/// The deepest nesting of types: deeper than any API, and far from the end of a thread's stack.
pub(super) const DEPTH_LIMIT: usize = 64;

/// The most times a type may contain itself with other arguments; more means endless growth.
pub(super) const NESTED_INSTANCES: usize = 8;

/// The longest name of arguments; longer ones become numbers, as names of nested arguments could grow without
/// end.
const NAME_LIMIT: usize = 200;

/// The meaning of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arg {
    /// A type.
    Type(TypeRef),
    /// A constant.
    Value(i128),
    /// A type without a JSON form, with its diagnostics in [`Ctx::withheld`]: a marker type's argument is
    /// never used.
    Withheld(usize),
}

/// A type with its arguments.
pub(super) type Instance = (ItemId, Rc<[Arg]>);

/// The scope in which a type is used, with the values of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(super) krate: usize,
    pub(super) module: ModuleId,
    params: Rc<[(String, Arg)]>,
}

impl Scope {
    fn new(id: ItemId, params: Vec<(String, Arg)>) -> Self {
        Self { krate: id.krate, module: id.module, params: params.into() }
    }

    /// The meaning of the parameter.
    pub(crate) fn param(&self, name: &str) -> Option<&Arg> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, argument)| argument)
    }

    /// The arguments, in the order of the parameters.
    pub(super) fn arguments(&self) -> Rc<[Arg]> {
        self.params.iter().map(|(_, argument)| argument.clone()).collect()
    }

    /// A scope with constants as some parameters.
    pub(crate) fn with_values(
        krate: usize,
        module: ModuleId,
        values: impl Iterator<Item = (String, i128)>,
    ) -> Self {
        Self { krate, module, params: values.map(|(name, value)| (name, Arg::Value(value))).collect() }
    }

    /// The scope of another module, without parameters.
    pub(super) fn of_module(krate: usize, module: ModuleId) -> Self {
        Self { krate, module, params: Rc::default() }
    }
}

impl From<ItemId> for Scope {
    fn from(id: ItemId) -> Self {
        Self::of_module(id.krate, id.module)
    }
}

impl Ctx<'_> {
    /// The scope inside a definition, with the path's arguments bound to its parameters.
    pub(super) fn bind(&mut self, scope: &Scope, path: &PathExpr, id: ItemId) -> Option<Scope> {
        let item = self.resolver.item(id);
        if path.arguments.len() > item.generics.len() {
            let message = match item.generics.len() {
                0 => format!("`{}` has no parameters", item.name.text),
                1 => format!("`{}` has one parameter only", item.name.text),
                n => format!("`{}` has {n} parameters only", item.name.text),
            };
            let surplus = path.arguments.get(item.generics.len()).and_then(Argument::loc);
            self.diagnostics.push(
                Diagnostic::error(Code::GENERIC_TYPE, surplus.unwrap_or(path.loc), message)
                    .secondary(item.name.loc, "defined here")
                    .help("remove the argument"),
            );
            return None;
        }
        let mut params: Vec<(String, Arg)> = Vec::with_capacity(item.generics.len());
        for (at, param) in item.generics.iter().enumerate() {
            let argument = match (path.arguments.get(at), &param.default) {
                (Some(argument), _) => self.bound(scope, param, argument)?,
                (None, Some(default)) => self.bound(&Scope::new(id, params.clone()), param, default)?,
                (None, None) => {
                    self.report_missing(path, id, param);
                    return None;
                }
            };
            params.push((param.name.text.clone(), argument));
        }
        Some(Scope::new(id, params))
    }

    fn report_missing(&mut self, path: &PathExpr, id: ItemId, param: &ParamItem) {
        let name = &self.resolver.item(id).name.text;
        self.diagnostics.push(
            Diagnostic::error(
                Code::GENERIC_TYPE,
                path.loc,
                format!("`{name}` is generic, and nothing says what `{}` is", param.name.text),
            )
            .secondary(param.name.loc, "has no default")
            .help(format!("write `{name}<...>` with a type, or give the parameter a default")),
        );
    }

    fn bound(&mut self, scope: &Scope, param: &ParamItem, argument: &Argument) -> Option<Arg> {
        if param.is_const {
            let value = match argument {
                Argument::Value(value) => self.integer(scope, value),
                Argument::Type(TypeExpr::Path(path)) => {
                    let value = ValueExpr { kind: ValueKind::Path(path.clone()), loc: path.loc };
                    self.integer(scope, &value)
                }
                Argument::Type(_) => None,
            };
            if value.is_none() {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::GENERIC_TYPE,
                        argument.loc().unwrap_or(param.name.loc),
                        format!("the value of `{}` is not known before the program runs", param.name.text),
                    )
                    .help("write a number or a constant that is one"),
                );
            }
            return value.map(Arg::Value);
        }
        let Argument::Type(ty) = argument else {
            self.diagnostics.push(Diagnostic::error(
                Code::GENERIC_TYPE,
                argument.loc().unwrap_or(param.name.loc),
                format!("`{}` is a type, not a number", param.name.text),
            ));
            return None;
        };
        let before = self.diagnostics.len();
        Some(match self.use_of(scope, ty) {
            Some(used) => Arg::Type(used.nullable()),
            None => self.withhold(before),
        })
    }

    /// Keeps the diagnostics from `start` on, in case the argument is used.
    fn withhold(&mut self, start: usize) -> Arg {
        let found = self.diagnostics.split_off(start);
        Arg::Withheld(self.keep(found))
    }

    /// Stores diagnostics for a later report.
    pub(crate) fn keep(&mut self, found: Vec<Diagnostic>) -> usize {
        self.withheld.iter().position(|known| *known == found).unwrap_or_else(|| {
            self.withheld.push(found);
            self.withheld.len() - 1
        })
    }

    /// Reports stored diagnostics once.
    pub(crate) fn replay(&mut self, at: usize) {
        for diagnostic in self.withheld[at].clone() {
            if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Returns the type's index in the arena, and lowers the type on its first use; `None` after a
    /// diagnostic.
    pub(super) fn type_id(&mut self, id: ItemId, scope: &Scope, path: &PathExpr) -> Option<TypeId> {
        let instance = (id, scope.arguments());
        match self.known.get(&instance) {
            Some(Ok(known)) => return Some(*known),
            Some(Err(found)) => {
                let found = *found;
                self.replay(found);
                return None;
            }
            None => {}
        }
        if self.open.iter().filter(|(open, _)| *open == id).count() >= NESTED_INSTANCES {
            self.report_growth(id, path);
            return None;
        }
        // Lowering recurses as deeply as the schema.
        if self.open.len() >= DEPTH_LIMIT {
            self.report_depth(id);
            return None;
        }
        let before = self.diagnostics.len();
        self.open.push(instance.clone());
        let aliases = std::mem::take(&mut self.aliases);
        let definition = self.definition(id, scope, path);
        self.aliases = aliases;
        self.open.pop();
        let known = match definition {
            Some(definition) => Ok(self.add(definition)),
            None => Err(self.keep(self.diagnostics[before..].to_vec())),
        };
        self.known.insert(instance, known);
        known.ok()
    }

    /// Adds a definition to the arena.
    pub(super) fn add(&mut self, definition: TypeDef) -> TypeId {
        self.types.push(definition);
        TypeId(u32::try_from(self.types.len() - 1).unwrap_or(u32::MAX))
    }

    fn report_growth(&mut self, id: ItemId, path: &PathExpr) {
        let item = self.resolver.item(id);
        self.diagnostics.push(
            Diagnostic::error(
                Code::RECURSIVE_TYPE,
                path.loc,
                format!("`{}` contains itself with new arguments each time", item.name.text),
            )
            .secondary(item.name.loc, "defined here")
            .note("a structural schema is finite, so an API server refuses recursive ones")
            .help(
                "break the cycle with `#[schema(schemaless, preserve_unknown_fields)]` and `#[validation(type = \"object\")]` on this field",
            ),
        );
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

    /// The path of a definition with its arguments.
    pub(super) fn instance_path(&self, id: ItemId, scope: &Scope) -> String {
        let path = self.resolver.definition_path(id);
        let names: Vec<String> =
            scope.arguments().iter().map(|argument| self.argument_name(argument)).collect();
        if names.is_empty() { path } else { format!("{path}<{}>", names.join(", ")) }
    }

    fn argument_name(&self, argument: &Arg) -> String {
        match argument {
            Arg::Type(ty) => self.type_name(ty),
            Arg::Value(value) => value.to_string(),
            Arg::Withheld(_) => "_".to_string(),
        }
    }

    pub(super) fn type_name(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Named(id) => match self.types[id.0 as usize].path.as_str() {
                path if path.len() <= NAME_LIMIT => path.to_string(),
                _ => format!("#{}", id.0),
            },
            TypeRef::Known(path) => path.clone(),
            TypeRef::List(item) => format!("[{}]", self.type_name(item)),
            TypeRef::Array(item, len) => format!("[{}; {len}]", self.type_name(item)),
            TypeRef::Map(value) => format!("{{{}}}", self.type_name(value)),
            TypeRef::Nullable(inner) => format!("Option<{}>", self.type_name(inner)),
            TypeRef::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.type_name(item)).collect();
                format!("({})", items.join(", "))
            }
            TypeRef::Unit => "()".to_string(),
            TypeRef::Opaque => "_".to_string(),
        }
    }
}
