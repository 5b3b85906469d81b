//! Clients that mean no good: whatever they send, the server answers or hangs up, and goes on for everybody else.

mod mutated;
mod requests;
mod sockets;
