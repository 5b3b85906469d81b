//! Where in a YAML text a value stands. The parser does not tell, so that the lines are followed by their indentation.

use std::collections::HashMap;
use std::ops::Range;

use crate::source::Position;

/// The lines of a document that say something. What was looked for once is remembered, so that looking for all paths of a
/// document takes no longer than reading it a few times.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    lines: Vec<Line<'a>>,
    start: usize,
    members: HashMap<Parent, HashMap<&'a str, Child>>,
    items: HashMap<Parent, Vec<Child>>,
}

/// Where the members or items of a line begin, and its indentation.
type Parent = (usize, isize);

/// The number of a line, and how far its text is indented.
type Child = (usize, isize);

#[derive(Debug)]
struct Line<'a> {
    indent: isize,
    text: &'a str,
    range: Range<usize>,
    /// Its number in the file, from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    /// Takes the document of a text apart.
    pub(super) fn new(text: &'a str, document: Range<usize>) -> Self {
        let start = document.start;
        Self { start, lines: lines(text, document), members: HashMap::new(), items: HashMap::new() }
    }

    /// The range of the line that the path leads to; where the path cannot be followed to its end (flow style, JSON), the
    /// deepest line that it reaches.
    pub(super) fn locate(&mut self, path: &[String]) -> Range<usize> {
        self.line(path).map_or(self.start..self.start, |line| self.lines[line].range.clone())
    }

    /// Line and column, from 1, of the line that the path leads to.
    pub(super) fn position(&mut self, path: &[String]) -> Position {
        let line = self.line(path).map(|line| &self.lines[line]);
        line.map_or(Position { line: 1, column: 1 }, |line| Position {
            line: line.number,
            column: usize::try_from(line.indent).unwrap_or(0) + 1,
        })
    }

    fn line(&mut self, path: &[String]) -> Option<usize> {
        let mut at = (!self.lines.is_empty()).then_some(0);
        let mut parent: Parent = (0, -1);
        for step in path {
            let item = step.parse().ok().and_then(|index| self.item(parent, index));
            let found = match item {
                Some(item) => Some((item, true)),
                None => self.member(parent, step).map(|member| (member, false)),
            };
            let Some(((next, indent), is_item)) = found else { break };
            at = Some(next);
            // The members of a list's item may begin on its own line.
            parent = (next + usize::from(!is_item), indent);
        }
        at
    }

    fn member(&mut self, parent: Parent, name: &str) -> Option<Child> {
        let lines = &self.lines;
        self.members.entry(parent).or_insert_with(|| members(lines, parent)).get(name).copied()
    }

    fn item(&mut self, parent: Parent, index: usize) -> Option<Child> {
        let lines = &self.lines;
        self.items.entry(parent).or_insert_with(|| items(lines, parent)).get(index).copied()
    }
}

fn lines(text: &str, document: Range<usize>) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    let mut start = document.start;
    let before = text[..start].matches('\n').count();
    for (number, line) in (before + 1..).zip(text[document].split_inclusive('\n')) {
        let body = line.trim_end();
        let trimmed = body.trim_start();
        let indent = body.len() - trimmed.len();
        if !trimmed.is_empty() && !trimmed.starts_with('#') && !trimmed.starts_with("---") {
            let range = start + indent..start + body.len();
            out.push(Line {
                indent: isize::try_from(indent).unwrap_or(isize::MAX),
                text: trimmed,
                range,
                number,
            });
        }
        start += line.len();
    }
    out
}

/// The lines of the members of the mapping whose parent is indented like this.
fn members<'a>(lines: &[Line<'a>], (from, parent): Parent) -> HashMap<&'a str, Child> {
    let mut out = HashMap::new();
    let mut own: Option<isize> = None;
    for (at, line) in lines.iter().enumerate().skip(from) {
        // `- name: a`: the mapping begins behind the dash.
        let (mut indent, mut text) = (line.indent, line.text);
        while let Some(rest) = text.strip_prefix("- ").filter(|_| at == from || indent > parent) {
            let body = rest.trim_start();
            indent += isize::try_from(text.len() - body.len()).unwrap_or(0);
            text = body;
        }
        if text == "-" && at == from {
            continue;
        }
        if indent <= parent {
            break;
        }
        let own = *own.get_or_insert(indent);
        let key = text.split(": ").next().unwrap_or(text).trim_end_matches(':');
        if indent == own {
            out.entry(key.trim_matches(['"', '\''])).or_insert((at, indent));
        }
    }
    out
}

/// The lines of the items of the list whose parent is indented like this.
fn items(lines: &[Line<'_>], (from, parent): Parent) -> Vec<Child> {
    let mut out = Vec::new();
    let mut own: Option<isize> = None;
    for (at, line) in lines.iter().enumerate().skip(from) {
        let is_item = line.text == "-" || line.text.starts_with("- ");
        if line.indent < parent || (line.indent == parent && !is_item) {
            break;
        }
        let own = *own.get_or_insert(line.indent);
        if is_item && line.indent == own {
            out.push((at, own));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &[&str], line: usize) {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        let at = Lines::new(text, 0..text.len()).locate(&path);
        assert_eq!(text[..at.start].matches('\n').count() + 1, line, "{path:?}");
    }

    #[test]
    fn paths_are_followed() {
        let text = "a: 1\nspec:\n  names:\n    kind: X\n  versions:\n  - name: v1\n    schema:\n      kind: y\n  - name: v2\n    schema:\n      \"kind\": z\n";
        check(text, &["spec", "names", "kind"], 4);
        check(text, &["spec", "versions", "0", "name"], 6);
        check(text, &["spec", "versions", "0", "schema", "kind"], 8);
        check(text, &["spec", "versions", "1", "schema", "kind"], 11);
        check(text, &["spec", "versions", "1", "nothing"], 9);
        check(text, &["spec", "versions", "0", "name", "schema"], 6);
        let text = "anyOf:\n- properties:\n    a: 1\n    b: 2\n-\n  properties:\n    7: 1\nnone:\nc: 1\n";
        check(text, &["anyOf", "0", "properties", "b"], 4);
        check(text, &["anyOf", "1", "properties", "7"], 7);
        check(text, &["none", "c"], 8);
        check("{\"spec\": {}}", &["spec", "names"], 1);
        check("", &["spec"], 1);
    }
}
