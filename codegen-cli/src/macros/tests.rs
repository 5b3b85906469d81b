use super::*;
use crate::source::FileId;

fn lexed(text: &str) -> Vec<Tree> {
    let stream: proc_macro2::TokenStream = text.parse().unwrap();
    trees(stream, &|span| {
        let range = span.byte_range();
        Loc { file: FileId(0), start: range.start as u32, end: range.end as u32 }
    })
}

/// The expansion of a call of a macro with these rules, with one space between tokens.
fn expanded(rules: &str, call: &str) -> Result<String, String> {
    let rules = MacroRules::read(&lexed(rules)).map_err(|error| error.message)?;
    let trees = rules.expand(&lexed(call), 7).map_err(|error| error.message)?;
    Ok(print(&trees).text.trim_end().to_string())
}

#[track_caller]
fn gives(rules: &str, call: &str, expected: &str) {
    let printed = print(&lexed(expected)).text;
    assert_eq!(expanded(rules, call).as_deref(), Ok(printed.trim_end()), "{rules} with {call}");
}

#[track_caller]
fn fails(rules: &str, call: &str, expected: &str) {
    let error = expanded(rules, call).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn first_matching_rule_is_expanded() {
    let rules = "(a) => { 1 }; (b $x:ident) => { $x }; ($($t:tt)*) => { rest $($t)* }";
    gives(rules, "a", "1");
    gives(rules, "b c", "c");
    gives(rules, "b 5", "rest b 5");
}

#[test]
fn fragment_ends_at_the_end_of_its_syntax() {
    gives(
        "($t:ty, $e:expr; $($r:tt)*) => { $t; $e; $($r)* }",
        "Vec<Option<u8>>, 1 + f(2, 3); x y",
        "Vec<Option<u8>>; 1 + f(2, 3); x y",
    );
    gives("($v:vis $n:ident $l:literal) => { $v $n $l }", "pub(crate) a -5", "pub(crate) a -5");
    gives("($v:vis struct $n:ident) => { $v $n }", "struct A", "A");
    gives("($p:path = $m:meta) => { $m $p }", "a::b<C> = x(y = 1)", "x(y = 1) a::b<C>");
    gives(
        "($($i:item)*) => { $($i)* }",
        "struct A; #[x] pub enum B { C }",
        "struct A; #[x] pub enum B { C }",
    );
    gives(
        "($l:lifetime $b:block $p:pat => $s:stmt;) => { $l $b $p $s }",
        "'a { 1 } Some(_) | None => let x = 1;",
        "'a { 1 } Some(_) | None let x = 1",
    );
    gives("($p:pat_param | $q:pat_param) => { $q $p }", "1 | 2", "2 1");
}

#[test]
fn closing_operator_is_split_at_the_end_of_a_type() {
    gives("(<$t:ty> $x:ident) => { $x $t }", "<Vec<u8>> x", "x Vec<u8>");
    gives("(A<$t:ty>) => { $t }", "A<Vec<Option<u8>>>", "Vec<Option<u8>>");
}

#[test]
fn repetitions_nest_and_advance_together() {
    let rules = "($($k:ident [$($v:ident),*] $(: $t:ty)?);* $(;)?) => { $($k($($k $v)|*) $(-> $t)?),* }";
    gives(rules, "a [b, c]; d []: u8; e [f];", "a(a b | a c), d() -> u8, e(e f)");
    gives("($($a:ident),* ; $b:ident) => { $($a $b)* }", "x, y ; z", "x z y z");
    fails("($($a:ident),* ; $($b:ident),*) => { $($a $b)* }", "x, y ; z", "is repeated 2 times, but");
    fails("($($a:ident),*) => { $a }", "x, y", "stands outside of a repetition");
    fails("($($a:ident)+) => { $($a)* }", "", "the call ends too early");
    fails("($a:ident) => { $($a)* }", "x", "no variable says how often");
}

#[test]
fn separators_may_be_operators() {
    gives("($($a:ident)=>*) => { $($a)::* }", "a => b => c", "a::b::c");
    gives("($($a:tt)*) => { $($a),* }", "a => 'b [c, d] ..= -1", "a, =>, 'b, [c, d], ..=, -, 1");
}

#[test]
fn expression_fragment_keeps_its_precedence() {
    gives("($e:expr) => { $e * 2 }", "1 + 1", "(1 + 1) * 2");
    gives("($e:expr) => { f($e, x = $e) }", "1 + 1", "f(1 + 1, x = 1 + 1)");
    gives("($t:ty) => { &$t }", "dyn A + B", "&(dyn A + B)");
}

#[test]
fn forwarded_fragment_is_opaque() {
    let inner = "(a) => { token }; ($e:expr) => { expr }; ($t:ty) => { ty }";
    let forward = |fragment: &str| {
        let outer = MacroRules::read(&lexed(&format!("($x:{fragment}) => {{ $x }}"))).unwrap();
        let trees = outer.expand(&lexed("a"), 0).unwrap();
        let inner = MacroRules::read(&lexed(inner)).unwrap();
        print(&inner.expand(&trees, 0).unwrap()).text.trim_end().to_string()
    };
    assert_eq!(["ident", "tt", "expr", "ty"].map(forward), ["token", "token", "expr", "ty"]);
}

#[test]
fn unbound_variable_is_left_to_the_inner_macro() {
    gives(
        "($n:ident) => { macro_rules! $n { ($a:ty) => { $a $crate }; } }",
        "m",
        "macro_rules! m { ($a:ty) => { $a __macro_crate_7 }; }",
    );
}

#[test]
fn malformed_rule_is_an_error() {
    fails("(a) { b }", "a", "a rule is");
    fails("(a) => { b } (c) => { d }", "a", "separated by `;`");
    fails("($a) => { b }", "a", "no fragment specifier");
    fails("($a:typ) => { b }", "a", "`typ` is not a fragment specifier");
    fails("($(a),) => { b }", "a", "a repetition ends in");
    fails("($(a),?) => { b }", "a", "takes no separator");
    for rule in ["$()* a", "$($($x:tt)*)*", "$($v:vis)+ a", "$($(a)?)?"] {
        fails(&format!("({rule}) => {{ b }}"), "a", "the repetition matches no tokens");
    }
    fails("", "a", "no rules");
}

#[test]
fn call_without_a_matching_rule_is_an_error() {
    fails("(a b) => {}; (a c d) => {}", "a c e", "no rule expects `e` here");
    fails("($t:ty) => {}", "struct", "no rule expects `struct` here");
    fails("($t:ty) => {}", "Vec<", "expected a type");
    fails("($($a:ident)* $b:ident) => {}", "x", "in several ways");
    fails("(a) => {}", "", "the call ends too early");
    fails("((a b)) => {}", "(a)", "ends too early");
}

#[test]
fn expansion_is_bounded() {
    let many = "$a ".repeat(1 << 12);
    let call = "x ".repeat(1 << 12);
    fails(
        &format!("($($t:tt)*) => {{ $( {} )* }}", many.replace("$a", "$t")),
        &call,
        "the expansion has over",
    );
}

#[test]
fn rule_with_too_many_ambiguous_matches_is_an_error() {
    fails("($($(a)+)+) => {}", &"a ".repeat(100), "in too many ways");
}

#[test]
fn long_calls_take_linear_time() {
    let fields: String = (0..20_000).map(|at| format!("f{at}: Option<String>, ")).collect();
    let printed = expanded("($($f:ident: $t:ty),* $(,)?) => { struct A { $($f: $t),* } }", &fields).unwrap();
    assert!(printed.ends_with("f19999 : Option < String > }"));
}
