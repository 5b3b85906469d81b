//! Writes the result of an exploration as a page with a timeline.

use std::fmt::Write as _;
use std::path::Path;

use super::report::{Crashed, Failed, Report};

/// On narrow screens each row becomes a list of its cells. Colours of rows are translucent, so that they suit both schemes.
const STYLE: &str = ":root{color-scheme:light dark}body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem}\
table{border-collapse:collapse}td,th{padding:2px 10px;text-align:left;vertical-align:top}\
td{overflow-wrap:anywhere}td.time{opacity:.7;text-align:right;white-space:nowrap}\
pre{background:#8882;padding:1em;white-space:pre-wrap;overflow-wrap:anywhere}code{overflow-wrap:anywhere}\
tr.fault{background:#f003}tr.user{background:#08f2}tr.event{background:#0802}\
@media(max-width:48rem){body{margin:1rem}table.timeline th{display:none}\
table.timeline,.timeline tbody,.timeline tr,.timeline td{display:block}\
.timeline td{padding:1px 6px}.timeline td:empty{display:none}td.time{text-align:left}}";

/// Writes the page of an exploration into a folder, and for a failure the file that replays it.
///
/// # Errors
/// Returns the file system's error.
pub(super) fn write(folder: &Path, name: &str, result: &Result<Report, Box<Failed>>) -> Result<(), String> {
    let file = |ending: &str| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        folder.join(format!("{}.{ending}", name.chars().map(plain).collect::<String>()))
    };
    let save =
        |ending: &str, text: String| std::fs::write(file(ending), text).map_err(|error| error.to_string());
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    match result {
        Ok(report) => save("html", of_report(report)),
        Err(failed) => {
            save("html", of_failure(failed))?;
            save("replay", failed.replay())
        }
    }
}

fn of_report(report: &Report) -> String {
    let mut body = format!("<h1>{}</h1><pre>{}</pre>", escape(&report.name), escape(&report.to_string()));
    body.push_str(&coverage(&report.writes));
    body.push_str(&timeline("What happened", &report.story));
    page(&report.name, &body)
}

fn of_failure(failed: &Failed) -> String {
    let mut body = format!("<h1>{}</h1><pre>{}</pre>", escape(&failed.name), escape(&failed.failure));
    let _ = write!(body, "<p>Replay: <code>KUBESMITH_EXPLORE='{}'</code></p>", escape(&failed.replay()));
    body.push_str(&timeline("The smallest schedule found", &failed.story));
    page(&failed.name, &body)
}

fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\
         <style>{STYLE}</style></head><body>{body}</body></html>\n"
    )
}

fn coverage(writes: &[Crashed]) -> String {
    if writes.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Crashes</h2><table><tr><th>write</th><th>before</th><th>after</th></tr>");
    let mark = |done: bool| if done { "yes" } else { "no" };
    for Crashed { write, before, after } in writes {
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(write),
            mark(*before),
            mark(*after)
        );
    }
    out.push_str("</table>");
    out
}

/// A table with a column for each actor.
fn timeline(title: &str, story: &[String]) -> String {
    let mut out = format!(
        "<h2>{title}</h2><table class=\"timeline\">\
         <tr><th>time</th><th>user</th><th>operator</th><th>sees</th></tr>"
    );
    for line in story {
        let (time, text) = line.trim_start().split_once("  ").unwrap_or(("", line));
        let (class, column) = match text {
            _ if text.starts_with("! ") => ("fault", 1),
            _ if text.starts_with("user ") => ("user", 0),
            _ if text.contains(" sees ") => ("event", 2),
            _ => ("request", 1),
        };
        let cell = |i: usize| if i == column { escape(text) } else { String::new() };
        let _ = write!(
            out,
            "<tr class=\"{class}\"><td class=\"time\">{time}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            cell(0),
            cell(1),
            cell(2)
        );
    }
    out.push_str("</table>");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_fits_narrow_and_dark_screens() {
        let html = page("t", &coverage(&[]));
        for part in
            ["name=\"viewport\"", "color-scheme:light dark", "@media(max-width:48rem)", "<body></body>"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn timeline_shows_hostile_text_as_text() {
        let story = ["    0.000s  user applies <b>".to_owned(), "    1.000s  ! operator crashes".to_owned()];
        let html = timeline("t", &story);
        assert!(
            html.contains("<td>user applies &lt;b&gt;</td>") && html.contains("class=\"fault\""),
            "{html}"
        );
    }
}
