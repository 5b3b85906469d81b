//! Reads `method(...)` of `#[genclient]`: methods of a client with names, and types, of their own.

use proc_macro2::Span;

use super::resource::parse_name;
use super::{EntryValue, Verb};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Spanned};
use crate::names::{self, CodeName, dns_label};

/// A method of a client.
#[derive(Clone, Debug)]
pub struct MethodAttrs {
    /// The key.
    pub span: Span,
    /// `name`
    pub name: Spanned<CodeName>,
    /// `verb`: create, update, get, list, patch or apply.
    pub verb: Spanned<Verb>,
    /// `subresource`; `None`: the resource itself.
    pub subresource: Option<Spanned<String>>,
    /// `input`, a path in Rust; `None`: the kind's own type, or no body.
    pub input: Option<Spanned<String>>,
    /// `result`, a path in Rust; `None`: the kind's own type.
    pub result: Option<Spanned<String>>,
}

/// The methods that every client has, or every type by traits: a method of the same name would hide them or
/// be hidden.
const TAKEN: &[&str] = &[
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "clone_into",
    "fmt",
    "from",
    "into",
    "namespace",
    "new",
    "rest_client",
    "to_owned",
    "try_from",
    "try_into",
    "type_id",
];

impl MethodAttrs {
    /// Takes the values out of the entry and checks them; `None` after a diagnostic.
    pub(super) fn read(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Self> {
        let find =
            |name: &str| entry.nested().iter().find(|e| e.key.name == name).and_then(EntryValue::string);
        let name = find("name");
        let name = name.and_then(|name| {
            parse_name(&name, Code::INVALID_CODE_NAME, "name in code", CodeName::parse, diagnostics)
        });
        // An unknown verb has been reported.
        let verb = find("verb").and_then(|verb| Some(Spanned::new(Verb::parse(&verb.value)?, verb.span)));
        let subresource = find("subresource");
        if let Some(subresource) = &subresource {
            check_subresource(subresource, diagnostics);
        }
        let input = find("input").and_then(|text| type_path(text, diagnostics));
        let result = find("result").and_then(|text| type_path(text, diagnostics));
        if let (Some(verb), Some(input)) = (&verb, &input) {
            check_input(verb, input.span, diagnostics);
        }
        Some(Self { span: entry.span, name: name?, verb: verb?, subresource, input, result })
    }

    /// The name of the method in Rust: `get_scale`.
    pub fn rust_name(&self) -> String {
        names::method_name(self.name.value.as_str())
    }
}

fn check_subresource(name: &Spanned<String>, diagnostics: &mut Diagnostics) {
    if let Err(error) = dns_label(&name.value) {
        let message = format!("invalid subresource {:?}: {}", name.value, error.reason);
        let better = error.suggestion.map(|better| format!("did you mean {better:?}?"));
        let help = better.unwrap_or_else(|| "subresources look like this: \"scale\"".to_owned());
        diagnostics.push(Diagnostic::error(Code::METHOD, name.span, message).help(help));
    }
}

/// Checks that only verbs that send an object have an input type.
fn check_input(verb: &Spanned<Verb>, input: Span, diagnostics: &mut Diagnostics) {
    if matches!(verb.value, Verb::Create | Verb::Update | Verb::Apply) {
        return;
    }
    let message = format!("a method with the verb {:?} takes no `input`", verb.value.as_str());
    diagnostics.push(
        Diagnostic::error(Code::METHOD, input, message)
            .secondary(verb.span, "the verb")
            .help("remove it, or use the verb create, update or apply"),
    );
}

/// The path of a type in Rust; a type of Kubernetes may be written as in Go.
fn type_path(text: Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Spanned<String>> {
    if is_path(&text.value) {
        return Some(text);
    }
    let path = kubernetes_path(&text.value).filter(|path| is_path(path));
    if path.is_none() {
        let message = format!("{:?} is not the path of a type", text.value);
        let help = if text.value.contains('<') {
            "give the type a name of its own: pub type Name = ...;"
        } else {
            "write the path of a Rust type, such as k8s_openapi::api::autoscaling::v1::Scale or crate::v1::Refund"
        };
        diagnostics.push(Diagnostic::error(Code::METHOD, text.span, message).help(help));
    }
    path.map(|path| Spanned::new(path, text.span))
}

/// `k8s_openapi::api::autoscaling::v1::Scale`: a path without parameters.
fn is_path(text: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let is_segment = |segment: &str| {
        let name = segment.strip_prefix("r#").unwrap_or(segment);
        name.starts_with(|c: char| is_word(c) && !c.is_numeric()) && name.chars().all(is_word)
    };
    text.strip_prefix("::").unwrap_or(text).split("::").all(is_segment)
}

/// `k8s.io/api/autoscaling/v1.Scale` as the path of `k8s_openapi`.
fn kubernetes_path(go: &str) -> Option<String> {
    let path = go.strip_prefix("k8s.io/")?;
    Some(format!("k8s_openapi::{}", path.replace(['/', '.'], "::").replace('-', "_")))
}

/// Checks that methods of a client have different names.
pub(super) fn check_unique(methods: &[MethodAttrs], diagnostics: &mut Diagnostics) {
    for (at, method) in methods.iter().enumerate() {
        let name = method.rust_name();
        if let Some(first) = methods[..at].iter().find(|other| other.rust_name() == name) {
            let message = format!("the method `{name}` is given twice");
            let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, method.name.span, message);
            diagnostics
                .push(diagnostic.secondary(first.name.span, "first given here").help("keep one of them"));
        }
    }
}

/// Checks that no method has the name of one of the client's other methods; `verbs` are those that can be
/// left out.
pub(super) fn check_free(methods: &[MethodAttrs], verbs: &[String], diagnostics: &mut Diagnostics) {
    for method in methods {
        let name = method.rust_name();
        // The verb `patch` has two methods.
        let of_verb = if name == "patch_subresource" { "patch" } else { &name };
        let help = if let Some(verb) = verbs.iter().find(|verb| *verb == of_verb) {
            let verb = Verb::ALL.into_iter().find(|it| names::snake_case(it.as_str()) == *verb);
            let verb = verb.map_or("", Verb::as_str);
            format!("choose another name, or leave the verb out: skip_verbs({verb:?})")
        } else if TAKEN.contains(&name.as_str()) {
            "choose another name".to_owned()
        } else {
            continue;
        };
        let message = format!("the client has another method `{name}`");
        diagnostics.push(Diagnostic::error(Code::METHOD, method.name.span, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_type_is_a_rust_path_or_a_go_path_of_kubernetes() {
        for (text, path) in [
            ("Scale", Some("Scale")),
            ("::a::r#type::Übung", Some("::a::r#type::Übung")),
            ("crate::v1::Refund", Some("crate::v1::Refund")),
            ("k8s.io/api/autoscaling/v1.Scale", Some("k8s_openapi::api::autoscaling::v1::Scale")),
            (
                "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.CustomResourceDefinition",
                Some(
                    "k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition",
                ),
            ),
            ("example.com/api/v1.Scale", None),
            ("k8s.io/", None),
            ("Vec<Scale>", None),
            ("a::", None),
            ("1a", None),
            ("&Scale", None),
        ] {
            let mut found = Diagnostics::new();
            let read = type_path(Spanned::new(text.to_owned(), Span::call_site()), &mut found);
            assert_eq!(read.map(|read| read.value).as_deref(), path, "{text}");
            assert_eq!(found.take().len(), usize::from(path.is_none()), "{text}");
        }
    }
}
