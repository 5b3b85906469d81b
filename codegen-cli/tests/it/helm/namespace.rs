//! Objects that name the namespace of the deployment, in a release in another namespace.

use serde_json::{Value, json};

use super::{generate, rendered, values, with};
use crate::support::Crate;

const API: &str = "use kubesmith_runtime::{Resource, Schema, webhook};\nuse serde::{Deserialize, Serialize};\n\
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\n\
    #[derive(Clone, Debug, Default, Resource)]\n\
    #[resource(group = \"shop.example.com\", version = \"v1\", kind = \"Item\")]\n\
    #[policy(name = \"items.shop.example.com\", \
    match_condition(name = \"not-ours\", expression = \"!(request.userInfo.username in \
    ['system:serviceaccount:shop-system:shop-controller-manager', 'system:serviceaccount:shop-system:other', \
    'system:serviceaccount:shop-system:shop-controller-manager.old', 'system:serviceaccount:shop-systems:a', \
    'system:serviceaccounts:shop-system'])\"), \
    validation(expression = \"object.spec.size > 0\", message = \"ask system:serviceaccount:shop-system:shop-controller-manager.\"), \
    patch = {\"matchConstraints\": {\"namespaceSelector\": {\"matchExpressions\": [\
    {\"key\": \"kubernetes.io/metadata.name\", \"operator\": \"NotIn\", \"values\": [\"shop-system\", \"kube-system\"]}, \
    {\"key\": \"team\", \"operator\": \"In\", \"values\": [\"shop-system\"]}]}}}, \
    binding(match_resources = {\"namespaceSelector\": {\"matchLabels\": {\"kubernetes.io/metadata.name\": \"shop-system\", \
    \"team\": \"shop-system\"}}}))]\n\
    #[webhook(path = \"/validate\", mutating = false, failure_policy = \"Fail\", groups = \"shop.example.com\", \
    resources = \"items\", verbs(\"create\"), versions = \"v1\", name = \"items.shop.example.com\", side_effects = \"None\", \
    admission_review_versions = \"v1\", patch = {\"namespaceSelector\": {\"matchExpressions\": [\
    {\"key\": \"kubernetes.io/metadata.name\", \"operator\": \"NotIn\", \"values\": [\"shop-system\"]}]}})]\n\
    pub struct Item { pub metadata: ObjectMeta, pub spec: ItemSpec }\n\
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]\npub struct ItemSpec { pub size: i32 }\n";

#[test]
fn admission_follows_the_namespace_and_the_account_of_the_release() {
    let project = Crate::new(API);
    project.write(
        "kubesmith.toml",
        "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"webhook\", \"policy\", \"deploy\", \"helm\"]\n\
         [deploy]\noutput = \"config\"\nname = \"shop\"\n[helm]\noutput = \"chart\"\n",
    );
    generate(&project, &[]);
    let chart = project.path("chart");
    let values = with(values(&chart), &[("/serviceAccount/name", json!("mine"))]);
    let objects = rendered(&chart, &values, "here");
    let policy = &objects["ValidatingAdmissionPolicy -/items.shop.example.com"]["spec"];
    assert_eq!(
        policy["matchConditions"][0]["expression"],
        "!(request.userInfo.username in ['system:serviceaccount:here:mine', 'system:serviceaccount:here:other', \
         'system:serviceaccount:here:shop-controller-manager.old', 'system:serviceaccount:shop-systems:a', \
         'system:serviceaccounts:here'])"
    );
    assert_eq!(policy["validations"][0]["message"], "ask system:serviceaccount:here:mine.");
    let expressions = |selector: &Value| {
        let found = selector["matchExpressions"].as_array().unwrap().clone();
        found.into_iter().map(|one| one["values"].clone()).collect::<Vec<_>>()
    };
    let selector = &policy["matchConstraints"]["namespaceSelector"];
    assert_eq!(expressions(selector), [json!(["here", "kube-system"]), json!(["shop-system"])]);
    let binding = &objects["ValidatingAdmissionPolicyBinding -/items.shop.example.com"]["spec"];
    let labels = json!({"kubernetes.io/metadata.name": "here", "team": "shop-system"});
    assert_eq!(binding["matchResources"]["namespaceSelector"]["matchLabels"], labels);
    let webhooks = &objects["ValidatingWebhookConfiguration -/shop-validating-webhook-configuration"];
    assert_eq!(expressions(&webhooks["webhooks"][0]["namespaceSelector"]), [json!(["here"])]);
}
