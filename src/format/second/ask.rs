//! What the second stage is asked: the span with its context as the model reads it, and the written forms to choose from.

use std::collections::HashSet;
use std::sync::Arc;

use super::grown::{GrownSpan, grown, names, own_text};
use super::{MIXED, SecondMode};
use crate::format::casing::{self, Lexicon};
use crate::format::itn::ast::PLAIN_COST;
use crate::format::itn::network;
use crate::format::kept::{KeptWord, Passage, PassageContext, divide, spans};
use crate::format::numbers::{Figures, PLAIN_NUMBERS};
use crate::format::style::Style;
use crate::infer::second::{Question, SpanSource};
use crate::session::WordKind;
use crate::session::second::{AsksSecond, PassView, SpanQuestion};
use crate::tags::ItnClass;

/// Longest span that is asked about, words.
const MAX_SPAN_WORDS: usize = 24;
/// Most spellings of a word of mixed case that are offered.
const MAX_SPELLINGS: usize = 24;
/// What it costs to write as a number what the tagger left as words, in units of the grammars.
const UNTAGGED_COST: f32 = 1.0;
/// Longest word of mixed case that is asked about, letters.
const MAX_LETTERS: usize = 32;

/// Makes a profile's questions.
pub struct Asker {
    style: Arc<Style>,
    mode: SecondMode,
    /// words of context on each side
    context_words: usize,
    /// words that are a number by themselves
    numbers: HashSet<String>,
}

impl Asker {
    /// For the formatting of a profile, with so many words of context on each side.
    pub fn new(style: Arc<Style>, mode: SecondMode, context_words: usize) -> Asker {
        let numbers = style.itn.number_words();
        Asker { style, mode, context_words, numbers }
    }

    /// The question about a grown span. `None` where no grammar reads it otherwise than it is written today.
    fn about_grown(&self, kept: &[KeptWord], span: &GrownSpan, view: &PassView) -> Option<Question> {
        let lower: Vec<String> = kept[span.words[0]..span.words[1]].iter().map(|k| k.word.spoken.to_lowercase()).collect();
        let words: Vec<&str> = lower.iter().map(String::as_str).collect();
        let own = own_text(kept, span.words, &self.style);
        let extra = if span.is_tagged { 0.0 } else { UNTAGGED_COST };
        let candidates = beside(&self.style, span.class, &words, Some(own), extra);
        let known = (view.frozen, view.sentence_start);
        let source = source_of(kept, span.words, span.class.label(), self.context_words, known, &self.style.lexicon);
        (candidates.readings > 1).then_some(Question { source, candidates: candidates.texts, free: false })
    }

    fn about(&self, kept: &[KeptWord], [from, to]: [usize; 2], class: &str, view: &PassView) -> Option<Question> {
        let lower: Vec<String> = kept[from..to].iter().map(|k| k.word.spoken.to_lowercase()).collect();
        let words: Vec<&str> = lower.iter().map(String::as_str).collect();
        let question = |candidates, free| {
            let source =
                source_of(kept, [from, to], class, self.context_words, (view.frozen, view.sentence_start), &self.style.lexicon);
            Some(Question { source, candidates, free })
        };
        let Some(label) = ItnClass::named(class) else {
            let free = self.mode == SecondMode::Write;
            return question(spellings(&words), free);
        };
        let candidates = candidates(&self.style, label, &words);
        match candidates.readings {
            // No grammar reads the span, so only a free answer can help.
            0 => (self.mode == SecondMode::Write).then(|| question(Vec::new(), true)).flatten(),
            // With one reading there is nothing to choose, but a lone number may be a word ("one of them").
            1 if words.len() > 1 => None,
            _ => question(candidates.texts, false),
        }
    }
}

impl AsksSecond for Asker {
    fn questions(&self, view: &PassView) -> Vec<SpanQuestion> {
        let around = PassageContext::default();
        let (sentence_start, sure) = (view.sentence_start, view.words.len());
        let passage = Passage { words: view.words, sentence_start, turn_ends: false, around, sure };
        let (kept, _) = divide(&passage, self.style.verbatim);
        // Whether the span's end is known now and was not known before.
        let has_ended = |to: usize| match kept.get(to) {
            Some(next) => (view.frozen_before..view.frozen).contains(&next.at),
            None => view.stopped,
        };
        let is_new = |at: usize| (view.frozen_before..view.frozen).contains(&kept[at].at);
        let is_known_now = |to: usize, ends_at_mark: bool| match ends_at_mark {
            true => is_new(to - 1),
            false => kept[to - 1].at < view.frozen && has_ended(to),
        };
        let mut asked: Vec<SpanQuestion> = Vec::new();
        let mut ask = |[from, to]: [usize; 2], question: &dyn Fn() -> Option<Question>| {
            let last = &kept[to - 1];
            let words = (to - from) as u32;
            let speech = kept[from..to].iter().all(|k| k.word.kind == WordKind::Speech);
            let is_answered = last.word.choice.as_ref().is_some_and(|choice| choice.words == words);
            // A word has one answer: that to the largest span which ends with it.
            let is_within_another = asked.iter().any(|other| other.last == last.at);
            if speech
                && !is_answered
                && !is_within_another
                && let Some(question) = question()
            {
                asked.push(SpanQuestion { last: last.at, words, question });
            }
        };
        for span in grown(&kept, &self.numbers) {
            if is_known_now(span.words[1], span.ends_at_mark) {
                ask(span.words, &|| self.about_grown(&kept, &span, view));
            }
        }
        for (span, label) in spans(&kept) {
            if is_known_now(span[1], false) && span[1] - span[0] <= MAX_SPAN_WORDS {
                ask(span, &|| self.about(&kept, span, label.label(), view));
            }
        }
        for (span, ends_at_mark) in names(&kept, &self.style.lexicon) {
            if is_known_now(span[1], ends_at_mark) {
                ask(span, &|| self.about(&kept, span, MIXED, view));
            }
        }
        asked
    }
}

/// Whether nobody knows how a word of mixed case is written: neither the recogniser, nor the lexicon.
pub(super) fn is_open(spoken: &str, lexicon: &Lexicon) -> bool {
    let lower = spoken.to_lowercase();
    let letters = spoken.chars().count();
    spoken == lower
        && (2..=MAX_LETTERS).contains(&letters)
        && spoken.chars().all(|c| c.is_alphabetic() || c == '\'')
        && lexicon.get(&lower).is_none()
}

/// Written forms of a span to choose from.
pub struct Candidates {
    /// each with its cost over the cheapest, in units of the grammars; today's comes first, what was said last
    pub texts: Vec<(String, f32)>,
    /// how many of them are readings of the grammars
    pub readings: usize,
}

/// Written forms of a tagged span: the reading of its label, then the other readings of all classes, then the words as
/// they were said. Words in lower case.
pub fn candidates(style: &Style, label: ItnClass, words: &[&str]) -> Candidates {
    let own = style.itn.write(label, words, &|class| !style.off.contains(class));
    let own = own.map(|(class, written)| style.numbers.restyle(class, written).text);
    beside(style, label, words, own, 0.0)
}

/// As [`candidates`], where today's text is `own`, and every other reading costs `extra` more.
fn beside(style: &Style, label: ItnClass, words: &[&str], own: Option<String>, extra: f32) -> Candidates {
    let allowed = |class: &str| !style.off.contains(class);
    let readings = style.itn.readings(words, &allowed);
    let least = readings.first().map_or(0, |reading| reading.written.cost);
    let mut texts: Vec<(String, f32)> = own.iter().map(|text| (text.clone(), 0.0)).collect();
    for reading in readings {
        let over = network::units(reading.written.cost - least) as f32 + extra;
        let text = style.numbers.restyle(reading.class, reading.written).text;
        match texts.iter_mut().find(|(known, _)| *known == text) {
            // Two readings may be restyled to one text; the first is the cheaper one. The label's own has no cost yet.
            Some(known) if own.as_ref() == Some(&known.0) && known.1 == 0.0 => known.1 = over - extra,
            Some(_) => {}
            None => texts.push((text, over)),
        }
    }
    let readings = texts.len();
    let said = words.join(" ");
    let figures = style.numbers.figures == Figures::Always && PLAIN_NUMBERS.contains(&label.label());
    if !figures && texts.iter().all(|(text, _)| *text != said) {
        texts.push((said, PLAIN_COST as f32 / 1000.0 * words.len() as f32));
    }
    Candidates { texts, readings }
}

/// Spellings of a name: Paypal, PAYPAL, paypal, and one capital inside, with and without the first. A name of several words
/// is offered as one word (PayPal, Paypal, payPal), and as its words, of which one has a capital inside (Pay Pal,
/// iPhone Mini).
pub fn spellings(words: &[&str]) -> Vec<(String, f32)> {
    let mut all: Vec<String> = Vec::new();
    match words {
        [word] => all = spellings_of_word(word),
        _ => {
            let capitals = || words.iter().map(|word| casing::capitalise(word));
            let (capitalised, joined) = (capitals().collect::<Vec<_>>(), words.concat());
            all.push(capitalised.join(" "));
            all.push(capitalised.concat());
            all.push(format!("{}{}", words[0], capitalised[1..].concat()));
            all.extend([casing::capitalise(&joined), joined.to_uppercase(), words.join(" ").to_uppercase(), joined]);
            for (at, word) in words.iter().enumerate() {
                for spelled in spellings_of_word(word).into_iter().skip(1) {
                    let mut one = capitalised.clone();
                    one[at] = spelled;
                    all.push(one.join(" "));
                }
            }
        }
    }
    let mut known = HashSet::new();
    all.retain(|text| known.insert(text.clone()));
    all.truncate(MAX_SPELLINGS * words.len());
    all.into_iter().map(|text| (text, 0.0)).collect()
}

fn spellings_of_word(lower: &str) -> Vec<String> {
    let mut all = vec![casing::capitalise(lower), lower.to_uppercase(), lower.to_string()];
    for (at, _) in lower.char_indices().skip(1).filter(|(_, c)| c.is_lowercase()) {
        let inside = format!("{}{}", &lower[..at], casing::capitalise(&lower[at..]));
        all.push(casing::capitalise(&inside));
        all.push(inside);
    }
    all
}

/// The source of a question: at most `context_words` words before the span, of its sentence and speaker; the words of the
/// span as said; at most as many words after it. Words that are frozen have their case and mark, the others are as said.
/// `known`: so many words of the passage are frozen, and whether it begins a sentence.
pub(in crate::format) fn source_of(
    kept: &[KeptWord],
    [from, to]: [usize; 2],
    class: &str,
    context_words: usize,
    known: (usize, bool),
    lexicon: &Lexicon,
) -> SpanSource {
    let (frozen, sentence_start) = known;
    let starts =
        |at: usize| kept[at].turn || at.checked_sub(1).map_or(sentence_start, |before| kept[before].mark.ends_sentence());
    let shown = |at: usize| match &kept[at] {
        k if k.at >= frozen => k.word.spoken.to_lowercase(),
        k if k.word.kind != WordKind::Speech => k.word.spoken.to_string(),
        k => {
            let mut text = casing::write(&k.word.spoken, k.tags.case, starts(at), lexicon);
            if !text.ends_with([',', '.', '?', '!', ';', ':']) {
                text.push_str(k.mark.written());
            }
            text
        }
    };
    let first = (from.saturating_sub(context_words)..from).rev().take_while(|&at| !starts(at + 1)).last().unwrap_or(from);
    SpanSource {
        left: (first..from).map(shown).collect(),
        class: class.to_string(),
        span: kept[from..to].iter().map(|k| k.word.spoken.to_lowercase()).collect(),
        right: (to..kept.len().min(to + context_words)).map(shown).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::kept::tests::word;
    use crate::session::Word;
    use crate::tags::{Case, Itn, Punct, Tags};

    #[test]
    fn sources_are_as_the_golden_file_says() {
        let golden = include_str!("../../../tests/golden/second_source.tsv");
        let mut wrong = Vec::new();
        for line in golden.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let [context, frozen, tagged, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (context, frozen): (usize, usize) = (context.parse().unwrap(), frozen.parse().unwrap());
            let words: Vec<(Word, Tags)> = tagged
                .split(' ')
                .map(|word_of| {
                    let (text, rest) = word_of.split_once('/').unwrap_or((word_of, ""));
                    let mut tags = Tags::default();
                    for tag in rest.split('/') {
                        match tag {
                            "," => tags.punct = Punct::Comma,
                            "." => tags.punct = Punct::Period,
                            "?" => tags.punct = Punct::Question,
                            "Cap" => tags.case = Case::Cap,
                            "Mixed" => tags.case = Case::Mixed,
                            "" => {}
                            label if label.starts_with("B-") => tags.itn = Itn::B(ItnClass::named(&label[2..]).unwrap()),
                            label if label.starts_with("I-") => tags.itn = Itn::I(ItnClass::named(&label[2..]).unwrap()),
                            "F" => tags.disfluency = crate::tags::Disfluency::F,
                            other => panic!("{other}"),
                        }
                    }
                    (word(text), tags)
                })
                .collect();
            let words: Vec<(&Word, Tags)> = words.iter().map(|(word, tags)| (word, *tags)).collect();
            let passage =
                Passage { words: &words, sentence_start: true, turn_ends: false, around: Default::default(), sure: words.len() };
            let (kept, _) = divide(&passage, false);
            let span = spans(&kept).into_iter().map(|(span, label)| (span, label.label()));
            let mixed = kept.iter().enumerate().filter(|(_, k)| k.tags.case == Case::Mixed).map(|(at, _)| ([at, at + 1], MIXED));
            let (span, class) = span.chain(mixed).next().expect("each line has a span");
            let got = source_of(&kept, span, class, context, (frozen, true), &Lexicon::default()).to_string();
            if got != expected {
                wrong.push(format!("{tagged:?}:\n  expected {expected:?}\n  got      {got:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn spellings_of_a_name_hold_the_usual_ones_and_nothing_else() {
        let all: Vec<String> = spellings(&["paypal"]).into_iter().map(|(text, _)| text).collect();
        for wanted in ["Paypal", "PAYPAL", "paypal", "PayPal", "payPal"] {
            assert!(all.iter().any(|text| text == wanted), "{wanted}: {all:?}");
        }
        assert!(all.len() <= MAX_SPELLINGS && all.iter().all(|text| text.to_lowercase() == "paypal"));
        let all: Vec<String> = spellings(&["pay", "pal"]).into_iter().map(|(text, _)| text).collect();
        for wanted in ["PayPal", "Pay Pal", "Paypal", "pay Pal"] {
            assert!(all.iter().any(|text| text == wanted), "{wanted}: {all:?}");
        }
        assert!(all.len() <= 2 * MAX_SPELLINGS && all.iter().all(|text| text.to_lowercase().replace(' ', "") == "paypal"));
    }
}
