//! Impersonation: decides whether a user may act for another one. apiserver/pkg/endpoints/filters/impersonation.

use serde_json::{Value, json};

use super::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED};
use crate::access::{Attributes, MASTERS, Resource, Target, username};
use crate::authorization;
use crate::impersonation::{MODES, Mode, Wanted, account, extra_fault, node};
use crate::meta;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// The group of the users' properties, and of users and groups themselves where modes are constrained.
const GROUP: &str = "authentication.k8s.io";
const NODES: &str = "system:nodes";
/// From so many groups or values on, one right to all of them is asked for first.
const MANY: usize = 4;
/// The impersonated user, as the first mode has it that allows the request: the mode that last allowed the requestor to
/// impersonate goes first. The refusal is that of the first mode.
///
/// # Errors
/// Returns `Forbidden` if no mode allows it.
pub(super) fn user(server: &Server, wanted: &Wanted, request: &Attributes<'_>) -> ApiResult<Value> {
    let mut refusal = None;
    let requestor = username(request.user);
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
            if has(MASTERS) {
                let text = "impersonating the system:masters group is not allowed";
                return self.never(group(MASTERS), text);
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
