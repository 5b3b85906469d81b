//! The status of validating admission policies: the type errors of their expressions.
//!
//! Follows kube-controller-manager's `pkg/controller/validatingadmissionpolicystatus` and apiserver's
//! `pkg/admission/plugin/policy/validating/typechecking.go` (1.36).

use std::collections::BTreeMap;
use std::sync::Arc;

use kubesmith_apiextensions::admission::Compiler;
use kubesmith_apiextensions::cel::Type;
use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{Cluster, POLICIES};
use crate::admission::object_type;
use crate::meta;
use crate::registry::{Registry, ResourceDef};

pub(super) const WATCHES: &[&str] = &[POLICIES.collection];
const MANAGER: &str = "validatingadmissionpolicy-status";
/// The limit of types that a policy is checked for (`maxTypesToCheck`).
const MOST_TYPES: usize = 10;

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(POLICIES, key) else { return Ok(None) };
    let policy = &stored.value;
    let generation = policy["metadata"]["generation"].as_i64().unwrap_or_default();
    if generation <= policy["status"]["observedGeneration"].as_i64().unwrap_or_default() {
        return Ok(None);
    }
    let warnings = warnings(&cluster.server().registry(), &policy["spec"]);
    let checking = if warnings.is_empty() { json!({}) } else { json!({"expressionWarnings": warnings}) };
    let status = json!({"observedGeneration": generation, "typeChecking": checking});
    cluster.apply_status(POLICIES, policy, MANAGER, &status).await?;
    Ok(None)
}

/// The warnings of all expressions (`TypeChecker.Check`).
fn warnings(registry: &Registry, spec: &Value) -> Vec<Value> {
    let kinds = kinds(registry, &spec["matchConstraints"]);
    let params = spec["paramKind"].is_object().then(|| param_type(registry, &spec["paramKind"]));
    let compilers: Vec<(String, Compiler)> = kinds
        .iter()
        .map(|(name, def)| (name.clone(), compiler(spec, object_type(def), params.clone())))
        .collect();
    let mut out = Vec::new();
    for (i, validation) in spec["validations"].as_array().into_iter().flatten().enumerate() {
        for field in ["expression", "messageExpression"] {
            let source = meta::member(validation, field);
            if source.is_empty() {
                continue;
            }
            let faults = compilers.iter().filter_map(|(kind, compiler)| {
                compiler.any(source).err().map(|issues| format!("{kind}: {issues}\n"))
            });
            let faults: Vec<String> = faults.collect();
            if !faults.is_empty() {
                let place = format!("spec.validations[{i}].{field}");
                out.push(json!({"fieldRef": place, "warning": faults.join("\n")}));
            }
        }
    }
    out
}

fn compiler(spec: &Value, object: Type, params: Option<Type>) -> Compiler {
    let mut compiler = Compiler::typed(object, params);
    for variable in spec["variables"].as_array().into_iter().flatten() {
        compiler.variable(meta::member(variable, "name"), meta::member(variable, "expression"));
    }
    compiler
}

/// Returns the kinds that rules name without wildcards, as Go shows them, ordered by group, version and kind
/// (`typesToCheck`).
fn kinds(registry: &Registry, constraints: &Value) -> Vec<(String, Arc<ResourceDef>)> {
    let mut found = BTreeMap::new();
    for rule in constraints["resourceRules"].as_array().into_iter().flatten() {
        let sorted = |name: &str| {
            let mut all = meta::strings(&rule[name]);
            all.sort_unstable();
            all
        };
        let is_open = |all: &[&str]| all.iter().any(|name| name.contains('*'));
        let (groups, versions) = (sorted("apiGroups"), sorted("apiVersions"));
        if is_open(&groups) || is_open(&versions) {
            continue;
        }
        let mut resources = sorted("resources");
        resources.retain(|name| !name.contains(['*', '/']));
        let all = groups.iter().flat_map(|group| versions.iter().map(move |version| (*group, *version)));
        let all = all.flat_map(|(group, version)| resources.iter().map(move |name| (group, version, *name)));
        let defs = all.filter_map(|(group, version, name)| registry.find(group, version, name));
        for def in defs.take(MOST_TYPES) {
            found.insert((def.group.clone(), def.version.clone(), def.kind.clone()), def);
        }
    }
    let shown = |((group, version, kind), def): ((String, String, String), Arc<ResourceDef>)| {
        (format!("{group}/{version}, Kind={kind}"), def)
    };
    found.into_iter().map(shown).collect()
}

fn param_type(registry: &Registry, kind: &Value) -> Type {
    let (version, kind) = (meta::member(kind, "apiVersion"), meta::member(kind, "kind"));
    let def = registry.all().find(|def| def.kind == kind && def.api_version() == version);
    def.map_or(Type::Dyn, |def| object_type(def))
}
