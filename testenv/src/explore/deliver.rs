//! Delivers requests to the server and responses back, with planned faults.

use bytes::Bytes;
use http::Response;
use kubesmith_apiserver::Body;
use serde_json::{Value, json};

use super::endless::sends_time;
use super::fault::{Fault, Release, Restart};
use super::gate::{Call, CallFate, Exchange, GateBody, full, streamed};
use super::hooks::{WebhookFault, may_skip};
use super::oracle::Failure;
use super::pending::{Pending, What, is_write};
use super::state::scrub;
use super::watches::{Held, OpenWatch};
use super::world::{World, is_noise, target};
use crate::fake::{Action, PatchType};

/// A request with the server's response.
#[derive(Clone, Copy)]
struct Answered<'a> {
    process: usize,
    action: &'a Action,
    label: &'a str,
    code: u16,
    body: &'a Bytes,
    /// Whether the first fault happens right after it.
    is_first_fault: bool,
}

impl World {
    /// Delivers a request or a call, with its planned fault.
    pub(super) fn deliver_request(&mut self, mut pending: Pending) {
        if !pending.is_sent
            && matches!(&pending.what, What::Request(request) if request.1.reply.is_canceled())
        {
            return;
        }
        let site = pending.site.take();
        let fault = site.as_ref().and_then(|site| self.take_fault(site));
        let (name, label) = (self.name_of(pending.process), pending.label.clone());
        match fault {
            Some(Fault::CrashBefore(restart)) => {
                self.tell(&format!("! {name} crashes before: {label}"));
                self.crash(pending.process, restart);
            }
            Some(Fault::CrashLate) => {
                self.tell(&format!("! {name} crashes while its request is on the way: {label}"));
                (pending.held, pending.is_sent) = (Some(Held::Quiet), true);
                let process = pending.process;
                self.pending.push_back(pending);
                self.crash(process, Restart::AtOnce);
            }
            Some(Fault::Slow(release)) => {
                self.tell(&format!("! {name}: {label} → the request is slow"));
                pending.held = Some(Held::until(release, self.now));
                self.pending.push_back(pending);
            }
            Some(Fault::Pause(release)) => {
                self.tell(&format!("! {name} stands still before: {label}"));
                self.processes[pending.process].is_paused = true;
                pending.held = Some(Held::until(release, self.now));
                self.pending.push_back(pending);
            }
            Some(Fault::Unsent) => {
                self.tell(&format!("! {name}: {label} → the connection breaks, nothing arrives"));
                self.break_reply(pending);
            }
            Some(Fault::Status(code)) => {
                self.tell(&format!("! {name}: {label} → {code}, not carried out"));
                self.processes[pending.process].saw_error = true;
                if let What::Request(request) = pending.what {
                    drop(request.1.reply.send(Ok(refusal(code))));
                }
            }
            fault => match pending.what {
                What::Request(request) => {
                    let (action, exchange) = *request;
                    let calls = self.cluster.hooks.calls();
                    self.carry_out(pending.process, &label, &action, exchange, fault);
                    let site = self.sites.iter_mut().rfind(|known| Some(&known.name) == site.as_ref());
                    if let Some(site) = site.filter(|_| self.cluster.hooks.calls() > calls) {
                        site.calls_webhook = true;
                    }
                }
                What::Call(call) => self.carry_out_call(pending.process, &label, call, fault),
            },
        }
    }

    fn break_reply(&mut self, pending: Pending) {
        self.processes[pending.process].saw_error = true;
        match pending.what {
            What::Request(request) => {
                drop(request.1.reply.send(Err("connection reset by peer".into())));
            }
            What::Call(call) => (call.carry_out)(CallFate::Unsent),
        }
    }

    /// Performs a call of an outside system.
    fn carry_out_call(&mut self, process: usize, label: &str, call: Call, fault: Option<Fault>) {
        let name = self.name_of(process);
        let (before, entries) = (self.outside(), self.entries());
        let is_lost = matches!(fault, Some(Fault::CrashAfter(_) | Fault::Lost));
        (call.carry_out)(if is_lost { CallFate::Lost } else { CallFate::Answered });
        self.rates.request(self.now);
        if self.outside() != before {
            self.last_change = self.now;
            self.note_removed(&entries);
            if self.rates.write(&format!("{label} by {process}"), self.now) {
                self.fail_loop(Failure::HotLoop(format!("{name}: {label}")));
            }
        }
        self.tell(&format!("{name}: {label}"));
        self.lose_answer(process, fault);
        self.check_always();
    }

    /// Crashes the operator before it gets an answer, or breaks its connection, if the fault says so.
    fn lose_answer(&mut self, process: usize, fault: Option<Fault>) {
        let name = self.name_of(process);
        match fault {
            Some(Fault::CrashAfter(restart)) => {
                self.tell(&format!("! {name} crashes before it gets the answer"));
                self.crash(process, restart);
            }
            Some(Fault::Lost) => {
                self.tell(&format!("! the connection breaks before {name} gets the answer"));
                self.processes[process].saw_error = true;
            }
            _ => {}
        }
    }

    /// Changes an annotation of the object that an operator is about to write.
    fn touch(&mut self, action: &Action, label: &str) {
        let path = action.path().trim_end_matches("/status").to_owned();
        if action.name().is_empty() {
            return;
        }
        if let Some(uid) = self.cluster.touch(&path) {
            self.tell(&format!("! a user changes an annotation before: {label}"));
            if self.applied.contains(&(action.group().to_owned(), action.resource().to_owned())) {
                self.touched.insert(path, uid);
            }
        }
    }

    /// Stops the garbage collector for a while.
    pub(super) fn pause_collector(&mut self, release: Release) {
        self.tell("! the garbage collector pauses");
        self.collector = Some(Held::until(release, self.now));
        self.cluster.pause_collector(true);
    }

    /// Lets webhooks be in fault during a request.
    fn fail_webhooks(&mut self, fault: WebhookFault, label: &str) {
        let how = match fault {
            WebhookFault::Down => "are down",
            WebhookFault::Fails => "fail",
            WebhookFault::Slow => "do not answer",
        };
        self.tell(&format!("! webhooks {how} during: {label}"));
        self.has_skipped_webhooks |= may_skip(&self.spec.definitions);
        self.cluster.hooks.set_fault(Some(fault));
    }

    /// Webhooks are well again. The server may have waited for them.
    fn end_trouble(&mut self) {
        self.cluster.hooks.set_fault(None);
        self.now = self.now.max(self.cluster.runtime.elapsed());
    }

    /// Lets a fault happen that precedes its request.
    fn precede(&mut self, action: &Action, label: &str, fault: Option<Fault>) {
        match fault {
            Some(Fault::Touch) => self.touch(action, label),
            Some(Fault::Taken) => self.take_name(action, label),
            Some(Fault::Garbage(release)) => self.pause_collector(release),
            Some(Fault::Webhook(fault)) => self.fail_webhooks(fault, label),
            _ => {}
        }
    }

    /// Performs a request of an operator.
    fn carry_out(
        &mut self,
        process: usize,
        label: &str,
        action: &Action,
        mut exchange: Exchange,
        fault: Option<Fault>,
    ) {
        let name = self.name_of(process);
        self.precede(action, label, fault);
        let controlled = self.controlled(action);
        let doomed = self.doomed(action);
        let stale = self.version_of_the_past(process, action, label);
        let seen = stale.map(|version| self.answer_from_the_past(action, version, &mut exchange.parts));
        let before = self.cluster.objects().version();
        let response = self.cluster.send(exchange.parts, exchange.body);
        if matches!(fault, Some(Fault::Webhook(_))) {
            self.end_trouble();
            // With `failurePolicy: Ignore`, the request succeeds.
            self.processes[process].saw_error |= response.status().is_server_error();
        }
        let code = response.status().as_u16();
        if action.verb() == "watch" && code == 200 {
            let response = self.open_watch(process, action, label, stale.zip(seen), response);
            drop(exchange.reply.send(Ok(response)));
            return self.pull_watches();
        }
        let (parts, body) = response.into_parts();
        let body = self.cluster.collect(body);
        let changed = self.cluster.objects().version() > before;
        if !is_noise(action.resource()) {
            let is_first_fault = fault.is_some() && self.fired.len() == 1;
            let answered = Answered { process, action, label, code, body: &body, is_first_fault };
            self.note(&answered, changed.then_some(before));
            let past = stale.map(|version| format!(" (as of version {version}: {})", names_in(&body)));
            self.tell(&format!("{name}: {label} → {code}{}", past.unwrap_or_default()));
            if changed && code < 300 && is_write(action) {
                let object: Value = serde_json::from_slice(&body).unwrap_or_default();
                self.note_change(process, action, label, &object, before);
                self.judge_collected(&object);
            }
        }
        self.lose_answer(process, fault);
        match fault {
            Some(Fault::CrashAfter(_)) => {}
            Some(Fault::Lost) => drop(exchange.reply.send(Err("connection reset by peer".into()))),
            _ => drop(exchange.reply.send(Ok(Response::from_parts(parts, full(body))))),
        }
        if changed {
            if code < 300
                && let Some(object) = doomed
            {
                self.doomed.push((object, self.spec.is_custom(action.group(), action.resource())));
            }
            if let Some(before) = controlled {
                self.judge_owner(action, label, &before);
            }
            self.pull_watches();
            self.check_always();
        }
    }

    /// Opens the watch of a response. `past` is the version at which it begins, and the events since then.
    fn open_watch(
        &mut self,
        process: usize,
        action: &Action,
        label: &str,
        past: Option<(u64, Vec<Bytes>)>,
        response: Response<Body>,
    ) -> Response<GateBody> {
        let after_stale_list = self.processes[process]
            .stale
            .is_some_and(|(version, _)| is_at(action.option("resourceVersion"), version));
        let (parts, body) = response.into_parts();
        let (sender, reply) = streamed();
        let mut watch = OpenWatch::new(process, resource_of(label), body, sender);
        let is_past = past.is_some();
        if let Some((version, lines)) = past {
            self.tell(&format!("{}: {label} begins as of version {version}", self.name_of(process)));
            // Old events arrive at once, later ones when the watch continues.
            lines.iter().for_each(|line| watch.cut(line));
            while !watch.lines.is_empty() {
                watch.deliver();
            }
        }
        watch.held = (after_stale_list || is_past).then_some(Held::Quiet);
        self.watches.push(watch);
        self.processes[process].has_watched = true;
        Response::from_parts(parts, reply)
    }

    /// Records a request for the oracles. `before` is the server's version before a change, if there was one.
    fn note(&mut self, answered: &Answered<'_>, before: Option<u64>) {
        let Answered { process, action, label, code, body, is_first_fault } = *answered;
        let site = format!("{label} by {process}");
        self.rates.request(self.now);
        if !is_write(action) {
            return;
        }
        self.written.insert((action.group().to_owned(), action.resource().to_owned()));
        self.sent_time |= self.endures && sends_time(action);
        if action.verb() == "create" && action.name().is_empty() && code == 201 {
            self.learn_name(body);
        }
        if let Some(before) = before.filter(|_| code < 300) {
            let target = target(action.group(), action.resource(), action.namespace(), action.name());
            let target = scrub(&target, &self.names);
            if code == 201 {
                let resource = (action.group().to_owned(), action.resource().to_owned());
                self.made.insert(target.clone(), resource);
            }
            self.note_target(action.verb(), code, target, is_first_fault);
            self.marks.push(before);
            if self.spec.is_custom(action.group(), action.resource()) {
                self.changes.push(self.cluster.objects().version());
            }
            self.last_change = self.now;
            if self.rates.write(&site, self.now) {
                self.fail_loop(Failure::HotLoop(format!("{}: {label}", self.name_of(process))));
            }
        }
        // Another manager's fields stay its own, so the same configuration conflicts with them again.
        let conflicts = code == 409 && action.patch_type() == Some(PatchType::Apply);
        let text = match conflicts || matches!(code, 400 | 403 | 405 | 415 | 422) {
            true => serde_json::from_slice(body).ok().map(|status: Value| {
                let message = status["message"].as_str().unwrap_or_default();
                format!("{label} → {code}: {}", scrub(message, &self.names))
            }),
            false => None,
        };
        self.rates.outcome(&site, text, self.now);
    }

    /// Records deletions of objects that are older than the first fault.
    fn note_target(&mut self, verb: &str, code: u16, target: String, is_first_fault: bool) {
        match verb {
            "delete" if !self.born_late.contains(&target) => {
                *self.deleted.entry(target).or_default() += 1;
            }
            // An object created after a fault was not in its right state before.
            _ if code == 201 && !self.fired.is_empty() && !is_first_fault => {
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

/// Returns the names of the objects in a list.
fn names_in(body: &Bytes) -> String {
    let list: Value = serde_json::from_slice(body).unwrap_or_default();
    let names = list["items"].as_array().into_iter().flatten().map(|item| {
        let text = |key: &str| item["metadata"][key].as_str().unwrap_or_default();
        format!("{}/{}", text("namespace"), text("name")).trim_start_matches('/').to_owned()
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() { "no objects".to_owned() } else { names.join(", ") }
}

fn is_at(option: Option<&str>, version: u64) -> bool {
    option.and_then(|text| text.parse().ok()) == Some(version)
}

/// Returns the resource in a label.
fn resource_of(label: &str) -> String {
    label.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Returns a refusal that is not the operator's fault.
fn refusal(code: u16) -> Response<super::gate::GateBody> {
    let (reason, message) = match code {
        410 => ("Expired", "the provided continue parameter is too old"),
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
