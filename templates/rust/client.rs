/// __Docs__
#[derive(Clone, Debug)]
pub struct __Client__ {
    inner: client::KindClient<Self>,
}

impl delegate::GeneratedClient for __Client__ {
    type Object = __Object__;
    type Configuration = __Configuration__;
}

impl From<client::KindClient<Self>> for __Client__ {
    fn from(inner: client::KindClient<Self>) -> Self {
        Self { inner }
    }
}

impl ::core::ops::Deref for __Client__ {
    type Target = client::KindClient<Self>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

__verbs__! {}
__methods__! {}
