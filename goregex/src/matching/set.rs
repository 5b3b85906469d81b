//! Sets of code points, with the tables of Unicode 15.0, which Go 1.26 has.

use std::sync::LazyLock;

use regex_syntax::hir::{Class as AnyClass, ClassUnicode, ClassUnicodeRange, HirKind};

use crate::ast::{Class, Item};
use crate::unicode::{self, Named};

/// The first and the last surrogate, which no text contains.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// The characters of a class.
pub(super) fn of(class: &Class) -> ClassUnicode {
    let mut set = ClassUnicode::empty();
    for item in &class.items {
        set.union(&of_item(item));
    }
    negated(set, class.negated)
}

/// Returns the characters of a range; with `fold_case`, also those that differ only in case.
pub(super) fn range(first: u32, last: u32, fold_case: bool) -> ClassUnicode {
    let below = (first, last.min(SURROGATES.0 - 1));
    let above = (first.max(SURROGATES.1 + 1), last);
    let ranges = [below, above].into_iter().filter_map(|(first, last)| {
        let (first, last) = (char::from_u32(first)?, char::from_u32(last)?);
        (first <= last).then(|| ClassUnicodeRange::new(first, last))
    });
    folded(ClassUnicode::new(ranges), fold_case)
}

fn of_item(item: &Item) -> ClassUnicode {
    match item {
        Item::Range { first, last, fold_case } => range(*first, *last, *fold_case),
        Item::Ascii { ranges, negated: is_negated, fold_case } => {
            let ranges =
                ranges.iter().map(|(first, last)| ClassUnicodeRange::new((*first).into(), (*last).into()));
            negated(folded(ClassUnicode::new(ranges), *fold_case), *is_negated)
        }
        Item::Unicode { name, negated: is_negated, fold_case } => {
            let Some(named) = unicode::named(name) else { return ClassUnicode::empty() };
            // Go has no table of the characters that fold to cased letters.
            let folds = *fold_case && named != Named::Category("Lc");
            negated(folded(of_named(named), folds), *is_negated)
        }
        Item::Class(class) => of(class),
    }
}

fn negated(mut set: ClassUnicode, is_negated: bool) -> ClassUnicode {
    if is_negated {
        set.negate();
    }
    set
}

/// The set with the characters that differ only in case, by the pairs of Unicode 15.0.
fn folded(set: ClassUnicode, fold_case: bool) -> ClassUnicode {
    let mut folded = set.clone();
    folded.intersect(&ASSIGNED);
    if !fold_case || folded.try_case_fold_simple().is_err() {
        return set;
    }
    folded.intersect(&ASSIGNED);
    folded.union(&set);
    folded
}

/// The one character whose category changed since: from Mn to Mc.
const MOVED: u32 = 0x1171E;

/// Characters that are assigned in Unicode 15.0.
static ASSIGNED: LazyLock<ClassUnicode> = LazyLock::new(|| table("age=15.0"));

fn of_named(named: Named) -> ClassUnicode {
    let assigned = || {
        let mut set = table("gc=Cn");
        set.negate();
        set.intersect(&ASSIGNED);
        set
    };
    match named {
        Named::Any => range(0, crate::ast::MAX, false),
        Named::Ascii => range(0, 0x7F, false),
        Named::Assigned => assigned(),
        Named::Category("Cn") => negated(assigned(), true),
        Named::Category("C") => {
            let mut set = table("gc=C");
            set.union(&negated(assigned(), true));
            set
        }
        // Surrogates are no characters.
        Named::Category("Cs") => ClassUnicode::empty(),
        Named::Category(name) => {
            let mut set = of_15(&format!("gc={name}"));
            match name {
                "Mn" => set.union(&range(MOVED, MOVED, false)),
                "Mc" => set.difference(&range(MOVED, MOVED, false)),
                _ => {}
            }
            set
        }
        Named::Script(name) => of_15(&format!("sc={name}")),
    }
}

fn of_15(query: &str) -> ClassUnicode {
    let mut set = table(query);
    set.intersect(&ASSIGNED);
    set
}

/// A table of regex-syntax, which are of a later version of Unicode.
fn table(query: &str) -> ClassUnicode {
    let parsed = regex_syntax::parse(&format!(r"\p{{{query}}}"));
    match parsed.map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(AnyClass::Unicode(set))) => set,
        // A class of one character.
        Ok(HirKind::Literal(literal)) => {
            let text = String::from_utf8_lossy(&literal.0);
            ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c)))
        }
        _ => ClassUnicode::empty(),
    }
}
