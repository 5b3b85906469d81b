use kubesmith_expected::methods::clientset::typed::harbour::v1::{Docks, NamespacedGates, NamespacedRopes};
use kubesmith_expected::verbs::clientset::typed::shop::v1::{NamespacedReadonlies, NamespacedSkipDeletes, OnlyGetLists};
use kubesmith_expected::verbs::clientset::typed::shop::v1::ReadonlyInterface;

pub async fn absent(readonly: NamespacedReadonlies, only: OnlyGetLists, skip: NamespacedSkipDeletes) {
    let _ = readonly.create().await;
    let _ = only.watch().await;
    let _ = skip.delete("a").await;
}

pub async fn absent_in_the_trait(readonly: impl ReadonlyInterface) {
    let _ = readonly.update().await;
}

pub async fn absent_by_name(docks: Docks, gates: NamespacedGates, ropes: NamespacedRopes) {
    let _ = docks.update_scale("a").await;
    let _ = gates.get("a").await;
    let _ = ropes.get_scale("a").await;
}
