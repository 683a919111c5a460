//! Divides a text's words into units that are written together. In this order:
//!
//! 1. phrases that the profile keeps stay as spoken, and what the session's own vocabulary spells is written so;
//! 2. recipes of packs, in the profile's order, then those of the language, on spoken words: they win over spans where they overlap;
//! 3. what is spelled, letter by letter ([`crate::spelling`]);
//! 4. spans: those that the tagger found, or, without one, those that the grammars find;
//! 5. ordinals from the tenth on that no span has, so that like places read alike;
//! 6. dictionaries, on words that nothing has formatted: the profile's and its packs', then the language's (`r and d`, R&D). Where the grammars find the spans, they come before 4: a phrase that someone listed is
//!    surer than a span that nobody tagged.

use super::dictionary::Dictionary;
use super::itn::{Itn, MAX_SPAN_WORDS, Part, Token, Written};
use super::numbers::{Figures, Numbers, SpelledWords};
use super::second::guard::Admitted;
use super::style::Style;
use super::unit::Author;
pub use super::unit::Unit;
use super::whole_numbers;
use crate::session::vocabulary::Vocabulary;
use crate::spelling::{Spelled, bare, is_hint, spellings, surname};
use crate::tags::ItnClass;

/// Where spans come from.
#[derive(Clone, Copy, Debug)]
pub enum Spans<'a> {
    /// a tagger found them
    Tagged {
        /// words, half-open, and label; in order, apart from each other
        spans: &'a [([usize; 2], ItnClass)],
        /// stretches of words, half-open and apart from each other, that are written as the second stage says, if
        /// nothing that comes before spans has them
        chosen: &'a [([usize; 2], Admitted)],
        /// for each word, whether a mark follows it
        ends: &'a [bool],
        /// for each word, whether that mark is a comma that only the tagger has put there; shorter where the rest have none
        commas: &'a [bool],
    },
    /// the grammars find them: [`Itn::with_sentences`](super::itn::Itn::with_sentences)
    Found {
        /// for each word, whether a mark follows it, so that no span goes on; shorter where no mark follows the rest
        ends: &'a [bool],
    },
}

/// Divides `words` (in lower case) into units, in order. Every word is in exactly one unit. Words of `fixed` stay as
/// spoken, whatever they are.
pub fn units(words: &[&str], fixed: &[bool], spans: Spans, style: &Style) -> Vec<Unit> {
    units_spelled(words, fixed, spans, style, &|_| Heard::default())
}

/// What the recogniser and the session say of a word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard<'a> {
    /// the session's vocabulary that was in force when the word was said
    pub vocabulary: Option<&'a Vocabulary>,
    /// how sure the recogniser is of the word
    pub confidence: Option<f32>,
}

/// A word of which the recogniser is as sure as this is never written as another that sounds like it.
const SURE: f32 = 0.9;

/// As [`units`], with what is known of each word.
pub fn units_spelled<'a>(
    words: &[&str],
    fixed: &[bool],
    spans: Spans,
    style: &Style,
    heard: &dyn Fn(usize) -> Heard<'a>,
) -> Vec<Unit> {
    let free = fixed.iter().map(|fixed| !fixed).collect();
    let mut made = UnitBuilder { free, found: Vec::new(), numbers: style.numbers };
    made.keep(words, style);
    made.spell(words, heard);
    let allowed = |class: &str| !style.off.contains(class);
    let packs = style.packs.iter().map(|itn| (itn, Author::Pack));
    for (itn, author) in packs.chain([(&style.itn, Author::Recipe)]) {
        for part in itn.recipes(words, &allowed) {
            if made.is_free(part.words) {
                made.entity_by(author, part.class, part.words, part.written);
            }
        }
    }
    made.spelled(words, style);
    let mut last = fixed.to_vec();
    match spans {
        Spans::Tagged { spans, chosen, ends, commas } => {
            last.iter_mut().zip(ends).for_each(|(last, end)| *last |= end);
            for (stretch, admitted) in chosen {
                if made.is_free(*stretch) {
                    made.second(*stretch, admitted);
                }
            }
            let mut at = 0;
            while at < spans.len() {
                if let Some(next) = made.together(words, spans, at, (&last, commas), (&style.itn, &allowed)) {
                    at = next;
                    continue;
                }
                let (mut span, mut label) = spans[at];
                if label == ItnClass::Ordinal && style.facts().is_english() && years_quarter(words, span, &style.itn) {
                    (span[1], label) = (span[1] - 1, ItnClass::Year);
                }
                let others = [
                    at.checked_sub(1).map_or(0, |before| spans[before].0[1]),
                    spans.get(at + 1).map_or(words.len(), |next| next.0[0]),
                ];
                for gap in made.gaps(span) {
                    let [low, high] = made.beside(gap, others, &last);
                    let proposed = style.itn.propose(&words[low..high], gap.map(|word| word - low), label, &allowed);
                    for (at, part) in proposed.iter().enumerate() {
                        if stays_word(part, style) || is_said_twice(part, proposed.get(at + 1)) {
                            continue;
                        }
                        let part = part.clone();
                        made.entity(part.class, part.words.map(|word| word + low), part.written);
                    }
                }
                at += 1;
            }
            made.ordinals(words, &last, (&style.itn, &allowed));
        }
        Spans::Found { ends } => {
            last.iter_mut().zip(ends).for_each(|(last, end)| *last |= end);
            made.look_up(words, &style.dictionary);
            let is_end = |word: usize| ends.get(word).copied().unwrap_or(false);
            for gap in made.gaps([0, words.len()]).into_iter().flat_map(|gap| divided(gap, is_end)) {
                for part in style.itn.sentence(&words[gap[0]..gap[1]], &allowed) {
                    made.entity(part.class, part.words.map(|w| w + gap[0]), part.written);
                }
            }
        }
    }
    made.look_up(words, &style.dictionary);
    made.look_up(words, &style.spellings);
    made.spell_by_sound(words, style, heard);
    let units = made.in_order();
    whole_numbers::WholeNumbers { words, ends: &last, itn: &style.itn, numbers: style.numbers, allowed: &allowed }.whole(units)
}

/// Whether a span is a lone "third", which stays a word as it does where no tagger marks it.
fn stays_word(part: &Part, style: &Style) -> bool {
    let is_small = || part.written.text.trim_end_matches(|c: char| c.is_alphabetic()).len() == 1;
    part.class == ORDINAL && part.words[1] - part.words[0] == 1 && style.numbers.figures != Figures::Always && is_small()
}

/// Classes whose unit stands behind a pair: a comma that a tagger has put between its halves is none.
const UNITS: [&str; 4] = ["PERCENT", "MONEY", "MEASURE", "PAIR"];

/// Whether the words on both sides of `cut` are a pair that people mean approximately, with a unit after it: "fifty, sixty
/// percent" is 50-60%.
fn is_pair(words: &[&str], cut: usize, [from, to]: [usize; 2], itn: &Itn) -> bool {
    let halves = (1..=2).flat_map(|before| (1..=2).map(move |after| (before, after)));
    halves
        .filter(|(before, after)| from + before <= cut && cut + after < to)
        .any(|(before, after)| itn.write_as("PAIR", &words[cut - before..cut + after]).is_some())
}

/// Whether a lone digit stands right before a percentage: "five five percent" is five percent said twice.
fn is_said_twice(part: &Part, next: Option<&Part>) -> bool {
    let is_digit = part.class == "CARDINAL" && part.words[1] - part.words[0] == 1 && part.written.text.len() == 1;
    is_digit && next.is_some_and(|next| next.class == "PERCENT" && next.words[0] == part.words[1])
}

/// Whether an ordinal that a tagger found is a year and which of its quarters: "two thousand twenty third quarter".
fn years_quarter(words: &[&str], [from, to]: [usize; 2], itn: &Itn) -> bool {
    let is_quarter = words.get(to).is_some_and(|word| ["quarter", "half"].contains(word));
    let is_part = ["first", "second", "third", "fourth"].contains(&words[to - 1]);
    let is_year = |words: &[&str]| {
        let year = itn.write_as("YEAR", words).map(|written| written.text);
        year.is_some_and(|text| text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()))
    };
    is_quarter && is_part && to - from > 2 && is_year(&words[from..to - 1])
}

/// Class of ordinals.
const ORDINAL: &str = "ORDINAL";
/// Most spans of a tagger that are read as one.
pub(super) const MAX_TOGETHER: usize = 3;
/// Most words between two spans that are read as one: "nineteen" "dollars and" "fifty cents".
pub(super) const MAX_BETWEEN: usize = 2;
/// Classes that say what several numbers side by side are together.
const TOGETHER: [&str; 9] = ["DATE", "MONEY", "TIME", "MEASURE", "PERCENT", ORDINAL, "SPREAD", "PAIR", "NETWORK"];

struct UnitBuilder {
    free: Vec<bool>,
    found: Vec<Unit>,
    numbers: Numbers,
}

impl UnitBuilder {
    fn is_free(&self, [from, to]: [usize; 2]) -> bool {
        self.free[from..to].iter().all(|free| *free)
    }

    fn take(&mut self, unit: Unit) {
        let [from, to] = unit.words();
        self.free[from..to].fill(false);
        self.found.push(unit);
    }

    fn entity(&mut self, class: &str, words: [usize; 2], written: Written) {
        self.entity_by(Author::Grammar, class, words, written);
    }

    fn entity_by(&mut self, by: Author, class: &str, words: [usize; 2], written: Written) {
        let Written { text, tokens, .. } = self.numbers.restyle(class, written);
        self.take(Unit::Entity { class: class.to_lowercase(), words, text, tokens, by, valid: None });
    }

    /// Writes a span as the second stage says. Its text has the profile's style already.
    fn second(&mut self, words: [usize; 2], admitted: &Admitted) {
        match admitted.clone() {
            Admitted::Own => {}
            Admitted::AsSpoken => (words[0]..words[1]).for_each(|word| self.take(Unit::Spoken(word))),
            Admitted::Spelled(text) => self.take(Unit::Entry { words, text, cased: true }),
            Admitted::Written { class, written: Written { text, tokens, .. } } => {
                self.take(Unit::Entity { class: class.to_lowercase(), words, text, tokens, by: Author::Second, valid: None });
            }
        }
    }

    /// Ranges of words within `span` that no unit has yet.
    fn gaps(&self, [from, to]: [usize; 2]) -> Vec<[usize; 2]> {
        let mut gaps: Vec<[usize; 2]> = Vec::new();
        for at in (from..to).filter(|at| self.free[*at]) {
            match gaps.last_mut() {
                Some(gap) if gap[1] == at => gap[1] += 1,
                _ => gaps.push([at, at + 1]),
            }
        }
        gaps
    }

    /// The words with which a span is read: it and up to [`BESIDE`](whole_numbers::BESIDE) free words on each side, as
    /// far as nothing ends between them and no other span begins. `others`: where the span before ends and the next
    /// begins.
    fn beside(&self, [from, to]: [usize; 2], others: [usize; 2], ends: &[bool]) -> [usize; 2] {
        let (mut low, mut high) = (from, to);
        while low > others[0] && from - low < whole_numbers::BESIDE && self.free[low - 1] && !ends[low - 1] {
            low -= 1;
        }
        while high < others[1] && high - to < whole_numbers::BESIDE && self.free[high] && !ends[high - 1] {
            high += 1;
        }
        [low, high]
    }

    /// Writes the span `at` and spans after it as one, where a grammar reads them together: a tagger may cut what is one
    /// ("twenty" and "third of july"). Gives the span with which to go on.
    fn together(
        &mut self,
        words: &[&str],
        spans: &[([usize; 2], ItnClass)],
        at: usize,
        (ends, commas): (&[bool], &[bool]),
        (itn, allowed): (&Itn, &dyn Fn(&str) -> bool),
    ) -> Option<usize> {
        let is_comma = |word: usize| commas.get(word).copied().unwrap_or(false);
        let near = |to: &usize| {
            let ([_, end], [start, _]) = (spans[to - 1].0, spans[*to].0);
            start - end <= MAX_BETWEEN && (end - 1..start).all(|word| !ends[word] || is_comma(word))
        };
        let most = (at + 1..spans.len().min(at + MAX_TOGETHER)).take_while(near).last()?;
        for to in (at + 1..=most).rev() {
            let group = [spans[at].0[0], spans[to].0[1]];
            if !self.is_free(group) || group[1] - group[0] > MAX_SPAN_WORDS {
                continue;
            }
            let others = [
                at.checked_sub(1).map_or(0, |before| spans[before].0[1]),
                spans.get(to + 1).map_or(words.len(), |next| next.0[0]),
            ];
            let [low, high] = self.beside(group, others, ends);
            let tagged = |word: usize| (group[0]..group[1]).contains(&(low + word));
            let parts = itn.lattice(&words[low..high], &tagged, allowed)?;
            let covers = |part: &Part| part.words[0] + low <= group[0] && group[1] <= part.words[1] + low;
            let is_one = |part: &Part| {
                let words_of = part.words.map(|word| word + low);
                let mut marks = (group[0]..group[1] - 1).filter(|word| ends[*word]);
                let begins = group[0] == 0 || !ends[group[0] - 1];
                marks.all(|mark| begins && UNITS.contains(&part.class) && is_pair(words, mark + 1, words_of, itn))
            };
            if let Some(part) = parts.into_iter().find(|part| TOGETHER.contains(&part.class) && covers(part) && is_one(part)) {
                self.entity(part.class, part.words.map(|word| word + low), part.written);
                return Some(to + 1);
            }
        }
        None
    }

    /// Ordinals from the tenth on that no span has: whether a tagger marks one must not make like places read
    /// differently.
    fn ordinals(&mut self, words: &[&str], ends: &[bool], (itn, allowed): (&Itn, &dyn Fn(&str) -> bool)) {
        if !allowed(ORDINAL) {
            return;
        }
        for [mut at, to] in self.gaps([0, words.len()]) {
            while at < to {
                let read = |end: usize| {
                    let is_whole = words[end - 1].ends_with("th") || end - at > 1;
                    let is_one = (at..end - 1).all(|word| !ends[word]) && is_whole;
                    let written = is_one.then(|| itn.write_as(ORDINAL, &words[at..end])).flatten()?;
                    let number: u32 = written.text.trim_end_matches(|c: char| c.is_alphabetic()).parse().ok()?;
                    (10..100).contains(&number).then_some((end, written))
                };
                match (at + 1..=to.min(at + 2)).rev().find_map(read) {
                    Some((end, written)) => {
                        self.entity(ORDINAL, [at, end], written);
                        at = end;
                    }
                    None => at += 1,
                }
            }
        }
    }

    /// What is spelled, letter by letter. What a dictionary has for the same letters is no word.
    fn spelled(&mut self, words: &[&str], style: &Style) {
        let language = &*style.facts().spelling;
        if style.off.contains(ALPHANUMERIC) || !words.iter().any(|word| is_hint(word, language)) {
            return;
        }
        let bare: Vec<String> = words.iter().map(|word| bare(word)).collect();
        let bare: Vec<&str> = bare.iter().map(String::as_str).collect();
        for spelling in spellings(&bare, language) {
            let stretch = [spelling.words.start, spelling.words.end];
            let said = &words[spelling.words];
            let listed = |dictionary: &Dictionary| dictionary.longest(said).is_some_and(|(count, _)| count == said.len());
            if !self.is_free(stretch) || listed(&style.dictionary) || listed(&style.spellings) {
                continue;
            }
            let text = match (spelling.spelled, style.numbers.spelled) {
                (Spelled::Figures, _) => continue,
                (Spelled::Code(code), _) => code,
                (Spelled::Word(word), SpelledWords::Word) => surname(&word),
                (Spelled::Word(word), SpelledWords::Letters) => letters(&word),
            };
            let tokens = vec![Token { text: text.clone(), words: [0, stretch[1] - stretch[0]] }];
            let class = ALPHANUMERIC.to_lowercase();
            self.take(Unit::Entity { class, words: stretch, text, tokens, by: Author::Recipe, valid: None });
        }
    }

    fn keep(&mut self, words: &[&str], style: &Style) {
        let mut at = 0;
        while at < words.len() && !style.keep.is_empty() {
            match style.keep.longest(&words[at..]) {
                Some((count, _)) => {
                    (at..at + count).for_each(|word| self.take(Unit::Spoken(word)));
                    at += count;
                }
                None => at += 1,
            }
        }
    }

    /// What the session's vocabulary spells. The one that was in force when the first word came counts for a phrase.
    fn spell<'a>(&mut self, words: &[&str], heard: &dyn Fn(usize) -> Heard<'a>) {
        for [mut at, to] in self.gaps([0, words.len()]) {
            while at < to {
                match heard(at).vocabulary.and_then(|v| v.longest(&words[at..to])) {
                    Some((count, written)) => {
                        let cased = written.chars().any(char::is_uppercase);
                        self.take(Unit::Entry { words: [at, at + count], text: written.to_string(), cased });
                        at += count;
                    }
                    None => at += 1,
                }
            }
        }
    }

    /// Terms of the vocabularies for words that sound like them and that nothing has formatted. Words that the grammars
    /// know and words of which the recogniser is sure stay.
    fn spell_by_sound<'a>(&mut self, words: &[&str], style: &Style, heard: &dyn Fn(usize) -> Heard<'a>) {
        let Some(by_sound) = &style.by_sound else { return };
        for [mut at, to] in self.gaps([0, words.len()]) {
            while at < to {
                let doubtful = |count: usize| {
                    let unsure = (at..at + count).all(|word| heard(word).confidence.is_none_or(|sure| sure < SURE));
                    unsure && words[at..at + count].iter().any(|word| !style.itn.names(word))
                };
                let own = heard(at).vocabulary.map(Vocabulary::sounds);
                let found = own.into_iter().chain([&*by_sound.sounds]);
                let found = found
                    .filter_map(|sounds| sounds.longest(&words[at..to], by_sound.floor, doubtful))
                    .max_by_key(|(count, _)| *count);
                match found {
                    Some((count, written)) => {
                        let cased = written.chars().any(char::is_uppercase);
                        self.take(Unit::Entry { words: [at, at + count], text: written.to_string(), cased });
                        at += count;
                    }
                    None => at += 1,
                }
            }
        }
    }

    fn look_up(&mut self, words: &[&str], dictionary: &Dictionary) {
        for [mut at, to] in self.gaps([0, words.len()]) {
            while at < to {
                match dictionary.longest(&words[at..to]) {
                    Some((count, entry)) => {
                        let (text, cased) = (entry.written.to_string(), entry.is_cased());
                        self.take(Unit::Entry { words: [at, at + count], text, cased });
                        at += count;
                    }
                    None => at += 1,
                }
            }
        }
    }

    fn in_order(mut self) -> Vec<Unit> {
        let known: std::collections::HashSet<usize> = self.found.iter().flat_map(|u| u.words()[0]..u.words()[1]).collect();
        self.found.extend((0..self.free.len()).filter(|w| !known.contains(w)).map(Unit::Spoken));
        self.found.sort_by_key(|u| u.words()[0]);
        self.found
    }
}

/// A range of words, divided after every word that `is_end`.
fn divided([from, to]: [usize; 2], is_end: impl Fn(usize) -> bool) -> Vec<[usize; 2]> {
    let mut cuts: Vec<usize> = (from + 1..to).filter(|cut| is_end(cut - 1)).collect();
    cuts.push(to);
    let starts = [from].into_iter().chain(cuts.clone());
    starts.zip(cuts).map(|(from, to)| [from, to]).collect()
}

/// Class of codes and of what is spelled.
const ALPHANUMERIC: &str = "ALPHANUMERIC";

/// A spelled word by its letters: O-B-R-I-E-N for o'brien.
fn letters(word: &str) -> String {
    let letters = word.chars().filter(|c| c.is_alphabetic()).map(|c| c.to_uppercase().to_string());
    letters.collect::<Vec<_>>().join("-")
}

/// Writes a text's words without a tagger, separated by spaces.
pub fn sentence(words: &[&str], style: &Style) -> (String, Vec<Unit>) {
    let units = units(words, &vec![false; words.len()], Spans::Found { ends: &[] }, style);
    let texts: Vec<&str> = units
        .iter()
        .map(|unit| match unit {
            Unit::Spoken(word) => words[*word],
            Unit::Entity { text, .. } | Unit::Entry { text, .. } => text,
        })
        .collect();
    (texts.join(" "), units)
}
