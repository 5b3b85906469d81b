//! IP addresses and ranges of them. Source: apimachinery's `util/validation/ip.go` and `ValidateNonSpecialIP`.

use std::net::IpAddr;

use serde_json::Value;

use super::field::{Errors, Field};

/// `IsValidIP`.
pub(super) fn ip(field: &Field<'_>, errors: &mut Errors) -> Option<IpAddr> {
    let address = parse(field.text());
    if address.is_none() {
        let shown = Value::from(field.text());
        errors
            .invalid(&field.holding(&shown), "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    address
}

/// Reads an address as Go's sloppy parser does: leading zeros are decimal.
pub(in crate::builtin) fn parse(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let parts: Vec<u8> = text.split('.').map(decimal).collect::<Option<_>>()?;
    <[u8; 4]>::try_from(parts).ok().map(IpAddr::from)
}

fn decimal(part: &str) -> Option<u8> {
    let fits = (1..=16).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| part.parse().ok()).flatten()
}

/// A range of addresses with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The prefix, at the left of 128 bits.
    start: u128,
    bits: u8,
    is_v4: bool,
}

impl Range {
    /// Reads a range as Go's sloppy parser does.
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let (whole, width, is_v4) = match parse(address)? {
            IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32, true),
            IpAddr::V6(address) => (u128::from(address), 128, false),
        };
        let bits = bits.bytes().all(|b| b.is_ascii_digit()).then(|| bits.parse::<u8>().ok())??;
        (bits <= width).then(|| Self { start: first(whole, bits), bits, is_v4 })
    }

    /// Reports whether the other range is a proper part of this one.
    pub(super) fn has_part(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && self.bits < other.bits && first(other.start, self.bits) == self.start
    }
}

/// The first bits of an address.
fn first(address: u128, bits: u8) -> u128 {
    address & !u128::MAX.checked_shr(bits.into()).unwrap_or(0)
}

/// `IsValidCIDR`: a range in its canonical form.
pub(super) fn strict_range(field: &Field<'_>, errors: &mut Errors) {
    let Some(range) = self::range(field, errors) else { return };
    let (address, bits) = field.text().split_once('/').unwrap_or_default();
    let detail = match address.parse::<IpAddr>() {
        Err(_) => "must not have leading 0s in IP or prefix length".to_owned(),
        Ok(_) if bits != range.bits.to_string() => {
            "must not have leading 0s in IP or prefix length".to_owned()
        }
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            "must not have an IPv4-mapped IPv6 address".to_owned()
        }
        Ok(parsed) if bits_of(parsed) != range.start => {
            "must not have bits set beyond the prefix length".to_owned()
        }
        Ok(parsed) if parsed.to_string() != address => {
            format!("must be in canonical form (\"{parsed}/{bits}\")")
        }
        Ok(_) => return,
    };
    errors.invalid(field, &detail);
}

/// Returns an address at the left of 128 bits.
fn bits_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => u128::from(address),
    }
}

/// `IsValidCIDRForLegacyField`, without the strict form.
pub(super) fn range(field: &Field<'_>, errors: &mut Errors) -> Option<Range> {
    let range = Range::parse(field.text());
    if range.is_none() {
        errors.invalid(field, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
    range
}

/// `ValidateNonSpecialIP`.
pub(super) fn not_special(address: IpAddr, field: &Field<'_>, errors: &mut Errors) {
    if address.is_unspecified() {
        errors.invalid(field, &format!("may not be unspecified ({})", field.text()));
    }
    if address.is_loopback() {
        errors.invalid(field, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (unicast, multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(address) => {
            (address.segments()[0] & 0xffc0 == 0xfe80, address.segments()[0] & 0xff0f == 0xff02)
        }
    };
    if unicast {
        errors.invalid(field, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if multicast {
        errors.invalid(field, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn part_of_a_range_has_more_bits_and_the_same_prefix() {
        let has_part =
            |whole: &str, part: &str| Range::parse(whole).unwrap().has_part(Range::parse(part).unwrap());
        assert!(has_part("10.0.0.0/8", "10.1.0.0/16"));
        assert!(has_part("0.0.0.0/0", "10.0.0.0/8"));
        assert!(has_part("2001:db8::/32", "2001:db8:1::/128"));
        assert!(!has_part("10.0.0.0/8", "10.0.0.0/8"));
        assert!(!has_part("10.0.0.0/8", "11.1.0.0/16"));
        assert!(!has_part("::/0", "10.0.0.0/8"));
        assert_eq!(Range::parse("10.0.0.0/33"), None);
    }
}
