//! The comparable state of a cluster.
//!
//! Runs differ in values that no operator decides: UIDs, versions, times, generated names, addresses, and traces of the
//! number of attempts. The rest is compared as a set of fields for each object.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

/// The annotation by which a simulated user changes an object.
pub(super) const TOUCHED: &str = "explore.kubesmith.dev/touched";

/// The limit of differences in a report.
const SHOWN: usize = 12;

/// The fields of each object, by its name.
pub(super) type State = BTreeMap<String, BTreeMap<String, String>>;

/// Generated names, with their prefixes.
pub(super) type Names = BTreeMap<String, String>;

/// The parts that are not compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Mask {
    objects: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
    /// Fields that are always there, with another value each time.
    values: BTreeSet<(String, String)>,
    /// Objects whose names have a random end: the beginning of their keys, and the length of the end.
    random: BTreeSet<(String, usize)>,
    /// Kinds with paths of fields, as given by the user.
    pub(super) ignored: Vec<(String, String)>,
}

impl Mask {
    /// Excludes differences between two runs without faults, which are random.
    pub(super) fn add_differences(&mut self, one: &State, other: &State) {
        let only = |one: &State, other: &State| {
            one.keys().filter(|key| !other.contains_key(*key)).filter_map(|key| random_end(key)).collect()
        };
        let (ends, others): (BTreeSet<_>, BTreeSet<_>) = (only(one, other), only(other, one));
        self.random.extend(ends.intersection(&others).cloned());
        let (one, other) = (&self.named(one), &self.named(other));
        for key in one.keys().chain(other.keys()) {
            let (Some(a), Some(b)) = (one.get(key), other.get(key)) else {
                self.objects.insert(key.clone());
                continue;
            };
            for path in a.keys().chain(b.keys()).filter(|path| a.get(*path) != b.get(*path)) {
                let in_both = a.contains_key(path) && b.contains_key(path);
                let set = if in_both { &mut self.values } else { &mut self.fields };
                set.insert((key.clone(), path.clone()));
            }
        }
    }

    /// Returns a key with `*` for the random end of a name, if it has one.
    fn name(&self, key: &str) -> Option<String> {
        let end = random_end(key).filter(|end| self.random.contains(end))?;
        Some(format!("{}*", end.0))
    }

    /// Returns a state with `*` for the random ends of names. Several objects of one name have numbers.
    fn named<'a>(&self, state: &'a State) -> Cow<'a, State> {
        if !state.keys().any(|key| self.name(key).is_some()) {
            return Cow::Borrowed(state);
        }
        let mut all: BTreeMap<String, Vec<&BTreeMap<String, String>>> = BTreeMap::new();
        for (key, fields) in state {
            let name = self.name(key).unwrap_or_else(|| key.clone());
            all.entry(name).or_default().push(fields);
        }
        Cow::Owned(numbered(all.into_iter().map(|(key, same)| (key, same.into_iter().cloned().collect()))))
    }

    /// Reports whether an object is compared.
    pub(super) fn shows(&self, key: &str) -> bool {
        !self.objects.contains(key)
    }

    fn hides(&self, key: &str, path: &str) -> bool {
        let is_ignored = |(kind, prefix): &(String, String)| {
            key.split(' ').next() == Some(kind) && (path == prefix || path.starts_with(&format!("{prefix}.")))
        };
        self.fields.contains(&(key.to_owned(), path.to_owned())) || self.ignored.iter().any(is_ignored)
    }

    /// Returns the wanted state, in which each object that is found as it was `before` may be so.
    pub(super) fn nearest(&self, wanted: &State, before: &State, found: &State) -> State {
        let mut nearest = wanted.clone();
        for (key, fields) in before {
            let one = |fields: &BTreeMap<String, String>| State::from([(key.clone(), fields.clone())]);
            if found.get(key).is_some_and(|found| self.differences(&one(fields), &one(found)).is_empty()) {
                nearest.insert(key.clone(), fields.clone());
            }
        }
        nearest
    }

    /// Returns the objects that are not wanted.
    pub(super) fn left_over<'a>(&self, wanted: &State, found: &'a State) -> Vec<&'a String> {
        let wanted = self.named(wanted);
        let is_wanted = |key: &String| wanted.contains_key(&self.name(key).unwrap_or_else(|| key.clone()));
        found.keys().filter(|key| self.shows(key) && !is_wanted(key)).collect()
    }

    /// Returns the objects that are missing or left over, a line each.
    pub(super) fn missing(&self, wanted: &State, found: &State) -> Vec<String> {
        let names = |state: &State| state.keys().map(|key| (key.clone(), BTreeMap::new())).collect::<State>();
        self.differences(&names(wanted), &names(found))
    }

    /// Returns the differences, a line each.
    pub(super) fn differences(&self, wanted: &State, found: &State) -> Vec<String> {
        let (wanted, found) = (&self.named(wanted), &self.named(found));
        let mut lines = Vec::new();
        let keys: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
        for key in keys.into_iter().filter(|key| self.shows(key)) {
            match (wanted.get(key), found.get(key)) {
                (Some(_), None) => lines.push(format!("{key} is missing")),
                (None, Some(_)) => lines.push(format!("{key} is left over")),
                (Some(a), Some(b)) => self.fields_of(key, a, b, &mut lines),
                (None, None) => {}
            }
        }
        if lines.len() > SHOWN {
            let more = lines.len() - SHOWN;
            lines.truncate(SHOWN);
            lines.push(format!("and {more} more"));
        }
        lines
    }

    fn fields_of(
        &self,
        key: &str,
        wanted: &BTreeMap<String, String>,
        found: &BTreeMap<String, String>,
        lines: &mut Vec<String>,
    ) {
        let paths: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
        for path in paths.into_iter().filter(|path| !self.hides(key, path)) {
            let text = |fields: &BTreeMap<String, String>| fields.get(path).cloned();
            let (a, b) = (text(wanted), text(found));
            let is_chance =
                a.is_some() && b.is_some() && self.values.contains(&(key.to_owned(), path.clone()));
            if a != b && !is_chance {
                let show = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
                lines.push(format!("{key}: {path} is {} instead of {}", show(b), show(a)));
            }
        }
    }
}

/// Converts objects into the compared form.
pub(super) fn normalise<'a>(objects: impl IntoIterator<Item = (&'a Value, bool)>, names: &Names) -> State {
    let mut all: BTreeMap<String, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for (object, with_status) in objects {
        let mut fields = BTreeMap::new();
        for (key, value) in object.as_object().into_iter().flatten() {
            if key != "apiVersion" && key != "kind" && (key != "status" || with_status) {
                flatten(key, value, has_counters(key), names, &mut fields);
            }
        }
        all.entry(key_of(object, names)).or_default().push(fields);
    }
    numbered(all)
}

/// Numbers the objects of one key.
fn numbered(all: impl IntoIterator<Item = (String, Vec<BTreeMap<String, String>>)>) -> State {
    let mut state = State::new();
    for (key, mut same) in all {
        // Objects with generated names have no order.
        same.sort();
        for (i, fields) in same.into_iter().enumerate() {
            state.insert(if i == 0 { key.clone() } else { format!("{key} ({})", i + 1) }, fields);
        }
    }
    state
}

/// Returns the beginning of a key up to its last dash, and the length of the rest, which may be random: at least four letters and
/// digits.
fn random_end(key: &str) -> Option<(String, usize)> {
    let dash = key.rfind('-')? + 1;
    let (start, end) = key.split_at(dash);
    let is_random =
        end.len() >= 4 && end.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_random.then(|| (start.to_owned(), end.len()))
}

fn key_of(object: &Value, names: &Names) -> String {
    let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    let name = names.get(text("name")).cloned().unwrap_or_else(|| without_times(text("name").to_owned()));
    let kind = object["kind"].as_str().unwrap_or_default();
    match text("namespace") {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}

/// Reports whether numbers of attempts may be below a field. In a spec, names like `restartPolicy` and `maxRetries` are
/// those of settings.
fn has_counters(key: &str) -> bool {
    matches!(key, "metadata" | "status")
}

/// Reports whether a field shows times or versions, the server's choices, or, where there are `counters`, numbers of
/// attempts.
pub(super) fn is_incidental(key: &str, counters: bool) -> bool {
    const NAMES: &[&str] = &[
        "uid",
        "creationTimestamp",
        "managedFields",
        "selfLink",
        "deletionGracePeriodSeconds",
        "generateName",
        "nodePort",
        "healthCheckNodePort",
        "collisionCount",
        "deployment.kubernetes.io/revision",
        TOUCHED,
    ];
    const COUNTERS: &[&str] = &["generation", "attempt", "retr", "restart", "failure", "reconcil"];
    let lower = key.to_ascii_lowercase();
    NAMES.contains(&key)
        || lower.contains("resourceversion")
        || (counters && COUNTERS.iter().any(|part| lower.contains(part)))
}

fn flatten(path: &str, value: &Value, counters: bool, names: &Names, out: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(key, _)| !is_incidental(key, counters)) {
                flatten(&format!("{path}.{key}"), value, counters || has_counters(key), names, out);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Null => {}
        other => {
            let conditions = path.ends_with(".conditions");
            out.insert(path.to_owned(), canonical(other, conditions, counters, names));
        }
    }
}

/// Formats a value, with lists unordered and conditions reduced to their verdict.
fn canonical(value: &Value, conditions: bool, counters: bool, names: &Names) -> String {
    match value {
        Value::Array(items) => {
            let mut texts: Vec<String> =
                items.iter().map(|item| item_text(item, conditions, counters, names)).collect();
            texts.sort();
            format!("[{}]", texts.join(", "))
        }
        Value::Object(map) => {
            let fields = map.iter().filter(|(key, _)| !is_incidental(key, counters)).map(|(key, value)| {
                let counters = counters || has_counters(key);
                format!("{key}: {}", canonical(value, key == "conditions", counters, names))
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => scrub(text, names),
        other => without_times(other.to_string()),
    }
}

fn item_text(item: &Value, conditions: bool, counters: bool, names: &Names) -> String {
    match (conditions, item["type"].as_str(), item["status"].as_str()) {
        (true, Some(kind), Some(status)) => format!("{kind}={status}"),
        _ => canonical(item, false, counters, names),
    }
}

/// Replaces the parts of a text that differ from run to run.
pub(super) fn scrub(text: &str, names: &Names) -> String {
    if text.parse::<IpAddr>().is_ok() {
        return "<address>".to_owned();
    }
    if is_time(text) {
        return "<time>".to_owned();
    }
    let mut out = without_times(without_uids(text));
    for (name, pattern) in names {
        if out.contains(name.as_str()) {
            out = out.replace(name.as_str(), pattern);
        }
    }
    out
}

/// Reports whether a text begins with an RFC 3339 time.
fn is_time(text: &str) -> bool {
    let pattern = b"0000-00-00T00:00:00";
    let fits =
        |(byte, wanted): (u8, &u8)| if *wanted == b'0' { byte.is_ascii_digit() } else { byte == *wanted };
    text.len() >= pattern.len() && text.bytes().zip(pattern).all(fits)
}

/// Replaces times that are written as digits, as programs do in names: seconds or milliseconds since 1970, and year to
/// second, with or without a letter or a dash after the day.
fn without_times(text: String) -> String {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (mut out, mut rest) = (String::new(), text.as_str());
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let mut length = digits(from);
        // The time of the day.
        if length == 8 && from[8..].starts_with(['-', 'T', 't', '_']) && digits(&from[9..]) == 6 {
            length = 15;
        }
        let (number, after) = from.split_at(length);
        out.push_str(before);
        out.push_str(if length >= 10 && is_recent(number) { "<time>" } else { number });
        rest = after;
    }
    if out.is_empty() { text } else { out + rest }
}

/// Reports whether digits are a time of these days. The clock of a run may be ahead of the machine's.
fn is_recent(digits: &str) -> bool {
    const DAY: i64 = 24 * 60 * 60;
    let now = Timestamp::now().as_second();
    let day =
        |days: i64| Timestamp::from_second(now + days * DAY).map(|time| time.strftime("%Y%m%d").to_string());
    let is_near = |seconds: i64| (seconds - now).abs() <= DAY;
    match digits.len() {
        10 => digits.parse().is_ok_and(is_near),
        13 => digits.parse().is_ok_and(|millis: i64| is_near(millis / 1000)),
        14 | 15 => (-1..=1).any(|days| day(days).is_ok_and(|day| digits.starts_with(&day))),
        _ => false,
    }
}

fn without_uids(text: &str) -> String {
    const LENGTH: usize = 36;
    let is_uid = |part: &[u8]| {
        part.iter().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    if text.len() < LENGTH || !text.contains('-') {
        return text.to_owned();
    }
    let (bytes, mut out, mut i) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while i < bytes.len() {
        if bytes.len() - i >= LENGTH && bytes[i + 8] == b'-' && is_uid(&bytes[i..i + LENGTH]) {
            out.extend_from_slice(b"<uid>");
            i += LENGTH;
        } else {
            out.push(bytes[i]);
            i += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(object: &Value) -> State {
        let names = Names::from([("pod-x7k2d".to_owned(), "pod-*".to_owned())]);
        normalise([(object, true)], &names)
    }

    #[test]
    fn states_are_equal_when_only_chance_differs() {
        let object = |uid: &str, time: &str, generation: u64| {
            json!({
                "kind": "A", "metadata": {"name": "a", "uid": uid, "generation": generation,
                    "annotations": {"by": format!("job-{uid}")}},
                "spec": {"list": [1, 2], "ip": "10.0.0.1"},
                "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time, "message": time}]},
            })
        };
        let one = object("11111111-2222-4333-8444-555555555555", "2026-01-01T00:00:00Z", 1);
        let mut other = object("aaaaaaaa-2222-4333-8444-555555555555", "2027-01-01T00:00:00Z", 4);
        other["spec"] = json!({"list": [2, 1], "ip": "10.0.0.9"});
        assert_eq!(Mask::default().differences(&state(&one), &state(&other)), Vec::<String>::new());
    }

    #[test]
    fn counters_are_settings_in_a_spec() {
        let object = |n: u64| {
            json!({
                "kind": "A", "metadata": {"name": "a", "annotations": {"retries": n}},
                "spec": {
                    "maxRetries": n,
                    "list": [{"failureThreshold": n, "resourceVersion": n}],
                    "template": {"metadata": {"annotations": {"restarts": n}}},
                },
                "status": {"attempts": n, "list": [{"restartCount": n}]},
            })
        };
        assert_eq!(
            Mask::default().differences(&state(&object(1)), &state(&object(2))),
            [
                "A a: spec.list is [{failureThreshold: 2}] instead of [{failureThreshold: 1}]",
                "A a: spec.maxRetries is 2 instead of 1",
            ]
        );
    }

    #[test]
    fn generated_name_is_its_pattern() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "pod-x7k2d", "namespace": "n"}, "spec": {"of": "pod-x7k2d"}});
        let state = state(&pod);
        assert_eq!(state["Pod n/pod-*"]["spec.of"], "pod-*");
    }

    #[test]
    fn random_end_of_a_name_is_not_compared() {
        let map = |name: &str, of: &str| json!({"kind": "A", "metadata": {"name": name}, "spec": {"of": of}});
        let state = |objects: &[Value]| normalise(objects.iter().map(|object| (object, true)), &Names::new());
        let mut mask = Mask::default();
        let one = state(&[map("b-k3x2p", "x"), map("a-web", "x")]);
        mask.add_differences(&one, &state(&[map("b-0qz7w", "x"), map("a-web", "x")]));
        let differences = |objects: &[Value]| mask.differences(&one, &state(objects));
        assert!(differences(&[map("b-aaaaa", "x"), map("a-web", "x")]).is_empty());
        assert_eq!(
            differences(&[map("b-aaaaa", "y")]),
            ["A a-web is missing", "A b-*: spec.of is y instead of x"]
        );
        let both = [map("b-aaaaa", "x"), map("b-bbbbb", "x"), map("a-web", "x")];
        assert_eq!(differences(&both), ["A b-* (2) is left over"]);
    }

    #[test]
    fn time_in_a_name_is_not_compared() {
        let now = Timestamp::now();
        let at = |text: &str| without_times(text.to_owned());
        assert_eq!(at(&format!("nightly-{}-x", now.as_second())), "nightly-<time>-x");
        assert_eq!(at(&now.as_millisecond().to_string()), "<time>");
        for format in ["%Y%m%d%H%M%S", "%Y%m%d-%H%M%S", "%Y%m%dt%H%M%S"] {
            assert_eq!(
                at(&now.strftime(&format!("a.%Y-{format}z")).to_string()),
                now.strftime("a.%Y-<time>z").to_string()
            );
        }
        assert_eq!(
            at("port-8080, 1234567890, 20200101-101010, v12"),
            "port-8080, 1234567890, 20200101-101010, v12"
        );
        let map = json!({"kind": "A", "metadata": {"name": format!("a-{}", now.as_second())}, "spec": {"at": now.as_second()}});
        assert_eq!(state(&map)["A a-<time>"]["spec.at"], "<time>");
    }

    #[test]
    fn object_may_be_as_it_was_before() {
        let object = |name: &str, x: u64| json!({"kind": "A", "metadata": {"name": name}, "spec": {"x": x}});
        let state = |objects: &[Value]| normalise(objects.iter().map(|object| (object, true)), &Names::new());
        let before = state(&[object("a", 1), object("b", 1)]);
        let (wanted, mask) = (state(&[object("b", 2)]), Mask::default());
        let differences = |found: &[Value]| {
            let found = state(found);
            mask.differences(&mask.nearest(&wanted, &before, &found), &found)
        };
        assert!(differences(&[object("a", 1), object("b", 2)]).is_empty());
        assert!(differences(&[object("b", 1)]).is_empty());
        assert_eq!(differences(&[object("a", 2)]), ["A a is left over", "A b is missing"]);
    }

    #[test]
    fn differences_name_object_and_field() {
        let one = state(&json!({"kind": "A", "metadata": {"name": "a"}, "spec": {"x": 1}}));
        let other = state(&json!({"kind": "A", "metadata": {"name": "a"}, "spec": {"x": 2}}));
        let mut mask = Mask::default();
        assert_eq!(mask.differences(&one, &other), ["A a: spec.x is 2 instead of 1"]);
        assert_eq!(mask.differences(&one, &State::new()), ["A a is missing"]);
        mask.add_differences(&one, &other);
        assert!(mask.differences(&one, &other).is_empty());
        let without = state(&json!({"kind": "A", "metadata": {"name": "a"}}));
        assert_eq!(mask.differences(&one, &without), ["A a: spec.x is nothing instead of 1"]);
    }
}
