//! The table of diagnostic codes. A code, once released, keeps its meaning.

mod table;

use std::fmt;

pub use table::CODES;

/// A stable diagnostic code, displayed as `KS0001`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

/// The description of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// A few words.
    pub title: &'static str,
    /// A paragraph: the rule, its reason and how to keep it.
    pub help: &'static str,
}

impl Code {
    /// The number: 2 of `KS0002`.
    pub fn number(self) -> u16 {
        self.0
    }

    /// The row of the code in the table.
    pub fn info(self) -> &'static CodeInfo {
        match CODES.binary_search_by_key(&self, |info| info.code) {
            Ok(index) => &CODES[index],
            // Only the macro below makes codes, so each has a row.
            Err(_) => &CODES[0],
        }
    }

    /// Finds a code by its text, `KS0002` in either case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("KS").or_else(|| text.strip_prefix("ks"))?;
        let number = digits.parse::<u16>().ok()?;
        CODES.iter().map(|info| info.code).find(|code| code.0 == number && code.to_string()[2..] == *digits)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KS{:04}", self.0)
    }
}

#[cfg(test)]
mod tests;
