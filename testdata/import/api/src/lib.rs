//! API types of alike.example.com, alike.example.org, example.com, odd.example.com, old.example.com, plain.example.com.

pub mod alike_example_com;
pub mod alike_example_org;
pub mod example;
pub mod odd;
pub mod old;
pub mod plain;
