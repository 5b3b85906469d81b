//! Completes built-in objects before they are checked: blank status, defaults and allocated addresses. Nobody owns these
//! fields.

use serde_json::Value;

use super::services;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::types;

/// Completes a new object whose identity is settled.
pub(crate) fn created(server: &Server, def: &ResourceDef, value: &mut Value) {
    let Behaviour::BuiltIn(kind) = &def.behaviour else { return };
    if kind.status && value["status"].is_null() {
        let blank = kind.message().map(types::decode::blank);
        if let Some(status) = blank.and_then(|mut blank| blank.get_mut("status").map(Value::take)) {
            value["status"] = status;
        }
    }
    (kind.default)(value, super::Stage::Create);
    (kind.prepare)(value);
    if def.collection == "persistentvolumes" {
        note_phase(server, &Value::Null, value);
    }
    if def.collection == "services" {
        services::created(server, value);
    }
}

/// Completes an object that replaces `current`.
pub(crate) fn updated(server: &Server, def: &ResourceDef, current: &Value, value: &mut Value) {
    if def.collection == "persistentvolumes" {
        note_phase(server, current, value);
    }
    if def.collection == "services" {
        services::updated(server, current, value);
    }
}

/// A volume tells when it came into its phase (pkg/registry/core/persistentvolume/strategy.go).
fn note_phase(server: &Server, current: &Value, volume: &mut Value) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let (old, new) = (&current["status"], &mut volume["status"]);
    if old["phase"] != new["phase"] && old[SINCE] == new[SINCE] {
        new[SINCE] = server.now().into();
    }
}
