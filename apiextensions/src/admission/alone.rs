//! ValidatingAdmissionPolicies as far as objects alone decide on them, without a cluster.
//!
//! An API server evaluates the rest: policies with parameters or a namespace selector, and expressions that read the
//! user, the namespace, access rights, or metadata that the server sets. Every refusal is one of the server, with two
//! exceptions: a rule about a name that the server generates, and an object that an admission mutation completes first.

use kubesmith_apimachinery::field::Cause;
use kubesmith_apimachinery::labels;
use serde_json::Value;

use super::{Compiler, Conditions, Denial, Request, Rule, Validations, list, member};
use crate::cel::{Binding, NamedExpression};
use crate::structural::{Schema, Written};

/// The policies that apply to the objects of one version of a custom resource, in the order of their names.
#[derive(Debug, Default)]
pub struct ObjectPolicies(Vec<Policy>);

#[derive(Debug)]
struct Policy {
    name: String,
    selection: Selection,
    conditions: Conditions,
    /// `failurePolicy: Fail`.
    fails: bool,
    variables: Vec<NamedExpression>,
    validations: Validations,
    /// The bindings that refuse requests, by name.
    bindings: Vec<(String, Selection)>,
}

impl ObjectPolicies {
    /// Takes the policies that the object decides on, and their bindings, out of a list of objects. `kind` and `schema`
    /// are those of the custom resource.
    #[must_use]
    pub fn new(objects: &[Value], kind: &str, schema: &Schema) -> Self {
        let Some(compiler) = Compiler::of_object_alone(schema, kind) else { return Self::default() };
        let mut policies: Vec<Policy> = objects
            .iter()
            .filter(|object| object["kind"] == "ValidatingAdmissionPolicy")
            .filter_map(|policy| Policy::new(policy, objects, compiler.clone()))
            .collect();
        policies.sort_by(|a, b| a.name.cmp(&b.name));
        Self(policies)
    }

    /// Returns the refusals of a write that has no other fault. `request` is a request for the object of the write.
    #[must_use]
    pub fn check(&self, request: &Request<'_>, written: &Written) -> Vec<Cause> {
        let name = member(&written.object["metadata"], "name");
        let request = Request { name, ..*request };
        self.0.iter().flat_map(|policy| policy.check(&request, written)).collect()
    }
}

impl Policy {
    fn new(policy: &Value, objects: &[Value], mut compiler: Compiler) -> Option<Self> {
        let (name, spec) = (member(&policy["metadata"], "name"), &policy["spec"]);
        let bindings = bindings(name, objects);
        if spec["paramKind"].is_object() || bindings.is_empty() {
            return None;
        }
        let is_known = |condition: &Value| compiler.any(member(condition, "expression")).is_ok();
        if !list(spec, "matchConditions").all(is_known) {
            return None;
        }
        let conditions = Conditions::of(&spec["matchConditions"], &compiler);
        let mut variables = Vec::new();
        for variable in list(spec, "variables") {
            let (name, source) = (member(variable, "name"), member(variable, "expression"));
            // An expression that uses a variable of the cluster is one of the cluster itself.
            if compiler.any(source).is_ok() {
                variables.push(compiler.variable(name, source));
            }
        }
        let mut own = spec.clone();
        for (name, field) in [("validations", "expression"), ("auditAnnotations", "valueExpression")] {
            let known = |item: &Value| compiler.any(member(item, field)).is_ok();
            if let Some(items) = own[name].as_array_mut() {
                items.retain(known);
            }
        }
        Some(Self {
            name: name.to_owned(),
            selection: Selection::new(&spec["matchConstraints"])?,
            conditions,
            fails: spec["failurePolicy"] != "Ignore",
            variables,
            validations: Validations::new(&own, &compiler),
            bindings,
        })
    }

    fn check(&self, request: &Request<'_>, written: &Written) -> Vec<Cause> {
        let matches = |selection: &Selection| selection.matches(request, written);
        if !matches(&self.selection) {
            return Vec::new();
        }
        let mut seen = serde_json::json!({"operation": request.operation});
        if !request.subresource.is_empty() {
            // `AdmissionRequest` omits empty fields.
            seen["subResource"] = request.subresource.into();
            seen["requestSubResource"] = request.subresource.into();
        }
        let values = [
            ("object", Binding::Json(&written.object)),
            ("oldObject", Binding::Json(written.old.as_ref().unwrap_or(&Value::Null))),
            ("request", Binding::Json(&seen)),
        ];
        let denials = match self.conditions.hold(&values) {
            Ok(true) => self.validations.check(&self.variables, self.fails, &values),
            Ok(false) => Vec::new(),
            Err(error) => Denial::of_error(self.fails, error).into_iter().collect(),
        };
        let in_force = self.bindings.iter().filter(|(_, selection)| matches(selection));
        in_force.flat_map(|(binding, _)| denials.iter().map(|denial| self.cause(binding, denial))).collect()
    }

    fn cause(&self, binding: &str, denial: &Denial) -> Cause {
        Cause::denied(format!(
            "ValidatingAdmissionPolicy '{}' with binding '{binding}' denied request: {}",
            self.name, denial.message
        ))
    }
}

/// The bindings of a policy that refuse requests whatever the cluster has, by name.
fn bindings(policy: &str, objects: &[Value]) -> Vec<(String, Selection)> {
    let own = objects.iter().filter(|object| {
        let denies = list(&object["spec"], "validationActions").any(|action| action == "Deny");
        object["kind"] == "ValidatingAdmissionPolicyBinding"
            && object["spec"]["policyName"] == policy
            && denies
    });
    let selected = |binding: &Value| {
        let selection = Selection::new(&binding["spec"]["matchResources"])?;
        Some((member(&binding["metadata"], "name").to_owned(), selection))
    };
    let mut bindings: Vec<_> = own.filter_map(selected).collect();
    bindings.sort_by(|(a, _), (b, _)| a.cmp(b));
    bindings
}

/// `MatchResources` without a namespace selector.
#[derive(Debug)]
struct Selection {
    /// Empty for all requests.
    rules: Vec<Rule>,
    excluded: Vec<Rule>,
    objects: labels::Selector,
}

impl Selection {
    /// `None` if the cluster decides on the matches, or if a selector is invalid.
    fn new(resources: &Value) -> Option<Self> {
        let rules = |name: &str| list(resources, name).map(Rule::of).collect();
        let selector = |name: &str| match &resources[name] {
            Value::Null => Ok(labels::Selector::everything()),
            selector => labels::Selector::from_json(selector),
        };
        selector("namespaceSelector").is_ok_and(|selector| selector.is_everything()).then_some(())?;
        let objects = selector("objectSelector").ok()?;
        Some(Self { rules: rules("resourceRules"), excluded: rules("excludeResourceRules"), objects })
    }

    fn matches(&self, request: &Request<'_>, written: &Written) -> bool {
        let take = |rules: &[Rule]| rules.iter().any(|rule| rule.takes(request));
        let selected = |object: &Value| self.objects.matches_json(&object["metadata"]["labels"]);
        (self.rules.is_empty() || take(&self.rules))
            && !take(&self.excluded)
            && (selected(&written.object) || written.old.as_ref().is_some_and(selected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::enforced(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}}},
            "status": {"type": "object", "properties": {"size": {"type": "integer"}}}}}))
        .unwrap()
    }

    /// A policy of the name `p`, for the objects and their status, and its binding.
    fn policy(spec: Value, binding: Value) -> [Value; 2] {
        let rule = json!({"apiGroups": ["e.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["ws", "ws/status"]});
        let mut policy = json!({"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
            "spec": {"matchConstraints": {"resourceRules": [rule]}}});
        let mut bound = json!({"kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"},
            "spec": {"policyName": "p", "validationActions": ["Deny"]}});
        for (object, more) in [(&mut policy, spec), (&mut bound, binding)] {
            let Value::Object(more) = more else { panic!("{more}") };
            for (key, value) in more {
                match (&mut object["spec"][&key], value) {
                    (Value::Object(members), Value::Object(value)) => members.extend(value),
                    (place, value) => *place = value,
                }
            }
        }
        [policy, bound]
    }

    fn refusals(policy: &[Value; 2], subresource: &str, old: Option<Value>) -> Vec<String> {
        let object = json!({"apiVersion": "e.com/v1", "kind": "W", "metadata": {"name": "w", "labels": {"a": "b"}},
            "spec": {"size": 3, "at": "2026-01-01T00:00:00Z"}, "status": {"size": 3}});
        let operation = if old.is_some() { "UPDATE" } else { "CREATE" };
        let request = Request {
            operation,
            group: "e.com",
            version: "v1",
            resource: "ws",
            subresource,
            name: "",
            namespaced: true,
        };
        let written = Written { object, old, causes: Vec::new(), warnings: Vec::new() };
        let causes = ObjectPolicies::new(policy, "W", &schema()).check(&request, &written);
        let place = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";
        causes.iter().map(|cause| cause.detail.strip_prefix(place).unwrap().to_owned()).collect()
    }

    fn of_rule(expression: &str) -> Vec<String> {
        let validations = json!([{"expression": expression, "message": "no"}]);
        refusals(&policy(json!({"validations": validations}), json!({})), "", None)
    }

    #[test]
    fn policy_is_evaluated_on_what_the_object_decides() {
        for rule in [
            "object.spec.size < 3",
            "object.spec.at == ''",
            "oldObject != null",
            "request.operation == 'UPDATE'",
            "has(request.subResource)",
            "has(request.requestSubResource)",
            "has(object.metadata.labels) && object.metadata.labels['a'] == 'c'",
        ] {
            assert_eq!(of_rule(rule), ["no"], "{rule}");
        }
        // A server decides on these.
        for rule in [
            "request.userInfo.username == 'me'",
            "namespaceObject.metadata.name == 'a'",
            "authorizer.path('/').check('get').allowed()",
            "object.metadata.uid == ''",
            "has(object.metadata.creationTimestamp)",
            "request.dryRun",
        ] {
            assert_eq!(of_rule(rule), [""; 0], "{rule}");
        }
        assert_eq!(of_rule("object.spec.size == 3"), [""; 0]);
    }

    #[test]
    fn policy_is_left_to_the_server_when_the_cluster_decides_whether_it_applies() {
        let denying = || json!({"validations": [{"expression": "false"}]});
        let with = |key: &str, value: Value| {
            let mut spec = denying();
            spec[key] = value;
            spec
        };
        let selector = || json!({"matchLabels": {"a": "b"}});
        let denied = ["failed expression: false"];
        for (spec, binding, refused) in [
            (denying(), json!({}), true),
            (with("paramKind", json!({"apiVersion": "v1", "kind": "ConfigMap"})), json!({}), false),
            (
                with("matchConditions", json!([{"name": "a", "expression": "request.dryRun"}])),
                json!({}),
                false,
            ),
            (
                with("matchConditions", json!([{"name": "a", "expression": "object.spec.size == 4"}])),
                json!({}),
                false,
            ),
            (with("matchConstraints", json!({"namespaceSelector": selector()})), json!({}), false),
            (with("matchConstraints", json!({"objectSelector": selector()})), json!({}), true),
            (denying(), json!({"validationActions": ["Warn", "Audit"]}), false),
            (denying(), json!({"policyName": "other"}), false),
            (denying(), json!({"matchResources": {"namespaceSelector": selector()}}), false),
            (denying(), json!({"matchResources": {"objectSelector": {"matchLabels": {"a": "c"}}}}), false),
        ] {
            let found = refusals(&policy(spec.clone(), binding.clone()), "", None);
            assert_eq!(found, &denied[..usize::from(refused)], "{spec} {binding}");
        }
    }

    #[test]
    fn error_of_an_expression_counts_by_the_failure_policy() {
        for (failure_policy, refused) in [("Fail", 1), ("Ignore", 0)] {
            let spec = json!({"failurePolicy": failure_policy, "validations": [{"expression": "object.metadata.annotations['a'] == ''"}]});
            let found = refusals(&policy(spec, json!({})), "", None);
            assert_eq!(found.len(), refused, "{found:?}");
        }
    }

    #[test]
    fn update_of_the_status_is_a_request_for_the_subresource() {
        let old = json!({"metadata": {"name": "w"}, "spec": {}, "status": {"size": 2}});
        let shrinks = json!({"validations": [{"expression": "object.status.size <= oldObject.status.size"}]});
        let [mut policy, binding] = policy(shrinks, json!({}));
        let found =
            |policy: &Value| refusals(&[policy.clone(), binding.clone()], "status", Some(old.clone())).len();
        assert_eq!(found(&policy), 1);
        policy["spec"]["validations"][0]["expression"] =
            json!("!has(request.subResource) || request.subResource != 'status'");
        assert_eq!(found(&policy), 1);
        policy["spec"]["matchConstraints"]["resourceRules"][0]["resources"] = json!(["ws"]);
        assert_eq!(found(&policy), 0);
    }
}
