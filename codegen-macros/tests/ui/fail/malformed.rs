use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com" version = "v1",, "kind", plural: "foos", singular = )]
#[genclient = "x"]
#[deepcopy(deep)]
struct Foo {
    metadata: ObjectMeta,
    #[validation]
    #[schema[default = 1]]
    spec: String,
}

fn main() {}
