//! Reports CEL rules that do not compile, use unknown values, or cost too much.

use kubesmith_apiextensions::cel::{Decl, Issue, OldSelf, compile};
use kubesmith_apiextensions::schema::Keyword;
use kubesmith_apiextensions::structural::crd::{RULE_LIMIT, TOTAL_LIMIT};
use kubesmith_apiextensions::structural::{Cause, CauseKind, Excess, Expression, Rule, Step, explain_cost};
use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;

use super::fields;
use super::habits;
use super::literal;
use super::site::Site;
use crate::diag::Diagnostic;
use crate::source::Loc;

/// Whether a cause is about the total of a schema's rules.
pub(super) fn is_total(cause: &Cause) -> bool {
    cause.kind == CauseKind::Forbidden && cause.detail.contains("for entire OpenAPIv3 schema")
}

/// A rule of the node: its number and the faulty part.
struct Part<'a> {
    site: &'a Site<'a>,
    rule: &'a Rule,
    index: usize,
    name: &'a str,
}

/// A fault of a rule.
pub(super) fn refusal(site: &Site<'_>, cause: &Cause) -> Option<Diagnostic> {
    let part = Part::of(site)?;
    let detail = cause.detail.as_str();
    if detail.contains("compilation failed") {
        return part.does_not_compile();
    }
    if detail.starts_with("estimated") {
        return part.costs_too_much();
    }
    if detail.starts_with("oldSelf cannot be used") {
        return Some(part.has_no_old_value());
    }
    let (message, help) = match (part.name, detail) {
        ("optionalOldSelf", _) => (
            "`optional_old_self` has no effect: the rule does not use oldSelf",
            "remove it, or use oldSelf in the rule",
        ),
        ("rule", "cel expression must evaluate to a bool") => (
            "the rule is neither true nor false",
            "compare the value with something, so that the result is a boolean",
        ),
        ("messageExpression", "messageExpression must evaluate to a string") => {
            ("the message expression does not evaluate to a string", "convert its result with string(...)")
        }
        ("fieldPath", "must be a valid path") => return Some(part.leads_nowhere()),
        _ => return None,
    };
    Some(part.says(message).help(help))
}

/// The total cost of a kind's rules is too high.
pub(super) fn total(site: &Site<'_>, cause: &Cause) -> Diagnostic {
    let factor = cause.detail.split("factor of ").nth(1).and_then(|rest| rest.split(" (").next());
    let kind = &site.resource.kind;
    if let Some(part) = Part::of(site) {
        let message =
            format!("the rules of {kind} cost too much together, and this is one of the most expensive");
        let diagnostic = part.code(Code::RULE_COST, message);
        return match explain_cost(site.root, &site.steps, part.index, part.expression(), TOTAL_LIMIT / 100) {
            Some(excess) => bound(site, diagnostic, &excess),
            None => diagnostic,
        };
    }
    let factor = factor.unwrap_or("more than");
    let message = format!("the rules of {kind} together could cost {factor} what an API server allows");
    Diagnostic::error(Code::RULE_COST, site.definition(), message)
        .help("bound the lists, maps and texts that the most expensive rules look at")
}

/// The first rule of a node that does not compile.
pub(super) fn first_that_does_not_compile(site: &Site<'_>) -> Option<Diagnostic> {
    let rules = site.node().validations.iter().enumerate();
    let mut parts = rules.flat_map(|(index, rule)| {
        let part = move |name| Part { site, rule, index, name };
        [part("rule"), part("messageExpression")]
    });
    parts.find_map(|part| part.does_not_compile())
}

impl<'a> Part<'a> {
    /// The rule in the tail of a place.
    fn of(site: &'a Site<'a>) -> Option<Self> {
        let (index, name) = site.rule()?;
        Some(Self { site, rule: site.node().validations.get(index)?, index, name })
    }

    fn expression(&self) -> Expression {
        if self.name == "messageExpression" { Expression::Message } else { Expression::Rule }
    }

    fn loc(&self) -> Option<Loc> {
        self.site.rule_part(self.index, self.name).or_else(|| self.site.definition())
    }

    fn says(&self, message: impl Into<String>) -> Diagnostic {
        self.code(Code::INVALID_RULE, message)
    }

    fn code(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.loc(), message)
    }

    /// Compiles again to locate the faults.
    fn does_not_compile(&self) -> Option<Diagnostic> {
        let source = match self.expression() {
            Expression::Rule => &self.rule.rule,
            Expression::Message => self.rule.message_expression.as_ref()?,
        };
        let old = if self.rule.optional_old_self == Some(true) { OldSelf::Optional } else { OldSelf::Plain };
        let node = self.site.node();
        let decl = Decl::of(node, self.site.steps.is_empty(), "selfType")?;
        let mut issues = compile(source, &decl, old).err()?;
        issues.sort_by_key(|issue| issue.position);
        let what = if self.expression() == Expression::Rule { "rule" } else { "message expression" };
        let first = issues.first()?;
        let message = format!("the {what} does not compile: {}", first.message);
        let mut diagnostic = match self.place(first) {
            Some(loc) => Diagnostic::error(Code::INVALID_RULE, loc, message),
            None => self.says(message).note(kubesmith_apiextensions::cel::render(source, &issues)),
        };
        for issue in issues.iter().skip(1).take(3) {
            diagnostic = diagnostic.secondary(self.place(issue), issue.message.clone());
        }
        let notation = || {
            let is_syntax = first.message.starts_with("Syntax error");
            is_syntax.then(|| {
                "write CEL, such as `self.min <= self.max`; `kubesmith explain validation.rule` has more"
                    .to_owned()
            })
        };
        let help = fields::hint(self.site, &first.message).or_else(|| habits::hint(source, first));
        Some(diagnostic.help_opt(help.or_else(notation)))
    }

    /// The location of a fault inside the literal.
    fn place(&self, issue: &Issue) -> Option<Loc> {
        let literal = self.site.rule_part(self.index, self.name)?;
        literal::character(self.site.input.sources, literal, issue.position)
    }

    fn costs_too_much(&self) -> Option<Diagnostic> {
        let excess =
            explain_cost(self.site.root, &self.site.steps, self.index, self.expression(), RULE_LIMIT)?;
        let what = if self.expression() == Expression::Rule { "rule" } else { "message expression" };
        let message = format!(
            "the {what} could cost {} on {}, where an API server allows {}",
            excess.cost,
            self.site.name(),
            RULE_LIMIT
        );
        Some(bound(self.site, self.code(Code::RULE_COST, message), &excess))
    }

    fn has_no_old_value(&self) -> Diagnostic {
        let site = self.site;
        // The server names the outermost list; any list on the path that is no map has the same effect.
        let list = (0..site.steps.len()).find(|depth| {
            site.steps[*depth] == Step::Items
                && site
                    .root
                    .at(&site.steps[..*depth])
                    .is_some_and(|node| node.list_type.as_deref() != Some("map"))
        });
        let depth = list.unwrap_or(site.steps.len());
        let name = site.name_of(&site.steps[..depth]);
        self.says(format!("`oldSelf` cannot be known here: the old and new items of {name} are not told apart"))
            .secondary(site.definition_of(depth), "this list")
            .help("make it a list with keys, `#[schema(list_type = \"map\", list_map_key = \"...\")]`, or put the rule on the list")
    }

    fn leads_nowhere(&self) -> Diagnostic {
        let path = self.rule.field_path.as_deref().unwrap_or_default();
        let name = path.trim_start_matches('.');
        let near = closest(name, self.site.node().properties.keys().map(String::as_str));
        let message = format!("`field_path = \"{path}\"` names no field of {}", self.site.name());
        self.says(message).help(near.map_or_else(
            || "the path starts where the rule stands; names are those of the JSON".to_string(),
            |near| format!("did you mean \".{near}\"?"),
        ))
    }
}

/// Adds the values to bound, and the excess.
fn bound(site: &Site<'_>, diagnostic: Diagnostic, excess: &Excess) -> Diagnostic {
    let key = |keyword: &str| Keyword::named(keyword).and_then(|it| it.attribute).map_or("", |it| it.name);
    let mut diagnostic = diagnostic;
    let value = excess.bound.map_or("...".to_string(), |bound| bound.to_string());
    let mut wanted = Vec::new();
    for place in &excess.large {
        let own = site.at(place.steps.clone());
        let label = match place.bound {
            None => format!("{} has no `{}`", own.name(), key(place.keyword)),
            Some(bound) => format!("`{}` of {} is {bound}", key(place.keyword), own.name()),
        };
        diagnostic = diagnostic.secondary(own.definition(), label);
        wanted.push(own.attribute(&format!("{} = {value}", key(place.keyword))));
    }
    diagnostic =
        diagnostic.note("API servers estimate the cost from the largest values that the schema allows");
    match (wanted.is_empty(), excess.bound) {
        (true, _) => diagnostic.help("simplify the expression: no bound would make it cheap enough"),
        (false, Some(_)) => {
            diagnostic.help(format!("set {}: smaller values cost less", wanted.join(" and ")))
        }
        (false, None) => {
            diagnostic.help(format!("set {}, and simplify the expression", wanted.join(" and ")))
        }
    }
}
