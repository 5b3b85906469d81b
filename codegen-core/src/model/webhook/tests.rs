//! Tests of accepted and refused attributes of webhooks.

use super::{WebhookAttrs, WebhookConfigurationAttrs};
use crate::diag::Diagnostics;
use crate::grammar::{Family, ItemAttributes, Place, parse_attributes};

const RIGHT: &str = r#"mutating = true, failure_policy = "Fail", side_effects = "None", groups = "apps",
    resources = "deployments", verbs = "create", versions = "v1", name = "a.example.com", path = "/a",
    admission_review_versions = "v1""#;

fn read(keys: &str) -> (Option<WebhookAttrs>, Vec<String>) {
    let item: syn::ItemFn = syn::parse_str(&format!("#[webhook({keys})] fn f() {{}}")).unwrap();
    let mut diagnostics = Diagnostics::new();
    let parsed =
        parse_attributes(Family::Webhook, &ItemAttributes::new(&item.attrs), Place::Item, &mut diagnostics);
    let attrs = WebhookAttrs::from_parsed(&parsed, &mut diagnostics);
    (attrs, diagnostics.into_vec().iter().map(|d| d.to_text()).collect())
}

#[test]
fn enum_values_are_matched_in_any_case() {
    let keys = RIGHT.replace("\"Fail\"", "\"ignore\"").replace("\"None\"", "\"noneondryrun\"");
    let (attrs, errors) =
        read(&format!("{keys}, match_policy = \"EXACT\", reinvocation_policy = \"ifNeeded\""));
    assert_eq!(errors, [""; 0]);
    let attrs = attrs.unwrap();
    let words =
        [Some(attrs.failure_policy), attrs.side_effects, attrs.match_policy, attrs.reinvocation_policy];
    assert_eq!(words.map(|word| word.unwrap().value), ["Ignore", "NoneOnDryRun", "Exact", "IfNeeded"]);
}

#[test]
fn webhook_that_a_server_refuses_is_an_error() {
    assert_eq!(read(RIGHT).1, [""; 0]);
    for (from, to, code) in [
        ("side_effects = \"None\",", "", "KS0009"),
        ("\"None\"", "\"Some\"", "KS0802"),
        ("\"None\"", "\"Nothing\"", "KS0007"),
        ("path = \"/a\",", "", "KS0009"),
        ("path = \"/a\"", "path = \"/a\", url = \"https://a.b/c\"", "KS0010"),
        ("path = \"/a\"", "url = \"https://a.b/c\", service_name = \"a\"", "KS0010"),
        ("path = \"/a\"", "url = \"http://a.b/c\"", "KS0802"),
        ("path = \"/a\"", "url = \"https://a@b/c\"", "KS0802"),
        ("path = \"/a\"", "url = \"https://a.b/c?d\"", "KS0802"),
        ("path = \"/a\"", "url = \"https://\"", "KS0802"),
        ("path = \"/a\"", "path = \"a\"", "KS0802"),
        ("path = \"/a\"", "path = \"/a//b\"", "KS0802"),
        ("path = \"/a\"", "path = \"/A\"", "KS0802"),
        ("path = \"/a\"", "path = \"/a\", timeout_seconds = 31", "KS0008"),
        ("path = \"/a\"", "path = \"/a\", timeout_seconds = 0", "KS0008"),
        ("path = \"/a\"", "path = \"/a\", service_port = 65536", "KS0008"),
        ("\"a.example.com\"", "\"example.com\"", "KS0802"),
        ("\"create\"", "\"creat\"", "KS0007"),
        ("\"create\"", "\"*;create\"", "KS0802"),
        ("\"apps\"", "\"*;apps\"", "KS0802"),
        ("\"deployments\"", "\"*;deployments\"", "KS0802"),
        ("\"deployments\"", "\"*/*;deployments\"", "KS0802"),
        ("\"deployments\"", "\"pods/*;pods/log\"", "KS0802"),
        ("\"deployments\"", "\"*/log;pods/log\"", "KS0802"),
        ("\"deployments\"", "\"\"", "KS0005"),
        ("admission_review_versions = \"v1\"", "admission_review_versions = \"v2\"", "KS0802"),
        ("admission_review_versions = \"v1\"", "admission_review_versions = \"v1;v1\"", "KS0802"),
        ("path = \"/a\"", "path = \"/a\", webhook_versions = \"v1beta1\"", "KS0802"),
        ("mutating = true", "mutating = false, reinvocation_policy = \"Never\"", "KS0010"),
        ("path = \"/a\"", "path = \"/a\", patch = \"nothing\"", "KS0004"),
        ("path = \"/a\"", "path = \"/a\", patch = [1]", "KS0004"),
        ("mutating = true", "mutating = 1", "KS0004"),
    ] {
        let keys = RIGHT.replacen(from, to, 1);
        let (_, errors) = read(&keys);
        assert_eq!(errors.len(), 1, "{to}: {errors:?}");
        assert!(errors[0].starts_with(code), "{to}: {errors:?}");
    }
}

#[test]
fn webhook_that_a_server_accepts_has_no_error() {
    for (from, to) in [
        ("\"deployments\"", "\"*;*/status\""),
        ("\"deployments\"", "\"*/*\""),
        ("\"apps\"", "\"\""),
        ("path = \"/a\"", "path = \"/\""),
        ("path = \"/a\"", "url = \"https://hooks.example.com:9443/a/b\""),
        ("side_effects = \"None\",", "patch = {\"sideEffects\": \"None\"},"),
        ("path = \"/a\"", r#"path = "/a", patch = "{\"timeoutSeconds\": 7}""#),
        ("\"create\"", "\"CREATE;Update\""),
    ] {
        let keys = RIGHT.replacen(from, to, 1);
        assert_eq!(read(&keys).1, [""; 0], "{to}");
    }
}

#[test]
fn webhook_configuration_requires_kind_and_valid_name() {
    let read = |keys: &str| {
        let item: syn::ItemFn =
            syn::parse_str(&format!("#[webhook_configuration({keys})] fn f() {{}}")).unwrap();
        let mut diagnostics = Diagnostics::new();
        let parsed = parse_attributes(
            Family::WebhookConfiguration,
            &ItemAttributes::new(&item.attrs),
            Place::Item,
            &mut diagnostics,
        );
        let attrs = WebhookConfigurationAttrs::from_parsed(&parsed, &mut diagnostics);
        (attrs, diagnostics.into_vec().iter().map(|d| d.to_text()).collect::<Vec<_>>())
    };
    let (attrs, errors) = read("mutating = false, name = \"fleet-validators\"");
    assert_eq!(errors, [""; 0]);
    assert!(!attrs.unwrap().mutating);
    assert!(read("mutating = true").1.is_empty());
    assert!(read("mutating = false, name = \"Fleet\"").1[0].starts_with("KS0802"));
    assert!(read("name = \"a\"").1[0].starts_with("KS0009"));
}
