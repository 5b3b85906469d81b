//! The costs of calls by function and overload. Source: cel-go's cost checker and the cost estimator of Kubernetes.

use super::range::Range;
use super::{CallCost, Estimator, UNKNOWN};
use crate::cel::ast::{ACCUMULATOR, Expr, Kind, Literal};
use crate::cel::eval::LIST_COST;
use crate::cel::types::Type;

/// The greatest length of a named format.
const MAX_FORMAT_SIZE: u64 = 64;
const TRAVERSAL: f64 = 0.1;
const REGEX: f64 = 0.25;
/// The assumed length of a named format's expression.
const FORMAT_REGEX: f64 = 128.0 * REGEX;

/// Returns the value of a literal, at least zero, or `other` for any other expression.
fn literal_or(expr: &Expr, other: u64) -> u64 {
    match &expr.kind {
        Kind::Literal(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => other,
    }
}

impl Estimator<'_> {
    pub(super) fn function(
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

    /// cel-go's libraries of lists and sets. Creating a list costs its size, and sorting the square of it.
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
