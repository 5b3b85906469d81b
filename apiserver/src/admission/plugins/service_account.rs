//! `ServiceAccount`: a pod runs as an existing account, and its containers get a token of the account.
//!
//! The plugin is off unless the controllers run, as in envtest: nobody else creates the accounts of namespaces.
//! Source: plugin/pkg/admission/serviceaccount/admission.go.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Attributes, Operation};
use super::object_of;
use crate::features::parse_bool;
use crate::meta::{self, items};
use crate::status::{ApiError, ApiResult};
use crate::store::Object;

const DEFAULT: &str = "default";
const MIRROR: &str = "kubernetes.io/config.mirror";
const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";
/// The prefix of the volume with the token.
const VOLUME: &str = "kube-api-access-";
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The limit for the account `default` of a new namespace. kube-apiserver reads it up to ten times, with 100 to 200 ms in
/// between.
const PATIENCE: Duration = Duration::from_millis(1800);

/// Waits until the controllers have created the account `default`, if a new pod needs it.
///
/// # Cancel safety
/// Dropping the future loses nothing.
pub(super) async fn wait(attributes: &Attributes<'_>, object: Option<&Value>) {
    let (server, namespace) = (&attributes.call.server, &attributes.call.path.namespace);
    let Some(pod) = new_pod(attributes, object) else { return };
    let is_active = |namespace: Arc<Object>| !meta::is_terminating(&namespace.value);
    // The controllers are one task, which creates the account as well. They try again.
    let waits =
        !attributes.call.is_of_controller && !is_mirror(pod) && matches!(account_of(pod), "" | DEFAULT);
    if !waits || !server.store.get("namespaces", namespace).is_some_and(is_active) {
        return;
    }
    let mut accounts = server.store.watch("serviceaccounts", server.store.current());
    let appears = async {
        while account(attributes, DEFAULT).is_none() && accounts.wait().await {
            if accounts.take().is_err() {
                return;
            }
        }
    };
    // The plugin reports a missing account.
    let _ = tokio::time::timeout(PATIENCE, appears).await;
}

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let server = &attributes.call.server;
    let pod = object_of(attributes, object, "pods", &[Operation::Create]);
    let Some(pod) = pod.filter(|_| is_on(attributes)) else { return Ok(()) };
    if !is_mirror(pod) {
        if account_of(pod).is_empty() {
            for field in ["serviceAccountName", "serviceAccount"] {
                pod["spec"][field] = DEFAULT.into();
            }
        }
        let account = required(attributes, pod)?;
        let automount = |of: &Value| of["automountServiceAccountToken"].as_bool();
        if automount(&pod["spec"]).or_else(|| automount(&account.value)).unwrap_or(true) {
            mount_token(&mut pod["spec"], || server.ids.suffix());
        }
        let secrets: Vec<Value> =
            names(&account.value["imagePullSecrets"]).map(|name| json!({"name": name})).collect();
        if items(&pod["spec"]["imagePullSecrets"]).next().is_none() && !secrets.is_empty() {
            pod["spec"]["imagePullSecrets"] = secrets.into();
        }
    }
    validate(attributes, Some(pod))
}

pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    let forbidden =
        |text: String| ApiError::forbidden(call.def.subject(&attributes.shown_name(object)), &text);
    if let Some(pod) = new_pod(attributes, object) {
        if is_mirror(pod) {
            return check_mirror(&pod["spec"]).map_err(|text| forbidden(text.to_owned()));
        }
        let account = required(attributes, pod)?;
        let checked =
            if enforces(&account.value) { check_secrets(&account.value, &pod["spec"]) } else { Ok(()) };
        return checked.map_err(forbidden);
    }
    let is_debugged = is_on(attributes)
        && call.def.collection == "pods"
        && call.path.subresource == "ephemeralcontainers"
        && attributes.operation == Operation::Update;
    let Some(pod) = object.filter(|_| is_debugged) else { return Ok(()) };
    let account = required(attributes, pod)?;
    if !enforces(&account.value) {
        return Ok(());
    }
    let mountable: Vec<&str> = names(&account.value["secrets"]).collect();
    let containers = &pod["spec"]["ephemeralContainers"];
    // Upstream does not make a refusal of this error.
    check_containers(&account.value, &mountable, containers, "ephemeral container").map_err(ApiError::unknown)
}

/// Reports whether the controllers run. A bare server has no namespaces, so they create no accounts there.
fn is_on(attributes: &Attributes<'_>) -> bool {
    let server = &attributes.call.server;
    server.options().controllers && !server.is_bare()
}

/// Returns the pod that a request creates, if the plugin is on.
fn new_pod<'o>(attributes: &Attributes<'_>, object: Option<&'o Value>) -> Option<&'o Value> {
    let call = attributes.call;
    object.filter(|_| {
        is_on(attributes)
            && call.def.collection == "pods"
            && call.path.subresource.is_empty()
            && attributes.operation == Operation::Create
    })
}

fn is_mirror(pod: &Value) -> bool {
    pod["metadata"]["annotations"].get(MIRROR).is_some()
}

fn account_of(pod: &Value) -> &str {
    meta::member(&pod["spec"], "serviceAccountName")
}

fn account(attributes: &Attributes<'_>, name: &str) -> Option<Arc<Object>> {
    let key = format!("{}/{name}", attributes.call.path.namespace);
    attributes.call.server.store.get("serviceaccounts", &key)
}

/// Returns the account of a pod.
///
/// # Errors
/// Returns `Forbidden` if the pod has no account, or its account does not exist.
fn required(attributes: &Attributes<'_>, pod: &Value) -> ApiResult<Arc<Object>> {
    let (namespace, name) = (&attributes.call.path.namespace, account_of(pod));
    let text = match account(attributes, name) {
        Some(account) => return Ok(account),
        None if name.is_empty() => {
            format!("no service account specified for pod {namespace}/{}", meta::name(pod))
        }
        None => format!(
            "error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"
        ),
    };
    Err(ApiError::forbidden(attributes.call.def.subject(&attributes.shown_name(Some(pod))), &text))
}

/// Mounts a volume with a token of the account in all containers that have no mount of that path
/// (`mountServiceAccountToken`).
fn mount_token(spec: &mut Value, suffix: impl FnOnce() -> String) {
    let own = items(&spec["volumes"]).map(|volume| meta::member(volume, "name"));
    let own = own.into_iter().find(|name| name.starts_with(VOLUME)).map(str::to_owned);
    let lacks = |container: &Value| {
        items(&container["volumeMounts"]).all(|mount| meta::member(mount, "mountPath") != MOUNT_PATH)
    };
    let lists = ["initContainers", "containers"];
    if !lists.iter().any(|list| items(&spec[*list]).any(lacks)) {
        return;
    }
    let is_new = own.is_none();
    let name = own.unwrap_or_else(|| format!("{VOLUME}{}", suffix()));
    for list in lists {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for container in containers.filter(|container| lacks(container)) {
            push(container, "volumeMounts", json!({"name": name, "readOnly": true, "mountPath": MOUNT_PATH}));
        }
    }
    if is_new {
        push(spec, "volumes", json!({"name": name, "projected": token_source()}));
    }
}

/// The volume source `TokenVolumeSource`.
fn token_source() -> Value {
    let namespace = json!({"apiVersion": "v1", "fieldPath": "metadata.namespace"});
    json!({
        "defaultMode": 0o644,
        "sources": [
            // `WarnOnlyBoundTokenExpirationSeconds` of pkg/serviceaccount/claims.go.
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
    })
}

/// Adds an item to a list, which may be missing.
fn push(object: &mut Value, list: &str, item: Value) {
    match object[list].as_array_mut() {
        Some(items) => items.push(item),
        None => object[list] = json!([item]),
    }
}

/// Refuses a mirror pod that names an account, a secret or a token.
fn check_mirror(spec: &Value) -> Result<(), &'static str> {
    if !meta::member(spec, "serviceAccountName").is_empty() {
        return Err("a mirror pod may not reference service accounts");
    }
    if has_secrets(spec) {
        return Err("a mirror pod may not reference secrets");
    }
    let mut sources = items(&spec["volumes"]).flat_map(|volume| items(&volume["projected"]["sources"]));
    if sources.any(|source| !source["serviceAccountToken"].is_null()) {
        return Err("a mirror pod may not use ServiceAccountToken volume projections");
    }
    Ok(())
}

/// Reports whether a pod names a secret (`VisitPodSecretNames` of pkg/api/pod/util.go).
fn has_secrets(spec: &Value) -> bool {
    const REFERENCES: [(&str, &str); 10] = [
        ("azureFile", "/secretName"),
        ("cephfs", "/secretRef/name"),
        ("cinder", "/secretRef/name"),
        ("flexVolume", "/secretRef/name"),
        ("rbd", "/secretRef/name"),
        ("secret", "/secretName"),
        ("scaleIO", "/secretRef/name"),
        ("iscsi", "/secretRef/name"),
        ("storageos", "/secretRef/name"),
        ("csi", "/nodePublishSecretRef/name"),
    ];
    let is_named = |name: Option<&Value>| name.and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    let containers = ["initContainers", "containers", "ephemeralContainers"];
    let mut containers = containers.into_iter().flat_map(|list| items(&spec[list]));
    names(&spec["imagePullSecrets"]).any(|name| !name.is_empty())
        || containers.any(|container| references(container).any(|(_, name)| !name.is_empty()))
        || items(&spec["volumes"]).any(|volume| {
            REFERENCES.iter().any(|(kind, name)| is_named(volume[*kind].pointer(name)))
                || items(&volume["projected"]["sources"]).any(|source| is_named(source["secret"].get("name")))
        })
}

/// Reports whether an account restricts its pods to its own secrets.
fn enforces(account: &Value) -> bool {
    account["metadata"]["annotations"][ENFORCE].as_str().and_then(parse_bool) == Some(true)
}

/// Refuses secrets that the account does not list (`limitSecretReferences`).
fn check_secrets(account: &Value, spec: &Value) -> Result<(), String> {
    let mountable: Vec<&str> = names(&account["secrets"]).collect();
    let name = meta::name(account);
    for secret in items(&spec["volumes"]).map(|volume| &volume["secret"]).filter(|secret| !secret.is_null()) {
        let secret = meta::member(secret, "secretName");
        if !mountable.contains(&secret) {
            return Err(format!("volume with {}", not_allowed(secret, name)));
        }
    }
    check_containers(account, &mountable, &spec["initContainers"], "init container")?;
    check_containers(account, &mountable, &spec["containers"], "container")?;
    let pullable: Vec<&str> = names(&account["imagePullSecrets"]).collect();
    match names(&spec["imagePullSecrets"]).enumerate().find(|(_, secret)| !pullable.contains(secret)) {
        Some((i, secret)) => Err(format!(
            "imagePullSecrets[{i}].name=\"{secret}\" is not allowed because service account {name} does not reference that \
             imagePullSecret"
        )),
        None => Ok(()),
    }
}

fn check_containers(account: &Value, mountable: &[&str], list: &Value, what: &str) -> Result<(), String> {
    for container in items(list) {
        if let Some((place, secret)) = references(container).find(|(_, name)| !mountable.contains(name)) {
            let text = not_allowed(secret, meta::name(account));
            return Err(format!(
                "{what} {} with {place} referencing {text}",
                meta::member(container, "name")
            ));
        }
    }
    Ok(())
}

/// Lists the secrets in the environment of a container, with their places.
fn references(container: &Value) -> impl Iterator<Item = (String, &str)> {
    let keys = items(&container["env"]).filter_map(|env| {
        let reference = &env["valueFrom"]["secretKeyRef"];
        let place = || format!("envVar {}", meta::member(env, "name"));
        (!reference.is_null()).then(|| (place(), meta::member(reference, "name")))
    });
    let all = items(&container["envFrom"]).map(|from| &from["secretRef"]);
    let all = all.filter(|reference| !reference.is_null());
    keys.chain(all.map(|reference| ("envFrom".to_owned(), meta::member(reference, "name"))))
}

fn not_allowed(secret: &str, account: &str) -> String {
    format!(
        "secret.secretName=\"{secret}\" is not allowed because service account {account} does not reference that secret"
    )
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    items(list).map(|item| meta::member(item, "name"))
}
