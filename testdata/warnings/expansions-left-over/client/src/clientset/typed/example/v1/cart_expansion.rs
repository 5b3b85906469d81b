//! Taken in, with a file of its own.

mod more_expansion;
