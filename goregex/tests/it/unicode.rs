//! The classes of Unicode against those of Go 1.26.6: `testdata/unicode.txt` has for each name the number of characters and
//! the CRC-32 of their UTF-8 in order, without and with `(?i)`.

use kubesmith_goregex::{check, to_hir};
use regex_syntax::hir::{Class, HirKind};

fn count_and_sum(pattern: &str) -> (usize, u32) {
    let hir = to_hir(pattern).expect(pattern);
    let set = match hir.kind() {
        HirKind::Class(Class::Unicode(set)) => set,
        HirKind::Literal(literal) => return (1, crc32fast::hash(&literal.0)),
        _ => return (0, 0),
    };
    let mut crc = crc32fast::Hasher::new();
    let mut count = 0;
    for c in set.ranges().iter().flat_map(|range| range.start()..=range.end()) {
        crc.update(c.encode_utf8(&mut [0; 4]).as_bytes());
        count += 1;
    }
    (count, crc.finalize())
}

#[test]
fn unicode_classes_equal_those_of_go() {
    let mut differences = Vec::new();
    for line in include_str!("../../testdata/unicode.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| fields[at].parse::<usize>().expect(line);
        for (pattern, wanted) in [
            (format!(r"\p{{{}}}", fields[0]), (number(1), number(2))),
            (format!(r"(?i)\p{{{}}}", fields[0]), (number(3), number(4))),
        ] {
            let (count, sum) = count_and_sum(&pattern);
            if (count, sum as usize) != wanted {
                differences.push(format!("{pattern}: {count} characters, in Go {}", wanted.0));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn unicode_class_names_match_as_in_go() {
    for name in
        ["greek", "GREEK", "Gre-ek", "Lowercase_Letter", "lowercase letter", "lu", "LC", "any", "ASCII"]
    {
        assert_eq!(check(&format!(r"\p{{{name}}}")), Ok(()), "{name}");
    }
    for name in ["", "Old_Persian", "OldPersian", "sc=Greek", "Latn", "Foo"] {
        assert!(check(&format!(r"\p{{{name}}}")).is_err(), "{name}");
    }
}
