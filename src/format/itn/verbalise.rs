//! Grammars read backwards: how something written may be said. For training text, and to check what another model wrote.
//!
//! Rules are matched against text from the outside in: a template's texts must stand where they are, its parts are what lies between, undone of their
//! filters, and read in turn. Nothing is compiled for it; what was found for a rule and a text is remembered.

use std::collections::HashMap;
use std::rc::Rc;

use super::ast::Said;
use super::check::{Named, Names, Piece, Way};
use super::filter::Filter;

/// Steps of one search: what takes more is given up, with what was found so far.
const MAX_STEPS: usize = 400_000;
/// Readings of any one part that are followed further.
const MAX_PART_READINGS: usize = 4096;

/// Words, in order.
type Reading = Vec<String>;

/// Ways to say what `rule` writes as `text`, those of earlier alternatives first. Some may be read as something else: the caller knows by
/// normalising them.
pub fn readings(names: &Names, rule: &str, text: &str) -> Vec<Reading> {
    let mut reader = Reader { names, known: HashMap::new(), steps: 0 };
    reader.named(rule, text).to_vec()
}

struct Reader<'a> {
    names: &'a Names,
    known: HashMap<(&'a str, String), Rc<Vec<Reading>>>,
    steps: usize,
}

/// What some of the words say, and what is left of each part to be said.
type Partial = (Reading, Vec<String>);

impl<'a> Reader<'a> {
    fn tired(&mut self) -> bool {
        self.steps += 1;
        self.steps > MAX_STEPS
    }

    fn named(&mut self, name: &'a str, text: &str) -> Rc<Vec<Reading>> {
        if let Some(known) = self.known.get(&(name, text.to_string())) {
            return known.clone();
        }
        let mut found: Vec<Reading> = Vec::new();
        match self.names.named.get(name) {
            None if text.chars().all(char::is_alphanumeric) && !text.is_empty() => found.push(vec![text.to_lowercase()]),
            None => {}
            Some(Named::Table(rows)) => found.extend(rows.iter().filter(|r| r.written == text).map(|r| r.said.clone())),
            Some(Named::Rule(ways)) => {
                for &way in ways {
                    let way = &self.names.ways[way];
                    for parts in self.parts(way, text) {
                        let said = self.said(way, &way.said, vec![(Vec::new(), parts)]);
                        found.extend(
                            said.into_iter().filter(|(_, left)| left.iter().all(String::is_empty)).map(|(words, _)| words),
                        );
                    }
                }
            }
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|r| seen.insert(r.clone()));
        found.truncate(MAX_PART_READINGS);
        let found = Rc::new(found);
        self.known.insert((name, text.to_string()), found.clone());
        found
    }

    /// What the parts of an alternative wrote, if it wrote `text`: every way to tell them apart.
    fn parts(&mut self, way: &Way, text: &str) -> Vec<Vec<String>> {
        let mut found = vec![(text, vec![None::<String>; way.parts.len()])];
        for (i, piece) in way.written.iter().enumerate() {
            let last = i + 1 == way.written.len();
            let mut next = Vec::new();
            for (rest, parts) in found {
                if self.tired() {
                    return Vec::new();
                }
                match piece {
                    Piece::Text(t) => next.extend(rest.strip_prefix(t.as_str()).map(|rest| (rest, parts))),
                    Piece::Part(n, filters) => {
                        let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
                        for end in ends.filter(|&end| !last || end == rest.len()) {
                            for value in undo(filters, &rest[..end]) {
                                if parts[*n].as_ref().is_none_or(|known| *known == value) {
                                    let mut parts = parts.clone();
                                    parts[*n] = Some(value);
                                    next.push((&rest[end..], parts));
                                }
                            }
                        }
                    }
                }
            }
            found = next;
        }
        let whole = found.into_iter().filter(|(rest, _)| rest.is_empty());
        whole.map(|(_, parts)| parts.into_iter().map(Option::unwrap_or_default).collect()).collect()
    }

    /// Goes on from each of `from` with what `said` says.
    fn said(&mut self, way: &'a Way, said: &'a Said, from: Vec<Partial>) -> Vec<Partial> {
        let mut out: Vec<Partial> = Vec::new();
        match said {
            Said::Word(word) => {
                out = from;
                out.iter_mut().for_each(|(words, _)| words.push(word.clone()));
            }
            Said::Part { name, of, .. } => {
                let part = way.parts.iter().position(|p| p == name).expect("parts are listed");
                for (words, left) in from {
                    for end in left[part].char_indices().map(|(at, c)| at + c.len_utf8()).collect::<Vec<_>>() {
                        if self.tired() {
                            return out;
                        }
                        for reading in self.named(of, &left[part][..end]).iter() {
                            let mut left = left.clone();
                            left[part].drain(..end);
                            out.push(([words.as_slice(), reading].concat(), left));
                        }
                    }
                }
            }
            Said::Seq(all) => out = all.iter().fold(from, |from, one| self.said(way, one, from)),
            Said::Any(all) => all.iter().for_each(|one| out.extend(self.said(way, one, from.clone()))),
            Said::Perhaps(one) => {
                out = from.clone();
                out.extend(self.said(way, one, from));
            }
            Said::Many(one, _) => {
                let mut open = from;
                while !open.is_empty() && !self.tired() {
                    let left: Vec<usize> = open.iter().map(|(_, left)| left.iter().map(String::len).sum()).collect();
                    let most = left.into_iter().max().unwrap_or(0);
                    open = self.said(way, one, open);
                    out.extend(open.iter().cloned());
                    // Only what has said some of a part may say more.
                    open.retain(|(_, left)| left.iter().map(String::len).sum::<usize>() < most);
                }
            }
        }
        out
    }
}

/// Texts that `filters` make `text` of.
fn undo(filters: &[Filter], text: &str) -> Vec<String> {
    filters.iter().rev().fold(vec![text.to_string()], |texts, f| texts.iter().flat_map(|t| f.undo(t)).collect())
}
