//! Quantities such as `1.5Gi` or `100m`, held exactly.

use std::cmp::Ordering;

/// A number of nanounits: Kubernetes rounds up to this precision as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Quantity(i128);

const NANO: i128 = 1_000_000_000;
/// Larger quantities are capped. Source: Kubernetes caps at 2^63-1.
const MAX: i128 = i64::MAX as i128 * NANO;

impl Quantity {
    /// Reads a quantity.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let (multiplier, power) = scale(suffix)?;
        let nanos = exact(whole, fraction, multiplier, power);
        let capped = nanos.min(MAX);
        Some(Self(if negative { -capped } else { capped }))
    }

    pub(super) fn sign(self) -> i64 {
        self.0.signum().try_into().unwrap_or(0)
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0).clamp(-MAX, MAX))
    }

    pub(super) fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).clamp(-MAX, MAX))
    }

    pub(super) fn of_int(value: i64) -> Self {
        Self(i128::from(value) * NANO)
    }

    /// The value, if it is a whole number.
    pub(super) fn as_integer(self) -> Option<i64> {
        (self.0 % NANO == 0).then(|| i64::try_from(self.0 / NANO).ok()).flatten()
    }

    #[expect(clippy::cast_precision_loss, reason = "an approximation is asked for")]
    pub(super) fn as_float(self) -> f64 {
        self.0 as f64 / NANO as f64
    }
}

/// The multiplier and the power of ten of a suffix.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let binary = |shift: u32| Some((1_i128 << shift, 0));
    match suffix {
        "" => Some((1, 0)),
        "n" => Some((1, -9)),
        "u" => Some((1, -6)),
        "m" => Some((1, -3)),
        "k" => Some((1, 3)),
        "M" => Some((1, 6)),
        "G" => Some((1, 9)),
        "T" => Some((1, 12)),
        "P" => Some((1, 15)),
        "E" => Some((1, 18)),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| exponent.parse::<i32>().ok().map(|e| (1, e.clamp(-100, 100))))?
        }
    }
}

/// Rounds up what is smaller than a nanounit, and saturates.
fn exact(whole: &str, fraction: &str, multiplier: i128, power: i32) -> i128 {
    let digits: String = whole.chars().chain(fraction.chars()).take(60).collect();
    let taken = i32::try_from(digits.len()).unwrap_or(60);
    let whole_len = i32::try_from(whole.len()).unwrap_or(i32::MAX / 4);
    let mut mantissa: i128 = 0;
    for digit in digits.bytes() {
        match mantissa.checked_mul(10).and_then(|m| m.checked_add(i128::from(digit - b'0'))) {
            Some(next) => mantissa = next,
            None => return if whole_len > 30 { MAX } else { mantissa },
        }
    }
    let mut exponent = whole_len - taken + power + 9;
    let Some(mut value) = mantissa.checked_mul(multiplier) else { return MAX };
    while exponent > 0 && value != 0 {
        match value.checked_mul(10) {
            Some(next) => value = next,
            None => return MAX,
        }
        exponent -= 1;
    }
    let mut rounded = false;
    while exponent < 0 && value != 0 {
        rounded |= value % 10 != 0;
        value /= 10;
        exponent += 1;
    }
    if rounded { value + 1 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        let q = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!(q("1.5Gi").as_integer(), Some(1_610_612_736));
        assert_eq!(q("1500m").compare(q("1.5")), Ordering::Equal);
        assert_eq!(q("1k").as_integer(), Some(1000));
        assert_eq!(q("1e3").as_integer(), Some(1000));
        assert_eq!(q("0.5").as_integer(), None);
        assert_eq!(q("-1").sign(), -1);
        assert_eq!(q("1").add(q("500m")).as_float(), 1.5);
        assert!(q("99999999999999999999E") >= q("1E"));
        for bad in ["", "x", "1.2.3", "1 Gi", "1gi", "e3", "--1"] {
            assert_eq!(Quantity::parse(bad), None, "{bad}");
        }
    }
}
