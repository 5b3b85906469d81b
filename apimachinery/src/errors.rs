//! Several errors as one: apimachinery's `util/errors`.

use std::collections::HashSet;

/// Joins errors as Go's `Aggregate` does: one as it is, several in brackets, equal texts once. Empty if there are none.
#[must_use]
pub fn aggregate(errors: impl IntoIterator<Item = String>) -> String {
    let mut seen = HashSet::new();
    let mut joined = String::new();
    for text in errors {
        if seen.contains(&text) {
            continue;
        }
        if !seen.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(&text);
        seen.insert(text);
    }
    if seen.len() > 1 { format!("[{joined}]") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::aggregate;

    #[test]
    fn aggregate_lists_each_error_once_by_first_occurrence() {
        let all = |texts: &[&str]| aggregate(texts.iter().map(ToString::to_string));
        assert_eq!(all(&[]), "");
        assert_eq!(all(&["a"]), "a");
        assert_eq!(all(&["a", "a"]), "a");
        assert_eq!(all(&["b", "a", "b"]), "[b, a]");
    }

    #[test]
    fn aggregate_joins_100_000_errors() {
        // Comparing each text with all others would take minutes.
        let text = aggregate((0..100_000).map(|at| format!("spec.items[{}]: Required value", at % 50_000)));
        assert!(text.starts_with("[spec.items[0]: Required value, spec.items[1]: "));
        assert_eq!(text.matches("Required value").count(), 50_000);
    }
}
