//! Classes of ingresses, and the addresses of services. Source: `pkg/apis/networking/validation`.

use serde_json::{Value, json};

use super::addresses;
use super::field::{Errors, Field, go_struct};
use crate::names::NameRule;
use crate::status::Cause;

/// `ValidateIngressClass` and `ValidateIngressClassUpdate`.
pub(in crate::builtin) fn ingress_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    const LONGEST: usize = 250;
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let text = json!(spec.child("controller").text());
        let controller = spec.child("controller").holding(&text);
        if let Some(old) = old
            && Field::root(old).child("spec").child("controller").text() != controller.text()
        {
            errors.invalid(&controller, "field is immutable");
        }
        if controller.text().len() > LONGEST {
            errors.too_long(&controller.path, LONGEST);
        }
        errors.domain_prefixed_path(&controller);
        let parameters = spec.child("parameters");
        if parameters.is_set() {
            class_parameters(&parameters, errors);
        }
    })
}

/// `validateIngressClassParametersReference`.
fn class_parameters(parameters: &Field<'_>, errors: &mut Errors) {
    let (scope, namespace) = (parameters.child("scope"), parameters.child("namespace"));
    let group = parameters.child("apiGroup");
    if group.is_set() {
        errors.all_invalid(&group, NameRule::Subdomain.check(group.text()));
    }
    for member in ["kind", "name"] {
        errors.required_name(&parameters.child(member), NameRule::PathSegment);
    }
    match scope.text() {
        "Namespace" if !namespace.is_set() => {
            errors.required(&namespace, "`parameters.scope` is set to 'Namespace'");
        }
        "Namespace" => errors.all_invalid(&namespace, NameRule::Label.check(namespace.text())),
        "Cluster" if namespace.is_set() => {
            errors.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
        }
        "Cluster" => {}
        _ => errors.not_supported(&scope, &["Cluster", "Namespace"]),
    }
}

/// `ValidateIPAddress` and `ValidateIPAddressUpdate`.
pub(in crate::builtin) fn ip_address(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    const PARENT: &[(&str, &str)] =
        &[("Group", "group"), ("Resource", "resource"), ("Namespace", "namespace"), ("Name", "name")];
    Errors::of(|errors| {
        let parent = Field::root(object).child("spec").child("parentRef");
        if parent.is_set() {
            errors.optional_name(&parent.child("group"), NameRule::Subdomain);
            errors.required_name(&parent.child("resource"), NameRule::PathSegment);
            errors.required_name(&parent.child("name"), NameRule::PathSegment);
            errors.optional_name(&parent.child("namespace"), NameRule::PathSegment);
        } else {
            errors.required(&parent, "");
        }
        if let Some(old) = old {
            let shown = |object: &Value| {
                let parent = Field::root(object).child("spec").child("parentRef");
                if !parent.is_set() {
                    return "null".to_owned();
                }
                let members =
                    PARENT.iter().map(|(_, name)| ((*name).to_owned(), parent.child(name).text().into()));
                go_struct(&Value::Object(members.collect()), PARENT)
            };
            if shown(object) != shown(old) {
                errors.invalid_as(&parent, &shown(object), "field is immutable");
            }
        }
    })
}

/// `ValidateServiceCIDR` and `ValidateServiceCIDRUpdate`.
pub(in crate::builtin) fn service_cidr(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let ranges = Field::root(object).child("spec").child("cidrs");
        let Some(old) = old else {
            service_ranges(&ranges, errors);
            return;
        };
        let before = Field::root(old).child("spec").child("cidrs");
        let changed = |errors: &mut Errors| {
            for (range, old) in ranges.items().zip(before.texts()) {
                if range.text() != old {
                    let text = json!(range.text());
                    errors.invalid(&range.holding(&text), "field is immutable");
                }
            }
        };
        match (before.items().count(), ranges.items().count()) {
            (old, new) if old == new => changed(errors),
            (1, 2) => {
                changed(errors);
                service_ranges(&ranges, errors);
            }
            _ => errors.invalid(&ranges, "field is immutable"),
        }
    })
}

/// `validateServiceCIDRSpec`.
fn service_ranges(ranges: &Field<'_>, errors: &mut Errors) {
    let texts = ranges.texts();
    match ranges.items().count() {
        0 => return errors.required(ranges, "at least one CIDR required"),
        1 | 2 => {}
        _ => {
            let shown = go_struct(&json!({"cidrs": ranges.value}), &[("CIDRs", "cidrs")]);
            return errors.invalid_as(ranges, &shown, "may only hold up to 2 values");
        }
    }
    let before = errors.len();
    for range in ranges.items() {
        let text = json!(range.text());
        addresses::canonical_range(&range.holding(&text), errors);
    }
    let is_v6 = |range: &str| range.contains(':');
    if let [first, second] = texts.as_slice()
        && errors.len() == before
        && is_v6(first) == is_v6(second)
    {
        let detail =
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.invalid(ranges, detail);
    }
}
