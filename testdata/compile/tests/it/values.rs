//! Values of the fields of gates, and choices among them.

use serde_json::{Value, json};

/// What each field of a spec may be: fine, wrong, or fine by itself.
pub(crate) fn spec_values() -> Vec<(&'static str, Vec<Value>)> {
    let lock = |name: &str, turns: i32| json!({"name": name, "turns": turns});
    let step = |low: i32, high: i32| json!({"low": low, "high": high});
    let text = |text: &str| json!({"text": text});
    vec![
        (
            "guards",
            vec![json!(0), json!(3), json!(10), json!(11), json!(-1), json!("many"), json!(2.5), Value::Null],
        ),
        ("most", vec![json!(1), json!(3), json!(20), json!(3_000_000_000_i64)]),
        ("width", vec![json!(5), json!(95), json!(7), json!(0), json!(100), json!(2.5)]),
        (
            "motto",
            vec![
                json!("ad"),
                json!("astra"),
                json!("a"),
                json!("too long for it"),
                json!("AB"),
                json!("\u{e9}\""),
            ],
        ),
        ("mode", vec![json!("Open"), json!("Shut"), json!("Ajar"), Value::Null]),
        ("material", vec![json!("oak"), json!("iron"), json!("gold")]),
        ("address", vec![json!("10.0.0.1"), json!("10.0.0"), json!("::1")]),
        ("built", vec![json!("2026-01-01T00:00:00Z"), json!("yesterday")]),
        (
            "locks",
            vec![
                json!([]),
                json!([lock("a", 1)]),
                json!([lock("a", 2), lock("b", 1)]),
                json!([lock("b", 1), lock("a", 1)]),
                json!([lock("a", 1), lock("a", 2)]),
                json!([lock("", 0)]),
                json!([{"turns": 1}]),
                json!(["a"]),
                json!([lock("a", 1), lock("b", 1), lock("c", 1), lock("d", 0)]),
            ],
        ),
        (
            "colors",
            vec![json!(["red"]), json!(["red", "red"]), json!(["purple"]), json!(["a", "b", "c", "d", "e"])],
        ),
        (
            "steps",
            vec![
                json!([]),
                json!([step(1, 2)]),
                json!([step(3, 2)]),
                json!([step(1, 10)]),
                json!([step(3, 2), step(4, 2)]),
            ],
        ),
        (
            "signs",
            vec![
                json!({}),
                json!({"a": text("x")}),
                json!({"a": text(""), "b": text("")}),
                json!({"a": text("x"), "b": text(""), "c": {}}),
            ],
        ),
        (
            "way",
            vec![json!({"road": "r"}), json!({"river": "r"}), json!({}), json!({"road": "r", "river": "r"})],
        ),
        (
            "toll",
            vec![
                json!({"coins": 1}),
                json!({"goods": {"name": "eggs"}}),
                json!({}),
                json!({"coins": 1, "goods": {"name": "eggs"}}),
                json!({"coins": "one"}),
                json!({"goods": {}}),
            ],
        ),
        ("builder", vec![json!("tom"), json!("tim"), json!("somebody else")]),
        ("height", vec![json!(0), json!(1), json!(5)]),
        ("visitors", vec![json!(0), json!(1), json!(5)]),
        ("share", vec![json!(5), json!("5%"), json!(1.5), json!(true)]),
        ("note", vec![Value::Null, json!("abc"), json!("abcde")]),
        ("extra", vec![json!({}), json!({"a": [1, {"b": null}]}), json!("x")]),
        (
            "statue",
            vec![
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": 1}),
                json!({}),
                json!({"apiVersion": "v1", "kind": "no kind"}),
                json!({"apiVersion": "a/b/c", "kind": "K"}),
                json!({"apiVersion": "v1", "kind": "K", "metadata": {"labels": {"a b": "c d"}}}),
                json!({"apiVersion": "v1", "kind": "K", "metadata": {"labels": {"a": 1}}}),
            ],
        ),
        ("unknown", vec![json!(1)]),
    ]
}

pub(crate) fn status_values() -> Vec<(&'static str, Vec<Value>)> {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    vec![
        ("phase", vec![json!("Manned"), json!("Abandoned"), json!("Lost")]),
        ("guards", vec![json!(0), json!(2), json!(9), json!(-1), json!("x")]),
        (
            "conditions",
            vec![
                json!([condition("Up")]),
                json!([condition("Up"), condition("Up")]),
                json!([{"type": "Up"}]),
                json!([condition("")]),
            ],
        ),
    ]
}

pub(crate) fn metadata_values() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("labels", vec![json!({"a": "b"}), json!({"a b": "c d"}), json!({"a": 1})]),
        ("annotations", vec![json!({"a": "b"}), json!({"a b": ""})]),
        ("finalizers", vec![json!(["example.com/a"]), json!(["mine"])]),
        ("generateName", vec![json!("gate-"), json!("Gate-")]),
    ]
}

/// Numbers that are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    /// Sets each field, leaves it as it was, or removes it. The first value of each is the likeliest, so that there are
    /// objects with few faults.
    pub(crate) fn change(&mut self, object: &mut Value, values: &[(&'static str, Vec<Value>)], often: usize) {
        let map = object.as_object_mut().unwrap();
        for (name, values) in values {
            match self.roll(often) {
                0 => drop(map.remove(*name)),
                1 => drop(map.insert((*name).to_owned(), values[self.roll(values.len())].clone())),
                2 => drop(map.insert((*name).to_owned(), values[0].clone())),
                _ => {}
            }
        }
    }
}
