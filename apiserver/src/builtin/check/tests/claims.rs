//! Causes of refused statuses of resource claims.

use serde_json::{Value, json};

use super::causes_of_status;

const SHARE: &str = "12345678-1234-1234-1234-123456789abc";

fn claim(status: Value) -> Value {
    let requests = json!([{"name": "r", "exactly": {}}, {"name": "q", "firstAvailable": [{"name": "s"}]}]);
    json!({"metadata": {}, "spec": {"devices": {"requests": requests}}, "status": status})
}

/// An allocated device with further fields.
fn result(more: Value) -> Value {
    let mut result = json!({"request": "r", "driver": "d", "pool": "p", "device": "v"});
    for (field, value) in more.as_object().unwrap() {
        result[field] = value.clone();
    }
    result
}

fn allocated(results: Vec<Value>) -> Value {
    json!({"devices": {"results": results}})
}

#[track_caller]
fn refused(status: Value, old: Value, wanted: &[&str]) {
    refused_change(&claim(status), &claim(old), wanted);
}

#[track_caller]
fn refused_change(new: &Value, old: &Value, wanted: &[&str]) {
    assert_eq!(causes_of_status("ResourceClaim", new, old), wanted);
}

#[test]
fn allocation_is_checked_once_and_does_not_change() {
    let place = "status.allocation.devices.results";
    let unknown = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
    let results = vec![
        result(json!({"request": "q/s"})),
        result(json!({"request": "q/t", "pool": ""})),
        result(json!({"shareID": "x"})),
        result(json!({"shareID": SHARE.to_uppercase(), "bindingConditions": ["a"]})),
    ];
    let bad = json!({"allocation": allocated(results)});
    refused(
        bad.clone(),
        json!({}),
        &[
            &format!("{place}[1].request: Invalid value: \"q/t\": {unknown}"),
            &format!("{place}[1].pool: Required value"),
            &format!(
                "{place}[2].shareID: Invalid value: \"x\": error validating uid: invalid UUID length: 1"
            ),
            &format!(
                "{place}[3].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use \
                 bindingConditions"
            ),
            &format!(
                "{place}[3].shareID: Invalid value: \"{}\": uid must be in RFC 4122 normalized form, \
                 `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters",
                SHARE.to_uppercase()
            ),
        ],
    );
    refused(bad.clone(), bad, &[]);
    let (one, other) = (result(json!({})), result(json!({"device": "w"})));
    let shown = allocated(vec![other.clone()]).to_string();
    refused(
        json!({"allocation": allocated(vec![other])}),
        json!({"allocation": allocated(vec![one])}),
        &[&format!("status.allocation: Invalid value: {shown}: field is immutable")],
    );
}

#[test]
fn device_with_a_status_is_allocated_once() {
    let device = |more: Value| {
        let mut device = result(more);
        device.as_object_mut().unwrap().remove("request");
        device
    };
    let shown = |share: &str| format!(r#"{{"Driver":"d","Pool":"p","Device":"v","ShareID":"{share}"}}"#);
    let devices = json!([device(json!({})), device(json!({"shareID": SHARE})), device(json!({}))]);
    refused(
        json!({"allocation": allocated(vec![result(json!({}))]), "devices": devices}),
        json!({}),
        &[
            &format!(
                "status.devices[1]: Invalid value: {}: must be an allocated device in the claim",
                shown(SHARE)
            ),
            &format!("status.devices[2]: Duplicate value: {}", shown("")),
        ],
    );
    let addresses = ["10.0.0.1/8", "10.0.0.1/08", "::ffff:10.0.0.1/120", "x"];
    let network = json!({"interfaceName": "i".repeat(257), "ips": addresses});
    refused(
        json!({"allocation": allocated(vec![result(json!({}))]), "devices": [device(json!({"data": 1, "networkData": network}))]}),
        json!({}),
        &[
            "status.devices[0].data: Invalid value: \"<value omitted>\": must be a valid JSON object",
            "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
            "status.devices[0].networkData.ips[1]: Invalid value: \"10.0.0.1/08\": must be in canonical form (\"10.0.0.1/8\")",
            "status.devices[0].networkData.ips[2]: Invalid value: \"::ffff:10.0.0.1/120\": must be in canonical form \
             (\"10.0.0.1/24\")",
            "status.devices[0].networkData.ips[3]: Invalid value: \"x\": must be a valid address in CIDR form, (e.g. \
             10.9.8.7/24 or 2001:db8::1/64)",
        ],
    );
}

#[test]
fn claim_is_reserved_while_it_is_allocated_and_stays() {
    let pod = |uid: &str| json!({"resource": "pods", "name": "a", "uid": uid});
    let unallocated = "status.reservedFor: Forbidden: may not be specified when `allocated` is not set";
    refused(json!({"reservedFor": [pod("u")]}), json!({}), &[unallocated]);
    let reserved = |pods: Value| json!({"allocation": allocated(Vec::new()), "reservedFor": pods});
    refused(reserved(json!([pod("")])), json!({}), &["status.reservedFor[0].uid: Required value"]);
    let (old, mut new) = (claim(reserved(json!([pod("u")]))), claim(reserved(json!([pod("u"), pod("v")]))));
    refused_change(&new, &old, &[]);
    new["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let terminating = "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or \
                       `deletionTimestamp` are set";
    refused_change(&new, &old, &[terminating]);
    refused_change(&new, &new, &[]);
}
