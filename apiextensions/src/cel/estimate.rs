//! The worst cost of an expression, estimated from the sizes that the schema admits. Source: cel-go's cost checker and the
//! cost estimator of Kubernetes.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::ast::{ACCUMULATOR, Ast, Comprehension, Expr, Kind, Literal, NodeId};
use super::checker::Checked;
use super::eval::LIST_COST;
use super::types::{Decl, Type};

/// A range of sizes or costs. Arithmetic saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

/// How long a named format is at most.
const MAX_FORMAT_SIZE: u64 = 64;
const UNKNOWN: Range = Range { min: 0, max: u64::MAX };
const TRAVERSAL: f64 = 0.1;
const REGEX: f64 = 0.25;
/// What the check of a named format counts as its expression's length.
const FORMAT_REGEX: f64 = 128.0 * REGEX;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate and estimates are rounded up"
)]
fn scale(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).ceil() as u64
}

impl Range {
    const fn fixed(value: u64) -> Self {
        Self { min: value, max: value }
    }

    fn add(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    fn by(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// The value of a literal, but nothing below zero; something else for any other expression.
fn literal_or(expr: &Expr, other: u64) -> u64 {
    match &expr.kind {
        Kind::Literal(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => other,
    }
}

/// What was estimated for an expression.
#[derive(Debug)]
pub(super) struct Estimate {
    /// Its greatest cost.
    pub(super) max_cost: u64,
    /// The declared places whose size was looked at, sorted.
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
    /// Filled where sizes are read.
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

    fn function(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: &str,
        target: Option<&Expr>,
        args: &[Expr],
        costs: &[Range],
    ) -> CallCost {
        let sum = costs.iter().fold(Range::fixed(0), |sum, cost| sum.add(*cost));
        if let Some(own) = self.extension(function, overload, target, args) {
            return CallCost { cost: own.cost.add(sum), size: own.size };
        }
        let plain = |cost: Range| CallCost { cost: cost.add(sum), size: None };
        match (overload, target, args) {
            ("string_to_bytes", _, [arg]) => {
                let size = self.known_size(arg);
                let bytes = Range { min: size.min, max: size.max.saturating_mul(4) };
                CallCost { cost: size.by(TRAVERSAL).add(sum), size: Some(bytes) }
            }
            ("bytes_to_string", _, [arg]) => {
                let size = self.known_size(arg);
                CallCost {
                    cost: size.by(TRAVERSAL).add(sum),
                    size: Some(Range { min: size.min / 4, max: size.max }),
                }
            }
            ("strings_quote", _, [arg]) => plain(self.known_size(arg).by(TRAVERSAL)),
            ("string_format", Some(target), _) => plain(self.known_size(target).by(TRAVERSAL)),
            ("starts_with_string" | "ends_with_string", _, [arg]) => {
                plain(self.known_size(arg).by(TRAVERSAL))
            }
            ("in_list", _, [_, list]) => plain(self.known_size(list)),
            ("matches_string", Some(target), [regex]) => {
                let text = self.known_size(target).add(Range::fixed(1)).by(TRAVERSAL);
                plain(text.times(self.known_size(regex).by(REGEX)))
            }
            ("contains_string", Some(target), [part]) => {
                plain(self.known_size(target).by(TRAVERSAL).times(self.known_size(part).by(TRAVERSAL)))
            }
            ("logical_and" | "logical_or", _, [_, _]) => {
                let cost = Range { min: costs[0].min, max: costs[0].add(costs[1]).max };
                CallCost { cost, size: None }
            }
            ("conditional", _, [_, yes, no]) => {
                let size = self.known_size(yes).union(self.known_size(no));
                if let (Some(a), Some(b)) = (self.entries(yes), self.entries(no)) {
                    self.set_entries(expr, Some(a.union(b)));
                }
                CallCost { cost: costs[0].add(costs[1].union(costs[2])), size: Some(size) }
            }
            ("add_string" | "add_bytes" | "add_list", _, [a, b]) => {
                let size = self.known_size(a).add(self.known_size(b));
                if let (Some(x), Some(y)) = (self.entries(a), self.entries(b)) {
                    self.set_entries(expr, Some(x.union(y)));
                }
                let cost = if overload == "add_list" { Range::fixed(1) } else { size.by(TRAVERSAL) };
                CallCost { cost: cost.add(sum), size: Some(size) }
            }
            (_, _, [a, b]) if is_comparison(overload) => {
                let max = self.known_size(a).max.min(self.known_size(b).max);
                plain(Range { min: u64::from(max > 0), max }.by(TRAVERSAL))
            }
            _ => plain(Range::fixed(1)),
        }
    }

    /// Functions of Kubernetes and of string and list extensions.
    fn extension(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Expr>,
        args: &[Expr],
    ) -> Option<CallCost> {
        let plain = |cost: Range| Some(CallCost { cost, size: None });
        let target_size = || target.map(|target| self.known_size(target));
        let first = || args.first().map(|arg| self.known_size(arg));
        if let Some(cost) = self.of_lists(function, overload, target, args) {
            return Some(cost);
        }
        match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
                let target = target?;
                plain(match self.item_cost(target) {
                    Some(item) => self.known_size(target).times(item),
                    None => self.known_size(target).by(TRAVERSAL),
                })
            }
            "url" => first().map(|size| CallCost { cost: size.by(TRAVERSAL), size: Some(size) }),
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                target_size().map(|size| CallCost { cost: size.by(TRAVERSAL), size: Some(size) })
            }
            "replace" => {
                let size = target_size()?;
                Some(CallCost { cost: size.by(2.0 * TRAVERSAL), size: Some(self.replaced(size, args)?) })
            }
            "split" => {
                let size = target_size()?;
                let max = match args.get(1).map(|arg| &arg.kind) {
                    Some(Kind::Literal(Literal::Int(i))) => u64::try_from(*i).unwrap_or(u64::MAX),
                    _ => size.max,
                };
                Some(CallCost { cost: size.by(2.0 * TRAVERSAL), size: Some(Range { min: 0, max }) })
            }
            "join" => {
                let size = self.joined(target?, args);
                Some(CallCost { cost: size.by(TRAVERSAL), size: Some(size) })
            }
            "find" | "findAll" => {
                let size = target_size()?;
                let cost = size.add(Range::fixed(1)).by(TRAVERSAL).times(first()?.by(REGEX));
                Some(CallCost { cost, size: Some(Range { min: 0, max: size.max }) })
            }
            "ip" if overload == "cidr_ip" => plain(Range::fixed(1)),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                plain(first()?.by(TRAVERSAL))
            }
            "ip.isCanonical" => plain(first()?.by(2.0 * TRAVERSAL)),
            "containsIP" | "containsCIDR" => {
                let bytes = Range { min: 4, max: 16 };
                let mut cost = bytes.add(bytes).by(TRAVERSAL);
                if function == "containsCIDR" {
                    cost = cost.add(bytes.by(TRAVERSAL)).add(Range::fixed(1));
                }
                if overload.ends_with("_string") {
                    cost = cost.add(first()?.by(TRAVERSAL));
                }
                plain(cost)
            }
            "validate" => plain(first()?.by(TRAVERSAL).by(FORMAT_REGEX)),
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery" => plain(Range::fixed(1)),
            "_==_" => match args {
                [a, b] if matches!((self.type_of(a), self.type_of(b)), (Type::Opaque(x), Type::Opaque(y)) if x == y) =>
                {
                    let max = match self.type_of(b) {
                        Type::Opaque("kubernetes.URL") => self.size(b).map_or(1, |size| size.max),
                        Type::Opaque("kubernetes.NamedFormat") => MAX_FORMAT_SIZE,
                        _ => return plain(Range::fixed(1)),
                    };
                    plain(Range { min: 1, max }.by(TRAVERSAL))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// cel-go's libraries of lists and sets. What makes a list costs its size, and sorting the square of it.
    fn of_lists(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Expr>,
        args: &[Expr],
    ) -> Option<CallCost> {
        let allocating = |factor: f64, size: Range| {
            let cost = size.by(factor).add(Range::fixed(1 + LIST_COST));
            Some(CallCost { cost, size: Some(size) })
        };
        let size = |expr: Option<&Expr>| expr.map_or(UNKNOWN, |expr| self.known_size(expr));
        let squared = |expr| size(expr).times(size(expr));
        let text = overload.starts_with("list_string") || overload.starts_with("list_bytes");
        let by_order = if text { 2.0 + TRAVERSAL } else { 2.0 };
        match (function, args) {
            ("slice", [start, end]) => {
                let end = literal_or(end, size(target).max);
                allocating(1.0, Range::fixed(end.wrapping_sub(literal_or(start, 0))))
            }
            ("lists.range", [count]) => allocating(1.0, Range::fixed(literal_or(count, u64::MAX))),
            ("reverse", []) => allocating(1.0, size(target)),
            ("flatten", depth) => {
                let depth = depth.first().map_or(1, |depth| literal_or(depth, u64::MAX));
                #[expect(clippy::cast_precision_loss, reason = "an estimate")]
                allocating(depth as f64, size(target))
            }
            ("distinct", []) => allocating(2.0, squared(target)),
            ("sort", []) => allocating(by_order, squared(target)),
            ("@sortByAssociatedKeys", [keys]) => allocating(by_order, squared(Some(keys))),
            ("sets.contains" | "sets.intersects" | "sets.equivalent", [a, b]) => {
                let factor = if function == "sets.equivalent" { 2.0 } else { 1.0 };
                let cost = size(Some(a)).times(size(Some(b))).by(factor).add(Range::fixed(1));
                Some(CallCost { cost, size: None })
            }
            _ => None,
        }
    }

    fn item_cost(&self, list: &Expr) -> Option<Range> {
        let Type::List(item) = self.type_of(list) else { return None };
        let mut cost = Range::fixed(1);
        if matches!(*item, Type::String | Type::Bytes) {
            cost = cost.add(self.item_size(list).by(TRAVERSAL));
        }
        Some(cost)
    }

    fn item_size(&self, list: &Expr) -> Range {
        let mut path = self.path(list);
        if path.first().is_none_or(|root| root == ACCUMULATOR) {
            return UNKNOWN;
        }
        path.push("@items".to_owned());
        self.declared_size(&path).unwrap_or(UNKNOWN)
    }

    fn joined(&self, list: &Expr, args: &[Expr]) -> Range {
        let count = self.known_size(list);
        let mut size = count.times(self.item_size(list));
        if let Some(separator) = args.first() {
            let gaps = Range { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
            size = size.add(self.known_size(separator).times(gaps));
        }
        size
    }

    fn replaced(&self, size: Range, args: &[Expr]) -> Option<Range> {
        let (old, new) = (self.known_size(args.first()?), self.known_size(args.get(1)?));
        let (count_max, kept_max) = match old.min {
            0 => (size.max.saturating_add(1), size.max),
            min if new.max <= min => (0, size.max),
            min => (size.max.div_ceil(min), 0),
        };
        let (count_min, kept_min) = match old.max {
            0 => (size.min.saturating_add(1), size.min),
            max if max <= new.min => (0, size.min),
            max => (size.min.div_ceil(max), 0),
        };
        let count = Range { min: count_min, max: count_max };
        Some(count.times(new).add(Range { min: kept_min, max: kept_max }))
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

fn is_comparison(overload: &str) -> bool {
    matches!(
        overload,
        "equals"
            | "not_equals"
            | "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
    )
}
