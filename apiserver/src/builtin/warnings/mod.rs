//! Warnings about objects that the server accepts: `WarningsOnCreate` and `WarningsOnUpdate` of Kubernetes 1.36
//! (`pkg/registry/*/*/strategy.go`).

mod pods;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apiextensions::structural::Schema;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::BuiltIn;
use crate::meta;
use crate::names::{NameRule, quoted};

/// Returns the warnings about a new object, or about one that replaces `old`.
pub(crate) fn of(kind: &BuiltIn, object: &Value, old: Option<&Value>) -> Vec<String> {
    let spec = &object["spec"];
    let path = match kind.kind {
        "Service" => return service(object),
        "Secret" => return certificate(object).into_iter().collect(),
        "PersistentVolumeClaim" => return claim(spec, "spec"),
        "CustomResourceDefinition" => return formats(object, old),
        "Node" => return node(spec),
        "CSIDriver" => return tokens_in_attributes(spec, old),
        // A pod's update cannot change fields with warnings.
        "Pod" if old.is_some() => return Vec::new(),
        "Pod" => "",
        "PodTemplate" => "template",
        "CronJob" => "spec.jobTemplate.spec.template",
        "DaemonSet" | "Deployment" | "Job" | "ReplicaSet" | "ReplicationController" | "StatefulSet" => {
            "spec.template"
        }
        _ => return Vec::new(),
    };
    if old.is_some_and(|old| old["metadata"]["generation"] == object["metadata"]["generation"]) {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if old.is_none() {
        warnings.extend(name(kind.kind, meta::name(object)));
    }
    let template =
        path.split('.').filter(|part| !part.is_empty()).fold(object, |value, member| &value[member]);
    warnings.extend(pods::of(template, path));
    if kind.kind == "StatefulSet" {
        for (at, template) in items(&spec["volumeClaimTemplates"]).enumerate() {
            // The path lacks the member `spec` in Kubernetes, too.
            warnings.extend(claim(&template["spec"], &format!("spec.volumeClaimTemplates[{at}]")));
        }
        if spec["revisionHistoryLimit"].as_i64().is_some_and(|limit| limit < 0) {
            let text = "a negative value retains all historical revisions; a value >= 0 is recommended";
            warnings.push(format!("spec.revisionHistoryLimit: {text}"));
        }
    }
    warnings
}

/// `nodeWarnings`
fn node(spec: &Value) -> Vec<String> {
    let text = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
    let is_set = spec["externalID"].as_str().is_some_and(|id| !id.is_empty());
    is_set.then(|| text.to_owned()).into_iter().collect()
}

/// The warnings of pkg/registry/storage/csidriver.
fn tokens_in_attributes(spec: &Value, old: Option<&Value>) -> Vec<String> {
    let (requests, is_chosen) = (&spec["tokenRequests"], !spec["serviceAccountTokenInSecrets"].is_null());
    let changes = old.is_none_or(|old| old["spec"]["tokenRequests"] != *requests);
    if is_chosen || !changes || items(requests).next().is_none() {
        return Vec::new();
    }
    vec!["spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible \
          logging of tokens in volume attributes"
        .to_owned()]
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

/// `GetWarningsForService`.
fn service(service: &Value) -> Vec<String> {
    let spec = &service["spec"];
    let set = |field: &str| spec[field].as_str().is_some_and(|text| !text.is_empty());
    let is_external = spec["type"] == "ExternalName";
    let is_headless = spec["type"] == "ClusterIP" && spec["clusterIP"] == "None";
    let addresses = items(&spec["externalIPs"]).count() > 0;
    let hints = "service.kubernetes.io/topology-aware-hints";
    let mut warnings = Vec::new();
    let mut warn = |when: bool, text: &str| {
        if when {
            warnings.push(text.to_owned());
        }
    };
    warn(
        service["metadata"]["annotations"].get(hints).is_some(),
        &format!("annotation {hints} is deprecated, please use service.kubernetes.io/topology-mode instead"),
    );
    if is_headless {
        warn(set("loadBalancerIP"), "spec.loadBalancerIP is ignored for headless services");
        warn(addresses, "spec.externalIPs is ignored for headless services");
        let affinity = spec["sessionAffinity"] != "None";
        warn(affinity, "spec.SessionAffinity is ignored for headless services");
    }
    warn(
        addresses && !is_headless && !is_external,
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
    );
    let ignored = "spec.externalIPs is ignored when spec.type is \"ExternalName\"";
    warn(is_external && addresses, ignored);
    let ignored = "spec.externalName is ignored when spec.type is not \"ExternalName\"";
    warn(!is_external && set("externalName"), ignored);
    let deprecated = "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"";
    warn(spec["trafficDistribution"] == "PreferClose", deprecated);
    warnings
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

/// `GetWarningsForPersistentVolumeClaimSpec`.
fn claim(spec: &Value, path: &str) -> Vec<String> {
    let part = |part: &str| {
        fractional(&spec["resources"][part]["storage"], &format!("{path}.resources.{part}[storage]"))
    };
    part("requests").into_iter().chain(part("limits")).collect()
}

/// Warns about a fractional number of bytes.
fn fractional(amount: &Value, path: &str) -> Option<String> {
    const MILLI: i128 = 1_000_000;
    let text = amount.as_str()?;
    let milli = Quantity::parse(text).ok()?.nanos() / MILLI;
    (milli % 1000 != 0)
        .then(|| format!("{path}: fractional byte value \"{text}\" is invalid, must be an integer"))
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of_kind(name: &str, object: &Value) -> Vec<String> {
        of(super::super::all().find(|kind| kind.kind == name).unwrap(), object, None)
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
    fn fields_of_a_service_without_effect_get_a_warning() {
        let spec = json!({"type": "ClusterIP", "clusterIP": "None", "externalIPs": ["1.2.3.4"], "sessionAffinity": "None"});
        let ignored = "spec.externalIPs is ignored for headless services";
        assert_eq!(of_kind("Service", &json!({"spec": spec})), [ignored]);
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
    fn claim_of_part_of_a_byte_gets_a_warning() {
        let claim = |size: &str| json!({"spec": {"resources": {"requests": {"storage": size}}}});
        let text =
            "spec.resources.requests[storage]: fractional byte value \"500m\" is invalid, must be an integer";
        assert_eq!(of_kind("PersistentVolumeClaim", &claim("500m")), [text]);
        assert!(of_kind("PersistentVolumeClaim", &claim("1500Mi")).is_empty());
    }
}
