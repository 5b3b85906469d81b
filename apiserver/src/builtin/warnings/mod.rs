//! Warnings about objects that the server accepts: `WarningsOnCreate` and `WarningsOnUpdate` of Kubernetes 1.36
//! (`pkg/registry/*/*/strategy.go`).

mod labels;
mod network;
mod paths;
mod pods;
mod storage;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apiextensions::structural::Schema;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::BuiltIn;
use super::check::range_warnings;
use crate::meta::{self, items};
use crate::names::{NameRule, quoted};

/// Returns the warnings about a new object, or about one that replaces `old` through this subresource.
pub(crate) fn of(kind: &BuiltIn, object: &Value, old: Option<&Value>, subresource: &str) -> Vec<String> {
    match (kind.kind, subresource) {
        (_, "") => of_object(kind, object, old),
        ("Pod", "status") => pods::of_status(&object["status"]),
        ("Ingress" | "Service", "status") => network::balancer_addresses(&object["status"]),
        _ => Vec::new(),
    }
}

fn of_object(kind: &BuiltIn, object: &Value, old: Option<&Value>) -> Vec<String> {
    let spec = &object["spec"];
    match kind.kind {
        "Service" => network::service(object),
        "Endpoints" => network::endpoints(object),
        "EndpointSlice" => network::endpoint_slice(object, old),
        "Ingress" => network::ingress(object, old),
        "NetworkPolicy" => network::network_policy(spec),
        "Secret" => certificate(object).into_iter().collect(),
        "ServiceAccount" => mountable_secrets(object, old),
        "PersistentVolume" => storage::volume(object),
        "PersistentVolumeClaim" => storage::claim(object),
        "StorageClass" => storage::class(object),
        "CSIDriver" => storage::tokens_in_attributes(spec, old),
        "CSIStorageCapacity" => labels::of_selector(&object["nodeTopology"], "nodeTopology"),
        "RuntimeClass" => {
            labels::of_map(&object["scheduling"]["nodeSelector"], |_| "scheduling.nodeSelector".to_owned())
        }
        "CustomResourceDefinition" => formats(object, old),
        "Node" => node(spec),
        "ResourceQuota" if old.is_none() => requests_above_limits(&spec["hard"]),
        "ResourceSlice" => driver(spec),
        _ if kind.group == "admissionregistration.k8s.io" => reserved_name(meta::name(object)),
        // A pod's update cannot change fields with warnings.
        "Pod" if old.is_some() => Vec::new(),
        kind => workload(kind, object, old),
    }
}

/// The place of the pod's template in kinds that have one; the place in a pod is empty.
fn template_place(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some(""),
        "PodTemplate" => Some("template"),
        "CronJob" => Some("spec.jobTemplate.spec.template"),
        "DaemonSet" | "Deployment" | "Job" | "ReplicaSet" | "ReplicationController" | "StatefulSet" => {
            Some("spec.template")
        }
        _ => None,
    }
}

fn workload(kind: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
    let Some(place) = template_place(kind) else { return Vec::new() };
    let mut warnings = Vec::new();
    if old.is_none() {
        warnings.extend(name(kind, meta::name(object)));
    }
    if old.is_none_or(|old| old["metadata"]["generation"] != object["metadata"]["generation"]) {
        // The strategy of replication controllers passes the old template as the new one.
        let seen = old.filter(|_| kind == "ReplicationController").unwrap_or(object);
        let parts = place.split('.').filter(|part| !part.is_empty());
        let template = parts.fold(seen, |value, member| &value[member]);
        match kind {
            "Job" => warnings.extend(indexes(&object["spec"], "spec")),
            "CronJob" => {
                warnings.extend(indexes(&object["spec"]["jobTemplate"]["spec"], "spec.jobTemplate.spec"));
            }
            _ => {}
        }
        // An update of metadata keeps the template of a daemon set, and with it its generation.
        if kind != "DaemonSet" || old.is_none_or(|old| old["spec"]["template"] != object["spec"]["template"])
        {
            warnings.extend(pods::of(template, place));
        }
    }
    match kind {
        "StatefulSet" => stateful_set(&object["spec"], old.is_some(), &mut warnings),
        "CronJob"
            if old.is_some()
                && object["spec"]["schedule"].as_str().is_some_and(|text| text.contains("TZ")) =>
        {
            warnings.push(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                    .to_owned(),
            );
        }
        _ => {}
    }
    warnings
}

fn stateful_set(spec: &Value, is_update: bool, warnings: &mut Vec<String>) {
    // The path lacks the member `spec` or has it in Go's form in Kubernetes, too.
    let member = if is_update { ".Spec" } else { "" };
    for (at, template) in items(&spec["volumeClaimTemplates"]).enumerate() {
        warnings.extend(storage::claim_spec(
            &template["spec"],
            &format!("spec.volumeClaimTemplates[{at}]{member}"),
        ));
    }
    if spec["revisionHistoryLimit"].as_i64().is_some_and(|limit| limit < 0) {
        let text = "a negative value retains all historical revisions; a value >= 0 is recommended";
        warnings.push(format!("spec.revisionHistoryLimit: {text}"));
    }
}

/// `WarningsForJobSpec`, of an indexed job.
fn indexes(spec: &Value, place: &str) -> Option<String> {
    let exceeds = |field: &str, limit: i64| spec[field].as_i64().is_some_and(|number| number > limit);
    let is_large = exceeds("completions", 100_000) && exceeds("parallelism", 10_000);
    (spec["completionMode"] == "Indexed" && is_large).then(|| {
        format!(
            "{place}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    })
}

/// `nodeWarnings`
fn node(spec: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if !spec["configSource"].is_null() {
        warnings.push("spec.configSource: the feature is removed".to_owned());
    }
    if spec["externalID"].as_str().is_some_and(|id| !id.is_empty()) {
        warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
    }
    for (i, range) in texts(&spec["podCIDRs"]) {
        warnings.extend(range_warnings(&format!("spec.podCIDRs[{i}]"), range));
    }
    warnings
}

/// `warnIfHasEnforceMountableSecretsAnnotation`
fn mountable_secrets(account: &Value, old: Option<&Value>) -> Vec<String> {
    const ANNOTATION: &str = "kubernetes.io/enforce-mountable-secrets";
    let has = |account: &Value| account["metadata"]["annotations"].get(ANNOTATION).is_some();
    let is_new = has(account) && !old.is_some_and(has);
    let text = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
    is_new.then(|| format!("metadata.annotations[{ANNOTATION}]: {text}")).into_iter().collect()
}

/// `WarningsOnCreate` of pkg/registry/core/resourcequota.
fn requests_above_limits(hard: &Value) -> Vec<String> {
    let amount = |name: &str| {
        hard[name].as_str().and_then(|text| Some((text.to_owned(), Quantity::parse(text).ok()?)))
    };
    let of = |resource: &str| {
        let has_short_name = ["cpu", "memory"].contains(&resource);
        let names = [format!("requests.{resource}"), resource.to_owned()];
        let names = names.into_iter().take(if has_short_name { 2 } else { 1 });
        let (request, (shown, asked)) =
            names.filter_map(|name| Some((name.clone(), amount(&name)?))).next()?;
        let limit = format!("limits.{resource}");
        let (most, bound) = amount(&limit)?;
        (asked.nanos() > bound.nanos())
            .then(|| format!("ResourceQuota {request} ({shown}) should be less than {limit} ({most})"))
    };
    ["cpu", "memory", "storage", "ephemeral-storage"].into_iter().filter_map(of).collect()
}

/// The warnings of pkg/registry/resource/resourceslice.
fn driver(spec: &Value) -> Vec<String> {
    let name = spec["driver"].as_str().unwrap_or_default();
    let text = format!(
        "spec.driver: driver names should be lowercase; {} contains uppercase characters",
        quoted(name)
    );
    (name.to_lowercase() != name).then_some(text).into_iter().collect()
}

/// `WarningsForStaticSuffix`
fn reserved_name(name: &str) -> Vec<String> {
    const SUFFIX: &str = ".static.k8s.io";
    let text = format!(
        "metadata.name: names ending with \"{SUFFIX}\" are reserved for static manifest-based configurations and cannot be \
         managed via the API"
    );
    name.ends_with(SUFFIX).then_some(text).into_iter().collect()
}

/// Warns about names that are no DNS label, as hostnames of pods begin with them.
fn name(kind: &str, name: &str) -> Option<String> {
    let used = match kind {
        "Pod" => "the Pod's hostname",
        "Deployment" | "ReplicaSet" | "ReplicationController" | "Job" | "CronJob" => {
            "Pod names and hostnames"
        }
        _ => return None,
    };
    let faults = NameRule::Label.check(name);
    (!faults.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            faults.join(" ")
        )
    })
}

/// Warns about a TLS secret without certificate or key (`WarningsForSecret`, which parses them).
fn certificate(secret: &Value) -> Option<String> {
    let holds_pem = |name: &str| {
        let bytes =
            secret["data"][name].as_str().and_then(|text| BASE64.decode(text).ok()).unwrap_or_default();
        bytes.windows(PEM.len()).any(|window| window == PEM)
    };
    let missing =
        [("tls.crt", "certificate"), ("tls.key", "key")].into_iter().find(|(name, _)| !holds_pem(name));
    let (_, what) = missing.filter(|_| secret["type"] == "kubernetes.io/tls")?;
    Some(format!("tls: failed to find any PEM data in {what} input"))
}

/// The beginning of a block of PEM.
const PEM: &[u8] = b"-----BEGIN ";

/// Warns about formats of a definition that the server does not check, unless the old one had them.
fn formats(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let of = |definition: &Value| -> Vec<String> {
        let versions = items(&definition["spec"]["versions"]);
        let schemas = versions.map(|version| &version["schema"]["openAPIV3Schema"]);
        schemas.flat_map(|schema| Schema::unrecognized_formats(schema).unwrap_or_default()).collect()
    };
    let before = old.map(of).unwrap_or_default();
    let new = of(definition).into_iter().filter(|format| !before.contains(format));
    new.map(|format| format!("unrecognized format {}", quoted(&format))).collect()
}

/// Warns about a fractional number of bytes.
fn fractional(amount: &Value, path: &str) -> Option<String> {
    const MILLI: i128 = 1_000_000;
    let text = amount.as_str()?;
    let milli = Quantity::parse(text).ok()?.nanos() / MILLI;
    (milli % 1000 != 0)
        .then(|| format!("{path}: fractional byte value \"{text}\" is invalid, must be an integer"))
}

/// The texts of a list with their places in it.
fn texts(list: &Value) -> impl Iterator<Item = (usize, &str)> {
    items(list).map(|text| text.as_str().unwrap_or_default()).enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    pub(super) fn of_kind(name: &str, object: &Value) -> Vec<String> {
        update_of(name, object, None)
    }

    fn update_of(name: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
        of(super::super::all().find(|kind| kind.kind == name).unwrap(), object, old, "")
    }

    #[test]
    fn null_selector_of_a_constraint_gets_a_warning() {
        let constraints = json!([{"labelSelector": {}}, {"topologyKey": "zone"}]);
        let named = |spec: Value| json!({"metadata": {"name": "n"}, "spec": spec});
        let pod = named(json!({"topologySpreadConstraints": constraints}));
        let text =
            "topologySpreadConstraints[1].labelSelector: a null labelSelector results in matching no pod";
        assert_eq!(of_kind("Pod", &pod), [format!("spec.{text}")]);
        let deployment = named(json!({"template": pod}));
        assert_eq!(of_kind("Deployment", &deployment), [format!("spec.template.spec.{text}")]);
        assert!(of_kind("ConfigMap", &pod).is_empty());
    }

    #[test]
    fn unrecognized_format_gets_a_warning() {
        let definition = |format: &str| {
            let schema = json!({"type": "object", "properties": {"a": {"type": "string", "format": format}}});
            json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}})
        };
        assert_eq!(of_kind("CustomResourceDefinition", &definition("foo")), ["unrecognized format \"foo\""]);
        assert!(of_kind("CustomResourceDefinition", &definition("date-time")).is_empty());
    }

    #[test]
    fn tls_secret_without_certificate_gets_a_warning() {
        let secret = |kind: &str| json!({"type": kind, "data": {"tls.crt": "YQ==", "tls.key": "YQ=="}});
        let text = "tls: failed to find any PEM data in certificate input";
        assert_eq!(of_kind("Secret", &secret("kubernetes.io/tls")), [text]);
        assert!(of_kind("Secret", &secret("Opaque")).is_empty());
    }

    #[test]
    fn fields_without_effect_of_cluster_kinds_get_a_warning() {
        let node = json!({"spec": {"externalID": "x", "podCIDRs": ["2001:DB8::/64"]}});
        assert_eq!(
            of_kind("Node", &node),
            [
                "spec.externalID: this field is deprecated, and is unused by Kubernetes",
                "spec.podCIDRs[0]: IPv6 CIDR value \"2001:DB8::/64\" should be in RFC 5952 canonical format (\"2001:db8::/64\")"
            ]
        );
        let hard = json!({"requests.cpu": "3", "cpu": "1", "limits.cpu": "2", "memory": "1Gi", "limits.memory": "2Gi"});
        let quota = json!({"spec": {"hard": hard}});
        assert_eq!(
            of_kind("ResourceQuota", &quota),
            ["ResourceQuota requests.cpu (3) should be less than limits.cpu (2)"]
        );
        let slice = json!({"spec": {"driver": "Gpu.example"}});
        assert_eq!(
            of_kind("ResourceSlice", &slice),
            ["spec.driver: driver names should be lowercase; \"Gpu.example\" contains uppercase characters"]
        );
        let hooks = json!({"metadata": {"name": "a.static.k8s.io"}});
        assert!(
            of_kind("MutatingWebhookConfiguration", &hooks)[0]
                .starts_with("metadata.name: names ending with")
        );
    }

    #[test]
    fn annotation_of_a_service_account_gets_a_warning_when_it_is_new() {
        let account =
            json!({"metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}});
        assert_eq!(of_kind("ServiceAccount", &account).len(), 1);
        assert!(update_of("ServiceAccount", &account, Some(&account)).is_empty());
    }

    #[test]
    fn update_of_a_workload_gets_the_warnings_of_its_strategy() {
        let old = json!({"metadata": {"generation": 1}, "spec": {"revisionHistoryLimit": -1,
            "volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "1m"}}}}]}});
        assert_eq!(
            update_of("StatefulSet", &old, Some(&old)),
            [
                "spec.volumeClaimTemplates[0].Spec.resources.requests[storage]: fractional byte value \"1m\" is invalid, must be an \
                 integer",
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
            ]
        );
        let job = json!({"metadata": {"name": "j"}, "spec": {"completionMode": "Indexed", "completions": 100_001,
            "parallelism": 10_001}});
        assert!(of_kind("Job", &job)[0].starts_with("spec: In Indexed Jobs"));
        let cron = json!({"metadata": {"name": "j"}, "spec": {"schedule": "TZ=UTC * * * * *"}});
        assert!(
            update_of("CronJob", &cron, Some(&cron))[0]
                .starts_with("cannot use TZ or CRON_TZ in spec.spec.schedule")
        );
    }
}
