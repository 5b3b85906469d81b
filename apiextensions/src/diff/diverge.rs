//! The effects of versions on each other's objects without a conversion webhook: an API server reads an object by its
//! storage version, changes its apiVersion, prunes it by the requested version, and validates it by that version on
//! writes.

use std::collections::BTreeSet;

use super::model::{Definition, Version};
use super::schema::{self, Place};
use super::{Change, ChangeCode, Class};

/// Adds the effects of the new definition's versions on each other's objects that the old one did not have.
pub(super) fn check(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    if new.has_webhook() {
        return;
    }
    let mut found = lost(old, new);
    // Effects of a version on its own objects are already reported.
    let told: BTreeSet<(&str, &str)> = changes
        .iter()
        .filter(|change| change.code.rule().class == Class::Stored)
        .filter_map(|change| Some((change.version.as_deref()?, change.path.as_str())))
        .collect();
    let known = if old.has_webhook() { BTreeSet::new() } else { known(old) };
    let is_news = |pair: &Pair<'_>, change: &Change| {
        !known.contains(&key(pair, change))
            && ![pair.of, pair.in_]
                .into_iter()
                .any(|v| told.contains(&(v.name.as_str(), change.path.as_str())))
    };
    let refused = refused(old, new, &is_news);
    let paths: BTreeSet<&str> = refused.iter().map(|change| change.path.as_str()).collect();
    found.extend(differing(new, &is_news).into_iter().filter(|change| !paths.contains(change.path.as_str())));
    found.extend(refused);
    changes.extend(found);
}

/// A pair of versions: objects of one are read in the other.
#[derive(Clone, Copy)]
struct Pair<'a> {
    of: &'a Version,
    in_: &'a Version,
}

impl Pair<'_> {
    /// Returns the changes from one version to the other.
    fn changes(self, definition: &Definition) -> Vec<Change> {
        let mut out = Vec::new();
        let place = Place { crd: &definition.name, version: &self.in_.name };
        schema::compare(place, &self.of.schema, &self.in_.schema, &mut out);
        out
    }
}

/// Returns the storage version paired with each other served one, in both directions: all objects pass through it.
fn pairs(definition: &Definition) -> Vec<Pair<'_>> {
    let Some(storage) = definition.storage() else { return Vec::new() };
    let others = definition.versions.iter().filter(|version| version.served && !version.storage);
    others.flat_map(|other| [Pair { of: storage, in_: other }, Pair { of: other, in_: storage }]).collect()
}

/// The old storage version with the new one, if this is another: a migration rewrites all objects in it.
fn moved<'a>(old: &Definition, new: &'a Definition) -> Option<Pair<'a>> {
    let (of, in_) = (new.version(&old.storage()?.name)?, new.storage()?);
    (of.name != in_.name).then_some(Pair { of, in_ })
}

/// Returns the fields that the new definition loses between versions and the old one did not, or did not lose for good.
fn lost(old: &Definition, new: &Definition) -> Vec<Change> {
    let is_lost = |change: &Change| {
        let code = change.code;
        matches!(
            code,
            ChangeCode::FieldRemoved | ChangeCode::PruningAdded | ChangeCode::EmbeddedResourceRemoved
        )
    };
    let losses_of = |definition, pairs: Vec<_>| {
        let found = pairs.into_iter().map(move |pair: Pair<'_>| (pair, pair.changes(definition)));
        found
            .flat_map(|(pair, changes)| changes.into_iter().filter(is_lost).map(move |change| (pair, change)))
    };
    let losses = |definition| losses_of(definition, pairs(definition));
    let known: BTreeSet<_> = match old.has_webhook() {
        true => BTreeSet::new(),
        false => losses(old).map(|(pair, change)| key(&pair, &change)).collect(),
    };
    let moved = moved(old, new);
    let is_moved = |pair: &Pair<'_>| {
        moved.is_some_and(|moved| (&moved.of.name, &moved.in_.name) == (&pair.of.name, &pair.in_.name))
    };
    let fresh = losses(new).filter(|(pair, change)| !is_moved(pair) && !known.contains(&key(pair, change)));
    let for_good = losses_of(new, moved.into_iter().collect());
    fresh.chain(for_good).map(|(pair, change)| at_origin(pair, change)).collect()
}

/// Reports the loss at the field: the version that loses it does not have it.
fn at_origin(pair: Pair<'_>, mut change: Change) -> Change {
    let what = match change.code {
        ChangeCode::FieldRemoved => "the field is",
        _ => "unknown fields are",
    };
    change.message = format!("{what} not known to {}, and nothing converts", pair.in_.name);
    if let Some(name) = change.steps.get_mut(2) {
        name.clone_from(&pair.of.name);
    }
    change.version = Some(pair.of.name.clone());
    change.certain = true;
    recoded(change, ChangeCode::VersionsDiverge)
}

fn recoded(change: Change, code: ChangeCode) -> Change {
    Change { code, ..change }
}

type Key = (String, String, String, ChangeCode);

fn key(pair: &Pair<'_>, change: &Change) -> Key {
    (pair.of.name.clone(), pair.in_.name.clone(), change.path.clone(), change.code)
}

/// Returns the objects of each version that another version refuses.
fn known(definition: &Definition) -> BTreeSet<Key> {
    let in_use: Vec<&Version> =
        definition.versions.iter().filter(|version| version.served || version.storage).collect();
    let mut out = BTreeSet::new();
    for of in &in_use {
        for in_ in in_use.iter().filter(|in_| in_.served && in_.name != of.name) {
            let pair = Pair { of, in_ };
            out.extend(pair.changes(definition).iter().map(|change| key(&pair, change)));
        }
    }
    out
}

/// Returns fields of existing objects that a version refuses in writes.
fn refused(old: &Definition, new: &Definition, is_news: &dyn Fn(&Pair<'_>, &Change) -> bool) -> Vec<Change> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for in_ in new.versions.iter().filter(|version| version.served) {
        let others = old.versions.iter().filter(|of| of.name != in_.name && has_objects(old, new, of));
        for of in others.filter(|of| of.storage || (of.served && in_.storage)) {
            let pair = Pair { of, in_ };
            let found = pair.changes(new).into_iter().filter(|change| is_news(&pair, change));
            for change in found.filter(|change| is_refusal(change.code)) {
                if seen.insert((in_.name.clone(), change.path.clone(), change.code)) {
                    out.push(between(pair, change));
                }
            }
        }
    }
    out
}

/// Reports whether objects of a version of the old definition may be in its own form: a webhook has converted those of
/// versions that are gone, unless they are stored in them.
fn has_objects(old: &Definition, new: &Definition, of: &Version) -> bool {
    let stays = || new.versions.iter().any(|version| version.name == of.name);
    !old.has_webhook() || of.storage || old.stored.contains(&of.name) || stays()
}

/// Reports whether the other version refuses values of one version, after defaulting.
fn is_refusal(code: ChangeCode) -> bool {
    let is_cut = matches!(
        code,
        ChangeCode::FieldRemoved | ChangeCode::PruningAdded | ChangeCode::EmbeddedResourceRemoved
    );
    // The storage version of an object has filled in defaults.
    let is_default =
        matches!(code, ChangeCode::DefaultAddedUnderRule | ChangeCode::DefaultRemovedFromRequired);
    code.rule().class == Class::Stored && !is_cut && !is_default
}

fn between(pair: Pair<'_>, change: Change) -> Change {
    let code = match change.code.rule().ratchets {
        true => ChangeCode::VersionsTightened,
        false => ChangeCode::VersionsConflict,
    };
    let message = format!("objects of {} are read as they are: {}", pair.of.name, change.message);
    recoded(Change { message, ..change }, code)
}

/// Returns fields that new objects of one version gain and clients of the other cannot decode.
fn differing(new: &Definition, is_news: &dyn Fn(&Pair<'_>, &Change) -> bool) -> Vec<Change> {
    // Defaults are those of the object's storage version.
    let differs = |change: &Change| {
        change.code == ChangeCode::RequiredAddedWithDefault
            || (is_refusal(change.code) && !change.code.rule().ratchets && change.certain)
    };
    let mut out = Vec::new();
    for pair in pairs(new).into_iter().filter(|pair| pair.in_.served) {
        for change in pair.changes(new).into_iter().filter(|change| differs(change) && is_news(&pair, change))
        {
            let message =
                format!("objects written in {} are read as they are: {}", pair.of.name, change.message);
            out.push(recoded(Change { message, ..change }, ChangeCode::VersionsDiffer));
        }
    }
    out
}
