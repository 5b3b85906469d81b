//! Writes the rules of roles and the webhooks of Go packages as a module of its own.

use std::fmt::Write as _;

use super::super::attributes::{self, Key};
use crate::go::Survey;
use crate::ir::{Ir, PolicyRule, api_group};

/// The name of the module.
pub(super) const MODULE: &str = "rights";

/// The text of the module, unless it is empty.
pub(super) fn text(ir: &Ir, surveys: &[Survey]) -> Option<String> {
    let rules = &ir.manifests.rules;
    let said = surveys.iter().filter(|survey| survey.is_input).flat_map(|survey| &survey.manifests);
    let webhooks: Vec<&String> = said.filter(|marker| !marker.starts_with("+kubebuilder:rbac")).collect();
    if rules.is_empty() && webhooks.is_empty() {
        return None;
    }
    let mut out = String::from(
        "//! Rules of roles and webhooks of the Go module. Move each to the function that needs it.\n",
    );
    if !webhooks.is_empty() {
        out.push('\n');
    }
    for webhook in webhooks {
        let _ = writeln!(out, "// {webhook}");
    }
    if !rules.is_empty() {
        out.push_str("\nuse kubesmith_runtime::rbac;\n");
    }
    for (at, rules) in rules.chunks(OF_ITEM).enumerate() {
        out.push_str("\n/// The rights of the controllers.\n");
        rules.iter().for_each(|rule| attributes::write(&mut out, 0, "rbac", &keys(rule)));
        let number = if at == 0 { String::new() } else { (at + 1).to_string() };
        let _ = write!(out, "#[derive(Clone, Copy, Debug)]\npub struct Controllers{number};\n");
    }
    Some(out)
}

/// The most attributes of an item: each expands to the next, and rustc's limit is 128.
const OF_ITEM: usize = 64;

fn keys(rule: &PolicyRule) -> Vec<Key> {
    let groups = rule.groups.iter().map(|written| api_group(written).to_string()).collect();
    let lists = [
        ("groups", &groups),
        ("resources", &rule.resources),
        ("resource_names", &rule.resource_names),
        ("verbs", &rule.verbs),
        ("urls", &rule.urls),
    ];
    let list = |(name, values): (&str, &Vec<String>)| match &values[..] {
        [] => None,
        [one] => Some(Key::text(name, one)),
        all => {
            // An attribute says each value once.
            let first = |(at, value): &(usize, &String)| !all[..*at].contains(value);
            let all = all.iter().enumerate().filter(first);
            let all = all.map(|(_, value)| Key::Plain(attributes::string(value)));
            Some(Key::List(name.to_string(), all.collect()))
        }
    };
    let texts = [("namespace", &rule.namespace), ("role_name", &rule.role_name)];
    let texts = texts.into_iter().filter_map(|(name, text)| Some(Key::text(name, text.as_ref()?)));
    lists.into_iter().filter_map(list).chain(texts).collect()
}
