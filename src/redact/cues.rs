//! Cues: what is said before a secret, and what the answer looks like.
//!
//! After a *cue* ("my pin is", "date of birth") the next parts may be the *answer* ([`super::answer`]). A question that
//! somebody asked ([`super::questions`]) has the same effect. Parts of the answer with the *shape* of the class are
//! redacted.
//!
//! A cue is no fixed sentence. It is composed of groups of words, in the file `cues.txt`, a section for each answer:
//!
//! - `say`: what names the class wherever it is said ("passcode").
//! - `own` and `tell`: what names the class only where it is somebody's ("his", "my old") or where something is told of it
//!   or asked for it ("could you read me the account", "account ends").
//! - `near 6 a, b + c, d`: a word of each group within six words, in any order: "the numbers on the back", "on the back
//!   there are three numbers". `then` is the same in this order only.
//!
//! The section `number` is the *topic*: words after which a number may be a secret, although nothing announces it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::phrases::Phrases;
use super::{NAME, OPEN, RedactionRule};

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// digits
    Digits,
    /// letters and digits
    Code,
    /// months, ordinals and digits
    Date,
    /// a number, a name and a street word
    Address,
    /// any words, from the announcement or the first word of an asked answer to the answer's end
    Words,
    /// words that are not common
    Name,
    /// numbers of three digits or more that no reason frees
    Topic,
    /// a name that corrects one which somebody else has said
    Correction,
}

/// The answers of a class that its cues announce.
#[derive(Debug)]
pub(super) struct Cue {
    /// the class
    pub class: &'static str,
    pub shape: Shape,
    /// parts after the cue in which the answer may begin
    pub reach: usize,
    /// what names the class by itself
    phrases: Vec<String>,
    /// groups of words that do so together
    groups: Vec<Near>,
}

/// Groups of words, one of each of which must be said within a stretch of parts.
#[derive(Clone, Debug, PartialEq)]
struct Near {
    groups: Vec<Vec<String>>,
    within: usize,
    /// the groups' order counts
    in_order: bool,
}

/// Most sections, because they are bits of [`super::AskedClasses`].
const MAX_CUES: usize = 32;
/// Parts from the word that says whose a thing is to the thing, both counted: "my old savings account".
const OWN_WITHIN: usize = 4;
/// Parts from a thing to what is told of it: "account at the moment is".
const TOLD_WITHIN: usize = 4;
/// Parts from a word that asks to the thing: "could you read me out the whole account".
const ASK_WITHIN: usize = 8;

/// All cues, in the order of the file, which is that of bits in snapshots.
pub(super) static CUES: LazyLock<Vec<Cue>> = LazyLock::new(|| read(include_str!("cues.txt")));

/// Reads the file of cues. Its faults are the program's, and a test reads it.
fn read(text: &str) -> Vec<Cue> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(rest) => lines.last_mut().expect("a line that goes on has a beginning").push_str(&format!(" {rest}")),
            None => lines.push(line.to_string()),
        }
    }
    let mut sets: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cues: Vec<Cue> = Vec::new();
    for line in &lines {
        let (word, rest) = line.split_once(' ').expect("a line has a keyword");
        let group = |text: &str| -> Vec<String> {
            text.split(',')
                .map(str::trim)
                .flat_map(|item| match item.strip_prefix('@') {
                    Some(set) => sets[set].clone(),
                    None => vec![item.replace('_', " ")],
                })
                .collect()
        };
        if word == "set" {
            let (name, words) = rest.split_once(' ').expect("a set has a name");
            let words = group(words);
            sets.insert(name.into(), words);
            continue;
        }
        if let Some(class) = word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
            let (shape, reach) = rest.split_once(' ').expect("a section has a shape and a reach");
            cues.push(Cue {
                // The table lives as long as the program.
                class: class.to_string().leak(),
                shape: match shape {
                    "digits" => Shape::Digits,
                    "code" => Shape::Code,
                    "date" => Shape::Date,
                    "address" => Shape::Address,
                    "words" => Shape::Words,
                    "name" => Shape::Name,
                    "topic" => Shape::Topic,
                    "correction" => Shape::Correction,
                    other => panic!("a shape, not {other}"),
                },
                reach: reach.parse().expect("the reach is a number"),
                phrases: Vec::new(),
                groups: Vec::new(),
            });
            continue;
        }
        let (own, ask, told) = (&sets["own"], &sets["ask"], &sets["told"]);
        let cue = cues.last_mut().expect("a section comes before its lines");
        let near = |groups: Vec<Vec<String>>, within, in_order| Near { groups, within, in_order };
        match word {
            "say" => cue.phrases.extend(group(rest)),
            "own" => cue.groups.push(near(vec![own.clone(), group(rest)], OWN_WITHIN, true)),
            "tell" => {
                cue.groups.push(near(vec![group(rest), told.clone()], TOLD_WITHIN, true));
                cue.groups.push(near(vec![ask.clone(), group(rest)], ASK_WITHIN, true));
            }
            "near" | "then" => {
                let (within, groups) = rest.split_once(' ').expect("a stretch and groups");
                let within = within.parse().expect("the stretch is a number");
                cue.groups.push(near(groups.split('+').map(group).collect(), within, false));
            }
            other => panic!("a keyword, not {other}"),
        }
    }
    assert!(cues.len() <= MAX_CUES, "cues are bits of a set");
    cues
}

/// A cue that was said: where it ends, how many parts it has, and its index in [`CUES`]. Of cues that end at the same
/// part the longest is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoundCue {
    pub end: usize,
    pub count: usize,
    pub bit: u8,
}

/// The cues of a profile's classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cues {
    phrases: Phrases<u8>,
    /// words of groups, with the group's index in `groups`
    words: Phrases<u16>,
    /// for each group of words, the patterns that have it
    groups: Vec<Vec<u16>>,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq)]
struct Pattern {
    bit: u8,
    groups: Vec<u16>,
    within: usize,
    in_order: bool,
}

impl Cues {
    /// Of the classes that the rules name, with a profile's own phrases.
    pub fn new(rules: &BTreeMap<String, RedactionRule>, own: &BTreeMap<String, Vec<String>>) -> Cues {
        let mut cues = Cues::default();
        let mut known: BTreeMap<Vec<String>, u16> = BTreeMap::new();
        for (bit, cue) in CUES.iter().enumerate().filter(|(_, cue)| is_redacted(cue, rules)) {
            let bit = bit as u8;
            let own = own.get(cue.class).into_iter().flatten();
            cue.phrases.iter().chain(own).for_each(|phrase| cues.phrases.add(phrase, bit));
            for near in &cue.groups {
                let groups: Vec<u16> = near.groups.iter().map(|words| cues.group(words, &mut known)).collect();
                let pattern = cues.patterns.len() as u16;
                groups.iter().for_each(|group| cues.groups[usize::from(*group)].push(pattern));
                cues.patterns.push(Pattern { bit, groups, within: near.within, in_order: near.in_order });
            }
        }
        cues
    }

    fn group(&mut self, words: &[String], known: &mut BTreeMap<Vec<String>, u16>) -> u16 {
        if let Some(group) = known.get(words) {
            return *group;
        }
        let group = self.groups.len() as u16;
        words.iter().for_each(|word| self.words.add(word, group));
        self.groups.push(Vec::new());
        known.insert(words.to_vec(), group);
        group
    }

    /// Whether the profile has no cue.
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// The cues that these parts say, by their ends.
    pub fn find(&self, parts: &[&str]) -> Vec<FoundCue> {
        let mut found: Vec<FoundCue> = Vec::new();
        if self.is_empty() {
            return found;
        }
        // The latest two places of each group, since a word may be in two groups.
        let mut latest: Vec<Latest> = vec![[None; 2]; self.groups.len()];
        for at in 0..parts.len() {
            found.extend(self.phrases.at(&parts[at..]).map(|(count, bit)| FoundCue { end: at + count, count, bit }));
            for (count, group) in self.words.at(&parts[at..]) {
                let places = &mut latest[usize::from(group)];
                *places = [Some((at, at + count)), places[0]];
                for pattern in &self.groups[usize::from(group)] {
                    let pattern = &self.patterns[usize::from(*pattern)];
                    if let Some((from, end)) = pattern.place(&latest, group) {
                        found.push(FoundCue { end, count: end - from, bit: pattern.bit });
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The latest places of a group, the last one first: where each begins and ends.
type Latest = [Option<(usize, usize)>; 2];

impl Pattern {
    /// Where the pattern is said, if `group` has just completed it.
    fn place(&self, latest: &[Latest], group: u16) -> Option<(usize, usize)> {
        if self.in_order && self.groups.last() != Some(&group) {
            return None;
        }
        self.place_from(latest, group, 0, None)
    }

    /// The same for the groups from `at` on, where those before stand at `known`. Only the last place of `group` counts.
    fn place_from(&self, latest: &[Latest], group: u16, at: usize, known: Option<(usize, usize)>) -> Option<(usize, usize)> {
        let Some(&next) = self.groups.get(at) else { return known };
        let places = latest[usize::from(next)].into_iter().flatten().take(if next == group { 1 } else { 2 });
        places.into_iter().find_map(|place| {
            let joined = match known {
                None => place,
                Some((from, end)) if end <= place.0 || !self.in_order && place.1 <= from => (from.min(place.0), end.max(place.1)),
                Some(_) => return None,
            };
            (joined.1 - joined.0 <= self.within).then(|| self.place_from(latest, group, at + 1, Some(joined))).flatten()
        })
    }
}

/// Classes of numbers. Where one of them is redacted, a number that nobody announced may be a secret by its shape.
pub(super) const NUMBERS: [&str; 8] = ["card", "ssn", "phone", "account", "pin", "cvv", "id", "passport"];

/// Whether a profile with these rules looks for a cue.
pub(super) fn is_redacted(cue: &Cue, rules: &BTreeMap<String, RedactionRule>) -> bool {
    match cue.class {
        OPEN => NUMBERS.iter().any(|class| rules.contains_key(*class)),
        class => rules.get(class).is_some_and(|rule| class != NAME || rule.said),
    }
}

/// Whether a cue's phrases ask for its class when somebody else says them. Words that people say all day only announce
/// what follows them at once.
pub(super) fn asks(bit: u8) -> bool {
    CUES[usize::from(bit)].reach > BARE_REACH
}

/// Whether only a question asks for the answer. An answer in words may be any words, so talk about its class is not
/// enough.
pub(super) fn needs_question(bit: u8) -> bool {
    matches!(CUES[usize::from(bit)].shape, Shape::Words | Shape::Name | Shape::Address)
}

/// Whether a cue is only what is talked about.
pub(super) fn is_topic(bit: u8) -> bool {
    matches!(CUES[usize::from(bit)].shape, Shape::Topic | Shape::Correction)
}

/// Parts after a bare word ("policy", "number is") in which the answer may begin, at most.
const BARE_REACH: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: &str, text: &str) -> Vec<usize> {
        let rule = RedactionRule { action: super::super::Action::Mask, keep_last: 0, said: true };
        let cues = Cues::new(&BTreeMap::from([(class.to_string(), rule)]), &BTreeMap::new());
        let parts: Vec<&str> = text.split(' ').collect();
        cues.find(&parts).into_iter().filter(|cue| CUES[usize::from(cue.bit)].class == class).map(|cue| cue.end).collect()
    }

    #[test]
    fn the_table_names_each_class_and_its_bits_fit() {
        assert!(CUES.len() <= MAX_CUES);
        assert!(CUES.iter().all(|cue| !cue.phrases.is_empty() || !cue.groups.is_empty()));
        assert_eq!(CUES[0].class, "card", "bits are in snapshots");
        assert_eq!(CUES[20].class, "id", "bits are in snapshots");
    }

    #[test]
    fn words_of_a_group_count_within_their_stretch_and_in_their_order() {
        assert_eq!(found("dob", "the day on which he was born").len(), 2, "the phrase, and the day with it");
        assert!(found("licence", "the number of the driving licence").contains(&6));
        assert_eq!(found("licence", "the number of people that came all the way to see a new licence"), Vec::<usize>::new());
        assert!(found("account", "the account ends").contains(&3) && !found("account", "ends the").contains(&2));
    }
}
