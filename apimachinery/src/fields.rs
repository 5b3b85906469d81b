//! Field selectors: apimachinery's `fields` package. Terms such as `spec.nodeName=a` and `status.phase!=Running` are joined by
//! commas.

/// A conjunction of terms on fields.
///
/// ```
/// use kubesmith_apimachinery::fields::Selector;
///
/// let selector = Selector::parse(r"metadata.name=a,spec.text!=x\,y")?;
/// assert!(selector.matches_by(|field| if field == "metadata.name" { "a".to_owned() } else { String::new() }));
/// # Ok::<(), kubesmith_apimachinery::fields::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    value: String,
    is_equal: bool,
}

/// A field selector that is malformed, in apimachinery's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A term has no operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole selector.
        selector: String,
        /// The term.
        term: String,
    },
    /// A backslash precedes a character other than `\`, `,` and `=`.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A value has a `,` or `=` without a backslash.
    #[error("invalid field selector: unescaped character in value: {code}", code = code_point(.0))]
    Unescaped(char),
}

/// Go prints a rune as a number.
fn code_point(c: &char) -> u32 {
    u32::from(*c)
}

impl Selector {
    /// Parses a selector. The empty string matches everything.
    ///
    /// # Errors
    /// A term is malformed.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut parts: Vec<&str> = split_terms(text).into_iter().filter(|part| !part.is_empty()).collect();
        parts.sort_unstable();
        let terms: Vec<Term> = parts.into_iter().map(|part| term(text, part)).collect::<Result<_, _>>()?;
        // A term such as `=` has no effect (`Transform` of apimachinery's pkg/fields).
        Ok(Self(terms.into_iter().filter(|term| !term.field.is_empty() || !term.value.is_empty()).collect()))
    }

    /// Reports whether every object matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields of the terms.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|term| term.field.as_str())
    }

    /// Returns the value that a field must have, if a term names one.
    #[must_use]
    pub fn requires_exact_match(&self, field: &str) -> Option<&str> {
        let mut terms = self.0.iter().filter(|term| term.is_equal && term.field == field);
        terms.next().map(|term| term.value.as_str())
    }

    /// Reports whether an object matches; `value` returns the text of a field, which is empty if the object lacks it.
    #[must_use]
    pub fn matches_by(&self, value: impl Fn(&str) -> String) -> bool {
        self.0.iter().all(|term| (value(&term.field) == term.value) == term.is_equal)
    }
}

fn term(selector: &str, text: &str) -> Result<Term, ParseError> {
    let operator_at =
        |at: usize| ["!=", "==", "="].into_iter().find(|operator| text[at..].starts_with(operator));
    let found = text.char_indices().find_map(|(at, _)| operator_at(at).map(|operator| (at, operator)));
    let Some((at, operator)) = found else {
        return Err(ParseError::Term { selector: selector.to_owned(), term: text.to_owned() });
    };
    let value = unescaped(&text[at + operator.len()..])?;
    Ok(Term { field: text[..at].to_owned(), value, is_equal: operator != "!=" })
}

/// Splits at commas without a backslash.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut is_escaped) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        if c == ',' && !is_escaped {
            terms.push(&text[start..at]);
            start = at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    terms.push(&text[start..]);
    terms
}

fn unescaped(text: &str) -> Result<String, ParseError> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                other => return Err(ParseError::Escape(['\\'].into_iter().chain(other).collect())),
            },
            ',' | '=' => return Err(ParseError::Unescaped(c)),
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selector_compares_fields_as_text() {
        let fields = |field: &str| match field {
            "spec.size" => "3".to_owned(),
            "spec.text" => "a,b=c\\".to_owned(),
            _ => String::new(),
        };
        for (text, is_match) in [
            ("", true),
            ("spec.size=3", true),
            ("spec.size==3,spec.other!=x", true),
            ("spec.size!=3", false),
            (r"spec.text=a\,b\=c\\", true),
            ("spec.other=", true),
            (",spec.size=3,", true),
            ("=", true),
        ] {
            assert_eq!(Selector::parse(text).unwrap().matches_by(fields), is_match, "{text}");
        }
        let selector = Selector::parse("b=1,a!=2").unwrap();
        assert_eq!(selector.fields().collect::<Vec<_>>(), ["a", "b"]);
        assert!(!selector.is_everything() && Selector::default().is_everything());
    }

    #[test]
    fn malformed_selector_error_has_the_text_of_apimachinery() {
        for (text, message) in [
            ("a=1,b", "invalid selector: 'a=1,b'; can't understand 'b'"),
            (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
            (r"a=\", r"invalid field selector: invalid escape sequence: \"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ] {
            assert_eq!(Selector::parse(text).unwrap_err().to_string(), message);
        }
    }
}
