//! The scheme: which Rust type stands for which group, version and kind.

/// Makes a scheme that knows every kind of this package, lists included.
#[must_use]
#[inline]
pub fn scheme() -> ::kubesmith_runtime::scheme::Scheme {
    let mut scheme = ::kubesmith_runtime::scheme::Scheme::new();
    add_to_scheme(&mut scheme);
    scheme
}

/// Adds every kind of this package to a scheme.
#[inline]
pub fn add_to_scheme(scheme: &mut ::kubesmith_runtime::scheme::Scheme) {
    #[each(kind)]
    #[when(listed)]
    scheme.register::<__ObjectPath__>("__ListKind__");
    #[each(kind)]
    #[unless(listed)]
    scheme.register_object::<__ObjectPath__>();
    #[when(any_defaults)]
    __root__::defaults::register_defaults(scheme);
    #[when(register_custom)]
    super::register_custom::add_to_scheme(scheme);
}
