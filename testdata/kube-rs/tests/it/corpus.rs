//! Macros by example that build annotated types, made at random from a fixed seed. rustc expands them when this crate is
//! compiled, and the command when it reads the source: the definitions of the kinds have to be equal.

use std::fmt::Write as _;

/// How many kinds there are.
const KINDS: usize = 40;

/// Types of fields.
const TYPES: [&str; 12] = [
    "String",
    "Option<i32>",
    "Vec<u8>",
    "BTreeMap<String, Vec<String>>",
    "Option<Vec<Option<String>>>",
    "bool",
    "u16",
    "[i32; 2]",
    "Shared",
    "super::Shared",
    "Vec<Option<Shared>>",
    "Option<std::collections::BTreeSet<i64>>",
];

/// `xorshift64`: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn one_of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

/// A field with attributes.
struct Field {
    attributes: String,
    name: String,
    ty: &'static str,
}

fn fields(random: &mut Random) -> Vec<Field> {
    let count = 1 + random.below(5);
    let field = |at: usize, random: &mut Random| {
        let ty = TYPES[random.below(TYPES.len())];
        let mut attributes = String::new();
        if random.chance() {
            let _ = write!(attributes, "/// Field {at} of a type.\n        ");
        }
        if random.chance() {
            let _ = write!(
                attributes,
                "#[serde(rename = {:?})] ",
                format!("{}{at}", random.one_of(&["x", "of-"]))
            );
        }
        if ty == "u16" {
            let _ = write!(attributes, "#[schemars(range(min = 1 + {}, max = 40))] ", random.below(9));
        }
        if ty.starts_with("Option") && random.chance() {
            attributes.push_str("#[serde(default, skip_serializing_if = \"Option::is_none\")] ");
        }
        Field { attributes, name: format!("{}{at}", random.one_of(&["field_", "part", "r#try"])), ty }
    };
    (0..count).map(|at| field(at, random)).collect()
}

/// The fields of a call, each written as `write` says.
fn list(fields: &[Field], separator: &str, write: impl Fn(&Field) -> String) -> String {
    let texts: Vec<String> = fields.iter().map(write).collect();
    texts.join(&format!("{separator}\n        "))
}

const DERIVES: &str = "#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]";
const PART: &str = "#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]";

fn kube(kind: &str) -> String {
    format!("#[kube(group = \"macros.example.com\", version = \"v1\", kind = {kind})]")
}

/// A macro and its call, for the kind of this number.
fn case(at: usize, random: &mut Random) -> String {
    let makers = [plain, by_literals, munching, forwarding, enumeration, whole_items, defining, constants];
    makers[(at + random.below(2)) % makers.len()](at, random)
}

/// All in one rule: attributes, visibilities, fields with a separator.
fn plain(at: usize, random: &mut Random) -> String {
    let fields = fields(random);
    let separator = random.one_of(&[",", ";", " =>"]);
    let fragment = random.one_of(&["$ty:ty", "$($ty:tt)+"]);
    let (open, close, used) = if fragment == "$ty:ty" { ("", "", "$ty") } else { ("[", "]", "$($ty)+") };
    let body = list(&fields, separator, |field| {
        format!("{}pub {}: {open}{}{close}", field.attributes, field.name, field.ty)
    });
    format!(
        "macro_rules! plain{at} {{\n    (never $x:tt) => {{ compile_error!(\"first rule\"); }};\n    \
         ($(#[$meta:meta])* $vis:vis struct $name:ident {{ $($(#[$inner:meta])* $fv:vis $field:ident : {open}{fragment}{close}){separator}* $({separator})? }}) => {{\n        \
         {DERIVES}\n        $(#[$meta])*\n        $vis struct $name {{ $($(#[$inner])* $fv $field: {used}),* }}\n    }};\n}}\n\
         plain{at}! {{\n    {}\n    #[serde(rename_all = {:?})]\n    pub struct Made{at}Spec {{\n        {body}{}\n    }}\n}}\n",
        kube(&format!("\"Made{at}\"")),
        random.one_of(&["camelCase", "PascalCase"]),
        if random.chance() { separator } else { "" },
    )
}

/// Literals become the kind and documentation, which may be left out.
fn by_literals(at: usize, random: &mut Random) -> String {
    let fields = fields(random);
    let mut documented = Vec::new();
    for field in &fields {
        let text = if random.chance() {
            format!(" ({:?})", format!("Text of {}.", field.name))
        } else {
            String::new()
        };
        documented.push(format!("{}{text} => {}", field.name, field.ty));
    }
    format!(
        "macro_rules! literals{at} {{\n    ($kind:literal, $name:ident {{ $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }}) => {{\n        \
         {DERIVES}\n        {}\n        pub struct $name {{ $($(#[doc = $doc])? pub $field: $ty),* }}\n    }};\n}}\n\
         literals{at}!(\"Made{at}\", Made{at}Spec {{\n        {};\n}});\n",
        kube("$kind"),
        documented.join(";\n        "),
    )
}

/// One field at a time, by rules that call each other.
fn munching(at: usize, random: &mut Random) -> String {
    let body =
        list(&fields(random), ",", |field| format!("{}{}: {}", field.attributes, field.name, field.ty));
    format!(
        "macro_rules! munch{at} {{\n    (@go $name:ident [$($done:tt)*]) => {{\n        {DERIVES}\n        {}\n        pub struct $name {{ $($done)* }}\n    }};\n    \
         (@go $name:ident [$($done:tt)*] $(#[$meta:meta])* $field:ident : $ty:ty, $($rest:tt)*) => {{\n        \
         munch{at}! {{ @go $name [$($done)* $(#[$meta])* pub $field: $ty,] $($rest)* }}\n    }};\n    \
         ($name:ident: $($rest:tt)*) => {{ munch{at}! {{ @go $name [] $($rest)* }} }};\n}}\n\
         munch{at}! {{ Made{at}Spec:\n        {body},\n}}\n",
        kube(&format!("\"Made{at}\"")),
    )
}

/// One macro hands its fragments to another one, by its path.
fn forwarding(at: usize, random: &mut Random) -> String {
    let fragment = random.one_of(&["ty", "path"]);
    let fields: Vec<Field> =
        fields(random).into_iter().filter(|it| fragment == "ty" || !it.ty.starts_with('[')).collect();
    let body = list(&fields, ",", |field| format!("{}: {}", field.name, field.ty));
    format!(
        "macro_rules! build{at} {{\n    ($kind:literal $name:ident $body:tt $(#[$meta:meta])*) => {{\n        {DERIVES}\n        $(#[$meta])*\n        {}\n        pub struct $name $body\n    }};\n}}\n\
         pub(crate) use build{at};\n\
         macro_rules! forward{at} {{\n    ($kind:literal $name:ident {{ $($field:ident: $ty:{fragment}),* }}) => {{\n        \
         $crate::macros::corpus::build{at}! {{ $kind $name {{ $(pub $field: $ty),* }} #[serde(rename_all = \"camelCase\")] }}\n    }};\n}}\n\
         forward{at}! {{ \"Made{at}\" Made{at}Spec {{\n        {body}\n}} }}\n",
        kube("$kind"),
    )
}

/// Repetitions in repetitions make an enum.
fn enumeration(at: usize, random: &mut Random) -> String {
    let variants: Vec<String> = (0..1 + random.below(4))
        .map(|variant| {
            let body = list(&fields(random), ",", |field| {
                format!("{}{}: {}", field.attributes, field.name, field.ty)
            });
            format!("V{variant} {{\n        {body}\n    }}")
        })
        .collect();
    format!(
        "macro_rules! variants{at} {{\n    ($spec:ident, $name:ident: $($variant:ident {{ $($(#[$meta:meta])* $field:ident: $ty:ty),* }})|+) => {{\n        \
         {PART}\n        pub enum $name {{ $($variant {{ $($(#[$meta])* $field: $ty),* }}),+ }}\n        \
         {DERIVES}\n        {}\n        pub struct $spec {{ pub one: $name, pub more: Vec<$name> }}\n    }};\n}}\n\
         variants{at}! {{ Made{at}Spec, Choice{at}: {} }}\n",
        kube(&format!("\"Made{at}\"")),
        variants.join(" | "),
    )
}

/// Items, blocks, patterns and lifetimes are passed on.
fn whole_items(at: usize, random: &mut Random) -> String {
    let body =
        list(&fields(random), ",", |field| format!("{}pub {}: {}", field.attributes, field.name, field.ty));
    let (value, ty) =
        [("{ 5 + 2 * 3 }", "i32"), ("{ \"a\".to_string() }", "String"), ("{ vec![1, 2] }", "Vec<i32>")]
            [random.below(3)];
    format!(
        "macro_rules! items{at} {{\n    ({{ $($item:item)* }} $function:ident -> $ty:ty $body:block ; <$life:lifetime> $pattern:pat => $($end:tt)*) => {{\n        \
         $($item)*\n        fn $function() -> $ty $body\n        \
         pub fn look{at}<$life>(text: &$life str) -> &$life str {{ match text {{ $pattern => text, _ => \"\" }} }}\n    }};\n}}\n\
         items{at}! {{ {{\n    {DERIVES}\n    {}\n    pub struct Made{at}Spec {{\n        #[serde(default = \"given{at}\")]\n        pub given: {ty},\n        {body}\n    }}\n    \
         {PART}\n    pub struct Beside{at} {{ pub made: bool }}\n    }} given{at} -> {ty} {value} ; <'a> \"a\" | \"b\" => end\n}}\n",
        kube(&format!("\"Made{at}\"")),
    )
}

/// A macro defines another one.
fn defining(at: usize, random: &mut Random) -> String {
    let body = list(&fields(random), ",", |field| format!("{}: {}", field.name, field.ty));
    let own = TYPES[random.below(TYPES.len())];
    format!(
        "macro_rules! define{at} {{\n    ($made:ident {{ $($field:ident: $ty:ty),* }}) => {{\n        macro_rules! $made {{\n            \
         ($kind:literal $name:ident $own:ty) => {{\n                {DERIVES}\n                {}\n                \
         pub struct $name {{ $(pub $field: $ty,)* pub own: $own }}\n            }};\n        }}\n    }};\n}}\n\
         define{at}! {{ defined{at} {{\n        {body}\n}} }}\n\
         defined{at}! {{ \"Made{at}\" Made{at}Spec {own} }}\n",
        kube("$kind"),
    )
}

/// Expressions become constants and bounds.
fn constants(at: usize, random: &mut Random) -> String {
    let bounds: Vec<String> = (0..1 + random.below(3))
        .map(|bound| format!("LOW{at}_{bound} = {} + 1, field_{bound}", random.below(20)))
        .collect();
    format!(
        "macro_rules! bounds{at} {{\n    ($name:ident: $($low:ident = $value:expr, $field:ident);+) => {{\n        \
         $(const $low: i32 = $value * 2;)+\n        {DERIVES}\n        {}\n        \
         pub struct $name {{ $(#[schemars(range(min = $low, max = $value + 100))] pub $field: i32),+ }}\n    }};\n}}\n\
         bounds{at}! {{ Made{at}Spec: {} }}\n",
        kube(&format!("\"Made{at}\"")),
        bounds.join("; "),
    )
}

fn corpus() -> String {
    let mut random = Random(0x6b75_6265_736d_6974);
    let mut out = String::from(
        "//! Made by `tests/it/corpus.rs`: KUBESMITH_UPDATE=1 cargo test -p kubesmith-kube-compare corpus\n\n\
         use std::collections::BTreeMap;\n\nuse kube::{CustomResource, CustomResourceExt as _};\nuse schemars::JsonSchema;\n\
         use serde::{Deserialize, Serialize};\n\nuse super::Shared;\nuse crate::Kind;\n\n",
    );
    let mut kinds = String::new();
    for at in 0..KINDS {
        out.push_str(&case(at, &mut random));
        out.push('\n');
        let _ = writeln!(
            kinds,
            "        Kind {{ module: \"macros::corpus\", root: \"Made{at}\", crd: Made{at}::crd }},"
        );
    }
    let _ =
        write!(out, "/// The kinds.\npub(crate) fn kinds() -> Vec<Kind> {{\n    vec![\n{kinds}    ]\n}}\n");
    out
}

#[test]
fn committed_corpus_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/macros/corpus.rs");
    let text = corpus();
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == text, "run with KUBESMITH_UPDATE=1");
}
