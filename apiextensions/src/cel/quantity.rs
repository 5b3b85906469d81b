//! Quantities such as `1.5Gi` or `100m`, held exactly.

use std::cmp::Ordering;

/// A number of nanounits, to which Kubernetes rounds up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    nanos: i128,
    amount: Option<Amount>,
}

/// The number in Kubernetes' short form. Only this form converts to an integer.
#[derive(Clone, Copy, Debug)]
struct Amount {
    value: i64,
    /// The power of ten.
    scale: i32,
}

impl Amount {
    fn raised(self, scale: i32) -> Option<i64> {
        10_i64.checked_pow(u32::try_from(scale).ok()?)?.checked_mul(self.value)
    }

    fn add(self, other: Self) -> Option<Self> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let value = self.raised(self.scale - scale)?.checked_add(other.raised(other.scale - scale)?)?;
        Some(Self { value, scale })
    }
}

const NANO: i128 = 1_000_000_000;
/// Quantities with binary suffixes are capped. Source: Kubernetes caps at 2^63-1.
const MAX: i128 = i64::MAX as i128 * NANO;
/// The most digits of an amount in the short form. Source: maxInt64Factors of apimachinery.
const MAX_DIGITS: usize = 18;
/// Why a text is not a quantity.
const WRONG_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Scale {
    /// A power of ten.
    Ten(i32),
    /// A power of two.
    Two(u32),
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Quantity {
    /// Reads a quantity.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(WRONG_FORMAT);
        }
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, rest) = digits(rest);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let scale = scale(suffix)?;
        let whole = whole.trim_start_matches('0');
        let sign = |value: i128| if negative { -value } else { value };
        let amount = short(whole, fraction, scale).map(|amount| match negative {
            true => Amount { value: -amount.value, ..amount },
            false => amount,
        });
        Ok(Self { nanos: sign(exact(whole, fraction, scale)), amount })
    }

    pub(super) fn sign(self) -> i64 {
        self.nanos.signum().try_into().unwrap_or(0)
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    pub(super) fn add(self, other: Self) -> Self {
        let amount = self.amount.zip(other.amount).and_then(|(a, b)| a.add(b));
        Self { nanos: self.nanos.saturating_add(other.nanos), amount }
    }

    pub(super) fn sub(self, other: Self) -> Self {
        let negated = |amount: Amount| Amount { value: amount.value.wrapping_neg(), ..amount };
        let amount = self.amount.zip(other.amount).and_then(|(a, b)| a.add(negated(b)));
        Self { nanos: self.nanos.saturating_sub(other.nanos), amount }
    }

    pub(super) fn of_int(value: i64) -> Self {
        Self { nanos: i128::from(value) * NANO, amount: Some(Amount { value, scale: 0 }) }
    }

    /// The value, if the text has a whole number: `1000m` does not.
    pub(super) fn as_integer(self) -> Option<i64> {
        self.amount.and_then(|amount| amount.raised(amount.scale))
    }

    #[expect(clippy::cast_precision_loss, reason = "an approximation is asked for")]
    pub(super) fn as_float(self) -> f64 {
        match self.amount {
            Some(Amount { value, scale: 0 }) => value as f64,
            Some(Amount { value, scale }) => value as f64 * power_of_ten(scale),
            None => self.nanos as f64 * power_of_ten(-9),
        }
    }
}

/// The power as the nearest double. Repeated multiplication would lose precision.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The digits that a text starts with, and what follows them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn scale(suffix: &str) -> Result<Scale, &'static str> {
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let number = letters.strip_prefix(['+', '-']).unwrap_or(letters);
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(WRONG_FORMAT);
    }
    const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let place = |names: &[&str]| names.iter().position(|name| *name == suffix);
    if let Some(power) = place(&DECIMAL).and_then(|at| i32::try_from(at).ok()) {
        return Ok(Scale::Ten((power - 3) * 3));
    }
    if let Some(power) = place(&BINARY).and_then(|at| u32::try_from(at).ok()) {
        return Ok(Scale::Two((power + 1) * 10));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).and_then(|text| text.parse::<i64>().ok());
    let exponent = exponent.ok_or(WRONG_SUFFIX)?.clamp(-1000, 1000);
    Ok(Scale::Ten(i32::try_from(exponent).unwrap_or(0)))
}

/// The number in the short form, if it fits.
fn short(whole: &str, fraction: &str, scale: Scale) -> Option<Amount> {
    let whole = if whole.is_empty() { "0" } else { whole };
    let value: i64 = [whole, fraction].concat().parse().ok()?;
    match scale {
        Scale::Ten(power) => {
            let scale = power - i32::try_from(fraction.len()).ok()?;
            let fits = whole.len() + fraction.len() <= MAX_DIGITS && scale >= -9;
            fits.then_some(Amount { value, scale })
        }
        Scale::Two(power) => {
            let digits = u32::try_from(whole.len()).ok()? + power * 3 / 10 + 1;
            let fits = fraction.is_empty() && digits <= 15;
            let value = value.checked_mul(1_i64 << power)?;
            fits.then_some(Amount { value, scale: 0 })
        }
    }
}

/// Rounds up to nanounits and saturates.
fn exact(whole: &str, fraction: &str, scale: Scale) -> i128 {
    // A number that does not fit is larger than any other. Digits that are cut off round up.
    const WHOLE: usize = 20;
    const FRACTION: usize = 18;
    let (multiplier, power, cap) = match scale {
        Scale::Ten(power) => (1, power, i128::MAX),
        Scale::Two(power) => (1_i128 << power, 0, MAX),
    };
    if whole.len() > WHOLE + 10 {
        return cap;
    }
    let (kept, dropped) =
        fraction.split_at(fraction.len().min(if whole.len() > WHOLE { 8 } else { FRACTION }));
    let mut rounded = dropped.bytes().any(|digit| digit != b'0');
    let parsed = [whole, kept].concat();
    let mantissa: i128 = if parsed.is_empty() { 0 } else { parsed.parse().unwrap_or(cap) };
    let Some(mut value) = mantissa.checked_mul(multiplier) else { return cap };
    let mut exponent = power + 9 - i32::try_from(kept.len()).unwrap_or(0);
    while exponent > 0 && value != 0 {
        match value.checked_mul(10) {
            Some(next) => value = next,
            None => return cap,
        }
        exponent -= 1;
    }
    while exponent < 0 && value != 0 {
        rounded |= value % 10 != 0;
        value /= 10;
        exponent += 1;
    }
    if rounded { value + 1 } else { value }.min(cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        let q = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!(q("1.5Gi"), q("1610612736"));
        assert_eq!(q("1500m").compare(q("1.5")), Ordering::Equal);
        assert_eq!(q("1k").as_integer(), Some(1000));
        assert_eq!(q("1e3").as_integer(), Some(1000));
        assert_eq!(q("0.5").as_integer(), None);
        assert_eq!(q("-1").sign(), -1);
        assert_eq!(q("1").add(q("500m")).as_float(), 1.5);
        assert!(q("99999999999999999999E").compare(q("1E")).is_gt());
        assert!(q("9223372036854775808").compare(q("9223372036854775807")).is_gt());
        assert_eq!(q("8Ei"), q("9Ei"));
        assert_eq!(q("0.1n"), q("0.00000000000000000000000000000000000000000001"));
        for bad in ["", "x", "1.2.3", "1 Gi", "1Gi "] {
            assert_eq!(Quantity::parse(bad), Err(WRONG_FORMAT), "{bad}");
        }
        for bad in ["--1", "1gi", "5K", "5kk", "1e"] {
            assert!(Quantity::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Quantity::parse("5kk"), Err(WRONG_SUFFIX));
    }

    #[test]
    fn integers_are_what_is_written_as_one() {
        let integer = |text: &str| Quantity::parse(text).unwrap().as_integer();
        assert_eq!((integer("5"), integer("5k"), integer("1Gi")), (Some(5), Some(5000), Some(1 << 30)));
        assert_eq!((integer("2000m"), integer("1.0"), integer("9223372036854775807")), (None, None, None));
        let sum = Quantity::parse("1").unwrap().add(Quantity::of_int(2));
        assert_eq!((sum.as_integer(), sum.sub(Quantity::of_int(3)).as_integer()), (Some(3), Some(0)));
        assert_eq!(Quantity::parse("123456789.123456789").unwrap().as_float(), 123_456_789.123_456_79);
        for zero in [".", "-", "e3", "00"] {
            assert_eq!(Quantity::parse(zero).unwrap().sign(), 0, "{zero}");
        }
    }
}
