//! The `kubesmith` command.
fn main() {}
