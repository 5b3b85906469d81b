//! Any text as manifests.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kubesmith_runtime::scheme::Scheme;
use kubesmith_runtime::serde_json::Value;

/// Words of manifests.
pub(crate) const WORDS: &[&str] = &[
    "---",
    "...",
    "apiVersion: v1",
    "kind: Pod",
    "kind: List",
    "items:",
    "&a",
    "*a",
    "<<: *a",
    "- ",
    "? ",
    "|",
    ">-",
    "null",
    "{\"kind\":",
    "!!binary",
    "%YAML 1.1",
];

/// Reads the text in every way, and returns whether it is valid.
///
/// # Panics
/// If a manifest that was read and written cannot be read again, or if an error names a place outside of the
/// text.
pub(crate) fn check(text: &str) -> bool {
    let mut scheme = Scheme::new();
    scheme
        .register::<Pod>("PodList")
        .register::<ConfigMap>("ConfigMapList")
        .register::<Deployment>("DeploymentList");
    let lines = text.lines().count().max(1);
    let strict = scheme.decoder().strict().decode_all(text);
    let lenient = scheme.decoder().unknown_as_dynamic().decode_all(text);
    for error in strict.iter().chain(&lenient).filter_map(|read| read.as_ref().err()) {
        assert!((1..=lines + 1).contains(&error.line), "{error} of {lines}:\n{text}");
    }
    assert!(
        strict.iter().filter(|read| read.is_ok()).count()
            <= lenient.iter().filter(|read| read.is_ok()).count()
    );
    for object in lenient.iter().flatten().flat_map(|read| read.objects()) {
        let value = object.to_value().unwrap();
        for written in [scheme.encode_json(object).unwrap(), scheme.encode_yaml(object).unwrap()] {
            let again = scheme.decoder().unknown_as_dynamic().decode(&written);
            let again = again.map(|again| numbers_alike(again.to_value().unwrap()));
            assert_eq!(again, Ok(numbers_alike(value.clone())), "{written}");
        }
    }
    strict.iter().all(Result::is_ok)
}

/// JSON does not distinguish 2.0 and 2, and YAML is written as in Go.
fn numbers_alike(mut value: Value) -> Value {
    match &mut value {
        Value::Number(number) if number.is_f64() => {
            value = number.as_f64().unwrap_or_default().to_string().into();
        }
        Value::Number(number) => value = number.to_string().into(),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = numbers_alike(item.take())),
        Value::Object(members) => {
            members.values_mut().for_each(|member| *member = numbers_alike(member.take()));
        }
        _ => {}
    }
    value
}
