//! Hostile clients: the server responds to every input or closes the connection, and continues to serve other
//! clients.

mod mutated;
mod requests;
mod sockets;
