//! The rules of names, with kube-apiserver's texts: apimachinery's `util/validation`.
//!
//! Each function returns the broken rules; a valid name has none.

/// Checks a DNS subdomain (RFC 1123): names of most objects, groups.
#[must_use]
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 253);
    if !value.split('.').all(is_dns1123_label) {
        errors.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    errors
}

/// Checks a DNS label of RFC 1123: names of namespaces and containers.
#[must_use]
pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 63);
    if value.contains('.') && value.split('.').all(is_dns1123_label) {
        errors.push("must not contain dots".to_owned());
    } else if !is_dns1123_label(value) {
        errors.push(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    errors
}

/// Checks a DNS label of RFC 1035: names of services, plurals, versions, kinds in lower case.
#[must_use]
pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 63);
    if !(is_dns1123_label(value) && value.starts_with(|c: char| c.is_ascii_lowercase())) {
        errors.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    errors
}

/// Checks the name of a container's port (RFC 6335): apimachinery's `IsValidPortName`.
#[must_use]
pub fn port_name(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 15);
    let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if value.is_empty() || !value.bytes().all(is_part) {
        errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !value.bytes().any(|b| b.is_ascii_lowercase()) {
        errors.push("must contain at least one letter (a-z)".to_owned());
    }
    if value.contains("--") {
        errors.push("must not contain consecutive hyphens".to_owned());
    }
    if value.starts_with('-') || value.ends_with('-') {
        errors.push("must not begin or end with a hyphen".to_owned());
    }
    errors
}

/// Checks the key of a label or an annotation.
#[must_use]
pub fn qualified_name(value: &str) -> Vec<String> {
    let (prefix, name) = match value.split_once('/') {
        Some((_, name)) if name.contains('/') => return vec![malformed_qualified_name()],
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, value),
    };
    let mut errors = Vec::new();
    match prefix {
        Some("") => errors.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            errors.extend(dns1123_subdomain(prefix).iter().map(|error| format!("prefix part {error}")));
        }
        None => {}
    }
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_label_text(name) {
        errors.push(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
             '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
                .to_owned(),
        );
    }
    errors
}

fn malformed_qualified_name() -> String {
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
     'example.com/MyName')"
        .to_owned()
}

/// Checks the value of a label.
#[must_use]
pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = match value.len() > 63 {
        true => vec!["must be no more than 63 bytes".to_owned()],
        false => Vec::new(),
    };
    if !value.is_empty() && !is_label_text(value) {
        errors.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
             for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    errors
}

fn too_long(value: &str, max: usize) -> Vec<String> {
    match value.len() > max {
        true => vec![format!("must be no more than {max} characters")],
        false => Vec::new(),
    }
}

fn is_dns1123_label(value: &str) -> bool {
    let bytes = value.as_bytes();
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
}

fn is_label_text(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_name_reports_each_broken_rule() {
        assert!(port_name("http").is_empty() && port_name("8-a").is_empty());
        assert_eq!(port_name("80"), ["must contain at least one letter (a-z)"]);
        assert_eq!(
            port_name("a_b")[0],
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
        );
        let errors = ["must not contain consecutive hyphens", "must not begin or end with a hyphen"];
        assert_eq!(port_name("a--"), errors);
        assert_eq!(port_name("sixteen-letters-")[0], "must be no more than 15 characters");
    }

    #[test]
    fn name_reports_each_broken_rule() {
        assert!(dns1123_subdomain("a.b-c.d").is_empty() && dns1035_label("a1").is_empty());
        assert_eq!(dns1123_subdomain("Not_A_Name").len(), 1);
        assert_eq!(dns1123_subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
        assert_eq!(dns1035_label("1a").len(), 1);
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert!(dns1123_label("a..b")[0].starts_with("a lowercase RFC 1123 label must consist of"));
        assert!(qualified_name("example.com/Name_1").is_empty() && label_value("").is_empty());
        assert!(qualified_name("bad key!")[0].starts_with("name part must consist of"));
        assert_eq!(qualified_name("a/b/c").len(), 1);
        assert!(label_value("bad value!")[0].starts_with("a valid label must be"));
    }
}
