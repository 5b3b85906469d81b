//! Emits the files of the functions that convert.

use std::collections::BTreeMap;

use super::super::{RustOptions, code, docs, names, plan};
use super::{Arm, Body, Content, Kind, Pair, Pairs, Source, ValueConversion, kinds};
use crate::ir::{Group, Ir};

/// The path of the runtime's part.
const RUNTIME: &str = "::kubesmith_runtime::conversion";

/// Emits them by their paths; none if every kind has a single version.
pub(in super::super) fn files(ir: &Ir, options: &RustOptions) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let source = plan::packages(ir);
    let mut add = |path: String, text: &str| {
        let (path, text) = code::file(options, &source, &path, text);
        out.insert(path, text);
    };
    let mut groups: BTreeMap<String, (&Group, Vec<String>)> = BTreeMap::new();
    for kind in kinds(ir) {
        let group = names::group_module(&kind.group.module);
        let module = names::module(&kind.hub.1.code.module, &group);
        add(format!("conversions/{group}/{module}.rs"), &text(&Pairs::new(ir, options, &kind), &kind));
        groups.entry(group).or_insert((kind.group, Vec::new())).1.push(module);
    }
    let mut root = "//! Conversions between the versions of kinds, by group and kind.\n".to_owned();
    for (module, (group, kinds)) in &groups {
        let title = docs::plain(if group.name.is_empty() { "core" } else { &group.name });
        let modules: String = kinds.iter().map(|kind| format!("pub mod {kind};\n")).collect();
        root +=
            &format!("/// Conversions of the group `{title}`, by kind.\npub mod {module} {{\n{modules}}}\n");
    }
    if !groups.is_empty() {
        add("conversions/mod.rs".to_owned(), &root);
    }
    out
}

fn text(pairs: &Pairs<'_>, kind: &Kind<'_>) -> String {
    let name = pairs.name(kind.hub.1.root);
    let mut methods = String::new();
    let mut functions = String::new();
    let mut all_derived = true;
    for pair in &pairs.order {
        let made = PairText::new(pairs, *pair);
        all_derived &= made.required.is_empty();
        methods += &made.method;
        methods += &made.required;
        functions += &made.function;
    }
    let by_nobody = match all_derived {
        true => "/// Everything is derived.\nimpl ConversionFuncs for () {}\n\n",
        false => "",
    };
    format!(
        "//! Conversions of `{name}` between its versions, all of them to and from `{}`, {}.\n\
         #![allow(clippy::clone_on_copy, reason = \"whether a type is Copy is not known\")]\n\n\
         /// Converts between the versions of `{name}`. Derived methods have a body that you may replace; the compiler names the\n\
         /// others.\n\
         pub trait ConversionFuncs {{\n{methods}}}\n\n{}{by_nobody}{functions}",
        kind.hub.0.name,
        if kind.hub.1.crd.storage { "which is stored" } else { "their hub" },
        registration(pairs, kind),
    )
}

fn registration(pairs: &Pairs<'_>, kind: &Kind<'_>) -> String {
    let hub = kind.hub.1.root;
    let each = |pair: Pair| {
        let (function, input) = (pairs.function(pair), pairs.path(pair.0));
        format!(
            "let own = funcs.clone();\n\
             scheme.add_conversion_func(move |input: &{input}| own.convert_{function}(input));\n"
        )
    };
    let spokes = kind.spokes.iter().map(|(_, spoke)| spoke.root);
    let calls: String = spokes.flat_map(|spoke| [each((spoke, hub)), each((hub, spoke))]).collect();
    format!(
        "/// Registers the conversions; `kubesmith_runtime::webhook::Conversions::of_scheme` then serves them.\n\
         pub fn register_conversions<F>(scheme: &mut ::kubesmith_runtime::scheme::Scheme, funcs: &F)\n\
         where F: ConversionFuncs + Clone + Send + Sync + 'static {{\n{calls}}}\n\n"
    )
}

/// The generated code of a pair.
#[derive(Default)]
struct PairText {
    /// The method that converts it, if it has a default body.
    method: String,
    /// Methods without a default body.
    required: String,
    /// The function that converts matching fields.
    function: String,
}

impl PairText {
    fn new(pairs: &Pairs<'_>, pair: Pair) -> Self {
        let function = pairs.function(pair);
        let (input, output) = (pairs.path(pair.0), pairs.path(pair.1));
        let result = format!("{RUNTIME}::ConversionResult<{output}>");
        let (from, to) = (&pairs.versions[&pair.0], &pairs.versions[&pair.1]);
        let doc = format!("Converts a `{}` of `{from}` to `{to}`", pairs.name(pair.0));
        let mut out = Self::default();
        let code = match &pairs.bodies[&pair] {
            Body::Manual(why) => {
                out.required = format!(
                    "/// {doc}: {why}.\n///\n/// # Errors\n/// The object cannot be converted.\n\
                     fn convert_{function}(&self, input: &{input}) -> {result};\n"
                );
                return out;
            }
            Body::Struct { fields, lost } => {
                out.required = required(&function, (&input, &output), fields, lost);
                structure(&function, &output, fields, lost)
            }
            Body::Enum(arms) => enumeration((&input, &output), arms),
        };
        out.method = format!(
            "/// {doc}.\n///\n/// # Errors\n/// The object cannot be converted.\n\
             fn convert_{function}(&self, input: &{input}) -> {result} {{ auto_convert_{function}(self, input) }}\n"
        );
        let code = pairs.calls(&code);
        let (asks, reads) = pairs.bodies[&pair].uses();
        let funcs = if asks { "funcs" } else { "_funcs" };
        let input_name = if reads { "input" } else { "_input" };
        out.function = format!(
            "/// {doc}: what matches is derived, the rest is what the functions say.\n///\n/// # Errors\n/// One of the functions fails.\n\
             pub fn auto_convert_{function}<F: ConversionFuncs + ?Sized>({funcs}: &F, {input_name}: &{input}) -> {result} {{ {code} }}\n\n"
        );
        out
    }
}

impl Pairs<'_> {
    /// Replaces marks by the names of functions.
    fn calls(&self, code: &str) -> String {
        let mut out = code.to_owned();
        for pair in &self.order {
            out = out.replace(&mark(*pair), &self.function(*pair));
        }
        out
    }
}

/// The mark for a pair's function until the names are known.
fn mark((from, to): Pair) -> String {
    format!("__{}_{}__", from.0, to.0)
}

fn converted(value: &str, conversion: &ValueConversion) -> String {
    match conversion {
        ValueConversion::Clone => format!("{value}.clone()"),
        ValueConversion::Each(pair) => {
            let reference = if value.contains('.') { format!("&{value}") } else { value.to_owned() };
            format!("{RUNTIME}::each({reference}, |held| funcs.convert_{}(held))?", mark(*pair))
        }
    }
}

/// The methods that the user must write for a struct.
fn required(
    function: &str,
    (input, output): (&str, &str),
    fields: &[(String, Source)],
    lost: &[String],
) -> String {
    let names = lost.iter().map(|name| format!("`{}`", docs::plain(name))).collect::<Vec<_>>().join(", ");
    let untaken =
        if lost.is_empty() { String::new() } else { format!(" Nothing takes {names} of the input.") };
    let mut out = String::new();
    for (field, source) in fields {
        if let Source::Method(ty, why) = source {
            let bare = field.trim_start_matches("r#");
            out += &format!(
                "/// Makes `{bare}`: the field {why}.{untaken}\n///\n/// # Errors\n/// The object cannot be converted.\n\
                 fn convert_{function}_{bare}(&self, input: &{input}) -> {RUNTIME}::ConversionResult<{ty}>;\n"
            );
        }
    }
    if out.is_empty() && !lost.is_empty() {
        out = format!(
            "/// Carries over what is left.{untaken} What is not carried over is lost.\n///\n/// # Errors\n/// The object cannot be converted.\n\
             fn finish_{function}(&self, input: &{input}, output: &mut {output}) -> {RUNTIME}::ConversionResult<()>;\n"
        );
    }
    out
}

fn structure(function: &str, output: &str, fields: &[(String, Source)], lost: &[String]) -> String {
    let value = |(field, source): &(String, Source)| match source {
        Source::Field(peer, conversion) => {
            format!("{field}: {},\n", converted(&format!("input.{peer}"), conversion))
        }
        Source::Default => format!("{field}: None,\n"),
        Source::Method(..) => {
            format!("{field}: funcs.convert_{function}_{}(input)?,\n", field.trim_start_matches("r#"))
        }
    };
    let literal: String = fields.iter().map(value).collect();
    let literal = format!("{output} {{\n{literal}}}");
    let by_hand = fields.iter().any(|(_, source)| matches!(source, Source::Method(..)));
    match lost.is_empty() || by_hand {
        true => format!("Ok({literal})"),
        false => {
            format!("let mut output = {literal};\nfuncs.finish_{function}(input, &mut output)?;\nOk(output)")
        }
    }
}

fn enumeration((input, output): (&str, &str), arms: &[Arm]) -> String {
    let arm = |Arm { from, to, content }: &Arm| match content {
        Content::Nothing => format!("{input}::{from} => {output}::{to},\n"),
        Content::Values(ways) => {
            let values = ways.iter().enumerate().map(|(at, conversion)| (held(at), conversion));
            let (held, made): (Vec<_>, Vec<_>) =
                values.map(|(held, conversion)| (held.clone(), converted(&held, conversion))).unzip();
            format!("{input}::{from}({}) => {output}::{to}({}),\n", held.join(", "), made.join(", "))
        }
        Content::Fields(fields) => {
            let (mut read, mut written) = (String::new(), String::new());
            for (at, (field, source)) in fields.iter().enumerate() {
                let Some((peer, conversion)) = source else {
                    written += &format!("{field}: None,");
                    continue;
                };
                read += &format!("{peer}: {},", held(at));
                written += &format!("{field}: {},", converted(&held(at), conversion));
            }
            format!("{input}::{from} {{ {read} }} => {output}::{to} {{ {written} }},\n")
        }
    };
    let arms: String = arms.iter().map(arm).collect();
    format!("Ok(match input {{\n{arms}}})")
}

/// The name of a value in a variant.
fn held(at: usize) -> String {
    format!("held_{at}")
}

impl Body {
    /// Whether the converting function uses its parameters `funcs` and input.
    fn uses(&self) -> (bool, bool) {
        let is_each = |conversion: &ValueConversion| matches!(conversion, ValueConversion::Each(_));
        match self {
            Self::Struct { fields, lost } => {
                let asks = fields.iter().any(|(_, source)| match source {
                    Source::Field(_, conversion) => is_each(conversion),
                    Source::Method(..) => true,
                    Source::Default => false,
                });
                let reads = fields.iter().any(|(_, source)| !matches!(source, Source::Default));
                (asks || !lost.is_empty(), reads || !lost.is_empty())
            }
            Self::Enum(arms) => (arms.iter().any(|arm| arm.content.conversions().any(is_each)), true),
            Self::Manual(_) => (false, false),
        }
    }
}
