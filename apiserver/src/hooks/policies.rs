//! `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy` with their bindings, compiled.

use std::collections::HashMap;
use std::sync::Arc;

use kubesmith_apiextensions::admission::{Compiler, Conditions, Validations};
use kubesmith_apiextensions::cel::{Expression, NamedExpression};
use serde_json::Value;

use super::criteria::Criteria;
use crate::groups::ADMISSION_REGISTRATION;
use crate::meta;
use crate::store::Object;

/// The policies that have bindings.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    pub(crate) mutating: Vec<Arc<Policy<Mutations>>>,
    pub(crate) validating: Vec<Arc<Policy<Validations>>>,
}

impl Policies {
    /// Compiles the stored policies and their bindings, which are sorted by name. Policies whose objects are those of `before`
    /// are taken from there.
    pub(crate) fn new(stored: &dyn Fn(&str) -> Vec<Arc<Object>>, before: &Self) -> Self {
        let of = |kind: &str| {
            let named = |plural: &str| stored(&format!("{kind}{plural}.{ADMISSION_REGISTRATION}"));
            (named("admissionpolicies"), named("admissionpolicybindings"))
        };
        Self {
            mutating: bound(&of("mutating"), &before.mutating),
            validating: bound(&of("validating"), &before.validating),
        }
    }
}

fn bound<B: Body>(
    (policies, bindings): &(Vec<Arc<Object>>, Vec<Arc<Object>>),
    before: &[Arc<Policy<B>>],
) -> Vec<Arc<Policy<B>>> {
    let known: HashMap<&[u64], &Arc<Policy<B>>> =
        before.iter().map(|policy| (policy.versions.as_slice(), policy)).collect();
    let mut by_policy: HashMap<&str, Vec<&Object>> = HashMap::new();
    for binding in bindings {
        by_policy.entry(meta::member(&binding.value["spec"], "policyName")).or_default().push(binding);
    }
    let policy = |policy: &Arc<Object>| {
        let own = by_policy.get(meta::name(&policy.value))?;
        let versions: Vec<u64> = [policy.rv].into_iter().chain(own.iter().map(|b| b.rv)).collect();
        let compiled = known.get(versions.as_slice()).map(|known| Arc::clone(known));
        Some(compiled.unwrap_or_else(|| {
            let bindings = own.iter().map(|binding| Binding::of(&binding.value)).collect();
            Arc::new(Policy::of(&policy.value, versions, bindings))
        }))
    };
    policies.iter().filter_map(policy).collect()
}

/// The expressions of a policy, which depend on its kind.
pub(crate) trait Body {
    /// Compiles it from the spec of a policy whose variables the compiler knows.
    fn of(spec: &Value, compiler: &Compiler) -> Self;
}

/// One policy.
#[derive(Debug)]
pub(crate) struct Policy<B> {
    /// The resource versions of the policy and of its bindings.
    versions: Vec<u64>,
    pub(crate) name: String,
    pub(crate) criteria: Criteria,
    pub(crate) conditions: Conditions,
    /// `failurePolicy: Fail`.
    pub(crate) fails: bool,
    pub(crate) param_kind: Option<ParamKind>,
    pub(crate) variables: Vec<NamedExpression>,
    pub(crate) body: B,
    pub(crate) bindings: Vec<Binding>,
}

impl<B: Body> Policy<B> {
    fn of(policy: &Value, versions: Vec<u64>, bindings: Vec<Binding>) -> Self {
        let spec = &policy["spec"];
        let has_params = spec["paramKind"].is_object();
        let mut compiler = Compiler::new(has_params).composing();
        let variables = spec["variables"].as_array().into_iter().flatten();
        let variables = variables
            .map(|v| compiler.variable(meta::member(v, "name"), meta::member(v, "expression")))
            .collect();
        Self {
            versions,
            name: meta::name(policy).to_owned(),
            criteria: Criteria::of_policy(&spec["matchConstraints"]),
            conditions: Conditions::of(&spec["matchConditions"], &Compiler::new(has_params)),
            fails: spec["failurePolicy"] != "Ignore",
            param_kind: has_params.then(|| ParamKind::of(&spec["paramKind"])),
            variables,
            body: B::of(spec, &compiler),
            bindings,
        }
    }
}

/// A binding, which puts a policy in force.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    pub(crate) criteria: Option<Criteria>,
    pub(crate) param_ref: Option<ParamRef>,
    /// `Deny`, `Warn`, `Audit`; empty for mutating policies.
    pub(crate) actions: Vec<String>,
}

impl Binding {
    fn of(binding: &Value) -> Self {
        let spec = &binding["spec"];
        Self {
            name: meta::name(binding).to_owned(),
            criteria: spec.get("matchResources").map(Criteria::of_policy),
            param_ref: spec.get("paramRef").map(ParamRef::of),
            actions: meta::strings(&spec["validationActions"]).into_iter().map(str::to_owned).collect(),
        }
    }
}

impl Body for Validations {
    fn of(spec: &Value, compiler: &Compiler) -> Self {
        Self::new(spec, compiler)
    }
}

/// The mutations of a policy.
#[derive(Debug)]
pub(crate) struct Mutations {
    pub(crate) patches: Vec<Patch>,
    /// `reinvocationPolicy: IfNeeded`.
    pub(crate) reinvoked: bool,
}

impl Body for Mutations {
    fn of(spec: &Value, compiler: &Compiler) -> Self {
        let mutations = spec["mutations"].as_array().into_iter().flatten();
        Self {
            patches: mutations.map(|mutation| Patch::of(mutation, compiler)).collect(),
            reinvoked: spec["reinvocationPolicy"] == "IfNeeded",
        }
    }
}

/// One mutation of a policy.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) source: String,
    pub(crate) expression: Result<Expression, String>,
    /// `patchType: JSONPatch`; otherwise `ApplyConfiguration`.
    pub(crate) is_json_patch: bool,
}

impl Patch {
    fn of(mutation: &Value, compiler: &Compiler) -> Self {
        let is_json_patch = mutation["patchType"] == "JSONPatch";
        let part = if is_json_patch { "jsonPatch" } else { "applyConfiguration" };
        let source = meta::member(&mutation[part], "expression");
        Self { source: source.to_owned(), expression: compiler.patch(source, is_json_patch), is_json_patch }
    }
}

/// `paramKind` of a policy.
#[derive(Debug)]
pub(crate) struct ParamKind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
}

impl ParamKind {
    fn of(kind: &Value) -> Self {
        let text = |name: &str| meta::member(kind, name).to_owned();
        Self { api_version: text("apiVersion"), kind: text("kind") }
    }
}

/// `paramRef` of a binding.
#[derive(Debug)]
pub(crate) struct ParamRef {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) selector: Option<Value>,
    /// `parameterNotFoundAction: Deny`.
    pub(crate) denies: bool,
}

impl ParamRef {
    fn of(reference: &Value) -> Self {
        let text = |name: &str| meta::member(reference, name).to_owned();
        Self {
            name: text("name"),
            namespace: text("namespace"),
            selector: reference.get("selector").cloned(),
            denies: reference["parameterNotFoundAction"] != "Allow",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The policies of a store with a validating policy and its binding, which have these resource versions.
    fn with(policy: u64, binding: u64, before: &Policies) -> Policies {
        let stored = |collection: &str| match collection.split('.').next() {
            Some("validatingadmissionpolicies") => {
                vec![Arc::new(Object::new(json!({"metadata": {"name": "p"}, "spec": {}}), policy))]
            }
            Some("validatingadmissionpolicybindings") => {
                let binding_object = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p"}});
                vec![Arc::new(Object::new(binding_object, binding))]
            }
            _ => Vec::new(),
        };
        Policies::new(&stored, before)
    }

    #[test]
    fn policy_is_compiled_again_only_if_it_or_a_binding_has_changed() {
        let first = with(1, 2, &Policies::default());
        let is_kept = |later: &Policies| Arc::ptr_eq(&first.validating[0], &later.validating[0]);
        assert!(is_kept(&with(1, 2, &first)));
        assert!(!is_kept(&with(3, 2, &first)));
        assert!(!is_kept(&with(1, 3, &first)));
    }
}
