//! The operator end to end: on the embedded API server with its controllers, or on whichever server the environment chooses, and in
//! front of a real nginx.

mod addresses;
mod hostile;
mod lifecycle;
mod nginx;
mod program;
mod replicas;
mod support;
mod survives;
mod sync;
mod takeover;
