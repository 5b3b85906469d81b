//! The indexed store behind listers: one writer, many readers.
//!
//! Objects, typed or [`Compact`], are shared (`Arc<K>`, made once when they arrive) and found by [`ObjectKey`] or, without allocating,
//! by namespace and name. The namespace index always exists; indexers of the user's are added at any time.
//! Listings are consistent snapshots, sorted by key; they are shared between readers until the next change.
//!
//! Lock protocol: `Shared::state` is the only lock. It is never held while a function of the user's (an index
//! function) runs, nor across an await. Readers hold it for a look-up or while a listing is copied.

mod bucket;
mod compact;
mod index;
mod key;
mod listing;
mod reader;
mod state;
mod writer;

pub use compact::{Compact, DecodeError};
pub use index::{IndexFn, Indexer, NoSuchIndex};
pub use key::ObjectKey;
pub use listing::Listing;
pub use reader::{Store, store};
pub use state::Undecodable;
pub use writer::{Change, Replacement, StoreWriter};

use reader::Shared;

#[cfg(test)]
mod tests;
