use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

const GROUP: &str = "hopegi.com";

#[derive(Clone, Debug, Resource)]
#[resource(group = GROUP, version = 1, status = false, scope, short_name = 5, print_column = "Age")]
struct Foo {
    metadata: ObjectMeta,
    #[validation(min_length = -1, max_length = "63", pattern = "", enum = [], unique_items = 1)]
    #[schema(default = 1u8, example = Foo::new(), list_type = "maps")]
    spec: String,
}

fn main() {}
