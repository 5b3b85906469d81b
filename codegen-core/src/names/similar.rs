//! Suggests names similar to a misspelt one.

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one text
/// into the other (optimal string alignment).
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The candidate nearest to a misspelt name, if it is similar enough.
///
/// Ignores case, `_` and `-`, so that `shortName` finds `short_name`.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = squeeze(name);
    let length = plain.chars().count();
    let near = candidates.into_iter().filter_map(|candidate| {
        let other = squeeze(candidate);
        // A third of the letters may be wrong, but never all of a short word.
        let allowed = candidate.chars().count().max(length) / 3;
        // The distance is at least this; computing it for a very long name is slow.
        if other.chars().count().abs_diff(length) > allowed {
            return None;
        }
        let distance = edit_distance(&plain, &other);
        (distance <= allowed).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ':')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_is_symmetric_and_counts_edits() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "ab", 2),
            ("group", "grup", 1),
            ("alpha", "aplha", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let keys = ["group", "version", "kind", "short_name", "min_length"];
        assert_eq!(closest("grup", keys), Some("group"));
        assert_eq!(closest("shortName", keys), Some("short_name"));
        assert_eq!(closest("minlenght", keys), Some("min_length"));
        assert_eq!(closest("colour", keys), None);
        assert_eq!(closest("", keys), None);
        assert_eq!(closest(&"group".repeat(10_000_000), keys), None, "without comparing all of it");
    }
}
