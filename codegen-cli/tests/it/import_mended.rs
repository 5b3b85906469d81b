//! Definitions that an API server refuses and that are imported nevertheless, and names that are probably
//! mistakes.

use kubesmith::import::{self, Imported, Input};
use kubesmith_core::diag::{Code, Severity};

fn import(group: &str, flags: [bool; 2], properties: &str) -> Imported {
    let text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: carts.{group}}}\nspec:\n  \
         group: {group}\n  names: {{kind: Cart, plural: carts}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    \
         served: {}\n    storage: {}\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, \
         properties: {{{properties}}}}}}}}}}}\n",
        flags[0], flags[1],
    );
    import::import(vec![Input { name: "crds.yaml".to_string(), text }], "api")
}

fn warnings(imported: &Imported) -> Vec<Code> {
    assert!(
        imported.diagnostics.iter().all(|found| found.severity == Severity::Warning),
        "{:?}",
        imported.diagnostics
    );
    imported.diagnostics.iter().map(|found| found.code).collect()
}

#[test]
fn definition_without_served_or_stored_version_is_imported_with_a_warning() {
    for (flags, code) in [
        ([true, true], None),
        ([false, true], Some(Code::REFUSED_DEFINITION)),
        ([true, false], Some(Code::REFUSED_DEFINITION)),
    ] {
        let imported = import("example.com", flags, "a: {type: string}");
        assert_eq!(warnings(&imported), Vec::from_iter(code), "{flags:?}");
        assert!(imported.files["src/v1.rs"].contains("pub struct Cart "), "{flags:?}");
    }
}

#[test]
fn kind_of_a_protected_group_is_imported_as_unapproved() {
    let imported = import("example.k8s.io", [true, true], "a: {type: string}");
    assert_eq!(warnings(&imported), [Code::REFUSED_DEFINITION]);
    assert!(imported.files["src/v1.rs"].contains("api_approved = \"unapproved, experimental-only\""));
}

#[test]
fn name_that_yaml_reads_as_a_truth_value_is_explained() {
    let imported = import("example.com", [true, true], "n: {type: string}");
    assert_eq!(warnings(&imported), [Code::REPEATED_MEMBER]);
    assert!(warnings(&import("example.com", [true, true], "\"n\": {type: string}")).is_empty());
}

#[test]
fn types_of_items_have_singular_names() {
    let properties = [
        ("hostAliases", "HostAlias"),
        ("policies", "Policy"),
        ("addresses", "Address"),
        ("indices", "Index"),
        ("caches", "Cache"),
        ("leases", "Lease"),
        ("boxes", "Box"),
    ];
    for (field, name) in properties {
        let property =
            format!("{field}: {{type: array, items: {{type: object, properties: {{a: {{type: string}}}}}}}}");
        let imported = import("example.com", [true, true], &property);
        let text = &imported.files["src/v1.rs"];
        assert!(text.contains(&format!("{name} {{")), "{field}: {text}");
    }
}
