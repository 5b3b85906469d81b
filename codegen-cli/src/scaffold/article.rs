//! Adds English articles to names.

/// Letters whose names begin with a vowel's sound.
const VOWELS_BY_NAME: &str = "AEFHILMNORSX";

/// Beginnings of words whose sound differs from their first letter.
const LIKE_CONSONANTS: [&str; 7] = ["Eu", "Ewe", "Once", "One", "Uni", "Us", "Ut"];
const LIKE_VOWELS: [&str; 4] = ["Heir", "Honest", "Honor", "Hour"];

/// A kind with its article: `a Pool`, `an Order`, `an IPPool`. Leading capitals are spelled out.
pub(super) fn with_article(kind: &str) -> String {
    let mut chars = kind.chars();
    let (first, second) = (chars.next().unwrap_or_default(), chars.next());
    let is_word = second.is_some_and(|c| c.is_ascii_lowercase());
    let begins = |words: &[&str]| words.iter().any(|word| kind.starts_with(word));
    let vowel = match is_word {
        true => begins(&LIKE_VOWELS) || "AEIOU".contains(first) && !begins(&LIKE_CONSONANTS),
        false => VOWELS_BY_NAME.contains(first),
    };
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indefinite_article_follows_the_sound() {
        for kind in ["a Pool", "an Order", "an IPPool", "a URLMap", "an HTTPRoute", "a DNSRecord", "an Error"]
        {
            assert_eq!(with_article(kind.split_once(' ').unwrap().1), kind);
        }
        for kind in ["a User", "a Unit", "an Update", "an Hour", "a House", "a Europe", "an Event", "an X509"]
        {
            assert_eq!(with_article(kind.split_once(' ').unwrap().1), kind);
        }
    }
}
