//! Finds input that an API server would refuse, by its own rules, and reports it in terms of the source.
//!
//! The rules are those of kubesmith-apiextensions, which the embedded API server also enforces. Its causes
//! name places in the CRD, which are mapped to fields and attributes here. A cause without a better wording
//! is passed on.

mod defaults;
mod fields;
mod habits;
mod literal;
mod rules;
mod schema;
mod site;

use kubesmith_apiextensions::structural::{Cause, CauseKind, Schema, Step, validate_crd};
use kubesmith_apimachinery::field::cause::{BadValue, NO_FIELD};
use kubesmith_core::diag::Code;
use serde_json::{Map, Value};

use super::Input;
use crate::definition::{Definition, path};
use crate::diag::Diagnostic;
use crate::ir::Resource;
use crate::source::Loc;
use site::Site;

pub(crate) use site::definition;
pub(super) use site::longest;

/// Reports all causes for which an API server would refuse the definition.
pub(super) fn refusals(input: &Input<'_>, definition: &Definition<'_>) -> Vec<Diagnostic> {
    let object = definition.to_completed_value();
    let causes = validate_crd(&object, None);
    if causes.is_empty() { Vec::new() } else { explained(input, definition, causes, object) }
}

/// The causes in terms of the source.
fn explained(
    input: &Input<'_>,
    definition: &Definition<'_>,
    mut causes: Vec<Cause>,
    mut object: Value,
) -> Vec<Diagnostic> {
    let report = Report { input, definition, schemas: schemas(&object) };
    causes.extend(report.rules_behind_others(&causes, &mut object));
    let mut found: Vec<Diagnostic> = causes.iter().filter_map(|cause| report.diagnostic(cause)).collect();
    report.total_cost(&causes, &mut found);
    found
}

/// The schemas of the versions; `None` for one that cannot be read.
fn schemas(crd: &Value) -> Vec<Option<Schema>> {
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let schema = |version: &Value| Schema::enforced(version.pointer("/schema/openAPIV3Schema")?).ok();
    versions.into_iter().flatten().map(schema).collect()
}

/// The node of a schema at a path of steps.
fn schema_at<'v>(schema: &'v mut Value, steps: &[Step]) -> Option<&'v mut Map<String, Value>> {
    let node = steps.iter().try_fold(schema, |node, step| match step {
        Step::Property(name) => node.get_mut("properties")?.get_mut(name),
        Step::Items => node.get_mut("items"),
        Step::Values => node.get_mut("additionalProperties"),
    });
    node?.as_object_mut()
}

/// Removes an invalid default, or the invalid field path of a rule, from the schema at its place.
fn drop_wrong(node: &mut Map<String, Value>, site: &Site<'_>) -> bool {
    if site.keyword() == "default" {
        return node.remove("default").is_some();
    }
    let Some((index, "fieldPath")) = site.rule() else { return false };
    let rule = node.get_mut("x-kubernetes-validations").and_then(|rules| rules.get_mut(index));
    rule.and_then(Value::as_object_mut).is_some_and(|rule| rule.remove("fieldPath").is_some())
}

/// The subject of a cause.
pub(crate) enum About<'t> {
    /// A place in the schema of a version, by the text behind `openAPIV3Schema`.
    Schema(usize, &'t str),
    /// Another part of a version.
    Version(usize, &'t str),
    /// A fault that another check reports in its own words.
    Known,
}

struct Report<'a> {
    input: &'a Input<'a>,
    definition: &'a Definition<'a>,
    schemas: Vec<Option<Schema>>,
}

impl<'a> Report<'a> {
    fn diagnostic(&self, cause: &Cause) -> Option<Diagnostic> {
        match about(field(cause)) {
            About::Known => None,
            About::Schema(version, text) => {
                let site = self.site(version, text);
                match site {
                    Some(site) => self.in_schema(&site, cause),
                    None => Some(self.plain(self.resource(version)?, text, cause)),
                }
            }
            About::Version(version, text) => Some(self.plain(self.resource(version)?, text, cause)),
        }
    }

    /// The faults of rules, which a server does not check while defaults or field paths are invalid.
    fn rules_behind_others(&self, causes: &[Cause], crd: &mut Value) -> Vec<Cause> {
        let mut dropped = false;
        for cause in causes {
            let About::Schema(version, text) = about(field(cause)) else { continue };
            let Some(site) = self.site(version, text) else { continue };
            for version in crd["spec"]["versions"].as_array_mut().into_iter().flatten() {
                let node = schema_at(&mut version["schema"]["openAPIV3Schema"], &site.steps);
                dropped |= node.is_some_and(|node| drop_wrong(node, &site));
            }
        }
        let again = if dropped { validate_crd(crd, None) } else { Vec::new() };
        let is_rule =
            |cause: &Cause| cause.field.contains(".x-kubernetes-validations[") || rules::is_total(cause);
        again.into_iter().filter(is_rule).collect()
    }

    fn resource(&self, version: usize) -> Option<&'a Resource> {
        self.definition.versions.get(version).map(|version| version.resource)
    }

    fn site<'s>(&'s self, version: usize, text: &'s str) -> Option<Site<'s>> {
        let root = self.schemas.get(version)?.as_ref()?;
        Some(Site::new(self.input, self.resource(version)?, root, text))
    }

    fn in_schema(&self, site: &Site<'_>, cause: &Cause) -> Option<Diagnostic> {
        if rules::is_total(cause) {
            return None;
        }
        let diagnostic = match site.keyword() {
            "default" if site.node().default.is_some() => defaults::refusal(site, cause),
            "x-kubernetes-validations" => rules::refusal(site, cause),
            _ => schema::refusal(site, cause),
        };
        Some(diagnostic.unwrap_or_else(|| {
            let keyword = site.tail.trim_start_matches('.');
            let place = if keyword.is_empty() { String::new() } else { format!("{keyword}: ") };
            Diagnostic::error(
                Code::REFUSED_CRD,
                site.loc(),
                format!("an API server refuses {}: {place}{}", site.name(), words(cause)),
            )
        }))
    }

    /// Reports the total cost of a kind's rules, unless a single rule is too expensive.
    fn total_cost(&self, causes: &[Cause], out: &mut Vec<Diagnostic>) {
        if out.iter().any(|diagnostic| diagnostic.code == Code::RULE_COST) {
            return;
        }
        for cause in causes.iter().filter(|cause| rules::is_total(cause)) {
            let About::Schema(version, text) = about(field(cause)) else { continue };
            if let Some(site) = self.site(version, text) {
                out.push(rules::total(&site, cause));
            }
        }
    }

    /// A part of a version outside the schema, or one without a place in the source.
    fn plain(&self, resource: &Resource, text: &str, cause: &Cause) -> Diagnostic {
        let text = text.trim_start_matches('.');
        let loc = self.resource_loc(resource, text);
        if text.starts_with("selectableFields") {
            return self.selectable(resource, loc, cause);
        }
        Diagnostic::error(
            Code::REFUSED_CRD,
            loc,
            format!("an API server refuses `{text}` of {}: {}", resource.kind, words(cause)),
        )
    }

    fn selectable(&self, resource: &Resource, loc: Option<Loc>, cause: &Cause) -> Diagnostic {
        let named = match &cause.value {
            BadValue::Json(Value::String(path)) => path.as_str(),
            _ => "",
        };
        let missing = self.input.schemas.of(resource).and_then(|schema| path::walk(schema, named).err());
        let (message, help) = match (missing, cause.kind) {
            (Some(missing), _) => {
                let message =
                    format!("the selectable field names `{named}`, but there is no field `{}`", missing.name);
                (message, missing.help())
            }
            (None, CauseKind::TooMany) => {
                ("there are too many selectable fields".to_string(), format!("a version {}", cause.detail))
            }
            (None, _) if cause.detail.starts_with("must point to a field of type") => (
                format!("the selectable field `{named}` is not a string, integer or boolean"),
                "select a field below it".to_string(),
            ),
            (None, _) => (
                format!("the selectable field `{named}` {}", cause.detail),
                "select another field".to_string(),
            ),
        };
        Diagnostic::error(Code::PATH_NOT_IN_SCHEMA, loc, message).help(help)
    }

    fn resource_loc(&self, resource: &Resource, text: &str) -> Option<Loc> {
        let text = text.replace(".JSONPath", ".jsonPath");
        let place = site::longest(&resource.places, &text).unwrap_or(&resource.span);
        self.input.loc(place)
    }
}

/// The server's message, without whole schemas.
pub(crate) fn words(cause: &Cause) -> String {
    match &cause.value {
        BadValue::Json(Value::Object(_) | Value::Array(_)) => cause.detail.clone(),
        BadValue::Raw(text) if text.starts_with(['{', '[']) => cause.detail.clone(),
        _ => cause.message(),
    }
}

/// The place of a cause. Faults of combined schemas have it only in their text.
pub(crate) fn field(cause: &Cause) -> &str {
    if cause.field != NO_FIELD {
        return &cause.field;
    }
    let start = cause.detail.find("spec.v").unwrap_or(cause.detail.len());
    let text = &cause.detail[start..];
    &text[..text.find([' ', '"']).unwrap_or(text.len())]
}

/// The part of the definition with the place of a cause.
pub(crate) fn about(field: &str) -> About<'_> {
    let Some(spec) = field.strip_prefix("spec.") else {
        // The parser has checked names, and approvals are checked with the names.
        return match field {
            "metadata.name" => About::Version(0, "names.plural"),
            _ => About::Known,
        };
    };
    if let Some(text) = spec.strip_prefix("validation.openAPIV3Schema") {
        return About::Schema(0, text);
    }
    if spec == "versions" {
        return About::Known;
    }
    let indexed = spec.strip_prefix("versions[").and_then(|rest| rest.split_once(']'));
    match indexed.and_then(|(index, rest)| Some((index.parse().ok()?, rest))) {
        Some((version, rest)) => match rest.strip_prefix(".schema.openAPIV3Schema") {
            Some(text) => About::Schema(version, text),
            None => About::Version(version, rest),
        },
        None => About::Version(0, spec),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_attributed_to_versions() {
        let shown = |field: &str| match about(field) {
            About::Schema(version, text) => format!("schema {version} {text}"),
            About::Version(version, text) => format!("version {version} {text}"),
            About::Known => "known".to_string(),
        };
        for (field, wanted) in [
            ("spec.validation.openAPIV3Schema.properties[a]", "schema 0 .properties[a]"),
            ("spec.versions[2].schema.openAPIV3Schema.type", "schema 2 .type"),
            ("spec.versions[1].deprecationWarning", "version 1 .deprecationWarning"),
            ("spec.selectableFields[3].jsonPath", "version 0 selectableFields[3].jsonPath"),
            ("spec.versions", "known"),
            ("metadata.annotations[api-approved.kubernetes.io]", "known"),
        ] {
            assert_eq!(shown(field), wanted);
        }
        let combined = Cause::invalid("", "", "\"spec.validation.openAPIV3Schema.default\" must validate");
        assert_eq!(field(&combined), "spec.validation.openAPIV3Schema.default");
    }
}
