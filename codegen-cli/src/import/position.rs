//! Finds the position of a value in a YAML text by its lines and their indentation, as the parser does not
//! report it.

mod json;

use std::collections::HashMap;
use std::ops::Range;

use json::Json;

use crate::source::{FileId, Loc, Position, SourceMap};

/// The lines of a document with content, or its JSON. Found positions are cached, so that locating all
/// paths costs only a few passes.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    sources: &'a SourceMap,
    file: FileId,
    start: usize,
    layout: Layout<'a>,
}

/// The notation of the document.
#[derive(Debug)]
enum Layout<'a> {
    Block(Block<'a>),
    Json(Json<'a>),
}

impl<'a> Lines<'a> {
    /// Takes the document of a file apart.
    pub(super) fn new(sources: &'a SourceMap, file: FileId, document: Range<usize>) -> Self {
        let start = document.start;
        let text = &sources.file(file).text[document];
        let layout = match text.trim_start().starts_with('{') {
            true => Layout::Json(Json::new(text)),
            false => Layout::Block(Block::new(text)),
        };
        Self { sources, file, start, layout }
    }

    /// The line, or in JSON the name, at the path; if the path does not exist, the deepest part that does.
    pub(super) fn locate(&mut self, path: &[String]) -> Loc {
        let range = match &mut self.layout {
            Layout::Block(block) => block.locate(path),
            Layout::Json(json) => json.locate(path),
        };
        let offset = |at: usize| u32::try_from(self.start + at).unwrap_or(u32::MAX);
        Loc { file: self.file, start: offset(range.start), end: offset(range.end) }
    }

    /// Line and column, from 1, of the value at the path.
    pub(super) fn position(&mut self, path: &[String]) -> Position {
        let loc = self.locate(path);
        self.sources.position(loc)
    }
}

/// A document in block style. Offsets are from its start.
#[derive(Debug)]
struct Block<'a> {
    lines: Vec<Line<'a>>,
    members: HashMap<Parent, HashMap<&'a str, Child>>,
    items: HashMap<Parent, Vec<Child>>,
}

/// The first line of the members or items of a line, and its indentation.
type Parent = (usize, isize);

/// The number of a line, and the indentation of its text.
type Child = (usize, isize);

#[derive(Debug)]
struct Line<'a> {
    indent: isize,
    text: &'a str,
    range: Range<usize>,
}

impl<'a> Block<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: lines(text), members: HashMap::new(), items: HashMap::new() }
    }

    fn locate(&mut self, path: &[String]) -> Range<usize> {
        self.line(path).map_or(0..0, |line| self.lines[line].range.clone())
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

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        let trimmed = body.trim_start();
        let indent = body.len() - trimmed.len();
        let is_directive = trimmed.starts_with("---") || indent == 0 && trimmed.starts_with('%');
        if !trimmed.is_empty() && !trimmed.starts_with('#') && !is_directive {
            let range = start + indent..start + body.len();
            let indent = isize::try_from(indent).unwrap_or(isize::MAX);
            out.push(Line { indent, text: trimmed, range });
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
            // The last duplicate wins.
            out.insert(key.trim_matches(['"', '\'']), (at, indent));
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
    use crate::source::SourceFile;

    #[track_caller]
    fn check(text: &str, path: &[&str], wanted: &str) {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        let mut sources = SourceMap::default();
        let before = "a: 1\n---\n";
        let text = format!("{before}{text}");
        let all = text.len();
        let file = sources.add(SourceFile { path: "a".into(), name: "a".into(), text: text.into() });
        let at = Lines::new(&sources, file, before.len()..all).position(&path);
        assert_eq!(Position { line: at.line - 2, ..at }.to_string(), wanted, "{path:?}");
    }

    #[test]
    fn position_of_a_path_is_found_in_yaml() {
        let text = "a: 1\nspec:\n  names:\n    kind: X\n  versions:\n  - name: v1\n    schema:\n      kind: y\n  - name: v2\n    schema:\n      \"kind\": z\n";
        check(text, &["spec", "names", "kind"], "4:5");
        check(text, &["spec", "versions", "0", "name"], "6:3");
        check(text, &["spec", "versions", "0", "schema", "kind"], "8:7");
        check(text, &["spec", "versions", "1", "schema", "kind"], "11:7");
        check(text, &["spec", "versions", "1", "nothing"], "9:3");
        check(text, &["spec", "versions", "0", "name", "schema"], "6:3");
        let text = "anyOf:\n- properties:\n    a: 1\n    b: 2\n-\n  properties:\n    7: 1\nnone:\nc: 1\n";
        check(text, &["anyOf", "0", "properties", "b"], "4:5");
        check(text, &["anyOf", "1", "properties", "7"], "7:5");
        check(text, &["none", "c"], "8:1");
        check("", &["spec"], "1:1");
        check("%YAML 1.2\n---\na: 1\n", &["a"], "3:1");
        check("a: 1\nb: 1\na: 2\n", &["a"], "3:1");
    }

    #[test]
    fn position_of_a_path_is_found_in_json() {
        let text = "{\"spec\": {\"names\": [{\"a\": \"}]\\\"\"},\n  [1, {\"\\u0062\": true, \"c\": 2}]], \"d\": -1.5}}";
        check(text, &["spec"], "1:2");
        check(text, &["spec", "names", "0", "a"], "1:22");
        check(text, &["spec", "names", "1"], "2:3");
        check(text, &["spec", "names", "1", "1", "b"], "2:8");
        check(text, &["spec", "names", "1", "1", "c", "deeper"], "2:24");
        check(text, &["spec", "d"], "2:35");
        check(text, &["spec", "names", "2"], "1:11");
        check("{\"a\": 1, \"a\": 2}", &["a"], "1:10");
        for broken in
            ["{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\":[1,", "{\"a\":[}", "{\"a\":\"\\"]
        {
            check(&format!(" {broken}"), &["b", "0"], "1:2");
            let _ = Json::new(broken).locate(&["a".to_string(), "0".to_string(), "b".to_string()]);
        }
    }
}
