//! Strategic merge patch, by the rules of apimachinery's `util/strategicpatch`.
//!
//! Lists of objects merge by a key, lists of scalars as sets, if their field says so ([`PatchMeta`]). Directives are fields
//! whose names begin with `$`.

use serde_json::{Map, Value};

use super::merge::prune_nulls;
use crate::golang;

use list::{merge_list, ordered};

mod list;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// A type's patch rules for its fields: the tags `patchStrategy` and `patchMergeKey`.
pub trait PatchMeta: Copy {
    /// The name of the type in Go, such as `PodSpec`.
    fn name(self) -> &'static str;

    /// Returns the rule of a field; `None` if the type has no such field.
    fn field(self, name: &str) -> Option<Field<Self>>;
}

/// The patch rule of one field.
#[derive(Clone, Copy, Debug)]
pub struct Field<T> {
    /// The strategy of the field.
    pub strategy: Strategy,
    /// The field that identifies the objects of a list.
    pub merge_key: Option<&'static str>,
    /// The type of the field, or of the items of its list. A value without a type merges field by field.
    pub of: Option<T>,
}

/// The effect of a patch on a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Objects merge, lists are replaced.
    #[default]
    Default,
    /// Lists merge too.
    Merge,
    /// The value is replaced.
    Replace,
}

/// The reason why a strategic merge patch does not apply, in apimachinery's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategicMergeError {
    /// `$deleteFromPrimitiveList` names no list.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// `$retainKeys` is not a list, or lacks a field of the patch.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// `$setElementOrder` names no list.
    #[error("invalid patch format of setElementOrder list")]
    ElementOrder,
    /// A list that merges has lists as items.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The value of `$patch` is unknown.
    #[error("unknown patch type: {directive} in map: {map}")]
    Directive {
        /// The value of `$patch`.
        directive: String,
        /// The object with the directive, in Go's notation.
        map: String,
    },
    /// `$patch: merge` in a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// An object of a list lacks the key by which the list merges.
    #[error("map: {map} does not contain declared merge key: {key}")]
    MergeKey {
        /// The object, in Go's notation.
        map: String,
        /// The field that is missing.
        key: String,
    },
    /// A list of objects merges, but its field names no key.
    #[error("cannot merge lists without merge key for struct")]
    NoMergeKey,
    /// The type has no such field.
    #[error("unable to find api field in struct {of} for the json field {}", golang::quote(.field))]
    Field {
        /// The type.
        of: &'static str,
        /// The field.
        field: String,
    },
    /// A value has another type than the directive needs.
    #[error("expected a {expected}, but received a {actual}")]
    Type {
        /// The expected type in Go.
        expected: &'static str,
        /// The actual type in Go.
        actual: &'static str,
    },
    /// An item of a list that merges by a key is not an object.
    #[error("value for key {0} is not a map")]
    NotAMap(usize),
    /// The items of a list that merges have several types.
    #[error("list element types are not identical: {0}")]
    MixedItems(String),
    /// A list to order is empty in the object and in the patch.
    #[error("no elements in any of the given slices")]
    NoItems,
    /// The items of a list and its `$setElementOrder` disagree.
    #[error("The order in patch list:\n{list}\n doesn't match $setElementOrder list:\n{order}\n")]
    Order {
        /// The items of the patch.
        list: String,
        /// The items of the directive.
        order: String,
    },
}

impl StrategicMergeError {
    /// Returns the code of kube-apiserver's HTTP response.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Self::PrimitiveList | Self::RetainKeys | Self::ElementOrder => 400,
            Self::ListOfLists => 422,
            _ => 500,
        }
    }
}

type Outcome<T> = Result<T, StrategicMergeError>;

/// Merges `patch` into `target`, which is of type `of`.
///
/// # Errors
/// A directive is malformed or does not fit the object. `target` may have changed then.
pub fn strategic_merge_patch<T: PatchMeta>(
    target: &mut Map<String, Value>,
    patch: Map<String, Value>,
    of: Option<T>,
) -> Outcome<()> {
    let merged = merge_map(std::mem::take(target), patch, of)?;
    *target = merged;
    Ok(())
}

fn merge_map<T: PatchMeta>(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    of: Option<T>,
) -> Outcome<Map<String, Value>> {
    match patch.get(DIRECTIVE).map(Value::as_str) {
        None => {}
        Some(Some("replace")) => {
            patch.remove(DIRECTIVE);
            return Ok(patch);
        }
        Some(Some("delete")) => return Ok(Map::new()),
        Some(_) => return Err(unknown_directive(&patch)),
    }
    retain_keys(&mut original, &mut patch)?;
    merge_ordered_lists(&mut original, &mut patch, of)?;
    for (name, change) in patch {
        let deleted_from = match name.starts_with(DELETE_FROM_LIST) {
            true => Some(list_name(&name).ok_or(StrategicMergeError::PrimitiveList)?),
            false => None,
        };
        let is_deletion = deleted_from.is_some();
        let name = deleted_from.map_or(name.clone(), str::to_owned);
        if change.is_null() {
            original.remove(&name);
            continue;
        }
        let merged = match (original.remove(&name), change) {
            (Some(Value::Object(fields)), Value::Object(changes)) => {
                let field = lookup(of, &name)?;
                Some(Value::Object(match field.strategy {
                    Strategy::Replace => changes,
                    _ => merge_map(fields, changes, field.of)?,
                }))
            }
            (Some(Value::Array(items)), Value::Array(changes)) => {
                let field = lookup(of, &name)?;
                let merges = is_deletion || field.strategy == Strategy::Merge;
                Some(Value::Array(if merges {
                    merge_list(items, changes, &field, is_deletion)?
                } else {
                    changes
                }))
            }
            (before, _) if is_deletion => before,
            (_, change) => new_value(change),
        };
        original.extend(merged.map(|value| (name, value)));
    }
    Ok(original)
}

/// The list that a directive such as `$setElementOrder/env` names.
fn list_name(directive: &str) -> Option<&str> {
    let (prefix, name) = directive.split_once('/')?;
    matches!(prefix, DELETE_FROM_LIST | ELEMENT_ORDER).then_some(name)
}

fn lookup<T: PatchMeta>(of: Option<T>, name: &str) -> Outcome<Field<T>> {
    let Some(of) = of else { return Ok(Field { strategy: Strategy::Default, merge_key: None, of: None }) };
    of.field(name).ok_or_else(|| StrategicMergeError::Field { of: of.name(), field: name.to_owned() })
}

fn unknown_directive(patch: &Map<String, Value>) -> StrategicMergeError {
    let directive = golang::display(&patch[DIRECTIVE]);
    StrategicMergeError::Directive { directive, map: golang::display(&Value::Object(patch.clone())) }
}

/// A value that the object lacks, or has with another type: without null fields and objects with `$patch`.
fn new_value(mut value: Value) -> Option<Value> {
    prune_nulls(&mut value);
    without_directives(value)
}

/// A value without the objects that have `$patch`; `None` if it is one.
fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => return None,
        Value::Object(fields) => fields
            .into_iter()
            .filter_map(|(name, value)| without_directives(value).map(|value| (name, value)))
            .collect(),
        Value::Array(items) => items.into_iter().filter_map(without_directives).collect(),
        scalar => scalar,
    })
}

/// Removes the fields that `$retainKeys` does not name.
fn retain_keys(original: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Outcome<()> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let kept = kept.as_array().ok_or(StrategicMergeError::RetainKeys)?;
    let is_kept = |name: &String| kept.iter().any(|one| one == name);
    let is_exempt = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(ELEMENT_ORDER);
    if patch.iter().any(|(name, value)| !value.is_null() && !is_exempt(name) && !is_kept(name)) {
        return Err(StrategicMergeError::RetainKeys);
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

/// Merges and orders the lists that have `$setElementOrder`, and takes them from the patch.
fn merge_ordered_lists<T: PatchMeta>(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    of: Option<T>,
) -> Outcome<()> {
    let directives: Vec<String> =
        patch.keys().filter(|name| name.starts_with(ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let order = items_of(patch.remove(&directive))?.unwrap_or_default();
        let name = list_name(&directive).ok_or(StrategicMergeError::ElementOrder)?;
        let before = items_of(original.get(name).cloned())?;
        let changes = items_of(patch.get(name).cloned())?;
        let field = lookup(of, name)?;
        let key = field.merge_key;
        list::check_order(changes.as_deref().unwrap_or_default(), &order, key)?;
        let lists = [before.as_deref().unwrap_or_default(), changes.as_deref().unwrap_or_default()];
        let has_items = list::check_types(&lists)?.is_some();
        let merged = match (before.clone(), changes) {
            (None, None) => continue,
            _ if !has_items => return Err(StrategicMergeError::NoItems),
            (Some(before), None) => before,
            (None, Some(changes)) => changes.into_iter().filter_map(without_directives).collect(),
            (Some(before), Some(changes)) if field.strategy == Strategy::Merge => {
                merge_list(before, changes, &field, false)?
            }
            (Some(_), Some(changes)) => changes,
        };
        let merged = ordered(merged, &order, before.as_deref().unwrap_or_default(), key)?;
        original.insert(name.to_owned(), Value::Array(merged));
        patch.remove(name);
    }
    Ok(())
}

fn items_of(value: Option<Value>) -> Outcome<Option<Vec<Value>>> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => {
            Err(StrategicMergeError::Type { expected: "[]interface {}", actual: golang::type_name(&other) })
        }
    }
}

#[cfg(test)]
mod tests;
