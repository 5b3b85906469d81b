//! Requests with the answers that kube-apiserver 1.36 gave, replayed in their order.
//!
//! Each list in `testdata/apiserver` has a request on every line. A request without `answer` prepares the ones that follow.
//! `answer` has the parts that are compared: see [`Answer::part`]. `differs` gives the reason of a known difference; such a
//! request must differ, so the lists only shrink.

mod normal;

use std::sync::Arc;

use http::Method;
use kube::client::Body;
use kubesmith_testenv::{ManualClock, TestEnv, TestEnvBuilder};
use serde_json::{Map, Value, json};

use self::normal::normal;
use crate::support::judge;

/// The first word of the client's name becomes a field manager.
const USER_AGENT: &str = "difftest/1.0";

/// When the answers were recorded.
const RECORDED: &str = "2026-11-23T13:12:00Z";

async fn replay(list: &str) {
    replay_on(list, TestEnv::builder()).await;
}

async fn replay_on(list: &str, env: TestEnvBuilder) {
    let file = format!("{}/../testdata/apiserver/{list}.json", env!("CARGO_MANIFEST_DIR"));
    let recorded: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    // Field managers are in the order of their times, which have whole seconds. The recorded requests of a scenario were
    // answered within one second. Ages in tables count from the day of the recording.
    let clock = ManualClock::new(RECORDED.parse().unwrap());
    let env = env.clock(Arc::new(clock)).start().await.unwrap();
    let (mut report, mut compared) = (Vec::new(), 0);
    for step in &recorded {
        let answer = Answer::of(&env, step).await;
        match step["answer"].as_object() {
            Some(wanted) => {
                judge(&mut report, step, answer.difference(wanted));
                compared += 1;
            }
            None if answer.status >= 400 => report.push(format!("{}: {}", step["path"], answer.text)),
            None => {}
        }
    }
    assert!(report.is_empty(), "{} of {compared}:\n{}", report.len(), report.join("\n"));
    env.stop().await;
}

#[tokio::test]
async fn dry_runs_match_kube_apiserver() {
    replay("dry-runs").await;
}

#[tokio::test]
async fn writes_match_kube_apiserver() {
    replay("writes").await;
}

#[tokio::test]
async fn reads_match_kube_apiserver() {
    replay("reads").await;
}

#[tokio::test]
async fn subresources_and_deletions_match_kube_apiserver() {
    replay("subresources").await;
}

#[tokio::test]
async fn definitions_match_kube_apiserver() {
    replay("definitions").await;
}

#[tokio::test]
async fn nulls_and_numbers_match_kube_apiserver() {
    replay("nulls").await;
}

#[tokio::test]
async fn lifecycles_match_kube_apiserver() {
    replay("lifecycle").await;
}

#[tokio::test]
async fn responses_to_go_clients_match_kube_apiserver() {
    replay("clients").await;
}

#[tokio::test]
async fn odd_forms_of_values_match_kube_apiserver() {
    replay("forms").await;
}

#[tokio::test]
async fn field_checks_of_built_in_kinds_match_kube_apiserver() {
    replay("fields").await;
}

#[tokio::test]
async fn bodies_of_other_kinds_match_kube_apiserver() {
    replay("bodies").await;
}

#[tokio::test]
async fn field_checks_of_uncontrolled_kinds_match_kube_apiserver() {
    replay("kinds").await;
}

#[tokio::test]
async fn validating_policies_match_kube_apiserver() {
    replay_on("validating-policies", TestEnv::builder().rbac(true)).await;
}

#[tokio::test]
async fn mutating_policies_match_kube_apiserver() {
    replay_on("mutating-policies", TestEnv::builder().rbac(true)).await;
}

struct Answer {
    status: u16,
    content_type: String,
    warnings: Vec<String>,
    text: String,
    body: Value,
}

impl Answer {
    /// Sends a request. A body that is a text is sent as it is.
    async fn of(env: &TestEnv, step: &Value) -> Self {
        let path = step["path"].as_str().unwrap();
        let body = match &step["body"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        let body = current(env, path, body).await;
        let method = step["method"].as_str().unwrap_or("GET");
        Self::to(env, method, path, &step["headers"], body).await
    }

    async fn to(env: &TestEnv, method: &str, path: &str, headers: &Value, body: String) -> Self {
        let mut request = http::Request::builder().method(method.parse::<Method>().unwrap()).uri(path);
        let usual = json!({"Accept": "application/json", "Content-Type": "application/json", "User-Agent": USER_AGENT});
        let mut all = usual.as_object().cloned().unwrap();
        all.extend(headers.as_object().cloned().unwrap_or_default());
        for (name, value) in all {
            request = request.header(name, value.as_str().unwrap());
        }
        let response = env.client().send(request.body(Body::from(body.into_bytes())).unwrap()).await.unwrap();
        let header = |name: &str| -> Vec<String> {
            response.headers().get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        let (content_type, warnings) = (header("content-type").concat(), header("warning"));
        let status = response.status().as_u16();
        let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Self { status, content_type, warnings, text, body }
    }

    /// The first part that differs from the recorded one.
    fn difference(&self, wanted: &Map<String, Value>) -> Option<String> {
        let differs = |(part, wanted): (&String, &Value)| {
            let (got, wanted) = (normal(&self.part(part)), normal(wanted));
            (got != wanted).then(|| format!("{part}\n  kube-apiserver: {wanted}\n  this server:    {got}"))
        };
        wanted.iter().find_map(differs)
    }

    /// A part of the answer: a computed value, or a member of the body by its path. A path that begins with a
    /// dot always names a member.
    fn part(&self, part: &str) -> Value {
        let items = |of: &dyn Fn(&Value) -> Value| -> Value {
            self.body["items"].as_array().into_iter().flatten().map(of).collect()
        };
        let metadata = &self.body["metadata"];
        match part {
            "status" => json!(self.status),
            "type" => json!(self.content_type),
            "text" => json!(self.text),
            "warnings" => json!(self.warnings),
            "body" => self.body.clone(),
            "names" => items(&|item| item["metadata"]["name"].clone()),
            "remaining" => metadata["remainingItemCount"].clone(),
            "continues" => json!(metadata["continue"].as_str().is_some_and(|token| !token.is_empty())),
            "columns" => {
                let column = |c: &Value| json!([c["name"], c["type"], c["format"], c["priority"]]);
                self.body["columnDefinitions"].as_array().into_iter().flatten().map(column).collect()
            }
            "cells" => {
                self.rows(|row| row["cells"].as_array().into_iter().flatten().map(normal::cell).collect())
            }
            "rows" => self.rows(|row| row["object"]["kind"].clone()),
            "resources" => resources(&self.body),
            "groups" => {
                let groups = self.body["groups"].as_array().into_iter().flatten();
                let mut names: Vec<&str> = groups.filter_map(|group| group["name"].as_str()).collect();
                names.sort_unstable();
                json!(names)
            }
            path => {
                let names = path.split('.').filter(|name| !name.is_empty());
                names
                    .fold(&self.body, |at, name| {
                        at.get(name.parse().unwrap_or(usize::MAX)).unwrap_or(&at[name])
                    })
                    .clone()
            }
        }
    }

    fn rows(&self, of: impl Fn(&Value) -> Value) -> Value {
        self.body["rows"].as_array().into_iter().flatten().map(of).collect()
    }
}

/// The subresources whose paths stand for an object with a version of its own.
const SUBRESOURCES: [&str; 3] = ["/status", "/scale", "/finalize"];

/// A body with the version and UID of the object at the path, which differ from run to run.
async fn current(env: &TestEnv, path: &str, body: String) -> String {
    if !body.contains("\"<resourceVersion>\"") && !body.contains("\"<uid>\"") {
        return body;
    }
    let path = path.split('?').next().unwrap_or_default();
    let path = SUBRESOURCES.iter().find_map(|sub| path.strip_suffix(sub)).unwrap_or(path);
    let object = Answer::to(env, "GET", path, &Value::Null, String::new()).await.body;
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    body.replace("<resourceVersion>", &text("resourceVersion")).replace("<uid>", &text("uid"))
}

/// The resources of a version by their names, without the hashes of their storage.
fn resources(list: &Value) -> Value {
    let entry = |resource: &Value| {
        let mut entry = resource.as_object().cloned().unwrap_or_default();
        entry.remove("storageVersionHash");
        let name = entry.remove("name").unwrap_or_default();
        (name.as_str().unwrap_or_default().to_owned(), Value::Object(entry))
    };
    Value::Object(list["resources"].as_array().into_iter().flatten().map(entry).collect())
}
