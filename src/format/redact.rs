//! What must not leave: found in the words of a release before anything of them is written, so that it is in no field of a record.
//!
//! Found are spans of the classes a profile redacts; digits said (or written) one after another that are long enough for a card, a social security,
//! telephone or account number, whatever the tagger made of them; digits that may go on in words to come, or went on from words before
//! ([`Edges`]); e-mail addresses that are spelled out; and phrases of the profile's lists. Corrections and fillers between digits do not hide
//! them, and leave with them.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::dictionary::Dictionary;
use super::itn::filter::luhn;
use crate::session::digits::{MAX_JOINTS, Role};

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
pub struct Rule {
    /// what becomes of it
    pub action: Action,
    /// of a mask, so many last digits or letters stay
    #[serde(default)]
    pub keep_last: usize,
}

/// Fewest digits that are taken for a card's.
const CARD_DIGITS: usize = 12;
/// Classes found by counting digits, with the fewest and the most of each. A card's number has 13 to 19 (ISO/IEC 7812-1); one lost by the recogniser must
/// not let the others go.
const COUNTED: [(&str, Range<usize>); 4] =
    [("card", CARD_DIGITS..usize::MAX), ("ssn", 9..10), ("phone", 7..16), ("account", 6..usize::MAX)];
/// Class of digits that may go on.
pub const OPEN: &str = "number";
/// Class of a profile's own list of names, and of its list of words that are not to be read.
pub const NAME: &str = "name";
/// See [`NAME`].
pub const PROFANITY: &str = "profanity";
/// Classes whose digits are no one's number, unless there are as many in a row as a card has.
const HARMLESS: [&str; 9] = ["money", "percent", "date", "time", "year", "ordinal", "measure", "fraction", "address"];

/// What a profile redacts.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    /// by class, in lower case
    pub rules: BTreeMap<String, Rule>,
    /// names
    pub names: Dictionary,
    /// words that are not to be read
    pub profanity: Dictionary,
}

/// A word of a release, kept or removed.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// in lower case
    pub spoken: &'a str,
    /// in a number
    pub role: Role,
    /// whether it stays in the text
    pub kept: bool,
    /// class of the entity it is part of
    pub class: Option<&'a str>,
}

/// Whether digits at the ends of a release may belong to a number that reaches over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// the words before it ended inside one
    pub before: bool,
    /// it ends inside one
    pub after: bool,
}

/// Words that leave together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// which
    pub words: Range<usize>,
    /// what they are
    pub class: String,
}

impl Redaction {
    /// Whether numbers are redacted, so that none may be released in halves.
    pub fn guards_digits(&self) -> bool {
        COUNTED.iter().any(|(class, _)| self.rules.contains_key(*class))
    }

    /// What happens to a class. Digits that may go on are masked whole, since nobody knows yet what they are.
    pub fn rule(&self, class: &str) -> Rule {
        let whole = Rule { action: Action::Mask, keep_last: 0 };
        if class == OPEN { whole } else { self.rules.get(class).copied().unwrap_or(whole) }
    }

    /// What of `words` must not leave, in order.
    pub fn regions(&self, words: &[Heard], edges: Edges) -> Vec<Region> {
        let mut class: Vec<Option<&str>> = words.iter().map(|w| w.class.filter(|c| self.rules.contains_key(*c))).collect();
        let spoken: Vec<&str> = words.iter().map(|w| w.spoken).collect();
        for (list, name) in [(&self.names, NAME), (&self.profanity, PROFANITY)] {
            let mut at = 0;
            while at < words.len() && !list.is_empty() {
                let count = list.longest(&spoken[at..]).map_or(0, |(count, _)| count);
                class[at..at + count].fill(Some(name));
                at += count.max(1);
            }
        }
        if self.rules.contains_key("email") {
            for found in emails(words) {
                class[found].fill(Some("email"));
            }
        }
        if self.guards_digits() {
            for run in runs(words) {
                if let Some(of) = self.number(words, &run, edges) {
                    class[run].fill(Some(of));
                }
            }
        }
        let mut regions: Vec<Region> = Vec::new();
        for (at, class) in class.into_iter().enumerate().filter_map(|(at, class)| Some((at, class?))) {
            // Words that are not to be read are masked one by one; everything else as a whole.
            match regions.last_mut().filter(|r| r.words.end == at && r.class == class && class != PROFANITY) {
                Some(region) => region.words.end += 1,
                None => regions.push(Region { words: at..at + 1, class: class.to_string() }),
            }
        }
        regions
    }

    /// What a run of digits is, if it must not leave.
    fn number(&self, words: &[Heard], run: &Range<usize>, edges: Edges) -> Option<&'static str> {
        let joints_only = |range: Range<usize>| range.len() <= MAX_JOINTS && words[range].iter().all(|w| w.role == Role::Joint);
        if edges.before && joints_only(0..run.start) || edges.after && joints_only(run.end..words.len()) {
            return Some(OPEN);
        }
        let within = &words[run.clone()];
        let is_digit = |w: &&Heard| matches!(w.role, Role::Digits(_));
        // With a correction, the number may be what stays or all that was said.
        let (all, kept) = (count(within.iter()), count(within.iter().filter(|w| w.kept)));
        // Several years in a row may be a card that was tagged so.
        let is_short = all < CARD_DIGITS;
        if is_short && within.iter().filter(is_digit).all(|w| w.class.is_some_and(|c| HARMLESS.contains(&c))) {
            return None;
        }
        let fits = |lengths: &Range<usize>| lengths.contains(&all) || lengths.contains(&kept);
        let found: Vec<&'static str> =
            COUNTED.iter().filter(|(class, lengths)| self.rules.contains_key(*class) && fits(lengths)).map(|(c, _)| *c).collect();
        let digits = digits(within);
        let is_card = (13..=19).contains(&digits.len()) && luhn(&digits);
        // A long number without a card's check digit is rather an account's, where both are redacted.
        found.iter().copied().find(|c| is_card || *c != "card" || found.len() == 1)
    }
}

/// How many digits are said.
fn count<'a>(words: impl Iterator<Item = &'a Heard<'a>>) -> usize {
    let (mut sum, mut times) = (0, 1);
    for word in words {
        match word.role {
            Role::Digits(n) => {
                sum += n * times;
                times = 1;
            }
            Role::Times(n) => times = n,
            Role::Joint | Role::Other => {}
        }
    }
    sum
}

/// Kept single digits and written ones, in order: what a check digit can be tried on.
fn digits(words: &[Heard]) -> String {
    let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let of = |w: &&Heard| match names.iter().position(|n| *n == w.spoken) {
        Some(digit) => digit.to_string(),
        None if matches!(w.spoken, "oh" | "o" | "nought") => "0".into(),
        None => w.spoken.chars().filter(char::is_ascii_digit).collect(),
    };
    words.iter().filter(|w| w.kept).map(|w| of(&w)).collect()
}

/// Stretches from a digit to the last digit that is not too far from the one before it.
fn runs(words: &[Heard]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut joints = usize::MAX;
    for (at, word) in words.iter().enumerate() {
        match word.role {
            Role::Digits(_) | Role::Times(_) => {
                match runs.last_mut().filter(|_| joints <= MAX_JOINTS) {
                    Some(run) => run.end = at + 1,
                    None => runs.push(at..at + 1),
                }
                joints = 0;
            }
            Role::Joint => joints = joints.saturating_add(1),
            Role::Other => joints = usize::MAX,
        }
    }
    runs
}

/// E-mail addresses, written, or said as "… at … dot …".
fn emails(words: &[Heard]) -> Vec<Range<usize>> {
    let sign = |w: &str| matches!(w, "dot" | "underscore" | "dash" | "hyphen" | "point" | "period");
    let small = |w: &Heard| sign(w.spoken) || w.spoken.chars().count() == 1 || matches!(w.role, Role::Digits(_) | Role::Times(_));
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word.spoken.contains('@') && word.spoken.len() > 1 {
            found.push(at..at + 1);
            continue;
        }
        // "sam at example dot com", "sam at my mail dot com": the dot within four words.
        let dot = words[at..].iter().take(6).position(|w| matches!(w.spoken, "dot" | "period")).map(|n| at + n);
        let (true, Some(mut end)) = (matches!(word.spoken, "at" | "@") && at > 0, dot.filter(|dot| *dot > at + 1)) else {
            continue;
        };
        while end + 1 < words.len() && matches!(words[end].spoken, "dot" | "period") {
            end += 2;
        }
        let mut start = at - 1;
        while start > 0 && (small(&words[start - 1]) || small(&words[start])) {
            start -= 1;
        }
        found.push(start..end.min(words.len()));
    }
    found
}

/// Asterisks for all letters and digits of `text` but the last `keep`; marks between what is kept stay.
pub fn mask(text: &str, keep: usize) -> String {
    let kept: String = {
        let mut last: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).rev().take(keep).collect();
        last.reverse();
        last.into_iter().collect()
    };
    let hidden = text.chars().filter(|c| c.is_alphanumeric()).count() - kept.chars().count();
    // How long a name or an address was is no one's business either.
    let hidden = if text.chars().all(|c| !c.is_alphabetic()) { hidden } else { 5 };
    format!("{}{kept}", "*".repeat(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digits::role;

    fn redaction(classes: &[&str]) -> Redaction {
        let rule = Rule { action: Action::Mask, keep_last: 0 };
        Redaction { rules: classes.iter().map(|c| (c.to_string(), rule)).collect(), ..Redaction::default() }
    }

    /// Words in brackets are removed; `word/class` is part of an entity.
    fn found(text: &str, classes: &[&str], edges: Edges) -> Vec<(String, String)> {
        let words: Vec<Heard> = text
            .split_whitespace()
            .map(|w| {
                let (bare, kept) = w.strip_prefix('(').map_or((w, true), |w| (w.trim_end_matches(')'), false));
                let (spoken, class) = bare.split_once('/').map_or((bare, None), |(w, c)| (w, Some(c)));
                let role = if kept || role(spoken) != Role::Other { role(spoken) } else { Role::Joint };
                Heard { spoken, role, kept, class }
            })
            .collect();
        let regions = redaction(classes).regions(&words, edges);
        let text = |r: &Region| words[r.words.clone()].iter().map(|w| w.spoken).collect::<Vec<_>>().join(" ");
        regions.iter().map(|r| (r.class.clone(), text(r))).collect()
    }

    #[test]
    fn numbers_are_found_by_their_length_whatever_stands_between_their_digits() {
        const CARD: &str = "four one one one one one one one one one one one one one one one";
        let whole = Edges::default();
        let one = |class: &str, text: &str| vec![(class.to_string(), text.to_string())];
        assert_eq!(found(&format!("my card is {CARD} thanks"), &["card"], whole), one("card", CARD));
        assert_eq!(found(&format!("it is {CARD} bye"), &["card", "account"], whole), one("card", CARD));
        let wrong = CARD.replacen("four", "five", 1);
        assert_eq!(found(&format!("it is {wrong} bye"), &["card", "account"], whole), one("account", &wrong));
        assert_eq!(found(&format!("it is {wrong} bye"), &["card"], whole), one("card", &wrong));
        let slow = "four one one one (uh) one one one two (no) (wait) one one one one and one one one one";
        assert_eq!(found(&format!("so {slow} okay bye"), &["card"], whole)[0].0, "card");
        assert_eq!(found("4111 1111 1111 1111 right", &["card"], whole), one("card", "4111 1111 1111 1111"));
        let ssn = "one two three four five six seven eight nine";
        assert_eq!(found(&format!("{ssn} thanks"), &["ssn"], whole), one("ssn", ssn));
        let years = "four/year one/year one/year one/year ".repeat(4);
        assert_eq!(found(&format!("{years} bye"), &["card"], whole)[0].0, "card", "whatever the tagger made of it");
        assert_eq!(found("double five five oh one nine nine please", &["phone"], whole).len(), 1);
        for fine in [
            "i have two cats",
            "in twenty/year twenty/year one/year we had",
            "one/money million/money two/money hundred/money thousand/money dollars/money ok then",
        ] {
            assert_eq!(found(fine, &["card", "ssn", "phone", "account"], whole), [], "{fine}");
        }
    }

    #[test]
    fn digits_at_an_open_edge_leave_masked_however_few_they_are() {
        let open = |before, after| Edges { before, after };
        let number = |text: &str| vec![("number".to_string(), text.to_string())];
        assert_eq!(found("it is four one", &["card"], open(false, true)), number("four one"));
        assert_eq!(found("it is four one", &["card"], open(false, false)), []);
        assert_eq!(found("uh one one then goodbye", &["card"], open(true, false)), number("one one"));
        assert_eq!(found("thanks i have two cats", &["card"], open(true, false)), []);
        assert_eq!(found("i have two", &["name"], open(false, true)), [], "where no number is redacted none is held back");
    }

    #[test]
    fn addresses_and_listed_phrases_are_found_as_they_are_said() {
        let whole = Edges::default();
        let email = |text: &str| vec![("email".to_string(), text.to_string())];
        assert_eq!(
            found("write to sam dot lee at example dot com today", &["email"], whole),
            email("sam dot lee at example dot com")
        );
        assert_eq!(
            found("j r seven at my mail dot co dot uk ok", &["email"], whole),
            email("j r seven at my mail dot co dot uk")
        );
        assert_eq!(found("it is sam@example.com", &["email"], whole), email("sam@example.com"));
        assert_eq!(found("meet at four", &["email"], whole), []);
        assert_eq!(
            found("it costs ten/money dollars/money", &["money"], whole),
            [("money".to_string(), "ten dollars".to_string())]
        );
    }

    #[test]
    fn a_mask_keeps_the_last_and_tells_no_length_of_what_is_not_a_number() {
        assert_eq!(mask("4111 1111 1111 1234", 4), "************1234");
        assert_eq!(mask("555-0198", 0), "*******");
        assert_eq!(mask("sam@example.com", 0), "*****");
        assert_eq!(mask("AB1234", 2), "*****34");
    }
}
