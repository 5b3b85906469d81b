//! Lowers methods of clients: `method(...)` of `#[genclient]`, and those for the scale.

use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;

use super::types::Found;
use super::{ClientUse, Ctx};
use crate::diag::Diagnostic;
use crate::ir::{ClientTags, Method, Span, Verb};
use crate::known::{self, Known};
use crate::resolve::ItemId;
use crate::syntax::PathExpr;
use crate::syntax::facts::{GenclientFacts, MethodFacts, ResourceFacts};

/// The type of the scale subresource.
const SCALE: &str = "k8s_openapi::api::autoscaling::v1::Scale";

/// The methods for the scale, with the verbs that enable them: a client that gets objects also gets their
/// scales.
const SCALE_METHODS: [(Verb, &str); 3] =
    [(Verb::Get, "get_scale"), (Verb::Update, "update_scale"), (Verb::Apply, "apply_scale")];

/// Crates that generated code names through the runtime.
const OF_THE_RUNTIME: &[&str] = &["k8s_openapi", "serde_json", "std"];

impl Ctx<'_> {
    /// The verbs and methods of the client for a root type, whose path is `own`.
    pub(super) fn client(
        &mut self,
        id: ItemId,
        tags: &GenclientFacts,
        has_status_field: bool,
        facts: &ResourceFacts,
        own: &str,
    ) -> ClientTags {
        let verbs = if has_status_field { &tags.with_status } else { &tags.without_status };
        let methods = tags.methods.iter().filter_map(|method| self.method(id, method, own));
        let mut methods: Vec<Method> = methods.collect();
        if facts.crd.scale.is_some() && !tags.no_scale {
            let span = self
                .sources
                .span(facts.places.get("subresources.scale.specReplicasPath").copied().unwrap_or(facts.loc));
            let scale = SCALE_METHODS.iter().filter(|(verb, _)| verbs.contains(verb));
            let scale = scale.map(|(verb, name)| scale_method(*verb, name, &span));
            // An explicit method of the same name or action takes its place.
            let is_same = |a: &Method, b: &Method| {
                a.name == b.name || (a.verb == b.verb && a.subresource == b.subresource)
            };
            let more = scale.filter(|own| !methods.iter().any(|method| is_same(method, own)));
            let more: Vec<Method> = more.collect();
            methods.extend(more);
        }
        let chosen = tags.chosen.map(|loc| self.sources.span(loc));
        ClientTags { verbs: verbs.clone(), methods, chosen }
    }

    /// Lowers a method; `None` after a diagnostic.
    fn method(&mut self, id: ItemId, facts: &MethodFacts, own: &str) -> Option<Method> {
        let mut path = |path: &Option<PathExpr>| match path {
            Some(path) => self.method_type(id, path),
            None => Some(own.to_owned()),
        };
        let (input, result) = (path(&facts.input), path(&facts.result));
        Some(Method {
            name: facts.name.text.clone(),
            verb: facts.verb,
            subresource: facts.subresource.clone(),
            input: if facts.verb.sends_object() { Some(input?) } else { None },
            result: result?,
            span: self.sources.span(facts.name.loc),
        })
    }

    /// The type's path in generated code; `None` after a diagnostic.
    fn method_type(&mut self, id: ItemId, path: &PathExpr) -> Option<String> {
        let text = known::normalize(&path.text());
        if text.starts_with("k8s_openapi::") && known::is_known(&text) {
            // The runtime's path works even if the crate does not depend on k8s-openapi.
            return Some(text);
        }
        match self.found(id.krate, id.module, path)? {
            Found::Item(item) => self.method_item(id, path, item),
            Found::External(external) => self.method_external(path, external),
        }
    }

    /// A type with source: by its path in the kind's own crate, if it has one there.
    fn method_item(&mut self, id: ItemId, path: &PathExpr, item: ItemId) -> Option<String> {
        if !self.resolver.item(item).generics.is_empty() {
            self.report_method_type(path, &path.text(), None);
            return None;
        }
        if self.options.client == ClientUse::None {
            return Some(self.resolver.definition_path(item));
        }
        let found = self.resolver.path_from(id.krate, item);
        if found.is_none() {
            let message = format!("`{}` cannot be named from outside of its crate", path.text());
            self.diagnostics.push(
                Diagnostic::error(Code::PRIVATE_TYPE, path.loc, message)
                    .secondary(self.resolver.item(item).name.loc, "this type")
                    .note("generated code depends on the crates of the kinds and uses the type by its path")
                    .help("make the type and the modules around it `pub`, or re-export it from the kind's crate with `pub use`"),
            );
        }
        found
    }

    fn method_external(&mut self, path: &PathExpr, external: String) -> Option<String> {
        let krate = external.split("::").next().unwrap_or_default();
        if OF_THE_RUNTIME.contains(&krate) && known::find(&external) == Some(Known::Plain) {
            return Some(external);
        }
        let name = external.rsplit("::").next().unwrap_or_default();
        let of_kubernetes = || known::paths().filter(|near| near.starts_with("k8s_openapi::"));
        let near = of_kubernetes().find(|near| near.rsplit("::").next() == Some(name) && *near != external);
        let near = near.or_else(|| closest(&external, of_kubernetes()).filter(|_| krate == "k8s_openapi"));
        self.report_method_type(path, &external, near);
        None
    }

    fn report_method_type(&mut self, path: &PathExpr, name: &str, near: Option<&str>) {
        let message = format!("generated code cannot name `{name}`");
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use a type of k8s_openapi, or give it a name in the kind's crate: pub type Name = ...;"
                .to_owned(),
        };
        self.diagnostics.push(Diagnostic::error(Code::METHOD, path.loc, message).help(help));
    }
}

fn scale_method(verb: Verb, name: &str, span: &Span) -> Method {
    Method {
        name: name.to_owned(),
        verb,
        subresource: Some("scale".to_owned()),
        input: verb.sends_object().then(|| SCALE.to_owned()),
        result: SCALE.to_owned(),
        span: span.clone(),
    }
}
