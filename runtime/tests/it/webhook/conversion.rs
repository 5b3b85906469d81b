//! Conversion, called by an API server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::Resource;
use kubesmith_runtime::scheme::Scheme;
use kubesmith_runtime::webhook::{ConversionError, Conversions, Convertible, Hub, HubSpokes, Server};
use kubesmith_testenv::TestEnv;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::api_server::{Serving, serving};

pub(super) mod v1 {
    use super::*;
    use kubesmith_runtime::ObjectMeta;

    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "a.example", version = "v1", kind = "Widget")]
    pub(crate) struct Widget {
        pub(crate) metadata: ObjectMeta,
        #[serde(default)]
        pub(crate) spec: Spec,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, kubesmith_runtime::Schema)]
    pub(crate) struct Spec {
        #[serde(default, skip_serializing_if = "super::is_zero")]
        pub(crate) size: i64,
    }
}

pub(super) mod v2 {
    use super::*;
    use kubesmith_runtime::ObjectMeta;

    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "a.example", version = "v2", kind = "Widget")]
    pub(crate) struct Widget {
        pub(crate) metadata: ObjectMeta,
        #[serde(default)]
        pub(crate) spec: Spec,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, kubesmith_runtime::Schema)]
    pub(crate) struct Spec {
        #[serde(default, skip_serializing_if = "super::is_zero")]
        pub(crate) width: i64,
        #[serde(default, skip_serializing_if = "super::is_zero")]
        pub(crate) height: i64,
    }
}

pub(super) mod v3 {
    use super::*;
    use kubesmith_runtime::ObjectMeta;

    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "a.example", version = "v3", kind = "Widget")]
    pub(crate) struct Widget {
        pub(crate) metadata: ObjectMeta,
        #[serde(default)]
        pub(crate) spec: Spec,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, kubesmith_runtime::Schema)]
    pub(crate) struct Spec {
        #[serde(default, skip_serializing_if = "super::is_zero")]
        pub(crate) length: i64,
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The annotation in which v1 keeps values for which it has no field.
const HEIGHT: &str = "a.example/height";

impl Hub for v2::Widget {}

impl Convertible<v2::Widget> for v1::Widget {
    fn convert_to(self) -> Result<v2::Widget, ConversionError> {
        if self.spec.size < 0 {
            return Err(ConversionError::new("spec.size is negative"));
        }
        let mut metadata = self.metadata;
        let height = metadata.annotations.as_mut().and_then(|annotations| annotations.remove(HEIGHT));
        let height = height.map_or(Ok(0), |height| height.parse())?;
        Ok(v2::Widget { metadata, spec: v2::Spec { width: self.spec.size, height } })
    }

    fn convert_from(hub: v2::Widget) -> Result<Self, ConversionError> {
        let mut metadata = hub.metadata;
        if hub.spec.height != 0 {
            let annotations = metadata.annotations.get_or_insert_default();
            annotations.insert(HEIGHT.to_owned(), hub.spec.height.to_string());
        }
        Ok(v1::Widget { metadata, spec: v1::Spec { size: hub.spec.width } })
    }
}

/// Functions instead of traits.
fn from_newest(newest: v3::Widget) -> Result<v2::Widget, ConversionError> {
    let spec = v2::Spec { width: newest.spec.length, height: 0 };
    Ok(v2::Widget { metadata: newest.metadata, spec })
}

fn to_newest(hub: v2::Widget) -> Result<v3::Widget, ConversionError> {
    Ok(v3::Widget { metadata: hub.metadata, spec: v3::Spec { length: hub.spec.width } })
}

/// The same conversions in a scheme.
fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    scheme.register::<v1::Widget>("WidgetList");
    scheme.register::<v2::Widget>("WidgetList").register::<v3::Widget>("WidgetList");
    scheme.add_conversion_func(|old: &v1::Widget| old.clone().convert_to());
    scheme.add_conversion_func(|hub: &v2::Widget| v1::Widget::convert_from(hub.clone()));
    scheme.add_conversion_func(|newest: &v3::Widget| from_newest(newest.clone()));
    scheme.add_conversion_func(|hub: &v2::Widget| to_newest(hub.clone()));
    scheme
}

fn crd(serving: &Serving) -> CustomResourceDefinition {
    let integer = json!({"type": "integer"});
    let version = |name: &str, spec: serde_json::Value| {
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}}})
    };
    serde_json::from_value(json!({
        "metadata": {"name": "widgets.a.example"},
        "spec": {
            "group": "a.example", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version("v1", json!({"size": integer})), version("v2", json!({"width": integer, "height": integer})),
                version("v3", json!({"length": integer}))],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"], "clientConfig": serving.client_config("/convert")}}}}))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_read_and_written_in_every_version() {
    let kind = HubSpokes::<v2::Widget>::new().spoke::<v1::Widget>().spoke_with(from_newest, to_newest);
    every_version(Conversions::new().kind(kind)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scheme_converts_every_version() {
    every_version(Conversions::of_scheme(scheme())).await;
}

#[test]
fn versions_without_a_type_are_refused() {
    let mut scheme = Scheme::new();
    scheme.register::<v1::Widget>("WidgetList");
    scheme.add_conversion_func(|old: &v1::Widget| old.clone().convert_to());
    let built = Server::builder().conversions(Conversions::of_scheme(scheme)).build();
    let error = built.map(drop).unwrap_err();
    assert!(
        error.to_string().contains("a.example/v2, Kind=Widget has conversions in the scheme but no type"),
        "{error}"
    );
}

#[test]
fn missing_conversions_are_reported_when_the_server_is_built() {
    let built = |scheme: Scheme| Server::builder().conversions(Conversions::of_scheme(scheme)).build();
    let refused = |scheme: Scheme| built(scheme).map(drop).unwrap_err().to_string();
    let mut scheme = Scheme::new();
    scheme.register::<v1::Widget>("WidgetList").register::<v2::Widget>("WidgetList");
    scheme.add_conversion_func(|old: &v1::Widget| old.clone().convert_to());
    let error = refused(scheme.clone());
    assert!(
        error.contains("Widget cannot be converted from a.example/v2 to a.example/v1: register a function"),
        "{error}"
    );
    // Both convert to the hub, but the hub does not convert to each of them.
    scheme.register::<v3::Widget>("WidgetList");
    scheme.add_conversion_func(|hub: &v2::Widget| v1::Widget::convert_from(hub.clone()));
    scheme.add_conversion_func(|newest: &v3::Widget| from_newest(newest.clone()));
    let error = refused(scheme.clone());
    assert!(error.contains("from a.example/v1 to a.example/v3"), "{error}");
    scheme.add_conversion_func(|hub: &v2::Widget| to_newest(hub.clone()));
    assert!(built(scheme).is_ok());
}

async fn every_version(conversions: Conversions) {
    let mut env = TestEnv::builder().start().await.unwrap();
    let serving = serving(|server| server.conversions(conversions)).await;
    env.install_crds(vec![crd(&serving)]).await.unwrap();
    let client = kubesmith_runtime::client::connect(env.config().await.unwrap()).await.unwrap();
    let old: Api<v1::Widget> = Api::namespaced(client.clone(), "default");
    let newest: Api<v3::Widget> = Api::namespaced(client.clone(), "default");
    let new: Api<v2::Widget> = Api::namespaced(client, "default");
    let mut widget = v2::Widget { spec: v2::Spec { width: 2, height: 3 }, ..v2::Widget::default() };
    widget.metadata.name = Some("w".to_owned());
    widget.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    let created = new.create(&PostParams::default(), &widget).await.unwrap();
    assert_eq!(created.spec, widget.spec);
    let mut read = old.get("w").await.unwrap();
    assert_eq!(read.spec.size, 2);
    assert_eq!(newest.get("w").await.unwrap().spec.length, 2);
    assert_eq!((&read.metadata.uid, &read.metadata.labels), (&created.metadata.uid, &widget.metadata.labels));
    assert_eq!(read.metadata.annotations.as_ref().unwrap()[HEIGHT], "3");
    // A client that knows only the old version loses no field of the new one.
    read.spec.size = 4;
    old.replace("w", &PostParams::default(), &read).await.unwrap();
    let read = new.get("w").await.unwrap();
    assert_eq!(read.spec, v2::Spec { width: 4, height: 3 });
    assert!(read.metadata.annotations.unwrap_or_default().is_empty());
    for at in 0..100 {
        widget.metadata.name = Some(format!("w{at}"));
        new.create(&PostParams::default(), &widget).await.unwrap();
    }
    assert_eq!(new.list(&ListParams::default()).await.unwrap().items.len(), 101);
    // By server-side apply, in one version after the other.
    for (version, spec) in [("v1", json!({"size": 7})), ("v2", json!({"height": 8})), ("v2", json!({}))] {
        let applied = json!({"apiVersion": format!("a.example/{version}"), "kind": "Widget", "spec": spec});
        let (params, patch) = (PatchParams::apply("me").force(), Patch::Apply(applied));
        match version {
            "v1" => drop(old.patch("w", &params, &patch).await.unwrap()),
            _ => drop(new.patch("w", &params, &patch).await.unwrap()),
        }
    }
    // A field that was applied before and is no longer applied is given up.
    assert_eq!(new.get("w").await.unwrap().spec, v2::Spec::default());
    let one = json!({"spec": {"size": -1}});
    old.patch("w1", &PatchParams::default(), &Patch::Merge(one)).await.unwrap();
    let error = new.get("w1").await.unwrap_err().to_string();
    let expected =
        "cannot convert a.example/v1, Kind=Widget default/w1 to a.example/v2: spec.size is negative";
    assert!(error.contains(expected), "{error}");
    assert!(new.list(&ListParams::default()).await.is_err(), "all or none");
    env.stop().await;
    serving.stop().await;
}

#[cfg(feature = "crd")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_that_no_longer_converts_is_named_by_a_migration() {
    use kubesmith_runtime::crd::{CrdError, Migration, Upgrade};

    let mut env = TestEnv::builder().start().await.unwrap();
    let serving = serving(|server| server.conversions(Conversions::of_scheme(scheme()))).await;
    let mut definition = serde_json::to_value(crd(&serving)).unwrap();
    let client = kubesmith_runtime::client::connect(env.config().await.unwrap()).await.unwrap();
    let upgrade = Upgrade::new("widget-operator", "1.0.0");
    upgrade.apply(&client, &[definition.clone()]).await.unwrap();
    let old: Api<v1::Widget> = Api::namespaced(client.clone(), "default");
    for (name, size) in [("a", 1), ("b", -1), ("c", 3)] {
        let mut widget = v1::Widget { spec: v1::Spec { size }, ..v1::Widget::default() };
        widget.metadata.name = Some(name.to_owned());
        old.create(&PostParams::default(), &widget).await.unwrap();
    }
    for (at, storage) in [false, true, false].into_iter().enumerate() {
        definition["spec"]["versions"][at]["storage"] = storage.into();
    }
    upgrade.apply(&client, &[definition]).await.unwrap();

    let migration = Migration::new("widgets.a.example");
    for _ in 0..2 {
        let failed = migration.run(&client, |_| {}).await.unwrap_err();
        let CrdError::Unmigrated { failed, total: 1, .. } = &failed else { panic!("{failed}") };
        assert_eq!(failed[0].object.to_string(), "default/b");
        assert!(failed[0].reason.contains("spec.size is negative"), "{failed:?}");
        assert_eq!(old.get("b").await.unwrap().spec.size, -1, "nothing is lost");
    }
    let one = json!({"spec": {"size": 2}});
    old.patch("b", &PatchParams::default(), &Patch::Merge(one)).await.unwrap();
    assert_eq!(migration.run(&client, |_| {}).await.unwrap().pruned, ["v1"]);
    env.stop().await;
    serving.stop().await;
}

mod breaking {
    use super::*;

    /// Fails once.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "a.example", version = "v1", kind = "Widget")]
    pub(crate) struct Widget {
        pub(crate) metadata: kubesmith_runtime::ObjectMeta,
        #[serde(default)]
        pub(crate) spec: v1::Spec,
    }
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Convertible<v2::Widget> for breaking::Widget {
    fn convert_to(self) -> Result<v2::Widget, ConversionError> {
        assert!(CALLS.fetch_add(1, Ordering::Relaxed) > 0, "broken");
        Ok(v2::Widget { metadata: self.metadata, ..v2::Widget::default() })
    }

    fn convert_from(hub: v2::Widget) -> Result<Self, ConversionError> {
        Ok(breaking::Widget { metadata: hub.metadata, spec: v1::Spec::default() })
    }
}

#[tokio::test]
async fn panicking_conversion_ends_only_its_request() {
    let registry = Arc::new(kubesmith_runtime::metrics::Registry::new());
    let conversions = Conversions::new().kind(HubSpokes::<v2::Widget>::new().spoke::<breaking::Widget>());
    let serving = serving(|server| server.metrics(&registry).conversions(conversions)).await;
    let review = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {
        "uid": "u", "desiredAPIVersion": "a.example/v2",
        "objects": [{"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "w"}}]}});
    let (code, status) = serving.running.post("/convert", &review.to_string()).await;
    assert_eq!((code, status["reason"].as_str()), (500, Some("InternalError")));
    assert!(registry.encode().contains("controller_runtime_conversion_webhook_panics_total 1\n"));
    let (code, answer) = serving.running.post("/convert", &review.to_string()).await;
    assert_eq!(
        (code, answer),
        (
            200,
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": {
            "uid": "u", "result": {"status": "Success"},
            "convertedObjects": [{"apiVersion": "a.example/v2", "kind": "Widget", "metadata": {"name": "w"},
                "spec": {}}]}})
        )
    );
    serving.stop().await;
}
