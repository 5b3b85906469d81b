//! Ownership of keys by rendezvous hashing, which moves 1/n of the keys when one of n members comes or goes.
//!
//! Every member computes the same result from the same names, in every version: these functions are part of the
//! protocol and do not change. The hash of a text is 64-bit FNV-1a followed by the finalizer of SplitMix64. A
//! member's score for a key is that finalizer over the exclusive or of both hashes. The highest score owns the key;
//! of equal scores, the greater name.

/// Returns 64 bits for `text`, the same on every machine and in every version.
pub(super) fn hash(text: &str) -> u64 {
    mix(kubesmith_apimachinery::sharding::hash(text))
}

/// SplitMix64's finalizer: each input bit changes each output bit with even probability.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The ring as one member sees it: itself, and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    me: (u64, String),
    others: Vec<(u64, String)>,
}

impl Ring {
    pub(super) fn new<'a>(me: &str, others: impl IntoIterator<Item = &'a str>) -> Self {
        let hashed = |name: &str| (hash(name), name.to_owned());
        Ring { me: hashed(me), others: others.into_iter().map(hashed).collect() }
    }

    /// Reports whether this member owns the key with this [`hash`].
    pub(super) fn owns(&self, key: u64) -> bool {
        let score = |member: &(u64, String)| mix(member.0 ^ key);
        let mine = score(&self.me);
        self.others.iter().all(|other| (score(other), &other.1) < (mine, &self.me.1))
    }

    /// Returns the share of all keys that this member owns, measured with 1024 fixed keys.
    pub(super) fn share(&self) -> f64 {
        const PROBES: u64 = 1024;
        let owned = (0..PROBES).filter(|probe| self.owns(mix(*probe))).count();
        owned as f64 / PROBES as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn owners(members: &[String], key: u64) -> Vec<&str> {
        let owns = |me: &&String| {
            let others = members.iter().filter(|other| other != me).map(String::as_str);
            Ring::new(me, others).owns(key)
        };
        members.iter().filter(owns).map(String::as_str).collect()
    }

    proptest! {
        #[test]
        fn key_has_one_owner_and_moves_only_when_its_owner_changes(
            members in proptest::collection::btree_set("[a-z]{1,8}", 2..8),
            keys in proptest::collection::vec("[a-z/]{0,12}", 1..40),
        ) {
            let members: Vec<String> = members.into_iter().collect();
            for key in &keys {
                let key = hash(key);
                let owner = owners(&members, key);
                prop_assert_eq!(owner.len(), 1);
                // Without another member, the key stays where it is.
                for gone in members.iter().filter(|member| *member != owner[0]) {
                    let rest: Vec<String> = members.iter().filter(|member| *member != gone).cloned().collect();
                    prop_assert_eq!(owners(&rest, key), owner.clone());
                }
            }
        }
    }

    #[test]
    fn keys_are_spread_evenly() {
        let members: Vec<String> = (0..5).map(|number| format!("maps-operator-7f9c-{number}")).collect();
        for me in &members {
            let others = members.iter().filter(|other| *other != me).map(String::as_str);
            let ring = Ring::new(me, others);
            let owned = (0..10_000).filter(|key| ring.owns(hash(&format!("default/object-{key}")))).count();
            assert!((1_800..2_200).contains(&owned), "{me} owns {owned} of 10,000");
            assert!((0.16..0.24).contains(&ring.share()), "{}", ring.share());
        }
    }

    /// Replicas of different versions work together, so these numbers never change.
    #[test]
    fn hashes_do_not_change_between_versions() {
        assert_eq!(hash(""), 0xf52a_15e9_a9b5_e89b);
        assert_eq!(hash("default/web"), 0x2096_4ea8_4e94_d226);
        assert_eq!(mix(1), 0x5692_161d_100b_05e5);
    }
}
