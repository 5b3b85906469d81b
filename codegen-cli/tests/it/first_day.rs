//! Mistakes of the first day, each with what the command prints. A message says what is wrong, where, and what to do.

use std::fs;
use std::net::TcpListener;
use std::process::Output;

use kubesmith_runtime::webhook::Server;
use kubesmith_testenv::TestEnv;

use crate::support::Crate;

const SOURCE: &str = r#"use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// An order of a bakery.
#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "bakery.example.com", version = "v1", kind = "Order", status)]
#[genclient]
pub struct Order {
    pub metadata: ObjectMeta,
    pub spec: OrderSpec,
    #[serde(default)]
    pub status: Option<OrderStatus>,
}

/// The desired state.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct OrderSpec {
    #[validation(minimum = 1)]
    pub loaves: i32,
    pub customer: String,
}

/// The observed state.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct OrderStatus {
    #[serde(default)]
    pub baked: i32,
}
"#;

const GENERATE: &[&str] = &["generate", "--input", "api", "--output", "client"];

/// The mistakes in types: a name, the original text, and its replacement.
const TYPES: [(&str, &str, &str); 30] = [
    ("serde_attribute_is_misspelt", "rename_all = ", "rename_al = "),
    ("serde_rule_is_unknown", "\"camelCase\"", "\"camel\""),
    (
        "validation_without_schema",
        "Deserialize, Schema)]\n#[serde(rename_all",
        "Deserialize)]\n#[serde(rename_all",
    ),
    (
        "type_without_serde",
        "Serialize, Deserialize, Schema)]\n#[serde(rename_all = \"camelCase\")]",
        "Schema)]",
    ),
    ("validation_is_misspelt", "minimum = 1", "minimun = 1"),
    ("rule_without_parentheses", "minimum = 1", "rule = \"self > 0\""),
    (
        "rule_about_a_missing_field",
        "pub struct OrderSpec",
        "#[validation(rule(rule = \"self.loafs > 0\"))]\npub struct OrderSpec",
    ),
    ("rule_with_a_wrong_operator", "minimum = 1", "rule(rule = \"self => 1\")"),
    ("root_is_generic", "pub struct Order {", "pub struct Order<T> {"),
    ("import_is_missing", "customer: String", "customer: HashMap<String, String>"),
    ("field_is_a_float", "loaves: i32", "loaves: f64"),
    ("metadata_is_missing", "    pub metadata: ObjectMeta,\n", ""),
    ("default_has_another_type", "validation(minimum = 1)", "schema(default = \"one\")"),
    (
        "pattern_looks_ahead",
        "    pub customer",
        "    #[validation(pattern = \"^(?!nobody).*$\")]\n    pub customer",
    ),
    (
        "resource_attribute_is_missing",
        "#[resource(group = \"bakery.example.com\", version = \"v1\", kind = \"Order\", status)]\n",
        "",
    ),
    ("resource_key_is_misspelt", ", status)", ", status, shortname = \"od\")"),
    ("group_is_missing", "group = \"bakery.example.com\", ", ""),
    ("group_has_upper_case_letters", "bakery.example.com", "Bakery.example.com"),
    (
        "column_of_a_missing_field",
        ", status)",
        ", status, print_column(name = \"Loaves\", json_path = \".spec.loafs\"))",
    ),
    ("status_is_no_subresource", ", status)", ")"),
    ("derive_of_the_root_is_missing", "Default, Resource)", "Default)"),
    ("validation_attribute_is_misspelt", "#[validation(", "#[valdiation("),
    ("attribute_of_schemars", "#[validation(minimum = 1)]", "#[schemars(range(min = 1))]"),
    (
        "rule_without_self",
        "pub struct OrderSpec",
        "#[validation(rule(rule = \"loaves > 0\"))]\npub struct OrderSpec",
    ),
    (
        "rule_with_an_unknown_function",
        "    pub customer",
        "    #[validation(rule(rule = \"len(self) > 0\"))]\n    pub customer",
    ),
    (
        "field_is_a_std_duration",
        "#[validation(minimum = 1)]\n    pub loaves: i32",
        "pub loaves: std::time::Duration",
    ),
    ("crate_is_missing", "customer: String", "customer: kube_core::Customer"),
    ("word_at_the_end", "pub baked: i32,\n}\n", "pub baked: i32,\n}\n\nx\n"),
    ("bracket_is_missing", "pub customer: String,\n}", "pub customer: String,\n"),
    ("serde_value_is_no_text", "#[serde(default)]", "#[serde(default = 0)]"),
];

fn bakery() -> Crate {
    Crate::new(SOURCE)
}

/// The standard error of a run, with its exit code and without names of this host.
fn printed(sample: &Crate, out: &Output) -> String {
    let text =
        String::from_utf8_lossy(&out.stderr).replace(&sample.dir.path().display().to_string(), "[DIR]");
    format!("{}\nexit code: {}", text.trim_end(), out.status.code().unwrap_or(-1))
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/first_day");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn errors_in_types_have_help() {
    for (name, written, instead) in TYPES {
        let source = SOURCE.replacen(written, instead, 1);
        assert_ne!(source, SOURCE, "{name}");
        let sample = Crate::new(&source);
        snapshot(name, &printed(&sample, &sample.run(GENERATE)));
    }
}

#[test]
fn errors_in_commands_have_help() {
    let cases: [(&str, &[&str]); 8] = [
        ("input_is_a_file", &["generate", "--input", "api/src/lib.rs", "--output", "client"]),
        ("nothing_to_generate", &["generate"]),
        ("input_is_the_folder_of_sources", &["generate", "--input", "api/src", "--output", "client"]),
        ("output_is_missing", &["generate", "--input", "api"]),
        ("generator_is_misspelt", &["generate", "--input", "api", "--output", "client", "--only", "crds"]),
        ("command_is_misspelt", &["generat"]),
        (
            "kind_outside_of_a_project",
            &["create", "api", "--group", "a", "--version", "v1", "--kind", "Cake"],
        ),
        (
            "source_has_no_revision",
            &["init", "bakery", "--kubesmith-source", "https://git.example.com/kubesmith"],
        ),
    ];
    for (name, arguments) in cases {
        let sample = bakery();
        snapshot(name, &printed(&sample, &sample.run(arguments)));
    }
}

#[test]
fn errors_in_the_configuration_have_help() {
    for (name, text) in [
        ("table_is_misspelt", "input = [\"api\"]\n[clinet]\noutput = \"client\"\n"),
        ("key_is_misspelt", "input = [\"api\"]\n[client]\noutptu = \"client\"\n"),
        ("text_in_place_of_a_list", "input = \"api\"\n"),
        (
            "text_in_place_of_a_number",
            "input = [\"api\"]\n[deploy]\noutput = \"config\"\nimage = \"a:1\"\nreplicas = \"3\"\n",
        ),
        ("text_in_place_of_a_boolean", "input = [\"api\"]\n[client]\ndefaults = \"no\"\n"),
    ] {
        let sample = bakery();
        sample.write("kubesmith.toml", text);
        snapshot(name, &printed(&sample, &sample.run(&["generate"])));
    }
}

#[test]
fn commands_in_a_folder_of_the_project_name_its_place() {
    let sample = bakery();
    sample.write("kubesmith.toml", "input = [\"api\"]\n[crd]\noutput = \"crds\"\n");
    sample.write("PROJECT", "domain: example.com\n");
    let run = |arguments: &[&str]| {
        let mut command = sample.command(env!("CARGO_BIN_EXE_kubesmith"));
        let out = command.args(arguments).current_dir(sample.path("api/src")).output().unwrap();
        printed(&sample, &out)
    };
    snapshot("generate_below_the_project", &run(&["generate"]));
    let kind = ["create", "api", "--group", "a", "--version", "v1", "--kind", "Cake"];
    snapshot("kind_below_the_project", &run(&kind));
}

#[test]
fn conflicts_with_existing_files_have_help() {
    let sample = bakery();
    sample.write("client", "");
    snapshot("output_folder_is_a_file", &printed(&sample, &sample.run(GENERATE)));
    fs::remove_file(sample.path("client")).unwrap();

    sample.write("client/crds/bakery.example.com_orders.yaml", "kind: CustomResourceDefinition\n");
    snapshot("file_of_another_owner", &printed(&sample, &sample.run(GENERATE)));

    fs::remove_dir_all(sample.path("client")).unwrap();
    assert_eq!(sample.run(GENERATE).status.code(), Some(0));
    sample.write(
        "api/src/lib.rs",
        SOURCE.replace("loaves: i32", "loaves: String").replace("minimum", "min_length"),
    );
    snapshot("type_breaks_stored_objects", &printed(&sample, &sample.run(GENERATE)));
    sample.write("api/src/lib.rs", SOURCE.replace("customer: String", "customer: Option<String>"));
    let out = sample.run(&[GENERATE, &["--check"]].concat());
    snapshot("generated_files_are_out_of_date", &printed(&sample, &out));
}

#[test]
fn errors_in_projects_have_help() {
    let sample = bakery();
    fs::create_dir(sample.path("bakery")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sample.command(env!("CARGO_BIN_EXE_kubesmith"));
        command.args(arguments).current_dir(sample.path("bakery")).output().unwrap()
    };
    let kind = ["--group", "bakery", "--version", "v1", "--kind"];
    let init = ["init", "--domain", "example.com", "--kubesmith-source", "published"];
    assert_eq!(run(&init).status.code(), Some(0));
    assert_eq!(run(&[&["create", "api"][..], &kind, &["Order"]].concat()).status.code(), Some(0));
    for (name, arguments) in [
        ("project_is_there", init.to_vec()),
        ("kind_in_lower_case", [&["create", "api"][..], &kind, &["cake"]].concat()),
        (
            "webhook_of_a_missing_kind",
            [&["create", "webhook"][..], &kind, &["Oder", "--defaulting"]].concat(),
        ),
        ("webhook_of_no_sort", [&["create", "webhook"][..], &kind, &["Order"]].concat()),
        (
            "group_with_the_domain",
            vec!["create", "api", "--group", "bakery.example.com", "--version", "v1", "--kind", "Cake"],
        ),
        (
            "version_to_copy_is_missing",
            vec![
                "create",
                "api",
                "--group",
                "bakery",
                "--version",
                "v2",
                "--kind",
                "Order",
                "--from",
                "v1beta1",
            ],
        ),
        (
            "conversion_of_one_version",
            [&["create", "webhook"][..], &kind, &["Order", "--conversion"]].concat(),
        ),
    ] {
        snapshot(name, &printed(&sample, &run(&arguments)));
    }
    let main = fs::read_to_string(sample.path("bakery/controller/src/main.rs")).unwrap();
    let without: String =
        main.lines().filter(|line| !line.contains("+kubesmith")).map(|line| format!("{line}\n")).collect();
    sample.write("bakery/controller/src/main.rs", without);
    let out = run(&[&["create", "api"][..], &kind, &["Cake"]].concat());
    snapshot("scaffold_comment_was_removed", &printed(&sample, &out));
}

#[test]
fn unreachable_clusters_are_errors_with_help() {
    let sample = bakery();
    let missing = sample.run(&["import", "--from-cluster", "--kubeconfig", "nowhere", "--output", "made"]);
    snapshot("kubeconfig_is_missing", &printed(&sample, &missing));

    // No process listens on the address of a dropped listener.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    sample.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
             clusters: [{{name: a, cluster: {{server: \"http://{address}\"}}}}]\nusers: [{{name: a, user: {{}}}}]\n"
        ),
    );
    let out = sample.run(&["import", "--from-cluster", "--kubeconfig", "kubeconfig", "--output", "made"]);
    snapshot("cluster_is_not_running", &printed(&sample, &out).replace(&address.to_string(), "[ADDRESS]"));
}

#[test]
fn failed_server_start_has_help() {
    let sample = bakery();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let out = sample.run(&["serve", "--addr", &address]);
    snapshot("port_is_in_use", &printed(&sample, &out).replace(&address, "[ADDRESS]"));

    let out = sample.run(&["serve", "--addr", "127.0.0.1:0", "--crds", "nowhere"]);
    snapshot("folder_of_definitions_is_missing", &printed(&sample, &out));
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {}\n";
    sample.write("crds/a.yaml", definition);
    let out = sample.run(&["serve", "--addr", "127.0.0.1:0", "--crds", "crds"]);
    snapshot("definition_is_refused", &printed(&sample, &out));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn older_definition_in_the_cluster_has_help() {
    let sample = bakery();
    assert_eq!(sample.run(GENERATE).status.code(), Some(0));
    let mut env = TestEnv::builder().crd_paths([sample.path("client/crds")]).start().await.unwrap();
    sample.write("kubeconfig", env.kubeconfig().await.unwrap());
    sample.write(
        "api/src/lib.rs",
        SOURCE.replace("loaves: i32", "loaves: String").replace("minimum", "min_length"),
    );
    sample.run(GENERATE);
    let arguments = [
        "crd",
        "apply",
        "client/crds",
        "--kubeconfig",
        "kubeconfig",
        "--operator",
        "bakery",
        "--operator-version",
        "1.1.0",
    ];
    let out = tokio::task::block_in_place(|| sample.run(&arguments));
    snapshot("definition_in_the_cluster_is_older", &printed(&sample, &out));
    env.stop().await;
}

#[tokio::test]
async fn missing_certificate_of_a_webhook_has_help() {
    let server = Server::builder().cert_dir("certificates").build().unwrap();
    let error = server.bind().await.unwrap_err();
    snapshot("certificate_of_a_webhook_is_missing", &format!("Error: {error}"));
}
