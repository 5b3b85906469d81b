//! `Priority`: a pod gets the number and the preemption policy of its priority class, and only one class is the default
//! (plugin/pkg/admission/priority).

use serde_json::{Value, json};

use super::super::{Attributes, Operation};
use super::object_of;
use crate::builtin::SYSTEM_PRIORITIES;
use crate::meta;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

const CLASSES: &str = "priorityclasses.scheduling.k8s.io";

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let both = [Operation::Create, Operation::Update];
    let Some(pod) = object_of(attributes, object, "pods", &both) else { return Ok(()) };
    if let Some(old) = attributes.old {
        for field in ["priority", "preemptionPolicy"] {
            if pod["spec"][field].is_null() && !old["spec"][field].is_null() {
                pod["spec"][field] = old["spec"][field].clone();
            }
        }
        return Ok(());
    }
    let (server, def) = (&attributes.call.server, &attributes.call.def);
    let class = pod["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let system = SYSTEM_PRIORITIES.iter().find(|(name, _)| *name == class);
    let (priority, policy) = match (system, class.as_str()) {
        (Some((_, priority)), _) => (*priority, json!("PreemptLowerPriority")),
        (None, "") => match default_class(server) {
            Some(class) => {
                pod["spec"]["priorityClassName"] = meta::name(&class).into();
                (class["value"].as_i64().unwrap_or(0), class["preemptionPolicy"].clone())
            }
            None => (0, json!("PreemptLowerPriority")),
        },
        (None, name) => {
            let found = server.store.get(CLASSES, name);
            let class = found.ok_or_else(|| {
                let text = format!("no PriorityClass with name {name} was found");
                ApiError::forbidden(def.subject(meta::name(pod)), &text)
            })?;
            (class.value["value"].as_i64().unwrap_or(0), class.value["preemptionPolicy"].clone())
        }
    };
    let computed = [
        ("priority", "integer value of priority", Value::from(priority)),
        ("preemptionPolicy", "string value of PreemptionPolicy", policy),
    ];
    for (field, what, value) in computed {
        let given = &pod["spec"][field];
        if !given.is_null() && *given != value {
            let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = format!(
                "the {what} ({}) must not be provided in pod spec; priority admission controller computed {} from the \
                 given PriorityClass name",
                shown(given),
                shown(&value)
            );
            return Err(ApiError::forbidden(def.subject(meta::name(pod)), &text));
        }
        pod["spec"][field] = value;
    }
    Ok(())
}

/// Refuses a second default class.
pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    let is_class = call.def.collection == CLASSES && attributes.operation != Operation::Delete;
    let Some(class) = object.filter(|class| is_class && class["globalDefault"] == true) else {
        return Ok(());
    };
    match default_class(&call.server) {
        Some(other) if attributes.old.is_none() || meta::name(&other) != meta::name(class) => {
            let name = meta::name(&other);
            let text =
                format!("PriorityClass {name} is already marked as default. Only one default can exist");
            Err(ApiError::forbidden(call.def.subject(&attributes.shown_name(Some(class))), &text))
        }
        _ => Ok(()),
    }
}

/// Reports whether every cluster has this class, which cannot be deleted.
pub(crate) fn is_system(name: &str) -> bool {
    SYSTEM_PRIORITIES.iter().any(|(system, _)| *system == name)
}

/// The class of pods that name none: of several, the one with the lowest value.
fn default_class(server: &Server) -> Option<Value> {
    let all = server.store.list(CLASSES, "", None).ok()?.objects;
    let defaults = all.iter().filter(|(_, class)| class.value["globalDefault"] == true);
    defaults.min_by_key(|(_, class)| class.value["value"].as_i64()).map(|(_, class)| class.value.clone())
}
