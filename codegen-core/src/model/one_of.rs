//! Checks `exactly_one_of` and similar keys.

use super::{Body, FieldModel, OneOf, SerdeContainer};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::Spanned;
use crate::names::closest;

/// Checks that groups name optional fields of the struct, each once.
pub(super) fn check_one_ofs(
    one_ofs: &[OneOf],
    body: &Body,
    serde: &SerdeContainer,
    diagnostics: &mut Diagnostics,
) {
    for one_of in one_ofs {
        let Body::Named(fields) = body else {
            let message = "only a struct with named fields has fields to choose from";
            diagnostics.push(
                Diagnostic::error(Code::ONE_OF, one_of.span, message)
                    .help("remove the key; an enum with data already has exactly one of its variants"),
            );
            continue;
        };
        for (at, name) in one_of.fields.iter().enumerate() {
            if let Some(first) = one_of.fields[..at].iter().find(|other| *other == name) {
                let message = format!("the field {:?} is given twice", name.value);
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, name.span, message);
                diagnostics
                    .push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
            } else {
                check_field(name, fields, serde, diagnostics);
            }
        }
    }
}

fn check_field(
    name: &Spanned<String>,
    fields: &[FieldModel],
    serde: &SerdeContainer,
    diagnostics: &mut Diagnostics,
) {
    let mut visible = fields.iter().filter(|field| !field.serde.flatten && !field.serde.skipped());
    let Some(field) = visible.clone().find(|field| field.name == name.value) else {
        // A flattened field may contain it.
        if fields.iter().any(|field| field.serde.flatten) && !name.value.contains('.') {
            return;
        }
        let (message, help) = if name.value.contains('.') {
            let outer = name.value.split('.').next().unwrap_or_default();
            (
                format!("{:?} is a field of a field", name.value),
                format!("name {outer:?} itself, or put the key on the type of that field"),
            )
        } else {
            let help =
                match visible.clone().find(|field| field.ident.as_ref().is_some_and(|i| *i == name.value)) {
                    Some(field) => format!("in JSON the field is {:?}", field.name),
                    None => match closest(&name.value, visible.by_ref().map(|field| field.name.as_str())) {
                        Some(near) => format!("did you mean {near:?}?"),
                        None => "names are those of the JSON, after serde's renaming".to_owned(),
                    },
                };
            (format!("there is no field {:?}", name.value), help)
        };
        return diagnostics.push(Diagnostic::error(Code::ONE_OF, name.span, message).help(help));
    };
    if field.is_required(serde) {
        let message = format!("the field {:?} is required, so it is always set", name.value);
        diagnostics.push(
            Diagnostic::error(Code::ONE_OF, name.span, message)
                .secondary(field.span(), "this field")
                .help("make it an `Option`, or leave it out of the group"),
        );
    }
}
