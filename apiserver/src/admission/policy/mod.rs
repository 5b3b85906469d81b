//! Admission policies: `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy` with their bindings.
//!
//! Source: apiserver's pkg/admission/plugin/policy. Policies and bindings apply in the order of their names; kube-apiserver has
//! no order.

mod mutating;
mod params;
mod patch;
mod validating;

pub(super) use mutating::mutate;
pub(super) use validating::validate;

use std::collections::HashMap;
use std::sync::Arc;

use kubesmith_apiextensions::admission::{Compiler, Conditions, Validations};
use kubesmith_apiextensions::cel::NamedExpression;
use serde_json::{Value, json};

use self::params::{ParamKind, ParamRef};
use super::attributes::Attributes;
use super::matching::Criteria;
use crate::groups::ADMISSION_REGISTRATION;
use crate::meta;
use crate::registry::ResourceDef;
use crate::status::{ApiError, ApiResult, ErrorSubject};
use crate::store::Object;

/// The policies that have bindings.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    mutating: Vec<Arc<Policy<mutating::Mutations>>>,
    validating: Vec<Arc<Policy<Validations>>>,
}

impl Policies {
    /// Compiles the stored policies and their bindings, which are sorted by name. Policies whose objects are those of `before`
    /// are taken from there.
    pub(super) fn new(stored: &dyn Fn(&str) -> Vec<Arc<Object>>, before: &Self) -> Self {
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
trait Body {
    /// Compiles it from the spec of a policy whose variables the compiler knows.
    fn of(spec: &Value, compiler: &Compiler) -> Self;
}

/// One policy.
#[derive(Debug)]
struct Policy<B> {
    /// The resource versions of the policy and of its bindings.
    versions: Vec<u64>,
    name: String,
    criteria: Criteria,
    conditions: Conditions,
    /// `failurePolicy: Fail`.
    fails: bool,
    param_kind: Option<ParamKind>,
    variables: Vec<NamedExpression>,
    body: B,
    bindings: Vec<Binding>,
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
struct Binding {
    name: String,
    criteria: Option<Criteria>,
    param_ref: Option<ParamRef>,
    /// `Deny`, `Warn`, `Audit`; empty for mutating policies.
    actions: Vec<String>,
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

/// A policy that applies to a request, with one of its bindings and one of the binding's parameters.
struct Invocation<'p, B> {
    policy: &'p Policy<B>,
    binding: &'p Binding,
    /// The version in which the policy sees the request.
    def: Arc<ResourceDef>,
    /// `null` without parameters.
    params: Value,
}

/// A policy with a faulty configuration.
struct Misconfigured<'p, B> {
    policy: &'p Policy<B>,
    binding: Option<&'p Binding>,
    message: String,
}

impl<'p, B> Misconfigured<'p, B> {
    fn policy(policy: &'p Policy<B>, error: &str) -> Self {
        Self { policy, binding: None, message: format!("failed to configure policy: {error}") }
    }

    fn binding(policy: &'p Policy<B>, binding: &'p Binding, error: &str) -> Self {
        Self { policy, binding: Some(binding), message: format!("failed to configure binding: {error}") }
    }
}

type Found<'p, B> = Vec<Result<Invocation<'p, B>, Misconfigured<'p, B>>>;

/// The policies that apply to a request, in order.
async fn applying<'p, B>(
    policies: &'p [Arc<Policy<B>>],
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Found<'p, B> {
    let mut found = Vec::new();
    for policy in policies {
        let def = match policy.criteria.matches(attributes, object) {
            Ok(Some(def)) => def,
            Ok(None) => continue,
            Err(error) => {
                found.push(Err(Misconfigured::policy(policy, error.message())));
                continue;
            }
        };
        let kind = match policy.param_kind.as_ref().map(|kind| kind.resolve(attributes)).transpose() {
            Ok(kind) => kind,
            Err(error) => {
                found.push(Err(Misconfigured::policy(policy, &error)));
                continue;
            }
        };
        for binding in &policy.bindings {
            match binding.criteria.as_ref().map(|criteria| criteria.matches(attributes, object)).transpose() {
                Ok(None | Some(Some(_))) => {}
                Ok(Some(None)) => continue,
                Err(error) => {
                    found.push(Err(Misconfigured::binding(policy, binding, error.message())));
                    continue;
                }
            }
            match params::collect(attributes, kind.as_ref(), binding.param_ref.as_ref()).await {
                Ok(all) => found.extend(
                    all.into_iter()
                        .map(|params| Ok(Invocation { policy, binding, def: def.clone(), params })),
                ),
                Err(error) => found.push(Err(Misconfigured::binding(policy, binding, &error))),
            }
        }
    }
    found
}

/// Reports whether policies skip the request: otherwise they could block their own repair (`admissionResources` of
/// generic/plugin.go).
fn are_exempt(attributes: &Attributes<'_>) -> bool {
    let def = attributes.def();
    def.group == ADMISSION_REGISTRATION
        && (def.plural.contains("admissionpolicies") || def.plural.contains("admissionpolicybindings"))
}

/// The namespace of a request as expressions see it (`CreateNamespaceObject`); `null` for namespaces themselves and for
/// cluster scope.
///
/// # Errors
/// Returns `NotFound` if the request needs the namespace and it does not exist.
fn namespace_of(attributes: &Attributes<'_>) -> ApiResult<Value> {
    const SHOWN: [&str; 12] = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "finalizers",
    ];
    let (name, server) = (attributes.namespace(), &attributes.call.server);
    if name.is_empty() || attributes.is_namespace() {
        return Ok(Value::Null);
    }
    let Some(stored) = server.store.get("namespaces", name) else {
        if !server.needs_namespaces() {
            return Ok(Value::Null);
        }
        return Err(ApiError::not_found(ErrorSubject::new("", "namespaces", name)));
    };
    let member = |name: &str| stored.value.get(name).cloned().unwrap_or_else(|| json!({}));
    let mut metadata = member("metadata");
    meta::object_mut(&mut metadata).retain(|name, _| SHOWN.contains(&name.as_str()));
    Ok(json!({"metadata": metadata, "spec": member("spec"), "status": member("status")}))
}

#[cfg(test)]
mod tests {
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
