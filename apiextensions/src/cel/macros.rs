//! Macros, expanded while parsing: `has`, `all`, `exists`, `exists_one`, `map`, `filter`, their forms with two
//! variables, `optMap`, `optFlatMap` and `sortBy`.

use super::ast::{ACCUMULATOR, Comprehension, Expr, Kind, Literal};
use super::parser::Parser;

/// The expansion of a call without a receiver.
pub(super) enum Expansion {
    Done(Expr),
    /// Not a macro; returns the arguments.
    None(Vec<Expr>),
    Fault,
}

/// The expansion of a call with a receiver.
pub(super) enum MemberExpansion {
    Done(Expr),
    None(Expr, Vec<Expr>),
    Fault,
}

pub(super) fn global(parser: &mut Parser, at: usize, name: &str, mut args: Vec<Expr>) -> Expansion {
    if name != "has" || args.len() != 1 {
        return Expansion::None(args);
    }
    let of_argument = args.first().map_or(at, |arg| parser.position(arg));
    match args.pop().map(|arg| arg.kind) {
        Some(Kind::Select { operand, field, test: false }) => {
            Expansion::Done(parser.node(at, Kind::Select { operand, field, test: true }))
        }
        _ => {
            parser.issue(of_argument, "invalid argument to has() macro");
            Expansion::Fault
        }
    }
}

pub(super) fn member(
    parser: &mut Parser,
    at: usize,
    target: Expr,
    name: &str,
    args: Vec<Expr>,
) -> MemberExpansion {
    let mut build = Build { parser, at };
    let expanded = match (name, args.len()) {
        ("all" | "exists" | "exists_one" | "map" | "filter", 2) => build.one(name, target, args),
        ("map", 3) => build.one(name, target, args),
        ("all" | "exists" | "exists_one" | "existsOne", 3)
        | ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => build.two(name, target, args),
        ("optMap" | "optFlatMap", 2) => build.optional(name, target, args),
        ("sortBy", 2) => build.sort_by(target, args),
        _ => return MemberExpansion::None(target, args),
    };
    expanded.map_or(MemberExpansion::Fault, MemberExpansion::Done)
}

/// Reports whether a name is the accumulator's, the current or the former one.
fn is_accumulator(name: &str) -> bool {
    name == ACCUMULATOR || name == "__result__"
}

struct Build<'p> {
    parser: &'p mut Parser,
    at: usize,
}

/// The parts of a fold that depend on the macro.
struct Fold {
    init: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

impl Build<'_> {
    fn literal(&mut self, literal: Literal) -> Expr {
        self.parser.node(self.at, Kind::Literal(literal))
    }

    fn bool(&mut self, value: bool) -> Expr {
        self.literal(Literal::Bool(value))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.parser.node(self.at, Kind::Ident(name.to_owned()))
    }

    fn accu(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.parser.call(self.at, function, args)
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.parser.node(self.at, Kind::List { elements, optional: Vec::new() })
    }

    /// The name of a variable that a macro introduces.
    fn variable(&mut self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            Kind::Ident(name) if !is_accumulator(name) && !name.starts_with('.') => Some(name.clone()),
            Kind::Ident(_) => {
                let at = self.parser.position(expr);
                self.parser.issue(at, "iteration variable overwrites accumulator variable");
                None
            }
            _ => {
                let at = self.parser.position(expr);
                self.parser.issue(at, "argument must be a simple name");
                None
            }
        }
    }

    fn fold(&mut self, range: Expr, var: String, var2: Option<String>, fold: Fold) -> Expr {
        let comprehension = Comprehension {
            range,
            var,
            var2,
            accu_var: ACCUMULATOR.to_owned(),
            accu_init: fold.init,
            condition: fold.condition,
            step: fold.step,
            result: fold.result,
        };
        self.parser.node(self.at, Kind::Comprehension(Box::new(comprehension)))
    }

    fn quantifier(&mut self, name: &str, predicate: Expr) -> Fold {
        let (init, negate, join) = match name {
            "all" => (true, false, "_&&_"),
            "exists" => (false, true, "_||_"),
            _ => return self.exactly_one(predicate),
        };
        let init = self.bool(init);
        let mut condition = self.accu();
        if negate {
            condition = self.call("!_", vec![condition]);
        }
        let condition = self.call("@not_strictly_false", vec![condition]);
        let accu = self.accu();
        let step = self.call(join, vec![accu, predicate]);
        Fold { init, condition, step, result: self.accu() }
    }

    fn exactly_one(&mut self, predicate: Expr) -> Fold {
        let init = self.literal(Literal::Int(0));
        let condition = self.bool(true);
        let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
        let more = self.call("_+_", vec![accu, one]);
        let same = self.accu();
        let step = self.call("_?_:_", vec![predicate, more, same]);
        let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
        let result = self.call("_==_", vec![accu, one]);
        Fold { init, condition, step, result }
    }

    /// Appends `element` for each item that passes the filter.
    fn collect(&mut self, filter: Option<Expr>, element: Expr) -> Fold {
        let init = self.list(Vec::new());
        let element = self.list(vec![element]);
        let accu = self.accu();
        let step = self.call("_+_", vec![accu, element]);
        self.gather(init, filter, step)
    }

    fn gather(&mut self, init: Expr, filter: Option<Expr>, step: Expr) -> Fold {
        let condition = self.bool(true);
        let step = match filter {
            None => step,
            Some(filter) => {
                let same = self.accu();
                self.call("_?_:_", vec![filter, step, same])
            }
        };
        Fold { init, condition, step, result: self.accu() }
    }

    fn one(&mut self, name: &str, target: Expr, args: Vec<Expr>) -> Option<Expr> {
        let mut args = args.into_iter();
        let variable = args.next()?;
        let var = self.variable(&variable)?;
        let second = args.next()?;
        let fold = match name {
            "map" => match args.next() {
                Some(element) => self.collect(Some(second), element),
                None => self.collect(None, second),
            },
            "filter" => {
                let item = self.ident(&var);
                self.collect(Some(second), item)
            }
            _ => self.quantifier(name, second),
        };
        Some(self.fold(target, var, None, fold))
    }

    fn two(&mut self, name: &str, target: Expr, args: Vec<Expr>) -> Option<Expr> {
        let mut args = args.into_iter();
        let (first, second) = (args.next()?, args.next()?);
        let var = self.variable(&first)?;
        let var2 = self.variable(&second)?;
        if var == var2 {
            let at = self.parser.position(&second);
            self.parser.issue(at, format!("duplicate variable name: {var}"));
            return None;
        }
        let third = args.next()?;
        let (filter, body) = match args.next() {
            Some(body) => (Some(third), body),
            None => (None, third),
        };
        let fold = match name {
            "transformList" => self.collect(filter, body),
            "transformMap" => {
                let (accu, key) = (self.accu(), self.ident(&var));
                let step = self.call("cel.@mapInsert", vec![accu, key, body]);
                let init = self.parser.node(self.at, Kind::Map(Vec::new()));
                self.gather(init, filter, step)
            }
            "transformMapEntry" => {
                let accu = self.accu();
                let step = self.call("cel.@mapInsert", vec![accu, body]);
                let init = self.parser.node(self.at, Kind::Map(Vec::new()));
                self.gather(init, filter, step)
            }
            _ => self.quantifier(name, body),
        };
        Some(self.fold(target, var, Some(var2), fold))
    }

    /// Binds a name to a value: a fold over nothing.
    fn bind(&mut self, var: &str, value: Expr, body: Expr) -> Expr {
        let comprehension = Comprehension {
            range: self.list(Vec::new()),
            var: "#unused".to_owned(),
            var2: None,
            accu_var: var.to_owned(),
            accu_init: value,
            condition: self.bool(false),
            step: self.ident(var),
            result: body,
        };
        self.parser.node(self.at, Kind::Comprehension(Box::new(comprehension)))
    }

    fn member_call(&mut self, target: Expr, function: &str, args: Vec<Expr>) -> Expr {
        let kind = Kind::Call { target: Some(Box::new(target)), function: function.to_owned(), args };
        self.parser.node(self.at, kind)
    }

    /// Copies a tree with new node numbers.
    fn copy(&mut self, expr: &Expr) -> Expr {
        let mut copied = expr.clone();
        self.renumber(&mut copied);
        copied
    }

    fn renumber(&mut self, expr: &mut Expr) {
        let position = self.parser.position(expr);
        expr.id = self.parser.node(position, Kind::Literal(Literal::Null)).id;
        match &mut expr.kind {
            Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select { operand, .. } => self.renumber(operand),
            Kind::Call { target, args, .. } => {
                target.iter_mut().for_each(|t| self.renumber(t));
                args.iter_mut().for_each(|a| self.renumber(a));
            }
            Kind::List { elements, .. } => elements.iter_mut().for_each(|e| self.renumber(e)),
            Kind::Map(entries) => entries.iter_mut().for_each(|e| {
                self.renumber(&mut e.key);
                self.renumber(&mut e.value);
            }),
            Kind::Struct { fields, .. } => {
                fields.iter_mut().for_each(|field| self.renumber(&mut field.value));
            }
            Kind::Comprehension(c) => {
                for part in [&mut c.range, &mut c.accu_init, &mut c.condition, &mut c.step, &mut c.result] {
                    self.renumber(part);
                }
            }
        }
    }

    fn optional(&mut self, name: &str, target: Expr, args: Vec<Expr>) -> Option<Expr> {
        let mut args = args.into_iter();
        let variable = args.next()?;
        let var = self.variable(&variable)?;
        let body = args.next()?;
        let again = self.copy(&target);
        let has = self.member_call(target, "hasValue", Vec::new());
        let value = self.member_call(again, "value", Vec::new());
        let mut bound = self.bind(&var, value, body);
        if name == "optMap" {
            bound = self.call("optional.of", vec![bound]);
        }
        let none = self.call("optional.none", Vec::new());
        Some(self.call("_?_:_", vec![has, bound, none]))
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Option<Expr> {
        const INPUT: &str = "@__sortBy_input__";
        let mut args = args.into_iter();
        let variable = args.next()?;
        let var = self.variable(&variable)?;
        let body = args.next()?;
        let input = self.ident(INPUT);
        let fold = self.collect(None, body);
        let keys = self.fold(input, var, None, fold);
        let list = self.ident(INPUT);
        let sorted = self.member_call(list, "@sortByAssociatedKeys", vec![keys]);
        Some(self.bind(INPUT, target, sorted))
    }
}
