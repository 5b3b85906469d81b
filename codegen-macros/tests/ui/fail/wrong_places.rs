use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

use kubesmith_runtime::Schema;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
#[validation(required)]
#[schema(default = {})]
struct Foo {
    #[validation(min_properties = 1)]
    metadata: ObjectMeta,
    #[resource(status)]
    spec: String,
}

#[derive(Clone, Debug, Schema)]
#[schema(nullable)]
enum Protocol {
    #[validation(enum("A"))]
    Tcp,
}

#[derive(Schema)]
union Bits {
    a: u8,
}

fn main() {}
