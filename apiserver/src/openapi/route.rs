//! An operation and its parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::schemas;

/// The query parameters of options, by the options' type.
static OPTIONS: LazyLock<BTreeMap<&'static str, Vec<Query>>> = LazyLock::new(|| {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for line in include_str!("parameters.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.splitn(4, ' ');
        if let (Some(options), Some(name), Some(kind), Some(description)) =
            (words.next(), words.next(), words.next(), words.next())
        {
            let description = schemas::text(description);
            all.entry(options).or_default().push(Query { name, kind, description });
        }
    }
    all
});

struct Query {
    name: &'static str,
    kind: &'static str,
    description: String,
}

/// Returns the query parameters of options of this type.
pub(super) fn parameters(options: &str) -> impl Iterator<Item = Parameter> {
    OPTIONS.get(options).into_iter().flatten().map(Query::parameter)
}

/// A parameter of a path or query.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// `path` or `query`.
    pub(super) place: &'static str,
    pub(super) kind: &'static str,
    pub(super) description: Cow<'static, str>,
}

/// An operation.
pub(super) struct Route {
    pub(super) path: String,
    /// The method, in lower case.
    pub(super) method: String,
    /// The name, from which the operation's ID is made.
    pub(super) operation: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) consumes: Vec<&'static str>,
    pub(super) produces: Vec<&'static str>,
    /// The definition of the body, and whether a body is required.
    pub(super) body: Option<(String, bool)>,
    pub(super) codes: &'static [(&'static str, &'static str)],
    /// The definition of responses; text if there is none.
    pub(super) answer: Option<String>,
    /// The value of `x-kubernetes-action`.
    pub(super) action: Option<&'static str>,
    /// The value of `x-kubernetes-group-version-kind`.
    pub(super) kind: Option<Value>,
}

impl Route {
    /// Returns the names of the definitions that it refers to.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &String> {
        self.answer.iter().chain(self.body.iter().map(|(name, _)| name))
    }

    /// As [`Route::definitions`], to rename them.
    pub(super) fn definitions_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.answer.iter_mut().chain(self.body.iter_mut().map(|(name, _)| name))
    }

    /// Returns its ID and tag (`GetOperationIDAndTags` of apiserver's `pkg/endpoints/openapi`).
    pub(super) fn id_and_tag(&self) -> (String, String) {
        const VERBS: [&str; 9] =
            ["get", "read", "replace", "patch", "delete", "watch", "connect", "list", "create"];
        let verb = VERBS.into_iter().find(|verb| self.operation.starts_with(verb)).unwrap_or_default();
        let rest = self.operation.strip_prefix(verb).unwrap_or_default();
        let parts: Vec<&str> = self.path.trim_matches('/').split('/').collect();
        let (group, version) = match parts.as_slice() {
            ["api", rest @ ..] => ("core", rest.first()),
            ["apis", group, rest @ ..] => (group.strip_suffix(".k8s.io").unwrap_or(group), rest.first()),
            [first, ..] => {
                return (format!("{verb}{}", identifier(rest, true)), identifier(first, false));
            }
            [] => return (verb.to_owned(), String::new()),
        };
        let mut id = format!("{verb}{}", identifier(group, true));
        let mut tag = identifier(group, false);
        if let Some(version) = version {
            id.push_str(&identifier(version, true));
            tag.push('_');
            tag.push_str(&identifier(version, false));
        }
        (id + &identifier(rest, true), tag)
    }
}

/// Removes what identifiers cannot have, and capitalizes what follows it (`ToValidOperationID`).
fn identifier(text: &str, capital: bool) -> String {
    let mut out = String::new();
    let mut capital = capital;
    for (at, char) in text.char_indices() {
        if !(char.is_alphabetic() || char == '_' || (at != 0 && char.is_numeric())) {
            capital = true;
        } else if std::mem::take(&mut capital) {
            out.extend(char.to_uppercase());
        } else {
            out.push(char);
        }
    }
    out
}

impl Query {
    fn parameter(&'static self) -> Parameter {
        let description = Cow::Borrowed(self.description.as_str());
        Parameter { name: self.name, place: "query", kind: self.kind, description }
    }
}
