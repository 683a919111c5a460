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

/// Largest number of words between a house number and its street word.
const STREET_WORDS: usize = 4;

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
        if units > 1 || open || !is_vague_date(parts[start].text) {
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
static MORE_STREETS: WordSet =
    words!("way court place close square circle gardens grove park row hill mews walk trail st ave rd ln blvd dr");
static UNITS: WordSet = words!("apartment apt unit suite flat floor number room house");

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
        let is_house = |p: &Part| p.role.is_number() || glued(p.text) > 0 && !is_ordinal(p.text);
        let number = is_house(&parts[at]);
        // Where an address is expected, a house may have a name.
        let is_old = || {
            matches!(parts[at].text, "old" | "new" | "high" | "church") && parts.get(at + 1).is_some_and(|p| !is_common(p.text))
        };
        if !number && (!cued || is_common(parts[at].text) && !is_old()) {
            at += 1;
            continue;
        }
        let start = at;
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
        let street = parts.get(at).filter(|p| is_street(p) && named && !is_close(at) && (number || !article));
        if street.is_some() && at > start {
            at += 1;
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
        } else if cued && at > start && (number || !article) {
            answers.go_on(at, bit);
            marks.mark_if_free(start..at, class, more && at == parts.len());
        } else if at == parts.len() && more || parts[start..parts.len().min(at + 1)].iter().any(|p| !p.sure) {
            // A street word may follow.
            marks.mark_if_free(start..at, class, true);
        } else {
            at = name.max(start + 1);
        }
    }
}
