//! Verdicts, error texts and matches of Go 1.26.6 for the patterns of `testdata/corpus.jsonl`.

use kubesmith_goregex::{Regex, check};
use serde_json::Value;

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect())
}

/// What differs from Go for a line of the corpus.
fn differences(line: &Value) -> Vec<String> {
    let pattern = line["pattern"].as_str().unwrap_or_default();
    let wanted = line["error"].as_str();
    let checked = check(pattern).err().map(|error| error.to_string());
    if checked.as_deref() != wanted {
        return vec![format!("{pattern:?}: Go says {wanted:?}, here {checked:?}")];
    }
    let regex = match Regex::new(pattern) {
        Ok(regex) => regex,
        Err(_) if wanted.is_some() => return Vec::new(),
        Err(error) => return vec![format!("{pattern:?}: {error}")],
    };
    let mut differences = Vec::new();
    for case in line["texts"].as_array().into_iter().flatten() {
        let (text, wanted) = (case["text"].as_str().unwrap_or_default(), texts(&case["find"]));
        let found: Vec<&str> = regex.find_iter(text).collect();
        if found != wanted
            || regex.is_match(text) == wanted.is_empty()
            || regex.find(text) != wanted.first().copied()
        {
            differences.push(format!("{pattern:?} in {text:?}: Go finds {wanted:?}, here {found:?}"));
        }
    }
    differences
}

/// A longer corpus can be named in the environment, in the same form.
#[test]
fn patterns_compile_and_match_as_in_go() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/corpus.jsonl");
    let path = std::env::var("GOREGEX_CORPUS").unwrap_or_else(|_| own.to_owned());
    let corpus = std::fs::read_to_string(&path).expect("the corpus");
    let lines: Vec<Value> = corpus.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(lines.len() >= 400, "{} patterns", lines.len());
    let differences: Vec<String> = lines.iter().flat_map(differences).collect();
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences[..differences.len().min(40)].join("\n")
    );
}

#[test]
fn pattern_limits_equal_those_of_go() {
    let nested = |levels: usize| format!("{}x{}", "(".repeat(levels), ")".repeat(levels));
    let message = |pattern: &str| check(pattern).map_err(|error| error.code.to_string());
    let too_deep = Err("expression nests too deeply".to_owned());
    assert_eq!(message(&nested(999)), Ok(()));
    assert_eq!(message(&nested(1_000)), too_deep);
    assert_eq!(message(&nested(100_000)), too_deep);
    assert_eq!(message(&format!("{}x{}", "(?:".repeat(100_000), ")".repeat(100_000))), Ok(()));
    assert_eq!(message("((a{1000}){1000}){1000}"), Err("invalid repeat count".to_owned()));
    assert_eq!(
        message(&format!("(?:{}){{1000}}", "ab?".repeat(3_000))),
        Err("expression too large".to_owned())
    );
}

#[test]
fn deep_expressions_match_on_a_small_stack() {
    let deep = format!("^{}x{}$", "(y".repeat(320), ")*".repeat(320));
    let run = move || Regex::new(&deep).map(|regex| regex.is_match("yy"));
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(run).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), Ok(true));
}
