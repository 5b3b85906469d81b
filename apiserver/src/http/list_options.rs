//! The options of lists, watches and deletions of collections.

use kubesmith_apimachinery::{fields, golang, labels};

use super::query::Query;
use crate::selector;
use crate::status::{ApiError, ApiResult, Cause};

/// `ListOptions`: decoded, defaulted and validated as in apimachinery's `pkg/apis/meta/internalversion`.
#[derive(Clone, Debug)]
pub(crate) struct ListOptions {
    pub(crate) labels: labels::Selector,
    pub(crate) fields: fields::Selector,
    pub(crate) watch: bool,
    pub(crate) bookmarks: bool,
    pub(crate) resource_version: String,
    pub(crate) resource_version_match: String,
    pub(crate) timeout_seconds: Option<i64>,
    pub(crate) limit: Option<i64>,
    pub(crate) continue_token: String,
    pub(crate) send_initial_events: Option<bool>,
    /// Not parsed, since it has no effect unless the feature is enabled.
    pub(crate) shard_selector: String,
}

impl ListOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// Returns `BadRequest` for malformed numbers and selectors, `Invalid` for options that exclude each other.
    pub(crate) fn parse(query: &Query) -> ApiResult<Self> {
        // As in Kubernetes, all numbers are parsed before the selectors.
        let (timeout_seconds, limit) = (query.number("timeoutSeconds")?, query.number("limit")?);
        let text = |key| query.get(key).to_owned();
        let mut options = Self {
            labels: selector::labels(query.get("labelSelector"))?,
            fields: selector::fields(query.get("fieldSelector"))?,
            watch: query.flag("watch"),
            bookmarks: query.flag("allowWatchBookmarks"),
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            timeout_seconds,
            limit,
            continue_token: text("continue"),
            send_initial_events: query.has("sendInitialEvents").then(|| query.flag("sendInitialEvents")),
            shard_selector: text("shardSelector"),
        };
        options.default();
        let causes = if options.watch { options.check_watch() } else { options.check_list() };
        if causes.is_empty() { Ok(options) } else { Err(ApiError::invalid_options("ListOptions", causes)) }
    }

    /// `SetListOptionsDefaults`: a watch without a version starts with the current objects.
    fn default(&mut self) {
        let given = self.send_initial_events.is_some() || !self.resource_version_match.is_empty();
        if self.watch && !given && matches!(self.resource_version.as_str(), "" | "0") {
            self.send_initial_events = Some(true);
            "NotOlderThan".clone_into(&mut self.resource_version_match);
        }
    }

    /// `ValidateListOptions` for lists.
    fn check_list(&self) -> Vec<Cause> {
        let field = "resourceVersionMatch";
        let (version, matching) = (self.resource_version.as_str(), self.resource_version_match.as_str());
        let mut causes = Vec::new();
        if !matching.is_empty() {
            if version.is_empty() {
                let text = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                causes.push(Cause::forbidden(field, text));
            }
            causes.extend(self.continued());
            if !matches!(matching, "Exact" | "NotOlderThan") {
                let supported = ["Exact", "NotOlderThan", ""];
                causes.push(Cause::not_supported(field, &golang::quote(matching), &supported));
            }
            if matching == "Exact" && version == "0" {
                let text = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                causes.push(Cause::forbidden(field, text));
            }
        }
        if self.send_initial_events.is_some() {
            causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        causes
    }

    /// `ValidateListOptions` for watches.
    fn check_watch(&self) -> Vec<Cause> {
        let (field, expected) = ("resourceVersionMatch", "NotOlderThan");
        let matching = self.resource_version_match.as_str();
        let mut causes = Vec::new();
        if self.send_initial_events.is_some() && matching != expected {
            let text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(Cause::forbidden(field, text));
        }
        if !matching.is_empty() {
            if self.send_initial_events.is_none() {
                let text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                causes.push(Cause::forbidden(field, text));
            }
            if matching != expected {
                causes.push(Cause::not_supported(field, &golang::quote(matching), &[expected]));
            }
            causes.extend(self.continued());
        }
        causes
    }

    fn continued(&self) -> Option<Cause> {
        let text = "resourceVersionMatch is forbidden when continue is provided";
        (!self.continue_token.is_empty()).then(|| Cause::forbidden("resourceVersionMatch", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(query: &str, expected: &str) {
        let error = ListOptions::parse(&Query::parse(query)).unwrap_err();
        assert_eq!(error.message(), expected, "{query}");
    }

    #[test]
    fn list_options_are_refused_in_the_order_of_upstream() {
        refused("timeoutSeconds=x&labelSelector=-", "strconv.ParseInt: parsing \"x\": invalid syntax");
        refused("limit=", "strconv.ParseInt: parsing \"\": invalid syntax");
        refused(
            "limit=9223372036854775808",
            "strconv.ParseInt: parsing \"9223372036854775808\": value out of range",
        );
        let prefix = "ListOptions.meta.k8s.io \"\" is invalid: ";
        refused(
            "sendInitialEvents=true",
            &format!("{prefix}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        );
        let continued =
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
        refused("watch=1&continue=x", &format!("{prefix}{continued}"));
        assert!(ListOptions::parse(&Query::parse("watch=1&continue=x&resourceVersion=5")).is_ok());
    }

    #[test]
    fn watch_without_version_begins_with_existing_objects() {
        let sends = |query| ListOptions::parse(&Query::parse(query)).unwrap().send_initial_events;
        assert_eq!(sends("watch=true"), Some(true));
        assert_eq!(sends("watch=true&resourceVersion=0"), Some(true));
        assert_eq!(sends("watch=true&resourceVersion=5"), None);
        assert_eq!(
            sends("watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"),
            Some(false)
        );
        assert_eq!(sends("resourceVersion=0"), None);
    }
}
