//! The client of `__Kind__` objects of `__ApiVersion__` as traits: for code that takes any client, and
//! for clients of your own.

#[when(any_patch_method)]
use ::core::fmt::Debug;

#[when(has_verbs)]
#[when(imports_object)]
use __ObjectPath__;
#[when(any_verb)]
use ::kubesmith_runtime::client::prelude::*;
#[when(has_verbs)]
use ::kubesmith_runtime::client::verbs::{self, delegate};
#[when(any_patch_method)]
use ::kubesmith_runtime::serde::Serialize;

#[when(applies)]
#[when(imports_configuration)]
use __ConfigurationPath__;

/// Gives the client of `__Kind__` objects.
#[when(cluster)]
pub trait __Getter__: Send + Sync + 'static {
    /// The client.
    type __Plural__: __Kind__Interface;

    /// The client of `__Kind__` objects.
    fn __accessor__(&self) -> Self::__Plural__;
}

/// Gives clients of `__Kind__` objects.
#[when(namespaced)]
pub trait __Getter__: Send + Sync + 'static {
    /// The client of a namespace.
    type __Plural__: __Kind__Interface;

    /// The `__Kind__` objects of one namespace. An empty one stands for all, whose objects can be listed and watched.
    fn __accessor__(&self, namespace: &str) -> Self::__Plural__;
}

/// The verbs of a client of `__Kind__` objects.
///
/// __Summary__
pub trait __Kind__Interface: Send + Sync + 'static
where
    #[when(create)]
    Self: verbs::Create<__Object__>,
    #[when(update)]
    Self: verbs::Update<__Object__>,
    #[when(update_status)]
    Self: verbs::UpdateStatus<__Object__>,
    #[when(delete)]
    Self: verbs::Delete<__Object__>,
    #[when(delete_collection)]
    Self: verbs::DeleteCollection<__Object__>,
    #[when(get)]
    Self: verbs::Get<__Object__>,
    #[when(list)]
    Self: verbs::List<__Object__>,
    #[when(watch)]
    Self: verbs::Watch<__Object__>,
    #[when(patch)]
    Self: verbs::Patch<__Object__>,
    #[when(apply)]
    #[when(configured)]
    Self: verbs::Apply<__Object__, __Configuration__>,
    #[when(apply)]
    #[unless(configured)]
    Self: verbs::Apply<__Object__, __Object__>,
    #[when(apply_status)]
    #[when(configured)]
    Self: verbs::ApplyStatus<__Object__, __Configuration__>,
    #[when(apply_status)]
    #[unless(configured)]
    Self: verbs::ApplyStatus<__Object__, __Object__>,
{
    /// __MethodDoc__
    #[each(method)]
    #[unless(patches)]
    fn __method__(
        &self,
        #[when(named)] name: &str,
        #[when(sends)] input: &__Input__,
        #[when(has_params)] params: &__Params__,
    ) -> impl ResponseFuture<__Answer__>;

    /// __MethodDoc__
    #[along(method)]
    #[when(patches)]
    fn __method__<P: Serialize + Debug + Sync>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> impl ResponseFuture<__Answer__>;
}

#[when(cluster)]
impl __Getter__ for super::super::__GroupVersion__Client {
    type __Plural__ = super::__Client__;

    fn __accessor__(&self) -> Self::__Plural__ {
        self.__accessor__()
    }
}

#[when(namespaced)]
impl __Getter__ for super::super::__GroupVersion__Client {
    type __Plural__ = super::__Client__;

    fn __accessor__(&self, namespace: &str) -> Self::__Plural__ {
        self.__accessor__().namespace(namespace)
    }
}

impl __Kind__Interface for super::__Client__ {
    #[each(method)]
    #[unless(patches)]
    fn __method__(
        &self,
        #[when(named)] name: &str,
        #[when(sends)] input: &__Input__,
        #[when(has_params)] params: &__Params__,
    ) -> impl ResponseFuture<__Answer__> {
        self.__method__(#[when(named)] name, #[when(sends)] input, #[when(has_params)] params)
    }

    #[along(method)]
    #[when(patches)]
    fn __method__<P: Serialize + Debug + Sync>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> impl ResponseFuture<__Answer__> {
        self.__method__(name, params, patch)
    }
}

/// Requests are those of the client inside.
#[when(has_verbs)]
impl delegate::Delegate for super::__Client__ {
    type Object = __Object__;

    fn typed(&self) -> &TypedClient<__Object__> {
        &self.inner
    }
}

#[when(create)]
impl delegate::Create for super::__Client__ {}

#[when(update)]
impl delegate::Update for super::__Client__ {}

#[when(update_status)]
impl delegate::UpdateStatus for super::__Client__ {}

#[when(delete)]
impl delegate::Delete for super::__Client__ {}

#[when(delete_collection)]
impl delegate::DeleteCollection for super::__Client__ {}

#[when(get)]
impl delegate::Get for super::__Client__ {}

#[when(list)]
impl delegate::List for super::__Client__ {}

#[when(watch)]
impl delegate::Watch for super::__Client__ {}

#[when(patch)]
impl delegate::Patch for super::__Client__ {}

#[when(apply)]
#[when(configured)]
impl delegate::Apply for super::__Client__ {
    type Configuration = __Configuration__;
}

#[when(apply)]
#[unless(configured)]
impl verbs::Apply<__Object__, __Object__> for super::__Client__ {
    fn apply(&self, object: &__Object__, params: &PatchParams) -> impl ResponseFuture<__Object__> {
        self.apply(object, params)
    }
}

#[when(apply_status)]
#[when(configured)]
impl delegate::ApplyStatus for super::__Client__ {
    type Configuration = __Configuration__;
}

#[when(apply_status)]
#[unless(configured)]
impl verbs::ApplyStatus<__Object__, __Object__> for super::__Client__ {
    fn apply_status(&self, object: &__Object__, params: &PatchParams) -> impl ResponseFuture<__Object__> {
        self.apply_status(object, params)
    }
}
