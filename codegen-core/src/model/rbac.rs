//! `#[rbac(...)]`

use proc_macro2::Span;

use super::EntryValue;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Parsed, Spanned};
use crate::names::edit_distance;
use crate::names::{NameError, object};

/// The verbs of requests, and those that authorizers and admission plugins ask about
/// (<https://kubernetes.io/docs/reference/access-authn-authz/authorization/#request-verb-resource>). Others are possible.
const VERBS: [&str; 15] = [
    "approve",
    "attest",
    "bind",
    "create",
    "delete",
    "deletecollection",
    "escalate",
    "get",
    "impersonate",
    "list",
    "patch",
    "sign",
    "update",
    "use",
    "watch",
];

/// The values of one `#[rbac(...)]`.
#[derive(Clone, Debug)]
pub struct RbacAttrs {
    /// The attribute.
    pub span: Span,
    /// API groups; the core group is empty or `core`.
    pub groups: Vec<Spanned<String>>,
    /// Resources and subresources.
    pub resources: Vec<Spanned<String>>,
    /// Names of the only objects that it applies to.
    pub resource_names: Vec<Spanned<String>>,
    /// Verbs.
    pub verbs: Vec<Spanned<String>>,
    /// Paths of URLs that are no resources.
    pub urls: Vec<Spanned<String>>,
    /// Namespace of the Role.
    pub namespace: Option<Spanned<String>>,
    /// Name of the role.
    pub role_name: Option<Spanned<String>>,
}

impl RbacAttrs {
    /// Takes the values out of one attribute and checks them; `None` after a diagnostic about an error too
    /// severe to continue.
    pub fn from_parsed(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut out = Self {
            span: parsed.span?,
            groups: Vec::new(),
            resources: Vec::new(),
            resource_names: Vec::new(),
            verbs: Vec::new(),
            urls: Vec::new(),
            namespace: None,
            role_name: None,
        };
        for entry in &parsed.entries {
            // The invalid entry has been reported. Its absence is not another error.
            entry.given()?;
            match entry.key.name {
                "groups" => out.groups = entry.strings(),
                "resources" => out.resources = entry.strings(),
                "resource_names" => out.resource_names = entry.strings(),
                "verbs" => out.verbs = entry.strings(),
                "urls" => out.urls = entry.strings(),
                "namespace" => out.namespace = entry.string(),
                "role_name" => out.role_name = entry.string(),
                _ => {}
            }
        }
        if out.verbs.is_empty() {
            return None;
        }
        out.check_names(diagnostics);
        if parsed.meant.is_empty() {
            out.check_subject(diagnostics);
        }
        Some(out)
    }

    fn check_names(&self, diagnostics: &mut Diagnostics) {
        type Rule = fn(&str) -> Result<(), NameError>;
        let names: [(&str, &Option<Spanned<String>>, Rule); 2] = [
            ("namespace", &self.namespace, object::namespace),
            ("name of a role", &self.role_name, object::path_segment),
        ];
        for (what, name, rule) in names {
            let Some(name) = name else { continue };
            if let Err(error) = rule(&name.value) {
                let message = format!("invalid {what} {:?}: {error}", name.value);
                diagnostics.push(
                    Diagnostic::error(Code::RBAC_RULE, name.span, message)
                        .help("choose a name that an API server accepts"),
                );
            }
        }
        let lists = [
            ("resources", &self.resources),
            ("resource_names", &self.resource_names),
            ("verbs", &self.verbs),
            ("urls", &self.urls),
        ];
        for (name, list) in lists {
            super::not_empty(name, list, diagnostics);
        }
        for verb in &self.verbs {
            let lower = verb.value.to_lowercase();
            // Short verbs resemble each other: `set` is not `get`.
            let allowed = usize::from(lower.len() > 3);
            let near = VERBS.iter().find(|known| edit_distance(&lower, known) <= allowed);
            if let Some(near) = near.filter(|_| !VERBS.contains(&verb.value.as_str())) {
                let message = format!("the verb {:?} nearly matches a known one", verb.value);
                diagnostics.push(
                    Diagnostic::warning(Code::RBAC_RULE, verb.span, message)
                        .help(format!("did you mean {near:?}?")),
                );
            }
        }
    }

    /// Checks as `ValidatePolicyRule` of kube-apiserver: a rule is about resources of groups, or about URLs.
    fn check_subject(&self, diagnostics: &mut Diagnostics) {
        let mut refuse = |span: Span, message: &str, help: &str| {
            diagnostics.push(Diagnostic::error(Code::RBAC_RULE, span, message).help(help));
        };
        let first = |list: &[Spanned<String>]| list.first().map(|item| item.span);
        let (groups, resources) = (first(&self.groups), first(&self.resources));
        if let Some(urls) = first(&self.urls) {
            if let Some(other) = groups.or(resources).or(first(&self.resource_names)) {
                refuse(other, "a rule cannot be about resources and about URLs", "write two rules");
            }
            if self.namespace.is_some() {
                refuse(
                    urls,
                    "URLs are in no namespace",
                    "leave `namespace` out, or write a rule for resources",
                );
            }
            return;
        }
        match (groups, resources) {
            (None, None) => refuse(
                self.span,
                "the rule does not say what it is about",
                "add `groups` and `resources`, or `urls`",
            ),
            (None, Some(resources)) => refuse(
                resources,
                "resources need at least one API group",
                "add `groups`; the core group, with pods and services, is groups = \"\"",
            ),
            (Some(groups), None) => {
                refuse(
                    groups,
                    "the groups need at least one resource",
                    "add `resources`, such as resources = \"*\"",
                );
            }
            (Some(_), Some(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Family, ItemAttributes, Place, parse_attributes};

    fn read(keys: &str) -> (Option<RbacAttrs>, Vec<String>) {
        let item: syn::ItemFn = syn::parse_str(&format!("#[rbac({keys})] fn f() {{}}")).unwrap();
        let mut diagnostics = Diagnostics::new();
        let parsed =
            parse_attributes(Family::Rbac, &ItemAttributes::new(&item.attrs), Place::Item, &mut diagnostics);
        let attrs = RbacAttrs::from_parsed(&parsed, &mut diagnostics);
        (attrs, diagnostics.into_vec().iter().map(|d| d.to_text()).collect())
    }

    fn values(list: &[Spanned<String>]) -> Vec<&str> {
        list.iter().map(|item| item.value.as_str()).collect()
    }

    #[test]
    fn rbac_lists_parse_in_any_notation() {
        for keys in [
            r#"groups = "apps;", resources("a", "b/status"), verbs = ["get", "list"]"#,
            r#"groups("apps", ""), resources = "a;b/status", verbs = "get;list""#,
        ] {
            let (attrs, errors) = read(keys);
            assert_eq!(errors, [""; 0], "{keys}");
            let attrs = attrs.unwrap();
            assert_eq!(values(&attrs.groups), ["apps", ""], "{keys}");
            assert_eq!(values(&attrs.resources), ["a", "b/status"], "{keys}");
            assert_eq!(values(&attrs.verbs), ["get", "list"], "{keys}");
        }
    }

    #[test]
    fn verb_that_nearly_matches_a_known_one_gets_a_warning() {
        for (verbs, near) in
            [(r#""get", "watc""#, Some("watch")), (r#""GET""#, Some("get")), (r#""review""#, None)]
        {
            let (attrs, found) = read(&format!(r#"groups = "", resources = "pods", verbs({verbs})"#));
            assert!(attrs.is_some());
            let help = found
                .iter()
                .map(|text| text.contains(&format!("did you mean {:?}?", near.unwrap_or_default())));
            assert_eq!(
                help.collect::<Vec<_>>(),
                vec![true; usize::from(near.is_some())],
                "{verbs}: {found:?}"
            );
        }
    }

    #[test]
    fn rbac_rule_that_a_server_refuses_is_an_error() {
        for (keys, code) in [
            (r#"groups = "apps", resources = "deployments""#, "KS0009"),
            (r#"resources = "nodes", verbs = "get""#, "KS0801"),
            (r#"groups = "apps", verbs = "get""#, "KS0801"),
            (r#"verbs = "get""#, "KS0801"),
            (r#"urls = "/metrics", groups = "apps", resources = "a", verbs = "get""#, "KS0801"),
            (r#"urls = "/metrics", verbs = "get", namespace = "a""#, "KS0801"),
            (r#"groups = "", resources = "pods", verbs = "get", namespace = "A""#, "KS0801"),
            (r#"groups = "", resources = "pods", verbs = "get", role_name = "a/b""#, "KS0801"),
            (r#"groups = "", resources = "pods;", verbs = "get""#, "KS0005"),
            (r#"groups = "", resources = "", verbs = "get""#, "KS0005"),
            (r#"groups = "apps", resource = "pods", verbs = "get""#, "KS0002"),
        ] {
            let (_, errors) = read(keys);
            assert_eq!(errors.len(), 1, "{keys}: {errors:?}");
            assert!(errors[0].starts_with(code), "{keys}: {errors:?}");
        }
    }
}
