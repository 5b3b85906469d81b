//! Warnings as headers: `pkg/endpoints/filters/warning.go` of apiserver.

use http::HeaderValue;

/// The number of characters in all warnings above which each is cut (`truncateAtTotalRunes`).
const MOST: usize = 4 * 1024;
/// The number of characters of a warning that is cut (`truncateItemRunes`).
const MOST_OF_ONE: usize = 256;

/// Returns the values of the header, each warning once. If there is too much text, each warning is cut, and what still does not
/// fit is left out.
pub(super) fn headers(warnings: &[String]) -> Vec<HeaderValue> {
    let mut once: Vec<&str> = Vec::new();
    for warning in warnings {
        if !warning.is_empty() && !once.contains(&warning.as_str()) {
            once.push(warning);
        }
    }
    let length = |text: &&str| text.chars().count();
    if once.iter().filter(|text| header(text).is_some()).map(length).sum::<usize>() <= MOST {
        return once.into_iter().filter_map(header).collect();
    }
    let mut written = 0;
    let mut headers = Vec::new();
    for text in once {
        let cut: String = text.chars().take(MOST_OF_ONE).collect();
        if written >= MOST {
            break;
        }
        if let Some(header) = header(&cut) {
            written += cut.chars().count();
            headers.push(header);
        }
    }
    headers
}

/// `NewWarningHeader` of apimachinery's pkg/util/net/http.go, which refuses control characters.
fn header(text: &str) -> Option<HeaderValue> {
    if text.contains(char::is_control) {
        return None;
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::from_bytes(format!("299 - \"{escaped}\"").as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(warnings: &[String]) -> Vec<String> {
        headers(warnings).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    }

    #[test]
    fn warnings_are_quoted_and_sent_once() {
        let warnings = ["a \"b\" \\", "c", "é", "c", "", "line\nbreak"].map(str::to_owned);
        assert_eq!(texts(&warnings), ["299 - \"a \\\"b\\\" \\\\\"", "299 - \"c\"", "299 - \"é\""]);
    }

    #[test]
    fn too_many_warnings_are_cut_and_left_out() {
        let warning = |i: usize, length: usize| format!("{i:03}{}", "é".repeat(length - 3));
        let short: Vec<String> = (0..32).map(|i| warning(i, 128)).collect();
        assert_eq!(texts(&short).len(), 32, "they have 4096 characters");
        let long: Vec<String> = (0..40).map(|i| warning(i, 300)).collect();
        let cut = texts(&long);
        assert_eq!(cut.len(), 16, "each has 256 characters");
        assert_eq!(cut[0], format!("299 - \"{}\"", &long[0].chars().take(256).collect::<String>()));
    }
}
