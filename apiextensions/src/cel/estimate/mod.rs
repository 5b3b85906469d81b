//! The worst cost of an expression, estimated from the sizes that the schema admits. Source: cel-go's cost checker and the
//! cost estimator of Kubernetes.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::ast::{ACCUMULATOR, Ast, Comprehension, Expr, Kind, Literal, NodeId};
use super::checker::Checked;
use super::types::{Decl, Type};
use range::Range;

mod functions;
mod range;

const UNKNOWN: Range = Range { min: 0, max: u64::MAX };

/// The estimate of an expression.
#[derive(Debug)]
pub(super) struct Estimate {
    /// Its greatest cost.
    pub(super) max_cost: u64,
    /// The declared places whose size the cost depends on, sorted.
    pub(super) sized: Vec<Vec<String>>,
}

/// Estimates an expression whose `self` is declared like this.
pub(super) fn estimate(ast: &Ast, checked: &Checked, root: &Decl) -> Estimate {
    let mut estimator = Estimator {
        checked,
        root,
        paths: HashMap::new(),
        locals: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        sized: RefCell::default(),
    };
    let max_cost = estimator.cost(&ast.root).max;
    Estimate { max_cost, sized: estimator.sized.into_inner().into_iter().collect() }
}

/// The sizes of the keys and of the values of a container.
#[derive(Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn union(self, other: Self) -> Self {
        Self { is_list: self.is_list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// A variable that a macro introduced.
#[derive(Clone)]
struct Local {
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Estimator<'a> {
    checked: &'a Checked,
    root: &'a Decl,
    paths: HashMap<NodeId, Vec<String>>,
    locals: HashMap<String, Vec<Local>>,
    sizes: HashMap<NodeId, Range>,
    entries: HashMap<NodeId, Entries>,
    /// The places whose declared size was read.
    sized: RefCell<BTreeSet<Vec<String>>>,
}

struct CallCost {
    cost: Range,
    size: Option<Range>,
}

impl Estimator<'_> {
    fn type_of(&self, expr: &Expr) -> Type {
        self.checked.types.get(&expr.id).cloned().unwrap_or(Type::Dyn)
    }

    fn path(&self, expr: &Expr) -> Vec<String> {
        if let Kind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.get(name).and_then(|stack| stack.last())
    }

    fn push(&mut self, name: &str, local: Local) {
        self.locals.entry(name.to_owned()).or_default().push(local);
    }

    fn pop(&mut self, name: &str) {
        if let Some(stack) = self.locals.get_mut(name) {
            stack.pop();
        }
    }

    fn declared_size(&self, path: &[String]) -> Option<Range> {
        let mut node = self.root;
        let (_, steps) = path.split_first()?;
        for step in steps {
            node = match step.as_str() {
                "@items" | "@values" => node.element.as_deref()?,
                "@keys" => node.key.as_deref()?,
                field => node.fields.get(field)?,
            };
        }
        self.sized.borrow_mut().insert(path.to_vec());
        Some(Range { min: 0, max: node.max_elements })
    }

    fn size(&self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        let own = match &expr.kind {
            Kind::Literal(literal) => Some(literal_size(literal)),
            Kind::List { elements, .. } => u64::try_from(elements.len()).ok(),
            Kind::Map(entries) => u64::try_from(entries.len()).ok(),
            _ => None,
        };
        let own = own.map(Range::fixed).or_else(|| self.declared_size(&self.path(expr)));
        let own = own.or_else(|| is_scalar(&self.type_of(expr)).then_some(Range::fixed(1)));
        own.or_else(|| match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        })
    }

    fn known_size(&self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(UNKNOWN)
    }

    fn entries(&self, expr: &Expr) -> Option<Entries> {
        self.entries.get(&expr.id).copied().or_else(|| match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        })
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
    }

    fn set_entries(&mut self, expr: &Expr, entries: Option<Entries>) {
        if let Some(entries) = entries {
            self.entries.insert(expr.id, entries);
        }
    }

    fn cost(&mut self, expr: &Expr) -> Range {
        match &expr.kind {
            Kind::Literal(_) => Range::fixed(0),
            Kind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => vec![name.clone()],
                };
                self.paths.insert(expr.id, path);
                Range::fixed(1)
            }
            Kind::Select { operand, field, test } => self.select(expr, operand, field, *test),
            Kind::Call { target, function, args } => self.call(expr, target.as_deref(), function, args),
            Kind::List { elements, .. } => {
                let mut sum = Range::fixed(10);
                let mut value: Option<Range> = None;
                for element in elements {
                    sum = sum.add(self.cost(element));
                    let size = self.known_size(element);
                    value = Some(value.map_or(size, |v| v.union(size)));
                }
                let value = value.unwrap_or(Range::fixed(0));
                self.set_entries(expr, Some(Entries { is_list: true, key: Range::fixed(1), value }));
                sum
            }
            Kind::Map(entries) => {
                let mut sum = Range::fixed(30);
                let mut sizes: Option<Entries> = None;
                for entry in entries {
                    sum = sum.add(self.cost(&entry.key)).add(self.cost(&entry.value));
                    let (key, value) = (self.known_size(&entry.key), self.known_size(&entry.value));
                    let one = Entries { is_list: false, key, value };
                    sizes = Some(sizes.map_or(one, |s| s.union(one)));
                }
                let none = Entries { is_list: false, key: Range::fixed(0), value: Range::fixed(0) };
                self.set_entries(expr, Some(sizes.unwrap_or(none)));
                sum
            }
            Kind::Struct { .. } => Range::fixed(40),
            Kind::Comprehension(c) if is_bind(c) => self.bind(expr, c),
            Kind::Comprehension(c) => self.comprehension(expr, c),
        }
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, test: bool) -> Range {
        let sum = self.cost(operand);
        if test {
            return sum;
        }
        let mut path = self.path(operand);
        path.push(field.to_owned());
        self.paths.insert(expr.id, path);
        match self.type_of(operand) {
            Type::Map(..) | Type::Object(_) | Type::Param(_) => sum.add(Range::fixed(1)),
            _ => sum,
        }
    }

    fn bind(&mut self, expr: &Expr, c: &Comprehension) -> Range {
        let sum = self.cost(&c.range).add(self.cost(&c.accu_init));
        self.push_value(&c.accu_var, &c.accu_init);
        let sum = sum.add(self.cost(&c.result));
        self.pop(&c.accu_var);
        let (size, entries) = (self.size(&c.result), self.entries(&c.result));
        self.set_size(expr, size);
        self.set_entries(expr, entries);
        sum
    }

    fn push_value(&mut self, name: &str, value: &Expr) {
        let local = Local { path: self.path(value), size: self.size(value), entries: self.entries(value) };
        self.push(name, local);
    }

    fn comprehension(&mut self, expr: &Expr, c: &Comprehension) -> Range {
        let mut sum = self.cost(&c.range).add(self.cost(&c.accu_init));
        self.push_value(&c.accu_var, &c.accu_init);
        let entries = self.entries(&c.range);
        let is_list = entries.map_or_else(|| matches!(self.type_of(&c.range), Type::List(_)), |e| e.is_list);
        let path = self.path(&c.range);
        let below = |step: &str| {
            let mut path = path.clone();
            path.push(step.to_owned());
            path
        };
        let (key, value) = if is_list { ("@indices", "@items") } else { ("@keys", "@values") };
        let local = |step: &str, size: Option<Range>| Local { path: below(step), size, entries: None };
        let (key_size, value_size) = (entries.map(|e| e.key), entries.map(|e| e.value));
        match &c.var2 {
            Some(var2) => {
                self.push(&c.var, local(key, key_size));
                self.push(var2, local(value, value_size));
            }
            None if is_list => self.push(&c.var, local(value, value_size)),
            None => self.push(&c.var, local(key, key_size)),
        }
        let each = self.cost(&c.condition).add(self.cost(&c.step));
        self.pop(&c.var);
        if let Some(var2) = &c.var2 {
            self.pop(var2);
        }
        sum = sum.add(self.cost(&c.result));
        self.pop(&c.accu_var);
        let count = self.known_size(&c.range);
        match c.accu_init.kind {
            Kind::Literal(_) => {
                let size = self.size(&c.accu_init);
                self.set_size(expr, size);
            }
            Kind::List { .. } | Kind::Map(_) => {
                self.set_size(expr, Some(count));
                let entries = self.entries(&c.step);
                self.set_entries(expr, entries);
            }
            _ => {}
        }
        sum.add(count.times(each))
    }

    fn call(&mut self, expr: &Expr, target: Option<&Expr>, function: &str, args: &[Expr]) -> Range {
        if let ("dyn", [arg]) = (function, args) {
            let cost = self.cost(arg);
            let (size, entries) = (self.size(arg), self.entries(arg));
            self.set_size(expr, size);
            self.set_entries(expr, entries);
            return cost.add(Range::fixed(1));
        }
        let costs: Vec<Range> = args.iter().map(|arg| self.cost(arg)).collect();
        let qualified = self.checked.qualified.get(&expr.id).cloned();
        let (target, function) = match &qualified {
            Some(name) => (None, name.as_str()),
            None => (target, function),
        };
        let overloads = self.checked.overloads.get(&expr.id).cloned().unwrap_or_default();
        if overloads.is_empty() {
            return Range::fixed(0);
        }
        let sum = target.map_or(Range::fixed(0), |target| self.cost(target));
        let mut own: Option<Range> = None;
        let mut size: Option<Range> = None;
        for overload in overloads {
            let call = self.function(expr, function, overload, target, args, &costs);
            own = Some(own.map_or(call.cost, |o| o.union(call.cost)));
            size = match (size, call.size) {
                (Some(a), Some(b)) => Some(a.union(b)),
                (a, b) => a.or(b),
            };
            if let ("index_list" | "index_map", [container, ..]) = (overload, args) {
                size = self.entries(container).map(|e| e.value);
                let mut path = self.path(container);
                path.push(if overload == "index_list" { "@items" } else { "@values" }.to_owned());
                self.paths.insert(expr.id, path);
            }
            size = size.or_else(|| self.size(expr));
        }
        self.set_size(expr, size);
        sum.add(own.unwrap_or(Range::fixed(0)))
    }
}

fn is_bind(c: &Comprehension) -> bool {
    let empty = matches!(&c.range.kind, Kind::List { elements, .. } if elements.is_empty());
    let never = matches!(c.condition.kind, Kind::Literal(Literal::Bool(false)));
    empty && never && c.accu_var != ACCUMULATOR
}

fn literal_size(literal: &Literal) -> u64 {
    let size = match literal {
        Literal::String(text) => text.chars().count(),
        Literal::Bytes(bytes) => bytes.len(),
        _ => 1,
    };
    u64::try_from(size).unwrap_or(u64::MAX)
}

fn is_scalar(type_: &Type) -> bool {
    match type_ {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}
