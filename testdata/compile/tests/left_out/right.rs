use kubesmith_expected::methods::clientset::typed::harbour::v1::{Docks, NamespacedGates, NamespacedRopes};
use kubesmith_expected::verbs::clientset::typed::shop::v1::{NamespacedReadonlies, NamespacedSkipDeletes, OnlyGetLists};

pub async fn there(readonly: NamespacedReadonlies, only: OnlyGetLists, skip: NamespacedSkipDeletes) {
    let _ = readonly.get("a").await;
    let _ = only.get("a").await;
    let _ = skip.get("a").await;
}

pub async fn by_name(docks: Docks, gates: NamespacedGates, ropes: NamespacedRopes) {
    let _ = docks.get_scale("a").await;
    let _ = gates.inspect("a").await;
    let _ = ropes.get("a").await;
}
