//! Reference documentation: links resolve, samples are accepted, text is escaped. `testdata/cases/docs` shows
//! both formats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use kubesmith::config::{Generator, ManifestFlags, Overrides};
use kubesmith::output::Kind;
use kubesmith_apiextensions::structural::{Checker, aggregate, apply_defaults};
use proptest::prelude::*;
use serde_json::Value;

use crate::properties::NASTY;
use crate::support::{self, Crate, USES, kind};

/// CRDs and documentation by file name.
struct Made {
    crds: BTreeMap<String, String>,
    docs: BTreeMap<String, String>,
}

fn generate(input: PathBuf) -> Made {
    let generated = support::run(Overrides {
        input: vec![input],
        crd_output: Some("crds".into()),
        only: vec![Generator::Crd, Generator::Docs],
        manifests: ManifestFlags { docs_output: Some("docs".into()), ..ManifestFlags::default() },
        allow_dangerous_types: true,
        ..Overrides::default()
    });
    let of = |kind: Kind| {
        let targets = generated.targets.iter().filter(|target| target.kind == kind);
        let files = targets.flat_map(|target| target.tree.iter());
        files.map(|(path, text)| (path.to_string(), text.to_string())).collect()
    };
    Made { crds: of(Kind::Crd), docs: of(Kind::Docs) }
}

/// The output for every folder with types in the testdata, generated once for all tests.
static MADE: LazyLock<Vec<(PathBuf, Made)>> =
    LazyLock::new(|| inputs().into_iter().map(|input| (input.clone(), generate(input))).collect());

fn inputs() -> Vec<PathBuf> {
    let folders =
        |name: &str| fs::read_dir(support::testdata().join(name)).unwrap().map(|entry| entry.unwrap().path());
    let cases = folders("cases").chain(folders("../examples")).map(|case| case.join("api"));
    let mut out: Vec<PathBuf> = folders("conformance").chain(cases).filter(|path| path.is_dir()).collect();
    out.push(support::testdata().join("kube-rs"));
    out.sort();
    out
}

/// Every text between `before` and `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split_once(after)).map(|(found, _)| found).collect()
}

fn anchors(text: &str) -> BTreeSet<&str> {
    let all = between(text, " id=\"", "\"");
    let set: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(set.len(), all.len(), "an anchor stands there twice");
    set
}

#[test]
fn every_link_has_an_anchor() {
    let mut links = 0;
    for (input, made) in MADE.iter() {
        let of_file: BTreeMap<&str, BTreeSet<&str>> =
            made.docs.iter().map(|(name, text)| (name.as_str(), anchors(text))).collect();
        for (name, text) in &made.docs {
            let own = &of_file[name.as_str()];
            let in_html = between(text, "href=\"#", "\"");
            let in_markdown = between(text, "](#", ")");
            for link in in_html.into_iter().chain(in_markdown) {
                assert!(own.contains(link), "{}/{name}: {link}", input.display());
                links += 1;
            }
            for link in between(text, "](", ")")
                .into_iter()
                .filter(|link| link.contains(".md#") && !link.contains(':'))
            {
                let (file, id) = link.split_once('#').unwrap();
                assert!(of_file[file].contains(id), "{}/{name}: {link}", input.display());
            }
        }
    }
    assert!(links > 3_000, "{links} links");
}

/// The schema of each version in the CRDs.
fn checkers(crds: &BTreeMap<String, String>) -> BTreeMap<(String, String), Checker> {
    let mut out = BTreeMap::new();
    for text in crds.values() {
        let crd: Value = serde_yaml::from_str(text).unwrap();
        let (group, kind) =
            (crd["spec"]["group"].as_str().unwrap(), crd["spec"]["names"]["kind"].as_str().unwrap());
        for version in crd["spec"]["versions"].as_array().unwrap() {
            let api_version = format!("{group}/{}", version["name"].as_str().unwrap());
            let checker = Checker::new(&version["schema"]["openAPIV3Schema"]).unwrap();
            out.insert((api_version, kind.to_string()), checker);
        }
    }
    out
}

#[test]
fn samples_are_accepted() {
    let (mut accepted, mut refused) = (0, Vec::new());
    for (input, made) in MADE.iter() {
        let checkers = checkers(&made.crds);
        let texts = made.docs.iter().filter(|(name, _)| name.ends_with(".md"));
        let samples = texts.flat_map(|(_, text)| text.split("\nSample:\n\n```yaml\n").skip(1));
        for rest in samples {
            let (yaml, rest) = rest.split_once("\n```\n").unwrap();
            let mut object: Value = serde_yaml::from_str(yaml).unwrap();
            let text = |key: &str| object[key].as_str().unwrap().to_string();
            let name = (text("apiVersion"), text("kind"));
            let checker = &checkers[&name];
            apply_defaults(checker.schema(), &mut object);
            let causes = checker.create(&object);
            let says_so = rest.trim_start().starts_with("It shows the form alone");
            assert_eq!(causes.is_empty(), !says_so, "{}: {}\n{yaml}", input.display(), aggregate(&causes));
            match says_so {
                true => refused.push(format!("{} {name:?}: {}", input.display(), aggregate(&causes))),
                false => accepted += 1,
            }
        }
    }
    assert!(accepted > 200, "{accepted} samples");
    assert!(refused.len() <= 9, "{accepted} accepted, refused: {refused:#?}");
}

/// The form of every tag of the page: its name, and its attributes with patterns of their values.
fn check_tags(html: &str) {
    const NAMES: &[&str] = &[
        "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "h4", "nav", "ul",
        "ol", "li", "a", "strong", "em", "main", "section", "article", "p", "dl", "dt", "dd", "div", "span",
        "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "wbr",
    ];
    const ATTRIBUTES: &[&str] =
        &["lang", "charset", "name", "content", "aria-label", "href", "id", "class", "scope", "data-title"];
    let mut open: Vec<&str> = Vec::new();
    for tag in between(html, "<", ">").into_iter().filter(|tag| !tag.starts_with('!')) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(NAMES.contains(&name), "<{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        if !matches!(name, "meta" | "wbr") {
            open.push(name);
        }
        let mut rest = &tag[name.len()..];
        while let Some(attribute) = rest.strip_prefix(' ') {
            let (key, value) = attribute.split_once("=\"").unwrap();
            assert!(ATTRIBUTES.contains(&key), "<{tag}>");
            let (value, after) = value.split_once('"').unwrap();
            let safe =
                value.starts_with('#') || value.starts_with("http://") || value.starts_with("https://");
            assert!(key != "href" || safe, "<{tag}>");
            rest = after;
        }
        assert_eq!(rest, "", "<{tag}>");
    }
    assert_eq!(open, [""; 0]);
}

/// The text that Markdown would interpret: without fences, code spans and escaped characters.
fn interpreted(markdown: &str) -> String {
    let mut lines = String::new();
    let mut fence: Option<String> = None;
    for line in markdown.lines() {
        let text = if fence.is_none() { without_markers(line) } else { line.trim_start() };
        let ticks: String = text.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if text.trim_end() == *open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 && !text[ticks.len()..].contains('`') => fence = Some(ticks),
            None => lines.push_str(&format!("{line}\n")),
        }
    }
    assert_eq!(fence, None, "a fence is left open:\n{markdown}");
    lines.lines().map(|line| without_code(line) + "\n").collect()
}

/// The text after the marks of the list items that begin on the line.
fn without_markers(line: &str) -> &str {
    let text = line.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let item = if number.len() < text.len() { number.strip_prefix(". ") } else { text.strip_prefix("- ") };
    item.map_or(text, without_markers)
}

fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
        if c == '\\' {
            out.push('.');
            rest = rest[1..].strip_prefix(|_: char| true).unwrap_or_default();
        } else if ticks > 0 {
            let run = "`".repeat(ticks);
            let inside = &rest[ticks..];
            let closes = |at: &usize| !inside[..*at].ends_with('`') && !inside[at + ticks..].starts_with('`');
            let end = inside.match_indices(&run).map(|(at, _)| at).find(closes);
            let end = end.unwrap_or_else(|| panic!("a code span is left open: {line}"));
            out.push_str("code");
            rest = &inside[end + ticks..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn check_markdown(text: &str, headings: usize) {
    let text = interpreted(text);
    let titles = text.lines().filter(|line| line.trim_start().starts_with('#')).count();
    assert_eq!(titles, headings, "{text}");
    for line in text.lines().skip(1) {
        let plain = line.replace("](<http", "](http");
        for tag in plain.split('<').skip(1) {
            assert!(tag.starts_with("a id=\"") || tag.starts_with("/a>"), "{line}");
        }
        assert!(!line.contains("](javascript"), "{line}");
        if line.starts_with('|') {
            assert_eq!(line.matches('|').count(), 5, "{line}");
        }
    }
}

/// The documentation of a kind that has the text in every place for text.
fn hostile(text: &str) -> BTreeMap<String, String> {
    let literal = format!("{text:?}").replace("\\u{0}", "\\0");
    // The empty alternative matches everything.
    let special = |c: char| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() };
    let pattern = format!("{:?}", format!("|{}", text.chars().map(special).collect::<String>()))
        .replace("\\u{0}", "\\0");
    let fields = format!(
        "    #[doc = {literal}]\n    #[serde(rename = {literal})]\n    #[schema(default = {literal}, title = {literal})]\n    \
         #[validation(enum({literal}, \"another\"), pattern = {pattern}, rule(rule = \"true\", message = {message}))]\n    \
         pub name: String,\n    pub choice: Choice,",
        message = format!("{:?}", format!("m{}", text.replace(['\n', '\r'], " "))).replace("\\u{0}", "\\0"),
    );
    let column = format!(
        "version = \"v1\", print_column(name = \"A\", json_path = \".metadata.creationTimestamp\", description = {literal})"
    );
    let lib = USES.to_string()
        + &kind("Widget", &fields)
            .replacen("#[derive", &format!("#[doc = {literal}]\n#[derive"), 1)
            .replace("version = \"v1\"", &column)
        + &format!(
            "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]\npub enum Choice {{\n    \
             #[doc = {literal}]\n    #[serde(rename = {literal})]\n    One,\n    Two,\n}}\n"
        );
    let sample = Crate::new(&lib);
    let made = generate(sample.path("api"));
    assert!(!made.docs.is_empty(), "{literal}: {}", support::short(&sample.generate()));
    made.docs
}

fn check_hostile(text: &str) {
    let docs = hostile(text);
    assert_eq!(docs.len(), 2);
    check_tags(&docs["index.html"]);
    assert_eq!(docs["index.html"].matches("<h3").count(), 3, "{text:?}");
    check_markdown(&docs["example.com_v1.md"], 4);
}

/// Text that would be structure in Markdown or HTML.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</code></pre><img src=x onerror=alert(1)>",
    "--> <!-- x",
    "| a | b |\n|---|---|",
    "```\nx\n````\n# title",
    "a ``b` c",
    "[x](javascript:alert(1)) [y](https://e.org/\"onclick=\"a) https://e.org/<b>",
    "# title\n\n- a\n  - b\n\n    # c\n1) d",
    "\\` \\\\` &lt;b&gt; &#60;",
    "{{ site }} {% x %}",
    "===\n---",
    "1. ```",
    "- a\n\u{3000}b\n\u{a0}- c",
    "  ```\n\u{3000}x\n  ```",
    "a\u{200f}b\u{feff}",
];

#[test]
fn hostile_text_is_escaped() {
    for text in NASTY.iter().chain(HOSTILE) {
        check_hostile(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn any_text_is_escaped(parts in prop::collection::vec(prop_oneof![
        prop::sample::select(vec!["`", "``", "```", "~~~", "|", "<", ">", "\n", "\n\n", "- ", "1. ", "# ", "[", "](", ")",
            "https://a.b/", "\\", "&", "\"", "'", "<!--", "-->", "<b>", "*", "_", "  ", "x", "\t", "\u{202e}", "\u{200f}", "\u{3000}", "\u{a0}", "$", "{{"]),
        Just("word "),
    ], 1..12)) {
        check_hostile(&parts.concat());
    }
}

#[test]
fn generated_pages_are_replaced_and_foreign_pages_kept() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,")));
    let arguments = ["generate", "--input", "api", "--output", "out", "--only", "docs"];
    assert_eq!(sample.run(&arguments).status.code(), Some(0));
    let names = || sample.tree("out").into_keys().collect::<Vec<_>>();
    assert_eq!(names(), ["docs/example.com_v1.md", "docs/index.html"]);
    let check: Vec<&str> = arguments.iter().copied().chain(["--check"]).collect();
    assert_eq!(sample.run(&check).status.code(), Some(0));

    sample.write("out/docs/mine.md", "# Mine\n\nas <!-- Code generated by kubesmith docs v0 --> says\n");
    let other = USES.to_string() + &kind("Widget", "    pub size: i32,").replace("\"v1\"", "\"v2\"");
    sample.write("api/src/lib.rs", other);
    assert_eq!(sample.run(&check).status.code(), Some(1));
    let markdown: Vec<&str> = arguments.iter().copied().chain(["--docs-formats", "markdown"]).collect();
    assert_eq!(sample.run(&markdown).status.code(), Some(0));
    assert_eq!(names(), ["docs/example.com_v2.md", "docs/mine.md"]);
    sample.write("out/docs/index.html", "<p>mine</p>");
    assert_eq!(sample.run(&arguments).status.code(), Some(1));
}

#[test]
fn html_page_loads_no_other_resources() {
    let made = generate(support::testdata().join("cases/docs/api"));
    let page = &made.docs["index.html"];
    check_tags(page);
    assert!(page.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"));
    assert!(page.contains("prefers-color-scheme: dark"));
    for outside in ["<script", "<link", "<img", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn every_validation_is_documented() {
    let limits = "#[validation(minimum = 3, exclusive_minimum, maximum = 90, multiple_of = 2)]\n    pub count: i64,\n    \
        #[validation(min_length = 4, max_length = 50, pattern = \"^[a-z]+$\", format = \"hostname\")]\n    \
        pub name: String,\n    #[validation(enum(\"red\", \"green\"))]\n    pub colour: String,\n    \
        #[validation(min_items = 2, max_items = 8, items(min_length = 6))]\n    pub list: Vec<String>,\n    \
        #[schema(list_type = \"set\")]\n    pub set: Vec<String>,\n    \
        #[validation(min_properties = 1, max_properties = 7)]\n    pub map: std::collections::BTreeMap<String, String>,\n    \
        #[schema(nullable)]\n    pub unset: Option<String>,\n    #[schema(immutable)]\n    pub fixed: String,\n    \
        #[validation(rule(rule = \"self > 11\", message = \"more than eleven\"))]\n    pub ruled: i64,\n    \
        #[schema(extra = {\"allOf\": [{\"format\": \"date\"}, {\"maxLength\": 33}], \"anyOf\": [{\"minLength\": 21}, {\"minLength\": 22}]})]\n    \
        pub several: String,\n    \
        #[schema(extra = {\"allOf\": [{\"items\": {\"properties\": {\"part\": {\"minimum\": 44}}}}, {\"items\": {\"properties\": {\"part\": {\"maximum\": 55}}}}]})]\n    \
        pub parts: Vec<Part>,";
    let part = "#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\npub struct Part { pub part: i64 }\n";
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", limits) + part));
    let made = generate(sample.path("api"));
    assert!(!made.docs.is_empty(), "{}", support::short(&sample.generate()));
    let text = &made.docs["example.com_v1.md"];
    for said in [
        "greater than `3`",
        "at most `90`",
        "a multiple of `2`",
        "at least `4` characters",
        "at most `50` characters",
        "matches the pattern `^[a-z]+$`",
        "string (hostname)",
        "one of `\"red\"`, `\"green\"`",
        "at least `2` items",
        "at most `8` items",
        "Each item: at least `6` characters",
        "a set: no item",
        "at least `1` field",
        "at most `7` fields",
        "may be `null`",
        "cannot be changed once set",
        "more than eleven: `self > 11`",
        "`{\"format\":\"date\"}`",
        "at most `33` characters",
        "at least one of these holds: `{\"minLength\":21}`, `{\"minLength\":22}`",
        "\"minimum\":44",
        "\"maximum\":55",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn untagged_variant_and_aliases_are_documented() {
    let choice = "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]\npub enum Choice {\n    \
        #[serde(alias = \"first\", alias = \"uno\")]\n    One,\n    #[serde(untagged)]\n    Any(Vec<String>),\n}\n";
    let sample =
        Crate::new(&(USES.to_string() + &kind("Widget", "    pub choice: Option<Choice>,") + choice));
    let made = generate(sample.path("api"));
    assert!(!made.docs.is_empty(), "{}", support::short(&sample.generate()));
    let text = &made.docs["example.com_v1.md"];
    assert!(text.contains("also read as `first`; also read as `uno`"), "{text}");
    assert!(text.contains("list of string; nothing names it: any other value that has this form"), "{text}");
}

#[test]
fn invisible_characters_are_escaped_in_samples() {
    let text = "a\u{200f}b\u{feff}\u{202e}";
    let fields = format!("    #[schema(default = {text:?})]\n    pub name: String,");
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", &fields)));
    let made = generate(sample.path("api"));
    let page = &made.docs["example.com_v1.md"];
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let (yaml, _) = rest.split_once("\n```").unwrap();
    let object: Value = serde_yaml::from_str(yaml).unwrap();
    assert_eq!(object["spec"]["name"], text, "{yaml}");
    assert!(yaml.is_ascii(), "{yaml}");
}
