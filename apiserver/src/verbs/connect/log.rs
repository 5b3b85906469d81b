//! The log of a container: the options of requests, and the text that they select.

use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, stream};
use jiff::Timestamp;
use serde_json::Value;

use crate::clock::rfc3339;
use crate::containers::{Container, runs, status};
use crate::http::query::Query;
use crate::meta;
use crate::server::Server;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::store::Cursor;

/// The part of `PodLogOptions` that selects text.
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
    /// Returns `Invalid`, or `BadRequest` for a malformed number or time.
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
            return Err(ApiError::invalid(ErrorSubject::new("", "PodLogOptions", pod), causes));
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

    /// Returns the log of a pod's container; `None` if neither annotation nor closure sets it.
    ///
    /// # Errors
    /// Returns `BadRequest` in the kubelet's words if the container has not started (`validateContainerLogStatus` of
    /// pkg/kubelet/kubelet_pods.go).
    pub(crate) fn log(&self, server: &Server, pod: &Value, of: &Container) -> ApiResult<Option<Log>> {
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
        let text = server.options().containers.log(pod, of);
        Ok(text.map(|text| Log { text, started: started.unwrap_or(Timestamp::UNIX_EPOCH) }))
    }

    /// Returns the selected lines. All lines have the start time of their container.
    pub(crate) fn chosen(&self, log: &Log) -> String {
        if self.since.is_some_and(|since| log.started < since) {
            return String::new();
        }
        let lines: Vec<&str> = log.text.split_inclusive('\n').collect();
        let skipped = self.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
        cut(self.marked(&lines[skipped..], log.started), self.limit)
    }

    /// Prefixes each line with the time, if the client wants it.
    fn marked(&self, lines: &[&str], time: Timestamp) -> String {
        let prefix = if self.timestamps { format!("{} ", rfc3339(time)) } else { String::new() };
        lines.iter().flat_map(|line| [prefix.as_str(), line]).collect()
    }
}

/// The log of a container and its start time.
#[derive(Debug)]
pub(crate) struct Log {
    text: String,
    started: Timestamp,
}

/// Cuts the text to the whole characters within a number of bytes.
fn cut(mut text: String, limit: Option<usize>) -> String {
    if let Some(limit) = limit {
        let fits = |at: &usize| text.is_char_boundary(*at);
        text.truncate((0..=limit.min(text.len())).rev().find(fits).unwrap_or_default());
    }
    text
}

/// A followed log: its additions on each write of the pod, until the container ends.
pub(crate) struct Follow {
    pub(crate) server: Arc<Server>,
    pub(crate) options: LogOptions,
    pub(crate) container: Container,
    pub(crate) cursor: Cursor,
    /// The pod's collection and key.
    pub(crate) place: (String, String),
}

/// The state of a followed log.
struct Progress {
    /// The whole log at the last read, selected or not.
    seen: String,
    /// The number of bytes that may follow.
    left: Option<usize>,
}

impl Follow {
    /// Streams the parts of the log, the first one immediately.
    pub(crate) fn parts(self, log: Log) -> impl Stream<Item = Bytes> + Send + 'static {
        let first = self.options.chosen(&log);
        // A truncated character ends the log.
        let whole = LogOptions { limit: None, ..self.options }.chosen(&log).len();
        let left = self.options.limit.map(|limit| if first.len() < whole { 0 } else { limit - first.len() });
        let progress = Progress { seen: log.text, left };
        let first = Some(first).filter(|text| !text.is_empty());
        stream::unfold((self, progress, first), |(mut follow, mut progress, first)| async move {
            let part = match first {
                Some(part) => part,
                None => follow.next(&mut progress).await?,
            };
            Some((Bytes::from(part), (follow, progress, None)))
        })
    }

    /// Waits for additions to the log; `None` at its end.
    async fn next(&mut self, progress: &mut Progress) -> Option<String> {
        let mut stopping = self.server.stopping();
        while progress.left != Some(0) {
            // The event only wakes this loop; the text is read from the store.
            let _ = self.cursor.take();
            let pod = self.server.store.get(&self.place.0, &self.place.1)?;
            let log = self.options.log(&self.server, &pod.value, &self.container).ok()??;
            if let Some(gained) = self.gained(progress, log) {
                return Some(gained);
            }
            if !runs(&pod.value, &self.container.name) || meta::is_terminating(&pod.value) {
                return None;
            }
            tokio::select! {
                more = self.cursor.wait() => more.then_some(())?,
                _ = stopping.wait_for(|stops| *stops) => return None,
            }
        }
        None
    }

    /// Returns the additions to a log; `tailLines` and the times only apply to the initial text.
    fn gained(&self, progress: &mut Progress, log: Log) -> Option<String> {
        let before = std::mem::replace(&mut progress.seen, log.text);
        // A replaced log is sent from its beginning.
        let gained = progress.seen.strip_prefix(before.as_str()).unwrap_or(&progress.seen);
        if gained.is_empty() {
            return None;
        }
        // The first piece may complete a line whose beginning, with its time, is sent already.
        let ends_line = gained.len() < progress.seen.len() && !before.is_empty() && !before.ends_with('\n');
        let at = if ends_line { gained.find('\n').map_or(gained.len(), |at| at + 1) } else { 0 };
        let (rest, lines) = gained.split_at(at);
        let lines: Vec<&str> = lines.split_inclusive('\n').collect();
        let text = format!("{rest}{}", self.options.marked(&lines, log.started));
        let fits = progress.left.is_none_or(|left| text.len() <= left);
        let text = cut(text, progress.left);
        progress.left = progress.left.map(|left| if fits { left - text.len() } else { 0 });
        Some(text).filter(|text| !text.is_empty())
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
                .map(|options| options.chosen(&Log { text: "a\nb\nc".to_owned(), started }))
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
