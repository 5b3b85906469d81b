//! Conflicts of server-side apply: the fields and their owners.

use std::fmt;

use kube::core::Status;

/// The reason of a cause that names another manager's field.
const REASON: &str = "FieldManagerConflict";

/// An applied field that belongs to another field manager.
/// [`Error::apply_conflicts`](super::Error::apply_conflicts) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldConflict {
    /// The field, as the server writes it: `.spec.replicas`, `.spec.ports[name="web"].port`.
    pub field: String,
    /// The field's manager; empty if the server does not name it.
    pub manager: String,
    /// The subresource through which the manager wrote it, such as `status`.
    pub subresource: Option<String>,
    /// The server's message: `conflict with "kubectl" using apps/v1`.
    pub message: String,
}

impl fmt::Display for FieldConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// Returns the conflicts in a status; none for other failures.
pub(super) fn conflicts(status: &Status) -> Vec<FieldConflict> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes = causes.filter(|cause| cause.reason == REASON);
    let conflicts = causes.map(|cause| {
        let (manager, subresource) = owner(&cause.message);
        FieldConflict { field: cause.field.clone(), manager, subresource, message: cause.message.clone() }
    });
    conflicts.collect()
}

/// Returns manager and subresource of `conflict with "kubectl" with subresource "status" using v1 at ...`.
fn owner(message: &str) -> (String, Option<String>) {
    let Some((manager, rest)) = message.strip_prefix("conflict with ").and_then(unquoted) else {
        return (String::new(), None);
    };
    let subresource = rest.strip_prefix(" with subresource ").and_then(unquoted).map(|(name, _)| name);
    (manager, subresource)
}

/// Returns the quoted string at the start of `text`, and the rest. Go's quoted strings are JSON's, except for
/// escaped bytes, which stay escaped.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    let name = serde_json::from_str(&text[..end + 2]).unwrap_or_else(|_| inside[..end].to_owned());
    Some((name, &inside[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_owner_is_read_from_the_message() {
        let all = [
            (r#"conflict with "me""#, ("me", None)),
            (r#"conflict with "kubectl-edit" using apps/v1"#, ("kubectl-edit", None)),
            (
                r#"conflict with "hpa" with subresource "scale" using v1 at 2026-01-02T03:04:05Z"#,
                ("hpa", Some("scale")),
            ),
            (r#"conflict with "a \"b\\" using v1"#, ("a \"b\\", None)),
            (r#"conflict with "a\x01""#, (r"a\x01", None)),
            (r#"conflict with "open"#, ("", None)),
            ("something else", ("", None)),
            ("", ("", None)),
        ];
        for (message, (manager, subresource)) in all {
            assert_eq!(owner(message), (manager.to_owned(), subresource.map(str::to_owned)), "{message}");
        }
    }
}
