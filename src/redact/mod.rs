//! What must not leave: found in the words of a stream before anything of them is written, so that it is in no field of
//! a record.
//!
//! [`token`] makes words comparable. [`number`] finds digits and how many they may be, [`cues`] what is said around a
//! secret (cues, questions, shapes of answers in `shapes`), [`phrases`] listed names. [`Redaction::find`] puts them
//! together. It is a function of spoken words alone: a tagger can only add to what is found, but for amounts and dates,
//! which it may take out where a word in them says that they are one.
//!
//! Two ask it: the session module, so that no segment ends inside something found or about to be found, and the format
//! module, which takes out what is found of a segment, knowing what was said before and, as far as it is known, after.

mod cues;
mod email;
pub mod number;
pub mod phrases;
pub mod questions;
mod shapes;
pub mod speakers;
pub mod token;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use number::{MAX_JOINTS, Readings, Role, Spoken, role};
use phrases::Phrases;
pub use questions::{AnswerWindow, AskedClasses, ChannelContext, SpeechTime};

/// What becomes of a redacted stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Action {
    /// asterisks, `keep_last` characters aside
    Mask,
    /// the name of its class in brackets
    Tag,
    /// nothing; it is listed as removed, without its words
    Drop,
}

/// A class's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedactionRule {
    /// what becomes of it
    pub action: Action,
    /// of a mask, so many last digits or letters stay
    #[serde(default)]
    pub keep_last: usize,
    /// of names: also those on no list, by what is said around them
    #[serde(default)]
    pub said: bool,
}

/// Most digits or letters that a mask keeps: PCI DSS 3.4.1 allows the last four of a card.
pub const MAX_KEEP_LAST: usize = 4;
/// Fewest digits that are taken for a card's: 13 to 19 (ISO/IEC 7812-1), of which a recogniser may lose one.
const CARD_DIGITS: usize = 12;
/// Classes found by counting digits, with the fewest of each. There is no most: a number that another one joins is
/// still in there.
const COUNTED: [(&str, usize); 4] = [("card", CARD_DIGITS), ("ssn", 9), ("phone", 7), ("account", 6)];
/// Numbers joined by words that are a list of quantities, and nobody's number, at most.
const LISTED_QUANTITIES: usize = 3;
/// Class of what may go on, and may become something that is redacted.
pub const OPEN: &str = "number";
/// Class of names.
pub const NAME: &str = "name";
/// Class of words that are not to be read.
pub const PROFANITY: &str = "profanity";

/// What a profile redacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redaction {
    rules: BTreeMap<String, RedactionRule>,
    names: Phrases<()>,
    profanity: Phrases<()>,
    cues: Phrases<u8>,
    /// how long what is asked for may be the answer
    pub asked_for: Option<AnswerWindow>,
}

/// A word of a stream, as far as redaction cares.
#[derive(Clone, Copy, Debug)]
pub struct RedactionWord<'a> {
    /// its comparable parts ([`token::comparable`])
    pub parts: &'a str,
    /// whether it stays in the text
    pub kept: bool,
    /// whether it was said, and is no guess that another word may replace
    pub sure: bool,
    /// what had been asked for
    pub asked: AskedClasses,
    /// class of the entity that it is part of
    pub class: Option<&'a str>,
    /// whether that is an amount, date or the like that some word of it says it is
    pub measured: bool,
}

impl<'a> RedactionWord<'a> {
    /// Words said before or after those that are looked at, one a part, as [`add_around`] writes them down.
    pub fn around(parts: &'a str) -> impl Iterator<Item = RedactionWord<'a>> {
        let heard = |part: &'a str| RedactionWord {
            parts: part.strip_prefix(REMOVED).unwrap_or(part),
            kept: !part.starts_with(REMOVED),
            sure: true,
            asked: AskedClasses::default(),
            class: None,
            measured: false,
        };
        parts.split(' ').filter(|p| !p.is_empty()).map(heard)
    }
}

/// Begins a part of a word that is not kept, in what stands around a segment. No part begins so by itself.
const REMOVED: char = '-';

/// Adds a word's parts to those that stand around a segment.
pub fn add_around(around: &mut String, parts: &str, kept: bool) {
    for part in parts.split(' ').filter(|p| !p.is_empty()) {
        if !around.is_empty() {
            around.push(' ');
        }
        if !kept {
            around.push(REMOVED);
        }
        around.push_str(part);
    }
}

/// Words that leave together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// which
    pub words: Range<usize>,
    /// what they are
    pub class: String,
    /// whether later words may add to it, or show that it is nothing
    pub open: bool,
    /// whether it is one number of an unmistakable length, so that its last digits are its last
    pub exact: bool,
}

/// A part of a word.
#[derive(Clone, Copy, Debug)]
struct Part<'a> {
    text: &'a str,
    word: usize,
    role: Role,
    kept: bool,
    sure: bool,
    measured: bool,
}

/// What is found of each part.
struct Marks {
    class: Vec<Option<&'static str>>,
    open: Vec<bool>,
    exact: Vec<bool>,
}

impl Marks {
    fn mark(&mut self, parts: Range<usize>, class: &'static str, open: bool) {
        self.class[parts.clone()].fill(Some(class));
        self.exact[parts.clone()].fill(false);
        self.open[parts].fill(open);
    }
}

impl Redaction {
    /// Of a profile's rules, with phrases that ask for a class beside those that come with the program.
    pub fn new(
        rules: BTreeMap<String, RedactionRule>,
        phrases: &BTreeMap<String, Vec<String>>,
        asked_for: Option<AnswerWindow>,
    ) -> Redaction {
        let mut cues = Phrases::default();
        for (bit, cue) in cues::CUES.iter().enumerate() {
            if !rules.get(cue.class).is_some_and(|rule| cue.class != NAME || rule.said) {
                continue;
            }
            let own = phrases.get(cue.class).into_iter().flatten().map(String::as_str);
            cue.phrases.iter().copied().chain(own).for_each(|phrase| cues.add(phrase, bit as u8));
        }
        Redaction { rules, cues, asked_for, ..Redaction::default() }
    }

    /// Classes that are found by what is said around them.
    pub fn cued_classes() -> impl Iterator<Item = &'static str> {
        cues::CUES.iter().map(|cue| cue.class)
    }

    /// Adds a name that is redacted, wherever it is said.
    pub fn add_name(&mut self, name: &str) {
        self.names.add(name, ());
    }

    /// Adds a phrase that is not to be read.
    pub fn add_profanity(&mut self, phrase: &str) {
        self.profanity.add(phrase, ());
    }

    /// What happens to a class. What may go on is masked whole, since nobody knows yet what it is.
    pub fn rule(&self, class: &str) -> RedactionRule {
        let whole = RedactionRule { action: Action::Mask, keep_last: 0, said: false };
        if class == OPEN { whole } else { self.rules.get(class).copied().unwrap_or(whole) }
    }

    /// Whether a class must not leave.
    pub fn redacts(&self, class: &str) -> bool {
        self.rules.contains_key(class)
    }

    fn guards_digits(&self) -> bool {
        COUNTED.iter().any(|(class, _)| self.redacts(class))
    }

    /// What of `words` must not leave, in order. Of them the first `before` have left by now. `more`: words may follow
    /// the last.
    pub fn find(&self, words: &[RedactionWord], before: usize, more: bool) -> Vec<Region> {
        let parts: Vec<Part> = words
            .iter()
            .enumerate()
            .flat_map(|(word, heard)| {
                let of = move |text| {
                    let role = match role(text) {
                        // What leaves the text only stands between digits.
                        Role::Other if !heard.kept => Role::Joint,
                        role => role,
                    };
                    Part { text, word, role, kept: heard.kept, sure: heard.sure, measured: heard.measured }
                };
                heard.parts.split(' ').filter(|p| !p.is_empty()).map(of)
            })
            .collect();
        let n = parts.len();
        let mut marks = Marks { class: vec![None; n], open: vec![false; n], exact: vec![false; n] };
        let mut expected = cues::Expected::new(&parts, words, &self.cues, &self.rules);
        let kept: Vec<usize> = (0..n).filter(|p| parts[*p].kept).collect();
        let all: Vec<usize> = (0..n).collect();
        // As it was said, and as it will be read.
        for order in if kept.len() < n { vec![&all, &kept] } else { vec![&all] } {
            self.listed(&parts, order, more, &mut marks);
            if self.redacts("email") {
                for (from, to, open) in email::find(&order.iter().map(|p| parts[*p]).collect::<Vec<_>>(), more) {
                    marks.mark(order[from]..order[to - 1] + 1, "email", open);
                }
            }
        }
        self.numbers(&parts, before, more, &mut expected, &mut marks);
        shapes::find(&parts, more, &mut expected, &self.rules, &mut marks);
        self.regions(words, &parts, &marks)
    }

    /// Names and words that are not to be read; of names also their beginnings.
    fn listed(&self, parts: &[Part], order: &[usize], more: bool, marks: &mut Marks) {
        let texts: Vec<&str> = order.iter().map(|p| parts[*p].text).collect();
        for (list, class) in [(&self.profanity, PROFANITY), (&self.names, NAME)] {
            for at in (0..texts.len()).filter(|_| !list.is_empty()) {
                if let Some(count) = list.at(&texts[at..]).map(|(count, ())| count).max() {
                    marks.mark(order[at]..order[at + count - 1] + 1, class, false);
                }
                for to in at + 1..=texts.len() {
                    if !list.begins(&texts[at..to]) {
                        break;
                    }
                    let may_go_on = if to == texts.len() { more } else { !parts[order[to]].sure };
                    if may_go_on {
                        marks.mark(order[at]..order[to - 1] + 1, class, true);
                    }
                }
            }
        }
    }

    fn numbers(&self, parts: &[Part], before: usize, more: bool, expected: &mut cues::Expected, marks: &mut Marks) {
        for (run, open) in runs(parts, more) {
            let class = self.number(parts, &run, expected);
            if let Some((class, exact)) = class {
                expected.go_on(run.clone());
                marks.mark(run.clone(), class, open);
                marks.exact[run].fill(exact && !open);
            } else if (open || parts[run.start].word < before && before <= parts[run.end - 1].word) && self.guards_digits() {
                // Of what went on in here the beginning has left masked.
                marks.mark(run, OPEN, open);
            }
        }
    }

    /// What a run of digits is, if it must not leave; and whether it is just that, by its length.
    fn number(&self, parts: &[Part], run: &Range<usize>, expected: &cues::Expected) -> Option<(&'static str, bool)> {
        let within = &parts[run.clone()];
        let spoken: Vec<Spoken> = within.iter().map(|p| Spoken { text: p.text, role: p.role }).collect();
        let unit = parts.get(run.end).is_some_and(|p| number::is_unit(p.text));
        let spoken = if unit { &spoken[..number::measured(&spoken)] } else { &spoken[..] };
        let numbers = || spoken.iter().filter(|s| s.role.is_number());
        numbers().next()?; // all of it is measured otherwise
        let readings = Readings::of(spoken);
        let singly = numbers().filter(|s| matches!(s.role, Role::Digit(_) | Role::Written(_))).count() * 2 >= numbers().count();
        let fits = |digits: usize| readings.least() >= digits || singly && readings.most() >= digits;
        let digits = number::digits(spoken);
        let is_card = number::is_card(&digits);
        let joined = spoken.iter().any(|s| matches!(s.role, Role::Joint | Role::Near));
        // What is corrected at its end may not be its end.
        let tail = within.iter().rev().take(MAX_KEEP_LAST).all(|p| p.kept);
        let exact = tail && !unit && !joined && readings.least() == readings.most();
        let found: Vec<&'static str> = COUNTED.iter().filter(|(c, n)| self.redacts(c) && fits(*n)).map(|(c, _)| *c).collect();
        if let Some(class) = expected.of(run.clone()) {
            // What is as long as a card is one, whatever was asked for last.
            let card = found.first() == Some(&"card") && is_card;
            return Some(if card { ("card", exact) } else { (class, exact && found.contains(&class)) });
        }
        if !fits(CARD_DIGITS) && (within.iter().filter(|p| p.role.is_number()).all(|p| p.measured))
            || number::is_list_of_quantities(spoken, LISTED_QUANTITIES)
        {
            return None;
        }
        let usual = |class: &str| match class {
            "card" => is_card,
            "ssn" => readings.may_be(9),
            "phone" => readings.least() <= 15,
            _ => true,
        };
        // A long number without a card's check digit is rather an account's, where both are redacted.
        let class = found.iter().copied().find(|c| usual(c)).or(found.first().copied())?;
        Some((class, exact && usual(class)))
    }

    /// Parts as words. Entities of redacted classes are added, and what stands between the parts of one.
    fn regions(&self, words: &[RedactionWord], parts: &[Part], marks: &Marks) -> Vec<Region> {
        let mut by_word: Vec<Option<(&str, bool, bool)>> = vec![None; words.len()];
        for (word, heard) in words.iter().enumerate() {
            by_word[word] = heard.class.filter(|c| self.redacts(c)).map(|c| (c, false, false));
        }
        let mut last: Option<(usize, &str)> = None;
        for (at, part) in parts.iter().enumerate() {
            let Some(class) = marks.class[at] else {
                last = None;
                continue;
            };
            // A pause between two words of one name is part of that.
            let from = last.filter(|(_, c)| *c == class && class != PROFANITY).map_or(part.word, |(word, _)| word);
            for word in &mut by_word[from..=part.word] {
                let (open, exact) = word.filter(|(c, ..)| *c == class).map_or((false, true), |(_, open, exact)| (open, exact));
                *word = Some((class, open || marks.open[at], exact && marks.exact[at]));
            }
            last = Some((part.word, class));
        }
        let mut regions: Vec<Region> = Vec::new();
        for (at, (class, open, exact)) in by_word.into_iter().enumerate().filter_map(|(at, found)| Some((at, found?))) {
            // Words that are not to be read are masked one by one; everything else as a whole.
            match regions.last_mut().filter(|r| r.words.end == at && r.class == class && class != PROFANITY) {
                Some(region) => {
                    region.words.end += 1;
                    region.open |= open;
                    region.exact &= exact;
                }
                None => regions.push(Region { words: at..at + 1, class: class.to_string(), open, exact }),
            }
        }
        regions
    }
}

/// Stretches from a digit to the last digit that is not too far from the one before it; and whether what follows them
/// may add to them.
fn runs(parts: &[Part], more: bool) -> Vec<(Range<usize>, bool)> {
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        if !parts[at].role.is_number() {
            at += 1;
            continue;
        }
        let (start, mut end, mut joints) = (at, at + 1, 0);
        let mut open = more;
        at += 1;
        while at < parts.len() {
            match parts[at].role {
                Role::Near | Role::Joint if joints < MAX_JOINTS => joints += 1,
                Role::Near | Role::Joint | Role::Other => {
                    // A word that may be replaced shows nothing.
                    open = parts[end..=at].iter().any(|p| !p.sure);
                    break;
                }
                _ => {
                    end = at + 1;
                    joints = 0;
                }
            }
            at += 1;
        }
        open |= parts[start..end].iter().any(|p| !p.sure);
        runs.push((start..end, open));
        at = end;
    }
    runs
}

#[cfg(test)]
mod tests;
