//! Valid requests with one change: every response is well-formed, and the server continues.

use kubesmith_testenv::TestEnv;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::requests::{check, send};
use crate::support::widget_crd;

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":
[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}}"#;
const DEPLOYMENT: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,
"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":
[{"name":"c","image":"i"}]}}}}"#;
const WIDGET: &str =
    r#"{"apiVersion":"a.example/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":[1]}}"#;

/// Valid requests.
fn seeds() -> Vec<(String, String)> {
    let json = "application/json";
    let body = |head: &str, kind: &str, body: &str| (format!("{head} {kind}"), body.to_owned());
    let bare = |head: &str| (head.to_owned(), String::new());
    let pods = "/api/v1/namespaces/default/pods";
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let widgets = "/apis/a.example/v1/namespaces/default/widgets";
    vec![
        body(&format!("POST {pods}"), json, POD),
        body(&format!("PUT {pods}/p"), json, POD),
        body(&format!("PATCH {pods}/p"), "application/strategic-merge-patch+json", POD),
        body(
            &format!("PATCH {pods}/p"),
            "application/json-patch+json",
            r#"[{"op":"add","path":"/metadata/labels/x","value":"y"}]"#,
        ),
        body(&format!("POST {deployments}"), json, DEPLOYMENT),
        body(
            &format!("PATCH {deployments}/d?fieldManager=m&force=true"),
            "application/apply-patch+yaml",
            DEPLOYMENT,
        ),
        body(
            &format!("PATCH {deployments}/d/scale"),
            "application/merge-patch+json",
            r#"{"spec":{"replicas":3}}"#,
        ),
        body(&format!("POST {widgets}"), json, WIDGET),
        body(&format!("PATCH {widgets}/w?fieldManager=m"), "application/apply-patch+yaml", WIDGET),
        body(
            &format!("POST {widgets}"),
            "application/yaml",
            "apiVersion: a.example/v1\nkind: Widget\nmetadata: {name: v}\n",
        ),
        body(&format!("DELETE {pods}/p"), json, r#"{"gracePeriodSeconds":0,"preconditions":{"uid":"x"}}"#),
        body(&format!("POST {pods}/p/eviction"), json, r#"{"metadata":{"name":"p"},"deleteOptions":{}}"#),
        body(
            &format!("POST {pods}"),
            "application/vnd.kubernetes.protobuf",
            "k8s\0\n\t\n\u{2}v1\u{12}\u{3}Pod\u{12}\u{5}\n\u{3}\n\u{1}p",
        ),
        bare(&format!("GET {pods}?labelSelector=a%3Db&limit=1")),
        bare(&format!("GET {widgets}?fieldSelector=metadata.name%3Dw&resourceVersion=1")),
        bare(&format!("GET {pods}?watch=1&resourceVersion=1&timeoutSeconds=1")),
        bare("GET /openapi/v3/apis/apps/v1"),
        bare("GET /apis/a.example/v1"),
    ]
}

/// Values that often cause errors.
fn strange() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!([])),
        Just(json!([null])),
        Just(json!("")),
        Just(json!("\u{0}\u{fffd}%s{{")),
        Just(json!(-1)),
        Just(json!(u64::MAX)),
        Just(json!(1e300)),
        Just(json!({"$patch": "delete"})),
        Just(json!([{"$patch": "replace"}])),
        Just(json!({"metadata": {"managedFields": [{"fieldsV1": {"f:a": 1}}]}})),
        Just(json!("2026-01-01T00:00:00Z")),
        "[a-zA-Z0-9./:%~-]{0,12}".prop_map(Value::from),
    ]
}

#[derive(Clone, Debug)]
enum Change {
    /// Replaces a value by another one.
    Replace(Index, Value),
    /// Adds a member of this name to an object.
    Add(Index, String, Value),
    /// Overwrites a byte of the body.
    Byte(Index, u8),
    /// Cuts the body off.
    Cut(Index),
    /// Overwrites a character of the head.
    Head(Index, char),
}

fn change() -> impl Strategy<Value = Change> {
    let name = prop_oneof![
        Just("metadata".to_owned()),
        Just("spec".to_owned()),
        Just("status".to_owned()),
        Just("ownerReferences".to_owned()),
        Just("managedFields".to_owned()),
        Just("generateName".to_owned()),
        Just("$setElementOrder/containers".to_owned()),
        "[a-z]{1,8}",
    ];
    prop_oneof![
        4 => (any::<Index>(), strange()).prop_map(|(at, value)| Change::Replace(at, value)),
        3 => (any::<Index>(), name, strange()).prop_map(|(at, name, value)| Change::Add(at, name, value)),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        1 => any::<Index>().prop_map(Change::Cut),
        2 => (any::<Index>(), any::<char>()).prop_map(|(at, c)| Change::Head(at, c)),
    ]
}

/// All places in a value, the value itself first.
fn places(value: &Value, path: &str, out: &mut Vec<String>) {
    out.push(path.to_owned());
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(inner, &format!("{path}/{key}"), out);
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                places(inner, &format!("{path}/{i}"), out);
            }
        }
        _ => {}
    }
}

fn edit(body: &[u8], at: &Index, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    let mut all = Vec::new();
    places(&value, "", &mut all);
    if let Some(place) = value.pointer_mut(&all[at.index(all.len())]) {
        edit(place);
    }
    value.to_string().into_bytes()
}

fn changed((mut head, body): (String, String), changes: Vec<Change>) -> Vec<u8> {
    let mut body = body.into_bytes();
    for change in changes {
        match change {
            Change::Replace(at, value) => body = edit(&body, &at, |place| *place = value),
            Change::Add(at, name, value) => {
                body = edit(&body, &at, |place| {
                    if let Value::Object(map) = place {
                        map.insert(name, value);
                    }
                });
            }
            Change::Byte(at, byte) if !body.is_empty() => {
                let at = at.index(body.len());
                body[at] = byte;
            }
            Change::Cut(at) if !body.is_empty() => body.truncate(at.index(body.len())),
            Change::Head(at, c) if c != '\n' => {
                let mut chars: Vec<char> = head.chars().collect();
                let at = at.index(chars.len());
                chars[at] = c;
                head = chars.into_iter().collect();
            }
            _ => {}
        }
    }
    [head.into_bytes(), b"\n".to_vec(), body].concat()
}

fn inputs() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let one = (0..seeds().len(), prop::collection::vec(change(), 0..4))
        .prop_map(|(seed, changes)| changed(seeds().swap_remove(seed), changes));
    prop::collection::vec(one, 1..40)
}

#[tokio::test]
async fn seed_requests_succeed() {
    let env = TestEnv::builder().start().await.unwrap();
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    for (head, body) in seeds() {
        let code = send(&env, format!("{head}\n{body}").as_bytes()).await;
        // A pod without containers, and a pod of another UID.
        let refused =
            [409, 422].contains(&code.unwrap()) && (head.contains("protobuf") || head.contains("DELETE"));
        assert!(code.unwrap() < 300 || refused, "{head}: {code:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// All requests run on one server, so that later ones find the objects of earlier ones.
    #[test]
    fn mutated_requests_do_not_break_the_server(inputs in inputs()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let env = TestEnv::builder().controllers(true).simulated_node(true).start().await.unwrap();
            env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
            for input in inputs {
                send(&env, &input).await;
            }
            check(&env).await;
            env.stop().await;
        });
    }
}
