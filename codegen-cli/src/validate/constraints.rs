//! Checks that constraints fit their types. Core has checked those beside the type itself; here the names of
//! types are resolved.

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Kind, Role, Values};
use kubesmith_core::diag::Code;
use kubesmith_core::grammar::{Family, definitions};

use super::Input;
use crate::diag::Diagnostic;
use crate::ir::{Places, Span};
use crate::schema::Schema;
use crate::source::{Loc, SourceMap};

/// Checks the constraints of all types and fields.
pub(super) fn fit(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for (id, definition) in input.ir.types.iter().enumerate() {
        let Some(schema) = input.schemas.of_type(id) else { continue };
        let site = Site { input, places: &definition.places, span: &definition.span };
        site.check(&definition.facts, schema, "", out);
        for field in definition.shape.fields().filter(|field| !field.flatten) {
            let Some(property) = schema.properties.get(&field.name) else { continue };
            let site = Site { input, places: &field.places, span: &field.span };
            site.check(&field.facts, property, "", out);
        }
    }
}

/// The place of constraints.
struct Site<'a> {
    input: &'a Input<'a>,
    places: &'a Places,
    span: &'a Span,
}

impl Site<'_> {
    /// `facts` are from the attributes, `schema` is their join with the type's.
    fn check(&self, facts: &Schema, schema: &Schema, prefix: &str, out: &mut Vec<Diagnostic>) {
        if let Some(ty) = schema.type_.as_deref().filter(|_| !schema.int_or_string) {
            for (keyword, key, target) in keywords(facts) {
                let place = format!("{prefix}{}", keyword.name);
                if !target.fit(ty) && !self.is_extra(&place) {
                    out.push(self.misfit(&place, key, target, ty));
                }
            }
        }
        self.check_values(facts, schema, prefix, out);
        if let (Some(facts), Some(schema)) = (&facts.items, &schema.items) {
            self.check(facts, schema, &format!("{prefix}items."), out);
        }
    }

    /// Checks that values remain if both the type's own enum and the field's apply.
    fn check_values(&self, facts: &Schema, schema: &Schema, prefix: &str, out: &mut Vec<Diagnostic>) {
        if facts.enum_.is_none() || schema.enum_.as_ref().is_none_or(|values| !values.is_empty()) {
            return;
        }
        let loc = self.loc(&format!("{prefix}enum"));
        let message = "no value is allowed: the type has an enum with other values";
        out.push(Diagnostic::error(Code::BOUNDS, loc, message).help("name values that the type allows"));
    }

    /// Whether `extra` has the constraint: API servers accept ineffective ones, and imports keep them there.
    fn is_extra(&self, place: &str) -> bool {
        let keyword = place.split('.').next().unwrap_or(place);
        self.places.get("extra").is_some_and(|extra| self.places.get(keyword) == Some(extra))
    }

    fn loc(&self, place: &str) -> Option<Loc> {
        self.input.loc(self.places.get(place).unwrap_or(self.span))
    }

    fn misfit(&self, place: &str, key: &str, target: Values, ty: &str) -> Diagnostic {
        let loc = self.loc(place);
        let name = written(self.input.sources, loc, key);
        let found = match ty {
            "array" => "a list",
            "object" => "a struct or map",
            "integer" => "an integer",
            "number" => "a number",
            "boolean" => "a boolean",
            _ => "a string",
        };
        let message = format!("`{name}` is for {}, but the type is {found}", target.describe());
        Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, loc, message)
            .help("remove it, or put it where such a value is")
    }
}

/// The present constraints with a key of their own: the keyword, its key and its kind of values.
fn keywords(facts: &Schema) -> Vec<(&'static Keyword, &'static str, Values)> {
    let is_checked = |keyword: &&'static Keyword| match keyword.kind {
        // Core checks the others, whose meaning depends on other keys.
        Kind::Flag => keyword.name == "x-kubernetes-embedded-resource",
        Kind::Texts => false,
        _ => keyword.role != Role::Shape,
    };
    let row = |keyword: &'static Keyword| {
        let key = keyword.schema_key.or(keyword.attribute.map(|attribute| attribute.name));
        Some((keyword, key?, keyword.of?))
    };
    KEYWORDS.iter().filter(|keyword| keyword.is_set(facts)).filter(is_checked).filter_map(row).collect()
}

/// The key, or the marker if the location is in a comment.
fn written(sources: &SourceMap, loc: Option<Loc>, key: &str) -> String {
    let is_comment = loc.is_some_and(|loc| {
        let before = sources.file(loc.file).text.get(..loc.start as usize).unwrap_or_default();
        before.rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("//"))
    });
    let of = |family: Family| family.spec().keys.iter().find(|row| row.name == key);
    let row = of(Family::Validation).or_else(|| of(Family::Schema));
    match row
        .and_then(|row| row.markers.first())
        .filter(|marker| is_comment && definitions().contains_key(**marker))
    {
        Some(marker) => format!("+{marker}"),
        None => key.to_string(),
    }
}
