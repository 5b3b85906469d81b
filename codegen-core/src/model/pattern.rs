//! Patterns, which the API server compiles with Go's RE2.

/// Finds what RE2 refuses most often: unbalanced brackets, look-around and back-references. A
/// pattern that passes may still be wrong; the API server compiles it.
///
/// # Errors
/// Says what is wrong, to follow "invalid pattern: ".
pub fn check_pattern(pattern: &str) -> Result<(), String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut open = 0usize;
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => {
                match chars.get(at + 1) {
                    None => return Err("it ends with a backslash".to_owned()),
                    Some(c @ '1'..='9') => {
                        return Err(format!("`\\{c}` refers back to a group, which RE2 cannot do"));
                    }
                    // \Q quotes everything up to \E.
                    Some('Q') => {
                        let rest = &chars[at + 2..];
                        at += rest.windows(2).position(|w| w == ['\\', 'E']).map_or(rest.len(), |p| p + 2);
                    }
                    Some(_) => {}
                }
                at += 1;
            }
            '[' => at = class_end(&chars, at)?,
            '(' => {
                open += 1;
                let ahead: String = chars[at..].iter().take(4).collect();
                if let Some(look) =
                    ["(?=", "(?!", "(?<=", "(?<!"].iter().find(|look| ahead.starts_with(**look))
                {
                    return Err(format!("`{look}` looks ahead or behind, which RE2 cannot do"));
                }
            }
            ')' if open == 0 => return Err("`)` closes nothing".to_owned()),
            ')' => open -= 1,
            '*' | '+' | '?' if at == 0 => return Err(format!("`{c}` repeats nothing")),
            _ => {}
        }
        at += 1;
    }
    if open > 0 { Err("`(` is not closed".to_owned()) } else { Ok(()) }
}

/// The place of the bracket that closes the character class opened at `start`.
fn class_end(chars: &[char], start: usize) -> Result<usize, String> {
    let mut at = start + 1;
    if chars.get(at) == Some(&'^') {
        at += 1;
    }
    // A bracket in the first place stands for itself.
    if chars.get(at) == Some(&']') {
        at += 1;
    }
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            ']' => return Ok(at),
            '[' if chars.get(at + 1) == Some(&':') => {
                let rest = &chars[at..];
                at += rest.windows(2).position(|w| w == [':', ']']).map_or(0, |p| p + 1);
            }
            _ => {}
        }
        at += 1;
    }
    Err("`[` is not closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for good in [
            "^[a-z]+$",
            r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$",
            r#"^("|'|\\|\|)*$"#,
            "[]a]",
            "[^]]",
            "[[:alpha:]]+",
            r"\Q(\E",
            r"\(",
            "(?i)a",
            "(?P<name>a)",
            "x",
            "ä",
        ] {
            assert_eq!(check_pattern(good), Ok(()), "{good}");
        }
        for bad in ["(", ")", "[a", r"\", r"(a)\1", "(?=a)", "(?<!a)", "*a", "a(b", "[^]", "(()"] {
            assert!(check_pattern(bad).is_err(), "{bad}");
        }
    }
}
