//! Decides from the syntax whether one rule implies another.

use super::ast::{Comprehension, Entry, Expr, FieldInit, Kind, Literal};
use super::known::{Known, simplified};
use super::parser;

/// The relation of two rules for the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both rules accept the same values.
    Same,
    /// The new rule accepts nothing that the old one refuses.
    Tighter,
    /// The new rule accepts everything that the old one accepts.
    Looser,
    /// Unknown.
    Unclear,
}

/// Compares two rules by their structure: conjunctions, disjunctions, and comparisons with a literal. The result holds for
/// every value, also where an operand fails.
#[must_use]
pub fn relation(old: &str, new: &str) -> Relation {
    let (Ok(old), Ok(new)) = (parser::parse(old), parser::parse(new)) else { return Relation::Unclear };
    let (old, new) = (bare(&old.root), bare(&new.root));
    let mut steps = MAX_STEPS;
    let tighter = implies(&new, &old, &mut steps);
    let looser = implies(&old, &new, &mut steps);
    match (tighter, looser) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Tighter,
        (false, true) => Relation::Looser,
        (false, false) => Relation::Unclear,
    }
}

/// Reports whether a rule accepts everything that other rules of the place accept together, given facts about fields of
/// `self`; `false` if in doubt.
#[must_use]
pub fn follows(rule: &str, from: &[&str], known: &dyn Fn(&str) -> Option<Known>) -> bool {
    let parse = |source: &str| parser::parse(source).ok().map(|ast| bare(&ast.root));
    let call = |args| Kind::Call { target: None, function: "_&&_".to_owned(), args };
    let both = |left: Expr, right: Expr| Expr { id: 0, kind: call(vec![left, right]) };
    let all = from.iter().filter_map(|source| parse(source)).reduce(both);
    let all = all.unwrap_or(Expr { id: 0, kind: Kind::Literal(Literal::Bool(true)) });
    parse(rule).is_some_and(|rule| implies(&all, &simplified(&rule, known), &mut { MAX_STEPS }))
}

/// Reports whether an expression uses a variable such as `oldSelf`; `false` if the expression is malformed.
#[must_use]
pub fn mentions(source: &str, variable: &str) -> bool {
    fn walk(expr: &Expr, variable: &str) -> bool {
        matches!(&expr.kind, Kind::Ident(name) if name == variable)
            || expr.children().into_iter().any(|child| walk(child, variable))
    }
    parser::parse(source).is_ok_and(|ast| walk(&ast.root, variable))
}

/// The limit of compared pairs of parts, since two expressions can be decomposed in many orders.
const MAX_STEPS: usize = 20_000;

/// Reports whether `b` is true whenever `a` is.
fn implies(a: &Expr, b: &Expr, steps: &mut usize) -> bool {
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    if a == b || b.kind == Kind::Literal(Literal::Bool(true)) || is_stricter(a, b) {
        return true;
    }
    if has_stricter_parts(a, b, steps) {
        return true;
    }
    if let Some([left, right]) = operands(b, "_&&_") {
        return implies(a, left, steps) && implies(a, right, steps);
    }
    if let Some([left, right]) = operands(a, "_||_") {
        return implies(left, b, steps) && implies(right, b, steps);
    }
    let by_part =
        operands(a, "_&&_").is_some_and(|[left, right]| implies(left, b, steps) || implies(right, b, steps));
    by_part
        || operands(b, "_||_")
            .is_some_and(|[left, right]| implies(a, left, steps) || implies(a, right, steps))
}

/// Reports whether both are conditionals with the same condition, or folds over the same list, and `a` is stricter
/// inside.
fn has_stricter_parts(a: &Expr, b: &Expr, steps: &mut usize) -> bool {
    if let (Some([condition, yes, no]), Some([other, allowed, otherwise])) =
        (operands(a, "_?_:_"), operands(b, "_?_:_"))
    {
        return condition == other && implies(yes, allowed, steps) && implies(no, otherwise, steps);
    }
    let (Kind::Comprehension(a), Kind::Comprehension(b)) = (&a.kind, &b.kind) else { return false };
    let frame = |fold: &Comprehension| Comprehension { step: fold.accu_init.clone(), ..fold.clone() };
    if frame(a) != frame(b) {
        return false;
    }
    // `all` and `exists`: the accumulator, and the predicate of the next item.
    ["_&&_", "_||_"].into_iter().any(|operator| {
        match (operands(&a.step, operator), operands(&b.step, operator)) {
            (Some([so_far, one]), Some([found, other])) => {
                so_far == found
                    && matches!(&so_far.kind, Kind::Ident(name) if *name == a.accu_var)
                    && implies(one, other, steps)
            }
            _ => false,
        }
    })
}

pub(super) fn operands<'e, const N: usize>(expr: &'e Expr, operator: &str) -> Option<[&'e Expr; N]> {
    match &expr.kind {
        Kind::Call { target: None, function, args } if function == operator => {
            args.iter().collect::<Vec<_>>().try_into().ok()
        }
        _ => None,
    }
}

/// Reports whether both compare the same operand with a literal, and every value that passes `a` passes `b`.
fn is_stricter(a: &Expr, b: &Expr) -> bool {
    let literal = |expr: &Expr| match &expr.kind {
        Kind::Literal(Literal::Int(value)) => Some(*value),
        _ => None,
    };
    for operator in ["_<=_", "_<_"] {
        let (Some([left, right]), Some([lower, upper])) = (operands(a, operator), operands(b, operator))
        else {
            continue;
        };
        return match (literal(left), literal(right), literal(lower), literal(upper)) {
            (_, Some(bound), _, Some(limit)) => left == lower && bound <= limit,
            (Some(bound), _, Some(limit), _) => right == upper && bound >= limit,
            _ => false,
        };
    }
    false
}

/// A comparison in normal form: the greater operand, or the literal of an equality, on the right.
fn upright(function: &str, mut args: Vec<Expr>) -> (String, Vec<Expr>) {
    let is_literal = |expr: Option<&Expr>| matches!(expr.map(|expr| &expr.kind), Some(Kind::Literal(_)));
    let mirrored = match function {
        "_>_" => "_<_",
        "_>=_" => "_<=_",
        "_==_" | "_!=_" if is_literal(args.first()) && !is_literal(args.get(1)) => function,
        _ => return (function.to_owned(), args),
    };
    args.reverse();
    (mirrored.to_owned(), args)
}

/// The expression without node numbers and with comparisons in normal form.
fn bare(expr: &Expr) -> Expr {
    let boxed = |expr: &Expr| Box::new(bare(expr));
    let all = |list: &[Expr]| list.iter().map(bare).collect();
    let kind = match &expr.kind {
        Kind::Literal(_) | Kind::Ident(_) => expr.kind.clone(),
        Kind::Select { operand, field, test } => {
            Kind::Select { operand: boxed(operand), field: field.clone(), test: *test }
        }
        Kind::Call { target, function, args } => {
            let (function, args) = upright(function, all(args));
            Kind::Call { target: target.as_deref().map(boxed), function, args }
        }
        Kind::List { elements, optional } => {
            Kind::List { elements: all(elements), optional: optional.clone() }
        }
        Kind::Map(entries) => {
            let entry = |e: &Entry| Entry { key: bare(&e.key), value: bare(&e.value), optional: e.optional };
            Kind::Map(entries.iter().map(entry).collect())
        }
        Kind::Struct { name, fields } => Kind::Struct {
            name: name.clone(),
            fields: fields.iter().map(|f| FieldInit { id: 0, value: bare(&f.value), ..f.clone() }).collect(),
        },
        Kind::Comprehension(fold) => {
            let mut fold = fold.clone();
            let Comprehension { range, accu_init, condition, step, result, .. } = &mut *fold;
            for part in [range, accu_init, condition, step, result] {
                *part = bare(part);
            }
            Kind::Comprehension(fold)
        }
    };
    Expr { id: 0, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relation_of_rules_follows_from_their_operands() {
        use Relation::{Looser, Same, Tighter, Unclear};
        for (old, new, wanted) in [
            ("self.a > 1", "self.a  >  1", Same),
            ("self.a && self.b", "self.b && (self.a)", Same),
            ("self.a", "self.a && self.b", Tighter),
            ("self.a && self.b && self.c", "self.c && self.a", Looser),
            ("self.a", "self.a || self.b", Looser),
            ("!has(self.x) || self.x <= 10", "!has(self.x) || self.x <= 5", Tighter),
            ("self.x <= 10", "self.x <= 20", Looser),
            ("self.x >= 10", "self.x >= 20", Tighter),
            ("self.x >= 10", "self.x > 10", Unclear),
            ("self.x <= 10", "self.y <= 5", Unclear),
            ("self.all(x, x > 1)", "self.all(x, x > 1) && size(self) > 2", Tighter),
            ("self.a", "self.", Unclear),
            ("self > 5", "5 < self", Same),
            ("self.a >= self.b", "self.b <= self.a", Same),
            ("'x' == self", "self == 'x'", Same),
            ("5 < self", "self > 6", Tighter),
            ("self.x < 5", "4 > self.x", Tighter),
            ("5 < self", "self < 5", Unclear),
            ("1 < 2", "3 < 4", Unclear),
            ("self.a ? self.b : true", "self.a ? self.b || self.c : true", Looser),
            ("self.a ? self.b : true", "self.x ? self.b || self.c : true", Unclear),
            ("self.all(x, x.a)", "self.all(x, x.a && x.b)", Tighter),
            ("self.exists(x, x.a)", "self.exists(x, x.a || x.b)", Looser),
            ("self.all(x, x.a)", "self.exists(x, x.a)", Unclear),
            ("self.exists_one(x, x.a)", "self.exists_one(x, x.a || x.b)", Unclear),
        ] {
            assert_eq!(relation(old, new), wanted, "{old} -> {new}");
        }
        assert!(
            mentions("self.all(x, x in oldSelf)", "oldSelf") && !mentions("self == 'oldSelf'", "oldSelf")
        );
    }

    #[test]
    fn rule_may_follow_from_several_rules() {
        let follows = |rule: &str, from: &[&str]| follows(rule, from, &|_| None);
        assert!(follows("self.a && self.b > 1", &["self.b > 1", "self.c", "self.a"]));
        assert!(follows("self.b", &["self.a && self.b"]) && follows("true", &[]));
        assert!(!follows("self.a && self.b", &["self.a"]) && !follows("self.a", &[]));
        assert!(!follows("self.", &["self.a"]) && !follows("self.a", &["self."]));
    }

    #[test]
    fn rule_is_implied_when_its_fields_have_known_values() {
        let known = |name: &str| match name {
            "new" | "newer" => Some(Known::Absent),
            "mode" => Some(Known::Is("fast".into())),
            _ => None,
        };
        for rule in [
            "!(has(self.new) && has(self.newer))",
            "has(self.new) ? self.new > self.a : true",
            "!has(self.new) || self.new.x in self.y",
            "self.mode == 'fast' || has(self.a)",
            "has(self.mode) && 'slow' != self.mode",
            "self.old && (!has(self.new) || has(self.a))",
        ] {
            assert!(follows(rule, &["self.old"], &known), "{rule}");
        }
        for rule in [
            "has(self.new)",
            "has(self.new) || has(self.a)",
            "has(self.a) ? true : true",
            "self.mode == 'slow'",
            "self.new == 1 || true",
            "!has(self.new.x)",
            "self.all(x, !has(x.new))",
        ] {
            let is_true = rule == "self.new == 1 || true";
            assert_eq!(follows(rule, &["self.old"], &known), is_true, "{rule}");
        }
    }

    #[test]
    fn relation_of_deeply_nested_rules_terminates() {
        let nested = (0..40).fold("self.a".to_owned(), |inner, at| {
            let (one, two) = if at % 2 == 0 { ("&&", "||") } else { ("||", "&&") };
            format!("(({inner} {one} self.b{at}) {two} self.c{at})")
        });
        let _ = relation(&nested, &nested.replace("self.a", "self.z"));
    }
}
