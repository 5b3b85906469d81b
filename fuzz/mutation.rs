//! Changes of text that leave most of it whole: tokens, groups in brackets and lines go, double, swap places or are
//! replaced by others. Fuzz targets and tests include this file.

use std::ops::Range;

/// Numbers that follow from a seed alone.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if that is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }
}

/// Words that code trips over, in whatever language.
const ODD: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "#",
    ",",
    ";",
    ":",
    "::",
    ".",
    "=",
    "-",
    "!",
    "&",
    "|",
    "?",
    "+",
    "*",
    "\\",
    "/*",
    "//",
    "/// +",
    "\0",
    "\u{feff}",
    "é",
    "\u{202e}",
    "\r",
    "\n",
    " ",
    "_",
    "-1",
    "0",
    "1e999",
    "1e-999",
    "0.1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "true",
    "null",
    "\"\"",
    "\"a\"",
    "r#",
];

/// The longest that something repeated gets, in bytes.
const MOST: usize = 100_000;

/// Changes `text` in one to four places. `other` gives parts of its own, `words` are what the language knows.
pub(crate) fn mutate(text: &str, other: &str, words: &[&str], seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        text = change(&text, other, words, &mut random);
    }
    text
}

fn change(text: &str, other: &str, words: &[&str], random: &mut Random) -> String {
    match random.below(16) {
        0..=8 => change_piece(text, other, words, random),
        9..=13 => change_lines(text, other, random),
        14 => splice(text, other, random),
        _ => change_char(text, random),
    }
}

/// Works on a token, or on all of a group when the token opens one.
fn change_piece(text: &str, other: &str, words: &[&str], random: &mut Random) -> String {
    let tokens = tokens(text);
    let at = piece(text, &tokens, random.below(tokens.len()));
    let own = &text[at.clone()];
    match random.below(8) {
        0 => replaced(text, at, ""),
        1 => replaced(text, at.end..at.end, own),
        2 => {
            let with = piece(text, &tokens, random.below(tokens.len()));
            let (first, second) = if at.start <= with.start { (at, with) } else { (with, at) };
            // What lies within the other cannot swap with it.
            if first.end > second.start {
                return replaced(text, second, &text[first]);
            }
            let moved = replaced(text, second.clone(), &text[first.clone()]);
            replaced(&moved, first, &text[second])
        }
        3 => {
            let others = self::tokens(other);
            let with = piece(other, &others, random.below(others.len()));
            replaced(text, at, &other[with])
        }
        4 | 5 => replaced(text, at, &word(words, random)),
        6 => replaced(text, at.end..at.end, &format!(" {} ", word(words, random))),
        _ => repeated(text, &tokens, at, random),
    }
}

fn word(words: &[&str], random: &mut Random) -> String {
    let from = if random.one_in(2) && !words.is_empty() { words } else { ODD };
    from[random.below(from.len())].to_owned()
}

/// Says one to three tokens again and again; for brackets that nests, if they are closed as often.
fn repeated(text: &str, tokens: &[Range<usize>], at: Range<usize>, random: &mut Random) -> String {
    let times = if random.one_in(32) { 20_000 } else { 2 + random.below(200) };
    let first = tokens.iter().position(|token| token.start == at.start).unwrap_or(0);
    let last = (first + random.below(3)).min(tokens.len().saturating_sub(1));
    let Some(own) = tokens.get(first).zip(tokens.get(last)).map(|(a, b)| a.start..b.end) else {
        return text.to_owned();
    };
    let times = times.min(MOST / own.len()).max(1);
    let many = text[own.clone()].repeat(times);
    let close = match text[own.clone()].chars().next() {
        Some('(') => ")",
        Some('[') => "]",
        Some('{') => "}",
        Some('<') => ">",
        _ => "",
    };
    let end = at.end.max(own.end);
    let (before, inside, after) = (&text[..own.start], &text[own.end..end], &text[end..]);
    format!("{before}{many}{inside}{}{after}", close.repeat(times - 1))
}

fn change_lines(text: &str, other: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let others: Vec<&str> = other.split_inclusive('\n').collect();
    if lines.is_empty() || others.is_empty() {
        return other.to_owned();
    }
    let (at, with) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(5) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(with, lines[at]),
        2 => lines.swap(at, with),
        3 => lines.insert(at, others[random.below(others.len())]),
        _ => lines[at] = others[random.below(others.len())],
    }
    lines.concat()
}

/// The beginning of one and the end of the other.
fn splice(text: &str, other: &str, random: &mut Random) -> String {
    let (lines, others): (Vec<&str>, Vec<&str>) =
        (text.split_inclusive('\n').collect(), other.split_inclusive('\n').collect());
    lines[..random.below(lines.len() + 1)].concat() + &others[random.below(others.len() + 1)..].concat()
}

fn change_char(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return text.to_owned();
    }
    let at = random.below(chars.len());
    match random.below(3) {
        0 => drop(chars.remove(at)),
        1 => chars.insert(at, chars[random.below(chars.len())]),
        _ => chars[at] = char::from_u32(u32::try_from(random.below(0x3000)).unwrap_or(0)).unwrap_or('x'),
    }
    chars.into_iter().collect()
}

fn replaced(text: &str, at: Range<usize>, with: &str) -> String {
    [&text[..at.start], with, &text[at.end..]].concat()
}

/// Words, strings on one line, and single characters; spaces belong to no token.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match c {
            '"' => string(rest),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        if !c.is_whitespace() {
            out.push(at..at + length);
        }
        at += length;
    }
    out
}

/// Length of the string that begins here, or of its quote if it does not end on the line.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            '\n' => break,
            _ => {}
        }
    }
    1
}

/// The token, up to the bracket that closes it if it opens a group.
fn piece(text: &str, tokens: &[Range<usize>], index: usize) -> Range<usize> {
    let Some(first) = tokens.get(index) else { return text.len()..text.len() };
    let mut depth = 0_usize;
    for token in &tokens[index..] {
        match &text[token.clone()] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return first.start..token.end;
        }
    }
    first.clone()
}
