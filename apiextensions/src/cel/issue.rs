//! Errors in expressions, rendered as cel-go does: with the line and a mark below it.

/// An error at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The position, in characters from the start of the text.
    pub position: usize,
    /// The fault.
    pub message: String,
}

/// Errors beyond this number are only counted.
const MAX_SHOWN: usize = 100;

/// Renders the errors of a text in the order of their positions.
#[must_use]
pub fn render(source: &str, issues: &[Issue]) -> String {
    let mut sorted: Vec<&Issue> = issues.iter().collect();
    sorted.sort_by_key(|issue| issue.position);
    let mut texts: Vec<String> = sorted.iter().take(MAX_SHOWN).map(|issue| one(source, issue)).collect();
    if sorted.len() > MAX_SHOWN {
        texts.push(format!("{} more errors were truncated", sorted.len() - MAX_SHOWN));
    }
    texts.join("\n")
}

fn one(source: &str, issue: &Issue) -> String {
    let (mut line, mut column) = (1, 0);
    for c in source.chars().take(issue.position) {
        if c == '\n' {
            (line, column) = (line + 1, 0);
        } else {
            column += 1;
        }
    }
    let text = source.split('\n').nth(line - 1).unwrap_or_default().replace('\t', " ");
    let mark = |c: char, narrow: char, wide: char| if c.len_utf8() > 1 { wide } else { narrow };
    let mut marks: String = text.chars().take(column).map(|c| mark(c, '.', '．')).collect();
    marks.push(text.chars().nth(column).map_or('^', |c| mark(c, '^', '＾')));
    format!("ERROR: <input>:{line}:{}: {}\n | {text}\n | {marks}", column + 1, issue.message)
}
