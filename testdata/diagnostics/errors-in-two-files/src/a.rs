pub struct A { a: }
