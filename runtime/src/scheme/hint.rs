//! Hints for words that are booleans or numbers in YAML 1.1 and strings in YAML 1.2.

use kubesmith_apimachinery::yaml::reads_as_other_than_string;
use serde_json::Value;

use super::path::Step;

/// Returns a hint for the message about a field of another type.
pub(super) fn of(value: &Value, path: &[Step], message: &str) -> Option<String> {
    let text = path.iter().try_fold(value, |value, step| step.in_value(value))?.as_str()?;
    // All these words are ASCII and short.
    if text.is_empty() || text.len() > 40 || !reads_as_other_than_string(text) {
        return None;
    }
    let (_, expected) = message.rsplit_once("expected ")?;
    let expected = expected.split([' ', ',']).next_back()?;
    match expected {
        "boolean" | "bool" => {
            let is_true = match text.to_ascii_lowercase().as_str() {
                "y" | "yes" | "on" | "true" => true,
                "n" | "no" | "off" | "false" => false,
                _ => return None,
            };
            Some(format!(" (YAML 1.2 is read, in which {text} is text: write {is_true}, without quotes)"))
        }
        number if is_number(number) => {
            let plain = plain_number(text)
                .map_or_else(|| "a plain number".to_owned(), |number| format!("{number}, without quotes"));
            Some(format!(" (YAML 1.2 is read, in which {text} is text: write {plain})"))
        }
        _ => None,
    }
}

/// Whether serde's name of the expected type is a number's.
fn is_number(expected: &str) -> bool {
    let digits = expected.strip_prefix(['i', 'u', 'f']);
    matches!(expected, "number" | "integer" | "usize" | "isize")
        || digits.is_some_and(|digits| ["8", "16", "32", "64", "128"].contains(&digits))
}

/// Returns the integer that YAML 1.1 reads: `0644` and `1_000`.
fn plain_number(text: &str) -> Option<i64> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    let number = match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() && octal.bytes().all(|b| b.is_ascii_digit()) => {
            i64::from_str_radix(octal, 8)
        }
        _ => digits.parse(),
    };
    number.ok().filter(|number| *number >= 0).map(|number| sign * number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_1_1_words_get_a_hint() {
        let hint = |text: &str, expected: &str| {
            let message = format!("invalid type: string {text:?}, expected {expected}");
            of(&json!({"a": [text]}), &[Step::Member("a".to_owned()), Step::Item(0)], &message)
        };
        let says = |text: &str, advice: &str| {
            Some(format!(" (YAML 1.2 is read, in which {text} is text: write {advice})"))
        };
        assert_eq!(hint("Yes", "a boolean"), says("Yes", "true, without quotes"));
        assert_eq!(hint("off", "a boolean"), says("off", "false, without quotes"));
        assert_eq!(hint("0644", "i32"), says("0644", "420, without quotes"));
        assert_eq!(hint("-1_000", "i64"), says("-1_000", "-1000, without quotes"));
        assert_eq!(hint("1:30", "u8"), says("1:30", "a plain number"));
        assert_eq!(hint("089", "i32"), says("089", "a plain number"));
        for (text, expected) in
            [("http", "i32"), ("yes", "a string"), ("", "i32"), ("maybe", "a boolean"), ("0644", "a boolean")]
        {
            assert_eq!(hint(text, expected), None);
        }
        assert_eq!(of(&json!({}), &[], "expected i32"), None);
    }
}
