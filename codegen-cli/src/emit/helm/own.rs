//! The names of the user's own values, which the schema admits.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::output::kept_part;

/// Returns the keys that the user has added to the values of a chart, and the names of the charts that it depends on:
/// Helm passes their values under their names.
pub fn own_values(chart: &Path) -> BTreeSet<String> {
    let read = |file: &str, part: &str| -> Value {
        let text = fs::read_to_string(chart.join(file)).unwrap_or_default();
        serde_yaml::from_str(&kept_part(&text, part).unwrap_or(text)).unwrap_or_default()
    };
    let values = read("values.yaml", "values");
    let own = values.as_object().into_iter().flatten().map(|(key, _)| key.clone());
    let chart = read("Chart.yaml", "chart");
    let dependencies = chart["dependencies"].as_array().into_iter().flatten();
    let named =
        dependencies.filter_map(|one| Some(one.get("alias").or(one.get("name"))?.as_str()?.to_owned()));
    own.chain(named).collect()
}
