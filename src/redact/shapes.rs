//! Shapes of answers: codes, dates, addresses, passwords, names. Digits alone are found by [`super::number`].

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use super::cues::{CUES, Expected, GOES_ON, Shape};
use super::number::{Role, is_unit};
use super::{Marks, NAME, Part, RedactionRule};

/// A set of words.
type WordSet = LazyLock<HashSet<&'static str>>;

macro_rules! words {
    ($words:expr) => {
        LazyLock::new(|| $words.split_whitespace().collect())
    };
}

/// Words between letters and digits of a code that do not end the code.
const CODE_JOINTS: usize = 4;
/// Largest number of words of a password.
const PASSWORD_WORDS: usize = 6;
/// Largest number of words of a name that no list has.
const NAME_WORDS: usize = 4;
/// Largest number of words between a house number and its street word.
const STREET_WORDS: usize = 4;

/// Marks answers of all shapes but digits alone.
pub(super) fn find(
    parts: &[Part],
    more: bool,
    expected: &mut Expected,
    rules: &BTreeMap<String, RedactionRule>,
    marks: &mut Marks,
) {
    for (bit, cue) in CUES.iter().enumerate() {
        let bit = bit as u8;
        match (rules.get(cue.class), cue.shape) {
            (None, _) | (_, Shape::Digits) => {}
            (_, Shape::Code) => codes(parts, more, expected, bit, marks),
            (_, Shape::Date) => dates(parts, more, expected, bit, marks),
            (_, Shape::Address) => addresses(parts, more, expected, bit, marks),
            (_, Shape::Words) => words(parts, more, expected, bit, marks),
            (Some(rule), Shape::Name) if rule.said => names(parts, more, expected, bit, marks),
            (_, Shape::Name) => {}
        }
    }
}

fn is_letter(text: &str) -> bool {
    let mut chars = text.chars();
    matches!((chars.next(), chars.next()), (Some(c), None) if c.is_alphabetic())
}

static NATO: WordSet = words!(
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra \
                    tango uniform victor whiskey whisky xray yankee zulu zebra"
);

fn is_nato(text: &str) -> bool {
    NATO.contains(text)
}

/// Whether a part consists of letters, digits or both, as parts of codes do.
fn is_code(part: &Part) -> bool {
    let mixed = || part.text.bytes().any(|b| b.is_ascii_digit()) && part.text.len() > 1;
    part.role.is_number() || is_letter(part.text) || is_nato(part.text) || mixed()
}

/// The end of a stretch of letters and digits that begins at `from`, and their number: "a b, b as in bravo, double
/// four".
fn code_from(parts: &[Part], from: usize) -> (usize, usize) {
    let (mut at, mut end, mut units, mut joints) = (from, from, 0, 0);
    while at < parts.len() && joints <= CODE_JOINTS {
        let spelled = at > from && is_letter(parts[at - 1].text);
        match parts[at].text {
            // The next word says the letter once more. "As in" may be the last known part.
            "as" | "for" | "like" if spelled => {
                let skip =
                    usize::from(parts.get(at + 1).is_some_and(|p| parts[at].text == "as" && matches!(p.text, "in" | "an")));
                at += 1 + skip;
                if at < parts.len() && !parts[at].role.is_number() {
                    at += 1;
                }
                (end, joints) = (at.min(parts.len()), 0);
                continue;
            }
            "capital" | "lowercase" | "uppercase" | "lower" | "upper" | "case" => joints += 1,
            _ if is_code(&parts[at]) => {
                units += 1;
                end = at + 1;
                joints = 0;
            }
            _ if matches!(parts[at].role, Role::Joint | Role::Near) => joints += 1,
            _ => break,
        }
        at += 1;
    }
    (end, units)
}

fn is_open(parts: &[Part], end: usize, joints: usize, more: bool) -> bool {
    let tail = &parts[end..parts.len().min(end + joints + 1)];
    let only_joints = tail.iter().all(|p| matches!(p.role, Role::Joint | Role::Near));
    only_joints && more && tail.len() <= joints || tail.iter().any(|p| !p.sure)
}

fn codes(parts: &[Part], more: bool, expected: &mut Expected, bit: u8, marks: &mut Marks) {
    let class = CUES[usize::from(bit)].class;
    let mut at = 0;
    while at < parts.len() {
        let (end, units) = if is_code(&parts[at]) { code_from(parts, at) } else { (at, 0) };
        if units == 0 {
            at += 1;
            continue;
        }
        let numbers = parts[at..end].iter().filter(|p| p.role.is_number()).count();
        let pronoun = units < 3 && matches!(parts[at].text, "a" | "i") && numbers == 0;
        // "g b two nine …": only an IBAN begins in this way
        let bare_iban = class == "iban"
            && units >= 12
            && parts[at..].iter().take(2).all(|p| is_letter(p.text) || is_nato(p.text))
            && numbers >= 8;
        if (expected.has(at, bit) && !pronoun) || bare_iban {
            expected.go_on(at..end);
            let open = is_open(parts, end, CODE_JOINTS, more);
            marks.mark(at..end, class, open);
            at = end.max(at + 1);
        } else {
            at += 1; // the cue itself may be spelled: "i b a n"
        }
    }
}

static MONTHS: WordSet = words!(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
);
static ORDINALS: WordSet = words!(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth \
                        seventeenth eighteenth nineteenth twentieth thirtieth"
);

fn is_ordinal(text: &str) -> bool {
    let written = || text.starts_with(|c: char| c.is_ascii_digit()) && ["st", "nd", "rd", "th"].iter().any(|s| text.ends_with(s));
    ORDINALS.contains(text) || written()
}

fn is_month(text: &str) -> bool {
    MONTHS.contains(text)
}

fn dates(parts: &[Part], more: bool, expected: &mut Expected, bit: u8, marks: &mut Marks) {
    let is_date = |p: &Part| p.role.is_number() || is_month(p.text) || is_ordinal(p.text);
    let mut at = 0;
    while at < parts.len() {
        if !is_date(&parts[at]) || !expected.has(at, bit) {
            at += 1;
            continue;
        }
        let (start, mut end, mut joints, mut units) = (at, at, 0, 0);
        while at < parts.len() && joints <= CODE_JOINTS {
            if is_date(&parts[at]) {
                (end, joints, units) = (at + 1, 0, units + 1);
            } else if matches!(parts[at].role, Role::Joint | Role::Near) || matches!(parts[at].text, "of" | "in") {
                joints += 1;
            } else {
                break;
            }
            at += 1;
        }
        let open = is_open(parts, end, CODE_JOINTS, more);
        // "first", "second", "may" and "march" by themselves are no dates.
        let sure = |p: &Part| p.role.is_number() || !matches!(p.text, "first" | "second" | "may" | "march");
        if units > 1 || open || sure(&parts[start]) {
            expected.go_on(start..end);
            marks.mark(start..end, CUES[usize::from(bit)].class, open);
        }
        at = end;
    }
}

static STREETS: WordSet = words!("street avenue road lane boulevard drive terrace crescent parkway highway");
/// Street words that have other meanings too. They count only where an address is expected.
static MORE_STREETS: WordSet =
    words!("way court place close square circle gardens grove park row hill mews walk trail st ave rd ln blvd dr");
static UNITS: WordSet = words!("apartment apt unit suite flat floor number room house");

fn addresses(parts: &[Part], more: bool, expected: &mut Expected, bit: u8, marks: &mut Marks) {
    let class = CUES[usize::from(bit)].class;
    let mut at = 0;
    while at < parts.len() {
        let cued = expected.has(at, bit);
        let number = parts[at].role.is_number();
        // Where an address is expected, a house may have a name.
        if !number && (!cued || is_common(parts[at].text)) {
            at += 1;
            continue;
        }
        let start = at;
        while at < parts.len() && parts[at].role.is_number() {
            at += 1;
        }
        let name = at;
        let is_street = |p: &Part| STREETS.contains(p.text) || cued && MORE_STREETS.contains(p.text);
        let is_name = |p: &Part| {
            is_ordinal(p.text)
                || matches!(p.text, "old" | "new" | "main" | "high" | "north" | "south" | "east" | "west" | "park" | "church")
                || !is_common(p.text) && !is_unit(p.text)
        };
        let mut words = 0;
        while at < parts.len() && words < STREET_WORDS && is_name(&parts[at]) && !is_street(&parts[at]) {
            at += 1;
            words += 1;
        }
        let street = parts.get(at).filter(|p| is_street(p) && (words > 0 || !number));
        if street.is_some() && at > start {
            at += 1;
            // apartment four b
            while at + 1 < parts.len() && UNITS.contains(parts[at].text) {
                at += 1;
                while at < parts.len() && (parts[at].role.is_number() || is_letter(parts[at].text)) {
                    at += 1;
                }
            }
            expected.expect(at, GOES_ON, 1 << bit);
            let open = more && at + 2 >= parts.len() || parts[start..at].iter().any(|p| !p.sure);
            marks.mark(start..at, class, open);
        } else if cued && at > start {
            expected.expect(at, GOES_ON, 1 << bit);
            marks.mark(start..at, class, more && at == parts.len());
        } else if at == parts.len() && more || parts[start..parts.len().min(at + 1)].iter().any(|p| !p.sure) {
            // A street word may follow.
            marks.mark(start..at, class, true);
        } else {
            at = name.max(start + 1);
        }
    }
}

/// Words that end a password.
static ENDERS: WordSet =
    words!("thanks thank please okay ok and but that which then i you my can could what not sorry is was it's if because so");
/// Words between "password" and the password.
static LEADS: WordSet = words!("is was it its um so set to called just now still");

fn words(parts: &[Part], more: bool, expected: &mut Expected, bit: u8, marks: &mut Marks) {
    let class = CUES[usize::from(bit)].class;
    let email = class == "email";
    let among = |list: &WordSet, p: &Part| list.contains(p.text);
    // After a cue that says "is", any word may be the password.
    let cues: Vec<usize> = expected.cues.iter().filter(|(_, b)| *b == bit).map(|(end, _)| *end).collect();
    for end in cues {
        let mut at = end;
        let leads = parts[at..].iter().take_while(|p| among(&LEADS, p)).count();
        let is = parts[at.saturating_sub(1)..at + leads].iter().any(|p| matches!(p.text, "is" | "was" | "to" | "at" | "on"));
        at += leads;
        if !is {
            continue;
        }
        let (start, mut count) = (at, 0);
        // The first word may be any word, except a word that shows that no password follows: "my password is not …".
        while at < parts.len()
            && count < PASSWORD_WORDS
            && !among(&ENDERS, &parts[at])
            && !(email && parts[at].text == "at" && dots(&parts[at..]))
        {
            // A spelled password is longer.
            count += usize::from(!is_code(&parts[at]) && parts[at].text != "capital");
            at += 1;
            if email && count > 3 {
                break;
            }
        }
        let common = email && parts[start..at].iter().all(|p| is_common(p.text));
        if at > start && !common {
            marks.mark(start..at, class, more && at == parts.len());
        }
    }
    for at in 0..parts.len() {
        if expected.was_asked(at, bit) && marks.class[at].is_none() && !is_common(parts[at].text) {
            marks.mark(at..at + 1, class, more && at + 1 == parts.len());
        }
    }
}

fn dots(parts: &[Part]) -> bool {
    parts.iter().take(6).any(|p| p.text == "dot")
}

/// Words after "my name is" that do not begin a name.
static NO_NAMES: WordSet = words!("not the a an on in at and that what spelled spelt is it this so for of to");
static PARTICLES: WordSet = words!("van von der den de del della di da la le mc mac bin ibn al el st saint o");
static AFTER_NAMES: WordSet = words!("speaking calling here from");
static TITLES: WordSet = words!("mister mr mrs missus ms miss madam doctor dr");

fn names(parts: &[Part], more: bool, expected: &mut Expected, bit: u8, marks: &mut Marks) {
    let is_name = |p: &Part| PARTICLES.contains(p.text) || !is_common(p.text) && !p.role.is_number();
    // The range of parts from a part on that may be a name. `any`: the first part may be a common word.
    let name_from = |from: usize, any: bool| {
        let mut at = from;
        while at < parts.len()
            && at - from < NAME_WORDS
            && (is_name(&parts[at]) || any && at == from && !NO_NAMES.contains(parts[at].text))
        {
            at += 1;
        }
        at
    };
    let text = |at: usize| parts.get(at).map_or("", |p| p.text);
    let mut found: Vec<(usize, usize, bool)> = Vec::new();
    for at in 0..parts.len() {
        let (one, two) = (text(at), text(at + 1));
        if one == "name" && two == "is" {
            let end = name_from(at + 2, true);
            found.push((at + 2, end, more && end == parts.len()));
        }
        if one == "speaking" && matches!(two, "with" | "to") || TITLES.contains(one) {
            let from = at + if one == "speaking" { 2 } else { 1 };
            let end = name_from(from, false);
            found.push((from, end, more && end == parts.len()));
        }
        if one == "this" && two == "is" {
            let end = name_from(at + 2, false);
            let shown = AFTER_NAMES.contains(text(end));
            let pending = end == parts.len() && more || parts.get(end).is_some_and(|p| !p.sure);
            if shown || pending {
                found.push((at + 2, end, pending));
            }
        }
        if matches!(one, "spelled" | "spelt" | "spelling" | "spell") {
            let from =
                (at + 1..parts.len().min(at + 5)).find(|p| is_letter(text(*p)) && !matches!(text(*p), "i") || is_nato(text(*p)));
            if let Some(from) = from {
                let (end, units) = code_from(parts, from);
                let open = is_open(parts, end, CODE_JOINTS, more);
                if units > 1 || open {
                    found.push((from, end, open));
                }
            }
        }
        if expected.was_asked(at, bit) && is_name(&parts[at]) && !PARTICLES.contains(one) {
            let end = name_from(at, false);
            found.push((at, end, more && end == parts.len()));
        }
    }
    for (from, to, open) in found.into_iter().filter(|(from, to, _)| from < to) {
        marks.mark(from..to, NAME, open);
    }
}

/// Words that are so frequent that they are hardly a name or a password.
static COMMON: WordSet = words!(include_str!("common.txt"));

/// Whether a part is one of the most frequent words of spoken English.
pub(super) fn is_common(part: &str) -> bool {
    COMMON.contains(part)
}
