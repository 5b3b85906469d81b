use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi", version = "V1aplha1", kind = "foo_bar", plural = "Foo Bars", short_name("f", "F", "f"))]
struct Foo {
    metadata: ObjectMeta,
    spec: String,
}

fn main() {}
