use kubesmith_runtime::policy;

#[policy(name = "heat.bakery.example.com", validation(expression = "true"))]
struct NoKind;

#[policy(name = "heat.bakery.example.com", validations(expression = "true"))]
#[kube(group = "bakery.example.com")]
struct Misspelt;

fn main() {}
