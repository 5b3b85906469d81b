//! The indexed store behind listers: one writer, many readers.
//!
//! Objects, typed or [`Compact`], are shared: each is one `Arc<K>`, made when it arrives. Readers find them by
//! [`ObjectKey`], or by namespace and name without allocating. The namespace index always exists; users can add
//! indexers at any time. Listings are consistent snapshots, sorted by key; readers share them until the next
//! change.
//!
//! Locking: `Shared::state` is the only lock. It is never held while a user's index function runs, nor across
//! an await. Readers hold it for a look-up or while they copy a listing. A thread locks one of eight parts, so that
//! readers rarely write to the same lock; they share the reference counts of the objects that they get. The writer locks all
//! parts.
//!
//! ```
//! use std::sync::Arc;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::ObjectMeta;
//! use kubesmith_runtime::cache::{
//!     Change, Indexer, Listing, NoSuchIndex, ObjectKey, Replacement, Store, StoreWriter, Undecodable, store,
//! };
//!
//! fn map(name: &str, color: &str) -> (ObjectKey, Arc<ConfigMap>) {
//!     let metadata = ObjectMeta { name: Some(name.into()), namespace: Some("default".into()), ..Default::default() };
//!     let data = Some([("color".to_owned(), color.to_owned())].into());
//!     let map = ConfigMap { metadata, data, ..Default::default() };
//!     (ObjectKey::of(&map), Arc::new(map))
//! }
//!
//! let mut writer: StoreWriter<ConfigMap> = store();
//! let maps: Store<ConfigMap> = writer.reader();
//! let (key, red) = map("a", "red");
//! writer.insert(&key, red);
//! writer.set_resource_version("7");
//! let by_color = Indexer::new("color", |map: &ConfigMap| {
//!     map.data.iter().filter_map(|data| data.get("color").cloned()).collect()
//! });
//! assert_eq!(by_color.name(), "color");
//! assert!(maps.add_indexer(by_color), "present objects are indexed too");
//!
//! assert!(maps.get("default", "a").is_some() && maps.get_by_key(&key).is_some() && maps.contains(&key));
//! assert_eq!((maps.len(), maps.is_empty(), maps.resource_version().as_str()), (1, false, "7"));
//! assert_eq!((maps.keys(), maps.entries().len()), (vec![key.clone()], 1));
//! assert_eq!((maps.list_namespace("default").len(), &*maps.namespaces()[0]), (1, "default"));
//! assert_eq!(maps.by_index("color", "red").map(|maps| maps.len()), Ok(1));
//! assert_eq!(maps.index_keys("color", "red"), Ok(vec![key.clone()]));
//! assert_eq!(maps.index_values("color").map(|colors| colors.len()), Ok(1));
//! assert_eq!(maps.indexers(), ["color"]);
//! let missing: NoSuchIndex = maps.by_index("size", "big").unwrap_err();
//! assert_eq!(missing.known, ["color"]);
//!
//! // Later writes do not change a listing.
//! let before: Listing<ConfigMap> = maps.list();
//! let Replacement { changes } = writer.replace(vec![map("b", "blue")], &[]);
//! assert!(matches!(&changes[0], Change::Deleted { key: gone, .. } if *gone == key));
//! assert_eq!((before.to_vec().len(), Listing::<ConfigMap>::empty().len()), (1, 0));
//! let why = Undecodable { message: "data is a list".to_owned(), resource_version: None };
//! writer.mark_undecodable(ObjectKey::cluster("c"), why);
//! assert_eq!(maps.undecodable()[0].0.as_str(), "c");
//! assert!(writer.remove(&key).is_none(), "gone already");
//! ```

mod bucket;
mod compact;
mod index;
mod listing;
mod places;
mod reader;
mod state;
mod typed;
mod undecodable;
mod writer;

pub use crate::object::{ObjectKey, ParseKeyError};
pub use compact::{Compact, DecodeError};
pub use index::{IndexFn, Indexer, NoSuchIndex};
pub use listing::Listing;
pub use reader::{Store, store};
pub use typed::{IndexKey, TypedIndex};
pub use undecodable::Undecodable;
pub use writer::{Change, Replacement, StoreWriter};

use reader::Shared;

#[cfg(test)]
mod tests;
