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
pub(super) fn parse(text: &str) -> Option<IpAddr> {
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

/// `IsValidCIDR`.
pub(super) fn range(field: &Field<'_>, errors: &mut Errors) {
    let sound = field.text().split_once('/').is_some_and(|(address, bits)| {
        let most = match parse(address) {
            Some(IpAddr::V4(_)) => 32,
            Some(IpAddr::V6(_)) => 128,
            None => return false,
        };
        bits.bytes().all(|b| b.is_ascii_digit()) && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    });
    if !sound {
        errors.invalid(field, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
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
