/// Reconcile has rights of its own.
/// +kubebuilder:rbac:groups=godoc,resources=godocs,verbs=get
pub fn reconcile() {
    // +kubebuilder:rbac:groups=inside,resources=insides,verbs=get
    let _text = "
        // +kubebuilder:rbac:groups=text,resources=texts,verbs=get
    ";
}

pub struct Worker {
    /// +kubebuilder:rbac:groups=field,resources=fields,verbs=get
    pub name: String,
    // +kubebuilder:webhookconfiguration:mutating=true
    pub size: i32,
}
