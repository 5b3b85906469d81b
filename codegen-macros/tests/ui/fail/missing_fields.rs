use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", status)]
struct Foo {
    meta: ObjectMeta,
}

fn main() {}
