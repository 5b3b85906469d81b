//! Comments of a Go file: groups, descriptions and markers, by the rules of `go/ast` and controller-gen.

use std::ops::Range;
use std::sync::Arc;

use super::markers;
use super::release::Release;
use super::syntax::{Place, Word};

/// Comments on adjacent lines.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The ranges of the comments, with their comment characters.
    comments: Vec<Place>,
    /// The line of its end, from 0.
    last_line: usize,
    /// Whether it follows code on its line, so that it documents nothing.
    follows_code: bool,
}

impl Group {
    /// The offset of its start.
    pub(super) fn start(&self) -> usize {
        self.comments[0].start
    }
}

/// The groups of a file that may belong to declarations, in source order.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) text: Arc<str>,
    lines: Vec<usize>,
    groups: Vec<Group>,
    release: Release,
}

/// The groups before a declaration.
pub(super) struct Before {
    /// Those that are neither its documentation nor next to it.
    pub(super) free: Range<usize>,
    /// The one before its documentation.
    pub(super) near: Option<usize>,
    /// Its documentation.
    pub(super) doc: Option<usize>,
}

impl Groups {
    /// Groups comments as `go/parser` does. A group that follows code on its line belongs to that code; after
    /// a `{` or `(`, its markers belong to the following declaration (`markerSubVisitor` of controller-tools,
    /// pkg/markers/collect.go), and so does what follows an offset in `ends`, which are in order. Descriptions are those of
    /// the release.
    pub(super) fn new(text: Arc<str>, comments: Vec<Place>, ends: &[usize], release: Release) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let lines: Vec<usize> = std::iter::once(0).chain(breaks).collect();
        let line = |at: usize| lines.partition_point(|start| *start <= at).saturating_sub(1);
        let mut groups: Vec<Group> = Vec::new();
        let mut end = 0;
        for comment in comments {
            let first = line(comment.start);
            let start = lines[first].max(end);
            let before = text[start..comment.start].trim_end();
            let last_line = line(comment.end.saturating_sub(1).max(comment.start));
            let is_gap = text[end.min(comment.start)..comment.start].chars().all(char::is_whitespace);
            end = comment.end;
            let is_end = || ends.binary_search(&(start + before.len())).is_ok();
            let follows_code = !before.is_empty() && (before.ends_with(['{', '(']) || is_end());
            if !before.is_empty() && !follows_code {
                continue;
            }
            match groups.last_mut() {
                Some(group) if is_gap && group.last_line + 1 >= first && !group.follows_code => {
                    group.comments.push(comment);
                    group.last_line = last_line;
                }
                _ => groups.push(Group { comments: vec![comment], last_line, follows_code }),
            }
        }
        Self { text, lines, groups, release }
    }

    /// The groups before a declaration at this offset and after another offset.
    pub(super) fn before(&self, after: usize, at: usize) -> Before {
        let first = self.groups.partition_point(|group| group.start() < after);
        let end = first + self.groups[first..].partition_point(|group| group.start() < at);
        let line = self.lines.partition_point(|start| *start <= at).saturating_sub(1);
        let is_doc = |group: &Group| group.last_line + 1 == line && !group.follows_code;
        let doc = (first < end && is_doc(&self.groups[end - 1])).then(|| end - 1);
        let rest = doc.unwrap_or(end);
        let near = (first < rest).then(|| rest - 1);
        Before { free: first..near.unwrap_or(rest), near, doc }
    }

    /// The groups after an offset.
    pub(super) fn after(&self, at: usize) -> Range<usize> {
        self.groups.partition_point(|group| group.start() < at)..self.groups.len()
    }

    /// The markers in groups: lines that begin with `// +`.
    pub(super) fn markers(&self, groups: impl IntoIterator<Item = usize>) -> Vec<Word> {
        let comments = groups.into_iter().flat_map(|group| &self.groups[group].comments);
        comments.filter_map(|place| marker(&self.text, place)).collect()
    }

    /// The description in a group.
    pub(super) fn description(&self, group: Option<usize>) -> String {
        let Some(group) = group else { return String::new() };
        let comments = self.groups[group].comments.iter();
        let texts = comments.filter(|place| marker(&self.text, place).is_none());
        let texts: Vec<&str> = texts.map(|place| &self.text[place.clone()]).collect();
        description(&texts, self.release)
    }
}

/// The marker in a comment, if it is one.
fn marker(text: &str, place: &Place) -> Option<Word> {
    let rest = text[place.clone()].strip_prefix("//")?;
    let trimmed = rest.trim();
    if !trimmed.starts_with('+') {
        return None;
    }
    let start = place.start + 2 + rest.len() - rest.trim_start().len();
    Some(Word { text: markers::unnamed(trimmed), place: start..start + trimmed.len() })
}

/// The description of comments: `extractDoc` of controller-tools, pkg/markers/zip.go.
fn description(comments: &[&str], release: Release) -> String {
    let joins_lines = release.joins_lines();
    let is_trimmed =
        joins_lines && !release.keeps_spaces() || comments.iter().any(|comment| comment.starts_with("/*"));
    let mut out: Vec<&str> = Vec::new();
    let mut is_code = false;
    let lines = lines(comments);
    for line in &lines {
        let line = if is_trimmed { line.trim() } else { line };
        if release.keeps_notes() {
            // Upstream meant one line break here and writes two.
            out.push(if line.is_empty() { "\n" } else { line });
            continue;
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        }
        if !is_code && line.starts_with("TODO") {
            continue;
        }
        if !is_code && line.starts_with("---") {
            break;
        }
        out.push(line);
    }
    out.join(if joins_lines { " " } else { "\n" })
}

/// The lines of comments, as in `CommentGroup.Text` of `go/ast`: without comment characters, directives and
/// trailing spaces, and with single blank lines only between other lines.
fn lines<'t>(comments: &[&'t str]) -> Vec<&'t str> {
    let mut out: Vec<&str> = Vec::new();
    let mut add = |line: &'t str| {
        let line = line.trim_end_matches([' ', '\t', '\r']);
        if !line.is_empty() || out.last().is_some_and(|last| !last.is_empty()) {
            out.push(line);
        }
    };
    for comment in comments {
        match comment.strip_prefix("//") {
            Some(rest) => match rest.strip_prefix(' ') {
                Some(line) => add(line),
                None if is_directive(rest) => {}
                None => add(rest),
            },
            None => {
                let inner = comment.strip_prefix("/*").unwrap_or(comment);
                inner.strip_suffix("*/").unwrap_or(inner).split('\n').for_each(&mut add);
            }
        }
    }
    while out.last().is_some_and(|last| last.is_empty()) {
        out.pop();
    }
    out
}

/// Whether a comment without a space addresses a tool: `isDirective` of `go/ast`.
fn is_directive(text: &str) -> bool {
    if ["line ", "extern ", "export "].iter().any(|prefix| text.starts_with(prefix)) {
        return true;
    }
    let is_word = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let Some((name, rest)) = text.split_once(':') else { return false };
    !name.is_empty() && name.as_bytes().iter().all(is_word) && rest.as_bytes().first().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_follow_controller_gen() {
        let [newest, old, oldest] = [None, Some([0, 15, 0]), Some([0, 13, 0])].map(Release);
        assert_eq!(description(&["// One", "//", "//", "//  two  ", "//"], newest), "One\n\n two");
        assert_eq!(description(&["// One", "//", "// TODO: x"], newest), "One\n");
        assert_eq!(description(&["// One", "// ---", "// two"], newest), "One");
        assert_eq!(description(&["// ```", "// TODO", "// ---", "// ```"], newest), "```\nTODO\n---\n```");
        assert_eq!(description(&["//nolint:all", "//go:embed x", "//One: two"], newest), "One: two");
        assert_eq!(description(&["/*\n  One\n    two\n*/"], newest), "One\ntwo");
        assert_eq!(description(&["// One", "//", "// TODO: x"], old), "One\n\n\nTODO: x");
        let lines = ["// One", "//   two", "//", "// TODO: x"];
        assert_eq!(description(&lines, oldest), "One two \n TODO: x");
        assert_eq!(description(&lines, Release(Some([0, 7, 0]))), "One   two \n TODO: x");
    }

    #[test]
    fn comment_groups_end_at_blank_lines_and_code() {
        let text = "// a\n// b\n\n// c\nvar x = 1 // d\n// e\nvar y = 2\n";
        let at = |part: &str| text.find(part).unwrap();
        let comments = ["// a", "// b", "// c", "// d", "// e"].map(|part| at(part)..at(part) + 4).to_vec();
        let groups = Groups::new(text.into(), comments, &[], Release::default());
        assert_eq!(groups.groups.len(), 3);
        let before = groups.before(0, at("var x"));
        assert_eq!((before.free, before.near, before.doc), (0..0, Some(0), Some(1)));
        let before = groups.before(at(" // d"), at("var y"));
        assert_eq!((before.near, before.doc), (None, Some(2)));
    }
}
