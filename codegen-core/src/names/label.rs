//! Checks names by the API server's rules: DNS labels and subdomains, qualified names, kinds.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/util/validation` and of the
//! CustomResourceDefinition validation of `apiextensions-apiserver`.

use std::fmt;

/// The reason why a name is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// The reason, to follow "invalid group `...`: ".
    pub reason: String,
    /// A similar valid name, if there is one.
    pub suggestion: Option<String>,
}

impl NameError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), suggestion: None }
    }

    fn suggest(mut self, better: String, accepts: impl Fn(&str) -> bool) -> Self {
        self.suggestion = accepts(&better).then_some(better);
        self
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NameError {}

/// Longest DNS label and longest name part of a qualified name, in bytes (RFC 1035).
const LABEL_MAX: usize = 63;
/// Longest DNS subdomain, in bytes (RFC 1123).
const SUBDOMAIN_MAX: usize = 253;

/// Describes a character in a message, so that invisible ones can be recognised.
pub(super) fn show(c: char) -> String {
    match c {
        '"' => "a double quote".to_owned(),
        '\'' => "a single quote".to_owned(),
        '\n' | '\r' => "a line break".to_owned(),
        ' ' => "a space".to_owned(),
        c if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
        c => format!("`{c}`"),
    }
}

/// The rule of `IsDNS1035Label`: lower-case letters, digits and `-`, starting with a letter,
/// ending with a letter or digit, at most 63 characters.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn dns_label(text: &str) -> Result<(), NameError> {
    check_label(text).map_err(|e| e.suggest(to_label(text), |s| check_label(s).is_ok()))
}

fn check_label_chars(text: &str) -> Result<(), NameError> {
    let Some(c) = text.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) else {
        return Ok(());
    };
    let what = if c.is_ascii_uppercase() { format!("the upper-case letter `{c}`") } else { show(c) };
    let reason = format!("it contains {what}; only lower-case letters, digits and `-` are allowed");
    Err(NameError::new(reason))
}

fn check_label(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::new("it is empty"));
    }
    check_label_chars(text)?;
    if text.len() > LABEL_MAX {
        return Err(NameError::new(format!("it has {} characters, {LABEL_MAX} are allowed", text.len())));
    }
    if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(NameError::new("it must start with a letter"));
    }
    if text.starts_with('-') || text.ends_with('-') {
        return Err(NameError::new("it must start and end with a letter or digit"));
    }
    Ok(())
}

fn to_label(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', ' '], "-")
}

/// The rule of `IsDNS1123Subdomain`: DNS labels joined by dots, at most 253 characters.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn dns_subdomain(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::new("it is empty"));
    }
    if text.len() > SUBDOMAIN_MAX {
        return Err(NameError::new(format!("it has {} characters, {SUBDOMAIN_MAX} are allowed", text.len())));
    }
    for part in text.split('.') {
        if part.is_empty() {
            return Err(NameError::new("a part between the dots is empty"));
        }
        // A part of a subdomain may start with a digit, and its length is unlimited.
        check_label_chars(part)?;
        if part.starts_with('-') || part.ends_with('-') {
            return Err(NameError::new(format!(
                "the part `{part}` must start and end with a letter or digit"
            )));
        }
    }
    Ok(())
}

/// The rule of `IsQualifiedName`, for keys of labels and annotations: `prefix/name`, the prefix a
/// DNS subdomain and optional.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn qualified_name(text: &str) -> Result<(), NameError> {
    let name = match text.split_once('/') {
        Some((prefix, name)) => {
            dns_subdomain(prefix).map_err(|e| NameError::new(format!("in the prefix: {e}")))?;
            name
        }
        None => text,
    };
    if name.is_empty() {
        return Err(NameError::new("the name is empty"));
    }
    label_value(name)
}

/// The rule of `IsValidLabelValue`: at most 63 letters, digits, `-`, `_` and `.`, starting and
/// ending with a letter or digit, or empty.
///
/// # Errors
/// Returns the violated part of the rule.
pub fn label_value(text: &str) -> Result<(), NameError> {
    if let Some(c) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))) {
        return Err(NameError::new(format!("it contains {}", show(c))));
    }
    if text.len() > LABEL_MAX {
        return Err(NameError::new(format!("it has {} characters, {LABEL_MAX} are allowed", text.len())));
    }
    let edge = |c: char| !c.is_ascii_alphanumeric();
    if text.starts_with(edge) || text.ends_with(edge) {
        return Err(NameError::new("it must start and end with a letter or digit"));
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name_type! {
    /// An API group of a custom resource, `hopegi.com`.
    Group
}

impl Group {
    /// Parses a DNS subdomain with a dot, as CustomResourceDefinitions require.
    ///
    /// # Errors
    /// Returns the violated part of the rule.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let valid = |s: &str| dns_subdomain(s).is_ok() && s.contains('.');
        dns_subdomain(text).map_err(|e| e.suggest(to_label(text), valid))?;
        if !text.contains('.') {
            return Err(NameError {
                reason: "it needs at least one dot".to_owned(),
                suggestion: Some(format!("{text}.example.com")),
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// code-generator's default name of the group in code: the first label in upper camel case.
    pub fn code_name(&self) -> String {
        let first = self.0.split('.').next().unwrap_or_default();
        let name = super::upper_camel_case(first);
        if name.starts_with(|c: char| c.is_ascii_digit()) { format!("G{name}") } else { name }
    }
}

name_type! {
    /// A kind, `EcsBinding`.
    Kind
}

impl Kind {
    /// Parses a kind by the API servers' rule: letters, digits and `-`, starting with a letter, at most 63
    /// characters. The convention is upper camel case.
    ///
    /// # Errors
    /// Returns the violated part of the rule.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let check = |text: &str| {
            if let Some(c) = text.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
                let reason =
                    format!("it contains {}; only ASCII letters, digits and `-` are allowed", show(c));
                return Err(NameError::new(reason));
            }
            check_label(&text.to_ascii_lowercase())
        };
        check(text)
            .map(|()| Self(text.to_owned()))
            .map_err(|e| e.suggest(super::upper_camel_case(text), |s| check(s).is_ok()))
    }

    /// The kind for the name of a type: upper camel case, of ASCII letters and digits, at most 63 characters.
    ///
    /// # Errors
    /// Returns the violated part of the rule.
    pub fn of_type(name: &str) -> Result<Self, NameError> {
        camel_identifier(name).map(|()| Self(name.to_owned()))
    }
}

name_type! {
    /// A name that becomes part of Rust type and method names, `EcsBind`.
    CodeName
}

impl CodeName {
    /// Parses an upper camel case identifier of ASCII letters and digits.
    ///
    /// # Errors
    /// Returns the violated part of the rule.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        camel_identifier(text).map(|()| Self(text.to_owned()))
    }
}

fn camel_identifier(text: &str) -> Result<(), NameError> {
    let check = |text: &str| {
        if text.is_empty() {
            return Err(NameError::new("it is empty"));
        }
        if let Some(c) = text.chars().find(|c| !c.is_ascii_alphanumeric()) {
            let reason = format!("it contains {}; only ASCII letters and digits are allowed", show(c));
            return Err(NameError::new(reason));
        }
        if !text.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Err(NameError::new("it must start with an upper-case letter"));
        }
        if text.len() > LABEL_MAX {
            return Err(NameError::new(format!("it has {} characters, {LABEL_MAX} are allowed", text.len())));
        }
        Ok(())
    };
    check(text).map_err(|e| {
        let camel = super::upper_camel_case(text);
        let keep_case = text.chars().all(|c| c.is_ascii_alphanumeric());
        let better = if keep_case { capitalize(text) } else { camel };
        e.suggest(better, |s| check(s).is_ok())
    })
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

name_type! {
    /// A resource name in URLs, `ecsbindings`; also singular and short names and categories.
    PluralName
}

impl PluralName {
    /// Parses a DNS label.
    ///
    /// # Errors
    /// Returns the violated part of the rule.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        dns_label(text).map(|()| Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_dns_1035() {
        let long = "a".repeat(63);
        for good in ["a", "ecsbinding", "a-b", "v1alpha1", &long] {
            assert_eq!(dns_label(good), Ok(()), "{good}");
        }
        let too_long = "a".repeat(64);
        for bad in ["", "1a", "-a", "a-", "A", "a.b", "a b", "a\"b", "a\nb", "ä", &too_long] {
            assert!(dns_label(bad).is_err(), "{bad:?}");
        }
        assert_eq!(dns_label("Ecs_Binding").unwrap_err().suggestion.as_deref(), Some("ecs-binding"));
        assert_eq!(dns_label("a\nb").unwrap_err().suggestion, None);
    }

    #[test]
    fn groups_are_subdomains_with_a_dot() {
        for good in ["hopegi.com", "1a.2b", "a-b.c", "tsi.tiduyun.com"] {
            assert!(Group::parse(good).is_ok(), "{good}");
        }
        let long = format!("{}.com", "a.".repeat(130));
        for bad in [
            "", "apps", ".com", "a..b", "a.", "a-.b", "-a.b", "A.com", "a/b.c", "a.b\"", "a.b\n", "é.com",
            &long,
        ] {
            assert!(Group::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Group::parse("Hopegi.com").unwrap_err().suggestion.as_deref(), Some("hopegi.com"));
    }

    #[test]
    fn code_name_is_the_first_part_of_the_group() {
        for (group, code) in
            [("hopegi.com", "Hopegi"), ("sample-controller.k8s.io", "SampleController"), ("1a.b", "G1a")]
        {
            assert_eq!(Group::parse(group).unwrap().code_name(), code);
        }
    }

    #[test]
    fn kinds_of_types_are_upper_camel_case() {
        for good in ["A", "EcsBinding", "IPPool", "Foo2"] {
            assert!(Kind::of_type(good).is_ok(), "{good}");
        }
        for (bad, better) in [
            ("ecsBinding", Some("EcsBinding")),
            ("ecs_binding", Some("EcsBinding")),
            ("Ecs\"Binding", Some("EcsBinding")),
            ("Ecs-Binding", Some("EcsBinding")),
            ("", None),
            ("1Foo", None),
            ("Größe", None),
        ] {
            assert_eq!(Kind::of_type(bad).unwrap_err().suggestion.as_deref(), better, "{bad:?}");
        }
    }

    #[test]
    fn kind_is_accepted_as_by_api_servers() {
        for good in ["EcsBinding", "postgresql", "Ecs-Binding", "aB2"] {
            assert!(Kind::parse(good).is_ok(), "{good}");
        }
        let long = "A".repeat(64);
        for bad in ["", "1Foo", "-Foo", "Foo-", "Foo_Bar", "Foo {}", "Größe", "A\nB", &long] {
            assert!(Kind::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Kind::parse("foo_bar").unwrap_err().suggestion.as_deref(), Some("FooBar"));
    }

    #[test]
    fn keys_of_annotations_are_qualified_names() {
        for good in ["a", "A.b_c-d", "cert-manager.io/inject-ca-from"] {
            assert_eq!(qualified_name(good), Ok(()), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "Prefix.io/a", "-a", "a b", "a\n"] {
            assert!(qualified_name(bad).is_err(), "{bad:?}");
        }
        assert_eq!(label_value(""), Ok(()));
    }
}
