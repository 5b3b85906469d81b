//! The tables of the control plane's own kinds: admission policies, APIServices, components and flow control.

use serde_json::Value;

use super::{AGE, BuiltInColumn, Cell, NAME, column, list, made, string, text};
use crate::selector;

const PARAM_KIND: BuiltInColumn = made("ParamKind", |o, _| {
    let kind = &o["spec"]["paramKind"];
    match kind.is_object() {
        true => format!("{}/{}", string(kind, "apiVersion"), string(kind, "kind")).into(),
        false => "<unset>".into(),
    }
});

pub(super) const VALIDATING_POLICIES: &[BuiltInColumn] = &[
    NAME,
    column("Validations", "integer", Cell::Made(|o, _| list(&o["spec"]["validations"]).len().into())),
    PARAM_KIND,
    AGE,
];

pub(super) const MUTATING_POLICIES: &[BuiltInColumn] = &[
    NAME,
    column("Mutations", "integer", Cell::Made(|o, _| list(&o["spec"]["mutations"]).len().into())),
    PARAM_KIND,
    AGE,
];

pub(super) const POLICY_BINDINGS: &[BuiltInColumn] =
    &[NAME, text("PolicyName", Cell::At("/spec/policyName")), made("ParamRef", |o, _| param_ref(o)), AGE];

fn param_ref(binding: &Value) -> Value {
    let reference = &binding["spec"]["paramRef"];
    let (name, namespace) = (string(reference, "name"), string(reference, "namespace"));
    match (name, namespace) {
        _ if reference.is_null() => "<unset>".into(),
        ("", "") => selector::text(&reference["selector"]).into(),
        ("", namespace) => format!("{namespace}/{}", selector::text(&reference["selector"])).into(),
        (name, "") => name.into(),
        (name, namespace) => format!("{namespace}/{name}").into(),
    }
}

pub(super) const API_SERVICES: &[BuiltInColumn] = &[
    NAME,
    made("Service", |o, _| {
        let service = &o["spec"]["service"];
        match service.is_object() {
            true => format!("{}/{}", string(service, "namespace"), string(service, "name")).into(),
            false => "Local".into(),
        }
    }),
    made("Available", |o, _| {
        let available = condition(o, "Available");
        match string(available, "status") {
            "" => "".into(),
            "False" => format!("False ({})", string(available, "reason")).into(),
            status => status.into(),
        }
    }),
    AGE,
];

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.find(|condition| condition["type"] == kind).unwrap_or(&Value::Null)
}

pub(super) const COMPONENTS: &[BuiltInColumn] = &[
    NAME,
    made("Status", |o, _| match string(&o["conditions"][0], "status") {
        "True" => "Healthy".into(),
        "False" => "Unhealthy".into(),
        _ => "Unknown".into(),
    }),
    text("Message", Cell::At("/conditions/0/message")),
    text("Error", Cell::At("/conditions/0/error")),
];

pub(super) const FLOW_SCHEMAS: &[BuiltInColumn] = &[
    NAME,
    text("PriorityLevel", Cell::At("/spec/priorityLevelConfiguration/name")),
    column("MatchingPrecedence", "string", Cell::Number("/spec/matchingPrecedence")),
    made("DistinguisherMethod", |o, _| {
        o["spec"]["distinguisherMethod"]["type"].as_str().unwrap_or("<none>").into()
    }),
    AGE,
    made("MissingPL", |o, _| condition(o, "Dangling")["status"].as_str().unwrap_or("?").into()),
];

pub(super) const PRIORITY_LEVELS: &[BuiltInColumn] = &[
    NAME,
    text("Type", Cell::At("/spec/type")),
    made("NominalConcurrencyShares", |o, _| match &o["spec"]["limited"]["nominalConcurrencyShares"] {
        Value::Null => "<none>".into(),
        shares => shares.clone(),
    }),
    made("Queues", |o, _| queuing(o, "queues")),
    made("HandSize", |o, _| queuing(o, "handSize")),
    made("QueueLengthLimit", |o, _| queuing(o, "queueLengthLimit")),
    AGE,
];

fn queuing(level: &Value, member: &str) -> Value {
    match &level["spec"]["limited"]["limitResponse"]["queuing"][member] {
        Value::Null => "<none>".into(),
        number => number.clone(),
    }
}
