//! The controller end to end: on the embedded API server with its controllers, or on whichever server the environment
//! chooses.

mod lifecycle;
mod missed;
mod program;
mod replicas;
mod starting;
mod support;
mod survives;
