//! Rules of pods about other pods: required affinity and anti-affinity, and even spreading, in a cluster of one node.
//!
//! Source: `pkg/scheduler/framework/plugins/interpodaffinity` and `podtopologyspread`.

use serde_json::Value;

use super::super::cluster::{Cluster, NAMESPACES};
use super::fit::Misfit;
use crate::meta::{self, member};
use crate::selector;

/// `PodTopologySpread`: with one node, every key has one domain at most. It is the emptiest one, too, unless the pod
/// wants more domains than there are.
pub(super) fn misspread(pod: &Value, others: &[&Value], node: &Value) -> Option<Misfit> {
    let constraints = pod["spec"]["topologySpreadConstraints"].as_array().into_iter().flatten();
    let strict: Vec<&Value> =
        constraints.filter(|constraint| constraint["whenUnsatisfiable"] == "DoNotSchedule").collect();
    const NO_MATCH: &str = "node(s) didn't match pod topology spread constraints";
    if strict.iter().any(|constraint| !has_key(node, constraint)) {
        return Misfit::never(&format!("{NO_MATCH} (missing required label)"));
    }
    let is_exceeded = |constraint: &&&Value| {
        let selects = |pod: &Value| {
            let selector = &constraint["labelSelector"];
            selector::matches(selector, &pod["metadata"]["labels"])
        };
        let counts = |other: &&&Value| {
            meta::namespace(other) == meta::namespace(pod) && !meta::is_terminating(other) && selects(other)
        };
        // An empty selector counts no pods (`countPodsMatchSelector`).
        let is_empty = selector::is_empty(&constraint["labelSelector"]);
        let here = if is_empty { 0 } else { others.iter().filter(counts).count() };
        let least = if constraint["minDomains"].as_i64().unwrap_or(1) > 1 { 0 } else { here };
        let skew = i64::try_from(here - least).unwrap_or(i64::MAX).saturating_add(i64::from(selects(pod)));
        skew > constraint["maxSkew"].as_i64().unwrap_or(1)
    };
    strict.iter().find(is_exceeded).and_then(|_| Misfit::for_now(NO_MATCH))
}

/// `InterPodAffinity`.
pub(super) fn separated(cluster: &Cluster, pod: &Value, others: &[&Value], node: &Value) -> Option<Misfit> {
    let matches = |owner: &Value, term: &Value, other: &Value| is_meant(cluster, owner, term, other);
    let all = |terms: &[Value], other: &Value| terms.iter().all(|term| matches(pod, term, other));
    let wanted = terms(pod, "podAffinity");
    // The first pod of a series that attract each other may start.
    let attracted = wanted.is_empty() || others.iter().any(|other| all(wanted, other)) || all(wanted, pod);
    if !attracted || !wanted.iter().all(|term| has_key(node, term)) {
        return Misfit::never("node(s) didn't match pod affinity rules");
    }
    let repels = |owner: &Value, other: &Value| {
        let mut terms = terms(owner, "podAntiAffinity").iter();
        terms.any(|term| has_key(node, term) && matches(owner, term, other))
    };
    if others.iter().any(|other| repels(pod, other)) {
        return Misfit::for_now("node(s) didn't match pod anti-affinity rules");
    }
    if others.iter().any(|other| repels(other, pod)) {
        return Misfit::for_now("node(s) didn't satisfy existing pods anti-affinity rules");
    }
    None
}

fn has_key(node: &Value, of: &Value) -> bool {
    node["metadata"]["labels"].get(member(of, "topologyKey")).is_some()
}

fn terms<'a>(pod: &'a Value, kind: &str) -> &'a [Value] {
    let terms = &pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"];
    terms.as_array().map_or(&[], Vec::as_slice)
}

/// Reports whether a term of a pod matches another pod (`Matches` of `AffinityTerm`).
fn is_meant(cluster: &Cluster, owner: &Value, term: &Value, other: &Value) -> bool {
    let namespace = meta::namespace(other);
    let named = meta::strings(&term["namespaces"]);
    let selected = &term["namespaceSelector"];
    let is_own = named.is_empty() && selected.is_null() && namespace == meta::namespace(owner);
    let is_selected = || {
        let stored = cluster.get(NAMESPACES, namespace);
        stored.is_some_and(|stored| selector::matches(selected, &stored.value["metadata"]["labels"]))
    };
    (is_own || named.contains(&namespace) || is_selected())
        && selector::matches(&term["labelSelector"], &other["metadata"]["labels"])
}
