//! The tables of kinds that run pods.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    AGE, BuiltInColumn, Cell, NAME, column, containers, count, labels, list, made, selector, string, text,
    wide,
};
use crate::ages::{between, since};
use crate::builtin::autoscaling;

const CONTAINERS: BuiltInColumn = wide(made("Containers", |o, _| containers(&o["spec"]["template"], "name")));
const IMAGES: BuiltInColumn = wide(made("Images", |o, _| containers(&o["spec"]["template"], "image")));
const SELECTOR: BuiltInColumn = wide(made("Selector", |o, _| selector(&o["spec"]["selector"]).into()));

pub(super) const DEPLOYMENTS: &[BuiltInColumn] = &[
    NAME,
    made("Ready", |o, _| ready(o).into()),
    text("Up-to-date", Cell::Number("/status/updatedReplicas")),
    text("Available", Cell::Number("/status/availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICA_SETS: &[BuiltInColumn] = &[
    NAME,
    count("Desired", "/spec/replicas"),
    count("Current", "/status/replicas"),
    count("Ready", "/status/readyReplicas"),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICATION_CONTROLLERS: &[BuiltInColumn] = &[
    NAME,
    count("Desired", "/spec/replicas"),
    count("Current", "/status/replicas"),
    count("Ready", "/status/readyReplicas"),
    AGE,
    CONTAINERS,
    IMAGES,
    wide(made("Selector", |o, _| labels(&o["spec"]["selector"]).into())),
];

pub(super) const STATEFUL_SETS: &[BuiltInColumn] =
    &[NAME, made("Ready", |o, _| ready(o).into()), AGE, CONTAINERS, IMAGES];

pub(super) const DAEMON_SETS: &[BuiltInColumn] = &[
    NAME,
    count("Desired", "/status/desiredNumberScheduled"),
    count("Current", "/status/currentNumberScheduled"),
    count("Ready", "/status/numberReady"),
    count("Up-to-date", "/status/updatedNumberScheduled"),
    count("Available", "/status/numberAvailable"),
    made("Node Selector", |o, _| labels(&o["spec"]["template"]["spec"]["nodeSelector"]).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CONTROLLER_REVISIONS: &[BuiltInColumn] = &[
    NAME,
    made("Controller", |o, _| controller(o).into()),
    text("Revision", Cell::Number("/revision")),
    AGE,
];

pub(super) const POD_TEMPLATES: &[BuiltInColumn] = &[
    NAME,
    made("Containers", |o, _| containers(&o["template"], "name")),
    made("Images", |o, _| containers(&o["template"], "image")),
    made("Pod Labels", |o, _| labels(&o["template"]["metadata"]["labels"]).into()),
];

pub(super) const JOBS: &[BuiltInColumn] = &[
    NAME,
    made("Status", |o, _| job_status(o).into()),
    made("Completions", |o, _| completions(o).into()),
    made("Duration", |o, now| job_duration(o, now).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CRON_JOBS: &[BuiltInColumn] = &[
    NAME,
    text("Schedule", Cell::At("/spec/schedule")),
    made("Timezone", |o, _| o["spec"]["timeZone"].as_str().unwrap_or("<none>").into()),
    column("Suspend", "boolean", Cell::Made(|o, _| switch(&o["spec"]["suspend"]))),
    column("Active", "integer", Cell::Made(|o, _| list(&o["status"]["active"]).len().into())),
    made("Last Schedule", |o, now| match o["status"]["lastScheduleTime"].as_str() {
        Some(time) => since(Some(time), now).into(),
        None => "<none>".into(),
    }),
    AGE,
    wide(made("Containers", |o, _| containers(&o["spec"]["jobTemplate"]["spec"]["template"], "name"))),
    wide(made("Images", |o, _| containers(&o["spec"]["jobTemplate"]["spec"]["template"], "image"))),
    wide(made("Selector", |o, _| selector(&o["spec"]["jobTemplate"]["spec"]["selector"]).into())),
];

pub(super) const DISRUPTION_BUDGETS: &[BuiltInColumn] = &[
    NAME,
    made("Min Available", |o, _| number_or_share(&o["spec"]["minAvailable"])),
    made("Max Unavailable", |o, _| number_or_share(&o["spec"]["maxUnavailable"])),
    count("Allowed Disruptions", "/status/disruptionsAllowed"),
    AGE,
];

pub(super) const AUTOSCALERS: &[BuiltInColumn] = &[
    NAME,
    made("Reference", |o, _| {
        let target = &o["spec"]["scaleTargetRef"];
        format!("{}/{}", string(target, "kind"), string(target, "name")).into()
    }),
    made("Targets", |o, _| targets(o).into()),
    made("MinPods", |o, _| match &o["spec"]["minReplicas"] {
        Value::Null => "<unset>".into(),
        number => number.to_string().into(),
    }),
    text("MaxPods", Cell::Number("/spec/maxReplicas")),
    text("Replicas", Cell::Number("/status/currentReplicas")),
    AGE,
];

fn ready(object: &Value) -> String {
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    format!("{}/{}", number(&object["status"]["readyReplicas"]), number(&object["spec"]["replicas"]))
}

fn controller(object: &Value) -> String {
    let owner = list(&object["metadata"]["ownerReferences"]).iter().find(|o| o["controller"] == true);
    let Some(owner) = owner else { return "<none>".to_owned() };
    let version = string(owner, "apiVersion");
    let group = version.split_once('/').map_or(String::new(), |(group, _)| format!(".{group}"));
    format!("{}{group}/{}", string(owner, "kind").to_lowercase(), string(owner, "name"))
}

fn switch(value: &Value) -> Value {
    match value.as_bool() {
        Some(true) => "True".into(),
        Some(false) => "False".into(),
        None => "<unset>".into(),
    }
}

fn number_or_share(value: &Value) -> Value {
    match value {
        Value::Null => "N/A".into(),
        Value::String(share) => share.clone().into(),
        number => number.to_string().into(),
    }
}

fn job_status(job: &Value) -> &'static str {
    let has = |kind: &str| {
        list(&job["status"]["conditions"]).iter().any(|c| c["type"] == kind && c["status"] == "True")
    };
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if crate::meta::is_terminating(job) {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(job: &Value) -> String {
    let succeeded = job["status"]["succeeded"].as_i64().unwrap_or(0);
    match (job["spec"]["completions"].as_i64(), job["spec"]["parallelism"].as_i64().unwrap_or(0)) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallel) if parallel > 1 => format!("{succeeded}/1 of {parallel}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn job_duration(job: &Value, now: Timestamp) -> String {
    let Some(start) = job["status"]["startTime"].as_str() else { return String::new() };
    match job["status"]["completionTime"].as_str() {
        Some(end) => between(start, end),
        None => since(Some(start), now),
    }
}

/// Formats the metrics of an autoscaler: current and target values.
fn targets(autoscaler: &Value) -> String {
    // kube-apiserver prints the internal form of all versions, which is that of `v2`.
    if autoscaler["apiVersion"] == "autoscaling/v1" {
        return targets(&autoscaling::to_v2(autoscaler.clone()));
    }
    let specs = list(&autoscaler["spec"]["metrics"]);
    let texts: Vec<String> = specs
        .iter()
        .enumerate()
        .map(|(i, spec)| metric(spec, &autoscaler["status"]["currentMetrics"][i]))
        .collect();
    match texts.len() {
        0 => "<none>".to_owned(),
        n if n > 2 => format!("{} + {} more...", texts[..2].join(", "), n - 2),
        _ => texts.join(", "),
    }
}

fn metric(spec: &Value, status: &Value) -> String {
    let source = match string(spec, "type") {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        "External" => "external",
        _ => return "<unknown type>".to_owned(),
    };
    let (target, current) = (&spec[source]["target"], &status[source]["current"]);
    let average = target["averageValue"].as_str();
    let (prefix, wanted, is) = match (target["averageUtilization"].as_i64(), average) {
        (Some(share), _) => {
            let is = current["averageUtilization"].as_i64().map(|n| format!("{n}%"));
            (resource_name(spec, source), format!("{share}%"), is)
        }
        (None, Some(average)) => {
            let is = current["averageValue"].as_str().map(str::to_owned);
            (resource_name(spec, source), average.to_owned(), is)
        }
        (None, None) => {
            let is = current["value"].as_str().map(str::to_owned);
            (String::new(), string(target, "value").to_owned(), is)
        }
    };
    let suffix = if average.is_some() && matches!(source, "object" | "external") { " (avg)" } else { "" };
    format!("{prefix}{}/{wanted}{suffix}", is.unwrap_or_else(|| "<unknown>".to_owned()))
}

fn resource_name(spec: &Value, source: &str) -> String {
    match source {
        "resource" | "containerResource" => format!("{}: ", string(&spec[source], "name")),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(columns: &[BuiltInColumn], item: &Value) -> Vec<Value> {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        columns.iter().map(|column| column.cell(item, now)).collect()
    }

    #[test]
    fn deployment_row_counts_pods() {
        let template =
            json!({"spec": {"containers": [{"name": "a", "image": "i:1"}, {"name": "b", "image": "j"}]}});
        let deployment = json!({
            "metadata": {"name": "d", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "d"}}, "template": template},
            "status": {"readyReplicas": 1, "updatedReplicas": 3}});
        let expected = [
            json!("d"),
            json!("1/3"),
            json!(3),
            json!(0),
            json!("10m"),
            json!("a,b"),
            json!("i:1,j"),
            json!("app=d"),
        ];
        assert_eq!(row(DEPLOYMENTS, &deployment), expected);
    }

    #[test]
    fn job_row_shows_state_and_duration() {
        let job = json!({
            "metadata": {"name": "j", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"completions": 2},
            "status": {"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:05Z", "succeeded": 2,
                       "conditions": [{"type": "Complete", "status": "True"}]}});
        assert_eq!(row(&JOBS[1..4], &job), ["Complete", "2/2", "5s"]);
        let runs = json!({"spec": {"parallelism": 3}});
        assert_eq!(row(&JOBS[1..4], &runs), ["Running", "0/1 of 3", ""]);
    }

    #[test]
    fn autoscaler_row_shows_current_and_target_values() {
        let cpu =
            json!({"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}});
        let external = json!({"type": "External", "external": {"target": {"value": "30"}}});
        let spec = json!({"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 4,
                          "metrics": [cpu, external]});
        assert_eq!(
            row(&AUTOSCALERS[1..4], &json!({"spec": spec})),
            ["Deployment/d", "cpu: <unknown>/80%, <unknown>/30", "<unset>"]
        );
    }
}
