//! Answers with a shape of their own: dates and addresses.

use super::answer::Answers;
use super::codes::{CODE_JOINTS, is_open};
use super::cues::CUES;
use super::kinds::{WordSet, is_common, is_date, is_letter, is_ordinal, is_vague_date};
use super::number::{Role, glued};
use super::reasons::is_unit;
use super::{Marks, Part, words};

macro_rules! words {
    ($words:expr) => {
        WordSet::new(|| $words.split_whitespace().collect())
    };
}

/// Parts after a cue, a question or a part of the address in which a number is one of the address.
const NEAR_WORDS: usize = 8;
/// Parts after a question in which a place without a number may be named.
const ASKED_WORDS: usize = 12;
/// Most words between a cue and an address without a number.
const LED_WORDS: usize = 3;
/// Largest number of words between a house number and its street word.
const STREET_WORDS: usize = 4;

/// Parts after a cue or a question in which one word may be a date: "in may".
const NEAR_DATE: usize = 10;

/// Marks the dates of one cue.
pub(super) fn dates(parts: &[Part], more: bool, answers: &mut Answers, bit: u8, marks: &mut Marks) {
    let mut at = 0;
    while at < parts.len() {
        if !is_date(&parts[at]) || !answers.has(at, bit) {
            at += 1;
            continue;
        }
        let (start, mut end, mut joints, mut units) = (at, at, 0, 0);
        while at < parts.len() && joints <= CODE_JOINTS {
            if is_date(&parts[at]) {
                (end, joints, units) = (at + 1, 0, units + 1);
            } else if matches!(parts[at].role, Role::Joint | Role::Near) || matches!(parts[at].text, "of" | "in" | "month") {
                joints += 1;
            } else {
                break;
            }
            at += 1;
        }
        let open = is_open(parts, end, CODE_JOINTS, more);
        let is_near = (1..=NEAR_DATE).contains(&answers.since_asked(start, bit))
            || answers.since_cue(parts, start, bit).is_none_or(|words| words <= NEAR_DATE);
        // "Runs out after two years"
        let before = start.checked_sub(1).map_or("", |at| parts[at].text);
        let is_term = end == start + 1
            && matches!(before, "after" | "in" | "for" | "within" | "every" | "about" | "of" | "all" | "last")
            && parts.get(end).is_some_and(|p| is_unit(p.text));
        let is_while = end == start + 1
            && parts.get(end).is_some_and(|p| matches!(p.text, "days" | "weeks" | "hours" | "minutes"))
            && !parts.get(end + 1).is_some_and(is_date);
        if is_term || is_while {
            at = end.max(at);
            continue;
        }
        if units > 1 || open || is_near && !is_vague_date(parts[start].text) {
            let start = start - usize::from(start > 0 && parts[start - 1].text == "the");
            marks.mark(start..end, CUES[usize::from(bit)].class, open);
        }
        at = end;
    }
}

static STREETS: WordSet = words!(
    "street avenue road lane boulevard drive terrace crescent parkway highway court grove gardens mews close way hill walk square"
);
/// Street words that have other meanings too. They count only where an address is expected.
static MORE_STREETS: WordSet = words!(
    "way court place close square circle gardens grove park row hill mews walk trail rise green quay view st ave rd ln blvd dr"
);
/// Words that end the name of a house. They count only after that name, where an address is expected.
static BUILDINGS: WordSet = words!(
    "house cottage lodge building buildings tower towers farm hall manor mansions villa villas heights wharf mill barn works"
);
static UNITS: WordSet = words!("apartment apt unit suite flat floor number room house");

/// Whether a word names a part of a house: "apartment", "suite".
pub(super) fn is_unit_of_house(text: &str) -> bool {
    UNITS.contains(text)
}

/// Whether a word stands right before a part that says where something is.
fn leads_to_place(parts: &[Part], at: usize) -> bool {
    let leads = |p: &Part| matches!(p.text, "is" | "was" | "at" | "on" | "in" | "to" | "near" | "called" | "number" | "name");
    parts[..at].iter().rev().find(|p| p.text != "the").is_some_and(leads)
}

/// Marks the addresses of one cue.
pub(super) fn addresses(parts: &[Part], more: bool, answers: &mut Answers, bit: u8, marks: &mut Marks) {
    let class = CUES[usize::from(bit)].class;
    // What follows "my address is" is one, whatever its words.
    for from in answers.cues.iter().filter(|c| c.bit == bit).filter_map(|c| words::announced(parts, c.end)) {
        if from > 1 && matches!(parts[from - 2].text, "address" | "place") {
            let to = words::answer_from(parts, from, false);
            marks.mark(from..to, class, more && to == parts.len());
        }
    }
    let mut at = 0;
    while at < parts.len() {
        let cued = answers.has(at, bit);
        // Words of a place without a number follow their cue at once.
        let is_led = cued
            && ((1..=ASKED_WORDS).contains(&answers.since_asked(at, bit))
                || answers.since_cue(parts, at, bit).is_some_and(|words| words <= LED_WORDS) && leads_to_place(parts, at)
                || at > 0 && marks.class[at - 1] == Some(class)
                || at > 1 && marks.class[at - 2] == Some(class));
        // Far from its cue a number needs a street.
        let is_near = (1..=NEAR_WORDS).contains(&answers.since_asked(at, bit))
            || answers.since_cue(parts, at, bit).is_none_or(|words| words <= NEAR_WORDS)
            || marks.class[at.saturating_sub(NEAR_WORDS)..at].contains(&Some(class));
        let is_house = |p: &Part| p.role.is_number() || glued(p.text) > 0 && !is_ordinal(p.text);
        let number = is_house(&parts[at]);
        // Where an address is expected, a house may have a name.
        let is_old = || {
            matches!(parts[at].text, "old" | "new" | "high" | "church") && parts.get(at + 1).is_some_and(|p| !is_common(p.text))
        };
        if !number && (!is_led || is_common(parts[at].text) && !is_old()) {
            at += 1;
            continue;
        }
        let start =
            at - usize::from(at > 0 && parts[at - 1].text == "a" && matches!(parts[at].role, Role::Hundred | Role::Thousand));
        // "nine hundred and three"
        let joins = |at: usize| {
            let hundred = at > start && matches!(parts[at - 1].role, Role::Hundred | Role::Thousand);
            hundred && parts[at].text == "and" && parts.get(at + 1).is_some_and(is_house)
        };
        while at < parts.len() && (is_house(&parts[at]) || joins(at)) {
            at += 1;
        }
        // "twenty two b maple street"
        if number && at > start && parts.get(at).is_some_and(|p| is_letter(p.text) && (cued || !matches!(p.text, "a" | "i"))) {
            at += 1;
        }
        let name = at;
        // "Nine percent", "sixty nine point seven million"
        let is_share = |p: &Part| matches!(p.text, "percent" | "million" | "billion" | "basis");
        let is_decimal =
            parts.get(at).is_some_and(|p| p.text == "point") && parts.get(at + 1).is_some_and(|p| p.role.is_number());
        let tail = parts.iter().skip(at + 1).take_while(|p| p.role.is_number()).count();
        let end = if is_decimal { at + 1 + tail } else { at };
        let names_street = |p: &Part| STREETS.contains(p.text) || MORE_STREETS.contains(p.text);
        if number && at > start && parts.get(end).is_some_and(is_share) && !parts.get(end + 1).is_some_and(names_street) {
            at = end;
            continue;
        }
        // "Forty shops close to us" has no street.
        let is_close = |at: usize| {
            let next = parts.get(at + 1).map_or("", |p| p.text);
            matches!(
                (parts[at].text, next),
                (
                    "close" | "way" | "walk" | "square",
                    "to" | "by"
                        | "at"
                        | "more"
                        | "too"
                        | "up"
                        | "down"
                        | "ahead"
                        | "above"
                        | "below"
                        | "over"
                        | "out"
                        | "of"
                        | "feet"
                        | "meters"
                        | "in"
                )
            )
        };
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
        let article = start.checked_sub(1).is_some_and(|before| matches!(parts[before].text, "a" | "an"));
        let named = words > 0 || !number;
        // "Flat three wisteria house"
        if cued && named && at > name && parts.get(at).is_some_and(|p| BUILDINGS.contains(p.text)) {
            at += 1;
        }
        let street = parts.get(at).filter(|p| is_street(p) && named && !is_close(at) && (number || !article));
        if street.is_some() && at > start {
            // "Quarry hill terrace"
            let goes_on = |p: &&Part| is_street(p) || cued && BUILDINGS.contains(p.text);
            at += 1 + parts[at + 1..].iter().take_while(goes_on).count();
            // apartment four b
            while at + 1 < parts.len() && UNITS.contains(parts[at].text) {
                at += 1;
                while at < parts.len() && (is_house(&parts[at]) || is_letter(parts[at].text)) {
                    at += 1;
                }
            }
            answers.go_on(at, bit);
            let open = more && at + 2 >= parts.len() || parts[start..at].iter().any(|p| !p.sure);
            let units = parts[..start].iter().rev().take_while(|p| UNITS.contains(p.text)).count();
            let start = start - units;
            marks.mark(start..at, class, open);
        } else if cued && at > start && (number && is_near || !number && !article) {
            if number {
                answers.go_on(at, bit);
            }
            let units = parts[..start].iter().rev().take_while(|p| number && UNITS.contains(p.text)).count();
            marks.mark_if_free(start - units..at, class, more && at == parts.len());
        } else if at > start && (at == parts.len() && more || parts[start..parts.len().min(at + 1)].iter().any(|p| !p.sure)) {
            // A street word may follow.
            marks.mark_if_free(start..at, class, true);
        } else {
            at = name.max(start + 1);
        }
    }
}
