use kubesmith_runtime::Schema;

#[derive(Clone, Debug, Schema)]
struct Foo {
    #[validation(minimum = 3)]
    name: String,
    #[validation(min_length = 1, max_items = 3)]
    size: i32,
    #[validation(minimum = 5, maximum = 1)]
    reversed: i32,
    #[validation(minimum = 0.5)]
    fraction: Option<u32>,
    #[validation(exclusive_minimum, multiple_of = 0)]
    exclusive: f64,
    #[validation(pattern = "(?=a)b")]
    pattern: String,
    #[validation(enum("A", 1, "A"))]
    letters: String,
    #[validation(min_length = 1)]
    list: Vec<String>,
    #[validation(items(minimum = 1))]
    items: Vec<String>,
    #[validation(type = "int")]
    kind: String,
}

fn main() {}
