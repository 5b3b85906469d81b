//! Checks names of objects in generated manifests: roles, namespaces, webhooks.

use super::{NameError, dns_subdomain};

/// Longest name of a namespace, in bytes (RFC 1123).
const NAMESPACE_MAX: usize = 63;

/// The fewest parts of a webhook's name.
const WEBHOOK_PARTS: usize = 3;

/// The rule of `IsValidPathSegmentName`, for names of roles: neither empty, `.` nor `..`, without `/` and `%`.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn path_segment(text: &str) -> Result<(), NameError> {
    match text {
        "" => Err(NameError::new("it is empty")),
        "." | ".." => Err(NameError::new("it would lead elsewhere in a URL")),
        _ => match text.chars().find(|c| matches!(c, '/' | '%') || c.is_control()) {
            Some(c) => Err(NameError::new(format!("it contains {}", super::label::show(c)))),
            None => Ok(()),
        },
    }
}

/// The rule of `IsDNS1123Label`, for names of namespaces: lower-case letters, digits and `-`, at most 63 characters.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn namespace(text: &str) -> Result<(), NameError> {
    dns_subdomain(text)?;
    if text.contains('.') {
        return Err(NameError::new("it contains a dot"));
    }
    if text.len() > NAMESPACE_MAX {
        return Err(NameError::new(format!("it has {} characters, {NAMESPACE_MAX} are allowed", text.len())));
    }
    Ok(())
}

/// The rule of `IsFullyQualifiedName`, for names of webhooks: a DNS subdomain of at least three parts.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn webhook(text: &str) -> Result<(), NameError> {
    dns_subdomain(text)?;
    let parts = text.split('.').count();
    if parts < WEBHOOK_PARTS {
        return Err(NameError::new(format!(
            "{WEBHOOK_PARTS} parts separated by dots are needed, not {parts}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_roles_are_segments_of_a_path() {
        for right in ["manager-role", "system:controller:a", "Ünï", "a b"] {
            assert_eq!(path_segment(right), Ok(()), "{right}");
        }
        for wrong in ["", ".", "..", "a/b", "50%", "a\nb"] {
            assert!(path_segment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn namespaces_are_labels() {
        assert_eq!(namespace("9-lives"), Ok(()));
        for wrong in ["", "a.b", "A", "-a", &"a".repeat(64)] {
            assert!(namespace(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn webhook_name_has_at_least_three_parts() {
        assert_eq!(webhook("m.example.com"), Ok(()));
        for wrong in ["", "example.com", "m", "M.example.com", "a..b.c"] {
            assert!(webhook(wrong).is_err(), "{wrong}");
        }
    }
}
