//! Changes of single fields.

use operators::frame::{CRD, Seen, has_finalizer, is_deleted, part, run, value};
use serde_json::Value;

use super::settings::Settings;
use super::{Explore, Failed, Report};

const WIDGET: &str = "
apiVersion: a.example/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 1}
";

/// Changes each field of a widget whose spec has these fields.
fn changed<F, Fut>(fields: &'static str, operator: F) -> Result<Report, Box<Failed>>
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    let plan = Some("fields".parse().unwrap());
    let explore = Explore { name: "fields".to_owned(), settings: Settings { plan, ..Settings::default() } };
    explore.supervised(move |sim| async move {
        let spec = format!("spec: {{type: object, required: [size], properties: {{{fields}}}}}");
        sim.crds(CRD.replace("spec: {type: object, x-kubernetes-preserve-unknown-fields: true}", &spec));
        sim.apply(WIDGET);
        sim.vary_kind("a.example/v1", "Widget");
        sim.operator(move |client| run(client, false, async move |seen| operator(seen).await));
    })
}

/// Makes a part for each name, and removes none.
async fn leaves(seen: Seen, names: impl Fn(&Value) -> Vec<String>) -> kube::Result<()> {
    for widget in seen.live() {
        for name in names(&widget.data["spec"]) {
            seen.put(part(widget, &name, 1)).await?;
        }
    }
    Ok(())
}

#[test]
fn value_of_an_unset_text_is_tried() {
    let fields = "size: {type: integer}, title: {type: string, pattern: '^t[0-9]+$'}";
    let failed = changed(fields, |seen| {
        leaves(seen, |spec| spec["title"].as_str().into_iter().map(str::to_owned).collect())
    })
    .unwrap_err();
    assert!(failed.failure().contains("a change of spec.title"), "{failed}");
    assert!(failed.failure().contains("one-t0 is left over"), "{failed}");
}

#[test]
fn value_of_a_rule_is_tried() {
    let fields = "size: {type: integer}, mode: {type: string, x-kubernetes-validations: [{rule: 'self in [\"small\", \"odd\"]'}]}";
    let failed = changed(fields, |seen| {
        leaves(seen, |spec| (spec["mode"] == "odd").then(|| "odd".to_owned()).into_iter().collect())
    })
    .unwrap_err();
    assert!(failed.failure().contains("a change of spec.mode"), "{failed}");
}

/// Keeps the size in a map, but panics at the greatest one.
async fn panics_at_the_bound(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let size = widget.data["spec"]["size"].as_u64().unwrap_or_default();
        assert!(size != 5, "too large");
        seen.put(part(widget, "size", size)).await?;
    }
    Ok(())
}

#[test]
fn bound_on_which_the_operator_fails_is_noted() {
    let fields = "size: {type: integer, maximum: 5}, unused: {type: string}, raw: {type: object, x-kubernetes-preserve-unknown-fields: true}";
    let report = changed(fields, panics_at_the_bound).unwrap();
    let noted: Vec<&str> = report.unrefused().collect();
    assert_eq!(noted.len(), 1, "{report}");
    assert!(noted[0].starts_with("spec.size = 5 is accepted, and then the operator panics"), "{report}");
    assert!(noted[0].ends_with("(plan=fields)"), "{report}");
    assert_eq!(report.dead_fields().collect::<Vec<_>>(), ["spec.unused"], "{report}");
    assert_eq!(report.untried_fields().collect::<Vec<_>>(), ["spec.raw"], "{report}");
    assert!(report.to_string().contains("fields that were not changed: spec.raw"), "{report}");
}

/// Keeps the mode in a map.
async fn has_a_default(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let mode = widget.data["spec"]["mode"].as_str().unwrap_or("example");
        match seen.part_of(widget, "mode") {
            Some(map) if value(map) != mode => seen.set_value(map, mode).await?,
            Some(_) => {}
            None => seen.put(part(widget, "mode", mode)).await?,
        }
    }
    Ok(())
}

#[test]
fn field_is_not_dead_when_one_value_means_the_same_as_none() {
    let report = changed("size: {type: integer}, mode: {type: string}", has_a_default).unwrap();
    assert_eq!(report.dead_fields().collect::<Vec<_>>(), ["spec.size"], "{report}");
}

/// Does nothing for a paused widget, or finalizes it at least.
async fn pauses(seen: Seen, finalizes: bool) -> kube::Result<()> {
    for widget in seen.widgets.values() {
        let is_paused = widget.data["spec"]["paused"] == true && !(finalizes && is_deleted(widget));
        if !is_paused && has_finalizer(widget) == is_deleted(widget) {
            seen.finalize(widget, !is_deleted(widget)).await?;
        }
        if !is_paused && !is_deleted(widget) {
            seen.put(part(widget, "map", 1)).await?;
        }
    }
    Ok(())
}

#[test]
fn object_is_deleted_in_every_mode() {
    let fields = "size: {type: integer}, paused: {type: boolean}";
    let failed = changed(fields, |seen| pauses(seen, false)).unwrap_err();
    assert!(failed.failure().starts_with("the deletion never ends: \"one\" waits"), "{failed}");
    assert_eq!(failed.plan(), "fields");
    changed(fields, |seen| pauses(seen, true)).unwrap();
}
