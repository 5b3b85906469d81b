//! Rules and selectors of configurations.

use kubesmith_apiextensions::admission::Rule;
use serde_json::Value;

/// Rules and selectors of a webhook, a policy or a binding.
#[derive(Debug)]
pub(crate) struct Criteria {
    /// `None` matches every request.
    pub(crate) rules: Option<Vec<Rule>>,
    pub(crate) excluded: Vec<Rule>,
    pub(crate) namespace_selector: Value,
    pub(crate) object_selector: Value,
    /// `matchPolicy: Equivalent`: rules also match other versions of the resource.
    pub(crate) equivalent: bool,
}

impl Criteria {
    /// The criteria of a webhook; without rules they match no request.
    pub(crate) fn of_hook(hook: &Value) -> Self {
        Self { rules: Some(rules(&hook["rules"])), ..Self::of_policy(hook) }
    }

    /// The criteria of `MatchResources`.
    pub(crate) fn of_policy(resources: &Value) -> Self {
        Self {
            rules: Some(rules(&resources["resourceRules"])).filter(|rules| !rules.is_empty()),
            excluded: rules(&resources["excludeResourceRules"]),
            namespace_selector: resources["namespaceSelector"].clone(),
            object_selector: resources["objectSelector"].clone(),
            equivalent: resources["matchPolicy"] != "Exact",
        }
    }
}

fn rules(list: &Value) -> Vec<Rule> {
    list.as_array().into_iter().flatten().map(Rule::of).collect()
}
