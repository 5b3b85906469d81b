//! Devices that pods claim. Source: `pkg/apis/resource/validation`.

mod slices;
mod status;

use std::sync::Arc;

use kubesmith_apiextensions::cel::{Expression, ObjectType, Type, render};
use serde_json::{Value, json};

use super::field::{Errors, Field};
use super::{resources, volumes};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

pub(in crate::builtin) use slices::resource_slice;
pub(crate) use status::drop_deallocated;
pub(in crate::builtin) use status::resource_claim_status;

const MOST_REQUESTS: usize = 32;
const MOST_SUBREQUESTS: usize = 8;
const MOST_ITEMS: usize = 32;
const LONGEST_EXPRESSION: usize = 10 * 1024;
const LONGEST_PARAMETERS: usize = 10 * 1024;
const LONGEST_NAME: usize = 32;

/// `ValidateResourceClaim` and `ValidateResourceClaimUpdate`.
pub(in crate::builtin) fn resource_claim(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        match old {
            Some(old) => errors.immutable(&spec, &Field::root(old).child("spec")),
            None => claim(&spec.child("devices"), errors),
        }
    })
}

/// `ValidateResourceClaimTemplate` and `ValidateResourceClaimTemplateUpdate`.
pub(in crate::builtin) fn resource_claim_template(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        volumes::template_metadata(&spec.child("metadata"), errors);
        claim(&spec.child("spec").child("devices"), errors);
        if let Some(old) = old {
            errors.immutable(&spec, &Field::root(old).child("spec"));
        }
    })
}

/// The label of namespaces in which claims may have administrative access (`DRAAdminNamespaceLabelKey`).
const ADMIN: &str = "resource.kubernetes.io/admin-access";

/// Refuses administrative access in a new claim or template of this namespace without its label, and in a new allocation
/// (`AuthorizedForAdmin` and `AuthorizedForAdminStatus` of pkg/registry/resource/utils.go).
pub(in crate::builtin) fn admin_access(
    kind: &str,
    object: &Value,
    old: Option<&Value>,
    namespace: &Value,
) -> Option<Cause> {
    let is_allowed = namespace["metadata"]["labels"][ADMIN] == "true";
    let place = match kind {
        _ if is_allowed => None,
        "ResourceClaim" => match old {
            Some(old) if granted(old).is_some() => None,
            Some(_) => granted(object),
            None => requested(&object["spec"]),
        },
        "ResourceClaimTemplate" if old.is_none() => requested(&object["spec"]["spec"]),
        _ => None,
    }?;
    let text =
        format!("admin access to devices requires the `{ADMIN}: true` label on the containing namespace");
    Some(Cause::forbidden(place, &text))
}

/// The first request for administrative access; errors name the path in a claim also for a template.
fn requested(spec: &Value) -> Option<String> {
    let requests = Field::root(&spec["devices"]["requests"]).at("spec.devices.requests");
    let request = requests.items().find(|it| it.child("exactly").child("adminAccess").is_true())?;
    Some(request.child("adminAccess").path)
}

/// The first device that is allocated with administrative access.
fn granted(claim: &Value) -> Option<String> {
    let devices = Field::root(claim).child("status").child("allocation").child("devices");
    let access = devices.child("results").items().map(|result| result.child("adminAccess"));
    access.filter(Field::is_true).map(|access| access.path).next()
}

/// `ValidateDeviceClass`.
pub(in crate::builtin) fn device_class(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        selectors(&spec.child("selectors"), errors);
        each(&spec.child("config"), MOST_ITEMS, errors, configuration);
        let name = spec.child("extendedResourceName");
        if name.is_set() && !resources::is_extended(name.text()) {
            errors.invalid(&name, "must be a valid extended resource name");
        }
    })
}

/// `validateSlice`
fn each<'v>(list: &Field<'v>, most: usize, errors: &mut Errors, check: impl Fn(&Field<'v>, &mut Errors)) {
    if list.items().count() > most {
        errors.at_most(list, most);
        return;
    }
    for item in list.items() {
        check(&item, errors);
    }
}

/// `validateSet`: items that have keys.
fn set<'v>(
    list: &Field<'v>,
    most: usize,
    errors: &mut Errors,
    key: impl Fn(&Field<'v>) -> &'v str,
    check: impl Fn(&Field<'v>, &mut Errors),
) {
    each(list, most, errors, check);
    if list.items().count() > most {
        return;
    }
    unique(list, errors, |item| quoted(key(item)));
}

/// Reports items that repeat the key of another one, with the key.
fn unique<'v>(list: &Field<'v>, errors: &mut Errors, key: impl Fn(&Field<'v>) -> String) {
    let mut seen = Vec::new();
    for item in list.items() {
        let key = key(&item);
        if seen.contains(&key) {
            errors.duplicate_as(&item, &key);
        }
        seen.push(key);
    }
}

fn name(field: &Field<'_>, rule: NameRule, errors: &mut Errors) {
    let text = json!(field.text());
    errors.all_invalid(&field.holding(&text), rule.check(field.text()));
}

/// `validateDeviceClaim`.
fn claim(devices: &Field<'_>, errors: &mut Errors) {
    let requests = devices.child("requests");
    set(&requests, MOST_REQUESTS, errors, |request| request.child("name").text(), request);
    each(&devices.child("constraints"), MOST_ITEMS, errors, |constraint, errors| {
        references(&constraint.child("requests"), &requests, errors);
        let (matching, distinct) =
            (constraint.child("matchAttribute"), constraint.child("distinctAttribute"));
        match (matching.is_set(), distinct.is_set()) {
            (true, _) => full_name(&matching, errors),
            (false, true) => full_name(&distinct, errors),
            (false, false) => errors.required(
                constraint,
                "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
            ),
        }
    });
    each(&devices.child("config"), MOST_ITEMS, errors, |config, errors| {
        references(&config.child("requests"), &requests, errors);
        configuration(config, errors);
    });
}

/// The names of requests in a list.
fn references(list: &Field<'_>, requests: &Field<'_>, errors: &mut Errors) {
    set(list, MOST_REQUESTS, errors, |name| name.text(), |name, errors| reference(name, requests, errors));
}

/// `validateRequestNameRef`.
fn reference(reference: &Field<'_>, requests: &Field<'_>, errors: &mut Errors) {
    const DETAIL: &str = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
    let text = json!(reference.text());
    let reference = reference.holding(&text);
    let segments: Vec<&str> = reference.text().split('/').collect();
    if segments.len() <= 2 {
        for segment in &segments {
            let text = json!(segment);
            errors.all_invalid(&reference.holding(&text), NameRule::Label.check(segment));
        }
    }
    let named = |list: Field<'_>, name: &str| list.items().any(|it| it.child("name").text() == name);
    let is_known = match segments.as_slice() {
        [request] => named(requests.clone(), request),
        [request, sub] => requests
            .items()
            .any(|it| it.child("name").text() == *request && named(it.child("firstAvailable"), sub)),
        _ => false,
    };
    if !is_known {
        errors.invalid(&reference, DETAIL);
    }
}

/// `validateDeviceRequest`.
fn request(request: &Field<'_>, errors: &mut Errors) {
    name(&request.child("name"), NameRule::Label, errors);
    let (exactly, first) = (request.child("exactly"), request.child("firstAvailable"));
    match (exactly.is_set(), !first.is_empty()) {
        (false, false) => {
            errors.required(request, "exactly one of `exactly` or `firstAvailable` is required");
        }
        (true, true) => {
            let detail =
                "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            errors.invalid_as(request, "null", detail);
        }
        (true, false) => wanted(&exactly, errors),
        (false, true) => set(
            &first,
            MOST_SUBREQUESTS,
            errors,
            |sub| sub.child("name").text(),
            |sub, errors| {
                name(&sub.child("name"), NameRule::Label, errors);
                wanted(sub, errors);
            },
        ),
    }
}

/// `validateExactDeviceRequest`.
fn wanted(request: &Field<'_>, errors: &mut Errors) {
    errors.required_name(&request.child("deviceClassName"), NameRule::Subdomain);
    selectors(&request.child("selectors"), errors);
    let (mode, count) = (request.child("allocationMode"), request.child("count"));
    match mode.text() {
        "All" if count.number_or_zero() != 0 => {
            errors.invalid(&count, "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count.number_or_zero() <= 0 => {
            errors.invalid_number(&count, "must be greater than zero");
        }
        "All" | "ExactCount" => {}
        _ => errors.not_supported(&mode, &["All", "ExactCount"]),
    }
    for toleration in request.child("tolerations").items() {
        device_toleration(&toleration, errors);
    }
}

/// `validateDeviceToleration`.
fn device_toleration(toleration: &Field<'_>, errors: &mut Errors) {
    let (key, operator, value) =
        (toleration.child("key"), toleration.child("operator"), toleration.child("value"));
    if !key.is_empty() {
        errors.qualified_name(&key);
    }
    match operator.text() {
        "Exists" if !value.is_empty() => errors.invalid(&value, "must be empty for operator `Exists`"),
        "Exists" => {}
        "Equal" => label_value(&value, errors),
        "" => errors.required(&operator, ""),
        _ => errors.not_supported(&operator, &["Equal", "Exists"]),
    }
    let effect = toleration.child("effect");
    if !effect.is_empty() {
        errors.optional_one_of(&effect, EFFECTS);
    }
}

const EFFECTS: &[&str] = &["NoExecute", "NoSchedule", "None"];

fn label_value(value: &Field<'_>, errors: &mut Errors) {
    errors.all_invalid(value, kubesmith_apimachinery::names::label_value(value.text()));
}

/// The type of the variable `device` (`newCompiler` of dynamic-resource-allocation/cel/compile.go).
fn device_type() -> Type {
    let by_name = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
    let fields = [
        ("driver", Type::String),
        ("attributes", by_name(Type::Dyn)),
        ("capacity", by_name(Type::Opaque("kubernetes.Quantity"))),
        ("allowMultipleAllocations", Type::Bool),
    ];
    let fields = fields.into_iter().map(|(name, type_)| (name.to_owned(), type_)).collect();
    Type::Object(Arc::new(ObjectType { name: "kubernetes.DRADevice".to_owned(), fields }))
}

/// `validateSelectorSlice`.
fn selectors(list: &Field<'_>, errors: &mut Errors) {
    each(list, MOST_ITEMS, errors, |selector, errors| {
        let cel = selector.child("cel");
        if !cel.is_set() {
            errors.required(&cel, "");
            return;
        }
        let expression = cel.child("expression");
        if expression.text().len() > LONGEST_EXPRESSION {
            errors.too_long(&expression.path, LONGEST_EXPRESSION);
            return;
        }
        let text = json!(expression.text());
        let expression = expression.holding(&text);
        match Expression::compile(expression.text(), &[("device", device_type())]) {
            // Only the environment of devices has this macro, which the compiler of rules and policies lacks.
            Err(_) if expression.text().contains("cel.bind(") => {}
            Err(issues) => {
                let detail = format!("compilation failed: {}", render(expression.text(), &issues));
                errors.invalid(&expression, &detail);
            }
            Ok(compiled) => {
                let result = compiled.result_type();
                if !matches!(result, Type::Bool | Type::Dyn) {
                    let detail = format!("must evaluate to bool or the unknown type, not {result}");
                    errors.invalid(&expression, &detail);
                }
            }
        }
    });
}

/// `validateDeviceConfiguration`.
fn configuration(config: &Field<'_>, errors: &mut Errors) {
    let opaque = config.child("opaque");
    if !opaque.is_set() {
        errors.required(&opaque, "");
        return;
    }
    volumes::driver_name(&opaque.child("driver"), errors);
    data(&opaque.child("parameters"), errors);
}

/// `validateRawExtension`.
fn data(parameters: &Field<'_>, errors: &mut Errors) {
    if parameters.value.is_null() {
        errors.required(parameters, "");
    } else if parameters.value.to_string().len() > LONGEST_PARAMETERS {
        errors.too_long(&parameters.path, LONGEST_PARAMETERS);
    } else if !parameters.value.is_object() {
        errors.invalid_as(parameters, "\"<value omitted>\"", "must be a valid JSON object");
    }
}

/// `validateFullyQualifiedName`.
fn full_name(field: &Field<'_>, errors: &mut Errors) {
    qualified_name(field, field.text(), errors);
    if !field.text().contains('/') {
        errors.invalid(field, "a fully qualified name must be a domain and a name separated by a slash");
    }
}

/// `validateQualifiedName`.
fn qualified_name(field: &Field<'_>, name: &str, errors: &mut Errors) {
    let empty = json!("");
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [name] => identifier(field, name, errors),
        [domain, name] => {
            if domain.is_empty() {
                errors.invalid(&field.holding(&empty), "the domain must not be empty");
            } else {
                let text = json!(domain);
                volumes::driver_name(&field.holding(&text), errors);
            }
            if name.is_empty() {
                errors.invalid(&field.holding(&empty), "the name must not be empty");
            } else {
                identifier(field, name, errors);
            }
        }
        _ => {}
    }
}

/// `validateCIdentifier`.
fn identifier(field: &Field<'_>, name: &str, errors: &mut Errors) {
    if name.len() > LONGEST_NAME {
        errors.too_long(&field.path, LONGEST_NAME);
    }
    let text = json!(name);
    errors.all_invalid(&field.holding(&text), c_identifier(name));
}

/// `IsCIdentifier`.
fn c_identifier(name: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(is_part) && name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit()) {
        return Vec::new();
    }
    vec![
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters \
         or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
            .to_owned(),
    ]
}
