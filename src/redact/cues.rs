//! Cues: what is said before a secret, and what the answer looks like.
//!
//! After a *cue* ("my pin is", "date of birth") the next parts may be the *answer* ([`super::answer`]). A question that
//! somebody asked ([`super::questions`]) has the same effect. Parts of the answer with the *shape* of the class are
//! redacted.
//!
//! A cue is no fixed sentence. It is composed of groups of words, in each language's file `cues.txt`, a section for each
//! answer:
//!
//! - `say`: what names the class wherever it is said ("passcode").
//! - `own` and `tell`: what names the class only where it is somebody's ("his", "my old") or where something is told of it
//!   or asked for it ("could you read me the account", "account ends").
//! - `near 6 a, b + c, d`: a word of each group within six words, in any order: "the numbers on the back", "on the back
//!   there are three numbers".
//!
//! The section `number` is the *topic*: words after which a number may be a secret, although nothing announces it.

use std::collections::BTreeMap;

use super::phrases::Phrases;
use super::{NAME, OPEN, RedactionRule, RedactionWords};

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

impl Shape {
    /// As files of cues name it.
    fn name(self) -> &'static str {
        match self {
            Shape::Digits => "digits",
            Shape::Code => "code",
            Shape::Date => "date",
            Shape::Address => "address",
            Shape::Words => "words",
            Shape::Name => "name",
            Shape::Topic => "topic",
            Shape::Correction => "correction",
        }
    }
}

/// The answers of a class that cues announce.
#[derive(Debug)]
pub(super) struct Cue {
    /// the class
    pub class: &'static str,
    pub shape: Shape,
}

/// What is said before the answers of a [`Cue`], in one language: a section of the file `cues.txt`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CueTexts {
    /// parts after the cue in which the answer may begin
    reach: usize,
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

/// Parts from the word that says whose a thing is to the thing, both counted: "my old savings account".
const OWN_WITHIN: usize = 4;
/// Parts from a thing to what is told of it: "account at the moment is".
const TOLD_WITHIN: usize = 4;
/// Parts from a word that asks to the thing: "could you read me out the whole account".
const ASK_WITHIN: usize = 8;
/// Most parts that a cue reaches, or in which groups of words stand.
const MAX_STRETCH: usize = 30;
/// Most phrases and groups' words of one language.
const MAX_TEXTS: usize = 100_000;

const fn cue(class: &'static str, shape: Shape) -> Cue {
    Cue { class, shape }
}

/// All cues, in the order of the sections of each language's file. They are bits of [`super::AskedClasses`], and so of
/// snapshots: a new one goes to the end, and there are at most 32.
pub(super) static CUES: [Cue; 23] = [
    cue("card", Shape::Digits),
    cue("ssn", Shape::Digits),
    cue("phone", Shape::Digits),
    cue("account", Shape::Code),
    cue("cvv", Shape::Digits),
    cue("pin", Shape::Digits),
    cue("expiry", Shape::Date),
    cue("dob", Shape::Date),
    cue("address", Shape::Address),
    cue("passport", Shape::Code),
    cue("licence", Shape::Code),
    cue("iban", Shape::Code),
    cue("password", Shape::Words),
    cue("email", Shape::Words),
    cue("name", Shape::Name),
    cue("id", Shape::Code),
    cue("id", Shape::Words),
    cue("answer", Shape::Words),
    cue("address", Shape::Code),
    cue("account", Shape::Code),
    cue("id", Shape::Code),
    cue("number", Shape::Topic),
    cue("name", Shape::Correction),
];
const _: () = assert!(CUES.len() <= u32::BITS as usize);

/// A line of the file with the lines that go on from it, and its number.
fn lines(text: &str, file: &str) -> Result<Vec<(usize, String)>, String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("  "), lines.last_mut()) {
            (Some(rest), Some((_, line))) => line.push_str(&format!(" {rest}")),
            (Some(_), None) => return Err(format!("{file}:{}: expected a line before the one that goes on from it", at + 1)),
            (None, _) => lines.push((at + 1, line.to_string())),
        }
    }
    Ok(lines)
}

/// Reads a language's file of cues.
///
/// # Errors
/// A line that is none of the kinds that the file's head lists; a set that is used before its line; sections that are not
/// those of [`CUES`] in their order, or that say nothing. The message has `file`, the line and what is expected.
pub(super) fn read(text: &str, file: &str) -> Result<Vec<CueTexts>, String> {
    let mut sets: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut cues: Vec<CueTexts> = Vec::new();
    let lines = lines(text, file)?;
    let mut count = 0;
    for (number, line) in &lines {
        let wrong = |what: String| format!("{file}:{number}: {what}");
        let (word, rest) = line.split_once(' ').ok_or_else(|| wrong(format!("{line:?}: expected a keyword and words")))?;
        let mut group = |sets: &BTreeMap<&str, Vec<String>>, text: &str| -> Result<Vec<String>, String> {
            let mut words = Vec::new();
            for item in text.split(',').map(str::trim) {
                match item.strip_prefix('@') {
                    Some(set) => words.extend(known(sets, set).map_err(&wrong)?.iter().cloned()),
                    None if item.is_empty() || item.to_lowercase() != item => {
                        return Err(wrong(format!("{item:?}: expected a word in lower case between commas")));
                    }
                    None => words.push(item.replace('_', " ")),
                }
            }
            count += words.len();
            if count > MAX_TEXTS { Err(wrong(format!("expected at most {MAX_TEXTS} words and phrases"))) } else { Ok(words) }
        };
        let stretch = |text: &str| {
            let number = text.parse().ok().filter(|n| (1..=MAX_STRETCH).contains(n));
            number.ok_or_else(|| wrong(format!("{text:?}: expected a number of words from 1 to {MAX_STRETCH}")))
        };
        if word == "set" {
            let (name, words) = rest.split_once(' ').ok_or_else(|| wrong("expected set NAME and words".into()))?;
            sets.insert(name, group(&sets, words)?);
            continue;
        }
        if let Some(class) = word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
            let named = |cue: &Cue| format!("[{}] {}", cue.class, cue.shape.name());
            let Some(wanted) = CUES.get(cues.len()) else {
                return Err(wrong(format!("expected no section after {}", CUES.last().map_or(String::new(), named))));
            };
            let reach = rest.split_once(' ').filter(|(shape, _)| class == wanted.class && *shape == wanted.shape.name());
            let Some((_, reach)) = reach else {
                return Err(wrong(format!(
                    "{line:?}: expected \"{} REACH\" here: the sections have the order of English in every language, because snapshots \
                     count them",
                    named(wanted)
                )));
            };
            says_something(&cues).map_err(wrong)?;
            cues.push(CueTexts { reach: stretch(reach)?, phrases: Vec::new(), groups: Vec::new() });
            continue;
        }
        let Some(cue) = cues.last_mut() else {
            return Err(wrong(format!("{word:?}: expected a section such as [card] before it")));
        };
        let near = |groups: Vec<Vec<String>>, within, in_order| Near { groups, within, in_order };
        match word {
            "say" => cue.phrases.extend(group(&sets, rest)?),
            "own" => {
                cue.groups.push(near(vec![known(&sets, "own").map_err(wrong)?.clone(), group(&sets, rest)?], OWN_WITHIN, true))
            }
            "tell" => {
                let (ask, told) = (known(&sets, "ask").map_err(wrong)?, known(&sets, "told").map_err(wrong)?);
                cue.groups.push(near(vec![group(&sets, rest)?, told.clone()], TOLD_WITHIN, true));
                cue.groups.push(near(vec![ask.clone(), group(&sets, rest)?], ASK_WITHIN, true));
            }
            "near" => {
                let (within, groups) =
                    rest.split_once(' ').ok_or_else(|| wrong("expected a number of words and groups of words".into()))?;
                let groups = groups.split('+').map(|words| group(&sets, words)).collect::<Result<_, _>>()?;
                cue.groups.push(near(groups, stretch(within)?, false));
            }
            other => return Err(wrong(format!("{other:?}: expected say, own, tell, near, set or a section"))),
        }
    }
    let last = lines.last().map_or(1, |(number, _)| *number);
    says_something(&cues).map_err(|what| format!("{file}:{last}: {what}"))?;
    match CUES.get(cues.len()) {
        Some(missing) => {
            Err(format!("{file}:{last}: expected a section [{}] {} after this", missing.class, missing.shape.name()))
        }
        None => Ok(cues),
    }
}

fn known<'a>(sets: &'a BTreeMap<&str, Vec<String>>, name: &str) -> Result<&'a Vec<String>, String> {
    sets.get(name).ok_or_else(|| format!("no set is called {name:?}: expected a line \"set {name} …\" before this one"))
}

/// Whether the last section says something.
fn says_something(cues: &[CueTexts]) -> Result<(), String> {
    let is_empty = cues.last().is_some_and(|cue| cue.phrases.is_empty() && cue.groups.is_empty());
    let class = CUES[cues.len().saturating_sub(1)].class;
    if is_empty {
        Err(format!("[{class}] before this line says nothing: expected what is said before such a secret"))
    } else {
        Ok(())
    }
}

/// A cue that was said: where it ends, how many parts it has, and its index in [`CUES`]. Of cues that end at the same
/// part the longest is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoundCue {
    pub end: usize,
    pub count: usize,
    pub bit: u8,
    /// what was said names the class by itself
    pub is_named: bool,
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
    /// for each of [`CUES`], the parts after it in which the answer may begin
    reach: Vec<usize>,
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
    pub fn new(words: &RedactionWords, rules: &BTreeMap<String, RedactionRule>, own: &BTreeMap<String, Vec<String>>) -> Cues {
        let mut cues = Cues { reach: words.cues.iter().map(|texts| texts.reach).collect(), ..Cues::default() };
        let mut known: BTreeMap<Vec<String>, u16> = BTreeMap::new();
        let texts = CUES.iter().zip(&words.cues).enumerate();
        for (bit, (cue, texts)) in texts.filter(|(_, (cue, _))| is_redacted(cue, rules)) {
            let bit = bit as u8;
            let own = own.get(cue.class).into_iter().flatten();
            texts.phrases.iter().chain(own).for_each(|phrase| cues.phrases.add(phrase, words, bit));
            for near in &texts.groups {
                let groups: Vec<u16> = near.groups.iter().map(|group| cues.group(words, group, &mut known)).collect();
                let pattern = cues.patterns.len() as u16;
                groups.iter().for_each(|group| cues.groups[usize::from(*group)].push(pattern));
                cues.patterns.push(Pattern { bit, groups, within: near.within, in_order: near.in_order });
            }
        }
        cues
    }

    fn group(&mut self, language: &RedactionWords, words: &[String], known: &mut BTreeMap<Vec<String>, u16>) -> u16 {
        if let Some(group) = known.get(words) {
            return *group;
        }
        let group = self.groups.len() as u16;
        words.iter().for_each(|word| self.words.add(word, language, group));
        self.groups.push(Vec::new());
        known.insert(words.to_vec(), group);
        group
    }

    /// Parts after a cue in which the answer may begin.
    pub fn reach(&self, bit: u8) -> usize {
        self.reach.get(usize::from(bit)).copied().unwrap_or_default()
    }

    /// Whether a cue's phrases ask for its class when somebody else says them. Words that people say all day only announce
    /// what follows them at once.
    pub fn asks(&self, bit: u8) -> bool {
        self.reach(bit) > BARE_REACH
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
            found.extend(self.phrases.at(&parts[at..]).map(|(count, bit)| FoundCue {
                end: at + count,
                count,
                bit,
                is_named: true,
            }));
            for (count, group) in self.words.at(&parts[at..]) {
                let places = &mut latest[usize::from(group)];
                *places = [Some((at, at + count)), places[0]];
                for pattern in &self.groups[usize::from(group)] {
                    let pattern = &self.patterns[usize::from(*pattern)];
                    if let Some((from, end)) = pattern.place(&latest, group) {
                        found.push(FoundCue { end, count: end - from, bit: pattern.bit, is_named: false });
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
        let rules = BTreeMap::from([(class.to_string(), rule)]);
        let cues = Cues::new(&RedactionWords::english(), &rules, &BTreeMap::new());
        let parts: Vec<&str> = text.split(' ').collect();
        cues.find(&parts).into_iter().filter(|cue| CUES[usize::from(cue.bit)].class == class).map(|cue| cue.end).collect()
    }

    #[test]
    fn the_table_names_each_class_and_its_bits_fit() {
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
