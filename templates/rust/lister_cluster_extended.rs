/// __Docs__
#[derive(Clone, Debug)]
pub struct __Lister__ {
    inner: lister::Lister<__Object__>,
}

impl From<lister::Lister<__Object__>> for __Lister__ {
    fn from(inner: lister::Lister<__Object__>) -> Self {
        Self { inner }
    }
}

impl ::core::ops::Deref for __Lister__ {
    type Target = lister::Lister<__Object__>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}
