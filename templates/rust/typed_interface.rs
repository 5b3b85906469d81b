//! The client of `__Kind__` objects of `__ApiVersion__` as traits: for code that takes any client, and
//! for clients of your own.

/// Gives the client of `__Kind__` objects.
#[when(cluster)]
pub trait __Plural__Getter: Send + Sync + 'static {
    /// The client.
    type __Plural__: __Kind__Interface;

    /// The client of `__Kind__` objects.
    fn __accessor__(&self) -> Self::__Plural__;
}

/// Gives clients of `__Kind__` objects.
#[when(namespaced)]
pub trait __Plural__Getter: Send + Sync + 'static {
    /// The client of a namespace.
    type __Plural__: __Kind__Interface;

    /// The `__Kind__` objects of one namespace. An empty one stands for all, whose objects can be listed and watched.
    fn __accessor__(&self, namespace: &str) -> Self::__Plural__;
}

/// The verbs of a client of `__Kind__` objects.
///
/// __Summary__
pub trait __Kind__Interface: Send + Sync + 'static {
    /// Creates an object and returns it as stored.
    #[when(create)]
    fn create(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PostParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Replaces the object of that name; its resource version, if set, must be the stored one.
    #[when(update)]
    fn update(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PostParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Replaces the status of the object of that name and nothing else.
    #[when(update_status)]
    fn update_status(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PostParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Deletes an object.
    #[when(delete)]
    fn delete(
        &self,
        name: &str,
        params: &::kubesmith_runtime::kube::api::DeleteParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::client::Deletion<__Object__>>;

    /// Deletes the objects that the list parameters select.
    #[when(delete_collection)]
    fn delete_collection(
        &self,
        params: &::kubesmith_runtime::kube::api::DeleteParams,
        list: &::kubesmith_runtime::kube::api::ListParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::client::Deletion<::kubesmith_runtime::kube::api::ObjectList<__Object__>>>;

    /// Reads an object.
    #[when(get)]
    fn get(
        &self,
        name: &str,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Lists objects.
    #[when(list)]
    fn list(
        &self,
        params: &::kubesmith_runtime::kube::api::ListParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::kube::api::ObjectList<__Object__>>;

    /// Watches objects from a resource version on.
    #[when(watch)]
    fn watch(
        &self,
        params: &::kubesmith_runtime::kube::api::WatchParams,
        resource_version: &str,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::client::WatchStream<__Object__>>;

    /// Changes parts of an object.
    #[when(patch)]
    fn patch<P>(
        &self,
        name: &str,
        params: &::kubesmith_runtime::kube::api::PatchParams,
        patch: &::kubesmith_runtime::kube::api::Patch<P>,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>
    where
        P: ::kubesmith_runtime::serde::Serialize + ::core::fmt::Debug + Sync;

    /// Changes parts of a subresource of an object, such as `status`.
    #[when(patch)]
    fn patch_subresource<P>(
        &self,
        subresource: &str,
        name: &str,
        params: &::kubesmith_runtime::kube::api::PatchParams,
        patch: &::kubesmith_runtime::kube::api::Patch<P>,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>
    where
        P: ::kubesmith_runtime::serde::Serialize + ::core::fmt::Debug + Sync;

    /// Creates or changes an object by server-side apply; the parameters name the field manager.
    #[when(apply)]
    #[when(configured)]
    fn apply(
        &self,
        configuration: &__Configuration__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Creates or changes an object by server-side apply; the parameters name the field manager.
    #[when(apply)]
    #[unless(configured)]
    fn apply(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Changes the status of an object by server-side apply.
    #[when(apply_status)]
    #[when(configured)]
    fn apply_status(
        &self,
        configuration: &__Configuration__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// Changes the status of an object by server-side apply.
    #[when(apply_status)]
    #[unless(configured)]
    fn apply_status(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>;

    /// __MethodDoc__
    #[each(method)]
    #[unless(patches)]
    fn __method__(
        &self,
        #[when(named)] name: &str,
        #[when(sends)] input: &__Input__,
        #[when(has_params)] params: &::kubesmith_runtime::kube::api::__Params__,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Answer__>;

    /// __MethodDoc__
    #[along(method)]
    #[when(patches)]
    fn __method__<P>(
        &self,
        name: &str,
        params: &::kubesmith_runtime::kube::api::PatchParams,
        patch: &::kubesmith_runtime::kube::api::Patch<P>,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Answer__>
    where
        P: ::kubesmith_runtime::serde::Serialize + ::core::fmt::Debug + Sync;
}

#[when(cluster)]
impl __Plural__Getter for super::super::__GroupVersion__Client {
    type __Plural__ = super::__Client__;

    fn __accessor__(&self) -> Self::__Plural__ {
        self.__accessor__()
    }
}

#[when(namespaced)]
impl __Plural__Getter for super::super::__GroupVersion__Client {
    type __Plural__ = super::__Client__;

    fn __accessor__(&self, namespace: &str) -> Self::__Plural__ {
        self.__accessor__().namespace(namespace)
    }
}

impl __Kind__Interface for super::__Client__ {
    #[when(create)]
    fn create(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PostParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.create(object, params)
    }

    #[when(update)]
    fn update(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PostParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.update(object, params)
    }

    #[when(update_status)]
    fn update_status(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PostParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.update_status(object, params)
    }

    #[when(delete)]
    fn delete(
        &self,
        name: &str,
        params: &::kubesmith_runtime::kube::api::DeleteParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::client::Deletion<__Object__>> {
        self.delete(name, params)
    }

    #[when(delete_collection)]
    fn delete_collection(
        &self,
        params: &::kubesmith_runtime::kube::api::DeleteParams,
        list: &::kubesmith_runtime::kube::api::ListParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::client::Deletion<::kubesmith_runtime::kube::api::ObjectList<__Object__>>> {
        self.delete_collection(params, list)
    }

    #[when(get)]
    fn get(
        &self,
        name: &str,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.get(name)
    }

    #[when(list)]
    fn list(
        &self,
        params: &::kubesmith_runtime::kube::api::ListParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::kube::api::ObjectList<__Object__>> {
        self.list(params)
    }

    #[when(watch)]
    fn watch(
        &self,
        params: &::kubesmith_runtime::kube::api::WatchParams,
        resource_version: &str,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<::kubesmith_runtime::client::WatchStream<__Object__>> {
        self.watch(params, resource_version)
    }

    #[when(patch)]
    fn patch<P>(
        &self,
        name: &str,
        params: &::kubesmith_runtime::kube::api::PatchParams,
        patch: &::kubesmith_runtime::kube::api::Patch<P>,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>
    where
        P: ::kubesmith_runtime::serde::Serialize + ::core::fmt::Debug + Sync,
    {
        self.patch(name, params, patch)
    }

    #[when(patch)]
    fn patch_subresource<P>(
        &self,
        subresource: &str,
        name: &str,
        params: &::kubesmith_runtime::kube::api::PatchParams,
        patch: &::kubesmith_runtime::kube::api::Patch<P>,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__>
    where
        P: ::kubesmith_runtime::serde::Serialize + ::core::fmt::Debug + Sync,
    {
        self.patch_subresource(subresource, name, params, patch)
    }

    #[when(apply)]
    #[when(configured)]
    fn apply(
        &self,
        configuration: &__Configuration__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.apply(configuration, params)
    }

    #[when(apply)]
    #[unless(configured)]
    fn apply(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.apply(object, params)
    }

    #[when(apply_status)]
    #[when(configured)]
    fn apply_status(
        &self,
        configuration: &__Configuration__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.apply_status(configuration, params)
    }

    #[when(apply_status)]
    #[unless(configured)]
    fn apply_status(
        &self,
        object: &__Object__,
        params: &::kubesmith_runtime::kube::api::PatchParams,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Object__> {
        self.apply_status(object, params)
    }

    #[each(method)]
    #[unless(patches)]
    fn __method__(
        &self,
        #[when(named)] name: &str,
        #[when(sends)] input: &__Input__,
        #[when(has_params)] params: &::kubesmith_runtime::kube::api::__Params__,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Answer__> {
        self.__method__(#[when(named)] name, #[when(sends)] input, #[when(has_params)] params)
    }

    #[along(method)]
    #[when(patches)]
    fn __method__<P>(
        &self,
        name: &str,
        params: &::kubesmith_runtime::kube::api::PatchParams,
        patch: &::kubesmith_runtime::kube::api::Patch<P>,
    ) -> impl ::kubesmith_runtime::client::ResponseFuture<__Answer__>
    where
        P: ::kubesmith_runtime::serde::Serialize + ::core::fmt::Debug + Sync,
    {
        self.__method__(name, params, patch)
    }
}
