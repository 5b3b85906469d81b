//! Compares the constraints of values: enums, bounds, formats, patterns, junctors.

use crate::schema::{KEYWORDS, Keyword, Kind, Role, Schema};
use crate::structural::validate;
use serde_json::Value;

use super::schema::{Types, Walk, brief, contrasted};
use super::{ChangeCode, bounds};

/// Compares the constraints of two nodes.
pub(super) fn check(walk: &mut Walk<'_>, old: &Schema, new: &Schema) {
    let types = Types::of(old);
    if let Some(values) = finite(old, types) {
        return listed(walk, &values, old, new);
    }
    enums(walk, old, new);
    bounds::check(walk, old, new, types);
    if types.has(Types::STRING) || types.has(Types::INTEGER) || types.has(Types::FRACTION) {
        format(walk, old, new);
    }
    if types.has(Types::STRING) {
        pattern(walk, old, new);
    }
    others(walk, old, new, types);
    junctors(walk, old, new);
}

/// Returns the values of a node with few values.
fn finite(old: &Schema, types: Types) -> Option<Vec<Value>> {
    let is_scalar = !types.has(Types::OBJECT) && !types.has(Types::ARRAY);
    match old.allowed_values() {
        [] if types == Types::BOOLEAN => {
            let null = old.nullable.then_some(Value::Null);
            Some([false, true].map(Value::from).into_iter().chain(null).collect())
        }
        [] => None,
        values => is_scalar.then(|| values.to_vec()),
    }
}

/// Tries each value, if all are known.
fn listed(walk: &mut Walk<'_>, values: &[Value], old: &Schema, new: &Schema) {
    // A change of `nullable` is reported separately.
    if (Schema { nullable: new.nullable, ..constraints(old) }) == constraints(new) {
        return;
    }
    // Without enums, the rest of a node is cheap to try for thousands of values.
    let accepted: std::collections::BTreeSet<String> = new.allowed_values().iter().map(normal).collect();
    let without = |schema: &Schema| Schema { enum_: None, ..constraints(schema) };
    let (before, after) = (without(old), without(new));
    let admits = |value: &&Value| {
        (accepted.is_empty() || accepted.contains(&normal(value))) && validate(&after, value).is_empty()
    };
    // A null that is no longer valid is reported separately.
    let is_asked = |value: &&Value| !value.is_null() || (old.nullable && new.nullable);
    let stored = values.iter().filter(is_asked).filter(|value| validate(&before, value).is_empty());
    let lost: Vec<String> = stored.filter(|value| !admits(value)).map(brief).collect();
    if !lost.is_empty() {
        return walk.add_at(ChangeCode::EnumNarrowed, &["enum"], gone(&lost));
    }
    let known: std::collections::BTreeSet<String> = values.iter().map(normal).collect();
    let added: Vec<&Value> =
        new.allowed_values().iter().filter(|value| !known.contains(&normal(value))).collect();
    if old.allowed_values().is_empty() || (new.allowed_values().len() == values.len() && added.is_empty()) {
        let message = "the values that are admitted are the same";
        walk.add(ChangeCode::ConstraintChanged, message);
    } else if new.allowed_values().is_empty() {
        walk.add_at(ChangeCode::EnumRemoved, &["enum"], "all values are admitted");
    } else {
        let message = match &added[..] {
            [] => "the values that are admitted are the same".to_owned(),
            added => format!("new: {}", few(added.iter().map(|value| brief(value)))),
        };
        walk.add_at(ChangeCode::EnumWidened, &["enum"], message);
    }
}

/// Returns the node's own constraints, without children and rules.
fn constraints(schema: &Schema) -> Schema {
    let mut out = Schema::default();
    let is_kept = |keyword: &&Keyword| {
        !matches!(keyword.role, Role::Documentation)
            && !matches!(keyword.kind, Kind::Properties | Kind::Additional | Kind::Rules | Kind::Any)
            && !matches!(keyword.name, "items" | "required")
    };
    KEYWORDS.iter().filter(is_kept).for_each(|keyword| keyword.copy(schema, &mut out));
    out
}

/// Formats a value, with 1 and 1.0 as the same text.
fn normal(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.as_i64().is_none() => number.to_string(),
        _ => value.to_string(),
    }
}

fn gone(values: &[String]) -> String {
    format!("gone: {}", few(values.iter().cloned()))
}

/// Joins the first items of a list and counts the rest.
fn few(values: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 6;
    let all: Vec<String> = values.collect();
    let shown = all[..all.len().min(SHOWN)].join(", ");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Compares enums of nodes that also accept objects or lists, and new enums.
fn enums(walk: &mut Walk<'_>, old: &Schema, new: &Schema) {
    let set = |schema: &Schema| -> std::collections::BTreeSet<String> {
        schema.allowed_values().iter().map(normal).collect()
    };
    let (before, after) = (set(old), set(new));
    match (before.is_empty(), after.is_empty()) {
        (true, false)
            if bounds::whole_numbers(old).is_some_and(|all| all.iter().all(|n| after.contains(n))) =>
        {
            walk.add_at(
                ChangeCode::ConstraintChanged,
                &["enum"],
                "the enum has all values that the bounds admit",
            );
        }
        (true, false) => {
            let message = format!("only {}", few(new.allowed_values().iter().map(brief)));
            walk.add_at(ChangeCode::EnumAdded, &["enum"], message);
        }
        (false, true) => walk.add_at(ChangeCode::EnumRemoved, &["enum"], "all values are admitted"),
        _ if !before.is_subset(&after) => {
            let lost: Vec<String> = before.difference(&after).cloned().collect();
            walk.add_at(ChangeCode::EnumNarrowed, &["enum"], gone(&lost));
        }
        _ if before != after => {
            let message = format!("new: {}", few(after.difference(&before).cloned()));
            walk.add_at(ChangeCode::EnumWidened, &["enum"], message);
        }
        _ => {}
    }
}

fn format(walk: &mut Walk<'_>, old: &Schema, new: &Schema) {
    let (before, after) = (effective(old), effective(new));
    if before == after {
        return;
    }
    let below = &["format"];
    let (from, to) = (old.format_name(), new.format_name());
    if after.is_empty() {
        walk.add_at(ChangeCode::FormatRemoved, below, format!("`{from}` is not checked any more"));
    } else if before.is_empty() && after == "int32" && bounds::within_int32(old) {
        walk.add_at(ChangeCode::ConstraintChanged, below, "the bounds admit no more than `int32`");
    } else if before.is_empty() {
        walk.add_at(ChangeCode::FormatAdded, below, format!("`{to}` is checked"));
    } else if is_wider(&after, &before) {
        walk.add_at(ChangeCode::FormatRemoved, below, format!("`{from}` became `{to}`"));
    } else {
        walk.add_at(ChangeCode::FormatChanged, below, format!("`{from}` became `{to}`"));
    }
}

/// Returns the format, unless it refuses nothing.
pub(super) fn effective(schema: &Schema) -> String {
    match (schema.type_name(), schema.format_name()) {
        // Servers use 64 bits for numbers anyway.
        ("integer", "int64") | ("number", "double") | (_, "password") => String::new(),
        (_, format) => format.replace('-', ""),
    }
}

/// Reports whether all values of one format have the other.
fn is_wider(wide: &str, narrow: &str) -> bool {
    matches!(
        (wide, narrow),
        ("uuid", "uuid3" | "uuid4" | "uuid5")
            | ("isbn", "isbn10" | "isbn13")
            | ("k8slongname", "k8sshortname")
    )
}

fn pattern(walk: &mut Walk<'_>, old: &Schema, new: &Schema) {
    let source = |schema: &Schema| schema.pattern.as_ref().map(|pattern| pattern.source().to_owned());
    let below = &["pattern"];
    match (source(old), source(new)) {
        (None, Some(new)) => {
            walk.add_at(ChangeCode::PatternAdded, below, format!("texts have to match `{new}`"));
        }
        (Some(old), None) => {
            let message = format!("texts need not match `{old}` any more");
            walk.add_at(ChangeCode::PatternRemoved, below, message);
        }
        (Some(old), Some(new)) if old != new => {
            let [old, new] = contrasted(&old, &new, 100);
            walk.add_at(ChangeCode::PatternChanged, below, format!("`{old}` became `{new}`"));
        }
        _ => {}
    }
}

/// Compares keywords without a rule of their own.
fn others(walk: &mut Walk<'_>, old: &Schema, new: &Schema, types: Types) {
    let matters = |keyword: &&Keyword| {
        keyword.narrows() && keyword.of.is_none_or(|of| types.any_of(of)) && !keyword.equal(old, new)
    };
    for keyword in KEYWORDS.iter().filter(matters) {
        let value = |schema: &Schema| keyword.is_set(schema).then(|| brief(&keyword.value(schema)));
        let message = match keyword.kind {
            Kind::Flag => format!("{} is {}", keyword.name, if keyword.is_set(new) { "new" } else { "gone" }),
            _ => bounds::moved(keyword.name, value(old), value(new)),
        };
        bounds::tell(walk, keyword.is_set(new), keyword.name, message);
    }
}

fn junctors(walk: &mut Walk<'_>, old: &Schema, new: &Schema) {
    let has_all = |all: &[Schema], some: &[Schema]| some.iter().all(|branch| all.contains(branch));
    let mut tell = |keyword: &str, is_looser: bool| {
        let (code, message) = match is_looser {
            true => (ChangeCode::JunctorLoosened, format!("`{keyword}` admits more")),
            false => (ChangeCode::JunctorTightened, format!("`{keyword}` is new or another")),
        };
        walk.add_at(code, &[keyword], message);
    };
    if !(has_all(&old.all_of, &new.all_of) && has_all(&new.all_of, &old.all_of)) {
        tell("allOf", has_all(&old.all_of, &new.all_of));
    }
    let (before, after) = (any_of(old), any_of(new));
    if !(has_all(before, after) && has_all(after, before)) || before.is_empty() != after.is_empty() {
        tell("anyOf", after.is_empty() || (!before.is_empty() && has_all(after, before)));
    }
    // A value may satisfy the new branch as a second one.
    if !(has_all(&old.one_of, &new.one_of) && old.one_of.len() == new.one_of.len()) {
        tell("oneOf", new.one_of.is_empty());
    }
    if old.not != new.not {
        tell("not", new.not.is_none());
    }
}

/// Returns `anyOf`, without the one that repeats "integer or string".
fn any_of(schema: &Schema) -> &[Schema] {
    let is_type = schema.int_or_string && schema.any_of == ["integer", "string"].map(Schema::of_type);
    if is_type { &[] } else { &schema.any_of }
}
