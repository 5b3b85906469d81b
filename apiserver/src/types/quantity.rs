//! Amounts such as `500m` and `2Gi`, written in one way as apimachinery's `Quantity` does.

/// Parts of one; finer amounts are rounded up to this.
const NANO: i128 = 1_000_000_000;
/// The largest amount with a binary suffix; larger ones are cut off here.
const MAX: i128 = (i64::MAX as i128) * NANO;

/// The error of apimachinery's `ParseQuantity`.
const MALFORMED: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const BINARY: &[&str] = &["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// Suffixes in steps of a thousand, from 10^-9.
const DECIMAL: &[&str] = &["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Binary,
    Decimal,
    Exponent,
}

/// The canonical text of an amount.
///
/// # Errors
/// Text that is no amount.
pub(super) fn canonical(text: &str) -> Result<String, String> {
    let (nanos, format) = parse(text.trim()).ok_or(MALFORMED)?;
    let (sign, nanos) = if nanos < 0 { ("-", -nanos) } else { ("", nanos) };
    let whole = nanos % NANO == 0;
    let body = match format {
        Format::Binary if whole && nanos >= 1024 * NANO => {
            let (mut amount, mut suffix) = (nanos / NANO, 0);
            while amount % 1024 == 0 && suffix + 1 < BINARY.len() {
                amount /= 1024;
                suffix += 1;
            }
            format!("{amount}{}", BINARY[suffix])
        }
        Format::Exponent => {
            let (amount, step) = shortened(nanos);
            match i32::try_from(step).unwrap_or_default() * 3 - 9 {
                0 => amount.to_string(),
                exponent => format!("{amount}e{exponent}"),
            }
        }
        Format::Binary | Format::Decimal => {
            let (amount, step) = shortened(nanos);
            format!("{amount}{}", DECIMAL[step])
        }
    };
    Ok(format!("{sign}{body}"))
}

/// The amount in units of 10^-9, to compare amounts by; `None` for text that is no amount.
pub(crate) fn nanos(text: &str) -> Option<i128> {
    parse(text.trim()).map(|(nanos, _)| nanos)
}

/// The decimal text of an amount in units of 10^-9.
pub(crate) fn of_nanos(nanos: i128) -> String {
    let (amount, step) = shortened(nanos);
    format!("{amount}{}", DECIMAL[step])
}

/// The amount in the largest unit in which it is whole; the unit as an index of [`DECIMAL`].
fn shortened(nanos: i128) -> (i128, usize) {
    if nanos == 0 {
        return (0, 3);
    }
    let (mut amount, mut step) = (nanos, 0);
    while amount % 1000 == 0 && step + 1 < DECIMAL.len() {
        amount /= 1000;
        step += 1;
    }
    (amount, step)
}

fn parse(text: &str) -> Option<(i128, Format)> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // A sign, a dot or a suffix alone is nothing of it.
    if fraction.contains('.') {
        return None;
    }
    let (factor, shift, format) = unit(suffix)?;
    let digits: String = format!("{whole}{fraction}").trim_start_matches('0').to_owned();
    let shift = shift + 9 - i32::try_from(fraction.len()).ok()?;
    let largest = if format == Format::Binary { MAX } else { i128::MAX / NANO * NANO };
    let nanos = scaled(&digits, factor, shift).min(largest);
    Some((if negative { -nanos } else { nanos }, format))
}

/// A suffix as a factor and a power of ten.
fn unit(suffix: &str) -> Option<(i128, i32, Format)> {
    if let Some(power) = BINARY.iter().skip(1).position(|s| *s == suffix) {
        return Some((1 << (10 * (power + 1)), 0, Format::Binary));
    }
    if let Some(step) = DECIMAL.iter().position(|s| *s == suffix) {
        return Some((1, i32::try_from(step).ok()? * 3 - 9, Format::Decimal));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?;
    exponent.checked_abs().filter(|e| *e < 1_000_000)?;
    Some((1, exponent, Format::Exponent))
}

/// `digits * factor * 10^shift`, rounded up, and cut off at what the integer holds: 10^29.
fn scaled(digits: &str, factor: i128, shift: i32) -> i128 {
    if digits.is_empty() {
        return 0;
    }
    if digits.len() > 30 {
        // Beyond what any amount can hold, whatever the unit; or finer than can be told.
        return if shift < -20 { 1 } else { i128::MAX };
    }
    let amount = digits.parse::<i128>().unwrap_or(i128::MAX).saturating_mul(factor);
    let mut out = amount;
    for _ in 0..shift.unsigned_abs().min(64) {
        out = if shift > 0 { out.saturating_mul(10) } else { out / 10 + i128::from(out % 10 != 0) };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_one_form() {
        for (given, expected) in [
            ("0", "0"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1", "1"),
            ("100", "100"),
            ("1000", "1k"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("0.1Mi", "104857600m"),
            ("512Mi", "512Mi"),
            ("1e3", "1e3"),
            ("12E2", "1200"),
            ("-0.25", "-250m"),
            ("0.0000000001", "1n"),
            ("+5", "5"),
            (".", "0"),
            ("k", "0"),
            ("-", "0"),
            ("10E", "10E"),
            ("12345678901234567890", "12345678901234567890"),
            ("10Ei", "9223372036854775807"),
            (".5", "500m"),
            ("99999999999999999999Ei", "9223372036854775807"),
        ] {
            assert_eq!(canonical(given).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn other_text_is_no_amount() {
        for text in ["", "x", "1x", "1.2.3", "1 Gi", "1KI", "1e3.5"] {
            assert!(canonical(text).is_err(), "{text}");
        }
    }
}
