//! Answers without the values that differ from run to run: versions, UIDs, times, addresses and tokens.

use std::net::Ipv4Addr;

use jiff::Timestamp;
use serde_json::{Value, json};

/// Members whose texts differ from run to run.
const VOLATILE: [&str; 17] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "lastTransitionTime",
    "time",
    "continue",
    "selfLink",
    "clusterIP",
    "renewTime",
    "hash",
    "expirationTimestamp",
    "lastUpdateTime",
    "startTime",
    "token",
    "lastPhaseTransitionTime",
    "storageVersionHash",
];

/// A value whose volatile members and texts have names in angle brackets. Managers have an order without their times, since
/// two writes may fall into one second or into two.
pub(super) fn normal(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), member(name, value))).collect(),
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::String(text) => json!(plain(text)),
        other => other.clone(),
    }
}

fn member(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("clusterIPs", _) => json!("<ips>"),
        ("managedFields", Value::Array(entries)) => {
            let mut entries: Vec<Value> = entries.iter().map(normal).collect();
            entries.sort_by_key(|entry| {
                ["operation", "manager", "apiVersion", "subresource"].map(|key| entry[key].to_string())
            });
            entries.into()
        }
        (_, Value::String(text)) if VOLATILE.contains(&name) && !matches!(text.as_str(), "" | "0") => {
            json!(format!("<{name}>"))
        }
        (_, value) => normal(value),
    }
}

/// A text without UIDs, times and versions.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let (found, length) = if fits(rest, UID) {
            ("<uid>", UID.len())
        } else if fits(rest, TIME)
            && !rest.starts_with("2000")
            && !out.ends_with(|c: char| c.is_ascii_digit())
        {
            let fraction =
                rest[TIME.len()..].bytes().take_while(|b| *b == b'.' || b.is_ascii_digit()).count();
            match rest.as_bytes().get(TIME.len() + fraction) {
                Some(b'Z') => ("<time>", TIME.len() + fraction + 1),
                _ => ("", 0),
            }
        } else if out.ends_with("resource version: ") && next.is_ascii_digit() {
            ("<rv>", rest.bytes().take_while(|b| b.is_ascii_digit() || b" ()".contains(b)).count())
        } else {
            ("", 0)
        };
        if length > 0 {
            out.push_str(found);
            rest = &rest[length..];
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

const UID: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
const TIME: &str = "20##-##-##T##:##:##";

/// Whether a text begins like a pattern, in which `x` is a hexadecimal digit and `#` a decimal one.
fn fits(text: &str, pattern: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'x' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        b'#' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() >= pattern.len() && text.bytes().zip(pattern.bytes()).all(fits)
}

/// A cell without the values that differ from run to run: ages, times and the addresses of services.
pub(super) fn cell(cell: &Value) -> Value {
    let Some(text) = cell.as_str() else { return cell.clone() };
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    let age =
        digits.len() + 1 == text.len() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match text {
        _ if age => json!("<age>"),
        "<unknown>" | "<invalid>" => json!("<age>"),
        _ if text.starts_with("10.") && text.parse::<Ipv4Addr>().is_ok() => json!("<ip>"),
        // Of this test's own run.
        _ if text.ends_with('Z') && !text.starts_with("2020") && text.parse::<Timestamp>().is_ok() => {
            json!("<time>")
        }
        _ => cell.clone(),
    }
}
