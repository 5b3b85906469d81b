pub struct B { b: i32 
