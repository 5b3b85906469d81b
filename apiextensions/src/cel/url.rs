//! URLs, parsed as Go's net/url does: `ParseRequestURI` decides whether a text is valid, `Parse` splits it.

use kubesmith_apimachinery::golang;

/// The parts of an absolute URL or path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) scheme: String,
    user: Option<String>,
    /// The host with brackets and port.
    pub(super) host: String,
    /// The path in escaped form.
    pub(super) path: String,
    query: String,
    fragment: String,
}

impl Url {
    /// Reads an absolute URL or an absolute path.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let fault = |reason: String| format!("parse {}: {reason}", golang::quote(text));
        // A request has no fragment: `#` belongs to the part before it.
        parts(text, true).map_err(fault)?;
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parts(rest, false).map_err(fault)?;
        unescape(fragment, Part::Other).map_err(fault)?;
        fragment.clone_into(&mut url.fragment);
        Ok(url)
    }

    /// The text; the scheme is in lower case, and the path escaped.
    pub(super) fn text(&self) -> String {
        let scheme = if self.scheme.is_empty() { String::new() } else { format!("{}:", self.scheme) };
        let slashes = if self.host.is_empty() && self.user.is_none() { "" } else { "//" };
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        let fragment = if self.fragment.is_empty() { String::new() } else { format!("#{}", self.fragment) };
        format!("{scheme}{slashes}{user}{}{}{query}{fragment}", self.host, self.path)
    }

    fn split_port(&self) -> (&str, &str) {
        match self.host.rfind(':').map(|at| self.host.split_at(at)) {
            Some((host, port)) if is_port(port) => (host, &port[1..]),
            _ => (&self.host, ""),
        }
    }

    pub(super) fn hostname(&self) -> &str {
        let host = self.split_port().0;
        host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host)
    }

    pub(super) fn port(&self) -> &str {
        self.split_port().1
    }

    /// The decoded parameters in the order of their first occurrence, without those that cannot be decoded.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        let decode = |text: &str| unescape(&text.replace('+', " "), Part::Other).ok();
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'));
        pairs
            .filter_map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((decode(key)?, decode(value)?))
            })
            .collect()
    }
}

/// Splits a text without fragment.
fn parts(text: &str, for_request: bool) -> Result<Url, String> {
    let mut url = Url {
        scheme: String::new(),
        user: None,
        host: String::new(),
        path: String::new(),
        query: String::new(),
        fragment: String::new(),
    };
    if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && for_request {
        return Err("empty url".to_owned());
    }
    if text == "*" {
        text.clone_into(&mut url.path);
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);
    if !rest.starts_with('/') {
        // The rest of an opaque URL such as `mailto:` has no parts.
        return match scheme {
            "" if for_request => Err("invalid URI for request".to_owned()),
            _ => Ok(url),
        };
    }
    if (!scheme.is_empty() || (!for_request && !rest.starts_with("///")))
        && let Some(after) = rest.strip_prefix("//")
    {
        let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        rest = path;
        let (user, host) =
            authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        url.host = host_of(host)?;
        url.user = user.map(check_user).transpose()?;
    }
    url.path = escaped_path(rest)?;
    Ok(url)
}

/// The scheme, if any, and the text after its colon.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if i > 0 => {}
            ':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..i], &text[i + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn check_user(user: &str) -> Result<String, String> {
    if !user.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    unescape(user, Part::Other)?;
    Ok(user.to_owned())
}

/// Reports whether the text is empty, or a colon and digits.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

fn host_of(host: &str) -> Result<String, String> {
    let checked = |port: &str| match is_port(port) {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", golang::quote(port))),
    };
    if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        checked(&host[end + 1..])?;
        if let Some(zone) = host[..end].find("%25") {
            let start = unescape(&host[..zone], Part::Host)?;
            let zone = unescape(&host[zone..end], Part::Zone)?;
            return Ok(start + &zone + &unescape(&host[end..], Part::Host)?);
        }
    } else if let Some(at) = host.rfind(':') {
        checked(&host[at..])?;
    }
    unescape(host, Part::Host)
}

/// The part to unescape. A host refuses more escapes than other parts.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Host,
    Zone,
    Other,
}

fn belongs_in_host(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!$&'()*+,;=:[]<>\"-_.~".contains(&b)
}

/// Decodes UTF-8, with replacement characters for invalid bytes.
fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        at += 1;
        if *b != b'%' {
            if part != Part::Other && b.is_ascii() && !belongs_in_host(*b) {
                return Err(format!(
                    "invalid character {} in host name",
                    golang::quote(&char::from(*b).to_string())
                ));
            }
            out.push(*b);
            continue;
        }
        let triple = bytes.get(at - 1..bytes.len().min(at + 2)).unwrap_or_default();
        let digit = |i: usize| triple.get(i).and_then(|b| char::from(*b).to_digit(16));
        let fault = || Err(format!("invalid URL escape {}", golang::quote(&String::from_utf8_lossy(triple))));
        let Some((high, low)) = digit(1).zip(digit(2)) else { return fault() };
        let value = u8::try_from(high * 16 + low).unwrap_or(0);
        let refused = match part {
            Part::Host => high < 8 && triple != b"%25",
            Part::Zone => triple != b"%25" && value != b' ' && !belongs_in_host(value),
            Part::Other => false,
        };
        if refused {
            return fault();
        }
        out.push(value);
        at += 2;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The path as written if that is a valid encoding, otherwise escaped anew.
fn escaped_path(path: &str) -> Result<String, String> {
    let path_bytes = unescape_bytes(path)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&b);
    if path.bytes().all(|b| plain(b) || b"!'()*[]%".contains(&b)) {
        return Ok(path.to_owned());
    }
    let escape = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    Ok(path_bytes.into_iter().map(escape).collect())
}

fn unescape_bytes(path: &str) -> Result<Vec<u8>, String> {
    unescape(path, Part::Other)?;
    let mut bytes = path.bytes();
    let mut out = Vec::with_capacity(path.len());
    while let Some(b) = bytes.next() {
        let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16)).unwrap_or(0);
        out.push(if b == b'%' { u8::try_from(digit() * 16 + digit()).unwrap_or(0) } else { b });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_split_into_parts() {
        let url = Url::parse("https://user@[::1]:8443/a%20b?x=1&x=2&y=%41").unwrap();
        assert_eq!(
            (url.scheme.as_str(), url.host.as_str(), url.hostname(), url.port()),
            ("https", "[::1]:8443", "::1", "8443")
        );
        assert_eq!(url.path, "/a%20b");
        assert_eq!(url.query()[2], ("y".to_owned(), "A".to_owned()));
        assert!(Url::parse("/absolute/path").is_ok());
    }

    #[test]
    fn url_parts_equal_those_of_go() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert_eq!(url("https://a.b/c#frag?x=1").path, "/c");
        assert!(url("https://a.b/c#frag?x=1").query().is_empty());
        assert_eq!(url("https://a.b/c d/é").path, "/c%20d/%C3%A9");
        assert_eq!((url("//host/path").host.as_str(), url("///path").path.as_str()), ("host", "///path"));
        assert_eq!(url("https://[::1%25en0]:80").hostname(), "::1%en0");
        assert_eq!((url("mailto:a@b").host.as_str(), url("*").path.as_str()), ("", "*"));
        assert_eq!(url("https://a.b/?d=%zz&e=1&f;g").query(), [("e".to_owned(), "1".to_owned())]);
        assert_eq!(url("HTTPS://a.b").text(), "https://a.b");
    }

    #[test]
    fn url_errors_have_the_text_of_go() {
        for (bad, reason) in [
            ("", "empty url"),
            ("relative", "invalid URI for request"),
            (":a", "missing protocol scheme"),
            ("https://a b", "invalid character \" \" in host name"),
            ("http://h:port/", "invalid port \":port\" after host"),
            ("https://[::1", "missing ']' in host"),
            ("https://a%20b/", "invalid URL escape \"%20\""),
            ("https://a.b/%zz", "invalid URL escape \"%zz\""),
            ("https://a.b/\n", "net/url: invalid control character in URL"),
            ("https://us er@a.b", "net/url: invalid userinfo"),
        ] {
            assert_eq!(Url::parse(bad), Err(format!("parse {}: {reason}", golang::quote(bad))));
        }
    }
}
