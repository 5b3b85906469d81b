//! Evaluates names, and calls of functions by name.

use serde_json::{Map, Value};

use super::{Found, Frame, Machine, Stop, Val, keywords};
use crate::lower::kube::types::Env;
use crate::resolve;
use crate::source::Loc;
use crate::syntax::code::{Function, SCHEMARS};
use crate::syntax::{PathExpr, ValueExpr, ValueKind};

/// The deepest nesting of calls.
const CALL_LIMIT: usize = 64;

/// Functions and variants that wrap their argument.
const HOLDERS: &[&str] = &[
    "Some",
    "Ok",
    "new",
    "pin",
    "from",
    "try_from",
    "from_value",
    "to_value",
    "from_iter",
    "Object",
    "Array",
    "String",
    "Bool",
    "Number",
    "Single",
    "Vec",
    "Borrowed",
    "Owned",
    "once",
];

/// The types of those functions and variants.
const OWNERS: &[&str] = &[
    "",
    "Box",
    "Rc",
    "Arc",
    "Option",
    "Result",
    "Schema",
    "SchemaObject",
    "RootSchema",
    "Value",
    "SingleOrVec",
    "Map",
    "BTreeMap",
    "HashMap",
    "IndexMap",
    "BTreeSet",
    "HashSet",
    "IndexSet",
    "Vec",
    "String",
    "Cow",
    "serde_json",
    "value",
    "iter",
];

/// Types whose new values are empty.
const OBJECTS: &[&str] =
    &["Map", "BTreeMap", "HashMap", "IndexMap", "Schema", "SchemaObject", "ObjectValidation", "Metadata"];
const LISTS: &[&str] = &["Vec", "VecDeque", "BTreeSet", "HashSet", "IndexSet", "Set"];

/// Types that make schemas; code read here does not depend on them.
const GENERATORS: &[&str] = &["SchemaGenerator", "SchemaSettings"];

impl<'a> Machine<'_, '_, 'a> {
    /// The value of a name.
    pub(super) fn named(&mut self, frame: &Frame, path: &PathExpr, loc: Loc) -> Found<Val> {
        if let [name] = &path.segments[..] {
            if let Some(value) = self.variable(frame, name)? {
                return Ok(value);
            }
            if name == "None" {
                return Ok(Val::None);
            }
        }
        match &path.segments[..] {
            [.., owner, name] if owner == "InstanceType" => {
                Ok(Val::Json(Value::String(name.to_ascii_lowercase())))
            }
            [.., owner, name] if owner == "Value" && name == "Null" => Ok(Val::Json(Value::Null)),
            _ => {
                let constant = ValueExpr { kind: ValueKind::Path(path.clone()), loc };
                Ok(self
                    .constant(&frame.env, &constant)
                    .unwrap_or_else(|_| Val::Named(path.clone(), frame.env.clone())))
            }
        }
    }

    /// Calls the function at a path.
    pub(super) fn call_named(
        &mut self,
        frame: &mut Frame,
        path: &PathExpr,
        mut arguments: Vec<Val>,
        loc: Loc,
    ) -> Found<Val> {
        if let [name] = &path.segments[..]
            && let Some(function) = self.variable(frame, name)?
        {
            return self.apply(function, arguments, loc);
        }
        if let Some((env, function)) = self.function_of(frame, path) {
            return self.call(env, function, arguments, loc);
        }
        let (owner, name) = match &path.segments[..] {
            [.., owner, name] => (owner.as_str(), name.as_str()),
            [name] => ("", name.as_str()),
            [] => return Err(Stop::Here),
        };
        let is_constructor = matches!(name, "new" | "default" | "with_capacity");
        if GENERATORS.contains(&owner) {
            return Ok(Val::Unit);
        }
        if arguments.is_empty() || name == "with_capacity" {
            return match (is_constructor, owner) {
                (true, owner) if OBJECTS.contains(&owner) => Ok(Val::Json(Value::Object(Map::new()))),
                (true, owner) if LISTS.contains(&owner) => Ok(Val::Json(Value::Array(Vec::new()))),
                // The type is unknown, and a part of a schema is absent by default.
                (true, "Default") => Ok(Val::None),
                _ => Err(Stop::Here),
            };
        }
        if arguments.len() == 1 && HOLDERS.contains(&name) && OWNERS.contains(&owner) {
            let held = arguments.remove(0);
            let is_made_of_items = name == "from_iter" || (name == "from" && !owner.is_empty());
            return if is_made_of_items { self.collected(held, loc) } else { Ok(held) };
        }
        Err(Stop::Here)
    }

    /// A function of the user that makes or changes schemas, and its scope.
    fn function_of(&mut self, frame: &Frame, path: &PathExpr) -> Option<(Env, &'a Function)> {
        let Some(resolve::Value::Item(krate, module, item)) = self.dialect.resolve_value(&frame.env, path)
        else {
            return None;
        };
        if self.dialect.ctx.crates.list[krate].lib == SCHEMARS {
            return None;
        }
        let ValueKind::SchemaFunction(function) = &item.expr.kind else { return None };
        let owner = self.dialect.owner_of(&frame.env, path);
        let env = Env::module(krate, module).owned(owner);
        let env = self.dialect.with_arguments(env, &function.generics, &frame.env, path);
        Some((env, function))
    }

    /// Calls a function.
    pub(super) fn call(
        &mut self,
        env: Env,
        function: &Function,
        arguments: Vec<Val>,
        loc: Loc,
    ) -> Found<Val> {
        if function.params.len() != arguments.len() || self.dialect.calls >= CALL_LIMIT {
            return Err(Stop::Beyond(loc));
        }
        self.dialect.calls += 1;
        let made = self.enter(env, function, arguments);
        self.dialect.calls -= 1;
        made
    }

    /// Calls a closure.
    pub(super) fn apply(&mut self, function: Val, arguments: Vec<Val>, loc: Loc) -> Found<Val> {
        let (closure, seen) = match function {
            Val::Closure(closure, seen) => (closure, seen),
            Val::Named(path, env) => {
                return self.call_named(&mut Frame::new(env), &path, arguments, loc);
            }
            _ => return Err(Stop::Beyond(loc)),
        };
        let Some(mut frame) = self.memory.seen.get(seen).cloned() else { return Err(Stop::Here) };
        self.count(frame.names.len())?;
        let (patterns, body) = &*closure;
        if patterns.len() != arguments.len() {
            return Err(Stop::Beyond(loc));
        }
        for (pattern, argument) in patterns.iter().zip(arguments) {
            self.bind(&mut frame, pattern, argument)?;
        }
        match self.eval(&mut frame, body) {
            Err(Stop::Return(made)) => Ok(*made),
            made => made,
        }
    }

    /// Items as a list, or as an object if they are pairs.
    pub(super) fn collected(&mut self, items: Val, loc: Loc) -> Found<Val> {
        let Val::List(items) = items else { return Ok(items) };
        if items.iter().any(|item| self.is_none(item)) {
            return Err(Stop::Beyond(loc));
        }
        let are_pairs = !items.is_empty() && items.iter().all(|item| matches!(item, Val::Tuple(_)));
        let Value::Array(items) = self.json(&Val::List(items))? else { return Err(Stop::Here) };
        if !are_pairs {
            return Ok(Val::Json(Value::Array(items)));
        }
        let members = keywords::members(&items).ok_or(Stop::Beyond(loc))?;
        Ok(Val::Json(Value::Object(members)))
    }
}
