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

/// `validateInitContainerRestartPolicy`, and the resize policies of init containers that end.
pub(super) fn of_init_container(container: &Field<'_>, errors: &mut Errors) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    if policy.is_set() {
        of_container(container, errors);
    } else if !rules.is_empty() {
        errors.required(&policy, "must specify restartPolicy when restart rules are used");
    }
}

/// Refuses resize policies that restart an init container that ends.
pub(super) fn on_resize(container: &Field<'_>, errors: &mut Errors) {
    for policy in container.child("resizePolicy").items().map(|policy| policy.child("restartPolicy")) {
        if policy.text() == "RestartContainer" {
            let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            errors.invalid(&policy, detail);
        }
    }
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
        assert_eq!(fields(on_resize, &resize), ["resizePolicy[0].restartPolicy: FieldValueInvalid"]);
    }
}
