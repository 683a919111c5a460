//! Tags applied to words (Four-in-One, arXiv 2210.15063, section 2.2), in this order:
//!
//! 1. words tagged disfluent and recogniser markup leave the text and are listed; a sentence end on one of them moves to the
//!    kept word before it, and whatever then begins the sentence gets its capital. A change of speaker ends a sentence;
//! 2. kept words of each speaker are divided into [`units`]: recipes, tagged spans, dictionary entries, single words;
//! 3. what the profile redacts is taken out, of the text and of what is listed;
//! 4. what is left is written and cased; a written token carries the last mark of its own spoken words;
//! 5. every token gets the range, times and confidence of its spoken words.

use super::kept::{KeptWord, RemovedPlace, divide, spans, turns};
pub use super::kept::{Passage, PassageContext};
use super::regions::{both, redacted, src_of};
use super::second::MIXED;
use super::second::guard::{Admitted, Refusal, admit, admit_spelling};
use super::style::Style;
use super::unit::Author;
use super::units::{Heard, Spans, Unit, units_spelled};
pub use super::written::{FormatCounts, Formatted};
use super::written::{is_mixed, name, write_region, write_unit};
use crate::faults::panic_at;
use crate::record::Removed;
use crate::redact::Region;
use crate::session::WordKind;
use crate::tags::{ItnClass, Punct};

/// A passage of which nothing is written yet.
struct Divided<'a> {
    kept: Vec<KeptWord<'a>>,
    removed_places: Vec<RemovedPlace>,
    tagged: Vec<([usize; 2], ItnClass)>,
    /// of all kept words
    units: Vec<Unit>,
    /// what must not leave
    regions: Vec<Region>,
    /// as in [`FormatCounts::second`]
    second: Vec<(&'static str, &'static str)>,
}

/// What the second stage says of some tagged spans, as far as it may be published.
type Chosen = Vec<Option<Result<Admitted, Refusal>>>;

/// Guards what the second stage says of each tagged span.
fn chosen(kept: &[KeptWord], tagged: &[([usize; 2], ItnClass)], words: &[&str], style: &Style) -> Chosen {
    let guarded = |&([from, to], label): &([usize; 2], ItnClass)| {
        let choice = kept[to - 1].word.choice.as_ref().filter(|choice| choice.words as usize == to - from)?;
        let speech = kept[from..to].iter().all(|k| k.word.kind == WordKind::Speech);
        speech.then(|| admit(style, label, &words[from..to], &choice.written))
    };
    tagged.iter().map(guarded).collect()
}

fn divided<'a>(passage: &Passage<'a>, style: &Style) -> Divided<'a> {
    let (kept, removed_places) = divide(passage, style.verbatim);
    let lower: Vec<String> = kept.iter().map(|k| k.word.spoken.to_lowercase()).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let fixed: Vec<bool> = kept.iter().map(|k| k.word.kind != WordKind::Speech).collect();
    let tagged = spans(&kept);
    panic_at("units", words.iter().copied());
    let ends: Vec<bool> = kept.iter().map(|k| k.mark != Punct::O).collect();
    let chosen = chosen(&kept, &tagged, &words, style);
    let units_with = |chosen: &Chosen| {
        let mut made = Vec::new();
        for turn in turns(&kept) {
            let within = |[from, to]: [usize; 2]| turn.start <= from && to <= turn.end;
            let own = || tagged.iter().enumerate().filter(|(_, (span, _))| within(*span));
            let spans: Vec<_> = own().map(|(_, &(span, label))| (span.map(|word| word - turn.start), label)).collect();
            let chosen: Vec<Option<Admitted>> =
                own().map(|(at, _)| chosen.get(at).and_then(|c| c.as_ref()?.as_ref().ok().cloned())).collect();
            let spans = Spans::Tagged { spans: &spans, chosen: &chosen, ends: &ends[turn.clone()] };
            let heard = |at: usize| {
                let word = kept[turn.start + at].word;
                Heard { vocabulary: word.vocabulary.as_deref(), confidence: word.confidence }
            };
            let of_turn = units_spelled(&words[turn.clone()], &fixed[turn.clone()], spans, style, &heard);
            made.extend(of_turn.into_iter().map(|unit| unit.later(turn.start)));
        }
        made
    };
    let units = units_with(&chosen);
    let mut regions = Vec::new();
    if let Some(redaction) = &style.redaction {
        regions = redacted(passage, redaction, &kept, &units, &tagged);
        // What the grammars alone would show is looked at as well, so that the second stage hides nothing from redaction.
        if chosen.iter().flatten().flatten().any(|admitted| *admitted != Admitted::Own) {
            let alone = units_with(&Vec::new());
            if alone != units {
                regions = both(regions, redacted(passage, redaction, &kept, &alone, &tagged));
            }
        }
    }
    let second = decided(&kept, &tagged, &chosen, &units);
    Divided { kept, removed_places, tagged, units, regions, second }
}

/// The regions of the passage that must be redacted, in order. Writes nothing.
pub(super) fn regions(passage: &Passage, style: &Style) -> Vec<Region> {
    divided(passage, style).regions
}

/// Formats a passage.
pub fn apply(passage: Passage, style: &Style) -> Formatted {
    let Divided { kept, removed_places, tagged, units, regions, second } = divided(&passage, style);
    let rejected = rejected(&tagged, &units, style);
    let format_counts = FormatCounts { rejected, redacted: regions.iter().map(|r| r.class.clone()).collect(), second };
    let units = if regions.is_empty() { units } else { without(&kept, units, &regions) };
    let mut out = Formatted { removed: removed(&passage, &removed_places, &regions), format_counts, ..Formatted::default() };
    let units = units.into_iter().map(|u| (kept[u.words()[0]].at, Piece::Unit(u)));
    let mut pieces: Vec<(usize, Piece)> = units.chain(regions.iter().map(|r| (r.words.start, Piece::Hidden(r)))).collect();
    pieces.sort_by_key(|(at, _)| *at);
    let mut start = passage.sentence_start;
    panic_at("writing", kept.iter().map(|k| &*k.word.spoken));
    for (_, piece) in pieces {
        let mark = match piece {
            Piece::Unit(unit) => {
                let span = &kept[unit.words()[0]..unit.words()[1]];
                start |= span[0].turn;
                write_unit(&mut out, unit, span, &style.lexicon, start);
                span[span.len() - 1].mark
            }
            Piece::Hidden(region) => {
                let span: Vec<&KeptWord> = kept.iter().filter(|k| region.words.contains(&k.at)).collect();
                let redaction = style.redaction.as_ref().expect("it has regions");
                write_region(&mut out, region, &span, (redaction, src_of(passage.words, region)), style);
                let Some(last) = span.last() else { continue };
                last.mark
            }
        };
        start = mark.ends_sentence();
    }
    out.removed.sort_by_key(|r| r.src);
    out.text = out.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
    out
}

enum Piece<'a> {
    Unit(Unit),
    Hidden(&'a Region),
}

/// Tagged spans that the profile wanted written and no grammar wrote.
fn rejected(tagged: &[([usize; 2], ItnClass)], units: &[Unit], style: &Style) -> Vec<&'static str> {
    let written =
        |[from, to]: [usize; 2]| units.iter().any(|u| !matches!(u, Unit::Spoken(_)) && u.words()[0] < to && from < u.words()[1]);
    let wanted = |class: &ItnClass| !style.off.contains(class.label());
    tagged.iter().filter(|(span, class)| wanted(class) && !written(*span)).map(|(_, class)| class.label()).collect()
}

/// What became of the second stage's answers: class of the span and outcome.
fn decided(
    kept: &[KeptWord],
    tagged: &[([usize; 2], ItnClass)],
    chosen: &Chosen,
    units: &[Unit],
) -> Vec<(&'static str, &'static str)> {
    let mut all = Vec::new();
    for (&(span, label), answer) in tagged.iter().zip(chosen) {
        let outcome = match answer {
            None => continue,
            Some(Err(refusal)) => refusal.name(),
            Some(Ok(Admitted::AsSpoken)) => "as_spoken",
            Some(Ok(Admitted::Own)) => "same",
            Some(Ok(Admitted::Written { .. })) => {
                let by_second = |u: &Unit| matches!(u, Unit::Entity { words, by: Author::Second, .. } if *words == span);
                if units.iter().any(by_second) { "taken" } else { "overruled" }
            }
        };
        all.push((label.label(), outcome));
    }
    for k in kept.iter().filter(|k| is_mixed(k)) {
        if let Some(choice) = &k.word.choice {
            all.push((MIXED, admit_spelling(&k.word.spoken, &choice.written).map_or_else(Refusal::name, |_| "taken")));
        }
    }
    all
}

/// Units without the words of `regions`. An entity that loses words to a region is no entity any more.
fn without(kept: &[KeptWord], units: Vec<Unit>, regions: &[Region]) -> Vec<Unit> {
    let hidden = |word: usize| regions.iter().any(|r| r.words.contains(&kept[word].at));
    let mut left = Vec::new();
    for unit in units {
        let [from, to] = unit.words();
        if (from..to).any(hidden) {
            left.extend((from..to).filter(|w| !hidden(*w)).map(Unit::Spoken));
        } else {
            left.push(unit);
        }
    }
    left
}

/// The list of removed words, without redacted words.
fn removed(passage: &Passage, removed_places: &[RemovedPlace], regions: &[Region]) -> Vec<Removed> {
    let mut out: Vec<Removed> = Vec::new();
    for &(at, class) in removed_places {
        let src = passage.words[at].0.src;
        let spoken = match regions.iter().find(|r| r.words.contains(&at)) {
            Some(region) => name(region),
            None => passage.words[at].0.spoken.to_string(),
        };
        match out.last_mut().filter(|r| r.class == class && r.src[1] == src[0]) {
            Some(run) => {
                if !(spoken.starts_with('[') && run.spoken.ends_with(&spoken)) {
                    run.spoken.push(' ');
                    run.spoken.push_str(&spoken);
                }
                run.src[1] = src[1];
            }
            None => out.push(Removed { class: class.to_string(), spoken, src }),
        }
    }
    out
}
