//! Beside the wrong file.
