//! Combines rules into roles: one for each namespace and name, with as few rules as controller-gen writes
//! (`pkg/rbac/parser.go`).
//!
//! Unlike there, no right is lost if two merged rules turn out to have the same resources: controller-gen
//! keeps one of them at random.

use std::collections::BTreeMap;

use crate::ir::{Older, PolicyRule, api_group};

/// A Role, or a ClusterRole if it has no namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Namespace of a Role.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// Rules in order.
    pub rules: Vec<RoleRule>,
}

/// A rule of a role. Every list is sorted and without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PolicyRule")]
pub struct RoleRule {
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub resource_names: Vec<String>,
    pub urls: Vec<String>,
    pub verbs: Vec<String>,
}

/// The lists of a rule, by their place in [`RoleRule::list_mut`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Groups,
    Resources,
    ResourceNames,
    Urls,
    Verbs,
}

const LISTS: [List; 5] = [List::Groups, List::Resources, List::ResourceNames, List::Urls, List::Verbs];

impl RoleRule {
    fn list(&self, list: List) -> &Vec<String> {
        match list {
            List::Groups => &self.groups,
            List::Resources => &self.resources,
            List::ResourceNames => &self.resource_names,
            List::Urls => &self.urls,
            List::Verbs => &self.verbs,
        }
    }

    fn list_mut(&mut self, list: List) -> &mut Vec<String> {
        match list {
            List::Groups => &mut self.groups,
            List::Resources => &mut self.resources,
            List::ResourceNames => &mut self.resource_names,
            List::Urls => &mut self.urls,
            List::Verbs => &mut self.verbs,
        }
    }

    /// All lists but one; rules that agree in these can be merged. An empty list agrees with the core group, as in `ruleKey`.
    fn key_without(&self, left_out: List) -> Vec<String> {
        LISTS.iter().filter(|list| **list != left_out).map(|list| self.list(*list).join("&")).collect()
    }

    /// controller-gen's sort key.
    fn order(&self) -> String {
        let lists = [&self.groups, &self.resources, &self.resource_names, &self.urls];
        lists.map(|list| list.join("&")).join(" + ")
    }
}

/// The roles in the order of their namespaces and names. Rules without a role belong to `default_name`.
pub fn roles(rules: &[PolicyRule], default_name: &str, older: Older) -> Vec<Role> {
    let mut of_role: BTreeMap<(&str, &str), Vec<RoleRule>> = BTreeMap::new();
    for rule in rules {
        let namespace = rule.namespace.as_deref().unwrap_or("");
        let name = rule.role_name.as_deref().unwrap_or(default_name);
        of_role.entry((namespace, name)).or_default().extend(split(rule, older));
    }
    let roles = of_role.into_iter().map(|((namespace, name), rules)| Role {
        namespace: (!namespace.is_empty()).then(|| namespace.to_string()),
        name: name.to_string(),
        rules: normalize(rules, older),
    });
    roles.collect()
}

/// One rule for each resource.
fn split(rule: &PolicyRule, older: Older) -> Vec<RoleRule> {
    let groups = rule.groups.iter().map(|name| if older.keeps_core { name } else { api_group(name) });
    let whole = RoleRule {
        groups: sorted(groups.map(str::to_string).collect()),
        resources: if older.keeps_rules { sorted(rule.resources.clone()) } else { Vec::new() },
        resource_names: sorted(rule.resource_names.clone()),
        urls: sorted(rule.urls.clone()),
        verbs: sorted(rule.verbs.clone()),
    };
    if older.keeps_rules || rule.resources.is_empty() {
        return if whole.resources.is_empty() && older.drops_urls { Vec::new() } else { vec![whole] };
    }
    let of = |resource: &String| RoleRule { resources: vec![resource.clone()], ..whole.clone() };
    rule.resources.iter().map(of).collect()
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort_unstable();
    list.dedup();
    list
}

fn normalize(mut rules: Vec<RoleRule>, older: Older) -> Vec<RoleRule> {
    const MERGED: [List; 5] = [List::Verbs, List::Resources, List::Groups, List::Urls, List::Verbs];
    for list in &MERGED[..if older.keeps_rules { 1 } else { MERGED.len() }] {
        rules = merge(rules, *list);
    }
    for rule in rules.iter_mut().filter(|_| !older.keeps_verbs) {
        if rule.verbs.iter().any(|verb| verb == "*") {
            rule.verbs = vec!["*".to_string()];
        }
    }
    rules.sort_by_cached_key(RoleRule::order);
    for name in rules.iter_mut().flat_map(|rule| &mut rule.groups) {
        *name = api_group(name).to_string();
    }
    rules
}

/// Merges rules that differ only in one list.
fn merge(rules: Vec<RoleRule>, list: List) -> Vec<RoleRule> {
    let mut merged: BTreeMap<Vec<String>, RoleRule> = BTreeMap::new();
    for mut rule in rules {
        let values = std::mem::take(rule.list_mut(list));
        let groups = rule.groups.clone();
        let known = merged.entry(rule.key_without(list)).or_insert(rule);
        if known.groups.is_empty() {
            known.groups = groups;
        }
        let known = known.list_mut(list);
        known.extend(values);
        *known = sorted(std::mem::take(known));
    }
    merged.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<String> {
        list.split(';').filter(|text| *text != "-").map(str::to_string).collect()
    }

    fn rule(groups: &str, resources: &str, verbs: &str) -> PolicyRule {
        PolicyRule {
            groups: texts(groups),
            resources: texts(resources),
            verbs: texts(verbs),
            ..PolicyRule::default()
        }
    }

    fn shown(rules: &[PolicyRule]) -> Vec<String> {
        shown_as(rules, Older::default())
    }

    fn shown_as(rules: &[PolicyRule], older: Older) -> Vec<String> {
        let roles = roles(rules, "r", older);
        let rules = roles.iter().flat_map(|role| &role.rules);
        rules.map(|rule| format!("{} {}", rule.order(), rule.verbs.join(";"))).collect()
    }

    #[test]
    fn rules_are_split_and_merged() {
        let rules = [rule("apps", "b;a;b", "list;get"), rule("core", "a", "get"), rule("", "a", "list")];
        // Verbs are joined before resources are, and these before groups.
        assert_eq!(shown(&rules), [" + a +  +  get;list", "apps + a&b +  +  get;list"]);
    }

    #[test]
    fn older_releases_merge_verbs_alone() {
        let older = Older { keeps_rules: true, keeps_verbs: true, ..Older::default() };
        let rules = [
            rule("core", "b;a", "list;*"),
            rule("apps", "a;b", "get"),
            rule("core", "a;b", "get"),
            rule("apps", "b", "get"),
        ];
        assert_eq!(
            shown_as(&rules, older),
            [" + a&b +  +  *;get;list", "apps + a&b +  +  get", "apps + b +  +  get"]
        );
    }

    #[test]
    fn older_releases_rename_core_after_sorting() {
        let rules = [rule("core;apps", "a", "get"), rule("batch", "a", "list"), rule("core", "b", "get")];
        assert_eq!(shown(&rules), [" + b +  +  get", "&apps + a +  +  get", "batch + a +  +  list"]);
        let older = Older { keeps_core: true, ..Older::default() };
        assert_eq!(
            shown_as(&rules, older),
            ["apps& + a +  +  get", "batch + a +  +  list", " + b +  +  get"]
        );
    }

    #[test]
    fn rules_without_resources_are_left_out_for_two_releases() {
        let rules = [PolicyRule { urls: texts("/a"), verbs: texts("get"), ..PolicyRule::default() }];
        assert_eq!(shown(&rules), [" +  +  + /a get"]);
        assert!(shown_as(&rules, Older { drops_urls: true, ..Older::default() }).is_empty());
    }

    #[test]
    fn merging_overlapping_rules_loses_no_right() {
        // The last two become one rule for both groups, which the first is about as well.
        let rules = [rule("a;b", "x", "update"), rule("a", "x", "get"), rule("b", "x", "get")];
        assert_eq!(shown(&rules), ["a&b + x +  +  get;update"]);
    }

    #[test]
    fn rule_without_groups_joins_that_of_the_core_group() {
        let mut rules = [rule("-", "a", "get"), rule("", "a", "get")];
        for _ in 0..2 {
            let roles = roles(&rules, "r", Older::default());
            assert_eq!(roles[0].rules.iter().map(|rule| &rule.groups[..]).collect::<Vec<_>>(), [[""]]);
            rules.reverse();
        }
    }

    #[test]
    fn merged_rules_do_not_depend_on_input_order() {
        let mut rules = vec![
            rule("a", "x;y", "get"),
            rule("b", "y", "get;*"),
            rule("-", "-", "get"),
            rule("a;b", "z", "get"),
        ];
        let first = shown(&rules);
        for _ in 0..rules.len() {
            rules.rotate_left(1);
            assert_eq!(shown(&rules), first);
        }
        rules.reverse();
        assert_eq!(shown(&rules), first);
    }
}
