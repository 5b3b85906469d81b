//! __Docs__
__items__! {}
