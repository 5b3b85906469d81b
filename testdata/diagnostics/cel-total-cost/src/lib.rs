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
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_0: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_1: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_2: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_3: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_4: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_5: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_6: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_7: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_8: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_9: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_10: Vec<String>,
    #[validation(max_items = 1100, items(max_length = 10), rule(rule = "self.all(a, self.exists_one(b, a == b))"))]
    pub list_11: Vec<String>,
}
