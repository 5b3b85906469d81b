use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", conversion(strategy = "None", path = "/convert"))]
struct NoWebhook {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", conversion(strategy = "Webhook", service_name = "Hook", port = 70000))]
struct BadService {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource(
    group = "hopegi.com",
    version = "v1",
    conversion(
        strategy = "Webhook",
        url = "http://example.com",
        service_namespace = "system",
        ca_bundle = "Cg==",
        review_versions("v2", "v2", "V3"),
    )
)]
struct BadUrl {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", conversion(strategy = "Webhook"))]
struct Nowhere {
    metadata: ObjectMeta,
    spec: String,
}

fn main() {}
