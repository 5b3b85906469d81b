use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1", group = "other.com")]
#[resource(version = "v2")]
#[resource(print_column(name = "A", type = "string", json_path = ".spec", name = "B"))]
struct Foo {
    metadata: ObjectMeta,
    #[validation(minimum = 1)]
    #[validation(minimum = 2)]
    spec: i32,
}

fn main() {}
