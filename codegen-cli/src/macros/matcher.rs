//! Matches the tokens of a call with a rule: follows all threads through the rule at once, token by token.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ExpandError;
use super::definition::{Matcher, Operator};
use super::fragment::Fragment;
use super::tree::{Delimiter, Tree};

/// The value of a variable.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    One(Vec<Tree>),
    Many(Vec<Binding>),
}

/// The most threads through a rule at once. `$($(a)+)+` doubles them with each token.
const WAYS_LIMIT: usize = 1 << 12;

pub(super) type Bindings = BTreeMap<String, Binding>;

/// The result of matching a rule.
pub(super) enum Outcome {
    Matched(Bindings),
    /// The index of the token that the rule refuses.
    Failed {
        at: usize,
        error: ExpandError,
    },
}

/// A step of a rule, as rustc compiles it: groups and repetitions refer to other steps by their numbers.
enum Step<'a> {
    Token(&'a Tree),
    Open(Delimiter),
    Close,
    Variable(&'a str, Fragment, usize),
    /// The beginning of a repetition at a depth: its operator, the variables in it, and the step after it.
    Begin(Operator, usize, Vec<&'a str>, usize),
    /// Its end without a separator: the operator and the first step.
    Again(Operator, usize),
    /// The separator; the next step returns to the first one.
    Separator(&'a Tree),
    Back(usize),
    End,
}

/// A token of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Open(Delimiter),
    Close,
    Tree,
    /// The rest of an operator after a fragment took its first characters.
    Rest(&'a str),
    End,
}

/// The groups and tokens of a call in sequence.
struct Input<'a> {
    /// Each token with the trees from it to the end of its group.
    tokens: Vec<(Token<'a>, &'a [Tree])>,
    /// The index after each tree, for groups.
    after: Vec<usize>,
}

/// A thread through the steps, with the last of its events in [`Run::events`].
#[derive(Clone, Copy)]
struct MatchThread {
    step: usize,
    last: Option<usize>,
}

/// A binding of a variable, in the open repetitions; threads that part share their past.
struct Event<'a> {
    before: Option<usize>,
    name: &'a str,
    depth: usize,
    binding: Binding,
}

pub(super) fn matches(matcher: &[Matcher], input: &[Tree]) -> Result<Outcome, ExpandError> {
    let mut steps = Vec::new();
    compile(matcher, 0, &mut steps);
    steps.push(Step::End);
    let mut flat = Input { tokens: Vec::new(), after: Vec::new() };
    flat.add(input);
    flat.push(Token::End, &[]);
    Run { steps: steps.into(), input: flat, events: Vec::new(), at: 0, rest: None }.run()
}

/// Adds the steps of a matcher at a depth of repetitions; returns its variables.
fn compile<'a>(matcher: &'a [Matcher], depth: usize, steps: &mut Vec<Step<'a>>) -> Vec<&'a str> {
    let mut variables = Vec::new();
    for part in matcher {
        match part {
            Matcher::Token(tree) => steps.push(Step::Token(tree)),
            Matcher::Group(delimiter, inner) => {
                steps.push(Step::Open(*delimiter));
                variables.extend(compile(inner, depth, steps));
                steps.push(Step::Close);
            }
            Matcher::Variable(name, fragment) => {
                variables.push(name.as_str());
                steps.push(Step::Variable(name, *fragment, depth));
            }
            Matcher::Repeat(inner, separator, operator) => {
                let begin = steps.len();
                steps.push(Step::End);
                let inside = compile(inner, depth + 1, steps);
                match separator {
                    Some(separator) => {
                        steps.extend([Step::Separator(separator), Step::Back(begin + 1)]);
                    }
                    None => steps.push(Step::Again(*operator, begin + 1)),
                }
                variables.extend(inside.iter().copied());
                steps[begin] = Step::Begin(*operator, depth, inside, steps.len());
            }
        }
    }
    variables
}

impl<'a> Input<'a> {
    fn push(&mut self, token: Token<'a>, trees: &'a [Tree]) {
        self.tokens.push((token, trees));
        self.after.push(self.tokens.len());
    }

    fn add(&mut self, trees: &'a [Tree]) {
        for (at, tree) in trees.iter().enumerate() {
            let Tree::Group(delimiter, inner, ..) = tree else {
                self.push(Token::Tree, &trees[at..]);
                continue;
            };
            let open = self.tokens.len();
            self.push(Token::Open(*delimiter), &trees[at..]);
            self.add(inner);
            self.push(Token::Close, &[]);
            self.after[open] = self.tokens.len();
        }
    }
}

struct Run<'a> {
    steps: Rc<[Step<'a>]>,
    input: Input<'a>,
    events: Vec<Event<'a>>,
    at: usize,
    rest: Option<&'a str>,
}

/// The threads that accept the token, those at a fragment, and the one that ends here.
#[derive(Default)]
struct Found {
    taken: Vec<MatchThread>,
    fragments: Vec<MatchThread>,
    ended: Vec<MatchThread>,
}

impl<'a> Run<'a> {
    fn run(mut self) -> Result<Outcome, ExpandError> {
        let mut threads = vec![MatchThread { step: 0, last: None }];
        loop {
            let found = self.follow(threads);
            let trees = self.input.tokens[self.at].1;
            let place = trees.first().and_then(Tree::loc);
            if found.taken.len() > WAYS_LIMIT {
                return Err(ExpandError::new("the call can be parsed in too many ways", place));
            }
            if self.token() == Token::End {
                return match found.ended[..] {
                    [thread] => Ok(Outcome::Matched(self.bindings(thread))),
                    [] => Ok(self.failed("the call ends too early")),
                    _ => Err(ExpandError::new("the rule matches in several ways", place)),
                };
            }
            match (found.taken.len(), found.fragments.len()) {
                (0, 0) => return Ok(self.failed("no rule expects")),
                (_, 0) => {
                    self.rest = None;
                    self.at += 1;
                    threads = found.taken;
                }
                (0, 1) => {
                    threads = found.fragments;
                    self.fragment(&mut threads[0])?;
                }
                _ => return Err(ExpandError::new("the call can be parsed in several ways", place)),
            }
        }
    }

    /// The values of the variables on a thread.
    fn bindings(self, thread: MatchThread) -> Bindings {
        let mut past = Vec::new();
        let mut at = thread.last;
        while let Some(event) = at {
            past.push(event);
            at = self.events[event].before;
        }
        let mut events: Vec<Option<Event<'_>>> = self.events.into_iter().map(Some).collect();
        let mut bindings = Bindings::new();
        for event in past.into_iter().rev().filter_map(|at| events[at].take()) {
            bind(&mut bindings, event);
        }
        bindings
    }

    fn event(&mut self, thread: &mut MatchThread, name: &'a str, depth: usize, binding: Binding) {
        self.events.push(Event { before: thread.last, name, depth, binding });
        thread.last = Some(self.events.len() - 1);
    }

    fn token(&self) -> Token<'a> {
        self.rest.map_or(self.input.tokens[self.at].0, Token::Rest)
    }

    fn failed(&self, what: &str) -> Outcome {
        let place = self.input.tokens[self.at].1.first();
        let message = match place.and_then(Tree::text) {
            Some(text) => format!("{what} `{text}` here"),
            None if self.token() == Token::Close => "a group of the call ends too early".to_string(),
            None if self.token() == Token::End => what.to_string(),
            None => format!("{what} this"),
        };
        Outcome::Failed { at: self.at, error: ExpandError::new(message, place.and_then(Tree::loc)) }
    }

    fn takes(&self, token: &Tree) -> bool {
        match self.token() {
            Token::Tree => self.input.tokens[self.at].1.first().is_some_and(|tree| tree.is_same_token(token)),
            Token::Rest(text) => token.is_punct(text),
            Token::Open(_) | Token::Close | Token::End => false,
        }
    }

    /// Follows the threads until each is at a token.
    fn follow(&mut self, mut threads: Vec<MatchThread>) -> Found {
        let mut found = Found::default();
        let steps = self.steps.clone();
        while let Some(mut thread) = threads.pop() {
            match &steps[thread.step] {
                Step::Token(token) => {
                    if self.takes(token) {
                        thread.step += 1;
                        found.taken.push(thread);
                    }
                }
                Step::Open(delimiter) => {
                    if self.token() == Token::Open(*delimiter) {
                        thread.step += 1;
                        found.taken.push(thread);
                    }
                }
                Step::Close => {
                    if self.token() == Token::Close {
                        thread.step += 1;
                        found.taken.push(thread);
                    }
                }
                Step::Variable(_, fragment, _) => {
                    let trees = self.input.tokens[self.at].1;
                    let may = match self.token() {
                        Token::Tree | Token::Open(_) => {
                            trees.first().is_some_and(|it| fragment.may_begin(it))
                        }
                        Token::Rest(_) => *fragment == Fragment::Tt,
                        Token::Close | Token::End => false,
                    };
                    if may {
                        found.fragments.push(thread);
                    }
                }
                Step::Begin(operator, depth, variables, after) => {
                    for name in variables {
                        self.event(&mut thread, name, *depth, Binding::Many(Vec::new()));
                    }
                    if *operator != Operator::OneOrMore {
                        threads.push(MatchThread { step: *after, ..thread });
                    }
                    thread.step += 1;
                    threads.push(thread);
                }
                Step::Again(operator, first) => {
                    threads.push(MatchThread { step: thread.step + 1, ..thread });
                    if *operator != Operator::ZeroOrOne {
                        thread.step = *first;
                        threads.push(thread);
                    }
                }
                Step::Separator(separator) => {
                    threads.push(MatchThread { step: thread.step + 2, ..thread });
                    if self.takes(separator) {
                        thread.step += 1;
                        found.taken.push(thread);
                    }
                }
                Step::Back(first) => {
                    thread.step = *first;
                    threads.push(thread);
                }
                Step::End if self.token() == Token::End => found.ended.push(thread),
                Step::End => {}
            }
        }
        found
    }

    /// Takes the fragment at the only thread.
    fn fragment(&mut self, thread: &mut MatchThread) -> Result<(), ExpandError> {
        let Step::Variable(name, fragment, depth) = self.steps[thread.step] else { return Ok(()) };
        let trees = self.input.tokens[self.at].1;
        let mut taken = Vec::new();
        if let Some(text) = self.rest.take() {
            taken.extend(trees.first().and_then(Tree::loc).map(|loc| Tree::Punct(text.to_string(), loc)));
            self.at += 1;
        } else {
            let (count, characters) = fragment
                .length(trees)
                .map_err(|message| ExpandError::new(message, trees.first().and_then(Tree::loc)))?;
            taken.extend_from_slice(&trees[..count]);
            (0..count).for_each(|_| self.at = self.input.after[self.at]);
            if let (Some(Tree::Punct(text, loc)), true) = (trees.get(count), characters > 0) {
                taken.push(Tree::Punct(text[..characters].to_string(), *loc));
                self.rest = Some(&text[characters..]);
            }
        }
        let is_one = matches!(&taken[..], [Tree::Fragment(kind, _)] if *kind == fragment);
        if !fragment.is_transparent() && !is_one {
            taken = vec![Tree::Fragment(fragment, taken)];
        }
        self.event(thread, name, depth, Binding::One(taken));
        thread.step += 1;
        Ok(())
    }
}

/// Adds the value of a variable to the innermost open repetition.
fn bind(bindings: &mut Bindings, event: Event<'_>) {
    let Event { name, depth, binding, .. } = event;
    if depth == 0 {
        bindings.insert(name.to_string(), binding);
        return;
    }
    let mut at = bindings.get_mut(name);
    for _ in 1..depth {
        at = match at {
            Some(Binding::Many(items)) => items.last_mut(),
            _ => return,
        };
    }
    if let Some(Binding::Many(items)) = at {
        items.push(binding);
    }
}
