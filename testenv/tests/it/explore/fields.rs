//! Changes of single fields.

use kube::ResourceExt as _;
use kube::api::{Patch, PatchParams};
use operators::frame::Seen;
use serde_json::Value;

use super::child;
use super::vary::{CRD, varied_of};

/// A definition with one more field in the spec.
fn with(field: &str) -> String {
    CRD.replace("note: {type: string}", &format!("note: {{type: string}}, {field}"))
}

/// Applies a child, with a second one if a field has a certain value. The second one is never removed.
async fn leaves_second(seen: Seen, wants: impl Fn(&Value) -> bool) -> kube::Result<()> {
    for widget in seen.live() {
        let mut maps = vec![child(widget, true)];
        if wants(&widget.data["spec"]) {
            let mut second = child(widget, true);
            second.metadata.name = Some("second".to_owned());
            maps.push(second);
        }
        for mut map in maps {
            map.metadata.managed_fields = None;
            let params = PatchParams::apply("widgets").force();
            seen.map_api().patch(&map.name_any(), &params, &Patch::Apply(&map)).await?;
        }
    }
    Ok(())
}

#[test]
fn later_changes_are_tried_in_later_runs() {
    let fields: Vec<String> = (0..45).map(|i| format!("f{i:02}: {{type: string}}")).collect();
    let operator = async |seen: Seen| leaves_second(seen, |spec| spec["f44"].is_string()).await;
    let definition = with(&fields.join(", "));
    let report = varied_of(definition.clone(), operator, 50).unwrap();
    assert!(report.untried_fields().any(|field| field == "spec.f44"), "{report}");
    let failed = varied_of(definition, operator, 60).unwrap_err();
    assert!(failed.failure().contains("a change of spec.f44"), "{failed}");
    assert_eq!(failed.plan(), "fields@1", "{failed}");
}
