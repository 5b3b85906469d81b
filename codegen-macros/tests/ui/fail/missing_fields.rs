use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", status)]
struct Foo {
    meta: ObjectMeta,
}

fn main() {}
