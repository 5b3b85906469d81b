//! Bounds of sizes.

use serde_json::Value;

use crate::schema::{Keyword, Limit, Measure, Schema};
use crate::structural::cause::Cause;

/// The errors of a size, in the order of the table. `shown` is the value that the server shows if the size is too small.
pub(super) fn check_size(
    measure: Measure,
    schema: &Schema,
    path: &str,
    size: impl Fn() -> usize,
    shown: impl Fn() -> Value,
) -> Vec<Cause> {
    let check = |keyword: &Keyword| {
        let bound = keyword.count(schema)?;
        let size = i64::try_from(size()).unwrap_or(i64::MAX);
        match (keyword.limit?, measure) {
            (Limit::Least(_), _) if size >= bound => None,
            (Limit::Most(_), _) if size <= bound => None,
            (Limit::Most(_), Measure::Characters) => Some(Cause::too_long(path, bound)),
            (Limit::Most(_), _) => Some(Cause::too_many(path, size, bound)),
            (Limit::Least(_), Measure::Characters) => {
                let detail = format!("{path} in body should be at least {bound} chars long");
                Some(Cause::invalid(path, shown(), detail))
            }
            (Limit::Least(_), measure) => {
                let noun = if measure == Measure::Items { "items" } else { "properties" };
                let detail = format!("{path} in body should have at least {bound} {noun}");
                Some(Cause::invalid(path, shown(), detail))
            }
        }
    };
    Keyword::limits(measure).filter_map(check).collect()
}
