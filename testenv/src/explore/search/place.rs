//! The places of a schedule that is replayed.

use crate::explore::oracle::Failure;
use crate::explore::plan::Plan;
use crate::explore::run::Outcome;

/// The limit of named places.
const SHOWN: usize = 3;

/// Returns the first place of a schedule that its run does not have: then the fault did not happen, and that nothing fails
/// says nothing. A run that fails may end before the place.
pub(super) fn missing(plan: &Plan, outcome: &Outcome) -> Option<Failure> {
    if outcome.failure.is_some() {
        return None;
    }
    if let Some(number) = plan.invalid.filter(|_| outcome.variants.invalid.is_none()) {
        return Some(Failure::NoPlace { place: format!("invalid@{number}"), nearest: Vec::new() });
    }
    let is_there = |place: &str| outcome.sites.iter().any(|site| site.name == place);
    let place = plan.faults.iter().map(|planned| &planned.site).find(|place| !is_there(place))?;
    let mut nearest: Vec<&str> = outcome.sites.iter().map(|site| site.name.as_str()).collect();
    nearest.sort_by_key(|name| std::cmp::Reverse(likeness(place, name)));
    nearest.truncate(SHOWN);
    let nearest = nearest.into_iter().map(str::to_owned).collect();
    Some(Failure::NoPlace { place: place.clone(), nearest })
}

/// Returns how many characters two names have in common at their ends.
fn likeness(one: &str, other: &str) -> usize {
    let same = |(a, b): &(char, char)| a == b;
    let prefix = one.chars().zip(other.chars()).take_while(same).count();
    prefix + one.chars().rev().zip(other.chars().rev()).take_while(same).count()
}
