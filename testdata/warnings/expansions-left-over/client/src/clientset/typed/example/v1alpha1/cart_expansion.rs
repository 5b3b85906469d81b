//! Of a version that is no more.
