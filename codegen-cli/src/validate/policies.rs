//! Checks admission policies as an API server does, and their expressions against the schema of the kind.

use std::collections::HashMap;

use kubesmith_apiextensions::admission::{self, Compiled, Compiler};
use kubesmith_apiextensions::cel::{Patched, Type};
use kubesmith_apiextensions::structural::Schema;
use kubesmith_apimachinery::field::Cause;
use kubesmith_core::book;
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
        concat!(book!("guides/policies.md"), " has an example of each key")
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
    let schema = version.schema.cloned().and_then(|schema| evaluated(schema, false));
    let (true, Some(schema), Some(whole)) = (policy.is_own, schema, version.schema) else {
        return Vec::new();
    };
    let object = type_of(whole.clone(), &version.resource.kind);
    let param_kind = &spec["paramKind"];
    let mut compilers = vec![Compiler::with_object(&object, param_kind.is_object().then_some(&Type::Dyn))];
    compilers.extend(params(all, param_kind).map(|params| Compiler::with_object(&object, Some(&params))));
    let conditions = compilers.clone();
    let mut faults = Vec::new();
    for (index, condition) in items(spec, "matchConditions") {
        let source = text(&condition["expression"]);
        let fault = fits(&conditions, |compiler| compiler.any(source));
        faults.push((format!("spec.matchConditions[{index}].expression"), fault));
    }
    for (index, variable) in items(spec, "variables") {
        let (name, source) = (text(&variable["name"]), text(&variable["expression"]));
        let made: Vec<Compiled> =
            compilers.iter_mut().map(|compiler| compiler.variable(name, source).expression).collect();
        let fault = fits(&made, |made| made.as_ref().map(|_| ()).map_err(Clone::clone));
        faults.push((format!("spec.variables[{index}].expression"), fault));
    }
    let fields = [
        ("validations", "expression"),
        ("validations", "messageExpression"),
        ("auditAnnotations", "valueExpression"),
    ];
    for (list, field) in fields {
        for (index, item) in items(spec, list) {
            let Some(source) = item[field].as_str() else { continue };
            let fault = fits(&compilers, |compiler| compiler.any(source));
            faults.push((format!("spec.{list}[{index}].{field}"), fault));
        }
    }
    let patched = Patched::custom(&schema);
    for (index, mutation) in items(spec, "mutations") {
        for (field, is_json_patch) in [("applyConfiguration", false), ("jsonPatch", true)] {
            let Some(source) = mutation[field]["expression"].as_str() else { continue };
            let fault = fits(&compilers, |compiler| {
                let expression = compiler.patch(source, is_json_patch)?;
                admission::patch_fits(&expression, source, &patched)
            });
            faults.push((format!("spec.mutations[{index}].{field}.expression"), fault));
        }
    }
    let kind = &version.resource.kind;
    let reports = faults
        .into_iter()
        .filter_map(|(path, fault)| Some(misfit(input, policy, kind, &path, &fault.err()?)));
    reports.collect()
}

/// Reports an expression at a path of a policy that does not fit a kind.
fn misfit(input: &Input<'_>, policy: &Policy, kind: &str, path: &str, fault: &str) -> Diagnostic {
    let span = longest(&policy.places, path).unwrap_or(&policy.span);
    let message = format!("the expression does not fit {kind}: {fault}");
    let help = "the policy would fail at each request; use fields of the schema, and has() for optional ones";
    Diagnostic::error(Code::POLICY, input.loc(span), message).help(help)
}

/// Checks an expression by all compilers. The first knows no type of the parameters, as in an API server, where they fit any
/// operator; of the second, only missing fields count.
fn fits<C>(compilers: &[C], check: impl Fn(&C) -> Result<(), String>) -> Result<(), String> {
    let mut found = compilers.iter().map(check);
    found.next().unwrap_or(Ok(()))?;
    match found.next() {
        Some(Err(fault)) if fault.contains("undefined field") => Err(fault),
        _ => Ok(()),
    }
}

/// The type of the objects of a kind. Parts of which the schema says nothing have any fields.
fn type_of(schema: model::Schema, kind: &str) -> Type {
    let schema = evaluated(schema, true);
    schema.map_or(Type::Dyn, |schema| admission::custom_object(&schema, kind, &Type::String))
}

/// The schema by which objects are evaluated. `opens`: parts without fields of their own accept any value.
fn evaluated(mut schema: model::Schema, opens: bool) -> Option<Schema> {
    schema.walk_mut(&mut |node| {
        // At evaluation, times and bytes are strings.
        node.format = None;
        let is_scalar = matches!(node.type_.as_deref(), Some("string" | "integer" | "number" | "boolean"));
        let has_parts =
            !node.properties.is_empty() || node.additional_properties.is_some() || node.items.is_some();
        if opens && (node.preserve_unknown_fields || !is_scalar && !has_parts) {
            *node = model::Schema { int_or_string: true, ..model::Schema::default() };
        }
    });
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
        known::schema_with(&found.path, true)
    };
    let schema = all.find(own).and_then(|(_, version)| version.schema.cloned());
    Some(schema.or_else(of_kubernetes).map_or(Type::Dyn, |schema| type_of(schema, kind)))
}

fn items<'a>(spec: &'a Value, list: &str) -> impl Iterator<Item = (usize, &'a Value)> + use<'a> {
    spec[list].as_array().map_or(&[][..], Vec::as_slice).iter().enumerate()
}
