//! Turns doc comments into descriptions, by controller-gen's rules.

/// Turns the lines of a doc comment into a description, or `None` if it is empty.
///
/// Line breaks are kept. Runs of blank lines become one. Outside of fences, lines that begin with `TODO` are
/// dropped and a line that begins with `---` ends the description. Indented lines are ordinary text.
pub fn description<'a>(lines: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut out: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in lines {
        let line = line.trim_end();
        match fence {
            Some(mark) => {
                if line.starts_with(mark) {
                    fence = None;
                }
            }
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
                if line.starts_with("---") {
                    break;
                }
                if line.starts_with("TODO") {
                    continue;
                }
            }
        }
        if line.is_empty() && out.last().is_none_or(|last| last.is_empty()) {
            continue;
        }
        out.push(line);
    }
    while out.last().is_some_and(|last| last.is_empty()) {
        out.pop();
    }
    if out.is_empty() { None } else { Some(out.join("\n")) }
}

/// The first paragraph, on one line.
pub fn summary(description: &str) -> String {
    let lines: Vec<&str> = description.lines().take_while(|line| !line.trim().is_empty()).collect();
    lines.join(" ")
}

/// Cuts a description to `limit` bytes: after the last sentence that fits, else after the last word, with `...`.
pub fn truncate(description: &str, limit: usize) -> String {
    let (head, is_whole) = sentences(description, limit);
    match head.rfind(char::is_whitespace) {
        _ if is_whole => head.to_string(),
        Some(at) if at > 0 => format!("{}...", &head[..at]),
        _ => format!("{head}..."),
    }
}

/// The sentences that fit into a limit in bytes, and `true`; or what fits of the first one, and `false`.
pub fn sentences(description: &str, limit: usize) -> (&str, bool) {
    if description.len() <= limit {
        return (description, true);
    }
    let mut end = limit;
    while !description.is_char_boundary(end) {
        end -= 1;
    }
    let head = &description[..end];
    let sentence_end = |c: char| {
        matches!(c, '.' | '!' | '?' | '؟' | '۔' | '。' | '．' | '！' | '？' | '।' | '॥' | '‼' | '⁇')
    };
    if let Some((at, last)) = head.char_indices().rev().find(|&(at, c)| at > 0 && sentence_end(c)) {
        return (&head[..at + last.len_utf8()], true);
    }
    (head, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Option<String> {
        description(text.lines())
    }

    #[test]
    fn description_keeps_lines_and_collapses_blank_runs() {
        assert_eq!(lines("\nA\n\n\n b\n\n").as_deref(), Some("A\n\n b"));
        assert_eq!(lines("\n\n"), None);
        assert_eq!(lines("x  ").as_deref(), Some("x"));
    }

    #[test]
    fn description_drops_todo_lines_and_text_after_a_rule() {
        assert_eq!(lines("a\nTODO(me): b\nc").as_deref(), Some("a\nc"));
        assert_eq!(lines("a\n---\nb").as_deref(), Some("a"));
        assert_eq!(lines("a\n  ---\n  TODO b\nc").as_deref(), Some("a\n  ---\n  TODO b\nc"));
        assert_eq!(lines("a\n  ```\nTODO b\n  ```").as_deref(), Some("a\n  ```\n  ```"));
        assert_eq!(lines("TODO x"), None);
        assert_eq!(lines("```\n---\nTODO\n```\nx").as_deref(), Some("```\n---\nTODO\n```\nx"));
    }

    #[test]
    fn description_is_truncated_at_a_sentence_or_word() {
        assert_eq!(truncate("One here. Two there. Three", 22), "One here. Two there.");
        assert_eq!(truncate("no stop until it is cut", 10), "no stop...");
        assert_eq!(truncate("solidsolid", 5), "solid...");
        assert_eq!(truncate("éééé", 3), "é...");
        assert_eq!(truncate("short", 60), "short");
        assert_eq!(sentences("no stop until it is cut", 10), ("no stop un", false));
    }
}
