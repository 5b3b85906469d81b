//! IP addresses and ranges of them. Source: apimachinery's `util/validation/ip.go`, with the feature gate
//! `StrictIPCIDRValidation`, which Kubernetes 1.36 enables by default, and `ValidateEndpointIP`.

use std::net::{IpAddr, Ipv6Addr};

use serde_json::Value;

use super::field::{Errors, Field};
use crate::names::quoted;

const NOT_AN_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NOT_A_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// `IsValidIPForLegacyField`: returns the address if it is valid. The texts of the old object stay valid.
pub(super) fn ip(field: &Field<'_>, kept: &[&str], errors: &mut Errors) -> Option<IpAddr> {
    let address = parse(field.text());
    if kept.contains(&field.text()) {
        return address;
    }
    refuse(field, fault(field.text()), errors);
    address.filter(|_| fault(field.text()).is_none())
}

/// `IsValidIP`: returns the address if it is valid and in its canonical form.
pub(super) fn canonical_ip(field: &Field<'_>, errors: &mut Errors) -> Option<IpAddr> {
    let address = ip(field, &[], errors)?;
    if address.to_string() == field.text() {
        return Some(address);
    }
    errors.invalid(field, &format!("must be in canonical form (\"{address}\")"));
    None
}

/// `IsValidCIDRForLegacyField`: the texts of the old object stay valid.
pub(super) fn range(field: &Field<'_>, kept: &[&str], errors: &mut Errors) {
    if !kept.contains(&field.text()) {
        refuse(field, range_fault(field.text()), errors);
    }
}

/// `IsValidCIDR`: a range in its canonical form.
pub(super) fn canonical_range(field: &Field<'_>, errors: &mut Errors) {
    let fault = range_fault(field.text()).map(str::to_owned).or_else(|| {
        let range = Range::parse(field.text())?.to_string();
        (range != field.text()).then(|| format!("must be in canonical form (\"{range}\")"))
    });
    refuse(field, fault.as_deref(), errors);
}

/// Reports a fault of a text, which is empty if it is absent.
fn refuse(field: &Field<'_>, fault: Option<&str>, errors: &mut Errors) {
    if let Some(fault) = fault {
        let shown = Value::from(field.text());
        errors.invalid(&field.holding(&shown), fault);
    }
}

/// `parseIP` in its strict form.
fn fault(text: &str) -> Option<&'static str> {
    match (parse(text), text.parse()) {
        (None, _) => Some(NOT_AN_ADDRESS),
        (_, Err(_)) => Some("must not have leading 0s"),
        (_, Ok(address)) => is_mapped(address).then_some("must not be an IPv4-mapped IPv6 address"),
    }
}

/// `parseCIDR` in its strict form.
fn range_fault(text: &str) -> Option<&'static str> {
    let Some(range) = Range::parse(text) else { return Some(NOT_A_RANGE) };
    match Range::parse_strict(text) {
        None => Some("must not have leading 0s in IP or prefix length"),
        _ if is_mapped(range.address) => Some("must not have an IPv4-mapped IPv6 address"),
        _ if range.network() != range.address => Some("must not have bits set beyond the prefix length"),
        _ => None,
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// `GetWarningsForIP`.
pub(in crate::builtin) fn warning(path: &str, text: &str) -> Option<String> {
    let address = parse(text)?;
    let shown = quoted(text);
    if fault(text).is_some() {
        return Some(format!("{path}: non-standard IP address {shown} is invalid: use \"{address}\""));
    }
    (address.is_ipv6() && address.to_string() != text).then(|| {
        format!("{path}: IPv6 address {shown} should be in RFC 5952 canonical format (\"{address}\")")
    })
}

/// `GetWarningsForCIDR`.
pub(in crate::builtin) fn range_warnings(path: &str, text: &str) -> Vec<String> {
    let (Some(range), shown) = (Range::parse(text), quoted(text)) else { return Vec::new() };
    let mut warnings = Vec::new();
    if range.network() != range.address {
        let single = format!("{}/{}", range.address.to_canonical(), range.width());
        warnings.push(format!(
            "{path}: CIDR value {shown} is ambiguous in this context (should be \"{range}\" or \"{single}\"?)"
        ));
    }
    if Range::parse_strict(text).is_none() || is_mapped(range.address) {
        warnings.push(format!("{path}: non-standard CIDR value {shown} is invalid: use \"{range}\""));
    }
    if warnings.is_empty() && range.address.is_ipv6() && range.to_string() != text {
        warnings.push(format!(
            "{path}: IPv6 CIDR value {shown} should be in RFC 5952 canonical format (\"{range}\")"
        ));
    }
    warnings
}

/// Reads an address as Go's sloppy parser does: leading zeros are decimal, and a mapped IPv4 address is one.
pub(crate) fn parse(text: &str) -> Option<IpAddr> {
    parse_form(text).map(|address| address.to_canonical())
}

/// Reads an address and keeps the form of a mapped one.
fn parse_form(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    // Go reads the IPv4 part of an IPv6 address in the same way.
    let start = text.rfind(':').map_or(0, |at| at + 1);
    let parts: Vec<u8> = text[start..].split('.').map(decimal).collect::<Option<_>>()?;
    let v4 = <[u8; 4]>::try_from(parts).ok().map(std::net::Ipv4Addr::from)?;
    match start {
        0 => Some(v4.into()),
        _ => format!("{}{v4}", &text[..start]).parse::<Ipv6Addr>().ok().map(IpAddr::from),
    }
}

fn decimal(part: &str) -> Option<u8> {
    part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten()
}

/// A range of addresses with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The address as it is written.
    address: IpAddr,
    bits: u8,
}

impl Range {
    /// `ParseCIDRSloppy`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let range = Self { address: parse_form(address)?, bits: decimal(bits)? };
        (range.bits <= range.width()).then_some(range)
    }

    /// `netip.ParsePrefix` of a text that the sloppy parser reads: it has no leading zeros.
    fn parse_strict(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let range = Self { address: address.parse().ok()?, bits: decimal(bits)? };
        (range.bits.to_string() == bits).then_some(range)
    }

    /// The number of bits of an address.
    fn width(self) -> u8 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    /// The address without the bits beyond the prefix.
    fn network(self) -> IpAddr {
        first(self.address, self.bits)
    }

    /// The canonical form of an interface's address, which has bits beyond the prefix.
    pub(super) fn of_interface(self) -> String {
        let shift = if is_mapped(self.address) && self.bits > 32 { 96 } else { 0 };
        format!("{}/{}", self.address.to_canonical(), i16::from(self.bits) - shift)
    }

    pub(super) fn is_ipv6(self) -> bool {
        self.address.to_canonical().is_ipv6()
    }

    /// Reports whether the other range is a proper part of this one.
    pub(super) fn has_part(self, other: Self) -> bool {
        self.width() == other.width()
            && self.bits < other.bits
            && first(other.address, self.bits) == self.network()
    }
}

impl std::fmt::Display for Range {
    /// Writes the range as Go's `net.IPNet` does.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let network = self.network();
        let shift = if is_mapped(network) { 96 } else { 0 };
        write!(f, "{}/{}", network.to_canonical(), self.bits.saturating_sub(shift))
    }
}

/// The first bits of an address.
fn first(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let rest = u32::MAX.checked_shr(bits.into()).unwrap_or(0);
            std::net::Ipv4Addr::from(u32::from(v4) & !rest).into()
        }
        IpAddr::V6(v6) => {
            let rest = u128::MAX.checked_shr(bits.into()).unwrap_or(0);
            Ipv6Addr::from(u128::from(v6) & !rest).into()
        }
    }
}

/// `ValidateEndpointIP`.
pub(super) fn of_endpoint(field: &Field<'_>, errors: &mut Errors) {
    let Some(address) = parse(field.text()) else {
        return refuse(field, Some("must be a valid IP address"), errors);
    };
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
    use super::*;

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

    #[test]
    fn address_has_no_leading_zeros_and_is_no_mapped_one() {
        assert_eq!(fault("10.9.8.7"), None);
        assert_eq!(fault("FE80:0:0:0:0:0:0:0abc"), None);
        assert_eq!(fault("10.9.08.7"), Some("must not have leading 0s"));
        assert_eq!(fault("::ffff:1.2.3.04"), Some("must not have leading 0s"));
        assert_eq!(fault("::ffff:1.2.3.4"), Some("must not be an IPv4-mapped IPv6 address"));
        assert_eq!(fault("fe80::1%eth0"), Some(NOT_AN_ADDRESS));
        assert_eq!(fault("10.9.8"), Some(NOT_AN_ADDRESS));
        let value = Value::from("010.1.1.1");
        let field = Field::root(&value).at("ip");
        let mut errors = Errors::default();
        assert_eq!(ip(&field, &["010.1.1.1"], &mut errors), "10.1.1.1".parse().ok());
        assert_eq!(errors.len(), 0);
    }

    #[test]
    fn range_has_no_leading_zeros_and_no_bits_beyond_its_prefix() {
        assert_eq!(range_fault("10.0.0.0/8"), None);
        assert_eq!(range_fault("2001:DB8::/32"), None);
        assert_eq!(range_fault("10.0.0.0/08"), Some("must not have leading 0s in IP or prefix length"));
        assert_eq!(range_fault("::ffff:10.0.0.0/104"), Some("must not have an IPv4-mapped IPv6 address"));
        assert_eq!(range_fault("10.0.0.1/8"), Some("must not have bits set beyond the prefix length"));
        assert_eq!(range_fault("10.0.0.0"), Some(NOT_A_RANGE));
    }

    #[test]
    fn address_in_another_form_than_the_canonical_one_gets_a_warning() {
        assert_eq!(warning("ip", "10.1.1.1"), None);
        assert_eq!(warning("ip", "name.example"), None);
        assert_eq!(
            warning("ip", "010.1.1.1").as_deref(),
            Some("ip: non-standard IP address \"010.1.1.1\" is invalid: use \"10.1.1.1\"")
        );
        assert_eq!(
            warning("ip", "2001:DB8::1").as_deref(),
            Some("ip: IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")")
        );
        assert_eq!(
            range_warnings("r", "::ffff:10.1.2.3/120"),
            [
                "r: CIDR value \"::ffff:10.1.2.3/120\" is ambiguous in this context (should be \"10.1.2.0/24\" or \
                 \"10.1.2.3/128\"?)",
                "r: non-standard CIDR value \"::ffff:10.1.2.3/120\" is invalid: use \"10.1.2.0/24\"",
            ]
        );
        assert_eq!(
            range_warnings("r", "2001:DB8::/32"),
            [
                "r: IPv6 CIDR value \"2001:DB8::/32\" should be in RFC 5952 canonical format (\"2001:db8::/32\")"
            ]
        );
    }
}
