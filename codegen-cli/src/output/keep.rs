//! Carries over the parts of a generated file that belong to its owner.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::{KEEP_BEGIN, KEEP_END};

/// Returns the new text with the old text's parts.
///
/// # Errors
/// Returns the name of a part of the old text that has no begin or no end, or that is not empty and occurs twice or has no place in
/// the new text.
pub(crate) fn carry<'a>(old: &str, new: &'a str) -> Result<Cow<'a, str>, String> {
    if [KEEP_BEGIN, KEEP_END].iter().all(|mark| !old.contains(mark)) {
        return Ok(Cow::Borrowed(new));
    }
    let mut parts = parts(old)?;
    let mut out = String::new();
    let mut lines = new.split_inclusive('\n');
    while let Some(line) = lines.next() {
        out.push_str(line);
        if let Some(part) = name(line, KEEP_BEGIN).and_then(|name| parts.remove(name)) {
            out.push_str(&old[part]);
            let end = lines.by_ref().find(|line| name(line, KEEP_END).is_some());
            out.push_str(end.unwrap_or_default());
        }
    }
    match parts.into_iter().find(|(_, part)| !old[part.clone()].trim().is_empty()) {
        Some((name, _)) => Err(name.to_string()),
        None => Ok(Cow::Owned(out)),
    }
}

/// The name in a line that begins or ends a part.
fn name<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    line.trim().strip_prefix(mark)
}

/// Returns the bytes of the part of this name; `None` if the text has none.
pub(crate) fn part(text: &str, name: &str) -> Option<Range<usize>> {
    parts(text).ok()?.remove(name)
}

/// The bytes of the parts of a text, by their names.
fn parts(text: &str) -> Result<BTreeMap<&str, Range<usize>>, String> {
    let mut out = BTreeMap::new();
    let mut next = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        let start = next;
        next += line.len();
        (start, line)
    });
    while let Some((start, line)) = lines.next() {
        if let Some(stray) = name(line, KEEP_END) {
            return Err(stray.to_string());
        }
        let Some(begun) = name(line, KEEP_BEGIN) else { continue };
        let is_end = |(_, line): &(usize, &str)| name(line, KEEP_END) == Some(begun);
        let (end, _) = lines.by_ref().find(is_end).ok_or(begun)?;
        let before: Option<Range<usize>> = out.insert(begun, start + line.len()..end);
        if before.is_some_and(|part| !text[part].trim().is_empty()) {
            return Err(begun.to_string());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(head: &str, name: &str, part: &str) -> String {
        format!("{head}\n  {KEEP_BEGIN}{name}\n{part}  {KEEP_END}{name}\ntail\n")
    }

    #[test]
    fn kept_sections_are_carried_over() {
        let (old, new) = (file("old", "pod", "  mine: 1\n"), file("new", "pod", ""));
        assert_eq!(carry(&old, &new).unwrap(), file("new", "pod", "  mine: 1\n"));
        assert_eq!(carry("", &new).unwrap(), new);
        assert_eq!(carry(&file("old", "pod", ""), "no place").unwrap(), "no place");
    }

    #[test]
    fn kept_section_that_would_be_lost_is_an_error() {
        let new = file("new", "pod", "");
        let misspelt = file("old", "pod", "mine: 1\n").replace(KEEP_BEGIN, "# keep  begin ");
        assert_eq!(carry(&misspelt, &new), Err("pod".to_string()));
        assert_eq!(carry(&file("old", "pod", "mine: 1\n"), "no place"), Err("pod".to_string()));
        let twice = file("old", "pod", "mine: 1\n") + &file("", "pod", "mine: 2\n");
        assert_eq!(carry(&twice, &new), Err("pod".to_string()));
        assert_eq!(carry(&format!("{KEEP_BEGIN}pod\nmine: 1\n"), &new), Err("pod".to_string()));
        assert_eq!(carry(&file("old", "other", "mine: 1\n"), &new), Err("other".to_string()));
        assert_eq!(carry(&file("old", "other", "\n"), &new).unwrap(), new);
    }
}
