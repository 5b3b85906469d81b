pub struct Plain {
    pub size: i32,
}
