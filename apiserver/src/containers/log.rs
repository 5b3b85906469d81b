//! The log of a container: what a client asks for, and what it gets of the text.

use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, stream};
use jiff::Timestamp;
use serde_json::Value;

use super::{Container, runs, status};
use crate::clock::rfc3339;
use crate::http::query::Query;
use crate::meta;
use crate::server::Server;
use crate::status::{About, ApiError, ApiResult, Cause};
use crate::store::Cursor;

/// `PodLogOptions`, as far as they choose something.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogOptions {
    pub(crate) follow: bool,
    previous: bool,
    timestamps: bool,
    since: Option<Timestamp>,
    tail: Option<usize>,
    limit: Option<usize>,
}

impl LogOptions {
    /// Reads and checks the options (`ValidatePodLogOptions` of pkg/apis/core/validation).
    ///
    /// # Errors
    /// `Invalid`, or `BadRequest` for what is no number or time.
    pub(crate) fn parse(query: &Query, pod: &str, now: Timestamp) -> ApiResult<Self> {
        let (tail, limit) = (query.number("tailLines")?, query.number("limitBytes")?);
        let seconds = query.number("sinceSeconds")?;
        let time = match query.get("sinceTime") {
            "" => None,
            text => Some(text.parse::<Timestamp>().map_err(|e| ApiError::bad_request(e.to_string()))?),
        };
        let mut causes = Vec::new();
        if let Some(lines) = tail.filter(|lines| *lines < 0) {
            causes.push(Cause::invalid("tailLines", lines, "must be greater than or equal to 0"));
        }
        if let Some(bytes) = limit.filter(|bytes| *bytes < 1) {
            causes.push(Cause::invalid("limitBytes", bytes, "must be greater than 0"));
        }
        if seconds.is_some() && time.is_some() {
            let text = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            causes.push(Cause::forbidden("", text));
        } else if let Some(seconds) = seconds.filter(|seconds| *seconds < 1) {
            causes.push(Cause::invalid("sinceSeconds", seconds, "must be greater than 0"));
        }
        if query.has("stream") {
            causes.push(Cause::forbidden("stream", "may not be specified"));
        }
        if !causes.is_empty() {
            return Err(ApiError::invalid(About::new("", "PodLogOptions", pod), causes));
        }
        let before = |seconds| now.saturating_sub(jiff::SignedDuration::from_secs(seconds)).ok();
        let size = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Self {
            follow: query.flag("follow"),
            previous: query.flag("previous"),
            timestamps: query.flag("timestamps"),
            since: time.or_else(|| seconds.and_then(before)),
            tail: tail.map(size),
            limit: limit.map(size),
        })
    }

    /// The log of a pod's container, as far as the options choose it; `None` if nothing sets it.
    ///
    /// # Errors
    /// `BadRequest` in the kubelet's words if the container has not started (`validateContainerLogStatus` of
    /// pkg/kubelet/kubelet_pods.go).
    pub(crate) fn text(&self, server: &Server, pod: &Value, of: &Container) -> ApiResult<Option<String>> {
        let place = format!("container {:?} in pod {:?}", of.name, of.pod);
        let fail = |text: String| Err(ApiError::bad_request(text));
        let Some(status) = status(pod, &of.name) else { return fail(format!("{place} is not available")) };
        if self.previous {
            return fail(format!("previous terminated {place} not found"));
        }
        let state = &status["state"];
        let Some(run) = ["running", "terminated"].into_iter().find(|name| state[name].is_object()) else {
            return match state["waiting"].get("reason").and_then(Value::as_str) {
                Some("ErrImagePull") => fail(format!("{place} is waiting to start: image can't be pulled")),
                Some("ImagePullBackOff") => {
                    fail(format!("{place} is waiting to start: trying and failing to pull image"))
                }
                Some(reason) => fail(format!("{place} is waiting to start: {reason}")),
                None => fail(format!("{place} is waiting to start - no logs yet")),
            };
        };
        let started = state[run]["startedAt"].as_str().and_then(|text| text.parse().ok());
        let log = server.options().containers.log(pod, of);
        Ok(log.map(|log| self.chosen(&log, started.unwrap_or(Timestamp::UNIX_EPOCH))))
    }

    /// The lines that the options choose. All lines are as old as their container.
    fn chosen(&self, log: &str, started: Timestamp) -> String {
        if self.since.is_some_and(|since| started < since) {
            return String::new();
        }
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let skipped = self.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
        let prefix = if self.timestamps { format!("{} ", rfc3339(started)) } else { String::new() };
        let mut out = String::new();
        for line in &lines[skipped..] {
            out.push_str(&prefix);
            out.push_str(line);
        }
        if let Some(limit) = self.limit {
            let fits = |at: &usize| out.is_char_boundary(*at);
            out.truncate((0..=limit.min(out.len())).rev().find(fits).unwrap_or_default());
        }
        out
    }
}

/// A log that a client follows: what it has gained whenever its pod was written, until the container ends.
pub(crate) struct Follow {
    pub(crate) server: Arc<Server>,
    pub(crate) options: LogOptions,
    pub(crate) container: Container,
    pub(crate) cursor: Cursor,
    /// The pod's collection and key.
    pub(crate) place: (String, String),
    /// What was sent.
    pub(crate) sent: String,
}

impl Follow {
    /// The parts of the log, the first without delay.
    pub(crate) fn parts(mut self, first: String) -> impl Stream<Item = Bytes> + Send + 'static {
        self.sent.clone_from(&first);
        let first = Some(first).filter(|text| !text.is_empty());
        stream::unfold((self, first), |(mut follow, first)| async move {
            let part = match first {
                Some(part) => part,
                None => follow.next().await?,
            };
            Some((Bytes::from(part), (follow, None)))
        })
    }

    /// What the log has gained; `None` when there will be no more.
    async fn next(&mut self) -> Option<String> {
        let mut stopping = self.server.stopping();
        loop {
            // What was written is read from the store: only that something was counts here.
            let _ = self.cursor.take();
            let pod = self.server.store.get(&self.place.0, &self.place.1)?;
            let whole = self.options.text(&self.server, &pod.value, &self.container).ok()??;
            if whole != self.sent {
                // A log that was written anew begins again.
                let gained = whole.strip_prefix(self.sent.as_str()).unwrap_or(&whole).to_owned();
                self.sent = whole;
                if !gained.is_empty() {
                    return Some(gained);
                }
            }
            if !runs(&pod.value, &self.container.name) || meta::is_terminating(&pod.value) {
                return None;
            }
            tokio::select! {
                more = self.cursor.wait() => more.then_some(())?,
                _ = stopping.wait_for(|stops| *stops) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_chosen_by_number_age_and_size() {
        let now: Timestamp = "2026-01-01T00:01:00Z".parse().unwrap();
        let started = "2026-01-01T00:00:00Z".parse().unwrap();
        let chosen = |query: &str| {
            LogOptions::parse(&Query::parse(query), "p", now)
                .map(|options| options.chosen("a\nb\nc", started))
        };
        assert_eq!(chosen("").unwrap(), "a\nb\nc");
        assert_eq!(chosen("tailLines=2").unwrap(), "b\nc");
        assert_eq!(chosen("tailLines=0").unwrap(), "");
        assert_eq!(chosen("tailLines=1&timestamps=true").unwrap(), "2026-01-01T00:00:00Z c");
        assert_eq!(chosen("limitBytes=3").unwrap(), "a\nb");
        assert_eq!(chosen("sinceSeconds=61").unwrap(), "a\nb\nc");
        assert_eq!(chosen("sinceSeconds=59").unwrap(), "");
        assert_eq!(chosen("sinceTime=2026-01-01T00:00:00Z").unwrap(), "a\nb\nc");
        for wrong in [
            "tailLines=-1",
            "limitBytes=0",
            "sinceSeconds=0",
            "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
        ] {
            assert!(chosen(wrong).is_err_and(|error| error.message().contains("PodLogOptions")), "{wrong}");
        }
        assert!(chosen("sinceTime=x").is_err() && chosen("tailLines=x").is_err());
    }
}
