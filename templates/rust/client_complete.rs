/// __Docs__
pub type __Client__ = client::CompleteClient<__Object__, __Configuration__>;

__methods__! {}
