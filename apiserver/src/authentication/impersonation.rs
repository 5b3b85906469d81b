//! Impersonation: a user acts for another one. apiserver/pkg/endpoints/filters/impersonation.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use http::HeaderMap;
use kubesmith_apimachinery::errors::aggregate;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value, json};

use super::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED};
use crate::authorization::{self, Attributes, Resource, Target};
use crate::builtin::domain_prefixed_path;
use crate::meta;
use crate::names::NameRule;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// The group of the users' properties, and of users and groups themselves where modes are constrained.
const GROUP: &str = "authentication.k8s.io";
const NODES: &str = "system:nodes";
/// From so many groups or values on, one right to all of them is asked for first.
const MANY: usize = 4;
/// The limit of remembered modes (`newModeIndexCache`).
const MANY_REQUESTORS: usize = 10_000;

/// The user that the headers of a request name.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    name: String,
    uid: String,
    groups: Vec<String>,
    extra: Map<String, Value>,
}

/// The last mode that allowed each requestor to impersonate, by the requestor's name (`modeIndexCache`).
#[derive(Debug, Default)]
pub(crate) struct Modes(Mutex<BTreeMap<String, Mode>>);

impl Modes {
    fn of(&self, requestor: &str) -> Option<Mode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(requestor).copied()
    }

    fn remember(&self, requestor: &str, mode: Mode) {
        let mut modes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if modes.len() >= MANY_REQUESTORS {
            modes.clear();
        }
        modes.insert(requestor.to_owned(), mode);
    }
}

/// Which users a right to impersonate is about (`allImpersonationModes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    Legacy,
}

const MODES: [Mode; 5] =
    [Mode::AssociatedNode, Mode::ArbitraryNode, Mode::ServiceAccount, Mode::UserInfo, Mode::Legacy];

impl Mode {
    /// The name in verbs; the mode without one asks for `impersonate` alone.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::AssociatedNode => Some("associated-node"),
            Self::ArbitraryNode => Some("arbitrary-node"),
            Self::ServiceAccount => Some("serviceaccount"),
            Self::UserInfo => Some("user-info"),
            Self::Legacy => None,
        }
    }

    fn verb(self) -> String {
        self.name().map_or_else(|| "impersonate".to_owned(), |name| format!("impersonate:{name}"))
    }

    /// Whether the mode is about the wanted user.
    fn fits(self, wanted: &Wanted, requestor: &Value) -> bool {
        let (node, account) = (node(&wanted.name), account(&wanted.name));
        match self {
            Self::AssociatedNode => wanted.has_name_alone() && node.is_some_and(|n| is_on(requestor, n)),
            Self::ArbitraryNode => wanted.has_name_alone() && node.is_some(),
            Self::ServiceAccount => wanted.has_name_alone() && account.is_some(),
            Self::UserInfo => node.is_none() && account.is_none(),
            Self::Legacy => true,
        }
    }
}

impl Wanted {
    fn has_name_alone(&self) -> bool {
        self.uid.is_empty() && self.groups.is_empty() && self.extra.is_empty()
    }
}

/// Go's `%#v` of the wanted user.
impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts = |list: &[&str]| -> String {
            list.iter().map(|text| golang::quote(text)).collect::<Vec<_>>().join(", ")
        };
        let groups: Vec<&str> = self.groups.iter().map(String::as_str).collect();
        let groups = if groups.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", texts(&groups)) };
        let entry = |(key, values): (&String, &Value)| {
            format!("{}:[]string{{{}}}", golang::quote(key), texts(&meta::strings(values)))
        };
        let extra: Vec<String> = self.extra.iter().map(entry).collect();
        let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
        let (name, uid) = (golang::quote(&self.name), golang::quote(&self.uid));
        write!(
            f,
            "&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:[]string{groups}, Extra:map[string][]string{extra}}}"
        )
    }
}

/// The user that the headers name, if they name one (`processImpersonationHeaders`).
///
/// # Errors
/// A bad request if they have properties of a user and no name.
pub(super) fn wanted(headers: &HeaderMap) -> ApiResult<Option<Wanted>> {
    let all = |name: &str| -> Vec<String> {
        headers.get_all(name).iter().map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned()).collect()
    };
    let first = |name: &str| all(name).into_iter().next().unwrap_or_default();
    let wanted = Wanted {
        name: first("impersonate-user"),
        uid: first("impersonate-uid"),
        groups: all("impersonate-group"),
        extra: extra(headers),
    };
    match wanted.name.is_empty() {
        true if wanted.has_name_alone() => Ok(None),
        true => Err(ApiError::bad_request(format!("requested {wanted} without impersonating a user name"))),
        false => Ok(Some(wanted)),
    }
}

/// The impersonated user, as the first mode has it that allows the request: the mode that last allowed the requestor to
/// impersonate goes first. The refusal is that of the first mode.
///
/// # Errors
/// Returns `Forbidden` if no mode allows it.
pub(super) fn user(server: &Server, wanted: &Wanted, request: &Attributes<'_>) -> ApiResult<Value> {
    let mut refusal = None;
    let requestor = authorization::username(request.user);
    let last = server.impersonations.of(requestor);
    let modes = last.into_iter().chain(MODES.into_iter().filter(|mode| Some(*mode) != last));
    for mode in modes.filter(|mode| mode.fits(wanted, request.user)) {
        let check = Check { server, requestor: request.user, wanted, mode };
        match check.request(request).and_then(|()| check.user()) {
            Ok(user) => {
                server.impersonations.remember(requestor, mode);
                return Ok(user);
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.unwrap_or_else(|| ApiError::unexpected("all impersonation modes failed")))
}

/// The checks of one mode.
struct Check<'a> {
    server: &'a Server,
    requestor: &'a Value,
    wanted: &'a Wanted,
    mode: Mode,
}

impl Check<'_> {
    /// Whether the requestor may do what it asks for in this mode.
    fn request(&self, request: &Attributes<'_>) -> ApiResult<()> {
        let Some(mode) = self.mode.name() else { return Ok(()) };
        let verb = format!("impersonate-on:{mode}:{}", request.verb);
        authorization::authorize(self.server, &Attributes { verb: &verb, ..*request })
    }

    /// The wanted user with the groups that follow from its name, if the requestor may be that user.
    fn user(&self) -> ApiResult<Value> {
        let wanted = self.wanted;
        let mut groups = wanted.groups.clone();
        groups.extend(self.name()?);
        if !wanted.uid.is_empty() {
            self.may(Resource { group: GROUP, resource: "uids", name: &wanted.uid, ..Resource::default() })?;
        }
        self.groups()?;
        self.extra()?;
        let implied = if wanted.name == ANONYMOUS { UNAUTHENTICATED } else { AUTHENTICATED };
        let has = |groups: &[String], group: &str| groups.iter().any(|g| g == group);
        if !has(&groups, implied) && (implied == UNAUTHENTICATED || !has(&groups, UNAUTHENTICATED)) {
            groups.push(implied.to_owned());
        }
        let mut user = json!({"username": wanted.name, "groups": groups});
        if !wanted.uid.is_empty() {
            user["uid"] = wanted.uid.as_str().into();
        }
        if !wanted.extra.is_empty() {
            user["extra"] = Value::Object(wanted.extra.clone());
        }
        Ok(user)
    }

    /// Checks the name, and returns the groups that follow from it (`authorizeUsername`).
    fn name(&self) -> ApiResult<Vec<String>> {
        let name = self.wanted.name.as_str();
        let constrained = self.mode != Mode::Legacy;
        if let Some(name) = node(name).filter(|_| constrained) {
            let name = if self.mode == Mode::AssociatedNode { "*" } else { name };
            self.may(Resource { resource: "nodes", name, ..self.of_users() })?;
            return Ok(vec![NODES.to_owned()]);
        }
        let Some((namespace, name)) = account(name) else {
            self.may(Resource { resource: "users", name, ..self.of_users() })?;
            return Ok(Vec::new());
        };
        self.may(Resource { resource: "serviceaccounts", namespace, name, ..self.of_users() })?;
        if !self.wanted.groups.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")])
    }

    fn groups(&self) -> ApiResult<()> {
        let groups = &self.wanted.groups;
        let group = |name| Resource { resource: "groups", name, ..self.of_users() };
        if self.mode != Mode::Legacy {
            let has = |name: &str| groups.iter().any(|group| group == name);
            if has("") {
                return self.never(group(""), "impersonating the empty string group is not allowed");
            }
            if has(authorization::MASTERS) {
                let text = "impersonating the system:masters group is not allowed";
                return self.never(group(authorization::MASTERS), text);
            }
            if groups.len() >= MANY && self.may(group("*")).is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|name| self.may(group(name)))
    }

    fn extra(&self) -> ApiResult<()> {
        let of = |subresource, name| Resource {
            group: GROUP,
            resource: "userextras",
            subresource,
            name,
            namespace: "",
        };
        let values: Vec<(&str, &str)> = self
            .wanted
            .extra
            .iter()
            .flat_map(|(key, values)| {
                meta::strings(values).into_iter().map(move |value| (key.as_str(), value))
            })
            .collect();
        if self.mode != Mode::Legacy {
            if let Some(why) = self.wanted.extra.iter().find_map(|(key, values)| extra_fault(key, values)) {
                return self.never(of("", ""), &why);
            }
            if values.len() >= MANY && self.may(of("*", "*")).is_ok() {
                return Ok(());
            }
        }
        values.into_iter().try_for_each(|(key, value)| self.may(of(key, value)))
    }

    /// The group that users and groups are of: the core group in the oldest mode.
    fn of_users(&self) -> Resource<'static> {
        Resource { group: if self.mode == Mode::Legacy { "" } else { GROUP }, ..Resource::default() }
    }

    fn may(&self, on: Resource<'_>) -> ApiResult<()> {
        let verb = self.mode.verb();
        let target = Target::Resource(on);
        authorization::authorize(self.server, &Attributes { user: self.requestor, verb: &verb, target })
    }

    fn never(&self, on: Resource<'_>, why: &str) -> ApiResult<()> {
        let verb = self.mode.verb();
        let attributes = Attributes { user: self.requestor, verb: &verb, target: Target::Resource(on) };
        Err(authorization::forbidden(&attributes, why))
    }
}

/// The node whose user name this is.
fn node(name: &str) -> Option<&str> {
    name.strip_prefix("system:node:").filter(|node| NameRule::Subdomain.check(node).is_empty())
}

/// Whether a service account's token is bound to the node.
fn is_on(requestor: &Value, node: &str) -> bool {
    account(authorization::username(requestor)).is_some()
        && meta::strings(&requestor["extra"]["authentication.kubernetes.io/node-name"]) == [node]
}

/// Namespace and name of the service account whose user name this is (`SplitUsername` of
/// apiserver/pkg/authentication/serviceaccount).
fn account(name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = name.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    let is_valid = NameRule::Label.check(namespace).is_empty() && NameRule::Subdomain.check(name).is_empty();
    is_valid.then_some((namespace, name))
}

/// `Impersonate-Extra-KEY` headers by key, which is in lower case and percent-encoded.
fn extra(headers: &HeaderMap) -> Map<String, Value> {
    let mut extra = Map::new();
    for (header, value) in headers {
        let Some(key) = header.as_str().strip_prefix("impersonate-extra-") else { continue };
        let key = crate::http::path::decode(key).unwrap_or_else(|| key.to_owned());
        if let Some(values) = extra.entry(key).or_insert_with(|| json!([])).as_array_mut() {
            values.push(String::from_utf8_lossy(value.as_bytes()).into());
        }
    }
    extra
}

/// Why a key of extras, or its values, cannot be impersonated (`validateExtra`).
fn extra_fault(key: &str, values: &Value) -> Option<String> {
    if key.is_empty() {
        return Some("impersonating the empty string key in extra is not allowed".to_owned());
    }
    let faults = domain_prefixed_path("extra.key", key).into_iter();
    let faults = aggregate(faults.map(|fault| format!("{}: {}", fault.field, fault.message)));
    if !faults.is_empty() {
        return Some(format!("impersonating an invalid key in extra is not allowed: {faults}"));
    }
    if key != key.to_lowercase() {
        let key = golang::quote(key);
        return Some(format!("impersonating a non-lowercase key in extra is not allowed: {key}"));
    }
    let is_empty = meta::strings(values).contains(&"");
    is_empty.then(|| "impersonating the empty string value in extra is not allowed".to_owned())
}
