//! Requests with other types than the client's kind: those of a subresource such as `scale`, and of the resource
//! itself if its requests or responses have other types.

use std::fmt::Debug;

use kube::api::{GetParams, ListParams, ObjectList, Patch, PatchParams, PostParams};
use kube::core::request;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::typed::within;
use super::{Error, Request, TypedClient};

/// The verbs of a subresource with any types of requests and responses. [`TypedClient::subresource`] creates it.
///
/// Every verb names the object of the subresource; the sent object need not have a name. These are the requests of
/// client-gen's methods for `+genclient:method=..,subresource=..`.
///
/// # Cancel safety
/// As of [`TypedClient`].
#[derive(Debug)]
pub struct SubresourceRequests<'a, K> {
    client: &'a TypedClient<K>,
    subresource: &'a str,
}

/// The verbs of a resource, with other types than the client's kind. [`TypedClient::resource`] creates it.
///
/// These are the requests of client-gen's methods for `+genclient:method=..` without a subresource.
///
/// # Cancel safety
/// As of [`TypedClient`].
#[derive(Debug)]
pub struct ResourceRequests<'a, K> {
    client: &'a TypedClient<K>,
}

impl<K> TypedClient<K> {
    /// The requests of a subresource whose objects are of any type.
    ///
    /// ```no_run
    /// use k8s_openapi::api::apps::v1::Deployment;
    /// use k8s_openapi::api::autoscaling::v1::Scale;
    /// use kube::api::PostParams;
    /// use kubesmith_runtime::client::{Error, TypedClient};
    ///
    /// async fn double(deployments: &TypedClient<Deployment>, name: &str) -> Result<Scale, Error> {
    ///     let scales = deployments.subresource("scale");
    ///     let mut scale: Scale = scales.get(name).await?;
    ///     let spec = scale.spec.get_or_insert_default();
    ///     spec.replicas = spec.replicas.map(|replicas| replicas.saturating_mul(2));
    ///     scales.update(name, &scale, &PostParams::default()).await
    /// }
    /// ```
    #[must_use]
    pub fn subresource<'a>(&'a self, subresource: &'a str) -> SubresourceRequests<'a, K> {
        SubresourceRequests { client: self, subresource }
    }

    /// The requests of the resource itself, with objects of any type.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubesmith_runtime::client::{Error, TypedClient};
    /// use serde::Deserialize;
    ///
    /// // As much of a config map as is looked at.
    /// #[derive(Deserialize)]
    /// struct Version {
    ///     data: std::collections::BTreeMap<String, String>,
    /// }
    ///
    /// async fn version(maps: &TypedClient<ConfigMap>) -> Result<Option<String>, Error> {
    ///     let map: Version = maps.resource().get("settings").await?;
    ///     Ok(map.data.get("version").cloned())
    /// }
    /// ```
    #[must_use]
    pub fn resource(&self) -> ResourceRequests<'_, K> {
        ResourceRequests { client: self }
    }
}

impl<K> SubresourceRequests<'_, K>
where
    K: kube::Resource<DynamicType = ()>,
{
    /// Reads the subresource of an object.
    ///
    /// # Errors
    /// As [`TypedClient::get`]. A response that is no `R` is an [`Error::Transport`].
    pub async fn get<R>(&self, name: &str) -> Result<R, Error>
    where
        R: DeserializeOwned,
    {
        let asked = self.asked("get", name)?;
        self.client.send(asked, self.request().get_subresource(self.subresource, name)).await
    }

    /// Lists the subresource of an object. The timeout of `params` counts as in [`TypedClient::list`].
    ///
    /// # Errors
    /// As [`TypedClient::list`].
    pub async fn list<R>(&self, name: &str, params: &ListParams) -> Result<ObjectList<R>, Error>
    where
        R: DeserializeOwned + Clone,
    {
        let asked = self.asked("list", name)?;
        // Refuses invalid names.
        let path = self.request().get_subresource(self.subresource, name);
        let request = path.and_then(|path| request::Request::new(path.uri().path()).list(params));
        self.client.send_within(params, asked, request).await
    }

    /// Sends an object to the subresource of another: `create` on `pods/eviction`.
    ///
    /// # Errors
    /// As [`TypedClient::create`].
    pub async fn create<I, R>(&self, name: &str, input: &I, params: &PostParams) -> Result<R, Error>
    where
        I: Serialize,
        R: DeserializeOwned,
    {
        let asked = self.asked("create", name)?;
        let body = self.client.body(&asked, input)?;
        let request = self.request().create_subresource(self.subresource, name, params, body);
        self.client.send(asked, request).await
    }

    /// Replaces the subresource of an object. With a resource version in `input`, only if it has not changed since.
    ///
    /// # Errors
    /// As [`TypedClient::update`].
    pub async fn update<I, R>(&self, name: &str, input: &I, params: &PostParams) -> Result<R, Error>
    where
        I: Serialize,
        R: DeserializeOwned,
    {
        let asked = self.asked("update", name)?;
        let body = self.client.body(&asked, input)?;
        let request = self.request().replace_subresource(self.subresource, name, params, body);
        self.client.send(asked, request).await
    }

    /// Changes parts of the subresource of an object.
    ///
    /// # Errors
    /// As [`TypedClient::patch`].
    pub async fn patch<P, R>(&self, name: &str, params: &PatchParams, patch: &Patch<P>) -> Result<R, Error>
    where
        P: Serialize + Debug,
        R: DeserializeOwned,
    {
        let asked = self.asked("patch", name)?;
        asked.needs_manager(params, patch)?;
        let request = self.request().patch_subresource(self.subresource, name, params, patch);
        self.client.send(asked, request).await
    }

    /// Changes the subresource of an object by server-side apply: `input` is an apply configuration, or an object with
    /// `apiVersion` and `kind`. `params` must name a field manager.
    ///
    /// # Errors
    /// As [`TypedClient::apply_configuration`].
    pub async fn apply<I, R>(&self, name: &str, input: &I, params: &PatchParams) -> Result<R, Error>
    where
        I: Serialize + Debug,
        R: DeserializeOwned,
    {
        let asked = self.asked("apply", name)?;
        let patch = Patch::Apply(input);
        asked.needs_manager(params, &patch)?;
        let request = self.request().patch_subresource(self.subresource, name, params, &patch);
        self.client.send(asked, request).await
    }

    fn request(&self) -> request::Request {
        self.client.path()
    }

    fn asked(&self, verb: &'static str, name: &str) -> Result<Request, Error> {
        self.client.asked(verb, Some(self.subresource), Some(name))
    }
}

impl<K> ResourceRequests<'_, K>
where
    K: kube::Resource<DynamicType = ()>,
{
    /// Reads an object.
    ///
    /// # Errors
    /// As [`TypedClient::get`]. A response that is no `R` is an [`Error::Transport`].
    pub async fn get<R>(&self, name: &str) -> Result<R, Error>
    where
        R: DeserializeOwned,
    {
        let asked = self.client.asked("get", None, Some(name))?;
        self.client.send(asked, self.client.path().get(name, &GetParams::default())).await
    }

    /// Lists objects. The timeout of `params` counts as in [`TypedClient::list`].
    ///
    /// # Errors
    /// As [`TypedClient::list`].
    pub async fn list<R>(&self, params: &ListParams) -> Result<ObjectList<R>, Error>
    where
        R: DeserializeOwned + Clone,
    {
        // As with the client's own type, all namespaces may be listed.
        let asked = self.client.request("list", None);
        self.client.send_within(params, asked, self.client.path().list(params)).await
    }

    /// Creates an object.
    ///
    /// # Errors
    /// As [`TypedClient::create`].
    pub async fn create<I, R>(&self, input: &I, params: &PostParams) -> Result<R, Error>
    where
        I: Serialize,
        R: DeserializeOwned,
    {
        let asked = self.client.asked("create", None, None)?;
        let body = self.client.body(&asked, input)?;
        self.client.send(asked, self.client.path().create(params, body)).await
    }

    /// Replaces an object. With a resource version in `input`, only if it has not changed since.
    ///
    /// # Errors
    /// As [`TypedClient::update`].
    pub async fn update<I, R>(&self, name: &str, input: &I, params: &PostParams) -> Result<R, Error>
    where
        I: Serialize,
        R: DeserializeOwned,
    {
        let asked = self.client.asked("update", None, Some(name))?;
        let body = self.client.body(&asked, input)?;
        self.client.send(asked, self.client.path().replace(name, params, body)).await
    }

    /// Changes parts of an object.
    ///
    /// # Errors
    /// As [`TypedClient::patch`].
    pub async fn patch<P, R>(&self, name: &str, params: &PatchParams, patch: &Patch<P>) -> Result<R, Error>
    where
        P: Serialize + Debug,
        R: DeserializeOwned,
    {
        let asked = self.client.asked("patch", None, Some(name))?;
        asked.needs_manager(params, patch)?;
        self.client.send(asked, self.client.path().patch(name, params, patch)).await
    }

    /// Creates or changes an object by server-side apply: `input` is an apply configuration, or an object with `apiVersion`
    /// and `kind`. `params` must name a field manager.
    ///
    /// # Errors
    /// As [`TypedClient::apply_configuration`].
    pub async fn apply<I, R>(&self, name: &str, input: &I, params: &PatchParams) -> Result<R, Error>
    where
        I: Serialize + Debug,
        R: DeserializeOwned,
    {
        let asked = self.client.asked("apply", None, Some(name))?;
        let patch = Patch::Apply(input);
        asked.needs_manager(params, &patch)?;
        self.client.send(asked, self.client.path().patch(name, params, &patch)).await
    }
}

impl<K> TypedClient<K>
where
    K: kube::Resource<DynamicType = ()>,
{
    /// The resource's path on the server.
    fn path(&self) -> request::Request {
        request::Request::new(self.api().resource_url())
    }

    /// The request in words, for messages; empty for one object without a namespace.
    fn asked(
        &self,
        verb: &'static str,
        subresource: Option<&str>,
        name: Option<&str>,
    ) -> Result<Request, Error> {
        self.located(verb, name)?;
        let mut asked = self.request(verb, name);
        if let Some(subresource) = subresource {
            asked.resource = format!("{}/{subresource}", asked.resource);
        }
        Ok(asked)
    }

    fn body<I: Serialize>(&self, asked: &Request, input: &I) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(input)
            .map_err(|source| Error::from_kube(asked.clone(), kube::Error::SerdeError(source)))
    }

    async fn send<R: DeserializeOwned>(
        &self,
        asked: Request,
        request: Result<http::Request<Vec<u8>>, request::Error>,
    ) -> Result<R, Error> {
        let answer = match request {
            Ok(request) => self.rest_client().client().request(request).await,
            Err(source) => Err(kube::Error::BuildRequest(source)),
        };
        answer.map_err(|source| Error::from_kube(asked, source))
    }

    async fn send_within<R: DeserializeOwned>(
        &self,
        params: &ListParams,
        asked: Request,
        request: Result<http::Request<Vec<u8>>, request::Error>,
    ) -> Result<R, Error> {
        let failed = asked.clone();
        let sent = async { Ok(self.send(asked, request).await) };
        match within(params, sent).await {
            Ok(outcome) => outcome,
            Err(source) => Err(Error::from_kube(failed, source)),
        }
    }
}

impl Request {
    /// Refuses server-side apply without a field manager.
    pub(super) fn needs_manager<P: Serialize>(
        &self,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<(), Error> {
        let managed = params.field_manager.as_deref().is_some_and(|manager| !manager.is_empty());
        if !matches!(patch, Patch::Apply(_)) || managed {
            return Ok(());
        }
        Err(Error::BadRequest {
            request: Self { verb: "apply", ..self.clone() },
            reason: "server-side apply needs a field manager: PatchParams::apply(\"my-controller\")",
        })
    }
}
