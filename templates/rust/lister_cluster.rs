/// __Docs__
pub type __Lister__ = lister::Lister<__Object__>;
