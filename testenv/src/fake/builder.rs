//! The settings of a fake.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kubesmith_apiserver::{ApiServer, ApiServerOptions, Clock};
use serde_json::Value;

use super::error::FakeError;
use super::object::Object;
use super::service::{Core, FakeService};
use super::tracker::{self, Tracker};
use super::{Fake, FakeClients};

/// Builds a [`Fake`].
#[derive(Debug)]
pub struct FakeBuilder<C> {
    crds: Vec<Object>,
    texts: Vec<&'static str>,
    paths: Vec<PathBuf>,
    objects: Vec<Object>,
    server: ApiServerOptions,
    clients: PhantomData<fn() -> C>,
}

impl<C: FakeClients> FakeBuilder<C> {
    pub(super) fn new() -> Self {
        let server = ApiServerOptions { bare: true, ..ApiServerOptions::default() };
        let (crds, paths, objects) = Default::default();
        Self { crds, texts: vec![C::CRDS], paths, objects, server, clients: PhantomData }
    }

    /// Adds this object, or those of a list; see [`Tracker::add`].
    #[must_use]
    pub fn object(mut self, object: impl Into<Object>) -> Self {
        self.objects.push(object.into());
        self
    }

    /// Adds these objects; see [`Tracker::add`].
    #[must_use]
    pub fn objects<O: Into<Object>>(mut self, objects: impl IntoIterator<Item = O>) -> Self {
        self.objects.extend(objects.into_iter().map(Into::into));
        self
    }

    /// Adds the kinds of these CRDs.
    #[must_use]
    pub fn crds(mut self, crds: impl IntoIterator<Item = CustomResourceDefinition>) -> Self {
        self.crds.extend(crds.into_iter().map(Object::from));
        self
    }

    /// Adds the kinds of the CRDs in these files and folders.
    #[must_use]
    pub fn crd_paths<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds the kinds of another package's clients, which [`Fake::clients`] then creates.
    #[must_use]
    pub fn kinds_of<D: FakeClients>(mut self) -> Self {
        self.texts.push(D::CRDS);
        self
    }

    /// Runs the controllers of kube-controller-manager, as
    /// [`TestEnvBuilder::controllers`](crate::TestEnvBuilder::controllers). Off by default: only clients change
    /// objects.
    #[must_use]
    pub fn controllers(mut self, run: bool) -> Self {
        self.server.controllers = run;
        self
    }

    /// Uses the time of `clock` in metadata, not the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.server.clock = Some(clock);
        self
    }

    /// Makes UIDs and generated names the same in every run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.server.seed = Some(seed);
        self
    }

    /// Creates the fake.
    ///
    /// # Errors
    /// Returns an error outside of a tokio runtime, when a CRD is refused or unreadable, and as [`Tracker::add`] for
    /// the objects.
    pub fn build(self) -> Result<Fake<C>, FakeError> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(FakeError::NoRuntime);
        }
        let crds = self.all_crds()?;
        let server = ApiServer::start(self.server).map_err(crate::Error::from)?;
        let (objects, service) = (server.objects(), server.service());
        objects
            .add_definitions(crds)
            .map_err(|(name, error)| FakeError::Crd { name, status: Box::new(tracker::status(&error)) })?;
        let tracker = Tracker::new(objects);
        for object in self.objects {
            tracker.add(object)?;
        }
        let (actions, reactors) = Default::default();
        let core = Arc::new(Core { server: Mutex::new(Some(server)), service, tracker, actions, reactors });
        let client = Client::new(FakeService(core.clone()), "default");
        Ok(Fake { clients: C::of_client(client.clone()), client, core })
    }

    /// Returns the CRDs of all sources; of those with one name, the last.
    fn all_crds(&self) -> Result<Vec<Value>, FakeError> {
        let mut found = Vec::new();
        for text in self.texts.iter().filter(|text| !text.trim().is_empty()) {
            let list: Value = serde_json::from_str(text)
                .map_err(|error| FakeError::Unreadable(format!("CRDs: {error}")))?;
            found.extend(Object::from_value(list).flattened()?);
        }
        for path in &self.paths {
            for crd in crate::files::read_crds(path)? {
                found.push(Object::from(crd).value()?.clone());
            }
        }
        for crd in &self.crds {
            found.push(crd.value()?.clone());
        }
        let mut crds: Vec<Value> = Vec::new();
        for mut value in found {
            convert_by_name(&mut value);
            match crds.iter_mut().find(|old| old["metadata"]["name"] == value["metadata"]["name"]) {
                Some(old) => *old = value,
                None => crds.push(value),
            }
        }
        Ok(crds)
    }
}

/// Removes the conversion webhook, as unit tests have none: the versions of a kind then differ only in their names.
fn convert_by_name(crd: &mut Value) {
    if crd["spec"]["conversion"]["strategy"] == "Webhook" {
        crd["spec"]["conversion"] = serde_json::json!({"strategy": "None"});
    }
}
