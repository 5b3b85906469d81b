//! Faults, and the requests that they match.

use std::fmt;
use std::time::Duration;

use http::{Method, Request};

use kubesmith_apiserver::request::{Query, Target, parse_path};

/// A fault of a request.
///
/// Faults of events apply to watches in JSON, whose events are lines, and to no other request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The connection breaks before the server gets the request.
    DropRequest,
    /// The connection breaks after the server has handled the request, before its response.
    DropAnswer,
    /// The connection breaks after this number of bytes of the response's body.
    DropAnswerAfter(u64),
    /// The request waits before it is passed on.
    Delay(Duration),
    /// The proxy responds with a `Status` of this code in kube-apiserver's words; the server gets no request.
    Status(u16),
    /// The proxy responds with 429 and a `Retry-After` of this number of seconds.
    TooManyRequests(u64),
    /// From the byte `at` of the response's body on, `count` bytes are replaced by `0xff`, which is invalid in UTF-8.
    Garble {
        /// The first byte, from 0.
        at: u64,
        /// The number of bytes.
        count: u64,
    },
    /// A watch ends regularly after this number of events.
    EndWatch(u64),
    /// A watch ends regularly after this number of bytes, possibly within an event.
    EndWatchAfterBytes(u64),
    /// A watch ends regularly within the event after this number of whole ones.
    TruncateWatch(u64),
    /// After this number of events a watch gets an `ERROR` event with the code 410, and ends.
    ExpireWatch(u64),
    /// A watch stays open and delivers nothing: for this time, or until the server or the client ends it.
    SilenceWatch(Option<Duration>),
}

impl Fault {
    /// Reports whether only watches can have it.
    pub(crate) fn needs_watch(&self) -> bool {
        matches!(
            self,
            Fault::EndWatch(_)
                | Fault::EndWatchAfterBytes(_)
                | Fault::TruncateWatch(_)
                | Fault::ExpireWatch(_)
                | Fault::SilenceWatch(_)
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::DropRequest => f.write_str("connection dropped before the request"),
            Fault::DropAnswer => f.write_str("connection dropped before the answer"),
            Fault::DropAnswerAfter(bytes) => {
                write!(f, "connection dropped after {bytes} bytes of the answer")
            }
            Fault::Delay(time) => write!(f, "delayed by {time:?}"),
            Fault::Status(code) => write!(f, "answered with {code}"),
            Fault::TooManyRequests(seconds) => write!(f, "answered with 429, retry after {seconds} s"),
            Fault::Garble { at, count } => write!(f, "{count} bytes garbled from byte {at} on"),
            Fault::EndWatch(events) => write!(f, "watch ended after {events} events"),
            Fault::EndWatchAfterBytes(bytes) => write!(f, "watch ended after {bytes} bytes"),
            Fault::TruncateWatch(events) => write!(f, "watch ended within the event after {events}"),
            Fault::ExpireWatch(events) => write!(f, "watch expired after {events} events"),
            Fault::SilenceWatch(None) => f.write_str("watch silenced"),
            Fault::SilenceWatch(Some(time)) => write!(f, "watch silenced for {time:?} and ended"),
        }
    }
}

/// The verbs of requests for resources, as RBAC names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Follows a collection or an object.
    Watch,
    /// Creates an object.
    Create,
    /// Replaces an object.
    Update,
    /// Changes an object.
    Patch,
    /// Deletes an object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
        })
    }
}

/// The attributes of a request that rules match.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// `None` when the path is no resource.
    pub(crate) verb: Option<Verb>,
    path: String,
    group: String,
    /// The resource with its subresource, as RBAC names it.
    resource: String,
    namespace: String,
    name: String,
}

impl Asked {
    pub(crate) fn of<B>(request: &Request<B>) -> Self {
        let path = request.uri().path().to_owned();
        let Ok(Target::Resource(target)) = parse_path(&path) else {
            let (group, resource, namespace, name) = Default::default();
            return Self { verb: None, path, group, resource, namespace, name };
        };
        let watch = target.watch || Query::parse(request.uri().query().unwrap_or_default()).flag("watch");
        let one = !target.name.is_empty();
        let verb = match *request.method() {
            Method::GET | Method::HEAD if watch => Some(Verb::Watch),
            Method::GET | Method::HEAD if one => Some(Verb::Get),
            Method::GET | Method::HEAD => Some(Verb::List),
            Method::POST => Some(Verb::Create),
            Method::PUT => Some(Verb::Update),
            Method::PATCH => Some(Verb::Patch),
            Method::DELETE if one => Some(Verb::Delete),
            Method::DELETE => Some(Verb::DeleteCollection),
            _ => None,
        };
        let resource = match target.subresource.as_str() {
            "" => target.resource,
            subresource => format!("{}/{subresource}", target.resource),
        };
        Self { verb, path, group: target.group, resource, namespace: target.namespace, name: target.name }
    }

    /// Returns the route, which requests of one kind share: the verb and the resource, or the path of other requests.
    pub(crate) fn route(&self) -> String {
        match self.verb {
            Some(verb) if self.group.is_empty() => format!("{verb} {}", self.resource),
            Some(verb) => format!("{verb} {}.{}", self.resource, self.group),
            None => self.path.clone(),
        }
    }
}

/// A fault for matching requests; without conditions, for all.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) fault: Fault,
    verb: Option<Verb>,
    group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    path: Option<String>,
    nth: Option<u64>,
    times: Option<u64>,
}

impl Rule {
    /// Creates a rule for every request that can have the fault.
    #[must_use]
    pub fn new(fault: Fault) -> Self {
        let (verb, nth, times) = Default::default();
        let (group, resource, namespace, name, path) = Default::default();
        Self { fault, verb, group, resource, namespace, name, path, nth, times }
    }

    /// Matches only requests with this verb.
    #[must_use]
    pub fn verb(mut self, verb: Verb) -> Self {
        self.verb = Some(verb);
        self
    }

    /// Matches only requests for resources of this API group; the core group's name is empty.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Matches only requests for this resource, by its plural name, or `pods/status` for a subresource.
    #[must_use]
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// Matches only requests in this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Matches only requests for the object of this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Matches only requests whose path begins like this, such as `/openapi`.
    #[must_use]
    pub fn path(mut self, prefix: impl Into<String>) -> Self {
        self.path = Some(prefix.into());
        self
    }

    /// Applies only to the `n`th matching request, counted from 1 since the rule was added to a proxy.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.nth = Some(n);
        self
    }

    /// Applies only to the first `n` matching requests; together with [`Rule::nth`], to `n` requests from the `nth` on.
    #[must_use]
    pub fn times(mut self, n: u64) -> Self {
        self.times = Some(n);
        self
    }

    /// Reports whether the rule matches a request.
    pub(crate) fn fits(&self, asked: &Asked) -> bool {
        let same = |given: &Option<String>, value: &str| given.as_deref().is_none_or(|given| given == value);
        // Requests for other paths than resources have only their path.
        let any = |given: [&Option<String>; 4]| given.iter().any(|given| given.is_some());
        let resource = [&self.group, &self.resource, &self.namespace, &self.name];
        (asked.verb.is_some() || !any(resource))
            && (self.verb.is_none() || self.verb == asked.verb)
            && (!self.fault.needs_watch() || asked.verb == Some(Verb::Watch))
            && same(&self.group, &asked.group)
            && same(&self.resource, &asked.resource)
            && same(&self.namespace, &asked.namespace)
            && same(&self.name, &asked.name)
            && self.path.as_ref().is_none_or(|prefix| asked.path.starts_with(prefix))
    }

    /// Reports whether the `count`th matching request, from 1, gets the fault.
    pub(crate) fn is_due(&self, count: u64) -> bool {
        match (self.nth, self.times) {
            (None, None) => true,
            (None, Some(times)) => count <= times,
            (Some(nth), times) => {
                let end = nth.saturating_add(times.unwrap_or(1));
                (nth..end).contains(&count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, uri: &str) -> Asked {
        Asked::of(&Request::builder().method(method).uri(uri).body(()).unwrap())
    }

    #[test]
    fn request_verb_and_route_are_parsed() {
        let cases = [
            ("GET", "/api/v1/pods", "list pods"),
            ("GET", "/api/v1/namespaces/a/pods/b", "get pods"),
            ("GET", "/api/v1/namespaces/a/pods/b/log", "get pods/log"),
            ("GET", "/apis/g.x/v1/ws?watch=1", "watch ws.g.x"),
            ("GET", "/apis/g.x/v1/watch/ws", "watch ws.g.x"),
            ("GET", "/apis/g.x/v1/ws?watch=false", "list ws.g.x"),
            ("POST", "/apis/g.x/v1/ws", "create ws.g.x"),
            ("PUT", "/apis/g.x/v1/ws/w/status", "update ws/status.g.x"),
            ("PATCH", "/apis/g.x/v1/ws/w", "patch ws.g.x"),
            ("DELETE", "/apis/g.x/v1/ws/w", "delete ws.g.x"),
            ("DELETE", "/apis/g.x/v1/ws", "deletecollection ws.g.x"),
            ("GET", "/version", "/version"),
            ("GET", "/apis/g.x", "/apis/g.x"),
        ];
        for (method, uri, route) in cases {
            assert_eq!(asked(method, uri).route(), route, "{method} {uri}");
        }
    }

    #[test]
    fn rule_matches_by_verb_and_route() {
        let request = asked("GET", "/apis/g.x/v1/namespaces/n/ws/w");
        let rule = || Rule::new(Fault::DropRequest);
        for fits in [
            rule(),
            rule().verb(Verb::Get),
            rule().group("g.x").resource("ws").namespace("n").name("w"),
            rule().path("/apis/g"),
        ] {
            assert!(fits.fits(&request), "{fits:?}");
        }
        for other in [
            rule().verb(Verb::List),
            rule().group(""),
            rule().resource("ws/status"),
            rule().namespace("m"),
            rule().name("v"),
            rule().path("/api/"),
            Rule::new(Fault::EndWatch(0)),
        ] {
            assert!(!other.fits(&request), "{other:?}");
        }
        let version = asked("GET", "/version");
        assert!(rule().fits(&version) && rule().path("/version").fits(&version));
        assert!(!rule().group("").fits(&version), "what is no resource is in no group");
    }

    #[test]
    fn rule_is_due_by_nth_and_times() {
        let due = |rule: Rule| (1..=5).filter(|count| rule.is_due(*count)).collect::<Vec<_>>();
        let rule = || Rule::new(Fault::DropRequest);
        assert_eq!(due(rule()), [1, 2, 3, 4, 5]);
        assert_eq!(due(rule().nth(3)), [3]);
        assert_eq!(due(rule().times(2)), [1, 2]);
        assert_eq!(due(rule().nth(2).times(3)), [2, 3, 4]);
    }
}
