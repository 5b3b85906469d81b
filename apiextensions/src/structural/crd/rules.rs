//! The rules of a schema: checks that they compile, and that they are cheap enough.

use crate::cel::{CompiledRule, Decl, RuleError, compile_rule, max_cardinality};
use crate::schema::{Additional, Rule, Schema};
use crate::structural::cause::{Cause, CauseKind};
use crate::structural::{Path, golang};

/// The cost limit of one rule. Source: StaticEstimatedCostLimit of the API server.
pub const RULE_LIMIT: u64 = 10_000_000;
/// The cost limit of all rules of a schema. Source: StaticEstimatedCRDCostLimit of the API server.
pub const TOTAL_LIMIT: u64 = 100_000_000;
/// The number of the most expensive rules that are named.
const NAMED: usize = 4;

/// Formats a rule as the server does in refusals: a Go structure written as JSON.
fn go_json(rule: &Rule) -> String {
    let string = golang::json_string;
    let text = |text: &Option<String>| string(text.as_deref().unwrap_or_default());
    let reason = rule.reason.as_deref().map_or("null".to_owned(), string);
    let optional = rule.optional_old_self.map_or("null".to_owned(), |b| b.to_string());
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{reason},\"FieldPath\":{},\"OptionalOldSelf\":{optional}}}",
        string(&rule.rule),
        text(&rule.message),
        text(&rule.message_expression),
        text(&rule.field_path),
    )
}

/// The number of a place's occurrences in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cardinality {
    /// At most this number.
    Times(u64),
    /// No limit but the size of a request.
    Unbounded,
}

impl Cardinality {
    /// The cardinality of the parts of a list, map or object.
    pub(super) fn below(self, schema: &Schema) -> Self {
        let factor = match (schema.type_name(), &schema.additional_properties) {
            ("object", Some(Additional::Schema(_) | Additional::Allowed(_))) => schema.max_properties,
            ("array", _) => schema.max_items,
            _ => Some(1),
        };
        match (self, factor) {
            (Self::Times(times), Some(factor)) => {
                Self::Times(times.saturating_mul(u64::try_from(factor).unwrap_or(0)))
            }
            _ => Self::Unbounded,
        }
    }
}

/// The place of rules.
pub(super) struct Site<'a> {
    pub(super) path: &'a Path,
    pub(super) cardinality: Cardinality,
    /// The outermost place around whose old values cannot be found.
    pub(super) uncorrelatable: Option<&'a Path>,
}

/// The faults of the rules of a schema, and their cost.
pub(super) struct Rules {
    causes: Vec<Cause>,
    total: u64,
    expensive: Vec<(u64, Path)>,
    /// Whether costs are unlimited, since the stored schema has the rules already.
    costs_are_accepted: bool,
}

impl Rules {
    pub(super) fn new(costs_are_accepted: bool) -> Self {
        Self { causes: Vec::new(), total: 0, expensive: Vec::new(), costs_are_accepted }
    }

    /// Compiles the rules of a node.
    pub(super) fn check(&mut self, schema: &Schema, is_root: bool, site: &Site<'_>) {
        if schema.validations.is_empty() {
            return;
        }
        let path = site.path.child("x-kubernetes-validations");
        let Some(decl) = Decl::of(schema, is_root, "selfType") else {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
            self.causes.push(Cause::new(CauseKind::Internal, path, "", detail));
            return;
        };
        for (i, rule) in
            schema.validations.iter().enumerate().filter(|(_, rule)| !rule.rule.trim().is_empty())
        {
            let at = path.index(i);
            match compile_rule(schema, &decl, rule) {
                Ok(compiled) => {
                    self.compiled(&compiled, &at, &decl, site);
                    self.old_self(rule, compiled.program.uses_old_self(), &at, site);
                }
                Err(error) => {
                    let field = match &error {
                        RuleError::Rule(_) => at.child("rule"),
                        RuleError::Message(_) => at.child("messageExpression"),
                    };
                    let cause = Cause::invalid(field, "", error.detail());
                    self.causes.push(cause.with_raw_value(go_json(rule)));
                    // A rule that does not compile uses no variables.
                    let alone = Rule { message_expression: None, ..rule.clone() };
                    let uses = compile_rule(schema, &decl, &alone).is_ok_and(|it| it.program.uses_old_self());
                    self.old_self(rule, uses, &at, site);
                }
            }
        }
    }

    fn compiled(&mut self, compiled: &CompiledRule, at: &Path, decl: &Decl, site: &Site<'_>) {
        let times = match site.cardinality {
            Cardinality::Times(times) => times,
            Cardinality::Unbounded => max_cardinality(decl.min_size),
        };
        let cost = compiled.program.max_cost().saturating_mul(times);
        self.observe("estimated rule cost", cost, at.child("rule"));
        if let Some(message) = &compiled.message {
            self.observe(
                "estimated messageExpression cost",
                message.max_cost(),
                at.child("messageExpression"),
            );
        }
    }

    /// Checks whether the rule may use `oldSelf` in this way.
    fn old_self(&mut self, rule: &Rule, uses: bool, at: &Path, site: &Site<'_>) {
        match (uses, site.uncorrelatable, rule.optional_old_self) {
            (true, Some(place), _) => {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {place}"
                );
                self.causes.push(Cause::invalid(at.child("rule"), rule.rule.as_str(), detail));
            }
            (false, _, Some(optional)) => {
                let detail = "may not be set if oldSelf is not used in rule";
                self.causes.push(Cause::invalid(at.child("optionalOldSelf"), optional, detail));
            }
            _ => {}
        }
    }

    fn observe(&mut self, what: &str, cost: u64, path: Path) {
        if cost > RULE_LIMIT && !self.costs_are_accepted {
            self.causes.push(Cause::forbidden(&path, over_budget(what, cost, RULE_LIMIT)));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= TOTAL_LIMIT / 100 {
            self.expensive.push((cost, path));
        }
    }

    /// Adds the faults, and the cost of all rules together if that is too much.
    pub(super) fn finish(mut self, path: &Path, causes: &mut Vec<Cause>) {
        causes.append(&mut self.causes);
        if self.total <= TOTAL_LIMIT {
            return;
        }
        self.expensive.sort_by(|(a, _), (b, _)| b.cmp(a));
        for (_, path) in self.expensive.iter().take(NAMED) {
            let detail =
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            causes.push(Cause::forbidden(path, detail));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        causes.push(Cause::forbidden(path, over_budget(what, self.total, TOTAL_LIMIT)));
    }
}

#[expect(clippy::cast_precision_loss, reason = "the factor is shown with one digit")]
fn over_budget(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        f if f > 100.0 => "more than 100x".to_owned(),
        f if f < 1.5 => format!("{f:.6}x"),
        f => format!("{f:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_is_printed_as_a_go_structure() {
        let reason = Some("FieldValueInvalid".to_owned());
        let rule = Rule { rule: "true".to_owned(), reason, ..Rule::default() };
        assert_eq!(
            go_json(&rule),
            r#"{"Rule":"true","Message":"","MessageExpression":"","Reason":"FieldValueInvalid","FieldPath":"","OptionalOldSelf":null}"#
        );
    }
}
