//! IP addresses and networks.

use std::net::IpAddr;

use super::{Called, no_overload};
use crate::cel::value::Value;

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match (function, args) {
        ("isIP", [Value::String(text)]) => Ok(Value::Bool(parse_ip(text).is_ok())),
        ("ip", [Value::String(text)]) => parse_ip(text).map(Value::Ip),
        ("ip", [Value::Cidr(ip, _)]) => Ok(Value::Ip(*ip)),
        ("ip.isCanonical", [Value::String(text)]) => {
            let ip = parse_ip(text)?;
            Ok(Value::Bool(ip.to_string() == text.as_ref()))
        }
        (_, [Value::Ip(ip)]) => of_ip(function, *ip),
        ("isCIDR", [Value::String(text)]) => Ok(Value::Bool(parse_cidr(text).is_ok())),
        ("cidr", [Value::String(text)]) => to_cidr(text).map(|(ip, bits)| Value::Cidr(ip, bits)),
        ("prefixLength", [Value::Cidr(_, bits)]) => Ok(Value::Int(i64::from(*bits))),
        ("masked", [Value::Cidr(ip, bits)]) => Ok(Value::Cidr(mask(*ip, *bits), *bits)),
        ("containsIP", [Value::Cidr(net, bits), Value::Ip(ip)]) => {
            Ok(Value::Bool(contains(*net, *bits, *ip)))
        }
        ("containsIP", [Value::Cidr(net, bits), Value::String(text)]) => {
            Ok(Value::Bool(contains(*net, *bits, parse_ip(text)?)))
        }
        ("containsCIDR", [Value::Cidr(net, bits), other]) => {
            let (inner, inner_bits) = match other {
                Value::Cidr(ip, bits) => (*ip, *bits),
                Value::String(text) => to_cidr(text)?,
                _ => return no_overload(),
            };
            Ok(Value::Bool(inner_bits >= *bits && contains(*net, *bits, inner)))
        }
        _ => no_overload(),
    }
}

fn parse_ip(text: &str) -> Result<IpAddr, String> {
    let quoted = kubesmith_apimachinery::golang::quote(text);
    let ip: IpAddr = text.parse().map_err(|_| {
        format!("IP Address {quoted} parse error during conversion from string: ParseAddr({quoted}): unable to parse IP")
    })?;
    match ip {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {quoted} is not allowed"))
        }
        ip => Ok(ip),
    }
}

/// The beginning of each error.
const CIDR_FAULT: &str = "network address parse error during conversion from string";

/// `cidr()`. Kubernetes repeats the beginning of the error.
fn to_cidr(text: &str) -> Result<(IpAddr, u8), String> {
    parse_cidr(text).map_err(|error| format!("{CIDR_FAULT}: {error}"))
}

/// Source: `parseCIDR` of apiserver's pkg/cel/library/cidr.go, and Go's `netip.ParsePrefix`.
fn parse_cidr(text: &str) -> Result<(IpAddr, u8), String> {
    let quote = kubesmith_apimachinery::golang::quote;
    let fault = |reason: String| format!("{CIDR_FAULT}: netip.ParsePrefix({}): {reason}", quote(text));
    let (address, bits) = text.rsplit_once('/').ok_or_else(|| fault("no '/'".to_owned()))?;
    let unreadable = |_| fault(format!("ParseAddr({}): unable to parse IP", quote(address)));
    let ip: IpAddr = address.parse().map_err(unreadable)?;
    let plain = bits.bytes().all(|b| b.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    let length: u64 = match bits.parse() {
        Ok(length) if plain => length,
        _ => return Err(fault(format!("bad bits after slash: {}", quote(bits)))),
    };
    let max = if ip.is_ipv4() { 32 } else { 128 };
    match (u8::try_from(length), ip) {
        (_, IpAddr::V6(v6)) if length <= 128 && v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {} is not allowed", quote(text)))
        }
        (Ok(length), ip) if length <= max => Ok((ip, length)),
        _ => Err(fault("prefix length out of range".to_owned())),
    }
}

fn mask(ip: IpAddr, bits: u8) -> IpAddr {
    match ip {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            IpAddr::V4((u32::from(v4) & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6((u128::from(v6) & mask).into())
        }
    }
}

fn contains(net: IpAddr, bits: u8, ip: IpAddr) -> bool {
    net.is_ipv4() == ip.is_ipv4() && mask(net, bits) == mask(ip, bits)
}

fn of_ip(function: &str, ip: IpAddr) -> Called {
    let local_multicast = match ip {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    };
    let local_unicast = match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    };
    Ok(Value::Bool(match function {
        "family" => return Ok(Value::Int(if ip.is_ipv4() { 4 } else { 6 })),
        "isUnspecified" => ip.is_unspecified(),
        "isLoopback" => ip.is_loopback(),
        "isLinkLocalMulticast" => local_multicast,
        "isLinkLocalUnicast" => local_unicast,
        "isGlobalUnicast" => {
            let broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
            !(broadcast || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || local_unicast)
        }
        _ => return no_overload(),
    }))
}
