use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
#[serde(rename_all = "PascalCase", transparent, tag = "kind")]
struct Foo {
    metadata: ObjectMeta,
    #[serde(skip)]
    spec: String,
    #[serde(flatten)]
    status: String,
    #[serde(rename = "apiVersion")]
    version: String,
}

fn main() {}
