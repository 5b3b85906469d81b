//! The way of a request through the server to its response.

mod in_process;
mod paths;
mod requests;
mod service;

pub use service::ApiService;
