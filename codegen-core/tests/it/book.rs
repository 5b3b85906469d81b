//! README.md, ARCHITECTURE.md and the book under docs/ agree with the repository: links, anchors, pages, tests that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Paths of all files below a folder, relative to the root, in order.
fn files_below(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn text_of(page: &Path) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|e| panic!("{}: {e}", page.display()))
}

/// README.md, ARCHITECTURE.md, CHANGELOG.md and every page of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(PathBuf::from).into();
    pages.extend(files_below("docs", "md"));
    pages
}

fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

/// The targets of a page's links and images.
fn links(text: &str) -> Vec<String> {
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    events(text).filter_map(target).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut seen = BTreeMap::new();
    let mut heading: Option<String> = None;
    for event in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = slug(&heading.take().unwrap_or_default());
                let count = seen.entry(anchor.clone()).or_insert(0);
                anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                *count += 1;
            }
            _ => {}
        }
    }
    anchors
}

fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Resolves `..` without asking the disk.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut out, part| {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
        out
    })
}

/// Why a link of a page leads nowhere, if it does.
fn broken(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = match path {
        "" => page.to_path_buf(),
        path => normal(&page.parent().unwrap_or(Path::new("")).join(path)),
    };
    if !root().join(&target).exists() {
        return Some(format!("{}: no file for the link {link}", page.display()));
    }
    let anchor = anchor?;
    let is_there =
        target.extension().is_some_and(|it| it == "md") && anchors(&text_of(&target)).contains(anchor);
    (!is_there).then(|| format!("{}: no heading for the link {link}", page.display()))
}

#[test]
fn every_link_of_the_book_resolves() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = text_of(&page);
        wrong.extend(links(&text).iter().filter_map(|link| broken(&page, link)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The code spans of a page, outside of code blocks.
fn code_spans(text: &str) -> Vec<String> {
    let code = |event| match event {
        Event::Code(code) => Some(code.to_string()),
        _ => None,
    };
    events(text).filter_map(code).collect()
}

/// Rust files at a place: the file itself, or all files below the folder.
fn rust_files(place: &str) -> Vec<PathBuf> {
    let path = root().join(place);
    if path.is_file() { vec![PathBuf::from(place)] } else { files_below(place, "rs") }
}

/// Whether a code span is a path in a folder of the repository.
fn is_path(span: &str) -> bool {
    let is_plain = !span.contains([' ', '{', '<', '*', '(']);
    is_plain && span.split_once('/').is_some_and(|(folder, _)| root().join(folder).is_dir())
}

/// Why a code span is wrong: it names a file, folder or test of the repository that does not exist.
fn missing(span: &str) -> Option<String> {
    if !is_path(span) {
        return None;
    }
    let (place, test) = span.split_once("::").map_or((span, None), |(place, test)| (place, Some(test)));
    if !root().join(place).exists() {
        return Some(format!("no file or folder {place}"));
    }
    let declaration = format!("fn {}(", test?);
    let is_there = rust_files(place).iter().any(|file| text_of(file).contains(&declaration));
    (!is_there).then(|| format!("no test {span}"))
}

#[test]
fn every_path_and_test_named_by_architecture_exists() {
    let mut wrong = Vec::new();
    let mut tests = 0;
    let mut pages = files_below("docs/internals", "md");
    pages.push("ARCHITECTURE.md".into());
    for page in pages {
        let spans = code_spans(&text_of(&page));
        tests += spans.iter().filter(|span| span.contains(".rs::")).count();
        wrong.extend(spans.iter().filter_map(|span| Some(format!("{}: {}", page.display(), missing(span)?))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tests > 40, "{tests} tests are named");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = links(&text_of(Path::new("docs/SUMMARY.md")));
    let listed: BTreeSet<PathBuf> = summary.iter().map(|link| Path::new("docs").join(link)).collect();
    assert_eq!(listed.len(), summary.len(), "a page is listed twice");
    let mut pages: BTreeSet<PathBuf> = files_below("docs", "md").into_iter().collect();
    pages.remove(Path::new("docs/SUMMARY.md"));
    assert_eq!(listed, pages);
}

#[test]
fn readme_has_at_most_900_words() {
    let words = text_of(Path::new("README.md")).split_whitespace().count();
    assert!(words <= 900, "{words} words");
}

/// Whether a page has a block of Rust code that documentation tests compile.
fn has_compiled_code(page: &Path) -> bool {
    text_of(page).lines().any(|line| {
        let info = line.strip_prefix("```rust");
        info.is_some_and(|info| !info.split(',').any(|word| word == "ignore"))
    })
}

#[test]
fn code_of_every_page_is_compiled_by_the_book_crate() {
    let list = text_of(Path::new("testdata/book/src/lib.rs"));
    let is_listed = |page: &PathBuf| list.contains(&format!("\"{}\"", page.display()));
    let missing: Vec<PathBuf> =
        pages().into_iter().filter(|page| has_compiled_code(page) && !is_listed(page)).collect();
    assert!(missing.is_empty(), "add to testdata/book/src/lib.rs: {missing:?}");
}
