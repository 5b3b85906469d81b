use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(grup = "hopegi.com", version = "v1", shortName = "ecsb", namespaced, colour = 1)]
#[genclient(nonNamespaced)]
struct Foo {
    metadata: ObjectMeta,
    #[validation(minlenght = 1, default = "a")]
    spec: String,
}

fn main() {}
