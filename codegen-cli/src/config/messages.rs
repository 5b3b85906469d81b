//! Rewords errors of TOML and serde about the file.

/// Advice for a value that TOML or serde refuses.
pub(super) fn mended(message: &str) -> String {
    match message.rsplit_once("expected ").map(|(_, expected)| expected.trim()) {
        Some("a sequence") => "write a list: [\"...\"]".to_owned(),
        Some("a boolean") => "write true or false, without quotes".to_owned(),
        Some(number) if number.starts_with(['u', 'i', 'f']) && number[1..].parse::<u8>().is_ok() => {
            "write a number, without quotes".to_owned()
        }
        Some("a string") => "write the value in quotes".to_owned(),
        _ => "`kubesmith config schema` prints the keys and their types".to_owned(),
    }
}

/// Parses serde's "unknown field `x`, expected one of `a`, `b`".
pub(super) fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest =
        message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    let (key, known) = rest.split_once('`')?;
    Some((key, known.split('`').skip(1).step_by(2).collect()))
}
