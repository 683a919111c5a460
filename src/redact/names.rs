//! Names that no list has, by what is said around them.

use super::answer::Answers;
use super::codes::{CODE_JOINTS, code_from, is_open, is_spelled_out};
use super::kinds::{WordSet, is_common, is_letter, is_nato, is_person};
use super::{Marks, NAME, Part, cues, inside, words};

macro_rules! list {
    ($words:expr) => {
        WordSet::new(|| $words.split_whitespace().collect())
    };
}

/// Largest number of words of a name.
const NAME_WORDS: usize = 4;
/// Parts after a question in which words that are not common are the name.
const ASKED: usize = 14;
/// Parts after somebody said a name in which it may be corrected.
const CORRECTED: usize = 10;
/// Largest number of words between a name and what corrects or spells it.
const NAME_JOINTS: usize = 8;

/// Words after "my name is" that do not begin a name.
static NO_NAMES: WordSet = list!("not the a an on in at and that what spelled spelt is it this so for of to");
/// Words that answer a question for a name, and are none.
static NO_ANSWERS: WordSet = list!(
    "why what who how when where pardon excuse me him her them it okay fine hello hi bye yourself myself nothing none nobody both either neither \
     later already again one two maybe course absolutely please thanks here there mine"
);
static PARTICLES: WordSet = list!("van von der den de del della di da la le mc mac bin ibn al el st saint o");
static AFTER_NAMES: WordSet = list!("speaking calling here from");
static TITLES: WordSet = list!("mister mr mrs missus ms miss madam doctor dr");
/// Words after a title that are an office.
static OFFICES: WordSet = list!(
    "orders office appointment surgery note visit president chairman chairwoman chairperson chair speaker secretary minister ambassador justice attorney vice general chancellor mayor governor"
);

struct Names<'p, 'a> {
    parts: &'p [Part<'a>],
    more: bool,
    found: Vec<(usize, usize, bool)>,
}

impl Names<'_, '_> {
    fn text(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", |p| p.text)
    }

    fn is_name(&self, at: usize) -> bool {
        let part = &self.parts[at];
        PARTICLES.contains(part.text) || !is_common(part.text) && !part.role.is_number() && !inside::joins(part.text)
    }

    /// The end of the words from a part on that may be a name. `any`: the first may be a common word.
    fn end_from(&self, from: usize, any: bool) -> usize {
        let mut at = from;
        while at < self.parts.len()
            && at - from < NAME_WORDS
            && !(is_letter(self.text(at)) && matches!(self.text(at + 1), "as" | "for"))
            && (at == from || !self.parts[at].turn && !self.parts[at - 1].ends && !self.is_spelled(at))
            && (self.is_name(at) || any && at == from && !NO_NAMES.contains(self.parts[at].text))
        {
            at += 1;
        }
        at
    }

    /// Whether at least three letters are spelled from a part on.
    fn is_spelled(&self, at: usize) -> bool {
        let signs = |p: &&super::Part| is_letter(p.text) || is_nato(p.text);
        self.parts[at..].iter().take(3).filter(signs).count() == 3 || is_spelled_out(self.parts, at)
    }

    /// The end of letters that are spelled from a part on, and of a rest of the name that is said as a word: "t r e d
    /// whistle".
    fn spelled_end(&self, from: usize) -> usize {
        let (end, units) = code_from(self.parts, from);
        let is_rest = |p: &Part| !p.turn && !is_common(p.text) && !inside::joins(p.text) && !p.role.is_number();
        let is_adjacent = units > 2 && end > from && is_letter(self.text(end - 1)) && !self.parts[end - 1].ends;
        end + usize::from(is_adjacent && self.parts.get(end).is_some_and(is_rest))
    }

    /// Whether a name stands at a part, and a sentence, a turn or everything ends after at most [`NAME_WORDS`] words of it, or
    /// courtesy follows.
    fn ends_at_once(&self, from: usize) -> bool {
        let end = self.end_from(from, false);
        let is_over = |p: &Part| p.turn || matches!(p.text, "please" | "thanks" | "thank" | "for" | "and");
        from < end && (self.parts[end - 1].ends || self.parts.get(end).is_none_or(is_over))
    }

    /// The common word from `from` on that is all of an answer: "white", "sure it is young". `None`: it is none, or more is
    /// said.
    fn only_word(&self, from: usize) -> Option<usize> {
        let at = from + self.parts[from..].iter().take_while(|p| words::comes_before(p.text)).count();
        let word =
            self.parts.get(at).filter(|p| !p.role.is_number() && !NO_NAMES.contains(p.text) && !words::evades(self.parts, at))?;
        let next = self.parts.get(at + 1);
        let is_over = |p: &Part| p.turn || matches!(p.text, "please" | "thanks" | "and");
        let is_said = word.ends || next.is_none_or(is_over);
        (is_said && !NO_ANSWERS.contains(word.text) && !inside::joins(word.text)).then_some(at)
    }

    fn add(&mut self, from: usize, to: usize) {
        let open = self.more && to == self.parts.len();
        self.found.push((from, to, open));
    }

    /// A name that is sure, and what corrects or spells it: "zelda quimbly, no sorry, quimby, q u i m b y".
    fn add_sure(&mut self, from: usize, any: bool) {
        if self.parts.get(from).is_some_and(|p| is_letter(p.text)) && code_from(self.parts, from).1 > 2 {
            let (end, _) = code_from(self.parts, from);
            self.found.push((from, end, is_open(self.parts, end, CODE_JOINTS, self.more)));
            return;
        }
        let mut end = self.end_from(from, any);
        self.add(from, end);
        while from < end && end < self.parts.len() {
            let joints = self.parts[end..].iter().take(NAME_JOINTS).take_while(|p| self.joins(p.text)).count();
            let next = end + joints;
            let corrected = self.parts[end..next]
                .iter()
                .any(|p| matches!(p.text, "no" | "sorry" | "not" | "but" | "mean" | "rather" | "actually" | "correction"));
            let spelled =
                next < self.parts.len() && (is_letter(self.text(next)) && self.text(next) != "i" || is_nato(self.text(next)));
            if spelled && code_from(self.parts, next).1 > 1 {
                end = self.spelled_end(next);
                let open = is_open(self.parts, end, CODE_JOINTS, self.more);
                self.found.push((next, end, open));
            } else if corrected && next < self.parts.len() && self.is_name(next) {
                end = self.end_from(next, false);
                self.add(next, end);
            } else {
                break;
            }
        }
    }

    fn joins(&self, text: &str) -> bool {
        inside::joins(text)
            || matches!(
                text,
                "spelled"
                    | "spelt"
                    | "spelling"
                    | "with"
                    | "but"
                    | "that"
                    | "name"
                    | "my"
                    | "last"
                    | "first"
                    | "married"
                    | "now"
                    | "or"
            )
    }

    fn spelled_after(&mut self, at: usize) {
        let from = (at + 1..self.parts.len().min(at + 5))
            .find(|p| is_letter(self.text(*p)) && self.text(*p) != "i" || is_nato(self.text(*p)));
        if let Some(from) = from {
            let (end, units) = code_from(self.parts, from);
            let open = is_open(self.parts, end, CODE_JOINTS, self.more);
            if units > 1 || open {
                self.found.push((from, end, open));
            }
        }
    }
}

/// Marks names. `bit`: the cue of names.
pub(super) fn find(parts: &[Part], more: bool, answers: &mut Answers, bit: u8, marks: &mut Marks) {
    let mut names = Names { parts, more, found: Vec::new() };
    let correction = cues::CUES.iter().position(|cue| cue.shape == cues::Shape::Correction).unwrap_or_default() as u8;
    for at in 0..parts.len() {
        let (one, two) = (parts[at].text, parts.get(at + 1).map_or("", |p| p.text));
        if matches!(one, "name" | "surname") && matches!(two, "is" | "was") {
            names.add_sure(at + 2, true);
        }
        // "My name is not mark but marek"
        let negated = matches!((one, two), ("name" | "surname", "isn't" | "wasn't"));
        let is_not = matches!((one, two, names.text(at + 2)), ("name" | "surname", "is" | "was", "not"));
        if negated || is_not {
            names.add_sure(at + if negated { 2 } else { 3 }, false);
            let again = (at + 3..parts.len().min(at + 10)).find(|p| parts[*p - 1].text == "it" && parts[*p].text == "is");
            if let Some(again) = again {
                names.add_sure(again + 1, false);
            }
        }
        // "You can call me barnaby", "the booking is for quimby"
        let is_for = |at: usize| names.text(at) == "for" || names.text(at) == "is" && names.text(at + 1) == "for";
        let called = (one, two) == ("call", "me");
        let booked = matches!(one, "booking" | "reservation" | "appointment" | "table") && is_for(at + 1);
        let from = at + if booked && two == "is" { 3 } else { 2 };
        // "Call me binky, everybody does", but not "call me maybe"
        let is_called = called && names.end_from(from, false) == from + 1;
        // "The booking is for quimby arriving friday"
        let is_named = booked && two == "is" && names.end_from(from, false) > from && !names.text(from).ends_with("ing");
        if is_called || is_named || (called || booked) && names.ends_at_once(from) {
            names.add_sure(from, false);
        }
        // "This will be for zelda quimby please"
        let is_meant =
            two == "for" && one == "be" && at > 0 && matches!(names.text(at - 1), "this'll" | "it'll" | "will" | "should" | "to");
        if is_meant && names.ends_at_once(at + 2) {
            names.add_sure(at + 2, false);
        }
        // "Put it under quimby", "it is under quimby"
        let is_filed = matches!(two, "under") && matches!(one, "it" | "is" | "be" | "that" | "them" | "down" | "everything");
        if is_filed && names.ends_at_once(at + 2) {
            names.add_sure(at + 2, false);
        }
        // "Booked under the name zelda", "in the name of zelda"
        let is_lead = |p: &Part| matches!(p.text, "under" | "in" | "by" | "for" | "into");
        if matches!(one, "name" | "names") && parts[at.saturating_sub(3)..at].iter().any(is_lead) {
            names.add_sure(at + 1 + usize::from(two == "of"), false);
        }
        if matches!((one, two), ("booked" | "registered" | "filed" | "reserved", "under" | "to" | "for")) {
            names.add_sure(at + 2, false);
        }
        // "Is that mister tarrent?" "No, it's torrance."
        let is_corrected = (1..=CORRECTED).contains(&answers.since_asked(at, correction))
            && parts[at.saturating_sub(5)..at].iter().any(|p| matches!(p.text, "no" | "not" | "actually" | "isn't" | "wrong"));
        if is_corrected && names.is_name(at) {
            names.add_sure(at, false);
        }
        // A recogniser may write "my names zelda".
        if one == "my" && two == "names" {
            names.add_sure(at + 2, false);
        }
        // "I spoke to jennifer and then michael"
        if matches!(one, "spoke" | "spoken" | "talked" | "talking" | "dealt") && matches!(two, "with" | "to") {
            let mut from = at + 2;
            while from < parts.len() && names.is_name(from) && !names.text(from).ends_with('s') {
                let end = names.end_from(from, false);
                names.add(from, end);
                let joints = parts[end..].iter().take_while(|p| matches!(p.text, "and" | "then")).count();
                from = if joints > 0 { end + joints } else { parts.len() };
            }
        }
        if one == "speaking" && matches!(two, "with" | "to") || TITLES.contains(one) {
            let from = at + if one == "speaking" { 2 } else { 1 };
            if !OFFICES.contains(names.text(from)) {
                names.add_sure(from, false);
            }
        }
        if one == "this" && two == "is" {
            let end = names.end_from(at + 2, false);
            let shown = AFTER_NAMES.contains(names.text(end));
            let pending = end == parts.len() && more || parts.get(end).is_some_and(|p| !p.sure);
            if shown || pending {
                names.found.push((at + 2, end, pending));
            }
        }
        if matches!(one, "spelled" | "spelt" | "spelling" | "spell") {
            names.spelled_after(at);
        }
        if matches!((one, two), ("first" | "last" | "middle" | "family" | "given", "name")) || one == "surname" {
            let from = at + if one == "surname" { 1 } else { 2 };
            names.add_sure(from + usize::from(matches!(names.text(from), "as" | "under")), false);
        }
        // "It's zelda quimby calling"
        if matches!((one, two), ("it", "is")) {
            let end = names.end_from(at + 2, false);
            let is_here = names.text(end) == "here" && names.text(end + 1) == "from";
            if is_here || matches!(names.text(end), "calling" | "speaking") {
                names.add(at + 2, end);
            }
        }
        // "Zelda quimby speaking, how can i help"
        let is_first = at == 0 || parts[at].turn || parts[at - 1].ends;
        let end = if is_first { names.end_from(at, false) } else { at };
        if end > at
            && names.text(end) == "speaking"
            && matches!(names.text(end + 1), "" | "how" | "what" | "who" | "can" | "here")
        {
            names.add(at, end);
        }
        // "I'm zelda quimby from accounts"
        if one == "i'm" {
            let end = names.end_from(at + 1, false);
            if AFTER_NAMES.contains(names.text(end)) {
                names.add(at + 1, end);
            }
        }
        if answers.was_asked(at, bit) && names.is_spelled(at) {
            let end = names.spelled_end(at);
            names.found.push((at, end, is_open(parts, end, CODE_JOINTS, more)));
        }
        // "And your surname?" "White."
        if let Some(word) = answers.begins(parts, at, bit).then(|| names.only_word(at)).flatten() {
            names.add(word, word + 1);
        }
        // "Your colleague" is nobody's name.
        // "No colleague" is none, but "no, winstanley" is an answer.
        let is_no = |at: usize| {
            let is_first = at == 0 || parts[at].turn || parts[at - 1].ends || !answers.was_asked(at - 1, bit);
            parts[at].text == "no" && is_first
        };
        let is_thing = |at: usize| {
            at > 0
                && !is_no(at - 1)
                && matches!(
                    parts[at - 1].text,
                    "a" | "an" | "the" | "your" | "my" | "our" | "this" | "that" | "some" | "any" | "their" | "no"
                )
        };
        let begins = |at: usize| at < parts.len() && !is_thing(at) && names.is_name(at) && !PARTICLES.contains(parts[at].text);
        // "What's the name of that film?"
        let of_what = || {
            let asked = (at + 1).saturating_sub(answers.since_asked(at, bit));
            answers.was_asked(at, bit)
                && parts[asked].text == "of"
                && !parts[asked..=at].iter().take(4).any(|p| is_person(p.text))
        };
        if (1..=ASKED).contains(&answers.since_asked(at, bit))
            && !of_what()
            && (begins(at) || PARTICLES.contains(one) && begins(at + 1))
        {
            names.add_sure(at, false);
        }
    }
    for (from, to, open) in names.found.into_iter().filter(|(from, to, _)| from < to) {
        marks.mark(from..to, NAME, open);
    }
}
