use kubesmith_runtime::Schema;

#[derive(Clone, Debug, Schema)]
struct Foo {
    #[schema(list_type = "map")]
    no_key: Vec<Foo>,
    #[schema(list_type = "set", list_map_key = "name")]
    wrong_type: Vec<Foo>,
    #[schema(list_map_key = "name")]
    no_type: Vec<Foo>,
    #[schema(list_type = "atomic")]
    no_list: String,
    #[schema(map_type = "granular")]
    no_map: Vec<String>,
    #[schema(external_docs(url = "example.com"))]
    docs: String,
    #[validation(required)]
    #[schema(optional)]
    both: String,
    #[serde(rename = "both")]
    twice: String,
    #[serde(rename(serialize = "a", deserialize = "b"))]
    split: String,
}

fn main() {}
