//! Compares the CEL rules of a node.

use crate::cel::{Known, Relation, follows, mentions, relation};
use crate::structural::{Rule, Schema};

use super::schema::{Walk, contrasted};
use super::{ChangeCode, fields};

/// The limit of compared pairs of rules; beyond it, rules that differ are different rules.
const MAX_PAIRS: usize = 2_500;

/// Compares the rules of two nodes.
pub(super) fn check(walk: &mut Walk<'_>, old: &Schema, new: &Schema) {
    let mut before: Vec<&Rule> =
        old.validations.iter().filter(|rule| !new.validations.contains(rule)).collect();
    let mut after: Vec<&Rule> =
        new.validations.iter().filter(|rule| !old.validations.contains(rule)).collect();
    let is_few = before.len().saturating_mul(after.len()) <= MAX_PAIRS;
    type Matches = fn(&Rule, &Rule) -> bool;
    let same: Matches = |old, new| old.rule == new.rule;
    let comparable: Matches = |old, new| relation(&old.rule, &new.rule) != Relation::Unclear;
    let named: Matches = |old, new| new.message.is_some() && old.message == new.message;
    let steps: &[Matches] = if is_few { &[same, comparable, named] } else { &[same] };
    if is_few {
        regrouped(walk, [&old.validations, &new.validations], &mut before, &mut after);
    }
    for matches in steps {
        after.retain(|rule| match before.iter().position(|old| matches(old, rule)) {
            Some(at) => {
                pair(walk, before.remove(at), rule, &|name| known(old, new, name));
                false
            }
            None => true,
        });
    }
    if let ([before], [after]) = (&before[..], &after[..]) {
        return pair(walk, before, after, &|name| known(old, new, name));
    }
    let below = &["x-kubernetes-validations"];
    for rule in after {
        let follows =
            |known| is_few && is_plain(rule) && follows(&rule.rule, &sources(&old.validations), known);
        if follows(&|_| None) {
            let message = format!("new, and as the others were: `{}`", brief(rule));
            walk.add_at(ChangeCode::RuleMessageChanged, below, message);
        } else if follows(&|name| known(old, new, name)) {
            walk.add_at(ChangeCode::RuleAboutNewFields, below, format!("new: `{}`", brief(rule)));
        } else {
            ratcheted(walk, rule, |walk| walk.add_at(added(rule), below, format!("new: `{}`", brief(rule))));
        }
    }
    for rule in before {
        walk.add_at(ChangeCode::RuleRemoved, below, format!("gone: `{}`", brief(rule)));
    }
}

/// Removes rules that were only split or joined: conjunctions of the same conditions.
fn regrouped(walk: &mut Walk<'_>, all: [&[Rule]; 2], before: &mut Vec<&Rule>, after: &mut Vec<&Rule>) {
    let [old, new] = all.map(sources);
    let said: Vec<&Rule> =
        after.iter().copied().filter(|rule| is_plain(rule) && follows(&rule.rule, &old, &|_| None)).collect();
    let kept: Vec<&Rule> = before
        .iter()
        .copied()
        .filter(|rule| is_plain(rule) && follows(&rule.rule, &new, &|_| None))
        .collect();
    if said.is_empty() || kept.is_empty() || said.len() == kept.len() {
        return;
    }
    after.retain(|rule| !said.contains(rule));
    before.retain(|rule| !kept.contains(rule));
    let list = |rules: &[&Rule]| {
        rules.iter().map(|rule| format!("`{}`", brief(rule))).collect::<Vec<_>>().join(", ")
    };
    let message = format!("{} became {}, which accept the same", list(&kept), list(&said));
    walk.add_at(ChangeCode::RuleMessageChanged, &["x-kubernetes-validations"], message);
}

/// Reports whether the rule depends only on the new value.
fn is_plain(rule: &Rule) -> bool {
    !mentions(&rule.rule, "oldSelf")
}

/// Returns the rules that depend only on the new value.
fn sources(rules: &[Rule]) -> Vec<&str> {
    rules.iter().filter(|rule| is_plain(rule)).map(|rule| rule.rule.as_str()).collect()
}

/// Adds a change of a rule: servers apply a rule with the old value to unchanged values as well.
fn ratcheted(walk: &mut Walk<'_>, rule: &Rule, add: impl FnOnce(&mut Walk<'_>)) {
    if is_plain(rule) { add(walk) } else { walk.unratcheted(add) }
}

/// Reports whether the rule only runs on updates.
fn is_transition(rule: &Rule) -> bool {
    rule.optional_old_self != Some(true) && mentions(&rule.rule, "oldSelf")
}

fn added(rule: &Rule) -> ChangeCode {
    if is_transition(rule) { ChangeCode::TransitionRuleAdded } else { ChangeCode::RuleAdded }
}

/// The value of a new field in all stored objects: absent, or its default.
fn known(old: &Schema, new: &Schema, name: &str) -> Option<Known> {
    let field = new.properties.get(name).filter(|_| fields::drops(old, name))?;
    Some(field.default.clone().map_or(Known::Absent, Known::Is))
}

fn pair(walk: &mut Walk<'_>, old: &Rule, new: &Rule, known: &dyn Fn(&str) -> Option<Known>) {
    let is_optional = |rule: &Rule| rule.optional_old_self == Some(true);
    let code = if is_optional(old) != is_optional(new) {
        ChangeCode::RuleOldSelfChanged
    } else {
        match (relation(&old.rule, &new.rule), is_transition(old), is_transition(new)) {
            _ if old.rule == new.rule => ChangeCode::RuleMessageChanged,
            // The old rule did not run on creations.
            (_, true, false) => ChangeCode::RuleAdded,
            (Relation::Same, ..) => ChangeCode::RuleMessageChanged,
            (Relation::Looser, ..) => ChangeCode::RuleLoosened,
            (_, _, true) => ChangeCode::TransitionRuleChanged,
            _ if is_plain(old) && is_plain(new) && follows(&new.rule, &[&old.rule], known) => {
                ChangeCode::RuleAboutNewFields
            }
            (Relation::Tighter, ..) => ChangeCode::RuleTightened,
            (Relation::Unclear, ..) => ChangeCode::RuleChanged,
        }
    };
    let message = match code {
        ChangeCode::RuleMessageChanged => format!("`{}` is said in other words", brief(new)),
        _ => {
            let [old, new] = contrasted(&line(old), &line(new), SHOWN);
            format!("`{old}` became `{new}`")
        }
    };
    ratcheted(walk, new, |walk| walk.add_at(code, &["x-kubernetes-validations"], message));
}

/// The limit of a shown rule, in characters.
const SHOWN: usize = 100;

/// Returns the rule on one line.
fn line(rule: &Rule) -> String {
    rule.rule.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the rule on one line, shortened if it is long.
fn brief(rule: &Rule) -> String {
    let line = line(rule);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
