//! Reads recorded from kube-apiserver 1.36, with the writes before them: tables, selectors, pages, forms, paths and discovery.

use std::net::Ipv4Addr;

use http::Method;
use jiff::Timestamp;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Map, Value, json};

use crate::support::judge;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/apiserver/reads.json");

#[tokio::test]
async fn reads_are_answered_as_kube_apiserver_answers_them() {
    let recorded: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(RECORDED).unwrap()).unwrap();
    let env = TestEnv::builder().start().await.unwrap();
    let (mut report, mut compared) = (Vec::new(), 0);
    for step in &recorded {
        let answer = Answer::of(&env, step).await;
        if let Some(wanted) = step["answer"].as_object() {
            judge(&mut report, step, answer.difference(wanted));
            compared += 1;
        }
    }
    assert!(report.is_empty(), "{} of {compared}:\n{}", report.len(), report.join("\n"));
    env.stop().await;
}

struct Answer {
    status: u16,
    content_type: String,
    text: String,
    body: Value,
}

impl Answer {
    async fn of(env: &TestEnv, step: &Value) -> Self {
        let method: Method = step["method"].as_str().unwrap_or("GET").parse().unwrap();
        let mut request = http::Request::builder().method(method).uri(step["path"].as_str().unwrap());
        let headers = step["headers"].as_object().cloned().unwrap_or_default();
        let json = || json!("application/json");
        let headers =
            [Map::from_iter([("Accept".to_owned(), json()), ("Content-Type".to_owned(), json())]), headers];
        for (name, value) in headers.into_iter().flatten().collect::<Map<String, Value>>() {
            request = request.header(name, value.as_str().unwrap());
        }
        let body = if step["body"].is_null() { Vec::new() } else { step["body"].to_string().into_bytes() };
        let response = env.client().send(request.body(Body::from(body)).unwrap()).await.unwrap();
        let content_type =
            response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Self { status, content_type: content_type.unwrap_or_default(), text, body }
    }

    /// The first part that differs from the recorded one.
    fn difference(&self, wanted: &Map<String, Value>) -> Option<String> {
        let differs = |(part, wanted): (&String, &Value)| {
            let got = self.part(part);
            (got != *wanted).then(|| format!("{part}\n  kube-apiserver: {wanted}\n  this server:    {got}"))
        };
        wanted.iter().find_map(differs)
    }

    fn part(&self, part: &str) -> Value {
        let items = |of: &dyn Fn(&Value) -> Value| -> Value {
            self.body["items"].as_array().into_iter().flatten().map(of).collect()
        };
        let metadata = &self.body["metadata"];
        match part {
            "status" => json!(self.status),
            "type" => json!(self.content_type),
            "text" => json!(self.text),
            "names" => items(&|item| item["metadata"]["name"].clone()),
            "remaining" => metadata["remainingItemCount"].clone(),
            "continues" => json!(metadata["continue"].as_str().is_some_and(|token| !token.is_empty())),
            "columns" => {
                let column = |c: &Value| json!([c["name"], c["type"], c["format"], c["priority"]]);
                self.body["columnDefinitions"].as_array().into_iter().flatten().map(column).collect()
            }
            "cells" => self.rows(|row| row["cells"].as_array().into_iter().flatten().map(cell).collect()),
            "rows" => self.rows(|row| row["object"]["kind"].clone()),
            "resources" => resources(&self.body),
            "groups" => {
                let groups = self.body["groups"].as_array().into_iter().flatten();
                let mut names: Vec<&str> = groups.filter_map(|group| group["name"].as_str()).collect();
                names.sort_unstable();
                json!(names)
            }
            other => self.body[other].clone(),
        }
    }

    fn rows(&self, of: impl Fn(&Value) -> Value) -> Value {
        self.body["rows"].as_array().into_iter().flatten().map(of).collect()
    }
}

/// A cell without what differs from run to run: ages, times and the addresses of services.
fn cell(cell: &Value) -> Value {
    let Some(text) = cell.as_str() else { return cell.clone() };
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    let age =
        digits.len() + 1 == text.len() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match text {
        _ if age => json!("<age>"),
        "<unknown>" | "<invalid>" => json!("<age>"),
        _ if text.starts_with("10.") && text.parse::<Ipv4Addr>().is_ok() => json!("<ip>"),
        // Of this test's own run.
        _ if text.ends_with('Z') && !text.starts_with("2020") && text.parse::<Timestamp>().is_ok() => {
            json!("<time>")
        }
        _ => cell.clone(),
    }
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
