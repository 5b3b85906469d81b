//! Lowers `KubeSchema`: rules in CEL and merge strategies, on a type and its fields (kube-core's `cel.rs`).

use kubesmith_core::diag::Code;
use serde_json::{Value, json};

use super::functions::CALL_LIMIT;
use super::pieces;
use super::types::{Dialect, Env};
use crate::diag::Diagnostic;
use crate::resolve;
use crate::syntax::PathExpr;
use crate::syntax::kube::{Body, Derived, Field, Merge, RuleItem, XKube};

/// The keyword for rules.
const RULES: &str = "x-kubernetes-validations";

impl Dialect<'_, '_> {
    /// Adds the rules and strategies of `#[x_kube]` on a type and its fields.
    pub(super) fn kube_schema(&mut self, env: &Env, derived: &Derived, schema: &mut Value) -> Option<()> {
        self.add_rules(env, schema, &derived.rules)?;
        let Body::Named(fields) = &derived.body else { return Some(()) };
        for field in fields {
            if let Some(x_kube) = &field.x_kube {
                self.field_rules(env, schema, field, x_kube)?;
            }
        }
        Some(())
    }

    fn field_rules(&mut self, env: &Env, schema: &mut Value, field: &Field, x_kube: &XKube) -> Option<()> {
        if let Some(loc) = x_kube.unreadable.first() {
            self.error(
                Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, *loc, "this merge strategy is not written out")
                    .help("write `ListMerge::Set`, `ListMerge::Map(vec![\"name\".into()])`, `MapMerge::Granular` or their kin"),
            );
            return None;
        }
        let name = field.read(self.locked.is_schemars_0_8());
        let property = schema.get_mut("properties").and_then(|properties| properties.get_mut(name));
        let Some(property) = property else { return Some(()) };
        self.add_rules(env, property, &x_kube.rules)?;
        match &x_kube.merge {
            Some(Merge::List(kind)) => pieces::insert(property, "x-kubernetes-list-type", *kind),
            Some(Merge::ListMap(keys)) => {
                pieces::insert(property, "x-kubernetes-list-type", "map");
                pieces::insert(property, "x-kubernetes-list-map-keys", keys.clone());
            }
            Some(Merge::Map(kind)) => pieces::insert(property, "x-kubernetes-map-type", *kind),
            None => {}
        }
        Some(())
    }

    /// Adds rules to a schema.
    pub(super) fn add_rules(&mut self, env: &Env, schema: &mut Value, rules: &[RuleItem]) -> Option<()> {
        for rule in rules {
            if rule.unreadable {
                self.error(
                    Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, rule.loc, "this rule is not written out").help(
                        "write a string, `(\"rule\", \"message\")`, or `Rule::new(\"...\")` with `message`, `reason`, \
                         `field_path` and `optional_old_self`",
                    ),
                );
                return None;
            }
            let value = self.rule_value(env, rule)?;
            if let Value::Array(found) = pieces::object(schema).entry(RULES).or_insert_with(|| json!([])) {
                found.push(value);
            }
        }
        Some(())
    }

    /// The rule that a function makes.
    fn made_rule(&mut self, env: &Env, path: &PathExpr) -> Option<Value> {
        let found = self.resolve_value(env, path);
        if let Some(resolve::Value::Item(krate, module, item)) = found
            && let Some(rule) = &item.rule
            && self.calls < CALL_LIMIT
        {
            self.calls += 1;
            let made = self.rule_value(&Env::module(krate, module), rule);
            self.calls -= 1;
            return made;
        }
        let text = format!("what `{}` returns is not known before the program runs", path.text());
        self.unreadable(path.loc, &text);
        None
    }

    fn rule_value(&mut self, env: &Env, rule: &RuleItem) -> Option<Value> {
        let mut out = match &rule.made_by {
            Some(path) => self.made_rule(env, path)?,
            None => json!({}),
        };
        let texts = [
            ("rule", &rule.rule),
            ("message", &rule.message),
            ("messageExpression", &rule.message_expression),
            ("fieldPath", &rule.field_path),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                pieces::insert(&mut out, key, self.text(env, text)?);
            }
        }
        if let Some(reason) = &rule.reason {
            pieces::insert(&mut out, "reason", reason.as_str());
        }
        if let Some(value) = rule.optional_old_self {
            pieces::insert(&mut out, "optionalOldSelf", value);
        }
        Some(out)
    }
}
