//! The server's flow control. Source: `pkg/apis/flowcontrol/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field, go_struct};
use crate::builtin::initial;
use crate::names::NameRule;
use crate::status::Cause;

const VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const MAX_PRECEDENCE: i64 = 10_000;
const MAX_QUEUES: i64 = 10_000_000;
/// `shufflesharding.MaxHashBits`
const MAX_HASH_BITS: i64 = 60;

/// `ValidateFlowSchema`.
pub(in crate::builtin) fn flow_schema(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let spec = root.child("spec");
        let name = root.child("metadata").child("name");
        let precedence = spec.child("matchingPrecedence");
        match precedence.number_or_zero() {
            ..=0 => errors.invalid_number(&precedence, "must be a positive value"),
            1 if name.text() != "exempt" => {
                errors.invalid(&precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
            }
            number if number > MAX_PRECEDENCE => {
                errors.invalid(&precedence, &format!("must not be greater than {MAX_PRECEDENCE}"));
            }
            _ => {}
        }
        let method = spec.child("distinguisherMethod");
        let methods = &["ByNamespace", "ByUser"];
        if method.is_set() && !methods.contains(&method.child("type").text()) {
            let shown = go_struct(&json!({"type": method.child("type").text()}), &[("Type", "type")]);
            errors.not_supported_as(&method.child("type"), &shown, methods);
        }
        let level = spec.child("priorityLevelConfiguration").child("name");
        if level.is_empty() {
            errors.required(&level, "must reference a priority level");
        } else {
            errors.required_name(&level, NameRule::Subdomain);
        }
        for rule in spec.child("rules").items() {
            rule_with_subjects(&rule, errors);
        }
        mandatory(&root, &spec, errors);
        conditions(&root.child("status"), errors);
    })
}

/// `ValidateFlowSchemaPolicyRulesWithSubjects`.
fn rule_with_subjects(rule: &Field<'_>, errors: &mut Errors) {
    let subjects = rule.child("subjects");
    if subjects.is_empty() {
        errors.required(&subjects, "subjects must contain at least one value");
    }
    for it in subjects.items() {
        subject(&it, errors);
    }
    let (resources, paths) = (rule.child("resourceRules"), rule.child("nonResourceRules"));
    if resources.is_empty() && paths.is_empty() {
        errors.required(rule, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    for it in resources.items() {
        resource_rule(&it, errors);
    }
    for it in paths.items() {
        verbs(&it, errors);
        let urls = it.child("nonResourceURLs");
        if urls.is_empty() {
            errors.required(&urls, "nonResourceURLs must contain at least one value");
        } else if !wildcard(&urls, "non-resource URLs", errors) {
            for url in urls.items() {
                path(&url, errors);
            }
        }
    }
}

/// The kinds of subjects, and the members that describe them.
const SUBJECTS: [(&str, &str); 3] =
    [("Group", "group"), ("ServiceAccount", "serviceAccount"), ("User", "user")];

/// `ValidateFlowSchemaSubject`.
fn subject(subject: &Field<'_>, errors: &mut Errors) {
    let kind = subject.child("kind");
    let Some((_, member)) = SUBJECTS.iter().find(|(name, _)| *name == kind.text()) else {
        let text = json!(kind.text());
        return errors.not_supported(&kind.holding(&text), &SUBJECTS.map(|(kind, _)| kind));
    };
    let described = subject.child(member);
    if described.is_set() {
        let name = described.child("name");
        if name.is_empty() {
            errors.required(&name, "");
        } else if *member == "serviceAccount" && name.text() != "*" {
            errors.required_name(&name, NameRule::Subdomain);
        }
        if *member == "serviceAccount" {
            let namespace = described.child("namespace");
            if namespace.is_empty() {
                errors.required(&namespace, "must specify namespace for service account");
            }
            errors.optional_name(&namespace, NameRule::Label);
        }
    } else {
        errors.required(&described, &format!("{member} is required when subject kind is '{}'", kind.text()));
    }
    // In the order of the checks in each case of the original.
    for (other_kind, other) in ["ServiceAccount", "User", "Group"]
        .iter()
        .filter_map(|kind| SUBJECTS.iter().find(|(name, _)| name == kind))
    {
        let field = subject.child(other);
        if other != member && field.is_set() {
            errors
                .forbidden(&field, &format!("{other} is forbidden when subject kind is not '{other_kind}'"));
        }
    }
}

/// `ValidateFlowSchemaResourcePolicyRule`.
fn resource_rule(rule: &Field<'_>, errors: &mut Errors) {
    verbs(rule, errors);
    let (groups, resources, namespaces) =
        (rule.child("apiGroups"), rule.child("resources"), rule.child("namespaces"));
    if groups.is_empty() {
        errors.required(&groups, "resource rules must supply at least one api group");
    }
    wildcard(&groups, "api groups", errors);
    if resources.is_empty() {
        errors.required(&resources, "resource rules must supply at least one resource");
    }
    wildcard(&resources, "resources", errors);
    if namespaces.is_empty() && !rule.child("clusterScope").is_true() {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        errors.required(&namespaces, detail);
    } else if !wildcard(&namespaces, "namespaces", errors) {
        for namespace in namespaces.items() {
            for message in NameRule::Label.check(namespace.text()) {
                let text = json!(namespace.text());
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {message}");
                errors.invalid(&namespace.holding(&text), &detail);
            }
        }
    }
}

fn verbs(rule: &Field<'_>, errors: &mut Errors) {
    let verbs = rule.child("verbs");
    if verbs.is_empty() {
        errors.required(&verbs, "verbs must contain at least one value");
    } else if !wildcard(&verbs, "verbs", errors) && verbs.texts().iter().any(|verb| !VERBS.contains(verb)) {
        let texts = json!(verbs.texts());
        errors.not_supported(&verbs.holding(&texts), VERBS);
    }
}

/// Reports whether the list has the wildcard, which has to be its only item.
fn wildcard(list: &Field<'_>, what: &str, errors: &mut Errors) -> bool {
    let texts = list.texts();
    let found = texts.contains(&"*");
    if found && texts.len() > 1 {
        errors.invalid(list, &format!("if '*' is present, must not specify other {what}"));
    }
    found
}

/// `ValidateNonResourceURLPath`.
fn path(path: &Field<'_>, errors: &mut Errors) {
    let text = path.text();
    let fault = match text {
        "" => "must not be empty",
        "/" => return,
        _ if !text.starts_with('/') => "must start with slash",
        _ if text.contains(' ') => "must not contain white-space",
        _ if text.contains("//") => "must not contain double slash",
        _ => match text.matches('*').count() {
            0 => return,
            1 if text.ends_with("/*") => return,
            _ => "wildcard can only do suffix matching",
        },
    };
    let shown = json!(text);
    errors.invalid(&path.holding(&shown), fault);
}

/// `internalbootstrap`: the objects that every cluster has to have.
fn mandatory_object(kind: &str, name: &str) -> Option<Value> {
    matches!(name, "catch-all" | "exempt").then(|| initial::find(kind, name)).flatten()
}

/// Checks that the spec of such an object stays.
fn mandatory(root: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    let name = root.child("metadata").child("name");
    let Some(fixed) = mandatory_object(root.child("kind").text(), name.text()) else { return };
    // The exempt level may change its shares.
    let is_level = root.child("kind").text() == "PriorityLevelConfiguration";
    let (mut have, mut want) = (spec.value.clone(), fixed["spec"].clone());
    let mut detail = format!("spec of '{}' must equal the fixed value", name.text());
    if is_level && name.text() == "exempt" {
        for spec in [&mut have, &mut want] {
            spec.as_object_mut().map(|spec| spec.remove("exempt"));
        }
        detail = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value".to_owned();
    }
    if have != want {
        errors.invalid(spec, &detail);
    }
}

/// `ValidatePriorityLevelConfiguration`.
pub(in crate::builtin) fn priority_level(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    Errors::of(|errors| {
        let root = Field::root(object);
        let (spec, metadata) = (root.child("spec"), root.child("metadata"));
        let annotations = metadata.child("annotations");
        if annotations.child(PRESERVE_ZERO).is_set() {
            errors.forbidden(&annotations, &format!("annotation '{PRESERVE_ZERO}' is forbidden"));
        }
        let kind = spec.child("type");
        let text = json!(kind.text());
        if (metadata.child("name").text() == "exempt") != (kind.text() == "Exempt") {
            let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
            errors.invalid(&kind.holding(&text), detail);
        }
        let (limited, exempt) = (spec.child("limited"), spec.child("exempt"));
        match kind.text() {
            "Exempt" => {
                if limited.is_set() {
                    errors.forbidden(&limited, "must be nil if the type is not Limited");
                }
                shares(&exempt, errors);
                percent(&exempt.child("lendablePercent"), errors);
            }
            "Limited" => {
                if exempt.is_set() {
                    errors.forbidden(&exempt, "must be nil if the type is Limited");
                }
                if limited.is_set() {
                    limited_level(&limited, errors);
                } else {
                    errors.required(&limited, "must not be empty when type is Limited");
                }
            }
            _ => errors.not_supported(&kind.holding(&text), &["Exempt", "Limited"]),
        }
        mandatory(&root, &spec, errors);
        conditions(&root.child("status"), errors);
    })
}

fn shares(level: &Field<'_>, errors: &mut Errors) {
    let shares = level.child("nominalConcurrencyShares");
    if shares.number_or_zero() < 0 {
        errors.invalid(&shares, "must be a non-negative integer");
    }
}

fn percent(field: &Field<'_>, errors: &mut Errors) {
    if field.number().is_some_and(|percent| !(0..=100).contains(&percent)) {
        errors.invalid(field, "must be between 0 and 100, inclusive");
    }
}

/// `ValidateLimitedPriorityLevelConfiguration`.
fn limited_level(limited: &Field<'_>, errors: &mut Errors) {
    shares(limited, errors);
    let response = limited.child("limitResponse");
    let (kind, queuing) = (response.child("type"), response.child("queuing"));
    match kind.text() {
        "Reject" if queuing.is_set() => {
            errors.forbidden(&queuing, "must be nil if limited.limitResponse.type is not Limited");
        }
        "Reject" => {}
        "Queue" if queuing.is_set() => queues(&queuing, errors),
        "Queue" => {
            errors.required(&queuing, "must not be empty if limited.limitResponse.type is Limited");
        }
        text => {
            let text = json!(text);
            errors.not_supported(&kind.holding(&text), &["Queue", "Reject"]);
        }
    }
    percent(&limited.child("lendablePercent"), errors);
    let borrowing = limited.child("borrowingLimitPercent");
    if borrowing.number_or_zero() < 0 {
        errors.invalid(&borrowing, "if specified, must be a non-negative integer");
    }
}

/// `ValidatePriorityLevelQueuingConfiguration`.
fn queues(queuing: &Field<'_>, errors: &mut Errors) {
    let length = queuing.child("queueLengthLimit");
    if length.number_or_zero() <= 0 {
        errors.invalid_number(&length, "must be positive");
    }
    let (queues, hand) = (queuing.child("queues"), queuing.child("handSize"));
    let (deck, size) = (queues.number_or_zero(), hand.number_or_zero());
    if deck <= 0 {
        errors.invalid_number(&queues, "must be positive");
    } else if deck > MAX_QUEUES {
        errors.invalid(&queues, &format!("must not be greater than {MAX_QUEUES}"));
    }
    if size <= 0 {
        errors.invalid_number(&hand, "must be positive");
    } else if size > deck {
        errors.invalid(&hand, &format!("should not be greater than queues ({deck})"));
    } else if entropy_bits(deck, size) > MAX_HASH_BITS {
        let detail = format!(
            "required entropy bits of deckSize {deck} and handSize {size} should not be greater than {MAX_HASH_BITS}"
        );
        errors.invalid(&hand, &detail);
    }
}

/// `shufflesharding.RequiredEntropyBits`
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a deck has at most 10^7 queues"
)]
fn entropy_bits(deck: i64, hand: i64) -> i64 {
    ((deck as f64).log2() * hand as f64).ceil() as i64
}

/// `ValidateFlowSchemaStatusUpdate`, and its counterpart of levels.
pub(in crate::builtin) fn flow_status(object: &Value, _: &Value) -> Vec<Cause> {
    Errors::of(|errors| conditions(&Field::root(object).child("status"), errors))
}

fn conditions(status: &Field<'_>, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for condition in status.child("conditions").items() {
        let kind = condition.child("type");
        if seen.contains(&kind.text()) {
            errors.duplicate(&kind);
        }
        seen.push(kind.text());
        if kind.is_empty() {
            errors.required(&kind, "");
        }
    }
}
