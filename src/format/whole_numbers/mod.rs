//! Numbers are written whole: no number is written that leaves a part of itself beside it as words, and numbers of one
//! sentence are written in the same way.
//!
//! A tagger's spans are proposals. If a span ends inside a number ("thirty" of "thirty five percent"), or no grammar
//! reads it, its words and [`BESIDE`] words on each side are read anew, by cost. A span that then still leaves half a
//! number stays as spoken. The grammars (`grammars/en/whole.itn`) say which words belong to one number, and between
//! which joints both sides must be written in the same way.

mod alike;
#[cfg(test)]
mod tests;

use super::itn::{Itn, MAX_SPAN_WORDS, Written};
use super::numbers::Numbers;
use super::unit::{Author, Unit};

/// Number of words on each side of a span that are read with it.
pub const BESIDE: usize = 2;
/// Classes after which another number word may continue the number. A year or a date is complete.
const OPEN: [&str; 3] = ["cardinal", "range", "fraction"];

/// The text whose numbers are made whole.
pub struct WholeNumbers<'a> {
    /// words in lower case
    pub words: &'a [&'a str],
    /// for each word, whether something ends after it: a mark follows, or the word stays as it is
    pub ends: &'a [bool],
    /// grammars
    pub itn: &'a Itn,
    /// styles
    pub numbers: Numbers,
    /// classes that may be written
    pub allowed: &'a dyn Fn(&str) -> bool,
}

impl WholeNumbers<'_> {
    /// Changes units so that none leaves half a number. `units` are in order, and each word is in one of them.
    pub fn whole(&self, mut units: Vec<Unit>) -> Vec<Unit> {
        let mut at = 0;
        while at < units.len() {
            at = match self.torn(&units, at) {
                Some((from, to)) => self.mend(&mut units, from, to),
                None => at + 1,
            };
        }
        self.alike(&mut units);
        self.bare_hours(&mut units);
        // An entity that is still torn stays as spoken. That may tear another entity. This ends, because there is one
        // entity less each time.
        let left =
            |units: &[Unit], at: usize| self.torn(units, at).is_some_and(|(from, to)| units[from..to].iter().any(is_spoken));
        while let Some(at) = (0..units.len()).find(|at| left(&units, *at)) {
            let [from, to] = units[at].words();
            units.splice(at..=at, (from..to).map(Unit::Spoken));
        }
        units
    }

    /// Whether the words `before` and `before + 1` belong to one number.
    fn joined(&self, before: usize) -> bool {
        !self.ends[before] && self.itn.joins(&self.words[before.saturating_sub(1)..=before + 1])
    }

    /// If unit `at` is an entity that is torn from its neighbours: the range of units that belong together.
    fn torn(&self, units: &[Unit], at: usize) -> Option<(usize, usize)> {
        let Unit::Entity { .. } = &units[at] else { return None };
        let with = |a: usize, b: usize| match (&units[a], &units[b]) {
            (Unit::Entry { .. }, _) | (_, Unit::Entry { .. }) => false,
            (Unit::Entity { class, .. }, Unit::Entity { .. }) => {
                OPEN.contains(&class.as_str()) && self.joined(units[a].words()[1] - 1)
            }
            _ => self.joined(units[a].words()[1] - 1),
        };
        let (mut from, mut to) = (at, at + 1);
        while from > 0 && with(from - 1, from) {
            from -= 1;
        }
        while to < units.len() && with(to - 1, to) {
            to += 1;
        }
        (to - from > 1).then_some((from, to))
    }

    /// Reads the units `from..to` anew; returns the unit at which to go on.
    fn mend(&self, units: &mut Vec<Unit>, from: usize, to: usize) -> usize {
        let words = [units[from].words()[0], units[to - 1].words()[1]];
        if let Some(at) = self.reread(units, from, to) {
            return at;
        }
        let only_entities = units[from..to].iter().all(|u| matches!(u, Unit::Entity { .. }));
        let grown = (words[1] - words[0] <= MAX_SPAN_WORDS)
            .then(|| self.itn.whole(&self.words[words[0]..words[1]], self.allowed))
            .flatten()
            .map(|(class, written)| entity(class, words, self.numbers.restyle(class, written)));
        match grown {
            Some(one) => {
                units.splice(from..to, [one]);
                from + 1
            }
            // These are two numbers, and both are written.
            None if only_entities => to,
            None => {
                let spoken: Vec<Unit> = (words[0]..words[1]).map(Unit::Spoken).collect();
                let count = spoken.len();
                units.splice(from..to, spoken);
                from + count
            }
        }
    }

    /// The same units with the words beside them, read like a sentence. `None` if the reading does not write all of
    /// them.
    fn reread(&self, units: &mut Vec<Unit>, from: usize, to: usize) -> Option<usize> {
        let spoken = is_spoken;
        let (mut low, mut high) = (from, to);
        while low > 0 && from - low < BESIDE && spoken(&units[low - 1]) && !self.ends[units[low - 1].words()[0]] {
            low -= 1;
        }
        while high < units.len() && high - to < BESIDE && spoken(&units[high]) && !self.ends[units[high - 1].words()[1] - 1] {
            high += 1;
        }
        let (first, last) = (units[low].words()[0], units[high - 1].words()[1]);
        let torn = units[from].words()[0]..units[to - 1].words()[1];
        let parts = self.itn.lattice(&self.words[first..last], &|word| torn.contains(&(first + word)), self.allowed)?;
        let mut made: Vec<Unit> = Vec::new();
        for part in parts {
            let words = part.words.map(|w| w + first);
            made.extend((made.last().map_or(first, |u| u.words()[1])..words[0]).map(Unit::Spoken));
            made.push(entity(part.class, words, self.numbers.restyle(part.class, part.written)));
        }
        made.extend((made.last().map_or(first, |u| u.words()[1])..last).map(Unit::Spoken));
        let written = |word: usize| made.iter().any(|u| !spoken(u) && (u.words()[0]..u.words()[1]).contains(&word));
        let whole = (0..made.len()).all(|at| self.torn(&made, at).is_none());
        (torn.clone().all(written) && whole).then(|| {
            let count = made.len();
            units.splice(low..high, made);
            low + count
        })
    }
}

fn is_spoken(unit: &Unit) -> bool {
    matches!(unit, Unit::Spoken(_))
}

fn entity(class: &str, words: [usize; 2], written: Written) -> Unit {
    Unit::Entity {
        class: class.to_lowercase(),
        words,
        text: written.text,
        tokens: written.tokens,
        by: Author::Grammar,
        valid: None,
    }
}
