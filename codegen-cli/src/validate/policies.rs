//! Checks admission policies as an API server does, and their expressions against the schema of the kind.

use std::collections::HashMap;

use kubesmith_apiextensions::admission::{self, Compiler};
use kubesmith_apiextensions::cel::{Patched, Type};
use kubesmith_apiextensions::structural::Schema;
use kubesmith_apimachinery::field::Cause;
use kubesmith_core::diag::Code;
use serde_json::Value;

use super::Input;
use super::server::{longest, words};
use crate::definition::{Definition, Version};
use crate::diag::Diagnostic;
use crate::ir::{Policy, Span};
use crate::{known, schema as model};

/// Checks that the policies and bindings have different names.
pub(super) fn names_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<(&str, &str), &Span> = HashMap::new();
    for policy in input.ir.policies() {
        // The bindings of a duplicate policy are also duplicates.
        if let Some(twice) = named_twice(input, &mut seen, &policy.object, &policy.span) {
            out.push(twice);
            continue;
        }
        let bindings = policy.bindings.iter();
        out.extend(bindings.filter_map(|(binding, span)| named_twice(input, &mut seen, binding, span)));
    }
}

fn named_twice<'i>(
    input: &Input<'_>,
    seen: &mut HashMap<(&'i str, &'i str), &'i Span>,
    object: &'i Value,
    span: &'i Span,
) -> Option<Diagnostic> {
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    let first = seen.insert((kind, name), span)?;
    let message = format!("two objects of the kind {kind} are called {name:?}");
    Some(
        Diagnostic::error(Code::POLICY_TWICE, input.loc(span), message)
            .secondary(input.loc(first), "the first one")
            .help("give each a name of its own"),
    )
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Checks that API servers accept the policies of a definition, and that their expressions fit the objects.
pub(super) fn are_accepted(
    input: &Input<'_>,
    all: &[Definition<'_>],
    definition: &Definition<'_>,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for version in &definition.versions {
        for policy in &version.resource.policies {
            let found = refusals(input, policy);
            if found.is_empty() {
                out.extend(mistyped(input, all, version, policy));
            }
            out.extend(found);
        }
    }
    out
}

fn refusals(input: &Input<'_>, policy: &Policy) -> Vec<Diagnostic> {
    let is_mutating = policy.object["kind"] == "MutatingAdmissionPolicy";
    let causes = match is_mutating {
        true => admission::mutating_policy(&policy.object, None),
        false => admission::validating_policy(&policy.object, None),
    };
    let own =
        causes.iter().map(|cause| (longest(&policy.places, &cause.field).unwrap_or(&policy.span), cause));
    let mut out: Vec<Diagnostic> =
        own.map(|(span, cause)| refusal(input, span, "policy", &policy.object, cause)).collect();
    for (binding, span) in &policy.bindings {
        let causes = match is_mutating {
            true => admission::mutating_policy_binding(binding),
            false => admission::validating_policy_binding(binding),
        };
        out.extend(causes.iter().map(|cause| refusal(input, span, "binding", binding, cause)));
    }
    out
}

fn refusal(input: &Input<'_>, span: &Span, what: &str, object: &Value, cause: &Cause) -> Diagnostic {
    let name = text(&object["metadata"]["name"]);
    // The location has a text of the user.
    let fault = if cause.detail.is_empty() { words(cause) } else { cause.detail.clone() };
    let message = format!("an API server refuses the {what} {name:?}: {}: {fault}", cause.field);
    let help = if cause.field.ends_with("xpression") {
        "expressions use object, oldObject, request, params, namespaceObject, authorizer and variables.NAME"
    } else {
        "docs/guides/policies.md has an example of each key"
    };
    Diagnostic::error(Code::POLICY, input.loc(span), message).help(help)
}

/// Reports fields in expressions that objects do not have, and patches that do not fit them. kube-apiserver's own check (`TypeChecker` of
/// pkg/admission/plugin/policy/validating/typechecking.go) only warns, even of valid expressions: it confuses
/// formats with types, and does not know `authorizer.requestResource`.
fn mistyped(
    input: &Input<'_>,
    all: &[Definition<'_>],
    version: &Version<'_>,
    policy: &Policy,
) -> Vec<Diagnostic> {
    let spec = &policy.object["spec"];
    let schema = version.schema.cloned().and_then(evaluated);
    let (true, Some(schema)) = (policy.is_own, schema) else { return Vec::new() };
    let object = admission::custom_object(&schema, &version.resource.kind, &Type::String);
    let params = params(all, &spec["paramKind"]);
    let conditions = Compiler::with_object(&object, params.as_ref());
    let mut compiler = Compiler::with_object(&object, params.as_ref());
    let mut out = Vec::new();
    let mut check = |path: String, fault: Result<(), String>| {
        let Err(fault) = fault else { return };
        let span = longest(&policy.places, &path).unwrap_or(&policy.span);
        let message = format!("the expression does not fit {}: {fault}", version.resource.kind);
        let help =
            "the policy would fail at each request; use fields of the schema, and has() for optional ones";
        out.push(Diagnostic::error(Code::POLICY, input.loc(span), message).help(help));
    };
    for (index, condition) in items(spec, "matchConditions") {
        let source = text(&condition["expression"]);
        check(format!("spec.matchConditions[{index}].expression"), conditions.any(source));
    }
    for (index, variable) in items(spec, "variables") {
        let made = compiler.variable(text(&variable["name"]), text(&variable["expression"]));
        check(format!("spec.variables[{index}].expression"), made.expression.map(|_| ()));
    }
    let fields = [
        ("validations", "expression"),
        ("validations", "messageExpression"),
        ("auditAnnotations", "valueExpression"),
    ];
    for (list, field) in fields {
        for (index, item) in items(spec, list) {
            let Some(source) = item[field].as_str() else { continue };
            check(format!("spec.{list}[{index}].{field}"), compiler.any(source));
        }
    }
    let patched = Patched::custom(&schema);
    for (index, mutation) in items(spec, "mutations") {
        for (field, is_json_patch) in [("applyConfiguration", false), ("jsonPatch", true)] {
            let Some(source) = mutation[field]["expression"].as_str() else { continue };
            let fault = compiler
                .patch(source, is_json_patch)
                .and_then(|expression| admission::patch_fits(&expression, source, &patched));
            check(format!("spec.mutations[{index}].{field}.expression"), fault);
        }
    }
    out
}

/// The schema by which objects are evaluated.
fn evaluated(mut schema: model::Schema) -> Option<Schema> {
    // At evaluation, times and bytes are strings.
    schema.walk_mut(&mut |node| node.format = None);
    Schema::enforced(&schema.to_value()).ok()
}

/// The type of a policy's params; `None` without params. Kinds that are neither in this run nor Kubernetes' own accept any field.
fn params(definitions: &[Definition<'_>], param_kind: &Value) -> Option<Type> {
    let kind = param_kind["kind"].as_str()?;
    let api_version = text(&param_kind["apiVersion"]);
    let mut all = definitions
        .iter()
        .flat_map(|definition| definition.versions.iter().map(move |version| (definition.group, version)));
    let own = |(group, version): &(&str, &Version<'_>)| {
        version.resource.kind == kind && api_version == format!("{group}/{}", version.name)
    };
    let of_kubernetes = || {
        let mut kinds = known::kinds::all().iter();
        let found = kinds.find(|found| found.kind == kind && found.api_version() == api_version)?;
        known::schema(&found.path)
    };
    let schema = all.find(own).and_then(|(_, version)| version.schema.cloned());
    let schema = schema.or_else(of_kubernetes).and_then(evaluated);
    Some(schema.map_or(Type::Dyn, |schema| admission::custom_object(&schema, kind, &Type::String)))
}

fn items<'a>(spec: &'a Value, list: &str) -> impl Iterator<Item = (usize, &'a Value)> + use<'a> {
    spec[list].as_array().map_or(&[][..], Vec::as_slice).iter().enumerate()
}
