//! `#[genclient(...)]`

use proc_macro2::Span;

use super::method::{self, MethodAttrs};
use super::{EntryValue, ResourceAttrs};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Parsed, Spanned};
use crate::names;

/// A client verb, in the order client-gen writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the verbs")]
pub enum Verb {
    Create,
    Update,
    UpdateStatus,
    Delete,
    DeleteCollection,
    Get,
    List,
    Watch,
    Patch,
    Apply,
    ApplyStatus,
}

impl Verb {
    /// All verbs in client-gen's order.
    pub const ALL: [Self; 11] = [
        Self::Create,
        Self::Update,
        Self::UpdateStatus,
        Self::Delete,
        Self::DeleteCollection,
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Patch,
        Self::Apply,
        Self::ApplyStatus,
    ];

    /// client-gen's name of the verb, `deleteCollection`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::UpdateStatus => "updateStatus",
            Self::Delete => "delete",
            Self::DeleteCollection => "deleteCollection",
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Patch => "patch",
            Self::Apply => "apply",
            Self::ApplyStatus => "applyStatus",
        }
    }

    /// The verb with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == name)
    }

    /// Whether it acts on the status subresource.
    pub fn is_status(self) -> bool {
        matches!(self, Self::UpdateStatus | Self::ApplyStatus)
    }

    /// Whether a method with this verb sends an object, whose type may differ from the kind's.
    pub fn sends_object(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Apply)
    }

    /// Whether it is read-only.
    pub fn is_readonly(self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

/// The values of `#[genclient(...)]`.
#[derive(Clone, Debug)]
pub struct GenclientAttrs {
    /// The attribute.
    pub span: Span,
    /// `non_namespaced`
    pub non_namespaced: Option<Span>,
    /// `no_verbs`
    pub no_verbs: Option<Span>,
    /// `only_verbs(...)`
    pub only_verbs: Option<Spanned<Vec<Spanned<Verb>>>>,
    /// `skip_verbs(...)`
    pub skip_verbs: Option<Spanned<Vec<Spanned<Verb>>>>,
    /// `no_status`
    pub no_status: Option<Span>,
    /// `readonly`
    pub readonly: Option<Span>,
    /// `method(...)`, in source order.
    pub methods: Vec<MethodAttrs>,
    /// `no_scale`
    pub no_scale: Option<Span>,
    /// `resource_name`
    pub resource_name: Option<Spanned<String>>,
}

impl GenclientAttrs {
    /// Takes the values out of the parsed attributes and checks them; `None` without such an attribute.
    pub fn from_parsed(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut out = Self {
            span: parsed.span?,
            non_namespaced: None,
            no_verbs: None,
            only_verbs: None,
            skip_verbs: None,
            no_status: None,
            readonly: None,
            methods: Vec::new(),
            no_scale: None,
            resource_name: None,
        };
        for entry in &parsed.entries {
            let Some(span) = entry.given() else { continue };
            match entry.key.name {
                "non_namespaced" => out.non_namespaced = Some(span),
                "no_verbs" => out.no_verbs = Some(span),
                "only_verbs" => {
                    out.only_verbs = Some(Spanned::new(verbs(&entry.strings(), diagnostics), span));
                }
                "skip_verbs" => {
                    out.skip_verbs = Some(Spanned::new(verbs(&entry.strings(), diagnostics), span));
                }
                "no_status" => out.no_status = Some(span),
                "readonly" => out.readonly = Some(span),
                "method" => out.methods.extend(MethodAttrs::read(entry, diagnostics)),
                "no_scale" => out.no_scale = Some(span),
                "resource_name" => out.resource_name = entry.string(),
                _ => {}
            }
        }
        out.check(diagnostics);
        method::check_unique(&out.methods, diagnostics);
        Some(out)
    }

    fn check(&self, diagnostics: &mut Diagnostics) {
        let only = self.only_verbs.as_ref().map(|v| v.span);
        let skip = self.skip_verbs.as_ref().map(|v| v.span);
        let choices = [
            ("no_verbs", self.no_verbs),
            ("readonly", self.readonly),
            ("only_verbs", only),
            ("skip_verbs", skip),
        ];
        let given: Vec<(&str, Span)> =
            choices.into_iter().filter_map(|(name, span)| span.map(|span| (name, span))).collect();
        if let [(first, first_span), rest @ ..] = given.as_slice() {
            for (name, span) in rest {
                diagnostics.push(
                    Diagnostic::error(Code::VERBS, *span, format!("`{name}` contradicts `{first}`"))
                        .secondary(*first_span, "the verbs are chosen here already")
                        .help("keep one of them"),
                );
            }
        }
        let Some(no_status) = self.no_status else { return };
        for verb in
            self.only_verbs.iter().flat_map(|verbs| &verbs.value).filter(|verb| verb.value.is_status())
        {
            let message = format!("{:?} contradicts `no_status`", verb.value.as_str());
            let diagnostic = Diagnostic::error(Code::VERBS, verb.span, message);
            diagnostics.push(
                diagnostic.secondary(no_status, "status verbs are refused here").help("keep one of them"),
            );
        }
    }

    /// Reports contradictions with the resource: another name, no scale.
    pub(super) fn check_resource(&self, attrs: &ResourceAttrs, diagnostics: &mut Diagnostics) {
        if let Some(name) =
            self.resource_name.as_ref().filter(|name| name.value != attrs.plural.value.as_str())
        {
            let plural = attrs.plural.value.as_str();
            let message =
                format!("clients would ask for {:?}, and the resource is called {plural:?}", name.value);
            diagnostics.push(
                Diagnostic::error(Code::RESOURCE_NAME, name.span, message)
                    .secondary(attrs.plural.span, format!("its plural is {plural:?}"))
                    .help(format!("add plural = {:?} to #[resource], or remove `resource_name`", name.value)),
            );
        }
        if let Some(span) = self.no_scale.filter(|_| attrs.scale.is_none()) {
            let message = "`no_scale` has nothing to leave out: the resource has no scale";
            let help = "remove it, or add scale(...) to #[resource]";
            diagnostics.push(Diagnostic::error(Code::VERBS, span, message).help(help));
        }
    }

    /// Reports methods that the client already has, and status verbs requested for a type without a status.
    pub(super) fn check_status(&self, has_status: bool, diagnostics: &mut Diagnostics) {
        let verbs: Vec<String> =
            self.verbs(has_status).into_iter().map(|verb| names::snake_case(verb.as_str())).collect();
        method::check_free(&self.methods, &verbs, diagnostics);
        if has_status {
            return;
        }
        for verb in
            self.only_verbs.iter().flat_map(|verbs| &verbs.value).filter(|verb| verb.value.is_status())
        {
            let message =
                format!("the client cannot have {:?}: the type has no field `status`", verb.value.as_str());
            let help = "add a field `status`, or leave the verb out";
            diagnostics.push(Diagnostic::error(Code::VERBS, verb.span, message).help(help));
        }
    }

    /// The verbs of the client in client-gen's order, for a type with or without a status.
    pub fn verbs(&self, has_status: bool) -> Vec<Verb> {
        let listed = |list: &Option<Spanned<Vec<Spanned<Verb>>>>, verb: Verb| {
            list.as_ref().map(|verbs| verbs.value.iter().any(|listed| listed.value == verb))
        };
        Verb::ALL
            .into_iter()
            .filter(|verb| self.no_verbs.is_none() && (self.readonly.is_none() || verb.is_readonly()))
            .filter(|verb| listed(&self.only_verbs, *verb).unwrap_or(true))
            .filter(|verb| !listed(&self.skip_verbs, *verb).unwrap_or(false))
            .filter(|verb| !verb.is_status() || (has_status && self.no_status.is_none()))
            .collect()
    }
}

fn verbs(names: &[Spanned<String>], diagnostics: &mut Diagnostics) -> Vec<Spanned<Verb>> {
    let mut verbs: Vec<Spanned<Verb>> = Vec::new();
    for name in names {
        let Some(verb) = Verb::parse(&name.value) else { continue };
        if let Some(first) = verbs.iter().find(|other| other.value == verb) {
            let message = format!("the verb {:?} is given twice", name.value);
            let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, name.span, message);
            diagnostics.push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
        } else {
            verbs.push(Spanned::new(verb, name.span));
        }
    }
    verbs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Family, ItemAttributes, Place, VERBS, parse_attributes};

    fn read(source: &str) -> (GenclientAttrs, Vec<String>) {
        let item: syn::ItemStruct = syn::parse_str(&format!("{source} struct S;")).unwrap();
        let mut diagnostics = Diagnostics::new();
        let parsed = parse_attributes(
            Family::Genclient,
            &ItemAttributes::new(&item.attrs),
            Place::Root,
            &mut diagnostics,
        );
        let attrs = GenclientAttrs::from_parsed(&parsed, &mut diagnostics).unwrap();
        (attrs, diagnostics.into_vec().iter().map(|d| d.to_text()).collect())
    }

    fn names(verbs: &[Verb]) -> Vec<&'static str> {
        verbs.iter().map(|verb| verb.as_str()).collect()
    }

    #[test]
    fn verbs_follow_client_gen() {
        let all: Vec<_> = Verb::ALL.iter().map(|verb| verb.as_str()).collect();
        assert_eq!(all, VERBS);
        for (source, status, expected) in [
            ("#[genclient]", true, VERBS.to_vec()),
            ("#[genclient(no_verbs)]", true, vec![]),
            ("#[genclient(readonly)]", true, vec!["get", "list", "watch"]),
            (r#"#[genclient(only_verbs("watch", "get"))]"#, true, vec!["get", "watch"]),
            (
                r#"#[genclient(skip_verbs("deleteCollection", "apply", "applyStatus"), no_status)]"#,
                true,
                vec!["create", "update", "delete", "get", "list", "watch", "patch"],
            ),
            (
                r#"#[genclient(skip_verbs = "patch")]"#,
                false,
                vec!["create", "update", "delete", "deleteCollection", "get", "list", "watch", "apply"],
            ),
        ] {
            let (attrs, errors) = read(source);
            assert_eq!(errors, [""; 0], "{source}");
            assert_eq!(names(&attrs.verbs(status)), expected, "{source}");
        }
    }

    #[test]
    fn contradictory_genclient_tags_are_errors() {
        for source in [
            "#[genclient(no_verbs, readonly)]",
            r#"#[genclient(only_verbs("get"), skip_verbs("list"))]"#,
            r#"#[genclient(readonly, only_verbs("get"))]"#,
            r#"#[genclient(no_status, only_verbs("updateStatus"))]"#,
        ] {
            let (_, errors) = read(source);
            assert!(errors.len() == 1 && errors[0].starts_with("KS0113"), "{source}: {errors:?}");
        }
        assert!(read(r#"#[genclient(only_verbs("get", "get"))]"#).1[0].starts_with("KS0003"));
        assert!(
            read(r#"#[genclient(only_verbs("delete_collection"))]"#).1[0]
                .contains(r#"did you mean "deleteCollection"?"#)
        );
    }
}
