//! Emitters: from the intermediate representation to file texts. They decide nothing and do no I/O.

pub mod crd;
pub mod openapi;
pub mod rust;
pub mod yaml;
