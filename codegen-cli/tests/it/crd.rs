//! The commands of docs/operations/upgrade.md, run on the embedded server.

use std::fs;
use std::process::Output;

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, TypeMeta};
use kubesmith_testenv::TestEnv;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::support::{Crate, testdata};

/// The blocks of a page: their language, their text, and its place.
fn blocks(page: &str) -> Vec<(&str, std::ops::Range<usize>)> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = page[at..].find("\n```").map(|found| at + found + 4) {
        let line = page[start..].find('\n').map_or(page.len(), |end| start + end + 1);
        let end = page[line - 1..].find("\n```").map_or(page.len(), |end| line + end);
        out.push((page[start..line].trim(), line..end));
        at = end + 3;
    }
    out
}

/// Applies the objects of a file, and returns kubectl's output.
async fn kubectl_apply(client: &kube::Client, text: &str) -> String {
    let mut out = String::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let object = DynamicObject::deserialize(document).unwrap();
        let TypeMeta { api_version, kind } = object.types.clone().unwrap();
        let (group, version) = api_version.split_once('/').unwrap();
        let plural = format!("{}s", kind.to_lowercase());
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: api_version.clone(),
            kind: kind.clone(),
            plural,
        };
        let name = object.metadata.name.clone().unwrap();
        let api: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
        let is_new = api.get_opt(&name).await.unwrap().is_none();
        api.patch(&name, &PatchParams::apply("kubectl").force(), &Patch::Apply(&object)).await.unwrap();
        let done = if is_new { "created" } else { "configured" };
        out.push_str(&format!("{}.{group}/{name} {done}\n", kind.to_lowercase()));
    }
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upgrade_page_shows_the_output_of_its_commands() {
    let path = testdata().join("../docs/operations/upgrade.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut env = TestEnv::builder().start().await.unwrap();
    let folder = Crate::with_files(&[]);
    folder.write("kubeconfig", env.kubeconfig().await.unwrap());
    let client = env.client();
    let mut made = String::new();
    let mut copied = 0;
    let mut commands = 0;
    for (language, range) in blocks(&page) {
        let text = &page[range.clone()];
        if let Some(file) = text.lines().next().and_then(|line| line.strip_prefix("# "))
            && language == "yaml"
        {
            folder.write(file, text);
        }
        if language != "console" {
            continue;
        }
        made.push_str(&page[copied..range.start]);
        for line in text.lines().filter(|line| line.starts_with("$ ")) {
            commands += 1;
            made.push_str(&format!("{line}\n"));
            made.push_str(&match line.strip_prefix("$ kubectl apply -f ") {
                Some(file) => kubectl_apply(&client, &fs::read_to_string(folder.path(file)).unwrap()).await,
                None => kubesmith(&folder, line.strip_prefix("$ kubesmith ").unwrap()),
            });
        }
        copied = range.end;
    }
    made.push_str(&page[copied..]);
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        fs::write(&path, &made).unwrap();
    } else {
        assert_eq!(page, made, "KUBESMITH_UPDATE=1 writes the page");
    }
    assert!(commands > 15);
    env.stop().await;
}

/// The standard error and standard output of a command.
fn kubesmith(folder: &Crate, arguments: &str) -> String {
    let mut command = folder.command(env!("CARGO_BIN_EXE_kubesmith"));
    command.args(arguments.split(' ')).env("KUBECONFIG", folder.path("kubeconfig"));
    let Output { status, stdout, stderr } = tokio::task::block_in_place(|| command.output().unwrap());
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert_eq!(status.code(), Some(i32::from(stderr.contains("error: "))), "{stderr}");
    stderr + &stdout
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failure_does_not_keep_other_definitions_from_their_turn() {
    let crds = testdata().join("../examples/sample-controller/config/crd/bases");
    let mut env = TestEnv::builder().crd_paths([crds]).start().await.unwrap();
    let folder = Crate::with_files(&[]);
    folder.write("kubeconfig", env.kubeconfig().await.unwrap());
    let name = "foos.samplecontroller.k8s.io";
    for command in ["status", "migrate"] {
        let printed = kubesmith(&folder, &format!("crd {command} bars.samplecontroller.k8s.io {name}"));
        assert!(printed.contains("error: ") && printed.contains(&format!("\n{name}")), "{printed}");
    }
    env.stop().await;
}

/// A version is retired with the flag that `status` names, and a webhook is introduced with what it needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn advice_of_status_and_apply_is_sufficient() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let folder = Crate::with_files(&[]);
    folder.write("kubeconfig", env.kubeconfig().await.unwrap());
    let schema = "schema: {openAPIV3Schema: {type: object}}";
    let definition = |version: &str, more: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.example.com}}\n\
             spec:\n  group: example.com\n  scope: Namespaced\n\
             \x20 names: {{kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}}\n{more}\
             \x20 versions:\n  - {{name: v1, served: true, storage: true, {schema}}}\n\
             \x20 - {{name: v1alpha1, storage: false, deprecated: true, {version}, {schema}}}\n"
        )
    };
    let apply = |text: String, more: &str| {
        folder.write("crd.yaml", text);
        kubesmith(&folder, &format!("crd apply crd.yaml --operator a --operator-version 1.0.0{more}"))
    };
    assert_eq!(apply(definition("served: true", ""), ""), "widgets.example.com: created\n");
    let status = kubesmith(&folder, "crd status widgets.example.com");
    assert!(
        status.contains("set `served: false`, and apply the definition with `--allow version-unserved`"),
        "{status}"
    );
    let refused = apply(definition("served: false", ""), "");
    assert!(refused.contains("with `--allow version-unserved`"), "{refused}");
    let done = apply(definition("served: false", ""), " --allow version-unserved");
    assert!(done.starts_with("widgets.example.com: updated\n"), "{done}");
    let webhook = "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.example/convert'}}}\n";
    let done = apply(definition("served: false", webhook), "");
    assert!(
        done.contains("(conversion-webhook-added): objects that are stored in another version"),
        "{done}"
    );
    assert!(done.contains("run the webhook before you install the definition"), "{done}");
    env.stop().await;
}

/// Follows a line of `crd status` about a version, and returns the flags that it names for `crd apply`.
fn follow(definition: &mut Value, advice: &str) -> String {
    let (own, _) = advice.split_once(' ').unwrap();
    let quoted: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    match quoted[..] {
        ["storage: true", ..] => {
            versions.iter_mut().for_each(|version| version["storage"] = json!(version["name"] == own));
        }
        [setting, ..] => {
            let (key, value) = setting.split_once(": ").unwrap();
            let version = versions.iter_mut().find(|version| version["name"] == own).unwrap();
            version[key] = json!(value == "true");
        }
        [] => {
            assert!(advice.ends_with("remove it from the definition"), "{advice}");
            versions.retain(|version| version["name"] != own);
        }
    }
    quoted.iter().filter(|text| text.starts_with("--")).map(|flag| format!(" {flag}")).collect()
}

/// From the introduction of a version to the removal of the old one, each step is the one that `status` prints, with the flags that it
/// names, and `diff` finds no more than `apply`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guidance_of_status_leads_through_the_life_of_a_version() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let folder = Crate::with_files(&[]);
    folder.write("kubeconfig", env.kubeconfig().await.unwrap());
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer"}}}}}}})
    };
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "versions": [version("v1alpha1", true)],
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"}},
    });
    let apply = |definition: &Value, more: &str| {
        folder.write("crd.yaml", definition.to_string());
        let printed =
            kubesmith(&folder, &format!("crd apply crd.yaml --operator a --operator-version 1.0.0{more}"));
        assert!(!printed.contains("error: "), "{printed}");
    };
    apply(&definition, "");
    let widget = "apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata: {name: w, namespace: default}\nspec: {size: 3}\n";
    kubectl_apply(&env.client(), widget).await;
    // The introduction is the author's step, and can be reverted.
    definition["spec"]["versions"].as_array_mut().unwrap().push(version("v1", false));
    apply(&definition, " --keep-way-back");

    let mut steps = Vec::new();
    loop {
        let status = kubesmith(&folder, "crd status widgets.example.com");
        let Some(advice) = status.lines().find_map(|line| line.strip_prefix("  next: ")) else { break };
        steps.push(advice.to_owned());
        assert!(steps.len() < 9, "{steps:#?}");
        if let Some((_, command)) = advice.split_once("run `kubesmith ") {
            let printed = kubesmith(&folder, command.split('`').next().unwrap());
            assert!(printed.contains("1 objects rewritten"), "{printed}");
            continue;
        }
        let flags = follow(&mut definition, advice);
        apply(&definition, &flags);
    }
    let named: Vec<&str> = steps.iter().map(|step| step.split([':', ',']).next().unwrap()).collect();
    assert_eq!(
        named,
        [
            "v1alpha1 is older than v1",
            "v1 is served",
            "objects may be stored in v1alpha1",
            "v1alpha1 is deprecated and not stored",
            "v1alpha1 is neither served nor stored",
        ],
        "{steps:#?}"
    );
    let versions = definition["spec"]["versions"].as_array().unwrap();
    assert_eq!((versions.len(), &versions[0]["name"]), (1, &json!("v1")));
    let same = kubectl_apply(&env.client(), &widget.replace("v1alpha1", "v1")).await;
    assert!(same.contains("widget.example.com/w"), "{same}");
    env.stop().await;
}

#[test]
fn crd_command_explains_wrong_arguments() {
    let folder = Crate::with_files(&[]);
    folder.write("empty.yaml", "kind: ConfigMap\napiVersion: v1\n");
    folder.write("broken.yaml", "a: [\n");
    let run = |arguments: &str| {
        let mut command = folder.command(env!("CARGO_BIN_EXE_kubesmith"));
        let Output { status, stderr, .. } = command.args(arguments.split(' ')).output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap())
    };
    let operator = "--operator a --operator-version 1.0.0";
    for (arguments, code, said) in [
        (format!("crd apply empty.yaml {operator}"), 1, "empty.yaml has no CustomResourceDefinition"),
        (format!("crd apply broken.yaml {operator}"), 1, "broken.yaml cannot be read"),
        (format!("crd apply nowhere.yaml {operator}"), 1, "cannot read nowhere.yaml"),
        (format!("crd apply empty.yaml {operator} --allow fields-removed"), 2, "docs/reference/diff.md"),
        ("crd apply empty.yaml --operator= --operator-version 1.0.0".to_owned(), 2, "--operator <NAME>"),
        ("crd migrate".to_owned(), 2, "<NAME>"),
        ("crd migrate widgets.a.example --rate 0".to_owned(), 2, "0 is not in 1.."),
        (
            "crd status config/crd".to_owned(),
            2,
            "write the name of a definition, such as widgets.example.com",
        ),
        ("crd migrate widgets.a.example --kubeconfig nowhere".to_owned(), 1, "cannot use the kubeconfig"),
    ] {
        let (exit, stderr) = run(&arguments);
        assert_eq!(exit, Some(code), "{arguments}: {stderr}");
        assert!(stderr.contains(said), "{arguments}: {stderr}");
    }
}
