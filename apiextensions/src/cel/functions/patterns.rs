//! Regular expressions. An expression caches compiled patterns: compiling one takes far longer than the cost of a call
//! implies, and calls may be in nested loops.

use std::sync::{Arc, Mutex, PoisonError};

use kubesmith_goregex::Regex;

use super::{Called, no_overload};
use crate::cel::native::Form;
use crate::cel::value::Value;

/// The limit of cached patterns; it is low, since one may take megabytes.
const MAX_KEPT: usize = 32;

/// A pattern, or its error.
type Compiled = Result<Arc<Regex>, String>;

/// Compiled patterns, the latest used one first.
#[derive(Debug, Default)]
pub(in crate::cel) struct Patterns(Mutex<Vec<(String, Compiled)>>);

impl Patterns {
    fn get(&self, source: &str) -> Compiled {
        if let Some(compiled) = self.kept(source) {
            return compiled;
        }
        // Without the lock, so that other evaluations need not wait.
        let compiled = Regex::new(source).map(Arc::new).map_err(|error| error.to_string());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.truncate(MAX_KEPT - 1);
        all.insert(0, (source.to_owned(), compiled.clone()));
        compiled
    }

    fn kept(&self, source: &str) -> Option<Compiled> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == source)?;
        all.get_mut(..=at)?.rotate_right(1);
        all.first().map(|(_, compiled)| compiled.clone())
    }
}

/// Calls a function that takes a pattern.
pub(in crate::cel) fn search(patterns: &Patterns, function: &str, args: &[Value]) -> Called {
    let [Value::String(text), Value::String(source), rest @ ..] = args else { return no_overload() };
    let compiled = patterns.get(source);
    if function == "matches" {
        return Ok(Value::Bool(compiled?.is_match(text)));
    }
    let regex = compiled.map_err(|error| format!("Illegal regex: {error}"))?;
    if function == "find" {
        return Ok(Value::string(regex.find(text).unwrap_or_default()));
    }
    let limit = match rest {
        [Value::Int(n)] => usize::try_from(*n).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    Ok(Value::list_of(regex.find_iter(text).take(limit).map(Value::string).collect(), Form::Texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_compiled_once_and_the_oldest_is_dropped() {
        let patterns = Patterns::default();
        let first = patterns.get("^a$").unwrap();
        assert!(Arc::ptr_eq(&first, &patterns.get("^a$").unwrap()));
        assert!(patterns.get("(").is_err() && patterns.kept("(").is_some());
        (0..MAX_KEPT).for_each(|i| assert!(patterns.get(&format!("b{i}")).is_ok()));
        assert!(patterns.kept("^a$").is_none() && patterns.kept("b0").is_some());
        assert_eq!(patterns.0.lock().unwrap().len(), MAX_KEPT);
    }
}
