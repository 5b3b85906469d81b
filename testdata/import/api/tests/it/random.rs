//! Random objects that a schema accepts, and whether a Rust type keeps them.

use std::fmt::Write as _;
use std::sync::Arc;

use kubesmith_apiextensions::schema::Number as Bound;
use kubesmith_apiextensions::structural::{
    Additional, ListType, Schema, apply_defaults, prune, validate, validate_lists,
};
use kubesmith_goregex::to_hir;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Number, Value, json};

/// How often a value is tried that has to fit a pattern or alternatives.
const TRIES: usize = 12;
/// Below this depth only what is required is there.
const DEEPEST: usize = 9;
/// Longest text of a pattern, in bytes.
const LONGEST: usize = 200;

/// Texts of every format that an API server knows.
const FORMATS: &[&str] = &[
    "2030-01-01T00:00:00Z",
    "1999-12-31T23:59:59Z",
    "2030-01-01",
    "1h30m0s",
    "30s",
    "192.0.2.1",
    "2001:db8::1",
    "192.0.2.0/24",
    "https://example.com/a?b=c",
    "user@example.com",
    "example.com",
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "ZXhhbXBsZQ==",
    "",
    "02:00:5e:10:00:00",
    "978-3-16-148410-0",
    "#ffffff",
    "100m",
    "1Gi",
    "example",
];

/// Texts without a rule.
const TEXTS: &[&str] = &[
    "",
    "a",
    "example",
    "Zwölf Boxkämpfer \u{1f98a}",
    "a\nb\t\"c\" \\",
    "null",
    "true",
    "0",
    " ",
];

/// Values that are made for an object before no more than what is required is made.
const SIZE: usize = 1_000;
/// Values that are made for an object before it is given up.
const WORK: usize = 20_000;

/// Random choices from a seed: SplitMix64.
pub(crate) struct Random {
    state: u64,
    made: usize,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            made: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }

    /// Whether only what is required is to be made.
    fn is_enough(&self, depth: usize) -> bool {
        depth > DEEPEST || self.made > SIZE
    }

    /// Once in `n` times.
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// An object of a kind as an API server would store it: valid, pruned and with its defaults. Rules in CEL are not asked: no type
/// depends on them. `None`: none was found.
pub(crate) fn object(
    schema: &Schema,
    api_version: &str,
    kind: &str,
    random: &mut Random,
) -> Option<Value> {
    let mut own = schema.clone();
    for name in ["apiVersion", "kind", "metadata"] {
        own.properties.remove(name);
        own.required.retain(|required| required != name);
    }
    let Value::Object(mut members) = random.value(&own, 0)? else {
        return None;
    };
    members.insert("apiVersion".to_string(), api_version.into());
    members.insert("kind".to_string(), kind.into());
    members.insert("metadata".to_string(), metadata(random));
    let mut object = Value::Object(members);
    prune(schema, &mut object);
    apply_defaults(schema, &mut object);
    fits(schema, &object).then_some(object)
}

fn metadata(random: &mut Random) -> Value {
    let mut out = json!({"name": "example"});
    if random.once_in(2) {
        out["namespace"] = "default".into();
        out["labels"] = json!({"app.kubernetes.io/name": "example", "empty": ""});
    }
    if random.once_in(3) {
        out["generation"] = 3.into();
        out["creationTimestamp"] = "2030-01-01T00:00:00Z".into();
        out["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "b", "controller": true}]);
    }
    out
}

fn fits(schema: &Schema, value: &Value) -> bool {
    validate(schema, value).is_empty() && validate_lists(schema, value).is_empty()
}

impl Random {
    /// A value for the schema; `None` if none was found.
    fn value(&mut self, schema: &Schema, depth: usize) -> Option<Value> {
        self.made += 1;
        if self.made > WORK {
            return None;
        }
        if schema.nullable && self.once_in(8) {
            return Some(Value::Null);
        }
        if let Some(default) = schema.default.as_ref().filter(|_| self.once_in(6)) {
            return Some(default.clone());
        }
        let has_branches = [&schema.all_of, &schema.any_of, &schema.one_of]
            .iter()
            .any(|branches| !branches.is_empty());
        if !has_branches {
            return self.tried(schema, schema, depth);
        }
        (0..TRIES).find_map(|_| {
            let chosen = self.chosen(schema);
            self.tried(&chosen, schema, depth)
        })
    }

    /// A value made of `chosen` that `schema` accepts.
    fn tried(&mut self, chosen: &Schema, schema: &Schema, depth: usize) -> Option<Value> {
        (0..TRIES).find_map(|_| {
            let value = self.made(chosen, depth)?;
            fits(schema, &value).then_some(value)
        })
    }

    /// The schema with what one of each of its branches adds.
    fn chosen(&mut self, schema: &Schema) -> Schema {
        let mut out = schema.clone();
        let mut branches = std::mem::take(&mut out.all_of);
        for alternatives in [
            std::mem::take(&mut out.any_of),
            std::mem::take(&mut out.one_of),
        ] {
            if !alternatives.is_empty() && !schema.int_or_string {
                branches.push(self.one(&alternatives).clone());
            }
        }
        for branch in branches {
            let branch = self.chosen(&branch);
            absorb(&mut out, &branch);
        }
        // What may not be given together is mostly left out.
        for name in schema
            .not
            .iter()
            .flat_map(|not| &not.required)
            .chain(out.not.iter().flat_map(|n| &n.required))
        {
            if self.once_in(2) && !out.required.contains(name) {
                out.properties.remove(name);
                break;
            }
        }
        out
    }

    fn made(&mut self, schema: &Schema, depth: usize) -> Option<Value> {
        if !schema.allowed_values().is_empty() {
            return Some(self.one(schema.allowed_values()).clone());
        }
        if schema.int_or_string {
            let is_text = self.once_in(2);
            return if is_text {
                self.text(schema).map(Value::from)
            } else {
                Some(self.below(70_000).into())
            };
        }
        match schema.type_name() {
            "string" => self.text(schema).map(Value::from),
            "integer" => Some(self.integer(schema)),
            "number" => Some(self.number(schema)),
            "boolean" => Some(self.once_in(2).into()),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => Some(self.anything(0)),
        }
    }

    /// Any JSON.
    fn anything(&mut self, depth: usize) -> Value {
        match self.below(if depth > 2 { 5 } else { 7 }) {
            0 => Value::Bool(true),
            1 => (*self.one(&[0, -1, 7, i64::MAX, i64::MIN])).into(),
            2 => json!(1.5),
            3 | 4 => (*self.one(TEXTS)).into(),
            5 => (0..self.below(3))
                .map(|_| self.anything(depth + 1))
                .collect(),
            _ => Value::Object(
                (0..self.below(3))
                    .map(|at| (format!("any{at}"), self.anything(depth + 1)))
                    .collect(),
            ),
        }
    }

    fn text(&mut self, schema: &Schema) -> Option<String> {
        let least = usize::try_from(schema.min_length.unwrap_or(0)).unwrap_or(0);
        let most = usize::try_from(schema.max_length.unwrap_or(1_000)).unwrap_or(1_000);
        let text = if let Some(pattern) = schema.pattern.as_ref().filter(|_| !self.once_in(4)) {
            let hir = to_hir(pattern.source()).ok()?;
            let mut out = String::new();
            let more = *self.one(&[0, 1, 3, least]);
            self.matching(&hir, more, &mut out)?;
            out
        } else if schema.format.is_some() || schema.pattern.is_some() {
            (*self.one(FORMATS)).to_string()
        } else {
            (*self.one(TEXTS)).to_string()
        };
        let padding = least.saturating_sub(text.chars().count());
        Some(
            text.chars()
                .chain("x".repeat(padding).chars())
                .take(most)
                .collect(),
        )
    }

    /// Appends a text that the expression matches.
    fn matching(&mut self, hir: &Hir, more: usize, out: &mut String) -> Option<()> {
        if out.len() > LONGEST {
            return None;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => out.push(self.character(class)?),
            HirKind::Repetition(repetition) => {
                let least = repetition.min as usize;
                let most = repetition
                    .max
                    .map_or(usize::MAX, |most| most as usize)
                    .min(least + more + 1);
                let times = least + self.below(most.saturating_sub(least) + 1);
                for _ in 0..times {
                    self.matching(&repetition.sub, more, out)?;
                }
            }
            HirKind::Capture(capture) => self.matching(&capture.sub, more, out)?,
            HirKind::Concat(parts) => {
                for part in parts {
                    self.matching(part, more, out)?;
                }
            }
            HirKind::Alternation(branches) => {
                let at = self.below(branches.len());
                self.matching(branches.get(at)?, more, out)?;
            }
        }
        Some(())
    }

    fn character(&mut self, class: &Class) -> Option<char> {
        let Class::Unicode(class) = class else {
            return None;
        };
        let plain = class
            .ranges()
            .iter()
            .filter(|range| range.start() < '\u{7f}')
            .count();
        let at = self.below(if plain > 0 {
            plain
        } else {
            class.ranges().len()
        });
        let range = class.ranges().get(at)?;
        let (start, end) = (
            range.start() as u32,
            (range.end() as u32).min(0x7e).max(range.start() as u32),
        );
        let length = usize::try_from(end - start + 1).ok()?;
        char::from_u32(start + u32::try_from(self.below(length)).ok()?)
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "bounds of integers are within their range"
    )]
    fn integer(&mut self, schema: &Schema) -> Value {
        let (mut least, mut most) = match schema.format_name() {
            "int32" => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        if let Some(minimum) = schema.minimum.as_ref().map(Bound::float) {
            least = least.max(minimum.ceil() as i64);
        }
        if let Some(maximum) = schema.maximum.as_ref().map(Bound::float) {
            most = most.min(maximum.floor() as i64);
        }
        let step = schema
            .multiple_of
            .as_ref()
            .map_or(1, |step| (step.float() as i64).max(1));
        let near = least
            .max(0)
            .saturating_add(i64::try_from(self.below(100)).unwrap_or(0));
        let value = *self.one(&[least, most, near, near]);
        (value.clamp(least, most.max(least)) / step * step).into()
    }

    fn number(&mut self, schema: &Schema) -> Value {
        let step = schema.multiple_of.as_ref().map_or(0.25, Bound::float);
        let least = schema
            .minimum
            .as_ref()
            .map_or(-1e6, Bound::float)
            .max(-1e300);
        let most = schema
            .maximum
            .as_ref()
            .map_or(least + 2e6, Bound::float)
            .min(1e300);
        let some = least + (self.below(1_000) as f64) * step;
        let value = *self.one(&[least, most, some, some.floor()]);
        Number::from_f64((value / step).round() * step).map_or(Value::Null, Value::Number)
    }

    fn array(&mut self, schema: &Schema, depth: usize) -> Option<Value> {
        let least = usize::try_from(schema.min_items.unwrap_or(0)).unwrap_or(0);
        let most = usize::try_from(schema.max_items.unwrap_or(1_000)).unwrap_or(1_000);
        let more = if self.is_enough(depth) {
            0
        } else {
            self.below(3)
        };
        let mut out: Vec<Value> = Vec::new();
        let empty = Schema::default();
        let items = schema.items.as_deref().unwrap_or(&empty);
        for _ in 0..(least + more).min(most) {
            let Some(item) = self.value(items, depth + 1) else {
                continue;
            };
            out.push(item);
            // Sets, and lists with keys, have nothing twice.
            if schema.effective_list_type() != ListType::Atomic
                && !validate_lists(schema, &json!(out)).is_empty()
            {
                out.pop();
            }
        }
        (out.len() >= least).then(|| out.into())
    }

    fn object(&mut self, schema: &Schema, depth: usize) -> Option<Value> {
        let mut out = Map::new();
        if schema.embedded_resource {
            out.insert("apiVersion".to_string(), "v1".into());
            out.insert("kind".to_string(), "ConfigMap".into());
            out.insert("metadata".to_string(), json!({"name": "example"}));
        }
        let rarity = 1 + depth / 3 + self.below(2);
        for (name, property) in &schema.properties {
            let is_required = schema.required.contains(name);
            if !is_required && (self.is_enough(depth) || self.once_in(2) || !self.once_in(rarity)) {
                continue;
            }
            match self.value(property, depth + 1) {
                Some(value) => {
                    out.insert(name.clone(), value);
                }
                None if is_required => return None,
                None => {}
            }
        }
        match &schema.additional_properties {
            Some(Additional::Schema(values)) => self.entries(schema, values, depth, &mut out),
            Some(Additional::Allowed(true)) => {
                self.entries(schema, &Schema::default(), depth, &mut out)
            }
            _ if schema.preserve_unknown_fields => {
                self.entries(schema, &Schema::default(), depth, &mut out)
            }
            _ => {}
        }
        Some(Value::Object(out))
    }

    fn entries(
        &mut self,
        schema: &Schema,
        values: &Schema,
        depth: usize,
        out: &mut Map<String, Value>,
    ) {
        let least = usize::try_from(schema.min_properties.unwrap_or(0)).unwrap_or(0);
        let most = usize::try_from(schema.max_properties.unwrap_or(100)).unwrap_or(100);
        let more = if self.is_enough(depth) {
            0
        } else {
            self.below(3)
        };
        for at in 0..(least + more).min(most) {
            let name = if at == 0 && self.once_in(4) {
                "some.key/of-a map".to_string()
            } else {
                format!("key{at}")
            };
            if let Some(value) = self.value(values, depth + 1) {
                out.entry(name).or_insert(value);
            }
        }
    }
}

/// Adds the restrictions of a branch.
fn absorb(schema: &mut Schema, branch: &Schema) {
    schema.required.extend(branch.required.iter().cloned());
    for (name, property) in &branch.properties {
        match schema.properties.get_mut(name) {
            Some(known) => absorb(Arc::make_mut(known), property),
            None => {
                schema.properties.insert(name.clone(), property.clone());
            }
        }
    }
    if let (Some(items), Some(more)) = (schema.items.as_deref_mut(), branch.items.as_deref()) {
        absorb(items, more);
    }
    if schema.type_.is_none() {
        schema.type_.clone_from(&branch.type_);
    }
    if !branch.allowed_values().is_empty() {
        schema.enum_.clone_from(&branch.enum_);
    }
    if branch.not.is_some() {
        schema.not.clone_from(&branch.not);
    }
    schema.pattern = branch.pattern.clone().or(schema.pattern.take());
    if schema.format.is_none() {
        schema.format.clone_from(&branch.format);
    }
    let larger = |a: Option<i64>, b: Option<i64>| a.max(b);
    let smaller = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a.min(b)).or(a).or(b);
    schema.min_length = larger(schema.min_length, branch.min_length);
    schema.max_length = smaller(schema.max_length, branch.max_length);
    schema.min_items = larger(schema.min_items, branch.min_items);
    schema.max_items = smaller(schema.max_items, branch.max_items);
    schema.min_properties = larger(schema.min_properties, branch.min_properties);
    schema.max_properties = smaller(schema.max_properties, branch.max_properties);
    schema.minimum = branch.minimum.clone().or(schema.minimum.take());
    schema.maximum = branch.maximum.clone().or(schema.maximum.take());
}

/// The first place where what came back is not what was given, as text.
///
/// Numbers are compared by their value. A quantity that was a number comes back as text, as from Go's type; a null in an optional
/// field that has no default comes back as absence.
pub(crate) fn difference(
    schema: Option<&Schema>,
    given: &Value,
    back: &Value,
    path: &str,
) -> Option<String> {
    match (given, back) {
        (Value::Object(given), Value::Object(back)) => {
            let names = given
                .keys()
                .chain(back.keys().filter(|name| !given.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let field = schema.and_then(|schema| schema.field(name));
                let path = format!("{path}.{name}");
                match (given.get(name), back.get(name)) {
                    (Some(given), Some(back)) => difference(field, given, back, &path),
                    (Some(Value::Null), None)
                        if field.is_some_and(|field| field.default.is_none()) =>
                    {
                        None
                    }
                    (given, back) => Some(told(&path, given, back)),
                }
            })
        }
        (Value::Array(given), Value::Array(back)) if given.len() == back.len() => {
            let items = schema.and_then(|schema| schema.items.as_deref());
            given
                .iter()
                .zip(back)
                .enumerate()
                .find_map(|(at, (given, back))| {
                    difference(items, given, back, &format!("{path}[{at}]"))
                })
        }
        (Value::Number(a), Value::Number(b))
            if a == b || a.as_f64() == b.as_f64() && a.is_f64() != b.is_f64() =>
        {
            None
        }
        (Value::Number(number), Value::String(text))
            if *text == number.to_string() && schema.is_some_and(|schema| schema.int_or_string) =>
        {
            None
        }
        (given, back) => (given != back).then(|| told(path, Some(given), Some(back))),
    }
}

fn told(path: &str, given: Option<&Value>, back: Option<&Value>) -> String {
    let mut out = String::new();
    let text = |value: Option<&Value>| value.map_or("nothing".to_string(), Value::to_string);
    let _ = write!(out, "{path}: {} became {}", text(given), text(back));
    out
}
