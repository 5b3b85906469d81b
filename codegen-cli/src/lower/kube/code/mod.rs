//! Runs code that makes or changes schemas, if it only moves JSON.
//!
//! This is no full interpreter of Rust: it supports JSON, texts, lists, options and closures, the methods of
//! `serde_json` and schemars that move them ([`methods`]), schemars 0.8's structs by the keywords of their
//! fields ([`keywords`]), and functions of the user made of these. Any other expression ends the run and is
//! reported.

mod calls;
mod keywords;
mod methods;
mod places;

use std::sync::Arc;

use serde_json::{Map, Value};

use self::places::Place;
use super::types::{Dialect, Env, Ty};
use crate::known::openapi_name;
use crate::source::Loc;
use crate::syntax::code::{Block, Expr, Function, Kind, Pattern, Step};
use crate::syntax::{PathExpr, TypeExpr, ValueExpr, ValueKind};

/// The value of an expression. `Some(a)`, `Ok(a)`, `Box::new(a)` and references are `a`.
#[derive(Clone, Debug)]
enum Val {
    /// `()`, and the generator of schemas, which no result depends on.
    Unit,
    /// `None`
    None,
    /// JSON
    Json(Value),
    /// A variable or a part of one, possibly unset.
    Place(Place),
    /// Items, which may be places.
    List(Vec<Val>),
    /// `(a, b)`
    Tuple(Vec<Val>),
    /// A name without a value: a function, or something unknown.
    Named(PathExpr, Env),
    /// A closure, with the index in [`Memory::seen`] of the variables that it captures.
    Closure(Arc<(Vec<Pattern>, Expr)>, usize),
}

/// The variables of a function, by their indices in [`Memory::variables`], and the scope of its names.
#[derive(Clone, Debug)]
struct Frame {
    env: Env,
    names: Vec<(String, usize)>,
}

impl Frame {
    fn new(env: Env) -> Self {
        Self { env, names: Vec::new() }
    }

    fn variable(&self, name: &str) -> Option<usize> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, at)| *at)
    }
}

/// The memory of a run. It is freed as a whole, so closures may capture each other.
#[derive(Default)]
struct Memory {
    /// The values that places refer to.
    cells: Vec<Value>,
    variables: Vec<Val>,
    /// The captured variables of closures.
    seen: Vec<Frame>,
}

/// The reason why an expression has no value.
enum Stop {
    /// The function returns.
    Return(Box<Val>),
    /// The expression at this location is unsupported.
    Beyond(Loc),
    /// The current expression is unsupported.
    Here,
    /// Values grow too large.
    TooLarge,
    /// A diagnostic was reported.
    Reported,
}

type Found<T> = Result<T, Stop>;

/// The deepest nesting of expressions and functions, far from the end of a thread's stack.
const DEPTH_LIMIT: usize = 96;

struct Machine<'m, 'c, 'a> {
    dialect: &'m mut Dialect<'c, 'a>,
    memory: Memory,
}

impl Dialect<'_, '_> {
    /// The schema that a function returns, whose only argument is a generator.
    pub(super) fn run(&mut self, env: &Env, function: &Function, loc: Loc) -> Option<Value> {
        let mut machine = Machine { dialect: self, memory: Memory::default() };
        let arguments = vec![Val::Unit; function.params.len()];
        let made = machine.enter(env.clone(), function, arguments).and_then(|made| machine.json(&made));
        self.or_report(made, loc, true)
    }

    /// Applies a function to a schema.
    pub(super) fn change(&mut self, env: &Env, change: &Expr, schema: &mut Value) -> Option<()> {
        self.ask(|dialect| dialect.changed(env, change, schema))
    }

    fn changed(&mut self, env: &Env, change: &Expr, schema: &mut Value) -> Option<()> {
        let mut machine =
            Machine { dialect: self, memory: Memory { cells: vec![schema.take()], ..Memory::default() } };
        let mut frame = Frame::new(env.clone());
        let argument = vec![Val::Place(Place::of(0))];
        let done = match &change.kind {
            Kind::Path(path) => machine.call_named(&mut frame, path, argument, change.loc),
            _ => machine.eval(&mut frame, change).and_then(|made| machine.apply(made, argument, change.loc)),
        };
        *schema = std::mem::take(&mut machine.memory.cells[0]);
        self.or_report(done.map(|_| ()), change.loc, true)
    }

    /// The JSON of a literal.
    pub(super) fn json(&mut self, env: &Env, expr: &Expr) -> Option<Value> {
        self.ask(|dialect| {
            let mut machine = Machine { dialect, memory: Memory::default() };
            let mut frame = Frame::new(env.clone());
            let made = machine.eval(&mut frame, expr).and_then(|made| machine.json(&made));
            dialect.or_report(made, expr.loc, false)
        })
    }

    fn or_report<T>(&mut self, made: Found<T>, at: Loc, of_function: bool) -> Option<T> {
        let loc = match made {
            Ok(made) => return Some(made),
            Err(Stop::Reported) => return None,
            Err(Stop::TooLarge) => {
                self.too_large(at);
                return None;
            }
            Err(Stop::Beyond(loc)) => loc,
            Err(Stop::Return(_) | Stop::Here) => at,
        };
        if of_function {
            self.beyond_function(loc);
        } else {
            self.unknown_value(loc, "this value");
        }
        None
    }
}

impl Machine<'_, '_, '_> {
    /// The JSON of a value.
    fn json(&self, value: &Val) -> Found<Value> {
        let all = |items: &[Val]| items.iter().map(|item| self.json(item)).collect::<Found<Vec<_>>>();
        match value {
            Val::Json(value) => Ok(value.clone()),
            Val::None => Ok(Value::Null),
            Val::Place(place) => Ok(self.at(place).cloned().unwrap_or_default()),
            Val::List(items) | Val::Tuple(items) => Ok(Value::Array(all(items)?)),
            Val::Named(path, _) => Err(Stop::Beyond(path.loc)),
            Val::Unit | Val::Closure(..) => Err(Stop::Here),
        }
    }

    fn text(&self, value: &Val, loc: Loc) -> Found<String> {
        match self.json(value) {
            Ok(Value::String(text)) => Ok(text),
            _ => Err(Stop::Beyond(loc)),
        }
    }

    fn constant(&mut self, env: &Env, value: &ValueExpr) -> Found<Val> {
        let before = self.dialect.beyond.take();
        let found = self.dialect.ask(|dialect| dialect.quiet(|dialect| dialect.value(env, None, value)));
        let beyond = std::mem::replace(&mut self.dialect.beyond, before);
        found.map(Val::Json).ok_or(Stop::Beyond(beyond.unwrap_or(value.loc)))
    }

    /// Runs a function.
    fn enter(&mut self, env: Env, function: &Function, arguments: Vec<Val>) -> Found<Val> {
        let mut frame = Frame::new(env);
        for (pattern, argument) in function.params.iter().zip(arguments) {
            self.bind(&mut frame, pattern, argument)?;
        }
        match self.block(&mut frame, &function.body) {
            Err(Stop::Return(made)) => Ok(*made),
            made => made,
        }
    }

    fn block(&mut self, frame: &mut Frame, block: &Block) -> Found<Val> {
        let outer = frame.names.len();
        for step in &block.steps {
            match step {
                Step::Expr(expr) => {
                    self.eval(frame, expr)?;
                }
                Step::Let(pattern, value, otherwise) => {
                    let made = self.eval(frame, value)?;
                    if !self.bind(frame, pattern, made)? {
                        let Some(otherwise) = otherwise else { return Err(Stop::Beyond(value.loc)) };
                        self.block(frame, otherwise)?;
                        return Err(Stop::Beyond(value.loc));
                    }
                }
            }
        }
        let made = match &block.result {
            Some(result) => self.eval(frame, result),
            None => Ok(Val::Unit),
        };
        frame.names.truncate(outer);
        made
    }

    fn eval(&mut self, frame: &mut Frame, expr: &Expr) -> Found<Val> {
        if self.dialect.step().is_none() {
            return Err(Stop::Beyond(expr.loc));
        }
        let outer = frame.names.len();
        let made = self.dialect.nested_to(DEPTH_LIMIT, |dialect| {
            let mut machine = Machine { dialect, memory: std::mem::take(&mut self.memory) };
            let made = machine.kind(frame, expr);
            self.memory = machine.memory;
            Some(made)
        });
        frame.names.truncate(outer);
        let made = match made.unwrap_or(Err(Stop::Here)) {
            Err(Stop::Here) => Err(Stop::Beyond(expr.loc)),
            made => made,
        };
        match (made, &expr.constant) {
            (Err(Stop::Beyond(loc)), Some(constant)) => {
                self.constant(&frame.env, constant).map_err(|_| Stop::Beyond(loc))
            }
            (made, _) => made,
        }
    }

    fn all(&mut self, frame: &mut Frame, exprs: &[Expr]) -> Found<Vec<Val>> {
        exprs.iter().map(|expr| self.eval(frame, expr)).collect()
    }

    fn kind(&mut self, frame: &mut Frame, expr: &Expr) -> Found<Val> {
        match &expr.kind {
            Kind::Value(value) => self.constant(&frame.env, value),
            Kind::Text(value) => Ok(Val::Json(value.clone())),
            Kind::Null => Ok(Val::Json(Value::Null)),
            Kind::Path(path) => self.named(frame, path, expr.loc),
            Kind::Field(base, name) => {
                let base = self.eval(frame, base)?;
                let place = self.place(base, expr.loc)?;
                Ok(Val::Place(keywords::field(place, name)))
            }
            Kind::Method(receiver, name, arguments) => {
                let receiver = self.eval(frame, receiver)?;
                let arguments = self.all(frame, arguments)?;
                self.method(frame, receiver, name, arguments, expr.loc)
            }
            Kind::Call(path, arguments) => {
                let arguments = self.all(frame, arguments)?;
                self.call_named(frame, path, arguments, expr.loc)
            }
            Kind::Schema(ty) => {
                let schema = self.dialect.ty(&frame.env, ty).and_then(|ty| self.dialect.schema(&ty));
                schema.map(Val::Json).ok_or(Stop::Reported)
            }
            Kind::RootSchema(ty) => self.root_schema(frame, ty),
            Kind::Struct(path, fields, rest) if keywords::is_struct(path) => {
                self.structure(frame, fields, rest.as_deref())
            }
            Kind::Struct(..) => Err(Stop::Here),
            Kind::List(items) => Ok(Val::List(self.all(frame, items)?)),
            Kind::Tuple(items) if items.is_empty() => Ok(Val::Unit),
            Kind::Tuple(items) => Ok(Val::Tuple(self.all(frame, items)?)),
            Kind::Object(members) => self.object(frame, members),
            Kind::Format(texts, values) => self.format(frame, texts, values),
            Kind::Match(asked, arms) => self.choose(frame, asked, arms),
            Kind::For(pattern, list, body) => {
                let list = self.eval(frame, list)?;
                let outer = frame.names.len();
                for item in self.items(list, expr.loc)? {
                    self.bind(frame, pattern, item)?;
                    self.block(frame, body)?;
                    frame.names.truncate(outer);
                }
                Ok(Val::Unit)
            }
            Kind::Block(block) => self.block(frame, block),
            Kind::Closure(closure) => {
                self.count(frame.names.len())?;
                self.memory.seen.push(frame.clone());
                Ok(Val::Closure(closure.clone(), self.memory.seen.len() - 1))
            }
            Kind::Try(value) => {
                let value = self.eval(frame, value)?;
                // `Err` is treated as `None`.
                if self.is_none(&value) { Err(Stop::Return(Box::new(Val::None))) } else { Ok(value) }
            }
            Kind::Assign(target, value) => {
                let value = self.eval(frame, value)?;
                self.assign(frame, target, value)
            }
            Kind::Return(value) => {
                let made = match value {
                    Some(value) => self.eval(frame, value)?,
                    None => Val::Unit,
                };
                Err(Stop::Return(Box::new(made)))
            }
            Kind::Unknown => Err(Stop::Beyond(expr.loc)),
        }
    }

    /// The root schema of one of Kubernetes' types, by the generator of kube-core: schemars 0.8 holds the schema apart from its
    /// definitions and meta schema (`gen.rs`), version 1 writes all into one.
    fn root_schema(&mut self, frame: &Frame, ty: &TypeExpr) -> Found<Val> {
        let ty = self.dialect.ty(&frame.env, ty).ok_or(Stop::Reported)?;
        let name = match &ty {
            Ty::Known(path, _) if self.dialect.locked.is_schemars_0_8() => openapi_name(path),
            _ => None,
        };
        let name = name.ok_or(Stop::Here)?;
        let mut schema = self.dialect.schema(&ty).ok_or(Stop::Reported)?;
        super::pieces::object(&mut schema).entry("title").or_insert_with(|| name.into());
        Ok(Val::Json(schema))
    }

    fn structure(&mut self, frame: &mut Frame, fields: &[(String, Expr)], rest: Option<&Expr>) -> Found<Val> {
        if let Some((_, unknown)) = fields.iter().find(|(name, _)| !keywords::is_field(name)) {
            return Err(Stop::Beyond(unknown.loc));
        }
        let is_default = |expr: &Expr| match &expr.kind {
            Kind::Call(path, none) => {
                none.is_empty() && path.segments.last().is_some_and(|name| name == "default")
            }
            _ => false,
        };
        let mut made = match rest {
            Some(rest) if !is_default(rest) => {
                let rest = self.eval(frame, rest)?;
                self.json(&rest)?
            }
            _ => Value::Object(Map::new()),
        };
        for (name, value) in fields {
            let value = match self.eval(frame, value)? {
                Val::None => None,
                value => Some(self.json(&value)?),
            };
            keywords::set(&mut made, name, value).ok_or(Stop::Here)?;
        }
        Ok(Val::Json(made))
    }

    fn object(&mut self, frame: &mut Frame, members: &[(ValueExpr, Expr)]) -> Found<Val> {
        let mut out = Map::new();
        for (key, value) in members {
            // A key may be a variable.
            let key = match &key.kind {
                ValueKind::Path(path) => {
                    let key = self.named(frame, path, key.loc)?;
                    self.text(&key, path.loc)?
                }
                _ => self.dialect.text(&frame.env, key).ok_or(Stop::Reported)?,
            };
            let value = self.eval(frame, value)?;
            out.insert(key, self.json(&value)?);
        }
        Ok(Val::Json(Value::Object(out)))
    }

    fn format(&mut self, frame: &mut Frame, texts: &[String], values: &[Expr]) -> Found<Val> {
        let mut out = texts.first().cloned().unwrap_or_default();
        for (value, text) in values.iter().zip(texts.iter().skip(1)) {
            let made = self.eval(frame, value)?;
            match self.json(&made)? {
                Value::String(text) => out.push_str(&text),
                Value::Bool(value) => out.push_str(&value.to_string()),
                Value::Number(number) if !number.is_f64() => out.push_str(&number.to_string()),
                _ => return Err(Stop::Beyond(value.loc)),
            }
            out.push_str(text);
        }
        Ok(Val::Json(Value::String(out)))
    }

    fn choose(&mut self, frame: &mut Frame, asked: &Expr, arms: &[(Pattern, Expr)]) -> Found<Val> {
        let value = self.eval(frame, asked)?;
        for (pattern, result) in arms {
            if self.bind(frame, pattern, value.clone())? {
                return self.eval(frame, result);
            }
        }
        Err(Stop::Beyond(asked.loc))
    }

    fn assign(&mut self, frame: &mut Frame, target: &Expr, value: Val) -> Found<Val> {
        if let Kind::Path(path) = &target.kind
            && let [name] = &path.segments[..]
            && let Some(bound) = frame.variable(name).and_then(|at| self.memory.variables.get_mut(at))
            && !matches!(bound, Val::Place(_))
        {
            *bound = value;
            return Ok(Val::Unit);
        }
        let found = self.eval(frame, target)?;
        let place = self.place(found, target.loc)?;
        let value = match value {
            Val::None => None,
            value => Some(self.json(&value)?),
        };
        self.set(&place, value).ok_or(Stop::Beyond(target.loc))?;
        Ok(Val::Unit)
    }
}
