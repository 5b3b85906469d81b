//! Owner references: which objects are deleted with which owner, and which controller an object belongs to.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

/// An owner reference cannot be set or removed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerError {
    /// The object has another controller.
    #[error("{object} is already controlled by {} {}, so {owner} cannot control it", .by.kind, .by.name)]
    AlreadyOwned {
        /// The object.
        object: String,
        /// Its controller.
        by: Box<OwnerReference>,
        /// The intended controller.
        owner: String,
    },
    /// An owner in a namespace can only own objects in the same namespace.
    #[error(
        "{owner} is in namespace {owner_namespace:?} and cannot own {object}, which is {}",
        match .object_namespace { Some(namespace) => format!("in namespace {namespace:?}"), None => "cluster-scoped".to_owned() }
    )]
    OtherNamespace {
        /// The object.
        object: String,
        /// Its namespace.
        object_namespace: Option<String>,
        /// The owner.
        owner: String,
        /// Its namespace.
        owner_namespace: String,
    },
    /// The owner to remove is not the object's controller.
    #[error("{object} is not controlled by {owner}")]
    NotController {
        /// The object.
        object: String,
        /// The owner to remove.
        owner: String,
    },
    /// The owner has no name or no uid because it was not read from the server.
    #[error("{owner} has no {missing}: read the owner from the server first")]
    Incomplete {
        /// The owner.
        owner: String,
        /// `name` or `uid`.
        missing: &'static str,
    },
}

fn describe<K: Resource<DynamicType = ()>>(object: &K) -> String {
    let name = object.meta().name.as_deref().unwrap_or("(no name)");
    match object.meta().namespace.as_deref() {
        Some(namespace) => format!("{} {namespace}/{name}", K::kind(&())),
        None => format!("{} {name}", K::kind(&())),
    }
}

/// Makes `owner` the controller of `object`: the garbage collector deletes the object with it, and controllers that
/// own such objects get its changes. The object must still be written.
///
/// # Errors
///
/// [`OwnerError`] if there is another controller, the namespaces do not fit, or the owner was not read from the
/// server. The object is then unchanged.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use kubesmith_runtime::controllerutil::{controller_of, set_controller_reference};
///
/// let mut pod = Pod::default();
/// pod.metadata.name = Some("web".into());
/// pod.metadata.uid = Some("1-2-3".into());
/// let mut map = ConfigMap::default();
/// set_controller_reference(&pod, &mut map)?;
/// assert_eq!(controller_of(&map).map(|owner| owner.name.as_str()), Some("web"));
/// # Ok::<(), kubesmith_runtime::controllerutil::OwnerError>(())
/// ```
pub fn set_controller_reference<O, K>(owner: &O, object: &mut K) -> Result<(), OwnerError>
where
    O: Resource<DynamicType = ()>,
    K: Resource<DynamicType = ()>,
{
    set_controller_reference_with(owner, object, true)
}

/// As [`set_controller_reference`], with the choice whether foreground deletion of `owner` waits for `object`; it
/// does by default. If the admission plugin `OwnerReferencesPermissionEnforcement` is enabled, this needs the right
/// to update the owner's finalizers.
///
/// # Errors
///
/// As [`set_controller_reference`].
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use kubesmith_runtime::controllerutil::{controller_of, set_controller_reference_with};
///
/// let mut pod = Pod::default();
/// pod.metadata.name = Some("web".into());
/// pod.metadata.uid = Some("1-2-3".into());
/// let mut map = ConfigMap::default();
/// set_controller_reference_with(&pod, &mut map, false)?;
/// assert_eq!(controller_of(&map).and_then(|owner| owner.block_owner_deletion), Some(false));
/// # Ok::<(), kubesmith_runtime::controllerutil::OwnerError>(())
/// ```
pub fn set_controller_reference_with<O, K>(
    owner: &O,
    object: &mut K,
    block_owner_deletion: bool,
) -> Result<(), OwnerError>
where
    O: Resource<DynamicType = ()>,
    K: Resource<DynamicType = ()>,
{
    let reference = OwnerReference {
        controller: Some(true),
        block_owner_deletion: Some(block_owner_deletion),
        ..reference(owner, object)?
    };
    if let Some(by) = controller_of(object).filter(|by| !is_same(by, &reference)) {
        return Err(OwnerError::AlreadyOwned {
            object: describe(object),
            by: Box::new(by.clone()),
            owner: describe(owner),
        });
    }
    upsert(object, reference);
    Ok(())
}

/// Makes `owner` one of the owners of `object`, which is deleted with the last of them. The object must still be
/// written.
///
/// # Errors
///
/// [`OwnerError`] if the namespaces do not fit, or the owner was not read from the server.
pub fn set_owner_reference<O, K>(owner: &O, object: &mut K) -> Result<(), OwnerError>
where
    O: Resource<DynamicType = ()>,
    K: Resource<DynamicType = ()>,
{
    let reference = reference(owner, object)?;
    upsert(object, reference);
    Ok(())
}

/// Removes `owner` from the owners of `object`; returns whether it was one.
pub fn remove_owner_reference<O, K>(owner: &O, object: &mut K) -> bool
where
    O: Resource<DynamicType = ()>,
    K: Resource<DynamicType = ()>,
{
    let list = &mut object.meta_mut().owner_references;
    let Some(references) = list else { return false };
    let before = references.len();
    references.retain(|other| !names(other, owner));
    let changed = references.len() != before;
    if references.is_empty() {
        *list = None;
    }
    changed
}

/// Removes `owner`, which must be the controller of `object`, from its owners. The object must still be written.
///
/// # Errors
///
/// [`OwnerError::NotController`] if another object, or none, is the controller. The object is then unchanged.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use kubesmith_runtime::controllerutil::{
///     has_owner_reference, remove_controller_reference, set_controller_reference,
/// };
///
/// let mut pod = Pod::default();
/// pod.metadata.name = Some("web".into());
/// pod.metadata.uid = Some("1-2-3".into());
/// let mut map = ConfigMap::default();
/// set_controller_reference(&pod, &mut map)?;
/// assert!(has_owner_reference(&map, &pod));
/// remove_controller_reference(&pod, &mut map)?;
/// assert!(!has_owner_reference(&map, &pod));
/// # Ok::<(), kubesmith_runtime::controllerutil::OwnerError>(())
/// ```
pub fn remove_controller_reference<O, K>(owner: &O, object: &mut K) -> Result<(), OwnerError>
where
    O: Resource<DynamicType = ()>,
    K: Resource<DynamicType = ()>,
{
    if controller_of(object).is_some_and(|controller| names(controller, owner)) {
        remove_owner_reference(owner, object);
        return Ok(());
    }
    Err(OwnerError::NotController { object: describe(object), owner: describe(owner) })
}

/// Reports whether `owner`, by name and kind, is one of the owners of `object`.
pub fn has_owner_reference<O, K>(object: &K, owner: &O) -> bool
where
    O: Resource<DynamicType = ()>,
    K: Resource,
{
    object.meta().owner_references.iter().flatten().any(|reference| names(reference, owner))
}

/// Returns the controller among the owners of `object`.
pub fn controller_of<K: Resource>(object: &K) -> Option<&OwnerReference> {
    object.meta().owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// Reports whether `object` has a controller.
pub fn has_controller_reference<K: Resource>(object: &K) -> bool {
    controller_of(object).is_some()
}

/// Reports whether `owner`, by uid and not only by name, controls `object`.
pub fn is_controlled_by<O: Resource, K: Resource>(object: &K, owner: &O) -> bool {
    let uid = owner.meta().uid.as_ref();
    uid.is_some() && controller_of(object).map(|controller| &controller.uid) == uid
}

fn reference<O, K>(owner: &O, object: &K) -> Result<OwnerReference, OwnerError>
where
    O: Resource<DynamicType = ()>,
    K: Resource<DynamicType = ()>,
{
    let (meta, object_namespace) = (owner.meta(), object.meta().namespace.as_ref());
    if let Some(owner_namespace) =
        meta.namespace.as_ref().filter(|namespace| Some(*namespace) != object_namespace)
    {
        return Err(OwnerError::OtherNamespace {
            object: describe(object),
            object_namespace: object_namespace.cloned(),
            owner: describe(owner),
            owner_namespace: owner_namespace.clone(),
        });
    }
    let incomplete = |missing| OwnerError::Incomplete { owner: describe(owner), missing };
    Ok(OwnerReference {
        api_version: O::api_version(&()).into_owned(),
        kind: O::kind(&()).into_owned(),
        name: meta.name.clone().filter(|name| !name.is_empty()).ok_or_else(|| incomplete("name"))?,
        uid: meta.uid.clone().filter(|uid| !uid.is_empty()).ok_or_else(|| incomplete("uid"))?,
        ..OwnerReference::default()
    })
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Reports whether the reference names `owner`, in any version and with any uid.
fn names<O: Resource<DynamicType = ()>>(reference: &OwnerReference, owner: &O) -> bool {
    Some(reference.name.as_str()) == owner.meta().name.as_deref()
        && reference.kind == O::kind(&())
        && group_of(&reference.api_version) == O::group(&())
}

/// Reports whether both references name the same object, in any version and with any uid.
fn is_same(one: &OwnerReference, other: &OwnerReference) -> bool {
    one.name == other.name
        && one.kind == other.kind
        && group_of(&one.api_version) == group_of(&other.api_version)
}

fn upsert<K: Resource>(object: &mut K, reference: OwnerReference) {
    let references = object.meta_mut().owner_references.get_or_insert_default();
    match references.iter_mut().find(|known| is_same(known, &reference)) {
        Some(known) => *known = reference,
        None => references.push(reference),
    }
}
