//! The addresses of a pool's spec, independent of clusters.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use ippool_api::tsi::v1alpha1::IPPoolSpec;

/// The fault of a spec. The schema refuses most of them; an object may be older than the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The range is malformed.
    #[error("spec.cidr: {0:?} is no range such as 10.1.0.0/16")]
    Cidr(String),
    /// The gateway is no address of the pool.
    #[error("spec.gateway: {0:?} is not an address in the pool")]
    Gateway(String),
    /// An exclusion is malformed.
    #[error("spec.excludedAddresses: {0:?} is neither an address nor a range")]
    Excluded(String),
    /// Blocks do not fit.
    #[error("spec.blockSize: blocks of /{0} do not fit into the pool")]
    BlockSize(i32),
}

/// The addresses of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    net: IpNet,
    gateway: Option<IpAddr>,
    /// Ranges inside of the pool that do not overlap.
    excluded: Vec<IpNet>,
    block_size: u8,
}

/// The usage of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Addresses of the pool that are in use.
    pub allocated: i64,
    /// Addresses that are still free.
    pub free: i64,
    /// Blocks with an address in use.
    pub blocks: i64,
    /// Addresses in use that are not for pods of this pool: outside, excluded, or the gateway's.
    pub foreign: Vec<IpAddr>,
    /// Addresses that are in use more than once.
    pub duplicates: Vec<IpAddr>,
}

impl Range {
    /// Parses a spec.
    ///
    /// # Errors
    ///
    /// Returns the first fault.
    pub fn new(spec: &IPPoolSpec) -> Result<Self, SpecError> {
        let net: IpNet = spec.cidr.parse().map_err(|_| SpecError::Cidr(spec.cidr.clone()))?;
        let net = net.trunc();
        let gateway = spec.gateway.as_ref().map(|text| match text.parse::<IpAddr>() {
            Ok(address) if net.contains(&address) => Ok(address),
            _ => Err(SpecError::Gateway(text.clone())),
        });
        let block_size = u8::try_from(spec.block_size)
            .ok()
            .filter(|size| (net.prefix_len()..=net.max_prefix_len()).contains(size))
            .ok_or(SpecError::BlockSize(spec.block_size))?;
        let excluded =
            spec.excluded_addresses.iter().map(|text| excluded(text)).collect::<Result<Vec<_>, _>>()?;
        let inside = excluded.into_iter().filter_map(|other| intersection(&net, &other)).collect();
        Ok(Self { net, gateway: gateway.transpose()?, excluded: IpNet::aggregate(&inside), block_size })
    }

    /// Reports whether pods may have the address.
    pub fn is_for_pods(&self, address: &IpAddr) -> bool {
        self.net.contains(address)
            && self.gateway.as_ref() != Some(address)
            && !self.edges().contains(address)
            && !self.excluded.iter().any(|net| net.contains(address))
    }

    /// Returns the network's own address and, with IPv4, the broadcast address, if the network is large enough to have
    /// them.
    fn edges(&self) -> Vec<IpAddr> {
        match self.net {
            IpNet::V4(net) if net.prefix_len() < 31 => vec![net.network().into(), net.broadcast().into()],
            IpNet::V6(net) if net.prefix_len() < 127 => vec![net.network().into()],
            _ => Vec::new(),
        }
    }

    /// Returns the number of addresses for pods.
    pub fn capacity(&self) -> i64 {
        let mut taken: u128 = self.excluded.iter().map(size).fold(0, u128::saturating_add);
        let singles: BTreeSet<IpAddr> = self.edges().into_iter().chain(self.gateway).collect();
        let outside = |address: &&IpAddr| !self.excluded.iter().any(|net| net.contains(*address));
        taken = taken.saturating_add(singles.iter().filter(outside).count() as u128);
        i64::try_from(size(&self.net).saturating_sub(taken)).unwrap_or(i64::MAX)
    }

    /// Returns the usage with these addresses in use.
    pub fn usage(&self, in_use: impl IntoIterator<Item = IpAddr>) -> Usage {
        let mut seen = BTreeSet::new();
        let (mut foreign, mut duplicates) = (BTreeSet::new(), BTreeSet::new());
        for address in in_use {
            if !self.is_for_pods(&address) {
                foreign.insert(address);
            } else if !seen.insert(address) {
                duplicates.insert(address);
            }
        }
        let blocks: BTreeSet<IpNet> = seen.iter().filter_map(|address| self.block(*address)).collect();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let allocated = count(seen.len());
        Usage {
            allocated,
            free: self.capacity().saturating_sub(allocated),
            blocks: count(blocks.len()),
            foreign: foreign.into_iter().collect(),
            duplicates: duplicates.into_iter().collect(),
        }
    }

    fn block(&self, address: IpAddr) -> Option<IpNet> {
        IpNet::new(address, self.block_size).ok().map(|net| net.trunc())
    }
}

fn excluded(text: &str) -> Result<IpNet, SpecError> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    let net = address.or_else(|_| text.parse::<IpNet>()).map_err(|_| SpecError::Excluded(text.to_owned()))?;
    Ok(net.trunc())
}

/// Returns the intersection: two ranges are disjoint, or one contains the other.
fn intersection(a: &IpNet, b: &IpNet) -> Option<IpNet> {
    match (a.contains(b), b.contains(a)) {
        (true, _) => Some(*b),
        (_, true) => Some(*a),
        _ => None,
    }
}

/// Returns the number of addresses in the range, saturated.
fn size(net: &IpNet) -> u128 {
    let bits = match net {
        IpNet::V4(net) => Ipv4Net::max_prefix_len(net) - net.prefix_len(),
        IpNet::V6(net) => Ipv6Net::max_prefix_len(net) - net.prefix_len(),
    };
    1_u128.checked_shl(u32::from(bits)).unwrap_or(u128::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spec(cidr: &str, gateway: &str, excluded: &[&str], block_size: i32) -> IPPoolSpec {
        IPPoolSpec {
            cidr: cidr.to_owned(),
            gateway: (!gateway.is_empty()).then(|| gateway.to_owned()),
            excluded_addresses: excluded.iter().map(|text| (*text).to_owned()).collect(),
            block_size,
        }
    }

    #[test]
    fn capacity_excludes_addresses_that_no_pod_gets() {
        for (cidr, gateway, excluded, capacity) in [
            ("10.1.0.0/24", "", &[][..], 254),
            ("10.1.0.0/24", "10.1.0.1", &[], 253),
            ("10.1.0.0/24", "10.1.0.1", &["10.1.0.1", "10.1.0.0/30"], 251),
            ("10.1.0.0/24", "", &["10.1.0.128/25", "10.1.0.200", "10.2.0.0/16"], 127),
            ("10.1.0.0/24", "", &["10.0.0.0/8"], 0),
            ("10.1.0.0/31", "", &[], 2),
            ("10.1.0.7/32", "", &[], 1),
            ("10.1.0.9/29", "", &[], 6),
            ("fd00::/126", "fd00::1", &[], 2),
            ("fd00::/8", "", &[], i64::MAX),
            ("::/0", "", &[], i64::MAX),
        ] {
            let range = Range::new(&spec(
                cidr,
                gateway,
                excluded,
                128.min(if cidr.contains(':') { 128 } else { 32 }),
            ));
            assert_eq!(range.map(|range| range.capacity()), Ok(capacity), "{cidr} {gateway} {excluded:?}");
        }
    }

    #[test]
    fn invalid_spec_is_refused_with_its_field() {
        for (spec, error) in [
            (spec("10.1.0.0", "", &[], 26), SpecError::Cidr("10.1.0.0".into())),
            (spec("10.1.0.0/24", "10.2.0.1", &[], 26), SpecError::Gateway("10.2.0.1".into())),
            (spec("10.1.0.0/24", "gate", &[], 26), SpecError::Gateway("gate".into())),
            (spec("10.1.0.0/24", "", &["x"], 26), SpecError::Excluded("x".into())),
            (spec("10.1.0.0/24", "", &[], 23), SpecError::BlockSize(23)),
            (spec("10.1.0.0/24", "", &[], 33), SpecError::BlockSize(33)),
            (spec("10.1.0.0/24", "", &[], -1), SpecError::BlockSize(-1)),
        ] {
            assert_eq!(Range::new(&spec), Err(error));
        }
    }

    proptest! {
        /// On small pools every count is what trying each address gives.
        #[test]
        fn counts_equal_those_of_the_listed_addresses(
            prefix in 24_u8..=32,
            gateway in any::<Option<u8>>(),
            excluded in proptest::collection::vec((any::<u8>(), 24_u8..=32), 0..6),
            in_use in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let net: IpNet = format!("10.0.0.77/{prefix}").parse().unwrap();
            let net = net.trunc();
            let gateway = gateway.map(|last| format!("10.0.0.{last}")).filter(|ip| net.contains(&ip.parse::<IpAddr>().unwrap()));
            let excluded: Vec<String> = excluded.iter().map(|(last, prefix)| format!("10.0.0.{last}/{prefix}")).collect();
            let spec = IPPoolSpec { cidr: net.to_string(), gateway: gateway.clone(), excluded_addresses: excluded.clone(), block_size: 32 };
            let range = Range::new(&spec).unwrap();
            let hosts = |last: u8| IpAddr::from([10, 0, 0, last]);
            let edges = if prefix < 31 { vec![net.network(), net.broadcast()] } else { vec![] };
            let usable = |ip: &IpAddr| net.contains(ip) && !edges.contains(ip)
                && gateway.as_ref().is_none_or(|gateway| *ip != gateway.parse::<IpAddr>().unwrap())
                && !excluded.iter().any(|net| net.parse::<IpNet>().unwrap().trunc().contains(ip));
            let capacity = (0..=255).map(hosts).filter(&usable).count();
            prop_assert_eq!(range.capacity(), capacity as i64);
            let used: BTreeSet<IpAddr> = in_use.iter().map(|last| hosts(*last)).filter(&usable).collect();
            let usage = range.usage(in_use.iter().map(|last| hosts(*last)));
            prop_assert_eq!(usage.allocated, used.len() as i64);
            prop_assert_eq!(usage.free, (capacity - used.len()) as i64);
            prop_assert_eq!(usage.blocks, used.len() as i64);
            prop_assert!(usage.foreign.iter().all(|ip| !usable(ip)));
        }
    }
}
