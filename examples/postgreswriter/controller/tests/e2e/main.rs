//! The operator end to end: on the embedded API server, with a real PostgreSQL.

mod hostile;
mod killed;
mod outage;
mod postgres;
mod refused;
mod rows;
mod support;
mod survives;
