//! Pods, watched in three ways. Each does the work that the one before it leaves open:
//!
//! 1. [`plain`]: one HTTP request, and the lines of its response.
//! 2. [`typed`]: the same through a typed client.
//! 3. [`informer`]: a cache that is kept up to date whatever happens, and a queue of what is to be looked at: the frame of
//!    every controller.

pub mod generated;
pub mod informer;
pub mod plain;
pub mod typed;
