//! Shards of a collection (KEP-5866): apimachinery's `sharding` package. A shard selector selects objects by ranges of the
//! hash of a metadata field.

use std::fmt;
use std::ops::RangeInclusive;

/// The metadata field whose hash assigns an object to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShardKey {
    /// `object.metadata.uid`: spreads objects evenly.
    Uid,
    /// `object.metadata.namespace`: keeps the objects of a namespace together, of all kinds.
    Namespace,
}

impl ShardKey {
    /// Returns the key with this path.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        [Self::Uid, Self::Namespace].into_iter().find(|key| key.path() == path)
    }

    /// Returns the path of the field in selectors.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }
}

/// Returns the hash that shards are ranges of: 64-bit FNV-1a.
#[must_use]
pub fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Selects the objects whose [`ShardKey`] has a [`hash`] in one of some ranges. Its text is the value of the parameter
/// `shardSelector`.
///
/// ```
/// use kubesmith_apimachinery::sharding::{ShardKey, ShardSelector};
///
/// let shards: Vec<ShardSelector> = (0..2).filter_map(|index| ShardSelector::nth(ShardKey::Uid, index, 2)).collect();
/// assert_eq!(
///     shards[1].to_string(),
///     "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
/// );
/// // An object is in one shard.
/// let uid = "03277a85-a56b-40e4-830d-521eae0e0b8c";
/// assert!(!shards[0].matches(uid, "default") && shards[1].matches(uid, "default"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardSelector {
    key: ShardKey,
    ranges: Vec<RangeInclusive<u64>>,
}

impl ShardSelector {
    /// Selects these ranges of hashes; empty ranges are left out. A selector without ranges selects nothing, but servers
    /// ignore its text, which is empty.
    pub fn new(key: ShardKey, ranges: impl IntoIterator<Item = RangeInclusive<u64>>) -> Self {
        Self { key, ranges: ranges.into_iter().filter(|range| !range.is_empty()).collect() }
    }

    /// Selects one of `count` shards of equal size; `None` unless `index` is less than `count`.
    #[must_use]
    pub fn nth(key: ShardKey, index: u32, count: u32) -> Option<Self> {
        let span = (1_u128 << 64) / u128::from(std::num::NonZeroU32::new(count)?.get());
        if index >= count {
            return None;
        }
        let start = |index: u32| u64::try_from(u128::from(index) * span).ok();
        // The last shard has the remainder.
        let last = if index + 1 == count { u64::MAX } else { start(index + 1)?.wrapping_sub(1) };
        Some(Self::new(key, [start(index)?..=last]))
    }

    /// Returns the field whose hash decides.
    #[must_use]
    pub fn key(&self) -> ShardKey {
        self.key
    }

    /// Reports whether an object with these fields is selected. A cluster-scoped object has an empty namespace.
    #[must_use]
    pub fn matches(&self, uid: &str, namespace: &str) -> bool {
        let hash = hash(match self.key {
            ShardKey::Uid => uid,
            ShardKey::Namespace => namespace,
        });
        self.ranges.iter().any(|range| range.contains(&hash))
    }
}

impl fmt::Display for ShardSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, range) in self.ranges.iter().enumerate() {
            let separator = if number == 0 { "" } else { " || " };
            let (path, start, end) = (self.key.path(), range.start(), u128::from(*range.end()) + 1);
            write!(f, "{separator}shardRange({path}, '0x{start:016x}', '0x{end:016x}')")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hash_is_fnv_1a() {
        // From the FNV reference's table of test vectors.
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn selector_has_the_text_of_upstream() {
        let text = |key, index, count| ShardSelector::nth(key, index, count).map(|shard| shard.to_string());
        assert_eq!(
            text(ShardKey::Namespace, 0, 1).as_deref(),
            Some("shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000')")
        );
        assert_eq!(
            text(ShardKey::Uid, 1, 3).as_deref(),
            Some("shardRange(object.metadata.uid, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa')")
        );
        assert_eq!(
            ShardSelector::new(ShardKey::Uid, [0..=9, 16..=u64::MAX]).to_string(),
            "shardRange(object.metadata.uid, '0x0000000000000000', '0x000000000000000a') || \
             shardRange(object.metadata.uid, '0x0000000000000010', '0x10000000000000000')"
        );
        assert_eq!(
            ShardSelector::new(ShardKey::Uid, [RangeInclusive::new(9, 0), 0..=9]),
            ShardSelector::new(ShardKey::Uid, std::iter::once(0..=9))
        );
        assert_eq!((text(ShardKey::Uid, 3, 3), text(ShardKey::Uid, 0, 0)), (None, None));
    }

    proptest! {
        #[test]
        fn object_is_in_one_of_all_shards(uid in "[0-9a-f-]{0,36}", namespace in "[a-z]{0,8}", count in 1..40_u32) {
            for key in [ShardKey::Uid, ShardKey::Namespace] {
                let shards = (0..count).filter_map(|index| ShardSelector::nth(key, index, count));
                prop_assert_eq!(shards.filter(|shard| shard.matches(&uid, &namespace)).count(), 1);
            }
        }
    }
}
