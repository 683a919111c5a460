//! Names of a language resolved, and everything refused that could not be compiled or would lose words.

use std::collections::HashMap;

use super::filter::Filter;
use super::source::{Alternative, BUILT_IN, GrammarError, Item, Place, Row, Said, Source, Written};

/// How an alternative is written, by numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// as it stands
    Text(String),
    /// part number `n` of the alternative, through filters
    Part(usize, Vec<Filter>),
}

/// One way to say something, with its parts numbered in the order they are said.
#[derive(Clone, Debug)]
pub struct Way {
    /// the rule's name
    pub rule: String,
    /// what is said
    pub said: Said,
    /// names of its parts
    pub parts: Vec<String>,
    /// how it is written
    pub written: Vec<Piece>,
    /// thousandths
    pub cost: u32,
    /// where it stands
    pub place: Place,
}

/// A table or a rule.
#[derive(Clone, Debug)]
pub enum Named {
    /// rows
    Table(Vec<Row>),
    /// alternatives, by number in [`Names::ways`]
    Rule(Vec<usize>),
}

/// All names of a language.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// tables and rules
    pub named: HashMap<String, Named>,
    /// names so that each comes after those it uses
    pub order: Vec<String>,
    /// every alternative of every rule
    pub ways: Vec<Way>,
    /// classes with the rule that writes them, as they are defined
    pub classes: Vec<(String, String)>,
}

/// Resolves all names.
///
/// # Errors
/// A name defined twice or not at all, a rule that uses itself, a part that is said and not written or written and not said, an unknown
/// filter, a repetition of what may be nothing, an alternative that may be nothing.
pub fn resolve(sources: Vec<Source>) -> Result<Names, GrammarError> {
    let mut names = Names::default();
    let mut places: HashMap<String, Place> = HashMap::new();
    let mut uses: HashMap<String, Vec<(String, Place)>> = HashMap::new();
    let mut defined = Vec::new();
    let mut classes = Vec::new();
    for source in sources {
        for (name, place, item) in source.items {
            if BUILT_IN.contains(&name.as_str()) {
                return Err(GrammarError { place, what: format!("{name} is built in: expected another name") });
            }
            if let Some(first) = places.insert(name.clone(), place.clone()) {
                return Err(GrammarError { place, what: format!("{name} is defined twice: first at {first}") });
            }
            let named = match item {
                Item::Table(rows) => Named::Table(rows),
                Item::Rule(alternatives) => {
                    let mut ways = Vec::new();
                    for alternative in alternatives {
                        uses.entry(name.clone())
                            .or_default()
                            .extend(parts(&alternative.said).into_iter().map(|(_, of, at)| (of, at)));
                        ways.push(names.ways.len());
                        names.ways.push(way(&name, alternative)?);
                    }
                    Named::Rule(ways)
                }
            };
            defined.push(name.clone());
            names.named.insert(name, named);
        }
        classes.extend(source.classes);
    }
    for (label, place, rule) in classes {
        if !names.named.contains_key(&rule) {
            return Err(GrammarError { place, what: format!("class {label}: no rule or table is called {rule}") });
        }
        if names.classes.iter().any(|(l, _)| *l == label) {
            return Err(GrammarError { place, what: format!("class {label} is defined twice") });
        }
        names.classes.push((label, rule));
    }
    let mut done: HashMap<String, bool> = HashMap::new();
    for name in &defined {
        visit(name, &mut Vec::new(), &uses, &names.named, &mut done, &mut names.order)?;
    }
    for name in &names.order {
        if let Named::Rule(ways) = &names.named[name] {
            for &w in ways {
                may_not_be_empty(&names.ways[w])?;
            }
        }
    }
    Ok(names)
}

type Uses = HashMap<String, Vec<(String, Place)>>;

fn visit(
    name: &str,
    path: &mut Vec<String>,
    uses: &Uses,
    named: &HashMap<String, Named>,
    done: &mut HashMap<String, bool>,
    order: &mut Vec<String>,
) -> Result<(), GrammarError> {
    if done.contains_key(name) {
        return Ok(());
    }
    path.push(name.to_string());
    for (of, place) in uses.get(name).into_iter().flatten() {
        if BUILT_IN.contains(&of.as_str()) {
            continue;
        }
        let wrong = |what: String| Err(GrammarError { place: place.clone(), what });
        if !named.contains_key(of) {
            return wrong(format!("no table or rule is called {of}"));
        }
        if path.contains(of) {
            return wrong(format!("{of} uses itself: {} → {of}; only + repeats", path.join(" → ")));
        }
        visit(of, path, uses, named, done, order)?;
    }
    path.pop();
    done.insert(name.to_string(), true);
    order.push(name.to_string());
    Ok(())
}

/// Parts of what is said, in order: name, what it is, place.
fn parts(said: &Said) -> Vec<(String, String, Place)> {
    match said {
        Said::Word(_) => Vec::new(),
        Said::Part { name, of, place } => vec![(name.clone(), of.clone(), place.clone())],
        Said::Seq(all) | Said::Any(all) => all.iter().flat_map(parts).collect(),
        Said::Perhaps(one) | Said::Many(one, _) => parts(one),
    }
}

fn way(rule: &str, alternative: Alternative) -> Result<Way, GrammarError> {
    let said = parts(&alternative.said);
    let mut names: Vec<String> = Vec::new();
    for (name, _, _) in &said {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let mut written = Vec::new();
    for piece in alternative.written {
        written.push(match piece {
            Written::Text(text) => Piece::Text(text),
            Written::Part { name, filters, place } => {
                let Some(part) = names.iter().position(|n| *n == name) else {
                    return Err(GrammarError {
                        place,
                        what: format!("{{{name}}} is written, but no part that is said has that name"),
                    });
                };
                let filter = |f: &String| {
                    Filter::named(f).ok_or_else(|| GrammarError {
                        place: place.clone(),
                        what: format!("no filter is called {f}: expected one of {}", Filter::names().join(", ")),
                    })
                };
                Piece::Part(part, filters.iter().map(filter).collect::<Result<_, _>>()?)
            }
        });
    }
    for (name, _, place) in &said {
        let part = names.iter().position(|n| n == name);
        if !written.iter().any(|p| matches!(p, Piece::Part(n, _) if Some(*n) == part)) {
            return Err(GrammarError {
                place: place.clone(),
                what: format!("part {name} is said but not written: its words would be lost"),
            });
        }
    }
    let Alternative { said, cost, place, .. } = alternative;
    Ok(Way { rule: rule.to_string(), said, parts: names, written, cost, place })
}

fn may_be_empty(said: &Said) -> bool {
    match said {
        Said::Word(_) | Said::Part { .. } => false, // every rule takes a word at least: checked for each
        Said::Seq(all) => all.iter().all(may_be_empty),
        Said::Any(all) => all.iter().any(may_be_empty),
        Said::Perhaps(_) => true,
        Said::Many(one, _) => may_be_empty(one),
    }
}

fn may_not_be_empty(way: &Way) -> Result<(), GrammarError> {
    fn repeats(said: &Said) -> Option<&Place> {
        match said {
            Said::Word(_) | Said::Part { .. } => None,
            Said::Seq(all) | Said::Any(all) => all.iter().find_map(repeats),
            Said::Perhaps(one) => repeats(one),
            Said::Many(one, place) => may_be_empty(one).then_some(place).or_else(|| repeats(one)),
        }
    }
    if may_be_empty(&way.said) {
        let what = format!("rule {}: this alternative may be said without a word; expected at least one", way.rule);
        return Err(GrammarError { place: way.place.clone(), what });
    }
    match repeats(&way.said) {
        Some(place) => {
            Err(GrammarError { place: place.clone(), what: "+ repeats what may be nothing: it would never end".into() })
        }
        None => Ok(()),
    }
}
