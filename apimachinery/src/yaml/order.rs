//! The order of keys.

use std::cmp::Ordering;

/// Compares keys as goyaml does: digits compare as numbers, and letters follow other characters.
///
/// This is not a total order: `1x` < `01` < `100` < `1x`. The standard library's sorting may panic on it; `sort_keys` does not.
fn natural_order(a: &str, b: &str) -> Ordering {
    // The common case: keys differ in a letter, or one is a prefix of the other.
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => return a.len().cmp(&b.len()),
        Some((x, y)) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => return x.cmp(&y),
        Some(_) => {}
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let shared = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (Some(&x), Some(&y)) = (a.get(shared), b.get(shared)) else {
        return a.len().cmp(&b.len());
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    compare_numbers(&a, &b, shared).then(x.cmp(&y))
}

/// Compares the runs of digits at `at`, first as numbers and then by length.
fn compare_numbers(a: &[char], b: &[char], at: usize) -> Ordering {
    let run = |text: &[char]| text[at..].iter().take_while(|c| c.is_ascii_digit()).count();
    // A zero after digits belongs to the number before it: `10` and `1a` do not compare as `0` and an empty run.
    let inside_number = (a[at] == '0' || b[at] == '0')
        && a[..at].iter().rev().take_while(|c| c.is_ascii_digit()).any(|&c| c != '0');
    // Go's numbers wrap at 64 bits.
    let value = |text: &[char], digits: usize| {
        text[at..at + digits].iter().fold(i64::from(inside_number), |n, &c| {
            n.wrapping_mul(10).wrapping_add(i64::from(c.to_digit(10).unwrap_or(0)))
        })
    };
    let (digits_a, digits_b) = (run(a), run(b));
    value(a, digits_a).cmp(&value(b, digits_b)).then(digits_a.cmp(&digits_b))
}

/// Sorts keys by goyaml's comparison. Where that is circular, the result is deterministic.
pub(super) fn sort_keys(mut keys: Vec<&String>) -> Vec<&String> {
    if keys.len() < 2 {
        return keys;
    }
    let mut right = sort_keys(keys.split_off(keys.len() / 2)).into_iter().peekable();
    let mut out = Vec::with_capacity(keys.len() + right.len());
    for left in sort_keys(keys) {
        while let Some(key) = right.next_if(|key| natural_order(key, left).is_lt()) {
            out.push(key);
        }
        out.push(left);
    }
    out.extend(right);
    out
}
