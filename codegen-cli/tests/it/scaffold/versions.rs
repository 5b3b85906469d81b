//! Several versions of a kind, and conversions between them.

use std::fs;

use super::{ORDER, POOL, Project, api};

const POOL_TYPES: &str = "api/src/tsi/v1alpha1/ip_pool.rs";

/// A project whose kind has names, columns and validations of its own.
fn edited() -> Project {
    let project = Project::new();
    project.works(&POOL);
    let types = project
        .read(POOL_TYPES)
        .replace(
            "    storage_version,\n",
            "    short_name = \"ipp\",\n    category = \"net\",\n    storage_version,\n",
        )
        .replace(
            "    print_column(name = \"Age\"",
            "    print_column(name = \"Cidr\", json_path = \".spec.cidr\"),\n    print_column(name = \"Age\"",
        )
        .replace("foo", "cidr")
        .replace("max_length = 64", "max_length = 43");
    fs::write(project.path(POOL_TYPES), types).unwrap();
    project.works(&["generate"]);
    project
}

#[test]
fn new_version_copies_names_columns_and_validations() {
    let project = edited();
    project.works(&api("tsi", "v1", "IPPool"));
    let old = project.read(POOL_TYPES);
    let expected = old.replace("\"v1alpha1\"", "\"v1\"").replace("    storage_version,\n", "");
    assert_eq!(project.read("api/src/tsi/v1/ip_pool.rs"), expected);
    let crd = project.read("config/crd/bases/tsi.example.com_ippools.yaml");
    assert!(crd.contains("    shortNames:\n    - ipp\n"), "{crd}");
    assert_eq!(crd.matches("maxLength: 43\n").count(), 2, "{crd}");
    assert!(!project.path("controller/src/conversions.rs").exists(), "nobody asked for conversions");
    project.works(&["generate", "--check"]);
}

#[test]
fn version_from_another_has_conversions_and_a_test() {
    let project = edited();
    let from = |version| [&api("tsi", version, "IPPool")[..], &["--from", "v1alpha1"]].concat();
    project.works(&from("v1beta1"));
    for file in ["controller/src/ip_pool_conversion.rs", "controller/tests/ip_pool_conversion.rs"] {
        assert!(project.path(file).exists(), "{file}");
    }
    assert!(project.read(POOL_TYPES).contains("strategy = \"Webhook\""));
    assert!(project.read("controller/src/main.rs").contains("if flags.webhooks {\n"));
    assert!(project.read("PROJECT").contains("    conversion: true\n    spoke:\n    - v1beta1\n"));
    // The next version is added to the existing conversions.
    project.works(&from("v1"));
    assert!(project.read("PROJECT").contains("    spoke:\n    - v1beta1\n    - v1\n"));
    assert!(!project.read("api/src/tsi/v1/ip_pool.rs").contains("conversion("));
    let conversions = project.read("client/src/conversions/tsi/ip_pool.rs");
    assert!(conversions.contains("fn convert_v1alpha1_ip_pool_to_v1_ip_pool("), "{conversions}");
    let before = project.tree();
    assert!(project.works(&from("v1")).contains("nothing is new\n"));
    assert_eq!(project.tree(), before);
    project.works(&["generate", "--check"]);

    let said = project.fails(&[&api("tsi", "v2", "IPPool")[..], &["--from", "v7"]].concat());
    assert!(said.starts_with("2: ") && said.contains("IPPool has no version v7 in the project"), "{said}");
}

#[test]
fn first_edit_of_a_new_kind_is_not_a_breaking_change() {
    let project = Project::new();
    project.works(&POOL);
    let edited = project
        .read(POOL_TYPES)
        .replace("foo", "cidr")
        .replace("An example field: replace it with the fields of an IPPool.", "The addresses.");
    fs::write(project.path(POOL_TYPES), edited).unwrap();
    let out = project.run(&["generate"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && !said.contains("KS0603"), "{said}");
    let again = project.read(POOL_TYPES).replace("cidr", "range");
    fs::write(project.path(POOL_TYPES), again).unwrap();
    let said = String::from_utf8_lossy(&project.run(&["generate"]).stderr).into_owned();
    assert!(said.contains("KS0603"), "{said}");
}

#[test]
fn first_edit_of_a_copied_version_is_not_a_breaking_change() {
    let project = edited();
    let edit = |file: &str, from: &str, to: &str| {
        fs::write(project.path(file), project.read(file).replace(from, to)).unwrap();
        String::from_utf8_lossy(&project.run(&["generate"]).stderr).into_owned()
    };
    edit(POOL_TYPES, "An example field: replace it with the fields of an IPPool.", "The addresses.");
    project.works(&[&api("tsi", "v1", "IPPool")[..], &["--from", "v1alpha1"]].concat());
    let new = "api/src/tsi/v1/ip_pool.rs";
    assert_eq!(edit(new, "cidr", "range"), "");
    assert!(edit(new, "range", "network").contains("KS0603"), "the second edit");
    assert!(edit(POOL_TYPES, "cidr", "range").contains("KS0603"), "the stored version");
}

#[test]
fn next_step_names_the_files_of_the_versions() {
    let project = Project::new();
    let next = |arguments: &[&str]| {
        let said = project.works(arguments);
        said.lines().last().unwrap_or_default().to_owned()
    };
    let from = |version, old| [&api("tsi", version, "IPPool")[..], &["--from", old]].concat();
    assert_eq!(
        next(&POOL),
        "next: edit the type in api/src/tsi/v1alpha1/ip_pool.rs, then make generate test"
    );
    assert_eq!(
        next(&api("tsi", "v1beta1", "IPPool")),
        "next: edit the type in api/src/tsi/v1beta1/ip_pool.rs, then make generate test; `kubesmith create webhook \
         --group tsi --version v1alpha1 --kind IPPool --conversion` makes the conversions"
    );
    let conversions = "where the versions differ, the compiler names the methods that controller/src/ip_pool_conversion.rs lacks";
    assert_eq!(
        next(&from("v1", "v1alpha1")),
        format!("next: edit the type in api/src/tsi/v1/ip_pool.rs, then make generate test; {conversions}")
    );
    let webhook = ["create", "webhook", "--group=tsi", "--version=v1alpha1", "--kind=IPPool"];
    assert_eq!(
        next(&[&webhook[..], &["--defaulting", "--validation", "--conversion"]].concat()),
        format!(
            "next: write what the webhook does in controller/src/ip_pool_defaulter.rs; write what the webhook does in \
             controller/src/ip_pool_validator.rs; {conversions}; then make generate test"
        )
    );
}

/// As in kubebuilder, the command names the hub.
#[test]
fn hub_may_differ_from_the_stored_version() {
    let project = Project::new();
    project.works(&POOL);
    project.works(&api("tsi", "v1", "IPPool"));
    let conversion = |version| ["create", "webhook", "--group=tsi", version, "--kind=IPPool", "--conversion"];
    project.works(&conversion("--version=v1"));
    let types = project.read("api/src/tsi/v1/ip_pool.rs");
    assert!(types.contains("    hub,\n") && types.contains("strategy = \"Webhook\""), "{types}");
    assert!(!types.contains("storage_version"), "{types}");
    let conversions = project.read("client/src/conversions/tsi/ip_pool.rs");
    assert!(conversions.contains("all of them to and from `v1`, their hub"), "{conversions}");
    assert!(conversions.contains("fn convert_v1alpha1_ip_pool_to_v1_ip_pool("), "{conversions}");
    let before = project.tree();
    assert!(project.works(&conversion("--version=v1")).contains("nothing is new\n"));
    assert_eq!(project.tree(), before);
    let said = project.fails(&conversion("--version=v1alpha1"));
    assert!(said.starts_with("2: ") && said.contains("to and from v1, which says `hub`"), "{said}");
    project.works(&["generate", "--check"]);
}

#[test]
fn versions_of_a_kind_are_converted() {
    let project = Project::new();
    project.works(&POOL);
    let conversion = |version| ["create", "webhook", "--group=tsi", version, "--kind=IPPool", "--conversion"];
    let said = project.fails(&conversion("--version=v1alpha1"));
    assert!(said.starts_with("2: ") && said.contains("IPPool has no version but v1alpha1"), "{said}");
    // Scope and plural are those of the existing version.
    project.works(&api("tsi", "v1", "IPPool"));
    let crd = project.read("config/crd/bases/tsi.example.com_ippools.yaml");
    assert!(crd.contains("name: v1\n") && crd.contains("name: v1alpha1\n"), "{crd}");
    project.works(&conversion("--version=v1alpha1"));
    let crd = project.read("config/crd/bases/tsi.example.com_ippools.yaml");
    assert!(crd.contains("cert-manager.io/inject-ca-from: pools-system/pools-serving-cert\n"), "{crd}");
    assert!(crd.contains("name: pools-webhook-service\n") && crd.contains("strategy: Webhook\n"), "{crd}");
    let installed = project.read("config/default/kustomization.yaml");
    assert!(installed.contains("../webhook") && installed.contains("../certmanager"), "{installed}");
    assert!(project.read("config/manager/manager.yaml").contains("secretName: pools-webhook-server-cert\n"));
    assert!(project.read("PROJECT").contains("    conversion: true\n    spoke:\n    - v1\n"));
    let before = project.tree();
    let said = project.works(&conversion("--version=v1alpha1"));
    assert!(said.contains("nothing is new\n"), "{said}");
    assert_eq!(project.tree(), before);
    let said = project.fails(&conversion("--version=v1"));
    assert!(said.starts_with("2: ") && said.contains("conversions already, to and from v1alpha1"), "{said}");
    project.works(&["generate", "--check"]);

    // A type without its marker does not change.
    project.works(&api("shop", "v1", "Order"));
    project.works(&api("shop", "v2", "Order"));
    let types = "api/src/shop/v1/order.rs";
    fs::write(project.path(types), project.read(types).replace("// +kubesmith:scaffold:resource", ""))
        .unwrap();
    let before = project.tree();
    let said = project.fails(&[&ORDER[..], &["--conversion"]].concat());
    assert!(
        said.starts_with("1: error: api/src/shop/v1/order.rs has no line `+kubesmith:scaffold:resource`"),
        "{said}"
    );
    assert!(said.contains("service_name = \"pools-webhook-service\""), "{said}");
    assert_eq!(project.tree(), before);
}
