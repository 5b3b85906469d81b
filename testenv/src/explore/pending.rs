//! The requests and calls of operators that wait for their turn.

use kubesmith_apiserver::Objects;

use super::gate::{Call, Exchange};
use super::past::may_be_old;
use super::plan::SiteKind;
use super::strangers::creates_controlled;
use super::watches::Held;
use super::world::is_noise;
use crate::fake::Action;

/// A pending request or call of an operator.
pub(super) struct Pending {
    pub(super) process: usize,
    /// Its description, without random parts.
    pub(super) label: String,
    pub(super) site: Option<String>,
    /// Set if it is late.
    pub(super) held: Option<Held>,
    /// Whether it arrives even if its process has ended: it left before a crash, or when the process went on after a pause.
    pub(super) is_sent: bool,
    pub(super) what: What,
}

/// An operator's request or call.
pub(super) enum What {
    Request(Box<(Action, Exchange)>),
    Call(Call),
}

/// Returns the kind of place of a request; `None` for watches that continue, which are disturbed event by event.
pub(super) fn site_kind(what: &What, objects: &Objects) -> Option<SiteKind> {
    let What::Request(request) = what else { return Some(SiteKind::Call) };
    let action = &request.0;
    let is_late_watch = action.verb() == "watch" && !may_be_old(action);
    if action.resource().is_empty() || is_noise(action.resource()) || is_late_watch {
        return None;
    }
    if !is_write(action) {
        return Some(match action.option("continue") {
            Some(_) => SiteKind::PagedRead,
            None if may_be_old(action) => SiteKind::StaleRead,
            None => SiteKind::Read,
        });
    }
    let version = action.body().is_some_and(|body| {
        let version = &body["metadata"]["resourceVersion"];
        action.verb() == "update" && version.as_str().is_some_and(|version| !version.is_empty())
    });
    Some(match version {
        true => SiteKind::VersionedWrite,
        false if creates_controlled(action, objects) => SiteKind::Child,
        false => SiteKind::Write,
    })
}

/// Reports whether a request changes objects.
pub(super) fn is_write(action: &Action) -> bool {
    !action.is_read()
        && !action.resource().is_empty()
        && !action.resource().ends_with("reviews")
        && action.option("dryRun").is_none()
}
