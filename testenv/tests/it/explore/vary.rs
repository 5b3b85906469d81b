//! Variants of the applied object.

use std::borrow::Cow;

use kube::Resource;
use kube::core::ObjectMeta;
use kubesmith_testenv::{Explore, Failed, Report};
use operators::frame::{Seen, run};

use super::{HOUR, SMALL, add_named, removes_what_is_wrong};

pub(super) const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.a.example}
spec:
  group: a.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer, maximum: 5}, note: {type: string}}
";

/// The kind, for `vary`.
struct Widget(ObjectMeta);

impl Resource for Widget {
    type DynamicType = ();
    type Scope = kube::core::NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Widget".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "a.example".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "widgets".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0
    }
}

fn varied<F, Fut>(operator: F, schedules: usize) -> Result<Report, Box<Failed>>
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    varied_of(CRD, operator, schedules)
}

/// Explores with another definition of widgets.
pub(super) fn varied_of<F, Fut>(
    definition: impl Into<String>,
    operator: F,
    schedules: usize,
) -> Result<Report, Box<Failed>>
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    let definition = definition.into();
    Explore::new("varied").schedules(schedules).time(HOUR).run(move |sim| {
        let definition = definition.clone();
        async move {
            sim.crds(definition);
            sim.apply(SMALL.replace("{size: 1}", "{size: 1, note: a}"));
            sim.vary::<Widget>();
            sim.operator(move |client| run(client, true, async move |seen| operator(seen).await));
        }
    })
}

/// Fails for a note that is not a label.
async fn labels_with_the_note(seen: Seen) -> kube::Result<()> {
    for widget in seen.widgets.values() {
        let mut map = super::child(widget, true);
        let note = widget.data["spec"]["note"].as_str().unwrap_or_default();
        map.metadata.labels = Some([("note".to_owned(), note.to_owned())].into());
        let params = kube::api::PatchParams::apply("widgets").force();
        let name = map.metadata.name.clone().unwrap_or_default();
        let patch = kube::api::Patch::Apply(&map);
        seen.map_api().patch(&name, &params, &patch).await?;
    }
    Ok(())
}

#[test]
fn object_that_should_be_refused_is_noted_within_few_schedules() {
    // The second odd object is the one that matters. Every sixth schedule applies one.
    let report = varied(labels_with_the_note, 12).unwrap();
    let unrefused: Vec<&str> = report.unrefused().collect();
    assert_eq!(unrefused.len(), 1, "{report}");
    assert!(unrefused[0].starts_with("spec.note = \"Not valid!\" is accepted, and then"), "{report}");
    assert!(unrefused[0].ends_with("(plan=invalid@1)"), "{report}");
}

/// Never removes a map.
async fn only_adds(seen: Seen) -> kube::Result<()> {
    add_named(&seen).await
}

/// Keeps the label of a note that is unset.
async fn keeps_label(seen: Seen) -> kube::Result<()> {
    for widget in seen.live() {
        let labels = serde_json::json!({"labels": {"note": widget.data["spec"]["note"]}});
        let patch = match widget.data["spec"]["note"].is_string() {
            true => serde_json::json!({"metadata": labels}),
            false => serde_json::json!({}),
        };
        seen.put(super::child(widget, true)).await?;
        let (name, params) =
            (widget.metadata.name.clone().unwrap_or_default(), kube::api::PatchParams::default());
        seen.map_api().patch(&name, &params, &kube::api::Patch::Merge(&patch)).await?;
    }
    Ok(())
}

#[test]
fn rest_is_found_when_a_field_is_unset() {
    let failed = varied(keeps_label, 42).unwrap_err();
    assert!(failed.failure().starts_with("spec.note is unset in step"), "{failed}");
    assert!(failed.failure().contains("metadata.labels.note is a instead of nothing"), "{failed}");
    assert_eq!(failed.plan(), "fields", "{failed}");
}

#[test]
fn rest_is_found_when_a_change_is_taken_back() {
    let failed = varied(only_adds, 42).unwrap_err();
    assert!(failed.failure().contains("ConfigMap default/one-2 is left over"), "{failed}");
    let report = varied(removes_what_is_wrong, 42).unwrap();
    assert!(report.schedules() >= 42, "{report}");
    assert_eq!(report.dead_fields().collect::<Vec<_>>(), ["spec.note"], "{report}");
}

#[test]
fn variant_is_left_out_when_the_server_refuses_the_transition() {
    // The size may grow, so that it cannot be changed back, and the note cannot be changed at all.
    let rules = CRD
        .replace("maximum: 5}", "maximum: 5, x-kubernetes-validations: [{rule: self >= oldSelf}]}")
        .replace("{type: string}", "{type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}");
    let report = varied_of(rules, removes_what_is_wrong, 42).unwrap();
    // The variant that unsets the note and sets it again remains.
    assert_eq!(report.dead_fields().collect::<Vec<_>>(), ["spec.note"], "{report}");
}
