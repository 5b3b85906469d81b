//! Package controllers has rights in its doc comment.
//! +kubebuilder:rbac:groups=doc,resources=docs,verbs=get

mod a;
mod b;
