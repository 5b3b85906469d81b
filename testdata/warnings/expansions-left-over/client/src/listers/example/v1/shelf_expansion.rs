//! Of a kind that has a client, and no lister.
