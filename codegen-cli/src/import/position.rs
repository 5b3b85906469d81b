//! Where in a YAML text a value stands. The parser does not tell, so that the lines are followed by their indentation.

use std::ops::Range;

/// The lines of a document that say something.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    lines: Vec<Line<'a>>,
    start: usize,
}

impl<'a> Lines<'a> {
    /// Takes the document of a text apart.
    pub(super) fn new(text: &'a str, document: Range<usize>) -> Self {
        Self { start: document.start, lines: lines(text, document) }
    }

    /// The range of the line that the path leads to; where the path cannot be followed to its end (flow style, JSON), the
    /// deepest line that it reaches.
    pub(super) fn locate(&self, path: &[String]) -> Range<usize> {
        let lines = &self.lines;
        let mut at = lines.first().map_or(self.start..self.start, |line| line.range.clone());
        let mut from = 0;
        let mut parent = -1_isize;
        for step in path {
            let found = match step.parse::<usize>() {
                Ok(index) => item(lines, from, parent, index).or_else(|| member(lines, from, parent, step)),
                Err(_) => member(lines, from, parent, step),
            };
            let Some((next, indent)) = found else { break };
            at = lines[next].range.clone();
            from = next + usize::from(lines[next].indent == indent);
            // The members of a list's item may begin on its own line.
            if step.parse::<usize>().is_ok() {
                from = next;
            }
            parent = indent;
        }
        at
    }
}

#[derive(Debug)]
struct Line<'a> {
    indent: isize,
    text: &'a str,
    range: Range<usize>,
}

fn lines(text: &str, document: Range<usize>) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    let mut start = document.start;
    for line in text[document].split_inclusive('\n') {
        let body = line.trim_end();
        let trimmed = body.trim_start();
        let indent = body.len() - trimmed.len();
        if !trimmed.is_empty() && !trimmed.starts_with('#') && !trimmed.starts_with("---") {
            let range = start + indent..start + body.len();
            out.push(Line { indent: isize::try_from(indent).unwrap_or(isize::MAX), text: trimmed, range });
        }
        start += line.len();
    }
    out
}

/// The line of a member of the mapping whose parent is indented by `parent`.
fn member(lines: &[Line<'_>], from: usize, parent: isize, name: &str) -> Option<(usize, isize)> {
    let mut own: Option<isize> = None;
    for (at, line) in lines.iter().enumerate().skip(from) {
        // `- name: a`: the mapping begins behind the dash.
        let (mut indent, mut text) = (line.indent, line.text);
        while let Some(rest) = text.strip_prefix("- ").filter(|_| at == from || indent > parent) {
            let body = rest.trim_start();
            indent += isize::try_from(text.len() - body.len()).unwrap_or(0);
            text = body;
        }
        if indent <= parent && at > from {
            return None;
        }
        let own = *own.get_or_insert(indent);
        let key = text.split(": ").next().unwrap_or(text).trim_end_matches(':');
        if indent == own && key.trim_matches(['"', '\'']) == name {
            return Some((at, indent));
        }
    }
    None
}

/// The line of an item of the list whose parent is indented by `parent`.
fn item(lines: &[Line<'_>], from: usize, parent: isize, index: usize) -> Option<(usize, isize)> {
    let mut own: Option<isize> = None;
    let mut seen = 0;
    for (at, line) in lines.iter().enumerate().skip(from) {
        let is_item = line.text == "-" || line.text.starts_with("- ");
        if line.indent < parent || (line.indent == parent && !is_item) {
            return None;
        }
        let own = *own.get_or_insert(line.indent);
        if is_item && line.indent == own {
            if seen == index {
                return Some((at, own));
            }
            seen += 1;
        }
    }
    None
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
        check("{\"spec\": {}}", &["spec", "names"], 1);
        check("", &["spec"], 1);
    }
}
