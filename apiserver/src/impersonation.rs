//! The users that requests act for, and the modes that allow it. apiserver/pkg/endpoints/filters/impersonation.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use http::HeaderMap;
use kubesmith_apimachinery::errors::aggregate;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value, json};

use crate::access::username;
use crate::builtin::domain_prefixed_path;
use crate::meta;
use crate::names::NameRule;
use crate::status::{ApiError, ApiResult};

/// The limit of remembered modes (`newModeIndexCache`).
const MANY_REQUESTORS: usize = 10_000;

/// The user that the headers of a request name.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: Map<String, Value>,
}

/// The last mode that allowed each requestor to impersonate, by the requestor's name (`modeIndexCache`).
#[derive(Debug, Default)]
pub(crate) struct Modes(Mutex<BTreeMap<String, Mode>>);

impl Modes {
    pub(crate) fn of(&self, requestor: &str) -> Option<Mode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(requestor).copied()
    }

    pub(crate) fn remember(&self, requestor: &str, mode: Mode) {
        let mut modes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if modes.len() >= MANY_REQUESTORS {
            modes.clear();
        }
        modes.insert(requestor.to_owned(), mode);
    }
}

/// Which users a right to impersonate is about (`allImpersonationModes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    Legacy,
}

pub(crate) const MODES: [Mode; 5] =
    [Mode::AssociatedNode, Mode::ArbitraryNode, Mode::ServiceAccount, Mode::UserInfo, Mode::Legacy];

impl Mode {
    /// The name in verbs; the mode without one asks for `impersonate` alone.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::AssociatedNode => Some("associated-node"),
            Self::ArbitraryNode => Some("arbitrary-node"),
            Self::ServiceAccount => Some("serviceaccount"),
            Self::UserInfo => Some("user-info"),
            Self::Legacy => None,
        }
    }

    pub(crate) fn verb(self) -> String {
        self.name().map_or_else(|| "impersonate".to_owned(), |name| format!("impersonate:{name}"))
    }

    /// Whether the mode is about the wanted user.
    pub(crate) fn fits(self, wanted: &Wanted, requestor: &Value) -> bool {
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
pub(crate) fn wanted(headers: &HeaderMap) -> ApiResult<Option<Wanted>> {
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

/// The node whose user name this is.
pub(crate) fn node(name: &str) -> Option<&str> {
    name.strip_prefix("system:node:").filter(|node| NameRule::Subdomain.check(node).is_empty())
}

/// Whether a service account's token is bound to the node.
fn is_on(requestor: &Value, node: &str) -> bool {
    account(username(requestor)).is_some()
        && meta::strings(&requestor["extra"]["authentication.kubernetes.io/node-name"]) == [node]
}

/// Namespace and name of the service account whose user name this is (`SplitUsername` of
/// apiserver/pkg/authentication/serviceaccount).
pub(crate) fn account(name: &str) -> Option<(&str, &str)> {
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
pub(crate) fn extra_fault(key: &str, values: &Value) -> Option<String> {
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
