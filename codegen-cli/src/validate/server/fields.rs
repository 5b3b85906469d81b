//! Gives hints for unknown names in a rule.

use kubesmith_apiextensions::cel::{Decl, escape};
use kubesmith_apiextensions::structural::{Schema, Step};
use kubesmith_core::names::closest;

use super::habits;
use super::site::Site;

/// A field below the place of a rule.
struct Known<'s> {
    name: &'s str,
    /// Its name in expressions, if it has one.
    written: Option<String>,
    /// The untyped place that hides it from expressions.
    untyped: Option<Vec<Step>>,
    steps: Vec<Step>,
}

impl Known<'_> {
    /// Whether the name equals that in the expression, or continues it with characters that are invalid
    /// there: `my-field`.
    fn begins(&self, wanted: &str) -> bool {
        self.name
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '/']))
    }
}

/// The hint for `undefined field 'x'` or `undeclared reference to 'x'`.
pub(super) fn hint(site: &Site<'_>, message: &str) -> Option<String> {
    if let Some(rest) = message.strip_prefix("undeclared reference to '") {
        return undeclared(site, rest.split('\'').next()?);
    }
    if let Some(ty) = message.strip_suffix("' does not support field selection") {
        return Some(without_fields(site, ty.strip_prefix("type '")?));
    }
    let wanted = message.strip_prefix("undefined field '")?.strip_suffix('\'')?;
    let above = site.steps.iter().position(|step| matches!(step, Step::Property(name) if name == wanted));
    if let Some(above) = above.filter(|_| !site.node().properties.contains_key(wanted)) {
        return Some(match above + 1 == site.steps.len() {
            true => format!("the rule stands on `{wanted}`: `self` is its value, so leave out `.{wanted}`"),
            false => format!("the rule stands below `{wanted}`, where `self` is {}", site.name()),
        });
    }
    let mut fields = Vec::new();
    collect(site.node(), &site.steps, &mut fields);
    // The field nearest to the rule is the most likely one.
    fields.sort_by_key(|field| field.steps.len());
    if let Some(field) = fields.iter().find(|field| field.written.as_deref() == Some(wanted)) {
        return Some(match &field.untyped {
            Some(steps) => format!("{} has no type, and rules only see what has one", site.name_of(steps)),
            None => {
                let place = site.name_of(&field.steps);
                format!("the value before the dot has no such field; {place} has this name")
            }
        });
    }
    if let Some(field) = fields.iter().find(|field| field.begins(wanted)) {
        let place = site.name_of(&field.steps);
        return Some(match &field.written {
            Some(written) => format!("in rules, write `{written}` for {place}"),
            None => format!("rules cannot name {place}"),
        });
    }
    let mut names: Vec<&str> = fields
        .iter()
        .filter(|field| field.untyped.is_none())
        .filter_map(|field| field.written.as_deref())
        .collect();
    names.sort_unstable();
    closest(wanted, names.iter().copied()).map(|near| format!("did you mean `{near}`?"))
}

/// The hint for a field of a value that has none.
fn without_fields(site: &Site<'_>, ty: &str) -> String {
    if ty.starts_with("list") {
        return "a list has no fields: name an item with `self[0]`, or look at all with `self.all(item, ...)`".to_owned();
    }
    match site.node().properties.is_empty() && site.node().additional_schema().is_none() {
        true => format!(
            "the rule stands on {}, and `self` is its value: compare `self`, or put the rule on the struct to name other fields",
            site.name()
        ),
        false => format!("the value before the dot is of the type `{ty}`, which has no fields"),
    }
}

/// The hint for an unknown variable: a field of the value, or another variable or function.
fn undeclared(site: &Site<'_>, wanted: &str) -> Option<String> {
    let fields = site.node().properties.keys().filter_map(|name| escape(name));
    if let Some(field) = fields.into_iter().find(|field| field == wanted) {
        return Some(format!("the value is `self`: write `self.{field}`"));
    }
    let near = || closest(wanted, ["self", "oldSelf", "has", "size"]);
    habits::function(wanted).or_else(|| near().map(|near| format!("did you mean `{near}`?")))
}

fn collect<'s>(node: &'s Schema, steps: &[Step], out: &mut Vec<Known<'s>>) {
    let below = |step: Step| steps.iter().cloned().chain([step]).collect::<Vec<_>>();
    for (name, child) in &node.properties {
        let steps = below(Step::Property(name.clone()));
        collect(child, &steps, out);
        let unseen = Decl::of(child, child.embedded_resource, name).is_none();
        let untyped = unseen.then(|| without_type(child, steps.clone()));
        out.push(Known { name, written: escape(name), untyped, steps });
    }
    if let Some(items) = &node.items {
        collect(items, &below(Step::Items), out);
    }
    if let Some(values) = node.additional_schema() {
        collect(values, &below(Step::Values), out);
    }
}

/// The untyped node: this one, or one in its items or values.
fn without_type(node: &Schema, mut steps: Vec<Step>) -> Vec<Step> {
    let below = match (&node.items, node.additional_schema()) {
        (Some(items), _) => (items.as_ref(), Step::Items),
        (None, Some(values)) => (values, Step::Values),
        (None, None) => return steps,
    };
    steps.push(below.1);
    without_type(below.0, steps)
}
