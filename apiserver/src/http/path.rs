//! Parses URL paths.

use crate::groups;

/// A path below `/api` or `/apis` that names a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath {
    /// Empty: the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// Empty: none given.
    pub namespace: String,
    /// The plural name.
    pub resource: String,
    /// Empty: the collection.
    pub name: String,
    /// Empty: the object itself.
    pub subresource: String,
    /// The path behind the subresource `proxy`.
    pub proxied: String,
    /// The deprecated `/watch/` prefix.
    pub watch: bool,
    /// The `/proxy/` prefix, which authorization still knows; nothing serves it.
    pub proxy: bool,
    /// The path is `namespaces//{resource}`, which names the objects of all namespaces.
    pub empty_namespace: bool,
}

impl ResourcePath {
    /// Reports whether the path has no part for a namespace.
    pub(crate) fn is_without_namespace(&self) -> bool {
        self.namespace.is_empty() && !self.empty_namespace
    }
}

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/{group}`
    Group(String),
    /// `/api/v1` or `/apis/{group}/{version}`
    GroupVersion(String, String),
    /// A resource.
    Resource(ResourcePath),
    /// The deprecated verbs `proxy` and `watch` without a path behind them.
    VerbAlone,
    /// Any other path, without a slash at the end.
    Other(String),
}

/// Parses a path, which is decoded before it is split, as in Go's `URL.Path`.
///
/// # Errors
/// `Err(())` when the percent-encoding is not UTF-8.
#[allow(clippy::result_unit_err)]
pub fn parse(path: &str) -> Result<Target, ()> {
    let path = decode(path).ok_or(())?;
    // No handler has such a path (`director` of apiserver's pkg/server/handler.go).
    if path.starts_with("//") {
        return Ok(Target::Other(path));
    }
    let trimmed = path.trim_matches('/');
    let parts: Vec<&str> = if trimmed.is_empty() { Vec::new() } else { trimmed.split('/').collect() };
    if parts.iter().enumerate().any(|(at, part)| part.is_empty() && !is_namespace(&parts[..at])) {
        return Ok(Target::Other(format!("/{trimmed}")));
    }
    Ok(match parts.as_slice() {
        ["api"] => Target::CoreVersions,
        ["apis"] => Target::Groups,
        ["api", version] => Target::GroupVersion(String::new(), (*version).to_owned()),
        ["apis", group] => Target::Group((*group).to_owned()),
        ["apis", group, version] => Target::GroupVersion((*group).to_owned(), (*version).to_owned()),
        ["api", _, "proxy" | "watch"] | ["apis", _, _, "proxy" | "watch"] => Target::VerbAlone,
        ["api", version, rest @ ..] => resource("", version, rest),
        ["apis", group, version, rest @ ..] => resource(group, version, rest),
        _ => Target::Other(format!("/{trimmed}")),
    })
}

/// Reports whether a namespace follows these parts of a path. It alone may be empty.
fn is_namespace(before: &[&str]) -> bool {
    let rest = match before {
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        _ => return false,
    };
    matches!(rest, ["namespaces"] | ["watch", "namespaces"])
}

/// Reports whether a path has a percent sign without two hexadecimal digits: Go's HTTP server refuses the request.
pub(crate) fn is_malformed(path: &str) -> bool {
    let digits = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count();
    path.split('%').skip(1).any(|rest| digits(rest) < 2)
}

/// Reports whether go-restful routes a path: kube-apiserver returns a `Status` for unknown ones there, and plain text
/// elsewhere.
pub(crate) fn is_routed(path: &str) -> bool {
    let mut parts = path.strip_prefix('/').unwrap_or(path).split('/');
    match parts.next() {
        Some("api") => true,
        Some("apis") => parts.next().is_some_and(|group| !group.is_empty() && groups::is_built_in(group)),
        _ => false,
    }
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Target {
    let mut out =
        ResourcePath { group: group.to_owned(), version: version.to_owned(), ..ResourcePath::default() };
    let rest = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => {
            out.watch = true;
            rest
        }
        ["proxy", rest @ ..] if !rest.is_empty() => {
            out.proxy = true;
            rest
        }
        rest => rest,
    };
    let own = |s: &str| s.to_owned();
    let rest = match rest {
        // The subresources of a namespace; all other paths below a namespace are resources in it.
        ["namespaces", name, sub @ ("status" | "finalize")] => {
            (out.resource, out.name) = (own("namespaces"), own(name));
            // `specialVerbsNoSubresources` of apiserver's pkg/endpoints/request.
            if !out.proxy {
                out.subresource = own(sub);
            }
            return Target::Resource(out);
        }
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
            out.namespace = own(namespace);
            out.empty_namespace = namespace.is_empty();
            rest
        }
        rest => rest,
    };
    match rest {
        [resource] => out.resource = own(resource),
        [resource, name, ..] if out.proxy => (out.resource, out.name) = (own(resource), own(name)),
        [resource, name] => (out.resource, out.name) = (own(resource), own(name)),
        [resource, name, sub @ "proxy", path @ ..] => {
            (out.resource, out.name, out.subresource) = (own(resource), own(name), own(sub));
            out.proxied = path.join("/");
        }
        [resource, name, sub @ ..] => {
            (out.resource, out.name, out.subresource) = (own(resource), own(name), sub.join("/"));
        }
        [] => {}
    }
    Target::Resource(out)
}

/// Decodes percent-encoding; `None` when the result is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = (bytes[i] == b'%').then(|| text.get(i + 1..i + 3)).flatten();
        // `from_str_radix` also accepts a sign, which is no hexadecimal digit.
        let hex = hex.filter(|digits| !digits.starts_with('+'));
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: (&str, &str, &str, &str, &str, &str)) {
        let Ok(Target::Resource(p)) = parse(path) else { panic!("{path} names no resource") };
        let got = (&*p.group, &*p.version, &*p.namespace, &*p.resource, &*p.name, &*p.subresource);
        assert_eq!(got, expected, "{path}");
    }

    #[test]
    fn resource_paths_are_parsed_in_every_scope() {
        check("/api/v1/pods", ("", "v1", "", "pods", "", ""));
        check("/api/v1/namespaces", ("", "v1", "", "namespaces", "", ""));
        check("/api/v1/namespaces/a", ("", "v1", "", "namespaces", "a", ""));
        check("/api/v1/namespaces/a/status", ("", "v1", "", "namespaces", "a", "status"));
        check("/api/v1/namespaces/a/pods/b/log", ("", "v1", "a", "pods", "b", "log"));
        check("/apis/g.x/v1/namespaces/a/ws/b", ("g.x", "v1", "a", "ws", "b", ""));
        check("/apis/g.x/v1/ws/system%3Ax", ("g.x", "v1", "", "ws", "system:x", ""));
        check("/apis/g.x/v1/namespaces//ws/b", ("g.x", "v1", "", "ws", "b", ""));
    }

    #[test]
    fn path_is_decoded_before_it_is_split() {
        check("/api/v1/namespaces/a/pods/b%2Flog", ("", "v1", "a", "pods", "b", "log"));
        check("/api/v1/namespaces/a/pods/", ("", "v1", "a", "pods", "", ""));
        check("/api/v1/nodes/a/proxy/b/c", ("", "v1", "", "nodes", "a", "proxy"));
        assert_eq!(parse("/api//v1"), Ok(Target::Other("/api//v1".to_owned())));
        assert_eq!(parse("/api/v1/watch"), Ok(Target::VerbAlone));
        assert!(is_routed("/api//v1") && is_routed("/apis/apps/v9") && !is_routed("/apis/a.example/v1"));
    }

    #[test]
    fn watch_prefix_is_parsed() {
        let Ok(Target::Resource(p)) = parse("/apis/g/v1/watch/namespaces/a/ws/b") else {
            panic!("no resource")
        };
        assert!(p.watch);
        assert_eq!((&*p.namespace, &*p.resource, &*p.name), ("a", "ws", "b"));
    }

    #[test]
    fn proxy_prefix_is_parsed() {
        check("/api/v1/proxy/namespaces/a/services/b/c/d", ("", "v1", "a", "services", "b", ""));
        check("/api/v1/proxy/namespaces/a/finalize", ("", "v1", "", "namespaces", "a", ""));
        let Ok(Target::Resource(p)) = parse("/api/v1/proxy/nodes/a") else { panic!("no resource") };
        assert!(p.proxy);
    }

    #[test]
    fn escape_has_two_hexadecimal_digits() {
        for path in ["/api/%zz", "/api/%4", "/%", "/%+f"] {
            assert!(is_malformed(path), "{path}");
        }
        assert!(!is_malformed("/api/%41%ff"));
    }

    #[test]
    fn broken_percent_encoding_does_not_panic() {
        assert_eq!(decode("%"), Some("%".to_owned()));
        assert_eq!(decode("%4"), Some("%4".to_owned()));
        assert_eq!(decode("%zz%41"), Some("%zzA".to_owned()));
        assert_eq!(decode("%+f"), Some("%+f".to_owned()));
        assert_eq!(decode("%ff"), None);
        assert_eq!(decode("%é"), Some("%é".to_owned()));
    }
}
