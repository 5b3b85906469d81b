//! The verbs of clients as traits: for code that takes any client, and for handwritten clients.
//!
//! A generated trait such as `BalancerInterface` includes all verbs of the kind's client. Code that needs two of them
//! requires only these, and runs on any client that has them:
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubesmith_runtime::client::prelude::*;
//! use kubesmith_runtime::client::verbs;
//!
//! async fn size(maps: &impl verbs::Get<ConfigMap>, name: &str) -> Result<usize> {
//!     Ok(maps.get(name).await?.data.unwrap_or_default().len())
//! }
//!
//! /// Returns an empty map for every name.
//! struct Empty;
//!
//! impl verbs::Get<ConfigMap> for Empty {
//!     async fn get(&self, _name: &str) -> Result<ConfigMap> {
//!         Ok(ConfigMap::default())
//!     }
//! }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! assert_eq!(size(&Empty, "settings").await.unwrap(), 0);
//! # });
//! ```
//!
//! Code that writes objects of any kind:
//!
//! ```
//! use kube::api::{Patch, PatchParams};
//! use kubesmith_runtime::client::{Result, verbs};
//! use serde_json::json;
//!
//! async fn settle<K, A, C>(client: &C, name: &str, wanted: &A) -> Result<K>
//! where
//!     K: verbs::Kind,
//!     C: verbs::Apply<K, A> + verbs::ApplyStatus<K, A> + verbs::Patch<K>,
//! {
//!     let manager = PatchParams::apply("my-controller");
//!     client.apply(wanted, &manager).await?;
//!     client.apply_status(wanted, &manager).await?;
//!     let ready = Patch::Merge(json!({"status": {"ready": true}}));
//!     client.patch_subresource("status", name, &PatchParams::default(), &ready).await?;
//!     let label = Patch::Merge(json!({"metadata": {"labels": {"settled": "true"}}}));
//!     client.patch(name, &PatchParams::default(), &label).await
//! }
//! ```
//!
//! A method that a bound brings needs no import. That of a type which a bound only mentions, as the client that a
//! `BalancersGetter` gives, needs its trait: [`prelude`](super::prelude) has all of them, without their names.

use std::fmt::Debug;

use kube::api::{
    DeleteParams, ListParams, ObjectList, Patch as PatchOf, PatchParams, PostParams, WatchParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Deletion, KindClient, ResponseFuture, Result, TypedClient, WatchStream};

/// The traits by which a generated client defines its kind and its verbs.
///
/// A generated client is a [`CompleteClient`](super::CompleteClient), or a type of its own around a [`KindClient`].
/// It implements [`GeneratedClient`](delegate::GeneratedClient) and a trait of this module for each of its verbs;
/// [`All`](delegate::All) includes all of them. The methods are those of [`KindClient`], which has one for each of
/// these traits and no others.
pub mod delegate {
    use std::ops::Deref;

    use serde::Serialize;

    use crate::client::{KindClient, TypedClient};

    /// A client of one kind with the runtime's client inside.
    pub trait Delegate: Send + Sync + 'static {
        /// The kind.
        type Object: super::Kind;
        /// The type that [`Apply`] and [`ApplyStatus`] take: the kind's apply configuration, or the kind itself.
        type Configuration: Serialize + Send + Sync + 'static;

        /// The client inside, which has every verb.
        fn typed(&self) -> &TypedClient<Self::Object>;
    }

    /// A client that is generated: it dereferences to its requests and is made of them.
    pub trait GeneratedClient:
        Deref<Target = KindClient<Self>> + From<KindClient<Self>> + Send + Sync + 'static
    {
        /// As [`Delegate::Object`].
        type Object: super::Kind;
        /// As [`Delegate::Configuration`].
        type Configuration: Serialize + Send + Sync + 'static;
    }

    impl<C: GeneratedClient> Delegate for C {
        type Configuration = C::Configuration;
        type Object = C::Object;

        fn typed(&self) -> &TypedClient<C::Object> {
            self.deref().typed()
        }
    }

    /// Has [`Patch`](super::Patch).
    pub trait Patch: Delegate {}

    /// Has [`Apply`](super::Apply).
    pub trait Apply: Delegate {}

    /// Has [`ApplyStatus`](super::ApplyStatus).
    pub trait ApplyStatus: Delegate {}

    pub use super::marker::*;

    /// Has every verb.
    pub trait All: Delegate {}

    impl<C: All> Patch for C {}
    impl<C: All> Apply for C {}
    impl<C: All> ApplyStatus for C {}
}

/// The type of a kind that clients can handle. Every suitable type implements it.
pub trait Kind:
    kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
}

impl<K> Kind for K where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + Sync
        + 'static
{
}

/// Each verb as a trait, with what makes it the verb of the client inside.
macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident: $method:ident($($name:ident: $ty:ty),*) -> $answer:ty;)*) => {
        $(
            $(#[$doc])*
            pub trait $verb<K: Clone>: Send + Sync + 'static {
                $(#[$doc])*
                ///
                /// # Errors
                #[doc = concat!("As [`TypedClient::", stringify!($method), "`]; a client of one's own may have others.")]
                fn $method(&self, $($name: $ty),*) -> impl ResponseFuture<$answer>;
            }

            impl<K: Kind, C: delegate::$verb<Object = K>> KindClient<C> {
                $(#[$doc])*
                ///
                /// # Errors
                #[doc = concat!("As [`TypedClient::", stringify!($method), "`].")]
                #[inline]
                pub async fn $method(&self, $($name: $ty),*) -> Result<$answer> {
                    self.typed().$method($($name),*).await
                }
            }

            impl<K: Kind, C: delegate::$verb<Object = K>> $verb<K> for C {
                fn $method(&self, $($name: $ty),*) -> impl ResponseFuture<$answer> {
                    self.typed().$method($($name),*)
                }
            }
        )*

        /// The traits of [`delegate`] without members of their own.
        mod marker {
            $(
                #[doc = concat!("Has [`", stringify!($verb), "`](super::", stringify!($verb), ").")]
                pub trait $verb: super::delegate::Delegate {}

                impl<C: super::delegate::All> $verb for C {}
            )*
        }
    };
}

verbs! {
    /// Creates an object and returns it as stored.
    Create: create(object: &K, params: &PostParams) -> K;
    /// Replaces the object of that name; its resource version, if set, must be the stored one.
    Update: update(object: &K, params: &PostParams) -> K;
    /// Replaces only the status of the object of that name.
    UpdateStatus: update_status(object: &K, params: &PostParams) -> K;
    /// Deletes an object.
    Delete: delete(name: &str, params: &DeleteParams) -> Deletion<K>;
    /// Deletes the objects that the list parameters select.
    DeleteCollection: delete_collection(params: &DeleteParams, list: &ListParams) -> Deletion<ObjectList<K>>;
    /// Reads an object.
    Get: get(name: &str) -> K;
    /// Lists objects.
    List: list(params: &ListParams) -> ObjectList<K>;
    /// Watches objects from a resource version on.
    Watch: watch(params: &WatchParams, resource_version: &str) -> WatchStream<K>;
}

/// Changes parts of an object, or of a subresource of it.
pub trait Patch<K: Clone>: Send + Sync + 'static {
    /// Changes parts of an object.
    ///
    /// # Errors
    /// As [`TypedClient::patch`]; a client of one's own may have others.
    fn patch<P>(&self, name: &str, params: &PatchParams, patch: &PatchOf<P>) -> impl ResponseFuture<K>
    where
        P: Serialize + Debug + Sync;

    /// Changes parts of a subresource of an object, such as `status`.
    ///
    /// # Errors
    /// As [`TypedClient::patch_subresource`]; a client of one's own may have others.
    fn patch_subresource<P>(
        &self,
        subresource: &str,
        name: &str,
        params: &PatchParams,
        patch: &PatchOf<P>,
    ) -> impl ResponseFuture<K>
    where
        P: Serialize + Debug + Sync;
}

impl<K: Kind> delegate::Delegate for TypedClient<K> {
    type Configuration = K;
    type Object = K;

    fn typed(&self) -> &TypedClient<K> {
        self
    }
}

impl<K: Kind> delegate::All for TypedClient<K> {}

impl<K: Kind, C: delegate::Patch<Object = K>> Patch<K> for C {
    fn patch<P>(&self, name: &str, params: &PatchParams, patch: &PatchOf<P>) -> impl ResponseFuture<K>
    where
        P: Serialize + Debug + Sync,
    {
        self.typed().patch(name, params, patch)
    }

    fn patch_subresource<P>(
        &self,
        subresource: &str,
        name: &str,
        params: &PatchParams,
        patch: &PatchOf<P>,
    ) -> impl ResponseFuture<K>
    where
        P: Serialize + Debug + Sync,
    {
        self.typed().patch_subresource(subresource, name, params, patch)
    }
}

impl<K: Kind, C: delegate::Patch<Object = K>> KindClient<C> {
    /// Changes parts of an object.
    ///
    /// # Errors
    /// As [`TypedClient::patch`].
    #[inline]
    pub async fn patch<P>(&self, name: &str, params: &PatchParams, patch: &PatchOf<P>) -> Result<K>
    where
        P: Serialize + Debug,
    {
        self.typed().patch(name, params, patch).await
    }

    /// Changes parts of a subresource of an object, such as `status`.
    ///
    /// # Errors
    /// As [`TypedClient::patch_subresource`].
    #[inline]
    pub async fn patch_subresource<P>(
        &self,
        subresource: &str,
        name: &str,
        params: &PatchParams,
        patch: &PatchOf<P>,
    ) -> Result<K>
    where
        P: Serialize + Debug,
    {
        self.typed().patch_subresource(subresource, name, params, patch).await
    }
}

/// Creates or changes an object by server-side apply.
pub trait Apply<K: Clone, A>: Send + Sync + 'static {
    /// Creates or changes an object by server-side apply: the configuration's fields become the field manager's, which the
    /// parameters name.
    ///
    /// # Errors
    /// As [`TypedClient::apply_configuration`]; a client of one's own may have others.
    fn apply(&self, configuration: &A, params: &PatchParams) -> impl ResponseFuture<K>;
}

impl<C: delegate::Apply> Apply<C::Object, C::Configuration> for C {
    fn apply(
        &self,
        configuration: &C::Configuration,
        params: &PatchParams,
    ) -> impl ResponseFuture<C::Object> {
        self.typed().apply_fields(None, configuration, params)
    }
}

impl<C: delegate::Apply> KindClient<C> {
    /// Creates or changes an object by server-side apply: the configuration's fields become the field manager's. The
    /// parameters name the manager and whether it takes fields from others (`force`).
    ///
    /// # Errors
    /// As [`TypedClient::apply_configuration`].
    #[inline]
    pub async fn apply(&self, configuration: &C::Configuration, params: &PatchParams) -> Result<C::Object> {
        self.typed().apply_fields(None, configuration, params).await
    }
}

/// Changes the status of an object by server-side apply.
pub trait ApplyStatus<K: Clone, A>: Send + Sync + 'static {
    /// Changes the status of an object by server-side apply; the parameters name the field manager.
    ///
    /// # Errors
    /// As [`TypedClient::apply_configuration_to`]; a client of one's own may have others.
    fn apply_status(&self, configuration: &A, params: &PatchParams) -> impl ResponseFuture<K>;
}

impl<C: delegate::ApplyStatus> ApplyStatus<C::Object, C::Configuration> for C {
    fn apply_status(
        &self,
        configuration: &C::Configuration,
        params: &PatchParams,
    ) -> impl ResponseFuture<C::Object> {
        self.typed().apply_fields(Some("status"), configuration, params)
    }
}

impl<C: delegate::ApplyStatus> KindClient<C> {
    /// Changes the status of an object by server-side apply; the parameters name the field manager.
    ///
    /// # Errors
    /// As [`TypedClient::apply_configuration_to`].
    #[inline]
    pub async fn apply_status(
        &self,
        configuration: &C::Configuration,
        params: &PatchParams,
    ) -> Result<C::Object> {
        self.typed().apply_fields(Some("status"), configuration, params).await
    }
}

/// Every verb, for kinds that leave none out.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::api::{DeleteParams, PostParams};
/// use kubesmith_runtime::client::{Result, verbs};
///
/// async fn recreate(maps: &impl verbs::All<ConfigMap, ConfigMap>, map: &ConfigMap, name: &str) -> Result<ConfigMap> {
///     maps.delete(name, &DeleteParams::default()).await?;
///     maps.create(map, &PostParams::default()).await
/// }
/// ```
pub trait All<K: Clone, A>:
    Create<K>
    + Update<K>
    + UpdateStatus<K>
    + Delete<K>
    + DeleteCollection<K>
    + Get<K>
    + List<K>
    + Watch<K>
    + Patch<K>
    + Apply<K, A>
    + ApplyStatus<K, A>
{
}

impl<K: Clone, A, C> All<K, A> for C where
    C: Create<K>
        + Update<K>
        + UpdateStatus<K>
        + Delete<K>
        + DeleteCollection<K>
        + Get<K>
        + List<K>
        + Watch<K>
        + Patch<K>
        + Apply<K, A>
        + ApplyStatus<K, A>
{
}
