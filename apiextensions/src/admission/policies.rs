//! The checks of admission policies and their bindings in kube-apiserver (1.36,
//! pkg/apis/admissionregistration/validation).

use kubesmith_apimachinery::field::{Cause, Path};
use kubesmith_apimachinery::names;
use serde_json::Value;

use super::compiler::cause as cause_of;
use super::rules::{check_conditions, check_rule, check_selector, not_supported, one_of};
use super::{Compiler, list, member, strings};
use crate::structural::NameRule;

/// The limit of a policy's audit annotations, and of the expression of one, in bytes.
const MAX_ANNOTATIONS: usize = 20;
const MAX_ANNOTATION: usize = 5 * 1024;

/// The operations of mutating policies: a deletion has nothing to change.
const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];

type Causes = Vec<Cause>;

/// Returns the faults of a ValidatingAdmissionPolicy; `old` is the stored one.
pub fn validating_policy(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let (spec, path, mut causes) = (&object["spec"], Path::new("spec"), Vec::new());
    check_common(spec, old, &path, &mut causes);
    let mut compiler = Compiler::new(has_params(spec));
    check_variables(spec, &path, &mut compiler, &mut causes);
    let is_empty = |name: &str| list(spec, name).next().is_none();
    if is_empty("validations") && is_empty("auditAnnotations") {
        for name in ["validations", "auditAnnotations"] {
            let text = "validations or auditAnnotations must contain at least one item";
            causes.push(Cause::required(path.child(name), text));
        }
        return causes;
    }
    for (i, validation) in list(spec, "validations").enumerate() {
        check_validation(validation, &path.child("validations").index(i), &compiler, &mut causes);
    }
    check_annotations(object, &path.child("auditAnnotations"), &compiler, &mut causes);
    causes
}

/// Returns the faults of a MutatingAdmissionPolicy; `old` is the stored one.
pub fn mutating_policy(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let (spec, path, mut causes) = (&object["spec"], Path::new("spec"), Vec::new());
    check_common(spec, old, &path, &mut causes);
    let mut compiler = Compiler::new(has_params(spec)).composing();
    check_operations(&spec["matchConstraints"], &path.child("matchConstraints"), &mut causes);
    check_variables(spec, &path, &mut compiler, &mut causes);
    if list(spec, "mutations").next().is_none() {
        causes.push(Cause::required(path.child("mutations"), "mutations must contain at least one item"));
    }
    for (i, mutation) in list(spec, "mutations").enumerate() {
        check_mutation(mutation, &path.child("mutations").index(i), &compiler, &mut causes);
    }
    if member(spec, "reinvocationPolicy").is_empty() {
        causes.push(Cause::required(path.child("reinvocationPolicy"), ""));
    } else {
        one_of(spec, "reinvocationPolicy", &["IfNeeded", "Never"], &path, &mut causes);
    }
    causes
}

fn has_params(spec: &Value) -> bool {
    spec["paramKind"].is_object()
}

/// Checks the common fields of both kinds of policies.
fn check_common(spec: &Value, old: Option<&Value>, path: &Path, causes: &mut Causes) {
    one_of(spec, "failurePolicy", &["Fail", "Ignore"], path, causes);
    if has_params(spec) {
        check_param_kind(&spec["paramKind"], &path.child("paramKind"), causes);
    }
    let constraints = path.child("matchConstraints");
    if spec["matchConstraints"].is_object() {
        check_match(&spec["matchConstraints"], &constraints, causes);
        if list(&spec["matchConstraints"], "resourceRules").next().is_none() {
            causes.push(Cause::required(constraints.child("resourceRules"), ""));
        }
    } else {
        causes.push(Cause::required(constraints, ""));
    }
    let same = |name: &str| old.is_some_and(|old| old["spec"][name] == spec[name]);
    if !(same("paramKind") && same("matchConditions")) {
        let conditions = path.child("matchConditions");
        check_conditions(&spec["matchConditions"], &Compiler::new(has_params(spec)), &conditions, causes);
    }
}

fn check_param_kind(kind: &Value, path: &Path, causes: &mut Causes) {
    let (version, name) = (member(kind, "apiVersion"), member(kind, "kind"));
    let at = path.child("apiVersion");
    if version.is_empty() {
        causes.push(Cause::required(&at, ""));
    } else if version.matches('/').count() > 1 {
        causes.push(Cause::invalid(&at, version, format!("unexpected GroupVersion string: {version}")));
    } else {
        let (group, short) = version.split_once('/').unwrap_or(("", version));
        let faults = if group.is_empty() { Vec::new() } else { names::dns1123_subdomain(group) };
        if !faults.is_empty() {
            causes.push(Cause::invalid(&at, group, faults.join(",")));
        }
        let faults = names::dns1035_label(short);
        if short.is_empty() {
            causes.push(Cause::invalid(&at, version, "version must be specified"));
        } else if !faults.is_empty() {
            causes.push(Cause::invalid(&at, short, faults.join(",")));
        }
    }
    let faults = names::dns1035_label(&name.to_lowercase());
    if name.is_empty() {
        causes.push(Cause::required(path.child("kind"), ""));
    } else if !faults.is_empty() {
        let text = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
        causes.push(Cause::invalid(path.child("kind"), name, text));
    }
}

fn check_match(resources: &Value, path: &Path, causes: &mut Causes) {
    one_of(resources, "matchPolicy", &["Equivalent", "Exact"], path, causes);
    for field in ["namespaceSelector", "objectSelector"] {
        check_selector(&resources[field], &path.child(field), causes);
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        for (i, rule) in list(resources, field).enumerate() {
            let path = path.child(field).index(i);
            check_names(&rule["resourceNames"], &path.child("resourceNames"), causes);
            check_rule(rule, &path, causes);
        }
    }
}

fn check_names(list: &Value, path: &Path, causes: &mut Causes) {
    let given = strings(list);
    for (i, name) in given.iter().enumerate() {
        let faults = NameRule::PathSegment.check(name);
        causes.extend(faults.into_iter().map(|fault| Cause::invalid(path.index(i), *name, fault)));
        if given[..i].contains(name) {
            causes.push(Cause::duplicate(path.index(i), *name));
        }
    }
}

/// kube-apiserver's path does not name the rule.
fn check_operations(resources: &Value, path: &Path, causes: &mut Causes) {
    let at = path.child("resourceRules").child("operations");
    for rule in list(resources, "resourceRules") {
        for operation in strings(&rule["operations"]) {
            if !MUTATING_OPERATIONS.contains(&operation) {
                causes.push(not_supported(&at, operation, MUTATING_OPERATIONS));
            }
        }
    }
}

fn check_variables(spec: &Value, path: &Path, compiler: &mut Compiler, causes: &mut Causes) {
    for (i, variable) in list(spec, "variables").enumerate() {
        let path = path.child("variables").index(i);
        let (name, source) = (member(variable, "name"), member(variable, "expression"));
        if name.trim().is_empty() {
            causes.push(Cause::required(path.child("name"), "name is not specified"));
        } else if !is_identifier(name) {
            causes.push(Cause::invalid(path.child("name"), name, "must be a valid CEL identifier"));
        }
        if source.trim().is_empty() {
            causes.push(Cause::required(path.child("expression"), "expression is not specified"));
        } else if let Err(fault) = compiler.variable(name, source).expression {
            causes.push(cause_of(path.child("expression"), source, fault));
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(is_part)
        && !crate::cel::is_reserved(name)
}

fn check_validation(validation: &Value, path: &Path, compiler: &Compiler, causes: &mut Causes) {
    let text = |name: &str| member(validation, name);
    let (source, message, dynamic) = (text("expression"), text("message"), text("messageExpression"));
    if source.trim().is_empty() {
        causes.push(Cause::required(path.child("expression"), "expression is not specified"));
    } else if let Err(fault) = compiler.condition(source) {
        causes.push(cause_of(path.child("expression"), source, fault));
    }
    let at = path.child("messageExpression");
    if !dynamic.is_empty() && dynamic.trim().is_empty() {
        causes.push(Cause::invalid(at, dynamic, "must be non-empty if specified"));
    } else if let (false, Err(fault)) = (dynamic.is_empty(), compiler.message(dynamic)) {
        causes.push(cause_of(at, dynamic, fault));
    }
    if !message.is_empty() && message.trim().is_empty() {
        causes.push(Cause::invalid(path.child("message"), message, "must be non-empty if specified"));
    } else if message.trim().contains(['\n', '\r']) {
        causes.push(Cause::invalid(path.child("message"), message, "must not contain line breaks"));
    }
    one_of(validation, "reason", &["Forbidden", "Invalid", "RequestEntityTooLarge"], path, causes);
}

fn check_annotations(object: &Value, path: &Path, compiler: &Compiler, causes: &mut Causes) {
    let annotations = &object["spec"]["auditAnnotations"];
    if annotations.as_array().is_some_and(|all| all.len() > MAX_ANNOTATIONS) {
        let text = format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations");
        causes.push(Cause::invalid(path, annotations.clone(), text));
    }
    let mut seen = Vec::new();
    for (i, annotation) in list(&object["spec"], "auditAnnotations").enumerate() {
        let path = path.index(i);
        let key = member(annotation, "key");
        check_annotation(member(&object["metadata"], "name"), annotation, &path, compiler, causes);
        if seen.contains(&key) {
            causes.push(Cause::duplicate(path.child("key"), key));
        }
        seen.push(key);
    }
}

fn check_annotation(policy: &str, annotation: &Value, path: &Path, compiler: &Compiler, causes: &mut Causes) {
    let (key, source) = (member(annotation, "key"), member(annotation, "valueExpression"));
    let qualified = format!("{policy}/{key}");
    let faults = names::qualified_name(&qualified);
    causes.extend(faults.into_iter().map(|f| Cause::invalid(path.child("key"), qualified.as_str(), f)));
    let (at, trimmed) = (path.child("valueExpression"), source.trim());
    if trimmed.is_empty() {
        causes.push(Cause::required(at, "valueExpression is not specified"));
    } else if trimmed.len() > MAX_ANNOTATION {
        causes.push(Cause::required(at, format!("must not exceed {MAX_ANNOTATION} bytes in length")));
    } else if let Err(fault) = compiler.annotation(trimmed) {
        causes.push(cause_of(at, source, fault));
    }
}

fn check_mutation(mutation: &Value, path: &Path, compiler: &Compiler, causes: &mut Causes) {
    let kind = member(mutation, "patchType");
    let (own, other) = match kind {
        "JSONPatch" => ("jsonPatch", "applyConfiguration"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch"),
        "" => return causes.push(Cause::required(path.child("patchType"), "")),
        _ => return one_of(mutation, "patchType", &["ApplyConfiguration", "JSONPatch"], path, causes),
    };
    let at = path.child(own);
    if mutation[own].is_object() {
        let source = member(&mutation[own], "expression").trim();
        if source.is_empty() {
            causes.push(Cause::required(at.child("expression"), ""));
        } else if let Err(fault) = compiler.patch(source, own == "jsonPatch") {
            causes.push(cause_of(at.child("expression"), source, fault));
        }
    } else {
        causes.push(Cause::required(at, format!("must be specified when patchType is {kind}")));
    }
    if mutation[other].is_object() {
        let text = format!("must not be specified when patchType is {kind}");
        causes.push(Cause::invalid(path.child(other), format!("{{{other}}}"), text));
    }
}

/// Returns the faults of a ValidatingAdmissionPolicyBinding.
pub fn validating_policy_binding(object: &Value) -> Vec<Cause> {
    let (spec, path, mut causes) = (&object["spec"], Path::new("spec"), Vec::new());
    check_binding(spec, &path, &mut causes);
    check_actions(&spec["validationActions"], &path.child("validationActions"), &mut causes);
    causes
}

/// Returns the faults of a MutatingAdmissionPolicyBinding.
pub fn mutating_policy_binding(object: &Value) -> Vec<Cause> {
    let (spec, path, mut causes) = (&object["spec"], Path::new("spec"), Vec::new());
    check_binding(spec, &path, &mut causes);
    check_operations(&spec["matchResources"], &path.child("matchResources"), &mut causes);
    causes
}

fn check_binding(spec: &Value, path: &Path, causes: &mut Causes) {
    let (name, at) = (member(spec, "policyName"), path.child("policyName"));
    if name.is_empty() {
        causes.push(Cause::required(at, ""));
    } else {
        let faults = names::dns1123_subdomain(name);
        causes.extend(faults.into_iter().map(|fault| Cause::invalid(&at, name, fault)));
    }
    if spec["paramRef"].is_object() {
        check_param_ref(&spec["paramRef"], &path.child("paramRef"), causes);
    }
    if spec["matchResources"].is_object() {
        check_match(&spec["matchResources"], &path.child("matchResources"), causes);
    }
}

fn check_param_ref(reference: &Value, path: &Path, causes: &mut Causes) {
    const BOTH: &str = "name and selector are mutually exclusive";
    let (name, selector) = (member(reference, "name"), &reference["selector"]);
    if !name.is_empty() {
        let faults = NameRule::PathSegment.check(name);
        causes.extend(faults.into_iter().map(|fault| Cause::invalid(path.child("name"), name, fault)));
        if selector.is_object() {
            causes.push(Cause::forbidden(path.child("name"), BOTH));
        }
    }
    if selector.is_object() {
        check_selector(selector, &path.child("selector"), causes);
        if !name.is_empty() {
            causes.push(Cause::forbidden(path.child("selector"), BOTH));
        }
    } else if name.is_empty() {
        causes.push(Cause::required(path, "one of name or selector must be specified"));
    }
    if member(reference, "parameterNotFoundAction").is_empty() {
        causes.push(Cause::required(path.child("parameterNotFoundAction"), ""));
    } else {
        one_of(reference, "parameterNotFoundAction", &["Deny", "Allow"], path, causes);
    }
}

fn check_actions(list: &Value, path: &Path, causes: &mut Causes) {
    const ACTIONS: &[&str] = &["Audit", "Deny", "Warn"];
    let actions = strings(list);
    for (i, action) in actions.iter().enumerate() {
        if !ACTIONS.contains(action) {
            causes.push(not_supported(&path.index(i), action, ACTIONS));
        }
        if actions[..i].contains(action) {
            causes.push(Cause::duplicate(path.index(i), *action));
        }
    }
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        let text = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                    response and headers serves no purpose)";
        causes.push(Cause::invalid(path, list.clone(), text));
    }
    if actions.is_empty() {
        causes.push(Cause::required(path, "at least one validation action is required"));
    }
}
