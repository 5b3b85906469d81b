use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(
    group = "hopegi.com",
    version = "v1",
    print_column(name = "Age", type = "time", json_path = "metadata.creationTimestamp"),
    print_column(name = "A", type = "string"),
    print_column(name = "B", type = "string", json_path = "{.spec.b}", priority = 3000000000),
    print_column(name = "C", type = "string", json_path = "$.spec.c"),
    print_column(name = "C", type = "string", json_path = ".spec.c", priority = -1),
    print_column(name = "D\nE", type = "string", json_path = ".spec.c"),
    selectable_field(json_path = ".metadata.name"),
    selectable_field(json_path = ".spec.ports[0]"),
    scale(spec_path = ".status.replicas", status_path = "status.replicas"),
)]
struct Foo {
    metadata: ObjectMeta,
    spec: String,
}

fn main() {}
