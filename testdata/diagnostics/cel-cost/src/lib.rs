use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// Every pair is compared.
    #[validation(rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub names: Vec<String>,
    /// Run for each item of a list without an end.
    pub servers: Vec<Server>,
    /// The texts of a map.
    #[validation(rule(rule = "self.all(key, self[key].matches('^[a-z]+$'))"))]
    pub labels: std::collections::BTreeMap<String, String>,
    /// What the message costs.
    #[validation(max_items = 10, rule(rule = "self.size() < 9", message_expression = "self.join(', ')"))]
    pub pets: Vec<String>,
    /// No bound would help.
    #[validation(max_items = 10, items(max_length = 10), rule(rule = "self.map(x, x + x).join(',') != 'a'"))]
    pub joined: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    #[validation(max_length = 63, rule(rule = "self.split('.').all(part, part.matches('^[a-z]+$'))"))]
    pub host: String,
}
