//! Lowers admission policies: adds the rule for the kind and applies patches.

use kubesmith_core::diag::Code;
use serde_json::{Value, json};

use super::Ctx;
use super::manifests::{directive, merge, misfit};
use crate::diag::Diagnostic;
use crate::ir::{Policy, Span};
use crate::syntax::facts::{PolicyFacts, ResourceFacts};

/// The default operations of a policy.
const OPERATIONS: [&str; 2] = ["CREATE", "UPDATE"];

impl Ctx<'_> {
    /// The policies of a kind.
    pub(super) fn policies(&mut self, facts: &ResourceFacts, group: &str, version: &str) -> Vec<Policy> {
        let policies = facts.policies.iter();
        policies.filter_map(|policy| self.policy(policy, [group, version, &facts.plural.text])).collect()
    }

    /// A policy for requests of `[group, version, plural]`; `None` after a diagnostic.
    fn policy(&mut self, facts: &PolicyFacts, own: [&str; 3]) -> Option<Policy> {
        let rule = &facts.rule;
        let or_own = |given: &[String], own: &str| match given {
            [] => vec![own.to_string()],
            given => given.to_vec(),
        };
        let operations = match rule.operations.as_slice() {
            [] => OPERATIONS.map(str::to_string).to_vec(),
            given => given.to_vec(),
        };
        let mut spec = facts.spec.clone();
        spec["matchConstraints"]["resourceRules"] = json!([{
            "apiGroups": or_own(&rule.groups, own[0]),
            "apiVersions": or_own(&rule.versions, own[1]),
            "operations": operations,
            "resources": or_own(&rule.resources, own[2]),
        }]);
        if let Some((patch, _)) = &facts.patch {
            merge(&mut spec, patch);
        }
        let is_own = is_about(&spec["matchConstraints"]["resourceRules"], own);
        self.check(facts, &spec)?;
        let kind = if facts.mutating { "MutatingAdmissionPolicy" } else { "ValidatingAdmissionPolicy" };
        let bindings = facts.bindings.iter().map(|(name, spec, loc)| {
            let mut spec = spec.clone();
            spec["policyName"] = json!(facts.name.text);
            (object(&format!("{kind}Binding"), &name.text, &spec), self.sources.span(*loc))
        });
        let bindings: Vec<(Value, Span)> = bindings.collect();
        let object = object(kind, &facts.name.text, &spec);
        let (places, span) = (self.spans(&facts.places), self.sources.span(facts.loc));
        Some(Policy { object, bindings, is_own, places, span })
    }

    /// Checks that the specs have only fields of the API; reports each other field.
    fn check(&mut self, facts: &PolicyFacts, spec: &Value) -> Option<()> {
        let at = facts.patch.as_ref().map_or(facts.loc, |(_, loc)| *loc);
        let directive = facts.patch.as_ref().and_then(|(patch, _)| directive(patch));
        let (policy, binding) = match facts.mutating {
            true => ("MutatingAdmissionPolicySpec", "MutatingAdmissionPolicyBindingSpec"),
            false => ("ValidatingAdmissionPolicySpec", "ValidatingAdmissionPolicyBindingSpec"),
        };
        let fault = match directive {
            Some(directive) => Some(format!("has the directive `{directive}`, which is not known")),
            None => misfit(policy, spec, "the API"),
        };
        let mut faults: Vec<_> = fault
            .map(|fault| (at, format!("the policy {:?} {fault}", facts.name.text)))
            .into_iter()
            .collect();
        for (name, spec, loc) in &facts.bindings {
            let fault = misfit(binding, spec, "the API");
            faults.extend(fault.map(|fault| (*loc, format!("the binding {:?} {fault}", name.text))));
        }
        let is_right = faults.is_empty();
        self.diagnostics.extend(faults.into_iter().map(|(loc, message)| {
            Diagnostic::error(Code::POLICY, loc, message)
                .help("write fields as the API has them, such as objectSelector")
        }));
        is_right.then_some(())
    }
}

/// Whether rules match only objects of `[group, version, plural]`, or their status.
fn is_about(rules: &Value, own: [&str; 3]) -> bool {
    let [group, version, plural] = own;
    let [rule] = rules.as_array().map_or(&[][..], Vec::as_slice) else { return false };
    let resources = rule["resources"].as_array().map_or(&[][..], Vec::as_slice);
    rule["apiGroups"] == json!([group])
        && rule["apiVersions"] == json!([version])
        && resources.iter().all(|name| *name == plural || *name == format!("{plural}/status"))
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    })
}
