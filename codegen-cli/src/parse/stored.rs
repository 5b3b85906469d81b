//! The versions that programs store, by the calls that merge the versions of a kind.

use std::cell::LazyCell;

/// Kinds with the versions that a program stores, lower case.
pub(crate) fn stored(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = versioned(text).collect();
    found.extend(merged(text));
    found
}

/// `Kind::merged_crd(KindVersion::V1Alpha1)` of stackable-versioned.
fn versioned(text: &str) -> impl Iterator<Item = (String, String)> {
    const CALL: &str = "::merged_crd(";
    text.match_indices(CALL).filter_map(|(at, _)| {
        let kind = word_before(&text[..at])?;
        let argument = text[at + CALL.len()..].split([')', ',']).next()?.trim();
        let (_, version) = argument.rsplit_once("::")?;
        version.chars().all(is_word).then(|| (kind, version.to_lowercase()))
    })
}

/// `merge_crds(vec![v1::Kind::crd(), v2::Kind::crd()], "v2")` of kube-core; the version may be a constant of the file. If the
/// call names no types, all `Kind::crd()` of the file count.
fn merged(text: &str) -> Vec<(String, String)> {
    const CALL: &str = "merge_crds(";
    let is_name = |at: usize| !text[..at].ends_with(is_word);
    let calls = text.match_indices(CALL).filter(move |(at, _)| is_name(*at));
    let calls = calls.filter_map(|(at, _)| arguments(&text[at + CALL.len()..]));
    let of_file = LazyCell::new(|| definitions(text));
    let versions = calls.filter_map(|arguments| {
        let last = arguments.trim_end().trim_end_matches(',');
        let version = match last.strip_suffix('"') {
            Some(text) => text.rsplit('"').next()?,
            None => constant(text, &word_before(last)?)?,
        };
        Some((arguments, version))
    });
    let kinds = versions.flat_map(|(arguments, version)| {
        let mut kinds = definitions(arguments);
        if kinds.is_empty() {
            kinds.clone_from(&of_file);
        }
        kinds.into_iter().map(move |kind| (kind, version.to_lowercase()))
    });
    kinds.collect()
}

/// The value of `const NAME: &str = "..";`, if the file has one such constant.
fn constant<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("const {name}: ");
    let mut values = text.match_indices(&start).map(|(at, _)| {
        let value = text[at + start.len()..].trim_start_matches("&'static str").trim_start_matches("&str");
        value.strip_prefix(" = \"")?.split('"').next()
    });
    values.next().flatten().filter(|_| values.next().is_none())
}

/// The longest list of arguments, in characters.
const LONGEST: usize = 1 << 14;

/// The text up to the parenthesis that closes the call.
fn arguments(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let (end, _) = text.char_indices().take(LONGEST).find(|(_, c)| {
        let is_end = *c == ')' && depth == 0;
        depth = match *c {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        is_end
    })?;
    Some(&text[..end])
}

/// The types of which `crd()` is called.
fn definitions(text: &str) -> Vec<String> {
    let mut kinds: Vec<String> =
        text.match_indices("::crd()").filter_map(|(at, _)| word_before(&text[..at])).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn word_before(text: &str) -> Option<String> {
    text.rsplit(|c| !is_word(c)).next().filter(|word| !word.is_empty()).map(str::to_owned)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::stored;

    #[test]
    fn calls_that_merge_versions_say_which_is_stored() {
        let of = |version: &str, kinds: &[&str]| -> Vec<(String, String)> {
            kinds.iter().map(|kind| ((*kind).to_string(), version.to_string())).collect()
        };
        assert_eq!(stored("Farm::merged_crd(FarmVersion::V1Alpha1)"), of("v1alpha1", &["Farm"]));
        let inline = "kube::core::crd::merge_crds(vec![v1::Farm::crd(), v2::Farm::crd()],\n    \"v2\",\n)?";
        assert_eq!(stored(inline), of("v2", &["Farm"]));
        let variables = "let one = v1::Farm::crd(); let two = crate::v2::Barn::crd(); merge_crds([one, two].into(), \"v1\")";
        assert_eq!(stored(variables), of("v1", &["Barn", "Farm"]));
        let constant = "const LATEST: &str = \"v2\"; merge_crds(vec![v1::Farm::crd(), v2::Farm::crd()], latest::LATEST)?;";
        assert_eq!(stored(constant), of("v2", &["Farm"]));
        for unknown in [
            "merge_crds(all, version)",
            "const V: &str = \"v1\"; const V: &str = \"v2\"; merge_crds([A::crd()], V)",
            "const V: &str = MADE; merge_crds([A::crd()], V)",
            "my_merge_crds([A::crd()], \"v1\")",
            "merge_crds(all",
            "::merged_crd(A::V1)",
            "merge_crds(a, \"v1\")",
        ] {
            assert_eq!(stored(unknown), [], "{unknown}");
        }
    }
}
