// café
pub struct A {}
