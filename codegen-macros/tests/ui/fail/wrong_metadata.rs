use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", skip_version, storage_version)]
struct Foo {
    metadata: String,
    spec: String,
}

fn main() {}
