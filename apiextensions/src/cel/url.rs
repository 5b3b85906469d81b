//! URLs, parsed as Go's net/url parses them for requests.

/// An absolute URL or path in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    text: String,
    pub(super) scheme: String,
    /// With brackets and port.
    pub(super) host: String,
    pub(super) path: String,
    query: String,
}

impl Url {
    /// Reads an absolute URL or an absolute path.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if !crate::structural::formats::validates("uri", text) {
            return None;
        }
        let (rest, query) = text.split_once('?').unwrap_or((text, ""));
        let (scheme, rest) = match rest.starts_with('/') {
            true => ("", rest),
            false => rest.split_once(':')?,
        };
        let (host, path) = match rest.strip_prefix("//") {
            Some(after) if !scheme.is_empty() => {
                let end = after.find('/').unwrap_or(after.len());
                after.split_at(end)
            }
            _ if !scheme.is_empty() && !rest.starts_with('/') => ("", ""),
            _ => ("", rest),
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let url = Self {
            text: text.to_owned(),
            scheme: scheme.to_lowercase(),
            host: host.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
        };
        let port = url.port();
        let good_host = !host.contains([' ', '<', '>', '"']) && port.bytes().all(|b| b.is_ascii_digit());
        good_host.then_some(url)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn split_port(&self) -> (&str, &str) {
        let after_bracket = self.host.rfind(']').map_or(0, |at| at + 1);
        match self.host[after_bracket..].rfind(':') {
            Some(at) => (&self.host[..after_bracket + at], &self.host[after_bracket + at + 1..]),
            None => (&self.host, ""),
        }
    }

    pub(super) fn hostname(&self) -> &str {
        self.split_port().0.trim_start_matches('[').trim_end_matches(']')
    }

    pub(super) fn port(&self) -> &str {
        self.split_port().1
    }

    /// The parameters, decoded, in the order of their first occurrence.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'));
        pairs
            .filter_map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((decode(key)?, decode(value)?))
            })
            .collect()
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        bytes.push(match b {
            b'+' => b' ',
            b'%' => {
                let digit = |b: u8| char::from(b).to_digit(16);
                let code = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                u8::try_from(code).ok()?
            }
            b => b,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_parts() {
        let url = Url::parse("https://user@[::1]:8443/a%20b?x=1&x=2&y=%41").unwrap();
        assert_eq!(
            (url.scheme.as_str(), url.host.as_str(), url.hostname(), url.port()),
            ("https", "[::1]:8443", "::1", "8443")
        );
        assert_eq!(url.path, "/a%20b");
        assert_eq!(url.query()[2], ("y".to_owned(), "A".to_owned()));
        assert!(Url::parse("/absolute/path").is_some());
        for bad in ["", "relative", "https://a b", "http://h:port/"] {
            assert!(Url::parse(bad).is_none(), "{bad}");
        }
    }
}
