//! What kube-rs makes of the kinds of this crate, and whether the command makes the same of their source.
#![allow(clippy::unwrap_used, missing_docs)]

mod corpus;
mod equal;
mod refused;
mod unreadable;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kube::CustomResourceExt as _;
use kubesmith_apiextensions::structural::validate_crd;
use kubesmith_kube_compare::{Kind, kinds};
use serde_json::{Value, json};

/// What becomes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// `crd()` answers, and an API server takes it.
    Taken,
    /// `crd()` answers, and an API server refuses it.
    Refused,
    /// `crd()` panics.
    Panics,
}

/// What `crd()` answers, as data.
fn crd(kind: &Kind) -> Option<Value> {
    let crd = catch_unwind(AssertUnwindSafe(kind.crd)).ok()?;
    Some(serde_json::to_value(crd).unwrap())
}

/// Why an API server refuses a CRD; empty when it takes it.
fn faults(crd: &Value) -> String {
    let mut crd = crd.clone();
    // What the server fills in before it looks.
    crd["spec"]["names"]["listKind"] =
        format!("{}List", crd["spec"]["names"]["kind"].as_str().unwrap()).into();
    crd["spec"]["conversion"] = json!({"strategy": "None"});
    let stored = crd["spec"]["versions"][0]["name"].take();
    crd["spec"]["versions"][0]["name"] = stored.clone();
    crd["status"] = json!({"storedVersions": [stored]});
    let causes = validate_crd(&crd, None);
    causes.iter().map(|cause| format!("{}: {}\n", cause.field, cause.detail)).collect()
}

fn fate(kind: &Kind) -> (Fate, String) {
    match crd(kind) {
        None => (Fate::Panics, String::new()),
        Some(crd) => match faults(&crd) {
            none if none.is_empty() => (Fate::Taken, none),
            some => (Fate::Refused, some),
        },
    }
}

#[test]
fn server_accepts_every_crd_of_kube_rs() {
    let kinds = kinds();
    assert!(kinds.len() >= 90, "{} kinds", kinds.len());
    let mut names = BTreeSet::new();
    for kind in &kinds {
        let (fate, why) = fate(kind);
        assert_eq!(fate, Fate::Taken, "{}::{}: {why}", kind.module, kind.root);
        let name = crd(kind).unwrap()["metadata"]["name"].to_string();
        assert!(names.insert(name.clone()), "two kinds have the name {name}");
    }
}

#[test]
fn kinds_that_kube_rs_refuses_equal_the_list() {
    let wrong: Vec<String> = refused::kinds()
        .iter()
        .filter_map(|(kind, expected)| {
            let (actual, why) = fate(kind);
            (actual != *expected).then(|| format!("{}: {actual:?}, not {expected:?}\n{why}", kind.root))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crds_that_only_exist_at_run_time_are_valid() {
    let crds = [
        unreadable::ComputedBounds::crd,
        unreadable::Computed::crd,
        unreadable::ComputedDefaults::crd,
        unreadable::ComputedRules::crd,
        unreadable::ComputedSkips::crd,
        unreadable::MadeByMacros::crd,
        unreadable::OwnConversions::crd,
        unreadable::WrittenDefaults::crd,
    ];
    for crd in crds {
        assert_eq!(faults(&serde_json::to_value(crd()).unwrap()), "");
    }
}
