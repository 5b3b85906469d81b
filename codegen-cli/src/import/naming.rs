//! Names of fields, variants and types.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kubesmith_core::model::RenameRule;
use kubesmith_core::names::{self, Kind};

/// Names with another meaning in the written files.
const TAKEN: &[&str] = &[
    "BTreeMap",
    "Box",
    "ByteString",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Drop",
    "Eq",
    "Err",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "IntOrString",
    "Into",
    "Iterator",
    "Map",
    "None",
    "ObjectMeta",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Quantity",
    "Resource",
    "Result",
    "Schema",
    "Self",
    "Send",
    "Serialize",
    "Some",
    "String",
    "Sync",
    "Time",
    "ToString",
    "Value",
    "Vec",
];

/// Words that are too vague for the name of a type.
const VAGUE: &[&str] = &[
    "Choice",
    "Config",
    "Data",
    "Entry",
    "From",
    "Item",
    "Kind",
    "Metadata",
    "Name",
    "Options",
    "Parameter",
    "Policy",
    "Ref",
    "Rule",
    "Source",
    "Spec",
    "State",
    "Status",
    "Target",
    "Template",
    "To",
    "Type",
    "Value",
];

/// The most letters of a chosen name.
const LONGEST: usize = 60;

/// Whether a name is reserved.
pub(super) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

/// The upper camel case identifier made of the text's valid characters.
pub(super) fn pascal(text: &str) -> String {
    let words: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    let name = names::upper_camel_case(&words);
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("N{name}") }
}

fn is_pascal(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && word.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The words that all names end with: `RouteStatus` for `TCPRouteStatus` and `HTTPRouteStatus`.
pub(super) fn common_end(names: &[&str]) -> String {
    let Some((first, others)) = names.split_first() else { return String::new() };
    let mut starts = word_starts(first);
    let found = starts.find(|at| others.iter().all(|other| other.ends_with(&first[*at..])));
    found.map_or_else(String::new, |at| first[at..].to_string())
}

/// Where the words of an upper camel case name begin.
fn word_starts(name: &str) -> impl Iterator<Item = usize> {
    let bytes = name.as_bytes();
    let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let begins = move |at: &usize| {
        is_upper(*at)
            && (*at == 0 || !is_upper(at - 1) || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase))
    };
    (0..name.len()).filter(begins)
}

/// The singular of a name.
pub(super) fn singular(name: &str) -> String {
    let keeps = ["ss", "us", "is", "dns", "DNS", "tls", "TLS", "as"];
    if keeps.iter().any(|end| name.ends_with(end)) || name.len() < 4 {
        return name.to_string();
    }
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    // The inverse of Kubernetes' plurals, where `s` gets `es`; words such as `cache` and `lease` have their own `e`.
    for (many, one) in [("ndices", "ndex"), ("ertices", "ertex"), ("atrices", "atrix")] {
        if let Some(stem) = name.strip_suffix(many) {
            return format!("{stem}{one}");
        }
    }
    for end in ["sses", "iases", "atuses", "iruses", "xes", "ches", "shes"] {
        if name.ends_with(end) && !name.to_ascii_lowercase().ends_with("caches") {
            return name[..name.len() - 2].to_string();
        }
    }
    name.strip_suffix('s').unwrap_or(name).to_string()
}

/// The names in a module.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    used: HashSet<String>,
    /// Those of our types, in their order.
    taken: Vec<String>,
}

impl TypeNames {
    /// Names in which those of imported types are taken.
    pub(super) fn without<'n>(imported: impl IntoIterator<Item = &'n str>) -> Self {
        Self { used: imported.into_iter().map(str::to_string).collect(), taken: Vec::new() }
    }

    /// The number of taken names.
    pub(super) fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Frees all names but the first `mark`.
    pub(super) fn give_back(&mut self, mark: usize) {
        for name in self.taken.drain(mark.min(self.taken.len())..) {
            self.used.remove(&name);
        }
    }

    /// Whether one of our types has the name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// Takes a name if it is free.
    pub(super) fn take(&mut self, name: &str) -> bool {
        let is_free = !is_taken(name) && !names::is_keyword(name) && self.used.insert(name.to_string());
        if is_free {
            self.taken.push(name.to_string());
        }
        is_free
    }

    /// The name of the root type of a kind: the kind, if it is free and valid.
    pub(super) fn root(&mut self, kind: &str) -> String {
        let camel = Kind::of_type(kind).map_err(|error| error.suggestion.unwrap_or_else(|| pascal(kind)));
        let name = camel.map_or_else(|camel| camel, |kind| kind.to_string());
        let longer = format!("{name}Resource");
        match [name, longer.clone()].into_iter().find(|name| self.take(name)) {
            Some(free) => free,
            None => numbered(&longer, "", self.used.len(), |name| self.take(name)),
        }
    }

    /// The name of a type that Go names: the same, if it is free and valid in Rust.
    #[cfg(feature = "go")]
    pub(super) fn plain(&mut self, own: &str) -> String {
        let name = if is_pascal(own) { own.to_string() } else { pascal(own) };
        let longer = format!("{name}Type");
        match [name, longer.clone()].into_iter().find(|name| self.take(name)) {
            Some(free) => free,
            None => numbered(&longer, "", self.used.len(), |name| self.take(name)),
        }
    }

    /// The shortest name that describes the type: its field's, with the enclosing type's before it, or a
    /// number. A name of more than [`LONGEST`] letters loses its first words, except those of a kind's own parts.
    pub(super) fn choose(&mut self, parent: &str, field: &str) -> String {
        let of_kind = field.split_once(' ').filter(|(kind, _)| is_pascal(kind));
        let own = match of_kind {
            // The kind's own capitals: `TCPRouteSpec`.
            Some((kind, rest)) => format!("{kind}{}", pascal(rest)),
            None => pascal(field),
        };
        let stem = parent.strip_suffix("Spec").filter(|stem| !stem.is_empty()).unwrap_or(parent);
        let whole = format!("{stem}{own}");
        let candidates = [own.clone(), whole.clone(), format!("{parent}{own}")];
        let from = usize::from(VAGUE.contains(&own.as_str()));
        let fits = |candidate: &&String| of_kind.is_some() || candidate.len() <= LONGEST;
        let least = if own.len() < LONGEST { own.len() + 1 } else { 1 };
        let ends = if whole.len() > LONGEST { ends(&whole, least) } else { Vec::new() };
        let candidates =
            candidates[from..].iter().filter(fits).map(String::as_str).chain(ends.iter().copied());
        for candidate in candidates {
            if self.take(candidate) {
                return candidate.to_string();
            }
        }
        // Numbers have at most four digits, unless a module has more types of one name.
        let short = |name: &&str| name.len() + 4 <= LONGEST;
        let base =
            [&*whole].into_iter().chain(ends).find(short).unwrap_or(&whole[..whole.len().min(LONGEST - 4)]);
        numbered(base, "", self.used.len(), |name| self.take(name))
    }
}

/// The ends of a name that begin with a word, have at most [`LONGEST`] letters and at least `least`, the longest first.
fn ends(name: &str, least: usize) -> Vec<&str> {
    let ends = word_starts(name).map(|at| &name[at..]);
    ends.filter(|end| (least..=LONGEST).contains(&end.len())).collect()
}

/// Modules whose file names are crate roots for cargo.
const ROOTS: &[&str] = &["bin", "lib", "main"];

/// The module of a version, or of a group by its short name.
pub(super) fn module(text: &str) -> String {
    let name = names::module_name(text);
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("g{name}"),
        false if ROOTS.contains(&name.as_str()) => format!("{name}_"),
        false => name,
    }
}

/// The name in code of a group, by its short name; as in the generator, `G` comes before digits.
pub(super) fn code_name(group: &str) -> String {
    let name = names::upper_camel_case(group);
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("G{name}") } else { name }
}

/// The short names of groups in code: as many leading labels as make them unique.
pub(super) fn groups<'g>(groups: &BTreeSet<&'g str>) -> BTreeMap<&'g str, String> {
    let first =
        |group: &str, parts: usize| group.split('.').take(parts).collect::<Vec<_>>().join("-").to_lowercase();
    let is_unique = |name: &str, parts: usize| {
        groups.iter().filter(|other| module(&first(other, parts)) == module(name)).count() == 1
    };
    let named = groups.iter().map(|group| {
        let most = group.split('.').count();
        let parts = (1..most).find(|parts| is_unique(&first(group, *parts), *parts)).unwrap_or(most);
        (*group, first(group, parts))
    });
    named.collect()
}

/// The name with the first number that `take` accepts. With many similar names, the numbers continue from
/// `known` to save attempts.
fn numbered(base: &str, sign: &str, known: usize, mut take: impl FnMut(&str) -> bool) -> String {
    let numbers = (2..10).chain(known.max(10)..);
    let mut names = numbers.map(|number| format!("{base}{sign}{number}"));
    names.find(|name| take(name)).unwrap_or_else(|| base.to_string())
}

/// A field's name in Rust, and whether it is `name` by `rename_all = "camelCase"`.
pub(super) fn field(name: &str, used: &mut HashSet<String>) -> String {
    let words: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut base = names::snake_case(&words);
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base = format!("field_{base}").trim_end_matches('_').to_string();
    }
    let ident = escaped(&base);
    if used.insert(ident.clone()) {
        return ident;
    }
    numbered(&base, "_", used.len(), |name| used.insert(name.to_string()))
}

/// Keywords as raw identifiers; those that cannot be raw with an underscore.
fn escaped(name: &str) -> String {
    match name {
        "self" | "super" | "crate" | "Self" => format!("{name}_"),
        _ if names::is_keyword(name) => format!("r#{name}"),
        _ => name.to_string(),
    }
}

/// The name that serde gives the field.
pub(super) fn serialised(ident: &str, rule: RenameRule) -> String {
    rule.apply_to_field(ident.strip_prefix("r#").unwrap_or(ident))
}

/// The identifiers of variants with these names.
pub(super) fn variants(values: &[&str]) -> Vec<String> {
    let mut used = HashSet::new();
    let name = |value: &&str| {
        let base = match *value {
            "" => "Empty".to_string(),
            "*" => "Any".to_string(),
            value if !value.chars().any(|c| c.is_ascii_alphanumeric()) => symbol(value),
            value => pascal(value),
        };
        let base = if names::is_keyword(&base) { format!("{base}Value") } else { base };
        if used.insert(base.clone()) {
            return base;
        }
        numbered(&base, "", used.len(), |name| used.insert(name.to_string()))
    };
    values.iter().map(name).collect()
}

/// A name for a value without letters or digits.
fn symbol(value: &str) -> String {
    let name = |c: char| match c {
        '=' => "Equal",
        '!' => "Not",
        '~' => "Tilde",
        '<' => "Less",
        '>' => "Greater",
        '+' => "Plus",
        '-' => "Minus",
        '/' => "Slash",
        '.' => "Dot",
        '_' => "Underscore",
        ' ' => "Space",
        _ => "Sign",
    };
    value.chars().map(name).collect()
}

/// The rename rule for most of the names, if it saves any attribute.
pub(super) fn variant_rule(idents: &[String], values: &[&str]) -> (RenameRule, &'static str) {
    const RULES: &[&str] = &[
        "lowercase",
        "UPPERCASE",
        "camelCase",
        "snake_case",
        "SCREAMING_SNAKE_CASE",
        "kebab-case",
        "SCREAMING-KEBAB-CASE",
    ];
    let hits = |rule: RenameRule| {
        idents.iter().zip(values).filter(|(ident, value)| rule.apply_to_variant(ident) == **value).count()
    };
    let mut best = (RenameRule::None, "", hits(RenameRule::None));
    for name in RULES {
        let Some(rule) = RenameRule::parse(name) else { continue };
        let found = hits(rule);
        if found > best.2 {
            best = (rule, name, found);
        }
    }
    (best.0, best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_name_ending_has_whole_words() {
        assert_eq!(common_end(&["GRPCRouteStatus", "TCPRouteStatus", "HTTPRouteStatus"]), "RouteStatus");
        assert_eq!(common_end(&["IssuerSpec", "ClusterIssuerSpec"]), "IssuerSpec");
        assert_eq!(common_end(&["PolicySpec", "CleanupSpec"]), "Spec");
        assert_eq!(common_end(&["Aa", "Ba"]), "");
    }

    #[test]
    fn type_name_follows_its_kind() {
        let mut names = TypeNames::default();
        for (kind, wanted) in [
            ("IPPool", "IPPool"),
            ("postgresql", "Postgresql"),
            ("My-Thing", "MyThing"),
            ("MyThing", "MyThingResource"),
            ("Option", "OptionResource"),
            ("OptionResource", "OptionResourceResource"),
            ("option", "OptionResource2"),
        ] {
            assert_eq!(names.root(kind), wanted, "{kind}");
        }
    }

    #[test]
    fn long_name_loses_its_first_words() {
        let mut names = TypeNames::default();
        let parent = "VertexAIScheduleStatusObservedStateCreateNotebookExecutionJob";
        let name = names.choose(parent, "status");
        assert_eq!(name, "ScheduleStatusObservedStateCreateNotebookExecutionJobStatus");
        assert_eq!(names.choose(parent, "status"), "StatusObservedStateCreateNotebookExecutionJobStatus");
        let kind = "SecurityCenterManagementEventThreatDetectionCustomModule";
        assert_eq!(names.choose("", &format!("{kind} status")), format!("{kind}Status"));
    }

    #[test]
    fn names_stay_short_when_all_ends_are_taken() {
        let mut names = TypeNames::default();
        let field = "cloudControlGroupDetail";
        let mut parent = "CloudSecurityComplianceFramework".to_string();
        for _ in 0..200 {
            parent = names.choose(&parent, field);
            assert!(parent.len() <= LONGEST, "{parent}");
        }
        let long = names.choose(&parent, &"x".repeat(80));
        assert!(long.len() <= LONGEST && names.choose(&parent, &"x".repeat(80)) != long, "{long}");
    }

    /// Of many that are alike not all numbers are tried.
    #[test]
    fn numbering_tries_grow_linearly_with_the_names() {
        let (mut used, mut tries) = (HashSet::new(), 0);
        let count = 2_000;
        for _ in 0..count {
            let known = used.len();
            numbered("field", "_", known, |name| {
                tries += 1;
                used.insert(name.to_string())
            });
        }
        assert_eq!(used.len(), count);
        assert!(tries < 12 * count, "{tries} tries");
    }

    #[test]
    fn modules_have_unique_names_and_files() {
        for (text, wanted) in [
            ("v1", "v1"),
            ("lib", "lib_"),
            ("main", "main_"),
            ("mod", "mod_"),
            ("bin", "bin_"),
            ("3scale", "g3scale"),
        ] {
            assert_eq!(module(text), wanted);
        }
    }

    #[test]
    fn group_names_are_as_short_as_uniqueness_allows() {
        let all = ["karpenter.sh", "karpenter.k8s.aws", "apps.example.com", "gateway.a.io", "gateway.a.x-io"];
        let found = groups(&all.into_iter().collect());
        let names: Vec<&str> = all.iter().map(|group| found[group].as_str()).collect();
        assert_eq!(names, ["karpenter-sh", "karpenter-k8s", "apps", "gateway-a-io", "gateway-a-x-io"]);
    }
}
