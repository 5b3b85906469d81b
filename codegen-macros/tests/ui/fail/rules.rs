use kubesmith_runtime::Schema;

#[derive(Clone, Debug, Schema)]
#[validation(rule(rule = "self.a <\nself.b"))]
#[validation(rule(message = "no rule"))]
#[validation(rule(rule = "true", reason = "Whatever"))]
#[validation(rule(rule = "true", message = "two\nlines", field_path = "a"))]
#[validation(rule("self.a < self.b"))]
#[validation(rule = "self.a < self.b")]
struct Foo {
    a: i32,
    b: i32,
}

fn main() {}
