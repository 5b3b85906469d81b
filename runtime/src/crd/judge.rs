//! Judges an upgrade of a definition, and its reversal.

use kubesmith_apiextensions::diff::{
    Certainty, Change, ChangeCode, Class, Definition, Definitions, canonical, compare,
};
use serde_json::Value;

/// The changes of an upgrade.
pub(super) struct Judged {
    /// The changes from the old definition to the new one.
    pub(super) changes: Vec<Change>,
    /// The breaking changes from the new definition back to the old one.
    pub(super) way_back: Vec<Change>,
    /// Whether the definitions are the same to a server.
    pub(super) is_same: bool,
}

/// Reads a definition.
pub(super) fn read(manifest: &Value) -> Result<Definition, String> {
    if !manifest.is_object() {
        return Err("it is not an object".to_owned());
    }
    let stored = manifest.pointer("/status/storedVersions").and_then(Value::as_array);
    let stored = stored.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    let mut object = canonical(manifest);
    if manifest["spec"]["preserveUnknownFields"] == true {
        object["spec"]["preserveUnknownFields"] = true.into();
    }
    Definition::new(object, &[], stored).map_err(|error| error.to_string())
}

/// Judges an upgrade from one definition to another of the same name.
pub(super) fn judge(old: &Definition, new: &Definition) -> Judged {
    let new = &with_authority(old, new);
    // Objects may be stored in the new storage version from the first write on.
    let mut installed = new.clone();
    installed.stored.clone_from(&old.stored);
    let storage = new.storage().map(|version| version.name.clone());
    installed.stored.extend(storage.filter(|name| !old.stored.contains(name)));
    let set = |definition: &Definition| Definitions::from([(definition.name.clone(), definition.clone())]);
    let mut way_back = compare(&set(&installed), &set(old));
    way_back.retain(|change| change.code.rule().class != Class::Compatible);
    Judged {
        changes: compare(&set(old), &set(new)),
        way_back,
        is_same: old.object["spec"] == new.object["spec"],
    }
}

/// Returns the new definition with the authority that another client, such as cert-manager, wrote into the old one's
/// conversion, if it names none: an apply leaves it there.
fn with_authority(old: &Definition, new: &Definition) -> Definition {
    const CONFIG: &str = "/spec/conversion/webhook/clientConfig";
    let mut new = new.clone();
    let bundle = old.object.pointer(CONFIG).and_then(|config| config.get("caBundle"));
    if let (Some(bundle), Some(Value::Object(config))) = (bundle, new.object.pointer_mut(CONFIG)) {
        config.entry("caBundle").or_insert_with(|| bundle.clone());
    }
    new
}

/// Reports whether a change breaks users in a way that neither a migration nor a check of the objects resolves.
pub(super) fn is_breaking(change: &Change) -> bool {
    // A migration rewrites the objects.
    change.code.rule().class != Class::Compatible && change.code != ChangeCode::StorageVersionChanged
}

/// Reports whether the stored objects decide if the change breaks users: it concerns the values of a version.
pub(super) fn is_about_objects(change: &Change) -> bool {
    let rule = change.code.rule();
    rule.class == Class::Stored && rule.certainty != Certainty::Refused && change.version.is_some()
}

/// Reports whether a server refuses the change.
pub(super) fn is_refused(change: &Change) -> bool {
    change.code.rule().certainty == Certainty::Refused
}
