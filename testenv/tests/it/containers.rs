//! Logs, commands and attachments of containers that do not run: annotations and closures provide the output.

use std::time::Duration;

use http::Method;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{AttachParams, LogParams};
use kube::{Api, Client};
use kubesmith_testenv::{Containers, Exec, TestEnv};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{call, patch};

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pod(name: &str, annotations: &Value) -> Value {
    let containers = json!([{"name": "web", "image": "i"}, {"name": "proxy", "image": "i"}]);
    json!({"metadata": {"name": name, "annotations": annotations}, "spec": {"containers": containers}})
}

/// An environment with a running pod `p`.
async fn env(annotations: Value, containers: Containers) -> TestEnv {
    let builder = TestEnv::builder().simulated_node(true).containers(containers);
    let env = builder.start().await.unwrap();
    let (code, answer) = call(&env, Method::POST, PODS, pod("p", &annotations)).await;
    assert_eq!(code, 201, "{answer}");
    while call(&env, Method::GET, &format!("{PODS}/p"), Value::Null).await.1["status"]["phase"] != "Running" {
        tokio::task::yield_now().await;
    }
    env
}

fn pods(client: Client) -> Api<Pod> {
    Api::namespaced(client, "default")
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> String {
    let mut text = String::new();
    stream.unwrap().read_to_string(&mut text).await.unwrap();
    text
}

/// Both outputs of a command, and its exit.
async fn run(client: Client, command: &[&str]) -> (String, String, Option<String>) {
    let params = AttachParams::default().container("web");
    let mut process = pods(client).exec("p", command.iter().copied(), &params).await.unwrap();
    let status = process.take_status().unwrap();
    let (out, errors) = tokio::join!(read(process.stdout()), read(process.stderr()));
    (out, errors, status.await.unwrap().message)
}

#[tokio::test]
async fn log_has_the_text_of_the_annotation() {
    let env = env(json!({"log.kubesmith.dev/web": "a\nb\nc\n"}), Containers::new()).await;
    let of = |container: &str| LogParams { container: Some(container.to_owned()), ..LogParams::default() };
    let pods = pods(env.client());
    assert_eq!(pods.logs("p", &of("web")).await.unwrap(), "a\nb\nc\n");
    let last = LogParams { tail_lines: Some(1), ..of("web") };
    assert_eq!(pods.logs("p", &last).await.unwrap(), "c\n");
    let text = |error: kube::Error| error.to_string();
    let unset = pods.logs("p", &of("proxy")).await.map_err(text).unwrap_err();
    assert!(unset.contains("set the annotation log.kubesmith.dev/proxy of pod"), "{unset}");
    let any = pods.logs("p", &LogParams::default()).await.map_err(text).unwrap_err();
    let expected = "a container name must be specified for pod p, choose one of: [web proxy]";
    assert!(any.contains(expected), "{any}");
    env.stop().await;
}

#[tokio::test]
async fn log_that_is_followed_grows_with_the_annotation_and_ends_with_the_pod() {
    let env = env(json!({"log.kubesmith.dev/web": "a\n"}), Containers::new()).await;
    let path = format!("{PODS}/p");
    let follow = LogParams { container: Some("web".to_owned()), follow: true, ..LogParams::default() };
    let stream = pods(env.client()).log_stream("p", &follow).await.unwrap();
    let mut stream = std::pin::pin!(stream);
    let mut buffer = [0; 16];
    let mut next = async |buffer: &mut [u8]| futures::AsyncReadExt::read(&mut stream, buffer).await.unwrap();
    assert_eq!(next(&mut buffer).await, 2);
    let longer = json!({"metadata": {"annotations": {"log.kubesmith.dev/web": "a\nbc\n"}}});
    assert_eq!(patch(&env, &path, "merge-patch+json", longer).await.0, 200);
    assert_eq!(next(&mut buffer).await, 3);
    assert_eq!(&buffer[..3], b"bc\n");
    call(&env, Method::DELETE, &path, Value::Null).await;
    assert_eq!(next(&mut buffer).await, 0);
    env.stop().await;
}

#[tokio::test]
async fn log_that_is_followed_keeps_to_its_limits() {
    let env = env(json!({"log.kubesmith.dev/web": "a\nb\n"}), Containers::new()).await;
    // No existing line, and eight bytes of the new lines.
    let follow = LogParams {
        container: Some("web".to_owned()),
        follow: true,
        tail_lines: Some(0),
        limit_bytes: Some(8),
        ..LogParams::default()
    };
    let stream = pods(env.client()).log_stream("p", &follow).await.unwrap();
    let longer =
        json!({"metadata": {"annotations": {"log.kubesmith.dev/web": "a\nb\nb\nlonger than that\n"}}});
    assert_eq!(patch(&env, &format!("{PODS}/p"), "merge-patch+json", longer).await.0, 200);
    let mut text = String::new();
    futures::AsyncReadExt::read_to_string(&mut std::pin::pin!(stream), &mut text).await.unwrap();
    assert_eq!(text, "b\nlonger");
    env.stop().await;
}

#[tokio::test]
async fn request_with_upgrade_header_keeps_its_body() {
    let env = TestEnv::builder().start().await.unwrap();
    let body =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}});
    let request = http::Request::post("/api/v1/namespaces/default/configmaps")
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("content-type", "application/json")
        .body(kube::client::Body::from(body.to_string().into_bytes()))
        .unwrap();
    assert_eq!(env.client().send(request).await.unwrap().status(), 201);
    env.stop().await;
}

/// Reports when the command that holds it is ended.
struct Told(Option<tokio::sync::oneshot::Sender<()>>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.take().unwrap().send(());
    }
}

#[tokio::test]
async fn command_ends_when_its_client_disconnects_without_reads() {
    let (sender, ended) = tokio::sync::oneshot::channel();
    let told = std::sync::Arc::new(std::sync::Mutex::new(Some(Told(Some(sender)))));
    let containers = Containers::new().on_exec(move |exec| {
        let told = told.lock().unwrap().take();
        async move {
            let _both = (exec, told);
            std::future::pending().await
        }
    });
    let env = env(json!({}), containers).await;
    let params = AttachParams::default().container("web").stdin(true);
    let mut process = pods(env.client()).exec("p", ["idle"], &params).await.unwrap();
    process.stdin().unwrap().write_all(&[b'x'; 128 * 1024]).await.unwrap();
    process.abort();
    drop(process);
    ended.await.unwrap();
    env.stop().await;
}

#[tokio::test]
async fn command_prints_the_output_of_the_annotation() {
    let script =
        "- command: [pg_isready]\n  stdout: |\n    accepting connections\n- stderr: no\n  exitCode: 3\n";
    let env = env(json!({"exec.kubesmith.dev/web": script}), Containers::new()).await;
    let ready = run(env.client(), &["pg_isready", "-q"]).await;
    assert_eq!(ready, ("accepting connections\n".to_owned(), String::new(), None));
    let (out, errors, message) = run(env.client(), &["psql", "-l"]).await;
    let failed = "command terminated with non-zero exit code: error executing command [psql -l], exit code 3";
    assert_eq!((&*out, &*errors, message.as_deref()), ("", "no", Some(failed)));
    env.stop().await;
}

/// Writes its input to the output, and `end` at the end of the input.
async fn echo(mut exec: Exec) -> i32 {
    let mut buffer = [0; 64];
    loop {
        match exec.stdin.read(&mut buffer).await {
            Ok(0) | Err(_) => {
                exec.stdout.write_all(b"end").await.unwrap();
                return 0;
            }
            Ok(length) => exec.stdout.write_all(&buffer[..length]).await.unwrap(),
        }
    }
}

async fn converse(client: Client) {
    let params = AttachParams::default().container("web").stdin(true).stderr(false);
    let mut process = pods(client).exec("p", ["cat"], &params).await.unwrap();
    let (mut stdin, mut stdout) = (process.stdin().unwrap(), process.stdout().unwrap());
    let mut buffer = [0; 8];
    for text in ["one", "two"] {
        stdin.write_all(text.as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
        stdout.read_exact(&mut buffer[..3]).await.unwrap();
        assert_eq!(&buffer[..3], text.as_bytes());
    }
    stdin.shutdown().await.unwrap();
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "end");
    let status = process.take_status().unwrap().await.unwrap();
    assert_eq!(status.status.as_deref(), Some("Success"));
}

#[tokio::test]
async fn command_reads_input_of_the_client() {
    let mut env = env(Value::Null, Containers::new().on_exec(echo)).await;
    // In the process, and over a socket.
    converse(env.client()).await;
    let over_a_socket = Client::try_from(env.config().await.unwrap()).unwrap();
    converse(over_a_socket).await;
    env.stop().await;
}

#[tokio::test]
async fn attachment_has_no_command() {
    let containers = Containers::new()
        .on_log(|container| (container.name == "web").then(|| format!("log of {}\n", container.pod)))
        .on_exec(|mut exec| async move {
            let seen = format!("{:?}", exec.command);
            i32::from(exec.stdout.write_all(seen.as_bytes()).await.is_err())
        });
    let env = env(Value::Null, containers).await;
    let params = AttachParams::default().container("web");
    let mut process = pods(env.client()).attach("p", &params).await.unwrap();
    assert_eq!(read(process.stdout()).await, "[]");
    let of = LogParams { container: Some("web".to_owned()), ..LogParams::default() };
    assert_eq!(pods(env.client()).logs("p", &of).await.unwrap(), "log of p\n");
    env.stop().await;
}

#[tokio::test]
async fn command_without_annotation_is_an_error() {
    let env = env(Value::Null, Containers::new()).await;
    let answer = async |path: &str| {
        let headers = [
            ("connection", "Upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="),
            ("sec-websocket-version", "13"),
            ("sec-websocket-protocol", "v5.channel.k8s.io"),
        ];
        let (code, body) =
            crate::support::send(&env, Method::GET, &format!("{PODS}/p/{path}"), &headers, "").await;
        format!("{code} {}", body["message"].as_str().unwrap_or_default())
    };
    let found = answer("exec?container=web&command=ls&stdout=1").await;
    assert!(
        found.starts_with("500 ") && found.ends_with("set the annotation exec.kubesmith.dev/web of the pod")
    );
    assert_eq!(
        answer("exec?container=nope&command=ls&stdout=1").await,
        "400 container nope is not valid for pod p"
    );
    let plain =
        call(&env, Method::GET, &format!("{PODS}/p/exec?container=web&command=ls"), Value::Null).await;
    assert_eq!((plain.0, &plain.1["message"]), (400, &json!("Upgrade request required")));
    env.stop().await;
}

#[tokio::test]
async fn session_ends_with_the_server() {
    let containers = Containers::new().on_exec(|_| std::future::pending());
    let env = env(Value::Null, containers).await;
    let params = AttachParams::default().container("web");
    let mut process = pods(env.client()).exec("p", ["sleep"], &params).await.unwrap();
    let stdout = process.stdout();
    let stopped = tokio::time::timeout(Duration::from_secs(60), env.stop());
    let (stopped, out) = tokio::join!(stopped, read(stdout));
    assert!(stopped.is_ok() && out.is_empty());
}
