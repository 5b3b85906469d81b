//! Implements serde's conversions of names.

/// serde's case conversions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenameRule {
    /// Keeps names unchanged.
    #[default]
    None,
    /// `lowercase`
    Lower,
    /// `UPPERCASE`
    Upper,
    /// `PascalCase`
    Pascal,
    /// `camelCase`
    Camel,
    /// `snake_case`
    Snake,
    /// `SCREAMING_SNAKE_CASE`
    ScreamingSnake,
    /// `kebab-case`
    Kebab,
    /// `SCREAMING-KEBAB-CASE`
    ScreamingKebab,
}

/// The names of the rules in attributes.
pub(super) const RULES: [&str; 8] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

impl RenameRule {
    /// The rule with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return None,
        })
    }

    /// A field's name, which serde assumes to be in snake case.
    pub fn apply_to_field(self, name: &str) -> String {
        match self {
            Self::None | Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => name.split('_').map(upper_first).collect(),
            Self::Camel => lower_first(&Self::Pascal.apply_to_field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// A variant's name, which serde assumes to be in Pascal case.
    pub fn apply_to_variant(self, name: &str) -> String {
        match self {
            Self::None | Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => snake(name),
            Self::ScreamingSnake => snake(name).to_ascii_uppercase(),
            Self::Kebab => snake(name).replace('_', "-"),
            Self::ScreamingKebab => snake(name).to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn upper_first(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn lower_first(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

/// serde's snake case of a variant: an underscore before each capital, so `IPPool` is `i_p_pool`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_renamed_as_serde_does() {
        for (name, expected) in [
            (
                "outcome",
                ["outcome", "OUTCOME", "Outcome", "outcome", "outcome", "OUTCOME", "outcome", "OUTCOME"],
            ),
            (
                "very_tasty",
                [
                    "very_tasty",
                    "VERY_TASTY",
                    "VeryTasty",
                    "veryTasty",
                    "very_tasty",
                    "VERY_TASTY",
                    "very-tasty",
                    "VERY-TASTY",
                ],
            ),
            ("z42", ["z42", "Z42", "Z42", "z42", "z42", "Z42", "z42", "Z42"]),
            (
                "cpu__max",
                ["cpu__max", "CPU__MAX", "CpuMax", "cpuMax", "cpu__max", "CPU__MAX", "cpu--max", "CPU--MAX"],
            ),
        ] {
            for (rule, expected) in RULES.iter().zip(expected) {
                assert_eq!(RenameRule::parse(rule).unwrap().apply_to_field(name), expected, "{rule} {name}");
            }
        }
    }

    #[test]
    fn variants_are_renamed_as_serde_does() {
        for (name, expected) in [
            (
                "Outcome",
                ["outcome", "OUTCOME", "Outcome", "outcome", "outcome", "OUTCOME", "outcome", "OUTCOME"],
            ),
            (
                "VeryTasty",
                [
                    "verytasty",
                    "VERYTASTY",
                    "VeryTasty",
                    "veryTasty",
                    "very_tasty",
                    "VERY_TASTY",
                    "very-tasty",
                    "VERY-TASTY",
                ],
            ),
            ("TCP", ["tcp", "TCP", "TCP", "tCP", "t_c_p", "T_C_P", "t-c-p", "T-C-P"]),
        ] {
            for (rule, expected) in RULES.iter().zip(expected) {
                assert_eq!(
                    RenameRule::parse(rule).unwrap().apply_to_variant(name),
                    expected,
                    "{rule} {name}"
                );
            }
        }
    }

    #[test]
    fn odd_names_do_not_panic() {
        for rule in RULES {
            for name in ["", "_", "__", "É", "é_é"] {
                let rule = RenameRule::parse(rule).unwrap();
                let _ = (rule.apply_to_field(name), rule.apply_to_variant(name));
            }
        }
        assert_eq!(RenameRule::parse("Camel"), None);
    }
}
