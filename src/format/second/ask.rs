//! What the second stage is asked: the span with its context as the model reads it, and the written forms to choose from.

use std::sync::Arc;

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
use crate::tags::{Case, ItnClass};

/// Longest span that is asked about, words.
const MAX_SPAN_WORDS: usize = 24;
/// Most spellings of a word of mixed case that are offered.
const MAX_SPELLINGS: usize = 24;
/// Longest word of mixed case that is asked about, letters.
const MAX_LETTERS: usize = 32;

/// Makes a profile's questions.
pub struct Asker {
    style: Arc<Style>,
    mode: SecondMode,
    /// words of context on each side
    context_words: usize,
}

impl Asker {
    /// For the formatting of a profile, with so many words of context on each side.
    pub fn new(style: Arc<Style>, mode: SecondMode, context_words: usize) -> Asker {
        Asker { style, mode, context_words }
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
            return question(spellings(words[0]), free);
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
        let mut asked = Vec::new();
        let mut ask = |span: [usize; 2], class: &str| {
            let last = &kept[span[1] - 1];
            let words = (span[1] - span[0]) as u32;
            let speech = kept[span[0]..span[1]].iter().all(|k| k.word.kind == WordKind::Speech);
            let known = last.word.choice.as_ref().is_some_and(|choice| choice.words == words);
            if speech
                && !known
                && let Some(question) = self.about(&kept, span, class, view)
            {
                asked.push(SpanQuestion { last: last.at, words, question });
            }
        };
        let mut inside = vec![false; kept.len()];
        for (span, label) in spans(&kept) {
            inside[span[0]..span[1]].fill(true);
            if kept[span[1] - 1].at < view.frozen && has_ended(span[1]) && span[1] - span[0] <= MAX_SPAN_WORDS {
                ask(span, label.label());
            }
        }
        for (at, k) in kept.iter().enumerate() {
            let now = (view.frozen_before..view.frozen).contains(&k.at);
            if now && !inside[at] && k.tags.case == Case::Mixed && is_open(&k.word.spoken, &self.style.lexicon) {
                ask([at, at + 1], MIXED);
            }
        }
        asked
    }
}

/// Whether nobody knows how a word of mixed case is written: neither the recogniser, nor the lexicon.
fn is_open(spoken: &str, lexicon: &Lexicon) -> bool {
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
    let allowed = |class: &str| !style.off.contains(class);
    let own = style.itn.write(label, words, &allowed);
    let own = own.map(|(class, written)| style.numbers.restyle(class, written).text);
    let readings = style.itn.readings(words, &allowed);
    let least = readings.first().map_or(0, |reading| reading.written.cost);
    let mut texts: Vec<(String, f32)> = own.iter().map(|text| (text.clone(), 0.0)).collect();
    for reading in readings {
        let over = network::units(reading.written.cost - least) as f32;
        let text = style.numbers.restyle(reading.class, reading.written).text;
        match texts.iter_mut().find(|(known, _)| *known == text) {
            // Two readings may be restyled to one text; the first is the cheaper one. The label's own has no cost yet.
            Some(known) if own.as_ref() == Some(&known.0) && known.1 == 0.0 => known.1 = over,
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

/// Spellings of a word of mixed case: Paypal, PAYPAL, paypal, and one capital inside, with and without the first.
pub fn spellings(lower: &str) -> Vec<(String, f32)> {
    let mut all = vec![casing::capitalise(lower), lower.to_uppercase(), lower.to_string()];
    let inner = lower.char_indices().skip(1).filter(|(_, c)| c.is_lowercase());
    for (at, _) in inner {
        let inside = format!("{}{}", &lower[..at], casing::capitalise(&lower[at..]));
        all.push(casing::capitalise(&inside));
        all.push(inside);
    }
    all.dedup();
    all.truncate(MAX_SPELLINGS);
    all.into_iter().map(|text| (text, 0.0)).collect()
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
    use crate::tags::{Itn, Punct, Tags};

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
        let all: Vec<String> = spellings("paypal").into_iter().map(|(text, _)| text).collect();
        for wanted in ["Paypal", "PAYPAL", "paypal", "PayPal", "payPal"] {
            assert!(all.iter().any(|text| text == wanted), "{wanted}: {all:?}");
        }
        assert!(all.len() <= MAX_SPELLINGS && all.iter().all(|text| text.to_lowercase() == "paypal"));
    }
}
