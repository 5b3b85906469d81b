//! `AdmissionReview`: the request and the response.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apimachinery::golang;
use serde_json::{Value, json};

use super::attributes::{Attributes, Versioned, kind_of_subresource};
use crate::bodies::identity::{self, GroupVersion};
use crate::meta;
use crate::registry::ResourceDef;
use crate::types;

const GROUP: &str = "admission.k8s.io";
const KIND: &str = "AdmissionReview";
/// A kind that every scheme has.
const STATUS: &str = "Status";

/// The scheme of webhook clients in messages.
const SCHEME: &str = "k8s.io/apiserver/pkg/util/webhook/client.go:71";

/// The only type of patches.
pub(super) const JSON_PATCH: &str = "JSONPatch";

/// A webhook's response.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) allowed: bool,
    /// A JSON patch.
    pub(super) patch: Option<Vec<u8>>,
    pub(super) patch_type: String,
    /// A `Status` that explains a refusal.
    pub(super) result: Value,
    pub(super) warnings: Vec<String>,
}

/// Builds the review of a request.
pub(super) fn question(
    attributes: &Attributes<'_>,
    versioned: &Versioned,
    uid: &str,
    version: &str,
) -> Value {
    let mut request = described(attributes, versioned);
    request["uid"] = json!(uid);
    request["object"] = json!(versioned.object);
    request["oldObject"] = json!(versioned.old);
    json!({"kind": KIND, "apiVersion": format!("{GROUP}/{version}"), "request": request})
}

/// Returns the request without its objects, in the form that match conditions see, too.
pub(super) fn described(attributes: &Attributes<'_>, versioned: &Versioned) -> Value {
    let subresource = attributes.subresource();
    let mut request = json!({
        "kind": kind(&versioned.def, subresource),
        "resource": resource(&versioned.def),
        "requestKind": kind(attributes.def(), subresource),
        "requestResource": resource(attributes.def()),
        "operation": attributes.operation.name(),
        "userInfo": attributes.call.user,
        "dryRun": attributes.dry_run,
        "options": attributes.options_value(),
    });
    for (key, value) in [
        ("subResource", subresource),
        ("requestSubResource", subresource),
        ("name", attributes.name),
        ("namespace", attributes.namespace()),
    ] {
        if !value.is_empty() {
            request[key] = json!(value);
        }
    }
    request
}

pub(super) fn resource(def: &ResourceDef) -> Value {
    json!({"group": def.group, "version": def.version, "resource": def.plural})
}

fn kind(def: &ResourceDef, subresource: &str) -> Value {
    let (group, version, kind) =
        kind_of_subresource(&def.plural, subresource).unwrap_or((&def.group, &def.version, &def.kind));
    json!({"group": group, "version": version, "kind": kind})
}

/// Decodes a webhook's answer as a review of this version (`Into` of client-go's rest/request.go).
///
/// # Errors
/// Returns the fault of the answer in the words of Go's decoder.
pub(super) fn decode(answer: &mut Value, version: &str) -> Result<(), String> {
    let (api_version, kind) = identity::interpret(answer)?;
    let kind = if kind.is_empty() { KIND } else { &kind };
    let given = GroupVersion::parse(&api_version)?.or(GROUP, version);
    if kind == STATUS && matches!(given.group, "" | GROUP) {
        return Err(format!("converting (v1.{STATUS}) to ({version}.{KIND}): unknown conversion"));
    }
    if given.group != GROUP || !matches!(given.version, "v1" | "v1beta1") || kind != KIND {
        return Err(identity::unregistered(kind, &given, SCHEME));
    }
    if let Some(of) = types::message("admission.AdmissionReview") {
        let stated = ["apiVersion", "kind"].map(|field| (field, answer[field].take()));
        types::decode::settle(answer, of)?;
        for (field, value) in stated {
            answer[field] = value;
        }
    }
    if given.version == version {
        return Ok(());
    }
    Err(format!("converting ({}.{KIND}) to ({version}.{KIND}): unknown conversion", given.version))
}

/// Reads the response to the review with this uid, which is decoded.
///
/// # Errors
/// Returns the fault of the response, for after `received invalid webhook response: `.
pub(super) fn verdict(answer: &Value, uid: &str, version: &str, mutating: bool) -> Result<Verdict, String> {
    let response = &answer["response"];
    if !response.is_object() {
        return Err("webhook response was absent".to_owned());
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let patch = text(&response["patch"]);
    let patch_type = response["patchType"].as_str();
    if version == "v1" {
        check(answer, uid)?;
        check_patch(&patch, patch_type, mutating)?;
    }
    let decoded = BASE64.decode(&patch).unwrap_or_default();
    Ok(Verdict {
        allowed: response["allowed"] == true,
        patch: (mutating && !decoded.is_empty()).then_some(decoded),
        patch_type: if version == "v1" {
            patch_type.unwrap_or_default().to_owned()
        } else {
            JSON_PATCH.to_owned()
        },
        result: response["status"].clone(),
        warnings: meta::strings(&response["warnings"]).into_iter().map(str::to_owned).collect(),
    })
}

fn check(answer: &Value, uid: &str) -> Result<(), String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let echoed = text(&answer["response"]["uid"]);
    if echoed != uid {
        let echoed = golang::quote(&echoed);
        return Err(format!("expected response.uid={}, got {echoed}", golang::quote(uid)));
    }
    let (version, kind) = (text(&answer["apiVersion"]), text(&answer["kind"]));
    if (version.as_str(), kind.as_str()) != ("admission.k8s.io/v1", "AdmissionReview") {
        let version = if version.is_empty() { "/".to_owned() } else { version };
        return Err(format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {version}, Kind={kind}"
        ));
    }
    Ok(())
}

fn check_patch(patch: &str, patch_type: Option<&str>, mutating: bool) -> Result<(), String> {
    let text = match (mutating, patch.is_empty(), patch_type) {
        (true, false, None) => "webhook returned response.patch but not response.patchType",
        (true, true, Some(_)) => "webhook returned response.patchType but not response.patch",
        (true, false, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (false, false, _) => "validating webhook may not return response.patch",
        (false, true, Some(_)) => "validating webhook may not return response.patchType",
        _ => return Ok(()),
    };
    Err(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(response: Value) -> Value {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
    }

    #[test]
    fn invalid_review_is_refused_with_kube_apiservers_message() {
        let own = |mut response: Value| {
            response["uid"] = json!("u");
            answer(response)
        };
        for (answer, mutating, expected) in [
            (json!({}), true, "webhook response was absent"),
            (answer(json!({"uid": "x"})), true, "expected response.uid=\"u\", got \"x\""),
            (
                json!({"response": {"uid": "u"}}),
                true,
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
            ),
            (
                own(json!({"patch": "W10="})),
                true,
                "webhook returned response.patch but not response.patchType",
            ),
            (
                own(json!({"patchType": "JSONPatch"})),
                true,
                "webhook returned response.patchType but not response.patch",
            ),
            (own(json!({"patch": "W10="})), false, "validating webhook may not return response.patch"),
            (
                own(json!({"patchType": "JSONPatch"})),
                false,
                "validating webhook may not return response.patchType",
            ),
        ] {
            assert_eq!(verdict(&answer, "u", "v1", mutating).unwrap_err(), expected);
        }
    }

    #[test]
    fn v1beta1_review_is_accepted_without_uid_and_patch_type() {
        let answer = json!({"response": {"allowed": true, "patch": "W10="}});
        let verdict = verdict(&answer, "u", "v1beta1", true).unwrap();
        assert_eq!((verdict.allowed, verdict.patch.as_deref()), (true, Some(&b"[]"[..])));
    }

    #[test]
    fn review_patch_is_decoded_from_base64() {
        let answer = answer(json!({"uid": "u", "allowed": true, "patch": "W10=", "patchType": "JSONPatch"}));
        let verdict = verdict(&answer, "u", "v1", true).unwrap();
        assert_eq!((verdict.allowed, verdict.patch.as_deref()), (true, Some(&b"[]"[..])));
    }
}
