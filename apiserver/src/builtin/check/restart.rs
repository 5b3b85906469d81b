//! Restart policies of containers, and their rules. Source: `pkg/apis/core/validation`, with the feature gates
//! `ContainerRestartRules` and `RestartAllContainersOnContainerExits`, which Kubernetes 1.36 enables by default.

use super::field::{Errors, Field};

const MOST_RULES: usize = 20;
const MOST_EXIT_CODES: usize = 255;

/// `validateContainerRestartPolicy`.
pub(super) fn of_container(container: &Field<'_>, errors: &mut Errors) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    if !policy.is_set() && !rules.is_empty() {
        errors.required(&policy, "must specify restartPolicy when restart rules are used");
    }
    errors.optional_one_of(&policy, &["Always", "Never", "OnFailure"]);
    errors.at_most(&rules, MOST_RULES);
    for rule in rules.items() {
        let (action, codes) = (rule.child("action"), rule.child("exitCodes"));
        errors.text_of(&action, &["Restart", "RestartAllContainers"]);
        if codes.is_set() {
            errors.text_of(&codes.child("operator"), &["In", "NotIn"]);
            errors.at_most(&codes.child("values"), MOST_EXIT_CODES);
        } else {
            errors.required(&codes, "must be specified");
        }
    }
}

/// `validateInitContainerRestartPolicy`.
pub(super) fn of_init_container(container: &Field<'_>, errors: &mut Errors) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    if policy.is_set() {
        of_container(container, errors);
    } else if !rules.is_empty() {
        errors.required(&policy, "must specify restartPolicy when restart rules are used");
    }
}

/// Returns the resize policies that restart an init container that ends, which `validateInitContainers` refuses.
pub(super) fn on_resize<'v>(container: &Field<'v>) -> Vec<Field<'v>> {
    if container.child("restartPolicy").text() == "Always" {
        return Vec::new();
    }
    let policies = container.child("resizePolicy").items().map(|policy| policy.child("restartPolicy"));
    policies.filter(|policy| policy.text() == "RestartContainer").collect()
}

/// `AllContainersCouldRestart`.
pub(super) fn all_could_restart(spec: &Field<'_>) -> bool {
    let containers = ["initContainers", "containers"].map(|list| spec.child(list));
    let mut rules = containers
        .iter()
        .flat_map(Field::items)
        .flat_map(|container| container.child("restartPolicyRules").items());
    rules.any(|rule| rule.child("action").text() == "RestartAllContainers")
}

/// `ContainerShouldRestart`. `policy` is the pod's.
pub(super) fn should_restart(container: &Field<'_>, policy: &str, exit_code: i64) -> bool {
    let own = container.child("restartPolicy");
    let rule = matching_rule(container, exit_code).filter(|_| own.is_set());
    if rule.is_some_and(|rule| ["Restart", "RestartAllContainers"].contains(&rule.child("action").text())) {
        return true;
    }
    match if own.is_set() { own.text() } else { policy } {
        "OnFailure" => exit_code != 0,
        "Never" => false,
        _ => true,
    }
}

/// `FindMatchingContainerRestartRule`.
fn matching_rule<'v>(container: &Field<'v>, exit_code: i64) -> Option<Field<'v>> {
    container.child("restartPolicyRules").items().find(|rule| {
        let codes = rule.child("exitCodes");
        let is_listed = codes.child("values").items().any(|code| code.number() == Some(exit_code));
        match codes.child("operator").text() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn fields(rules: fn(&Field<'_>, &mut Errors), container: &Value) -> Vec<String> {
        let causes = Errors::of(|errors| rules(&Field::root(container), errors));
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.reason)).collect()
    }

    #[test]
    fn rules_need_a_policy_an_action_and_exit_codes() {
        let codes = json!({"operator": "In", "values": [1]});
        let good = json!({"restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart", "exitCodes": codes}]});
        assert!(fields(of_container, &good).is_empty());
        let bad = json!({"restartPolicyRules": [{}, {"action": "X", "exitCodes": {}}]});
        assert_eq!(
            fields(of_container, &bad),
            [
                "restartPolicy: FieldValueRequired",
                "restartPolicyRules[0].action: FieldValueNotSupported",
                "restartPolicyRules[0].exitCodes: FieldValueRequired",
                "restartPolicyRules[1].action: FieldValueNotSupported",
                "restartPolicyRules[1].exitCodes.operator: FieldValueNotSupported",
            ]
        );
        assert_eq!(fields(of_init_container, &bad), ["restartPolicy: FieldValueRequired"]);
        let resize = json!({"resizePolicy": [{"restartPolicy": "RestartContainer"}]});
        let paths = |container| -> Vec<String> {
            on_resize(&Field::root(container)).into_iter().map(|policy| policy.path).collect()
        };
        assert_eq!(paths(&resize), ["resizePolicy[0].restartPolicy"]);
        let sidecar =
            json!({"restartPolicy": "Always", "resizePolicy": [{"restartPolicy": "RestartContainer"}]});
        assert!(paths(&sidecar).is_empty());
    }

    #[test]
    fn rule_decides_before_the_policies_of_container_and_pod() {
        let rule = |operator: &str| json!([{"action": "Restart", "exitCodes": {"operator": operator, "values": [42]}}]);
        for (container, pod, exit_code, restarts) in [
            (json!({}), "Never", 1, false),
            (json!({}), "OnFailure", 1, true),
            (json!({}), "OnFailure", 0, false),
            (json!({}), "Always", 0, true),
            (json!({"restartPolicy": "Always"}), "Never", 0, true),
            (json!({"restartPolicy": "Never"}), "Always", 1, false),
            (json!({"restartPolicy": "OnFailure"}), "Never", 1, true),
            (json!({"restartPolicy": "Never", "restartPolicyRules": rule("In")}), "Never", 42, true),
            (json!({"restartPolicy": "Never", "restartPolicyRules": rule("In")}), "Never", 1, false),
            (json!({"restartPolicy": "Never", "restartPolicyRules": rule("NotIn")}), "Never", 1, true),
        ] {
            let found = should_restart(&Field::root(&container), pod, exit_code);
            assert_eq!(found, restarts, "{container} {pod} {exit_code}");
        }
    }
}
