//! The store, without the compact form, which takes no locks.

#[path = "../../src/cache/bucket.rs"]
mod bucket;
#[path = "../../src/cache/index.rs"]
mod index;
#[path = "../../src/object/key.rs"]
mod key;
#[path = "../../src/cache/listing.rs"]
mod listing;
#[path = "../../src/cache/places.rs"]
mod places;
#[path = "../../src/cache/reader.rs"]
mod reader;
#[path = "../../src/cache/state.rs"]
mod state;
#[path = "../../src/cache/undecodable.rs"]
mod undecodable;
#[path = "../../src/cache/writer.rs"]
mod writer;

pub use index::{IndexFn, Indexer, NoSuchIndex};
pub use key::ObjectKey;
pub use listing::Listing;
pub use reader::{Store, store};
pub use undecodable::Undecodable;
pub use writer::{Change, Replacement, StoreWriter};

use reader::Shared;
