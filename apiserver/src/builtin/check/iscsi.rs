//! iSCSI volumes of pods and of the cluster. Source: `validateISCSIVolumeSource` and `validateISCSIPersistentVolumeSource` of
//! `pkg/apis/core/validation`.

use super::field::{Errors, Field};
use super::volumes::required;

const LONGEST: usize = 64;
const TOO_LONG: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
const PREFIXES: [&str; 3] = ["iqn", "eui", "naa"];

/// Checks the source of a pod's volume.
pub(super) fn of_pod(source: &Field<'_>, errors: &mut Errors) {
    const UNKNOWN: &str = "must be valid format starting with iqn, eui, or naa";
    required(source, &["targetPortal"], errors);
    names_and_secret(source, UNKNOWN, errors);
    initiator(source, UNKNOWN, errors);
}

/// Checks the source of the PersistentVolume `volume`.
pub(super) fn of_volume(source: &Field<'_>, volume: &str, errors: &mut Errors) {
    required(source, &["targetPortal"], errors);
    if is_too_long(source, volume) {
        let portal = source.child("targetPortal");
        errors.invalid(&portal.at(source.child("targetportal").path), TOO_LONG);
    }
    names_and_secret(source, MALFORMED, errors);
    if source.child("secretRef").is_set() {
        required(&source.child("secretRef"), &["name"], errors);
    }
    initiator(source, MALFORMED, errors);
}

/// Checks the name of a pod's volume together with its portal.
pub(super) fn name_of_pod_volume(volume: &Field<'_>, errors: &mut Errors) {
    let name = volume.child("name");
    if is_too_long(&volume.child("iscsi"), name.text()) {
        errors.invalid(&name, TOO_LONG);
    }
}

fn is_too_long(source: &Field<'_>, volume: &str) -> bool {
    let portal = source.child("targetPortal");
    source.child("initiatorName").is_set() && volume.len() + 1 + portal.text().len() > LONGEST
}

const MALFORMED: &str = "must be valid format";

fn names_and_secret(source: &Field<'_>, unknown: &str, errors: &mut Errors) {
    required(source, &["iqn"], errors);
    if !source.child("iqn").is_empty() {
        name(&source.child("iqn"), unknown, errors);
    }
    let lun = source.child("lun");
    if !(0..=255).contains(&lun.number_or_zero()) {
        errors.invalid(&lun, "must be between 0 and 255, inclusive");
    }
    let authenticates = ["chapAuthDiscovery", "chapAuthSession"].iter().any(|on| source.child(on).is_true());
    let secret = source.child("secretRef");
    if authenticates && !secret.is_set() {
        errors.required(&secret, "");
    }
}

fn initiator(source: &Field<'_>, unknown: &str, errors: &mut Errors) {
    let initiator = source.child("initiatorName").at(source.child("initiatorname").path);
    if initiator.is_set() {
        name(&initiator, unknown, errors);
    }
}

/// Checks the name of a target or initiator.
fn name(name: &Field<'_>, unknown: &str, errors: &mut Errors) {
    let text = name.text();
    if !PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        errors.invalid(name, unknown);
    } else if !(is_qualified(text) || is_number(text, "eui", 16) || is_number(text, "naa", 32)) {
        errors.invalid(name, MALFORMED);
    }
}

/// Reports whether the text has the form `iscsiInitiatorIqnRegex`, which may begin anywhere:
/// `iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`.
fn is_qualified(text: &str) -> bool {
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let matches_at = |rest: &str| {
        let (date, rest) = rest.split_once('.')?;
        let (year, month) = date.split_once('-')?;
        let (authority, own) = rest.split_once(':')?;
        let in_authority = |b: u8| b.is_ascii_alphanumeric() || b"-.".contains(&b);
        let in_own = |b: u8| !b",;*&$|\t\n\x0c\r ".contains(&b);
        let are_named = !authority.is_empty() && !own.is_empty();
        let are_valid = authority.bytes().all(in_authority) && own.bytes().all(in_own);
        Some(digits(year, 4) && digits(month, 2) && are_named && are_valid)
    };
    text.starts_with("iqn")
        && text.match_indices("iqn.").any(|(at, found)| matches_at(&text[at + found.len()..]) == Some(true))
}

/// Reports whether the text has the form `^eui.[[:alnum:]]{16}$`, with another prefix and length.
fn is_number(text: &str, prefix: &str, length: usize) -> bool {
    let Some(rest) = text.strip_prefix(prefix) else { return false };
    let mut rest = rest.chars();
    rest.next().is_some_and(|separator| separator != '\n')
        && rest.as_str().len() == length
        && rest.all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn faults(check: impl Fn(&Field<'_>, &mut Errors), source: &Value) -> Vec<String> {
        let causes = Errors::of(|errors| check(&Field::root(source).at("iscsi"), errors));
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    #[test]
    fn names_have_one_of_three_forms() {
        for name in [
            "iqn.2001-04.com.example:storage.disk1",
            "iqn iqn.2001-04.a:b:c",
            "eui.02004567A425678D",
            "eui:02004567A425678D",
            "naa.62004567BA64678D0123456789ABCDEF",
        ] {
            let source = json!({"targetPortal": "p", "iqn": name});
            assert!(faults(of_pod, &source).is_empty(), "{name}");
        }
        for name in [
            "iqn.2001-04.com.example",
            "iqn.01-04.a:b",
            "iqn.2001-04.:b",
            "iqn.2001-04.a:",
            "iqn.2001-04.a:b c",
            "eui.02004567A425678",
            "eui.02004567A425678D0",
            "naa.62004567BA64678D",
        ] {
            let source = json!({"targetPortal": "p", "iqn": name});
            let expected = format!("iscsi.iqn: Invalid value: \"{name}\": must be valid format");
            assert_eq!(faults(of_pod, &source), [expected]);
        }
    }

    #[test]
    fn source_of_a_pod_needs_names_and_a_secret_for_authentication() {
        let source = json!({"iqn": "x", "lun": 256, "chapAuthSession": true, "initiatorName": ""});
        let unknown = "must be valid format starting with iqn, eui, or naa";
        let expected = [
            "iscsi.targetPortal: Required value".to_owned(),
            format!("iscsi.iqn: Invalid value: \"x\": {unknown}"),
            "iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive".to_owned(),
            "iscsi.secretRef: Required value".to_owned(),
            format!("iscsi.initiatorname: Invalid value: \"\": {unknown}"),
        ];
        assert_eq!(faults(of_pod, &source), expected);
    }

    #[test]
    fn name_and_portal_of_a_volume_are_short_with_an_initiator() {
        let iqn = "iqn.2001-04.a:b";
        let mut source = json!({"targetPortal": "p".repeat(60), "iqn": iqn, "secretRef": {}});
        let of_long = |source: &Field<'_>, errors: &mut Errors| of_volume(source, "volume", errors);
        assert_eq!(faults(of_long, &source), ["iscsi.secretRef.name: Required value"]);
        source["initiatorName"] = "x".into();
        let expected = [
            format!("iscsi.targetportal: Invalid value: {}: {TOO_LONG}", source["targetPortal"]),
            "iscsi.secretRef.name: Required value".to_owned(),
            "iscsi.initiatorname: Invalid value: \"x\": must be valid format".to_owned(),
        ];
        assert_eq!(faults(of_long, &source), expected);
        let volume = json!({"name": "volume", "iscsi": source});
        let long = Errors::of(|errors| name_of_pod_volume(&Field::root(&volume), errors));
        assert_eq!(long[0].field, "name");
    }
}
