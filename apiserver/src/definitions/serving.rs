//! The served resources, which follow the stored CRDs.

use std::sync::Arc;

use serde_json::Value;

use crate::registry::{self, Registry};
use crate::server::{Definitions, Server};
use crate::store::Object;
use crate::{api_services, crd, meta};

/// The limit of attempts when others write the same CRDs.
const RETRIES: usize = 1000;

/// Updates the conditions of CRDs and the served resources from the stored CRDs.
pub(crate) fn refresh(server: &Server) {
    let mut served = server.reconciling();
    for _ in 0..RETRIES {
        let crds = stored(server);
        let values: Vec<Value> = crds.iter().map(|crd| crd.value.clone()).collect();
        let changed = super::reconcile(&values, &server.now());
        let settled = changed.iter().all(|next| {
            let Some(old) = crds.iter().find(|old| meta::name(&old.value) == meta::name(next)) else {
                return true;
            };
            server.store.update(crd::COLLECTION, meta::name(next), old.rv, next.clone()).is_ok()
        });
        if settled && changed.is_empty() {
            let definitions = of_established(&crds);
            let resources = definitions.values().flat_map(|crd| registry::of_definition(&crd.value));
            let registry = Registry::shared(resources.collect());
            if !server.is_bare() {
                api_services::sync(server, &registry);
            }
            server.serve(registry);
            if let Some(old) = served.replace(definitions.clone()) {
                renew_watches(server, &old, &definitions);
            }
            return;
        }
    }
}

/// Ends the watches of objects whose definition changed, and keeps later ones from starting before the change.
/// kube-apiserver makes storage and watch cache anew when the spec or the accepted names change
/// (`updateCustomResourceDefinition` of apiextensions-apiserver's customresource_handler.go).
fn renew_watches(server: &Server, old: &Definitions, new: &Definitions) {
    for (collection, crd) in new {
        let same = old.get(collection).is_some_and(|old| {
            old.value["spec"] == crd.value["spec"]
                && old.value["status"]["acceptedNames"] == crd.value["status"]["acceptedNames"]
        });
        if !same {
            server.store.renew_watches(collection);
        }
    }
}

/// Returns all CRDs, the oldest first.
fn stored(server: &Server) -> Vec<Arc<Object>> {
    let mut crds: Vec<Arc<Object>> = match server.store.list(crd::COLLECTION, "", None) {
        Ok(snapshot) => snapshot.objects.into_iter().map(|(_, object)| object).collect(),
        Err(_) => Vec::new(),
    };
    crds.sort_by(|a, b| {
        meta::text(&a.value, "creationTimestamp").cmp(meta::text(&b.value, "creationTimestamp"))
    });
    crds
}

/// Returns the stored CRDs that are established.
pub(crate) fn established(server: &Server) -> Definitions {
    of_established(&stored(server))
}

/// Returns those of these CRDs that are established.
fn of_established(crds: &[Arc<Object>]) -> Definitions {
    let crds = crds.iter().filter(|crd| crd::is_established(&crd.value));
    crds.map(|crd| (crd::collection(&crd.value), crd.clone())).collect()
}
