//! Taken in by the file that declares it.
