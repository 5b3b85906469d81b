use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
#[genclient(non_namespaced, no_verbs, readonly, only_verbs("get", "fetch", "updateStatus"))]
struct Foo {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", scope = "Cluster")]
#[genclient]
struct Bar {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", scope = "cluster")]
struct Baz {
    metadata: ObjectMeta,
    spec: String,
}

fn main() {}
