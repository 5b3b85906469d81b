//! Quantities such as `1.5Gi` and `100m`, held exactly and written in one way. The model is apimachinery's `pkg/api/resource`.

use std::cmp::Ordering;
use std::fmt;

/// A quantity in units of 10⁻⁹. A finer one is rounded up, away from zero.
///
/// Two quantities are equal if they have the same amount, whatever their notation.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
    short: Option<Short>,
}

/// Text that is no quantity. The words are apimachinery's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseQuantityError {
    /// The text has another form (`ErrFormatWrong`).
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The letters behind the number are no suffix (`ErrSuffix`).
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// The notation in which a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Binary,
    Decimal,
    Exponent,
}

/// A quantity that Go holds as `int64Amount`. No other converts to an integer.
#[derive(Clone, Copy, Debug)]
struct Short {
    value: i64,
    /// The power of ten.
    scale: i32,
}

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Factor {
    Ten(i32),
    Two(u32),
}

const NANO: i128 = 1_000_000_000;
/// The largest quantity with a binary suffix. Source: `maxAllowed` of apimachinery.
const MAX_BINARY: i128 = i64::MAX as i128 * NANO;
/// The largest other quantity. apimachinery has no limit there.
const MAX: i128 = i128::MAX / NANO * NANO;
/// The most digits of a short quantity. Source: `maxInt64Factors` of apimachinery.
const MAX_DIGITS: usize = 18;
/// Suffixes in steps of 1,000, from 10⁻⁹.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Suffixes in steps of 1,024.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Reads a quantity as `ParseQuantity` does. White space is no part of one.
    ///
    /// # Errors
    /// Text that is no quantity.
    pub fn parse(text: &str) -> Result<Self, ParseQuantityError> {
        let (negative, rest) = match text.as_bytes().first().ok_or(ParseQuantityError::Format)? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, rest) = digits(rest);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let (factor, format) = factor(suffix)?;
        let whole = whole.trim_start_matches('0');
        let nanos = nanos(whole, fraction, factor);
        let short = short(whole, fraction, factor);
        let quantity = Self { nanos, format, short };
        Ok(if negative { quantity.negated() } else { quantity })
    }

    /// The amount in units of 10⁻⁹.
    #[must_use]
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// -1, 0 or 1.
    #[must_use]
    pub fn sign(self) -> i64 {
        self.nanos.signum().try_into().unwrap_or(0)
    }

    /// The whole number, if it is written as one: `1000m` and `1.0` are not. Source: `AsInt64`.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        self.short.and_then(|short| short.raised(short.scale))
    }

    /// The nearest double. Source: `AsApproximateFloat64`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an approximation is asked for")]
    pub fn as_f64(self) -> f64 {
        match self.short {
            Some(Short { value, scale: 0 }) => value as f64,
            Some(Short { value, scale }) => value as f64 * power_of_ten(scale),
            None => self.nanos as f64 * power_of_ten(-9),
        }
    }

    /// The next quantity, away from zero, without parts of a thousandth. Source: `RoundUp` with the scale -3.
    #[must_use]
    pub fn rounded_up_to_milli(self) -> Self {
        const MILLI: i128 = NANO / 1000;
        let rest = self.nanos % MILLI;
        if rest == 0 {
            return self;
        }
        let nanos = self.nanos - rest + MILLI * rest.signum();
        let short = i64::try_from(nanos / MILLI).ok().map(|value| Short { value, scale: -3 });
        Self { nanos, short, ..self }
    }

    fn negated(self) -> Self {
        let short = self.short.map(|short| Short { value: short.value.wrapping_neg(), ..short });
        Self { nanos: self.nanos.saturating_neg(), short, ..self }
    }
}

impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        let short = Some(Short { value, scale: 0 });
        Self { nanos: i128::from(value) * NANO, format: Format::Decimal, short }
    }
}

impl Quantity {
    /// The sum, in the notation of the first or, if the first is zero, of the second. Source: `Add`.
    fn plus(self, other: Self) -> Self {
        let short = self.short.zip(other.short).and_then(|(a, b)| a.add(b));
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format, short }
    }
}

impl std::ops::Add for Quantity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

impl std::ops::Sub for Quantity {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.plus(other.negated())
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// The canonical text. Source: `CanonicalizeBytes`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.nanos % NANO == 0;
        match self.format {
            Format::Binary if whole && self.nanos.abs() >= 1024 * NANO => {
                let (amount, step) = shortened(self.nanos / NANO, 1024, BINARY.len());
                write!(f, "{amount}{}", BINARY[step])
            }
            Format::Exponent => match shortened(self.nanos, 1000, usize::MAX) {
                (amount, 3) => write!(f, "{amount}"),
                (amount, step) => write!(f, "{amount}e{}", i128::try_from(step).unwrap_or(0) * 3 - 9),
            },
            Format::Binary | Format::Decimal => {
                let (amount, step) = shortened(self.nanos, 1000, DECIMAL.len());
                write!(f, "{amount}{}", DECIMAL[step])
            }
        }
    }
}

/// The amount in the largest unit in which it is whole, and how many steps that unit is away from the first.
fn shortened(mut amount: i128, base: i128, units: usize) -> (i128, usize) {
    if amount == 0 {
        return (0, 3);
    }
    let mut step = 0;
    while amount % base == 0 && step + 1 < units {
        amount /= base;
        step += 1;
    }
    (amount, step)
}

impl Short {
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

/// The power as the nearest double. Repeated multiplication would lose precision.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The digits that a text starts with, and what follows them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn factor(suffix: &str) -> Result<(Factor, Format), ParseQuantityError> {
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let number = letters.strip_prefix(['+', '-']).unwrap_or(letters);
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ParseQuantityError::Format);
    }
    if let Some(step) = DECIMAL.iter().position(|name| *name == suffix) {
        let power = i32::try_from(step).unwrap_or(0) * 3 - 9;
        return Ok((Factor::Ten(power), Format::Decimal));
    }
    if let Some(step) = BINARY.iter().position(|name| *name == suffix) {
        let power = u32::try_from(step).unwrap_or(0) * 10;
        return Ok((Factor::Two(power), Format::Binary));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).and_then(|text| text.parse::<i64>().ok());
    // No quantity reaches as far as either end.
    let power = exponent.ok_or(ParseQuantityError::Suffix)?.clamp(-1000, 1000);
    Ok((Factor::Ten(i32::try_from(power).unwrap_or(0)), Format::Exponent))
}

/// The number in Go's short form, if it fits.
fn short(whole: &str, fraction: &str, factor: Factor) -> Option<Short> {
    let whole = if whole.is_empty() { "0" } else { whole };
    let value: i64 = [whole, fraction].concat().parse().ok()?;
    match factor {
        Factor::Ten(power) => {
            let scale = power - i32::try_from(fraction.len()).ok()?;
            let fits = whole.len() + fraction.len() <= MAX_DIGITS && scale >= -9;
            fits.then_some(Short { value, scale })
        }
        Factor::Two(power) => {
            let digits = u32::try_from(whole.len()).ok()? + power * 3 / 10 + 1;
            let fits = fraction.is_empty() && digits <= 15;
            let value = value.checked_mul(1_i64 << power)?;
            fits.then_some(Short { value, scale: 0 })
        }
    }
}

/// Rounds up to 10⁻⁹ and stops at the largest quantity.
fn nanos(whole: &str, fraction: &str, factor: Factor) -> i128 {
    // A number that does not fit is larger than any other. Digits that are cut off round up.
    const WHOLE: usize = 20;
    const FRACTION: usize = 18;
    let (multiplier, power, cap) = match factor {
        Factor::Ten(power) => (1, power, MAX),
        Factor::Two(power) => (1_i128 << power, 0, MAX_BINARY),
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
    value.saturating_add(i128::from(rounded)).min(cap)
}

#[cfg(test)]
mod tests;
