//! Steps that run one after another.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, PodTemplateSpec, Volume};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Limit;

/// Steps with inputs and outputs.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, Serialize)]
#[kube(
    group = "operators.example.com",
    version = "v2",
    kind = "Pipeline",
    root = "Pipeline",
    status = "PipelineStatus",
    derive = "Default",
    category = "all",
    category = "ci",
    printcolumn(name = "Steps", type_ = "integer", json_path = ".status.done", priority = 0),
    selectable = ".spec.owner",
    storage = true,
    served = true
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.steps.all(s, self.steps.exists_one(t, t.name == s.name))")
        .message("the names of steps must differ")
        .reason(Reason::FieldValueDuplicate)
        .field_path(".steps"),
    validation = Rule::new("!has(self.timeout) || self.timeout.secs > 0").message("the timeout must be positive")
)]
pub struct PipelineSpec {
    #[schemars(length(min = 1, max = 40))]
    pub owner: String,
    /// In their order.
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[schemars(length(max = 20))]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub inputs: BTreeMap<String, Parameter>,
    pub timeout: Option<Duration>,
    #[serde(default)]
    pub on_failure: Vec<Step>,
    pub concurrency: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Box<PodTemplateSpec>>,
    #[serde(default)]
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub workspaces: Vec<Workspace>,
}

/// A step.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its name.
    #[schemars(length(max = 30), pattern("^[a-z][a-z0-9-]*$"))]
    pub name: String,
    #[serde(flatten)]
    pub action: Action,
    /// Names of steps that come first.
    #[serde(default)]
    #[schemars(length(max = 5), inner(length(max = 30)))]
    pub after: Vec<String>,
    #[serde(default)]
    pub retries: Option<Retries>,
    #[serde(default = "Step::max_unavailable")]
    pub max_unavailable: IntOrString,
}

impl Step {
    fn max_unavailable() -> IntOrString {
        IntOrString::Int(1)
    }
}

/// What a step does.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Runs a container.
    Run(Box<Container>),
    /// Calls another pipeline.
    Call { pipeline: String, arguments: Option<BTreeMap<String, String>> },
    /// Waits for somebody.
    Approve { groups: Vec<String> },
}

impl Default for Action {
    fn default() -> Self {
        Self::Approve { groups: Vec::new() }
    }
}

/// How often a step is tried.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Retries {
    pub limit: u8,
    pub factor: f64,
    pub first_delay: Delay,
}

impl Default for Retries {
    fn default() -> Self {
        Retries { limit: 3, factor: 1.5, first_delay: Delay::seconds(10) }
    }
}

/// A delay in seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Delay(u32);

impl Delay {
    const fn seconds(seconds: u32) -> Self {
        Self(seconds)
    }
}

/// An input.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parameter {
    #[serde(rename = "type", default)]
    pub kind: ParameterType,
    pub description: Option<String>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub default: Option<serde_json::Value>,
    #[serde(default)]
    pub choices: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    #[default]
    Text,
    WholeNumber,
    Flag,
}

/// A volume that steps share.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Workspace {
    #[serde(flatten)]
    pub volume: Volume,
    #[serde(default)]
    pub read_only: bool,
}

/// How far it is.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineStatus {
    #[serde(default)]
    pub done: u32,
    #[serde(default)]
    pub steps: BTreeMap<String, StepStatus>,
}

/// How far a step is.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepStatus {
    pub state: State,
    pub attempts: u8,
    pub message: Option<String>,
}

/// A state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum State {
    /// Not yet.
    #[default]
    Waiting,
    /// Now.
    Running,
    /// It went well.
    Succeeded,
    /// It did not.
    Failed,
}
