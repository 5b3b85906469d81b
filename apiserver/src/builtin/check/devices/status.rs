//! The status of claims: the devices that are allocated, and those that use or describe them.

use serde_json::{Value, json};

use super::super::addresses::Range;
use super::super::field::{Errors, Field};
use super::super::{scheduling, volumes, workload_status};
use super::{MOST_ITEMS, configuration, data, each, name, reference, references, set, slices, unique};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

const MOST_CONSUMERS: usize = 256;
const MOST_RESULTS: usize = 32;
const MOST_CONDITIONS: usize = 8;
const MOST_ADDRESSES: usize = 16;
const LONGEST_INTERFACE: usize = 256;
const LONGEST_HARDWARE_ADDRESS: usize = 128;

/// `ValidateResourceClaimStatusUpdate`.
pub(in crate::builtin) fn resource_claim_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let (status, before) = (Field::root(new).child("status"), Field::root(old).child("status"));
        let (allocation, reserved) = (status.child("allocation"), status.child("reservedFor"));
        set(&reserved, MOST_CONSUMERS, errors, |consumer| consumer.child("uid").text(), consumer);
        let devices = status.child("devices");
        let allocated: Vec<String> =
            allocation.child("devices").child("results").items().map(|it| identity(&it)).collect();
        for item in devices.items() {
            device(&item, &allocated, errors);
        }
        unique(&devices, errors, identity);
        if !reserved.is_empty() {
            let known = before.child("reservedFor");
            let is_new = |consumer: Field<'_>| known.items().all(|known| known.value != consumer.value);
            if !allocation.is_set() {
                errors.forbidden(&reserved, "may not be specified when `allocated` is not set");
            } else if !new["metadata"]["deletionTimestamp"].is_null() && reserved.items().any(is_new) {
                let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
                errors.forbidden(&reserved, detail);
            }
        }
        let before = before.child("allocation");
        if allocation.is_set() && before.is_set() {
            errors.immutable(&allocation, &before);
        } else if allocation.is_set() {
            allocated_devices(&allocation, &Field::root(new).child("spec").child("devices"), errors);
        }
    })
}

/// Identifies a device, or a share of it, in the form in which errors show it (`SharedDeviceID`).
pub(in crate::builtin) fn identity(device: &Field<'_>) -> String {
    let of = |member| quoted(device.child(member).text());
    format!(
        "{{\"Driver\":{},\"Pool\":{},\"Device\":{},\"ShareID\":{}}}",
        of("driver"),
        of("pool"),
        of("device"),
        of("shareID")
    )
}

/// `validateResourceClaimUserReference`.
fn consumer(consumer: &Field<'_>, errors: &mut Errors) {
    for member in ["resource", "name", "uid"] {
        if consumer.child(member).is_empty() {
            errors.required(&consumer.child(member), "");
        }
    }
}

/// `validateAllocationResult`.
fn allocated_devices(allocation: &Field<'_>, claimed: &Field<'_>, errors: &mut Errors) {
    let (devices, requests) = (allocation.child("devices"), claimed.child("requests"));
    each(&devices.child("results"), MOST_RESULTS, errors, |result, errors| {
        reference(&result.child("request"), &requests, errors);
        named(result, errors);
        slices::binding(result, errors);
        share(result, errors);
    });
    each(&devices.child("config"), 2 * MOST_ITEMS, errors, |config, errors| {
        errors.one_of(&config.child("source"), &["FromClaim", "FromClass"]);
        references(&config.child("requests"), &requests, errors);
        configuration(config, errors);
    });
    let selector = allocation.child("nodeSelector");
    if selector.is_set() {
        scheduling::node_selector(&selector, errors);
    }
}

/// Checks the names of a device.
fn named(device: &Field<'_>, errors: &mut Errors) {
    volumes::driver_name(&device.child("driver"), errors);
    slices::pool_name(&device.child("pool"), errors);
    name(&device.child("device"), NameRule::Label, errors);
}

/// `validateDeviceStatus`.
fn device(device: &Field<'_>, allocated: &[String], errors: &mut Errors) {
    named(device, errors);
    share(device, errors);
    let identity = identity(device);
    if !allocated.contains(&identity) {
        let text = format!("Invalid value: {identity}: must be an allocated device in the claim");
        errors.push(Cause::new("FieldValueInvalid", &device.path, text));
    }
    let conditions = device.child("conditions");
    _ = errors.at_most(&conditions, MOST_CONDITIONS);
    workload_status::conditions(&conditions, errors);
    let own = device.child("data");
    if own.is_set() {
        data(&own, errors);
    }
    network(&device.child("networkData"), errors);
}

/// `validateNetworkDeviceData`.
fn network(network: &Field<'_>, errors: &mut Errors) {
    for (member, longest) in
        [("interfaceName", LONGEST_INTERFACE), ("hardwareAddress", LONGEST_HARDWARE_ADDRESS)]
    {
        let text = network.child(member);
        if text.text().len() > longest {
            errors.too_long(&text.path, longest);
        }
    }
    set(&network.child("ips"), MOST_ADDRESSES, errors, |address| address.text(), interface_address);
}

/// `IsValidInterfaceAddress`.
fn interface_address(address: &Field<'_>, errors: &mut Errors) {
    let text = json!(address.text());
    let address = address.holding(&text);
    match Range::parse(address.text()) {
        None => errors
            .invalid(&address, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"),
        Some(range) => {
            let canonical = range.of_interface();
            if address.text() != canonical {
                errors.invalid(&address, &format!("must be in canonical form ({})", quoted(&canonical)));
            }
        }
    }
}

/// `validateUID` of the share of a device.
fn share(device: &Field<'_>, errors: &mut Errors) {
    let share = device.child("shareID");
    if !share.is_set() {
        return;
    }
    if let Some(fault) = uuid_fault(share.text()) {
        errors.invalid(&share, &format!("error validating uid: {fault}"));
    } else if share.text().len() != 36 || share.text().bytes().any(|b| b.is_ascii_uppercase()) {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
                      hexadecimal characters";
        errors.invalid(&share, detail);
    }
}

/// `Validate` of github.com/google/uuid.
fn uuid_fault(text: &str) -> Option<String> {
    const PREFIX: &[u8] = b"urn:uuid:";
    let invalid = || Some("invalid UUID format".to_owned());
    let all = text.as_bytes();
    let bytes = match all.len() {
        32 if all.iter().all(u8::is_ascii_hexdigit) => return None,
        32 => return invalid(),
        36 => all,
        38 if all.starts_with(b"{") && all.ends_with(b"}") => &all[1..37],
        38 => return Some("invalid bracketed UUID format".to_owned()),
        45 if all[..9].eq_ignore_ascii_case(PREFIX) => &all[9..],
        45 => return Some(format!("invalid urn prefix: {:?}", String::from_utf8_lossy(&all[..9]))),
        length => return Some(format!("invalid UUID length: {length}")),
    };
    let is_hyphen = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, b): (usize, &u8)| if is_hyphen(at) { *b == b'-' } else { b.is_ascii_hexdigit() };
    if bytes.iter().enumerate().all(fits) { None } else { invalid() }
}

/// Drops the status of devices that were allocated, and no longer are (`dropDeallocatedStatusDevices` of
/// pkg/registry/resource/resourceclaim/strategy.go).
pub(crate) fn drop_deallocated(before: &Value, claim: &mut Value) {
    let allocated = |claim: &Value| -> Vec<String> {
        let results =
            Field::root(claim).child("status").child("allocation").child("devices").child("results");
        results.items().map(|it| identity(&it)).collect()
    };
    let (old, new) = (allocated(before), allocated(claim));
    let Some(status) = claim.get_mut("status").and_then(Value::as_object_mut) else { return };
    let Some(devices) = status.get_mut("devices").and_then(Value::as_array_mut) else { return };
    devices.retain(|device| {
        let identity = identity(&Field::root(device));
        !old.contains(&identity) || new.contains(&identity)
    });
    if devices.is_empty() {
        status.remove("devices");
    }
}
