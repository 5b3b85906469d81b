//! One handle over three back ends.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use kube::{Client, Config};
use kubesmith_testenv::fault::{Fault, FaultProxy, Rule, Schedule, Verb};
use kubesmith_testenv::{Arguments, Backend, Error, ManualClock, TestEnv, TestEnvBuilder, User};
use serde_json::json;

use crate::stand_in::{Mode, arguments, assets, executable, running};
use crate::support::{widget, widget_crd, widget_resource};

/// Times that a stand-in meets easily, and that are short enough for a test to wait.
fn control_plane(assets: &Path) -> TestEnvBuilder {
    TestEnv::builder()
        .backend(Backend::ControlPlane)
        .binary_assets_directory(assets)
        .control_plane_start_timeout(Duration::from_secs(30))
        .control_plane_stop_timeout(Duration::from_secs(30))
}

/// The steps of an ordinary test with an environment.
async fn use_it(env: &mut TestEnv) {
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    let api: Api<kube::api::DynamicObject> =
        Api::namespaced_with(env.client(), "default", &widget_resource("a.example"));
    api.create(&PostParams::default(), &widget("w", json!({"spec": {"size": 1}}))).await.unwrap();
    let from_outside = Client::try_from(env.config().await.unwrap()).unwrap();
    let api: Api<kube::api::DynamicObject> =
        Api::namespaced_with(from_outside, "default", &widget_resource("a.example"));
    assert_eq!(api.get("w").await.unwrap().data["spec"]["size"], 1);
}

#[tokio::test]
async fn control_plane_serves_and_removes_its_processes_and_data() {
    let assets = assets(Mode::Good, Mode::Good);
    let mut env = control_plane(assets.path()).start().await.unwrap();
    assert_eq!(env.backend(), Backend::ControlPlane);
    assert!(env.url().unwrap().starts_with("https://127.0.0.1:"));
    use_it(&mut env).await;

    let data = arguments(assets.path(), "etcd").into_iter().find(|a| a.starts_with("--data-dir=")).unwrap();
    let folder = Path::new(data.strip_prefix("--data-dir=").unwrap()).parent().unwrap();
    assert!(folder.exists());
    env.try_stop().await.unwrap();
    assert!(!folder.exists());
    for name in ["etcd", "kube-apiserver"] {
        assert!(running(assets.path(), name).is_empty(), "{name}");
    }
}

#[tokio::test]
async fn processes_get_envtests_flags_and_the_tests_own() {
    let assets = assets(Mode::Good, Mode::Good);
    let api_server = Arguments::new()
        .append("disable-admission-plugins", ["NamespaceLifecycle"])
        .set("feature-gates", ["A=true"])
        .disable("allow-privileged");
    let builder = control_plane(assets.path()).api_server_arguments(api_server);
    let env =
        builder.etcd_arguments(Arguments::new().set("quota-backend-bytes", ["1"])).start().await.unwrap();
    let shown = |name: &str| -> Vec<String> {
        let words = regex::Regex::new(r"(/[^=]*/k8s_test_framework_[^/]*)|:\d+|=\d{4,5}$").unwrap();
        let lines = arguments(assets.path(), name);
        lines.iter().map(|line| words.replace_all(line, "…").into_owned()).collect()
    };
    assert_eq!(
        shown("etcd"),
        [
            "--advertise-client-urls=http://127.0.0.1…",
            "--data-dir=…/etcd",
            "--listen-client-urls=http://127.0.0.1…",
            "--listen-peer-urls=http://127.0.0.1…",
            "--quota-backend-bytes=1",
            "--unsafe-no-fsync=true",
        ]
    );
    assert_eq!(
        shown("kube-apiserver"),
        [
            "--authorization-mode=RBAC",
            "--bind-address=127.0.0.1",
            "--cert-dir=…",
            "--client-ca-file=…/client-cert-auth-ca.crt",
            "--disable-admission-plugins=ServiceAccount",
            "--disable-admission-plugins=NamespaceLifecycle",
            "--etcd-servers=http://127.0.0.1…",
            "--feature-gates=A=true",
            "--secure-port…",
            "--service-account-issuer=https://127.0.0.1…/",
            "--service-account-key-file=…/sa-signer.pub",
            "--service-account-signing-key-file=…/sa-signer.key",
            "--service-cluster-ip-range=10.0.0.0/24",
        ]
    );
    env.stop().await;
}

#[tokio::test]
async fn process_that_exits_at_once_is_reported_with_its_output() {
    let assets = assets(Mode::Good, Mode::Exits);
    let text = control_plane(assets.path()).start().await.unwrap_err().to_string();
    let start = "unable to start control plane itself: failed to start the controlplane. retried 5 times: timeout waiting \
                 for process kube-apiserver to start successfully (it may have failed to start, or stopped unexpectedly \
                 before becoming ready)";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("--- the end of etcd's output") && text.contains("etcd starts"), "{text}");
    assert!(text.contains("kube-apiserver cannot go on"), "{text}");
    assert!(running(assets.path(), "etcd").is_empty());
}

#[tokio::test]
async fn start_fails_when_a_process_never_gets_ready() {
    let assets = assets(Mode::NeverReady, Mode::Good);
    let builder = control_plane(assets.path()).control_plane_start_timeout(Duration::from_millis(300));
    let text = builder.start().await.unwrap_err().to_string();
    assert!(text.contains("retried 5 times: timeout waiting for process etcd to start"), "{text}");
    assert!(running(assets.path(), "etcd").is_empty());
}

#[tokio::test]
async fn process_that_does_not_stop_is_killed_and_reported() {
    let assets = assets(Mode::Good, Mode::IgnoresTerm);
    let builder = control_plane(assets.path()).control_plane_stop_timeout(Duration::from_secs(2));
    let env = builder.start().await.unwrap();
    let text = env.try_stop().await.unwrap_err().to_string();
    assert_eq!(text, "timeout waiting for process kube-apiserver to stop");
    assert!(running(assets.path(), "etcd").is_empty() && running(assets.path(), "kube-apiserver").is_empty());
}

#[tokio::test]
async fn start_is_retried_when_a_port_is_taken() {
    let assets = assets(Mode::LosesItsPortOnce, Mode::LosesItsPortOnce);
    let env = control_plane(assets.path()).start().await.unwrap();
    env.try_stop().await.unwrap();
}

#[tokio::test]
async fn missing_binaries_are_named_with_the_way_to_name_others() {
    let empty = tempfile::tempdir().unwrap();
    let text = control_plane(empty.path()).start().await.unwrap_err().to_string();
    let path = empty.path().join("etcd");
    assert!(text.contains(&format!("retried 5 times: fork/exec {}: ", path.display())), "{text}");
    assert!(text.contains("KUBEBUILDER_ASSETS"), "{text}");
}

#[tokio::test]
async fn control_plane_is_stopped_when_the_test_panics() {
    let assets = assets(Mode::Good, Mode::Good);
    let builder = control_plane(assets.path());
    let (send, receive) = tokio::sync::oneshot::channel();
    let test = tokio::spawn(async move {
        let env = builder.start().await.unwrap();
        send.send(()).unwrap();
        // A failing test.
        assert_eq!(env.backend(), Backend::Embedded);
    });
    receive.await.unwrap();
    assert!(test.await.unwrap_err().is_panic());
    while !running(assets.path(), "etcd").is_empty() || !running(assets.path(), "kube-apiserver").is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn control_planes_are_isolated() {
    let assets = assets(Mode::Good, Mode::Good);
    let starts = (0..3).map(|_| control_plane(assets.path()).start());
    let envs = try_join_all(starts).await.unwrap();
    for (i, env) in envs.iter().enumerate() {
        let api: Api<Namespace> = Api::all(env.client());
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(format!("only-{i}"));
        api.create(&PostParams::default(), &namespace).await.unwrap();
    }
    for (i, env) in envs.iter().enumerate() {
        let api: Api<Namespace> = Api::all(env.client());
        let found = api.list(&ListParams::default()).await.unwrap().items;
        let only = found.iter().filter_map(|n| n.metadata.name.as_deref()).filter(|n| n.starts_with("only-"));
        assert_eq!(only.collect::<Vec<_>>(), [format!("only-{i}")]);
    }
    join_all(envs.into_iter().map(TestEnv::stop)).await;
}

async fn who(client: Client) -> (String, Vec<String>) {
    let api: Api<SelfSubjectReview> = Api::all(client);
    let review = api.create(&PostParams::default(), &SelfSubjectReview::default()).await.unwrap();
    let user = review.status.unwrap().user_info.unwrap();
    (user.username.unwrap(), user.groups.unwrap_or_default())
}

#[tokio::test]
async fn control_plane_users_authenticate_by_certificate() {
    let assets = assets(Mode::Good, Mode::Good);
    let mut env = control_plane(assets.path()).start().await.unwrap();
    assert_eq!(who(env.client()).await, ("admin".to_owned(), vec!["system:masters".to_owned()]));
    let jane = User { name: "jane".to_owned(), groups: vec!["team".to_owned(), "readers".to_owned()] };
    let user = env.add_user(&jane).await.unwrap();
    assert_eq!(who(user.client()).await, (jane.name, jane.groups));
    assert!(user.kubeconfig().contains("client-certificate-data"));
    env.stop().await;
}

#[tokio::test]
async fn embedded_server_users_authenticate_by_token() {
    let mut env = TestEnv::builder().backend(Backend::Embedded).start().await.unwrap();
    let jane = User { name: "jane".to_owned(), groups: vec!["team".to_owned()] };
    let user = env.add_user(&jane).await.unwrap();
    let expected = ("jane".to_owned(), vec!["team".to_owned(), "system:authenticated".to_owned()]);
    assert_eq!(who(user.client()).await, expected);
    assert_eq!(who(Client::try_from(user.config()).unwrap()).await, expected);
    assert_eq!(who(env.client()).await.0, "kubesmith-testenv");
    let mut config = user.config();
    config.auth_info.token = Some("x.y.z".to_owned().into());
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(config).unwrap());
    let error = maps.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 401));
    env.stop().await;
}

#[tokio::test]
async fn option_is_refused_when_the_back_end_lacks_it() {
    let nowhere = || control_plane(Path::new("/nonexistent"));
    let clock = std::sync::Arc::new(ManualClock::new(jiff::Timestamp::UNIX_EPOCH));
    let cluster = Config::new("http://127.0.0.1:1".parse().unwrap());
    let cases = [
        (nowhere().clock(clock), "clock"),
        (nowhere().seed(1), "seed"),
        (nowhere().history(1), "history"),
        (nowhere().data_dir("/nonexistent"), "data_dir"),
        (nowhere().controllers(true), "controllers"),
        (nowhere().cluster_config(cluster), "cluster_config"),
        (
            TestEnv::builder().backend(Backend::Embedded).etcd_arguments(Arguments::new().enable("x")),
            "etcd_arguments",
        ),
    ];
    for (builder, name) in cases {
        let error = builder.start().await.unwrap_err();
        assert!(matches!(error, Error::Unsupported { option, .. } if option == name), "{error}");
    }
    let flags = Arguments::new().set("secure-port", ["1"]);
    let error = nowhere().api_server_arguments(flags).start().await.unwrap_err();
    assert!(matches!(error, Error::ReservedFlag { flag: "secure-port" }), "{error}");
}

/// An embedded server as the existing cluster.
async fn cluster() -> (TestEnv, Config) {
    let mut cluster = TestEnv::builder().backend(Backend::Embedded).start().await.unwrap();
    let config = cluster.config().await.unwrap();
    (cluster, config)
}

#[tokio::test]
async fn existing_cluster_is_used_and_not_stopped() {
    let (cluster, config) = cluster().await;
    let builder = || TestEnv::builder().backend(Backend::ExistingCluster).cluster_config(config.clone());
    let mut env = builder().controllers(true).start().await.unwrap();
    assert_eq!(env.url(), cluster.url());
    use_it(&mut env).await;
    for result in [env.serve(([127, 0, 0, 1], 0).into()).await.map(drop), env.compact()] {
        assert!(matches!(result, Err(Error::Unsupported { backend: Backend::ExistingCluster, .. })));
    }
    assert!(matches!(env.add_user(&User::default()).await, Err(Error::Unsupported { .. })));
    env.stop().await;

    let crds: Api<CustomResourceDefinition> = Api::all(cluster.client());
    assert!(crds.get_opt("widgets.a.example").await.unwrap().is_some());
    let hooks: Api<ValidatingWebhookConfiguration> = Api::all(cluster.client());
    let hook = ValidatingWebhookConfiguration {
        metadata: ObjectMeta { name: Some("hook".to_owned()), ..ObjectMeta::default() },
        webhooks: None,
    };
    let clean = builder().crds([widget_crd("a.example", "Namespaced")]).validating_webhooks([hook]);
    let env = clean.clean_up_after_use(true).start().await.unwrap();
    assert!(hooks.get_opt("hook").await.unwrap().is_some());
    env.try_stop().await.unwrap();
    assert!(hooks.get_opt("hook").await.unwrap().is_none());
    assert!(crds.get_opt("widgets.a.example").await.unwrap().is_none());
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    maps.list(&ListParams::default()).await.unwrap();
    cluster.stop().await;
}

/// A cluster behind a proxy with this rule.
async fn troubled_cluster(rule: Rule) -> (TestEnv, FaultProxy, TestEnvBuilder) {
    let (cluster, _) = cluster().await;
    let mut proxy = cluster.fault_proxy(Schedule::new().rule(rule)).await.unwrap();
    let config = proxy.config().await.unwrap();
    let builder = TestEnv::builder().backend(Backend::ExistingCluster).cluster_config(config);
    (cluster, proxy, builder.crd_poll_interval(Duration::from_millis(10)))
}

#[tokio::test]
async fn start_waits_until_discovery_serves_the_crds() {
    let late = || Rule::new(Fault::Status(404)).path("/apis/a.example/v1");
    let (cluster, proxy, builder) = troubled_cluster(late().times(3)).await;
    let env = builder.crds([widget_crd("a.example", "Namespaced")]).start().await.unwrap();
    assert_eq!(proxy.injections().len(), 3);
    env.stop().await;
    proxy.stop().await;
    cluster.stop().await;

    let (cluster, proxy, builder) = troubled_cluster(late()).await;
    let builder = builder.crd_max_time(Duration::from_secs(2));
    let error = builder.crds([widget_crd("a.example", "Namespaced")]).start().await.unwrap_err();
    assert!(error.to_string().contains("is not established: discovery of a.example/v1: "), "{error}");
    proxy.stop().await;
    cluster.stop().await;
}

#[tokio::test]
async fn crds_are_written_again_after_a_conflict() {
    let conflict = || Rule::new(Fault::Status(409)).verb(Verb::Update).resource("customresourcedefinitions");
    for (rule, installed) in [(conflict().times(3), true), (conflict(), false)] {
        let (cluster, proxy, builder) = troubled_cluster(rule).await;
        cluster.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
        let result = builder.crds([widget_crd("a.example", "Namespaced")]).start().await;
        assert_eq!(result.is_ok(), installed, "{result:?}");
        proxy.stop().await;
        cluster.stop().await;
    }
}

#[tokio::test]
async fn start_waits_until_the_default_namespace_exists() {
    let rule = Rule::new(Fault::Status(404)).resource("namespaces").name("default").times(2);
    let (cluster, proxy, builder) = troubled_cluster(rule).await;
    builder.start().await.unwrap().stop().await;
    assert_eq!(proxy.injections().len(), 2);
    proxy.stop().await;
    cluster.stop().await;
}

#[tokio::test]
async fn crd_that_is_not_deleted_in_time_is_reported() {
    let (cluster, config) = cluster().await;
    let builder = TestEnv::builder().backend(Backend::ExistingCluster).cluster_config(config);
    let builder = builder.crd_max_time(Duration::from_secs(3)).clean_up_after_use(true);
    let env = builder.crds([widget_crd("a.example", "Namespaced")]).start().await.unwrap();
    let api: Api<kube::api::DynamicObject> =
        Api::namespaced_with(env.client(), "default", &widget_resource("a.example"));
    let kept = widget("kept", json!({"metadata": {"finalizers": ["a.example/keep"]}}));
    api.create(&PostParams::default(), &kept).await.unwrap();
    let error = env.try_stop().await.unwrap_err();
    assert!(matches!(error, Error::NotUninstalled { .. }), "{error}");
    cluster.stop().await;
}

#[tokio::test]
async fn concurrent_tests_can_install_the_same_crds() {
    let (cluster, config) = cluster().await;
    let builder = || TestEnv::builder().backend(Backend::ExistingCluster).cluster_config(config.clone());
    let starts = (0..8).map(|_| builder().crds([widget_crd("a.example", "Namespaced")]).start());
    let envs = try_join_all(starts).await.unwrap();
    join_all(envs.into_iter().map(TestEnv::stop)).await;
    cluster.stop().await;
}

#[tokio::test]
async fn missing_crd_path_is_an_error_unless_allowed() {
    let builder = || TestEnv::builder().backend(Backend::Embedded).crd_paths(["/nonexistent/crds"]);
    assert!(matches!(builder().start().await, Err(Error::Read { .. })));
    builder().error_if_crd_path_missing(false).start().await.unwrap().stop().await;
}

#[tokio::test]
async fn kubectl_reaches_the_environment() {
    let assets = tempfile::tempdir().unwrap();
    executable(&assets.path().join("kubectl"), "#!/bin/sh\necho \"$3\"; cat \"$2\"\n");
    let builder = TestEnv::builder().backend(Backend::Embedded).binary_assets_directory(assets.path());
    let mut env = builder.start().await.unwrap();
    let output = env.kubectl().await.unwrap().run(["version"]).await.unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("version\n{}", env.kubeconfig().await.unwrap())
    );
    env.stop().await;
}

/// Returns what [`env_starts_by_environment_variables`] prints in a process with these environment variables.
fn run_with(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["backends::env_starts_by_environment_variables", "--exact", "--ignored", "--nocapture"]);
    for name in ["KUBEBUILDER_ASSETS", "TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER", "USE_EXISTING_CLUSTER"]
    {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    text
}

#[tokio::test]
#[ignore = "run by `back_end_follows_environment_variables` with other environment variables"]
async fn env_starts_by_environment_variables() {
    let mut env = TestEnv::builder().start().await.unwrap();
    println!("runs on {}", env.backend());
    use_it(&mut env).await;
    env.try_stop().await.unwrap();
}

#[tokio::test]
async fn back_end_follows_environment_variables() {
    assert!(run_with(&[]).contains("runs on the embedded server"));

    let assets = assets(Mode::Good, Mode::Good);
    let folder = assets.path().to_str().unwrap();
    let text =
        run_with(&[("KUBEBUILDER_ASSETS", folder), ("KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT", "true")]);
    assert!(text.contains("runs on a control plane"), "{text}");
    assert!(text.contains("kube-apiserver starts"), "the output is attached: {text}");

    let (mut cluster, _) = cluster().await;
    let file = assets.path().join("kubeconfig");
    std::fs::write(&file, cluster.kubeconfig().await.unwrap()).unwrap();
    let run = move || run_with(&[("USE_EXISTING_CLUSTER", "true"), ("KUBECONFIG", file.to_str().unwrap())]);
    let text = tokio::task::spawn_blocking(run).await.unwrap();
    assert!(text.contains("runs on an existing cluster"), "{text}");
    cluster.stop().await;
}
