//! What becomes of a request on its way to the server and back.

use std::str::FromStr as _;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Response, Uri};
use serde_json::{Value, json};

use super::gate::{full, streamed};
use super::plan::{Fault, Restart};
use super::state::scrub;
use super::watches::{Held, OpenWatch};
use super::world::{Pending, World, is_noise, is_write, target};
use crate::fake::Action;

/// A request that the server has answered.
#[derive(Clone, Copy)]
struct Exchange<'a> {
    process: usize,
    action: &'a Action,
    label: &'a str,
    code: u16,
    body: &'a Bytes,
}

impl World {
    /// Carries out a request, with the fault that is planned for it.
    pub(super) fn deliver_request(&mut self, pending: Pending) {
        if pending.arrival.reply.is_canceled() {
            return;
        }
        let fault = pending.site.as_ref().and_then(|site| self.take_fault(site));
        let (name, label) = (self.name_of(pending.process), pending.label.clone());
        match fault {
            Some(Fault::CrashBefore(restart)) => {
                self.tell(&format!("! {name} crashes before: {label}"));
                self.crash(pending.process, restart);
            }
            Some(Fault::Unsent) => {
                self.tell(&format!("! {name}: {label} → the connection breaks, the server gets nothing"));
                self.break_reply(pending);
            }
            Some(Fault::Status(code)) => {
                self.tell(&format!("! {name}: {label} → {code}, not carried out"));
                self.processes[pending.process].saw_error = true;
                drop(pending.arrival.reply.send(Ok(refusal(code))));
            }
            fault => self.carry_out(pending, fault),
        }
    }

    fn break_reply(&mut self, pending: Pending) {
        self.processes[pending.process].saw_error = true;
        drop(pending.arrival.reply.send(Err("connection reset by peer".into())));
    }

    fn carry_out(&mut self, mut pending: Pending, fault: Option<Fault>) {
        let (name, label) = (self.name_of(pending.process), pending.label.clone());
        if fault == Some(Fault::Touch) {
            let path = pending.action.path().trim_end_matches("/status").to_owned();
            if !pending.action.name().is_empty() && self.cluster.touch(&path, "touched") {
                self.tell(&format!("! a user changes an annotation before: {label}"));
            }
        }
        let stale = self.answer_from_the_past(&mut pending);
        let before = self.cluster.objects().version();
        let Pending { process, action, arrival, .. } = pending;
        let response = self.cluster.send(arrival.parts, arrival.body);
        let code = response.status().as_u16();
        if action.verb() == "watch" && code == 200 {
            let stale = self.processes[process].stale.map(|(version, _)| version);
            let (parts, body) = response.into_parts();
            let (sender, reply) = streamed();
            let resource = resource_of(&label);
            let mut watch = OpenWatch::new(process, resource, body, sender);
            watch.held = stale
                .filter(|version| is_at(action.option("resourceVersion"), *version))
                .map(|_| Held::Quiet);
            self.watches.push(watch);
            self.processes[process].has_watched = true;
            drop(arrival.reply.send(Ok(Response::from_parts(parts, reply))));
            return self.pull_watches();
        }
        let (parts, body) = response.into_parts();
        let body = self.cluster.collect(body);
        let changed = self.cluster.objects().version() > before;
        let noise = is_noise(action.resource());
        if !noise {
            let exchange = Exchange { process, action: &action, label: &label, code, body: &body };
            self.note(&exchange, changed.then_some(before));
            let past = stale.map(|version| format!(" (as of version {version})")).unwrap_or_default();
            self.tell(&format!("{name}: {label} → {code}{past}"));
        }
        match fault {
            Some(Fault::CrashAfter(restart)) => {
                self.tell(&format!("! {name} crashes before it gets the answer"));
                self.crash(process, restart);
            }
            Some(Fault::Lost) => {
                self.tell(&format!("! the connection breaks before {name} gets the answer"));
                self.processes[process].saw_error = true;
                drop(arrival.reply.send(Err("connection reset by peer".into())));
            }
            _ => drop(arrival.reply.send(Ok(Response::from_parts(parts, full(body))))),
        }
        if changed {
            self.pull_watches();
            self.check_always();
        }
    }

    /// Makes a list that may be old one of the past, once for each resource after a crash.
    fn answer_from_the_past(&mut self, pending: &mut Pending) -> Option<u64> {
        let action = &pending.action;
        let process = &mut self.processes[pending.process];
        let (version, which) = process.stale?;
        let may_be_old = action.verb() == "list" && action.option("resourceVersion") == Some("0");
        let is_first = process.listed.is_empty();
        if !may_be_old || !process.listed.insert(pending.label.clone()) {
            return None;
        }
        if which == (if is_first { Restart::StaleStepOthers } else { Restart::StaleStep }) {
            return None;
        }
        let parts = &mut pending.arrival.parts;
        let query = parts.uri.query().unwrap_or_default().split('&');
        let kept = query.filter(|pair| !pair.starts_with("resourceVersion"));
        let exact = [format!("resourceVersion={version}"), "resourceVersionMatch=Exact".to_owned()];
        let query: Vec<String> = kept.map(str::to_owned).chain(exact).collect();
        let text = format!("{}?{}", parts.uri.path(), query.join("&"));
        let mut uri = std::mem::take(&mut parts.uri).into_parts();
        uri.path_and_query = PathAndQuery::from_str(&text).ok();
        parts.uri = Uri::from_parts(uri).unwrap_or_default();
        Some(version)
    }

    /// Takes account of a request for the oracles. `before` is the server's version before a change, if there was one.
    fn note(&mut self, exchange: &Exchange<'_>, before: Option<u64>) {
        let Exchange { process, action, label, code, body } = *exchange;
        let site = format!("{label} by {process}");
        self.rates.request(self.now);
        if !is_write(action) {
            return;
        }
        self.written.insert((action.group().to_owned(), action.resource().to_owned()));
        if action.verb() == "create" && action.name().is_empty() && code == 201 {
            self.learn_name(body);
        }
        if let Some(before) = before.filter(|_| code < 300) {
            let target = target(action.group(), action.resource(), action.namespace(), action.name());
            self.note_target(action.verb(), code, scrub(&target, &self.names));
            self.marks.push(before);
            self.last_change = self.now;
            if let Some(failure) = self.rates.write(&site, self.now) {
                self.fail_loop(failure);
            }
        }
        let text = match matches!(code, 400 | 403 | 405 | 415 | 422) {
            true => serde_json::from_slice(body).ok().map(|status: Value| {
                let message = status["message"].as_str().unwrap_or_default();
                format!("{label} → {code}: {}", scrub(message, &self.names))
            }),
            false => None,
        };
        self.rates.outcome(&site, text, self.now);
    }

    /// Remembers deletions of objects that are older than the first fault.
    fn note_target(&mut self, verb: &str, code: u16, target: String) {
        match verb {
            "delete" if !self.born_late.contains(&target) => {
                self.deleted.insert(target);
            }
            // Such an object is none that was right before.
            _ if code == 201 && !self.fired.is_empty() && !self.deleted.contains(&target) => {
                self.born_late.insert(target);
            }
            _ => {}
        }
    }

    fn learn_name(&mut self, body: &Bytes) {
        let Ok(object) = serde_json::from_slice::<Value>(body) else { return };
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let (name, from) = (text("name"), text("generateName"));
        if !from.is_empty() {
            self.names.insert(name.to_owned(), format!("{from}*"));
        }
    }
}

fn is_at(option: Option<&str>, version: u64) -> bool {
    option.and_then(|text| text.parse().ok()) == Some(version)
}

/// What a label is about, without verb and name.
fn resource_of(label: &str) -> String {
    label.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// A refusal that no operator has caused.
fn refusal(code: u16) -> Response<super::gate::GateBody> {
    let (reason, message) = match code {
        409 => (
            "Conflict",
            "the object has been modified; please apply your changes to the latest version and try again",
        ),
        429 => ("TooManyRequests", "too many requests, please try again later"),
        504 => ("Timeout", "the request timed out"),
        _ => ("InternalError", "an internal error occurred"),
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    let mut response = Response::new(full(status.to_string().into()));
    *response.status_mut() =
        http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    if code == 429 {
        response.headers_mut().insert(http::header::RETRY_AFTER, http::HeaderValue::from_static("1"));
    }
    response
}
