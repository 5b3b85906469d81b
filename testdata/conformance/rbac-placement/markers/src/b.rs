//+kubebuilder:rbac:groups=tight,resources=tights,verbs=get

pub fn other() {}

#[cfg(test)]
mod tests {
    // +kubebuilder:rbac:groups=tests,resources=tests,verbs=get
}
