// +kubebuilder:rbac:groups=above,resources=aboves,verbs=get

/// Reconcile does nothing.
pub fn reconcile() {
    let _ = "
// +kubebuilder:rbac:groups=text,resources=texts,verbs=get
";
}

// +kubebuilder:rbac:groups=last,resources=lasts,verbs=get
