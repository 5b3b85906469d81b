//! Conversations recorded from kube-apiserver 1.36, replayed against the embedded server.
//!
//! The recording defines for each step what is compared: everything, the status code, an error's parts, a
//! watch's events, or selected fields. Placeholders replace values that differ from run to run. Field
//! ownership is compared only if a step names it, because it has the name of the recording client.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use futures::future::BoxFuture;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Map, Value, json};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/apiserver/kube-apiserver.json");
/// Cases whose responses differ from the recording. Cases may only be removed from this list.
const OPEN: &[&str] = &[];
/// The number of attempts of a step that waits.
const PATIENCE: usize = 50;

#[tokio::test(start_paused = true)]
async fn recorded_conversations_replay_as_on_kube_apiserver() {
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(RECORDED).unwrap()).unwrap();
    let env = TestEnv::builder().start().await.unwrap();
    let (mut report, mut failed, mut passed) = (String::new(), Vec::new(), 0);
    for case in recorded["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let faults = replay(&env.client(), case).await;
        if faults.is_empty() {
            passed += 1;
        } else {
            failed.push(name);
            writeln!(report, "{name}\n  {}", faults.join("\n  ")).unwrap();
        }
    }
    println!("{passed} passed, {} failed", failed.len());
    assert_eq!(failed, OPEN, "\n{report}");
}

/// The response of a server to one step.
#[derive(Default)]
struct Answer {
    status: u16,
    warned: bool,
    body: Value,
    events: Vec<Value>,
}

/// Runs the steps of a case, and returns the differences from the recording.
async fn replay(client: &Client, case: &Value) -> Vec<String> {
    let mut values = BTreeMap::new();
    let mut watches: BTreeMap<String, BoxFuture<'static, Answer>> = BTreeMap::new();
    let mut faults = Vec::new();
    for (i, step) in case["steps"].as_array().unwrap().iter().enumerate() {
        let answer = if let Some(name) = step["join"].as_str() {
            watches.remove(name).unwrap().await
        } else if let Some(name) = step["background"].as_str() {
            // The head of the response arrives when the watch is registered; its events are read later.
            let answer = begin(client, step, &values).await;
            watches.insert(name.to_owned(), answer);
            continue;
        } else {
            repeated(client, step, &values).await
        };
        for (variable, path) in step["capture"].as_object().into_iter().flatten() {
            let value = at(&answer.body, path.as_str().unwrap());
            values.insert(variable.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        let differences = compare(step, &answer);
        faults.extend(differences.into_iter().map(|d| format!("step {} {}: {d}", i + 1, step["path"])));
    }
    faults
}

/// Repeats a step until the response has the expected value.
async fn repeated(client: &Client, step: &Value, values: &BTreeMap<String, String>) -> Answer {
    let mut answer = begin(client, step, values).await.await;
    let Some(wait) = step.get("wait") else { return answer };
    for _ in 0..PATIENCE {
        if at(&answer.body, wait["path"].as_str().unwrap()) == wait["equals"] {
            break;
        }
        tokio::task::yield_now().await;
        answer = begin(client, step, values).await.await;
    }
    answer
}

async fn begin(
    client: &Client,
    step: &Value,
    values: &BTreeMap<String, String>,
) -> BoxFuture<'static, Answer> {
    let path = fill(step["path"].as_str().unwrap(), values);
    let lines = path.contains("watch=true");
    let mut headers = Map::from_iter([("Accept".to_owned(), json!("application/json"))]);
    let body = match step.get("body") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(fill(text, values)),
        Some(body) => Some(fill(&body.to_string(), values)),
    };
    if body.is_some() {
        headers.insert("Content-Type".to_owned(), json!("application/json"));
    }
    headers.extend(step["headers"].as_object().cloned().unwrap_or_default());
    let mut request = http::Request::builder().method(step["method"].as_str().unwrap()).uri(path);
    for (name, value) in &headers {
        request = request.header(name, value.as_str().unwrap());
    }
    let request = request.body(Body::from(body.unwrap_or_default().into_bytes())).unwrap();
    let response = client.send(request).await.unwrap();
    Box::pin(read(response, lines))
}

async fn read(response: http::Response<Body>, lines: bool) -> Answer {
    let status = response.status().as_u16();
    let warned = response.headers().contains_key("warning");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let mut answer = Answer { status, warned, ..Answer::default() };
    if lines && status == 200 {
        let parts = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        answer.events = parts.map(|line| serde_json::from_slice(line).unwrap()).collect();
    } else {
        answer.body = serde_json::from_slice(&bytes).unwrap_or_default();
    }
    answer
}

fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
}

/// The value at a dotted path; a backslash stands for a dot within a member's name.
fn at(value: &Value, path: &str) -> Value {
    let mut at = value;
    for part in path.split('.') {
        at = match at {
            Value::Array(list) => part.parse().ok().and_then(|i: usize| list.get(i)).unwrap_or(&Value::Null),
            other => &other[part.replace('\\', ".").as_str()],
        };
    }
    at.clone()
}

const VOLATILE: &[&str] = &[
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "lastTransitionTime",
    "time",
    "continue",
    "selfLink",
];

/// Replaces what differs from run to run.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut out = Map::new();
            for (key, value) in map {
                let volatile = VOLATILE.contains(&key.as_str()) && (value.is_string() || value.is_null());
                if !volatile {
                    out.insert(key.clone(), normal(value));
                } else if !matches!(value.as_str(), None | Some("" | "0")) && key != "selfLink" {
                    out.insert(key.clone(), json!(format!("<{key}>")));
                }
            }
            Value::Object(out)
        }
        Value::Array(list) => list.iter().map(normal).collect(),
        Value::String(text) => json!(normal_text(text)),
        other => other.clone(),
    }
}

/// Replaces UIDs and times, which contain dashes and digits in known places, by one mark.
fn normal_text(text: &str) -> String {
    let volatile = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let dashes: Vec<usize> = word.match_indices('-').map(|(i, _)| i).collect();
        dashes == [8, 13, 18, 23]
            || (dashes == [4, 7] && word.ends_with('Z'))
            || matches!(word, "uid" | "time")
    };
    let words: Vec<&str> =
        text.split(' ').map(|word| if volatile(word) { "<volatile>" } else { word }).collect();
    words.join(" ")
}

fn compare(step: &Value, got: &Answer) -> Vec<String> {
    let want = &step["answer"];
    let mut faults = Vec::new();
    if want["status"] != got.status {
        return vec![format!("status {}, want {}: {}", got.status, want["status"], got.body)];
    }
    let (wanted, body) = (normal(&want["body"]), normal(&got.body));
    match &step["compare"] {
        Value::String(how) if how == "status" => {}
        Value::String(how) if how == "error" => {
            if error(&wanted) != error(&body) {
                faults.push(format!("{}, want {}", error(&body), error(&wanted)));
            }
        }
        Value::String(how) if how == "events" => {
            let line = |e: &Value| {
                [at(e, "type"), at(e, "object.kind"), at(e, "object.metadata.name"), at(e, "object.code")]
            };
            let wanted: Vec<_> = want["events"].as_array().unwrap().iter().map(line).collect();
            let seen: Vec<_> = got.events.iter().map(line).collect();
            if wanted != seen {
                faults.push(format!("events {seen:?}, want {wanted:?}"));
            }
        }
        Value::Array(paths) => {
            for path in paths.iter().filter_map(Value::as_str) {
                differ(&at(&wanted, path), &at(&body, path), path, &mut faults);
            }
        }
        _ => {
            differ(&wanted, &body, "", &mut faults);
            if want["warnings"].is_array() && !got.warned {
                faults.push("no Warning header".to_owned());
            }
        }
    }
    faults
}

/// The parts of an error that clients rely on.
fn error(status: &Value) -> Value {
    let mut causes: Vec<(String, String)> = at(status, "details.causes")
        .as_array()
        .into_iter()
        .flatten()
        .map(|c| (c["reason"].to_string(), c["field"].to_string()))
        .collect();
    causes.sort();
    json!({
        "kind": status["kind"], "status": status["status"], "reason": status["reason"], "code": status["code"],
        "name": at(status, "details.name"), "group": at(status, "details.group"), "of": at(status, "details.kind"),
        "causes": causes,
    })
}

fn differ(want: &Value, got: &Value, path: &str, faults: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            let keys: std::collections::BTreeSet<&String> = want.keys().chain(got.keys()).collect();
            for key in keys.into_iter().filter(|key| *key != "managedFields") {
                let path = format!("{path}.{key}");
                match (want.get(key), got.get(key)) {
                    (Some(want), Some(got)) => differ(want, got, &path, faults),
                    (want, got) => faults.push(format!("{path}: {got:?}, want {want:?}")),
                }
            }
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            for (i, (want, got)) in want.iter().zip(got).enumerate() {
                differ(want, got, &format!("{path}[{i}]"), faults);
            }
        }
        _ if want == got => {}
        _ => faults.push(format!("{path}: {got}, want {want}")),
    }
}
