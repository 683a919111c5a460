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
use super::second::guard::{Admitted, Refusal, admit, admit_beside, admit_name, admit_spelling};
use super::second::{MIXED, own_text};
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

/// What the second stage says of a stretch of words that is no tagged span: of a larger one, or of a name.
struct GrownChoice {
    /// kept words, half-open
    words: [usize; 2],
    /// label of the first tagged span in it
    class: &'static str,
    /// as far as it may be published
    guarded: Result<Admitted, Refusal>,
}

/// Guards what the second stage says of other stretches of words than tagged spans. Each stretch is one speaker's.
fn grown(kept: &[KeptWord], tagged: &[([usize; 2], ItnClass)], words: &[&str], style: &Style) -> Vec<GrownChoice> {
    let guarded = |to: usize| {
        let choice = kept[to - 1].word.choice.as_ref()?;
        let from = to.checked_sub(choice.words as usize).filter(|from| *from < to)?;
        let all = &kept[from..to];
        let is_one = all.iter().all(|k| k.word.kind == WordKind::Speech) && all[1..].iter().all(|k| !k.turn);
        if !is_one || tagged.iter().any(|(span, _)| *span == [from, to]) {
            return None;
        }
        if all.iter().all(is_mixed) {
            // A name of one word is spelled where its word is written.
            let name = || GrownChoice { words: [from, to], class: MIXED, guarded: admit_name(&words[from..to], &choice.written) };
            return (all.len() > 1).then(name);
        }
        let label =
            tagged.iter().find(|(span, _)| from <= span[0] && span[1] <= to).map_or(ItnClass::Cardinal, |(_, label)| *label);
        let own = own_text(kept, [from, to], style);
        let guarded = admit_beside(style, label, &words[from..to], Some(&own), &choice.written);
        Some(GrownChoice { words: [from, to], class: label.label(), guarded })
    };
    (1..=kept.len()).filter_map(guarded).collect()
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
    let all_grown = grown(&kept, &tagged, &words, style);
    let changes = |choice: &GrownChoice| choice.guarded.as_ref().is_ok_and(|admitted| *admitted != Admitted::Own);
    let units_with = |chosen: &Chosen, all_grown: &[GrownChoice]| {
        let mut made = Vec::new();
        for turn in turns(&kept) {
            let within = |[from, to]: [usize; 2]| turn.start <= from && to <= turn.end;
            let own = || tagged.iter().enumerate().filter(|(_, (span, _))| within(*span));
            let spans: Vec<_> = own().map(|(_, &(span, label))| (span.map(|word| word - turn.start), label)).collect();
            let chosen: Vec<Option<Admitted>> =
                own().map(|(at, _)| chosen.get(at).and_then(|c| c.as_ref()?.as_ref().ok().cloned())).collect();
            let of_turn = all_grown.iter().filter(|choice| within(choice.words) && changes(choice));
            let admitted = |choice: &GrownChoice| choice.guarded.as_ref().ok().cloned();
            let grown: Vec<([usize; 2], Admitted)> =
                of_turn.filter_map(|choice| Some((choice.words.map(|word| word - turn.start), admitted(choice)?))).collect();
            let spans = Spans::Tagged { spans: &spans, chosen: &chosen, grown: &grown, ends: &ends[turn.clone()] };
            let heard = |at: usize| {
                let word = kept[turn.start + at].word;
                Heard { vocabulary: word.vocabulary.as_deref(), confidence: word.confidence }
            };
            let of_turn = units_spelled(&words[turn.clone()], &fixed[turn.clone()], spans, style, &heard);
            made.extend(of_turn.into_iter().map(|unit| unit.later(turn.start)));
        }
        made
    };
    let units = units_with(&chosen, &all_grown);
    let mut regions = Vec::new();
    if let Some(redaction) = &style.redaction {
        regions = redacted(passage, redaction, &kept, &units, &tagged);
        // What the grammars alone would show is looked at as well, so that the second stage hides nothing from redaction.
        if chosen.iter().flatten().flatten().any(|admitted| *admitted != Admitted::Own) || all_grown.iter().any(changes) {
            let alone = units_with(&Vec::new(), &[]);
            if alone != units {
                regions = both(regions, redacted(passage, redaction, &kept, &alone, &tagged));
            }
        }
    }
    let second = decided(&kept, &tagged, &chosen, &all_grown, &units);
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
    all_grown: &[GrownChoice],
    units: &[Unit],
) -> Vec<(&'static str, &'static str)> {
    let outcome = |span: [usize; 2], answer: &Result<Admitted, Refusal>| match answer {
        Err(refusal) => refusal.name(),
        Ok(Admitted::AsSpoken) => "as_spoken",
        Ok(Admitted::Own) => "same",
        Ok(Admitted::Written { .. } | Admitted::Spelled(_)) => {
            let by_second = |u: &Unit| match u {
                Unit::Entity { words, by, .. } => *by == Author::Second && *words == span,
                Unit::Entry { words, text, .. } => *answer == Ok(Admitted::Spelled(text.clone())) && *words == span,
                Unit::Spoken(_) => false,
            };
            if units.iter().any(by_second) { "taken" } else { "overruled" }
        }
    };
    let spans = tagged.iter().zip(chosen).filter_map(|(&(span, label), answer)| Some((label.label(), span, answer.as_ref()?)));
    let grown = all_grown.iter().map(|choice| (choice.class, choice.words, &choice.guarded));
    let mut all: Vec<(&'static str, &'static str)> =
        spans.chain(grown).map(|(class, span, answer)| (class, outcome(span, answer))).collect();
    for k in kept.iter().filter(|k| is_mixed(k)) {
        if let Some(choice) = k.word.choice.as_ref().filter(|choice| choice.words == 1) {
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
