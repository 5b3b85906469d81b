//! The client's timeout, as in `?timeout=10s`.

use std::time::Duration;

use super::super::hook::Refusal;

/// Returns the client's timeout, or `longest` if that is shorter or there is no timeout.
pub(super) fn of_query(query: Option<&str>, longest: Duration) -> Result<Duration, Refusal> {
    let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let Some((_, text)) = pairs.into_iter().find(|(name, _)| *name == "timeout") else { return Ok(longest) };
    let bad = || Refusal::bad_request(format!("{text:?} is not a timeout; say it like this: timeout=10s"));
    // jiff accepts more forms than Go writes, for instance words with spaces.
    let is_of_go = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let parsed = text.parse::<jiff::SignedDuration>().ok().filter(|_| is_of_go);
    let timeout = parsed.and_then(|timeout| Duration::try_from(timeout).ok()).ok_or_else(bad)?;
    Ok(timeout.min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(30);

    #[test]
    fn shorter_timeout_applies() {
        for (query, millis) in [
            (None, 30_000),
            (Some(""), 30_000),
            (Some("dryRun=All"), 30_000),
            (Some("timeout=10s"), 10_000),
            (Some("a=b&timeout=1.5s"), 1500),
            (Some("timeout=250ms"), 250),
            (Some("timeout=1m0s"), 30_000),
            (Some("timeout=1h0m0s"), 30_000),
            (Some("timeout=0s"), 0),
        ] {
            assert_eq!(of_query(query, LONGEST).unwrap(), Duration::from_millis(millis), "{query:?}");
        }
    }

    #[test]
    fn invalid_timeouts_are_refused() {
        for text in ["", "10", "-1s", "soon", "10s10", "%31s", "99999999999999999999s"] {
            let refusal = of_query(Some(&format!("timeout={text}")), LONGEST).unwrap_err();
            assert_eq!(refusal.code, 400, "{text}");
        }
    }
}
