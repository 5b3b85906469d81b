use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(
    group = "hopegi.com\"; evil",
    version = "v1\n- name: v2",
    kind = "Foo {}",
    plural = "foos'",
    category = "all\t",
    group_name_in_code = "fn main() {}",
    metadata(annotations("a b" = "c"), labels("x" = "y\nz: 1")),
    api_approved = "yes",
)]
struct Foo {
    metadata: ObjectMeta,
    spec: String,
}

fn main() {}
