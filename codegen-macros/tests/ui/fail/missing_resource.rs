use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
struct Foo {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource]
struct Bar {
    metadata: ObjectMeta,
    spec: String,
}

#[derive(Clone, Debug, Resource)]
#[resource(scope = "Cluster")]
struct Baz {
    metadata: ObjectMeta,
    spec: String,
}

fn main() {}
