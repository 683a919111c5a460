//! Tags applied to words (Four-in-One, arXiv 2210.15063, section 2.2), in this order:
//!
//! 1. words tagged disfluent and recogniser markup leave the text and are listed; a sentence end on one of them moves to the
//!    kept word before it, and whatever then begins the sentence gets its capital. A change of speaker ends a sentence;
//! 2. kept words of each speaker are divided into [`units`]: recipes, tagged spans, dictionary entries, single words;
//! 3. what the profile redacts is taken out, of the text and of what is listed;
//! 4. what is left is written and cased; a written token carries the last mark of its own spoken words;
//! 5. every token gets the range, times and confidence of its spoken words.

use std::sync::Arc;

use super::casing::{self, Lexicon};
use super::itn::Token;
use super::kept::{KeptWord, RemovedPlace, divide, spans, turns};
pub use super::kept::{Passage, PassageContext};
use super::second::MIXED;
use super::second::guard::{Admitted, Refusal, admit, admit_spelling};
use super::style::Style;
use super::unit::Author;
use super::units::{Spans, Unit, units_spelled};
use crate::faults::panic_at;
use crate::record::{Entity, Removed, Stage, WrittenWord};
use crate::redact::number::{Role, role};
use crate::redact::{Action, PROFANITY, Redaction, RedactionWord, Region};
use crate::session::{Word, WordKind};
use crate::tags::{Case, ItnClass, Punct, Tags};

/// Formatted words.
#[derive(Debug, Default, PartialEq)]
pub struct Formatted {
    /// tokens joined by spaces
    pub text: String,
    /// tokens
    pub words: Vec<WrittenWord>,
    /// entities among them
    pub entities: Vec<Entity>,
    /// words that left the text
    pub removed: Vec<Removed>,
    /// counts for metrics
    pub format_counts: FormatCounts,
}

/// What operators count of a passage. Contains no word of the passage.
#[derive(Debug, Default, PartialEq)]
pub struct FormatCounts {
    /// the class of each redaction
    pub redacted: Vec<String>,
    /// the class of each tagged span that no grammar could write
    pub rejected: Vec<&'static str>,
    /// the class of each span that the second stage was asked about, and what became of its answer
    pub second: Vec<(&'static str, &'static str)>,
}

/// A passage of which nothing is written yet.
struct Divided<'a> {
    kept: Vec<KeptWord<'a>>,
    gone: Vec<RemovedPlace>,
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
    let (kept, gone) = divide(passage, style.verbatim);
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
            let vocabulary = |at: usize| kept[turn.start + at].word.vocabulary.as_deref();
            let of_turn = units_spelled(&words[turn.clone()], &fixed[turn.clone()], spans, style, &vocabulary);
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
    Divided { kept, gone, tagged, units, regions, second }
}

/// The regions of the passage that must be redacted, in order. Writes nothing.
pub(super) fn regions(passage: &Passage, style: &Style) -> Vec<Region> {
    divided(passage, style).regions
}

/// Formats a passage.
pub fn apply(passage: Passage, style: &Style) -> Formatted {
    let Divided { kept, gone, tagged, units, regions, second } = divided(&passage, style);
    let rejected = rejected(&tagged, &units, style);
    let format_counts = FormatCounts { rejected, redacted: regions.iter().map(|r| r.class.clone()).collect(), second };
    let units = if regions.is_empty() { units } else { without(&kept, units, &regions) };
    let mut out = Formatted { removed: removed(&passage, &gone, &regions), format_counts, ..Formatted::default() };
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
                unit_of(&mut out, unit, span, &style.lexicon, start);
                span[span.len() - 1].mark
            }
            Piece::Hidden(region) => {
                let span: Vec<&KeptWord> = kept.iter().filter(|k| region.words.contains(&k.at)).collect();
                let redaction = style.redaction.as_ref().expect("it has regions");
                hidden(&mut out, region, &span, (redaction, src_of(passage.words, region)), style);
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

/// Classes whose digits are nobody's number if one of their words says what they are: "dollars", "March".
const MEASURED: [&str; 9] = ["money", "percent", "date", "time", "year", "ordinal", "measure", "fraction", "address"];

/// The reason given for words that a profile drops.
pub(super) const DROPPED: &str = "redacted";

/// Tagged spans that the profile wanted written and no grammar wrote.
fn rejected(tagged: &[([usize; 2], ItnClass)], units: &[Unit], style: &Style) -> Vec<&'static str> {
    let written =
        |[from, to]: [usize; 2]| units.iter().any(|u| !matches!(u, Unit::Spoken(_)) && u.words()[0] < to && from < u.words()[1]);
    let wanted = |class: &ItnClass| !style.off.contains(class.label());
    tagged.iter().filter(|(span, class)| wanted(class) && !written(*span)).map(|(_, class)| class.label()).collect()
}

/// The regions of the passage that must be redacted.
fn redacted(
    passage: &Passage,
    redaction: &Redaction,
    kept: &[KeptWord],
    units: &[Unit],
    tagged: &[([usize; 2], ItnClass)],
) -> Vec<Region> {
    let mut heard: Vec<RedactionWord> = passage.words.iter().map(|(word, _)| word.said(false)).collect();
    kept.iter().for_each(|k| heard[k.at].kept = true);
    heard[passage.sure..].iter_mut().for_each(|h| h.sure = false);
    for unit in units {
        if let Unit::Entity { class, words, .. } = unit {
            // The region includes the removed words inside it.
            let of = &mut heard[kept[words[0]].at..=kept[words[1] - 1].at];
            let says_so = |h: &RedactionWord| h.kept && h.parts.split(' ').any(|p| !p.is_empty() && role(p) == Role::Other);
            let measured = MEASURED.contains(&class.as_str()) && of.iter().any(says_so);
            of.iter_mut().for_each(|h| (h.class, h.measured) = (Some(class.as_str()), measured));
        }
    }
    // What the tagger calls a secret is one, whichever grammar wrote it, and whether or not any did.
    for &([from, to], label) in tagged {
        if let Some(class) = label.secret().filter(|class| redaction.redacts(class)) {
            heard[kept[from].at..=kept[to - 1].at].iter_mut().for_each(|h| h.class = Some(class));
        }
    }
    let before = RedactionWord::around(passage.around.before).count();
    let all: Vec<RedactionWord> =
        RedactionWord::around(passage.around.before).chain(heard).chain(RedactionWord::around(passage.around.after)).collect();
    let within = before..before + passage.words.len();
    let clipped = |region: Region| {
        let words = region.words.start.max(within.start)..region.words.end.min(within.end);
        let whole = words == region.words;
        // A region that reaches over an end of the passage shows no last digits, because they may be the middle of the
        // number.
        let exact = region.exact && whole && !region.open;
        (words.start < words.end).then(|| Region { words: words.start - before..words.end - before, exact, ..region })
    };
    whole_figures(redaction.find(&all, before, passage.around.more).into_iter().filter_map(clipped), passage.words)
}

/// Regions of either list; those that overlap become one, of the class that begins first.
fn both(a: Vec<Region>, b: Vec<Region>) -> Vec<Region> {
    let mut all = a;
    all.extend(b);
    all.sort_by_key(|r| (r.words.start, std::cmp::Reverse(r.words.end)));
    let mut merged: Vec<Region> = Vec::new();
    for region in all {
        match merged.last_mut().filter(|before| region.words.start < before.words.end) {
            Some(before) if before.words == region.words && before.class == region.class => {
                before.exact &= region.exact;
                before.open |= region.open;
            }
            Some(before) => {
                before.words.end = before.words.end.max(region.words.end);
                before.exact = false;
                before.open |= region.open;
            }
            None => merged.push(region),
        }
    }
    merged
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

/// Whether the second stage may have spelled a word.
fn is_mixed(k: &KeptWord) -> bool {
    k.tags.case == Case::Mixed && k.tags.itn.class().is_none() && k.word.kind == WordKind::Speech
}

/// Regions that reach over all words of a figure of which they hold some: what is left of it would tell the rest.
fn whole_figures(regions: impl Iterator<Item = Region>, words: &[(&Word, Tags)]) -> Vec<Region> {
    let goes_on = |at: usize| 0 < at && at < words.len() && words[at - 1].0.goes_with(words[at].0);
    let mut whole: Vec<Region> = Vec::new();
    for mut region in regions {
        let found = region.words.clone();
        while goes_on(region.words.start) {
            region.words.start -= 1;
        }
        while goes_on(region.words.end) {
            region.words.end += 1;
        }
        region.exact &= region.words == found;
        match whole.last_mut().filter(|before| region.words.start < before.words.end) {
            Some(before) => {
                before.words.end = before.words.end.max(region.words.end);
                before.exact = false;
            }
            None => whole.push(region),
        }
    }
    whole
}

/// The input words of a region.
pub(super) fn src_of(words: &[(&Word, Tags)], region: &Region) -> [u64; 2] {
    [words[region.words.start].0.src[0], words[region.words.end - 1].0.src[1]]
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
fn removed(passage: &Passage, gone: &[RemovedPlace], regions: &[Region]) -> Vec<Removed> {
    let mut out: Vec<Removed> = Vec::new();
    for &(at, class) in gone {
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

fn name(region: &Region) -> String {
    format!("[{}]", region.class.to_uppercase())
}

/// Writes a unit of the words `span`. `start`: it begins a sentence.
fn unit_of(out: &mut Formatted, unit: Unit, span: &[KeptWord], lexicon: &Lexicon, start: bool) {
    match unit {
        Unit::Spoken(_) => {
            let k = &span[0];
            let text = match k.word.kind {
                WordKind::Speech => {
                    let choice = k.word.choice.as_ref().filter(|choice| is_mixed(k) && choice.words == 1);
                    match choice.and_then(|choice| admit_spelling(&k.word.spoken, &choice.written).ok()) {
                        Some(spelled) => spelled.to_string(),
                        None => casing::write(&k.word.spoken, k.tags.case, start, lexicon),
                    }
                }
                WordKind::Plain | WordKind::Filler | WordKind::Markup => k.word.spoken.to_string(),
            };
            push(out, text, k.mark, &span.iter().collect::<Vec<_>>());
        }
        Unit::Entity { class, mut text, mut tokens, by, .. } => {
            // A word that an entity leaves as spoken has its own case: "Robert Downey Jr.". What a pack's recipe writes
            // stands as the pack has it.
            let own = |token: &Token| match &span[token.words[0]..token.words[1]] {
                [k] if k.word.kind == WordKind::Speech && *token.text == *k.word.spoken.to_lowercase() => Some(k),
                _ => None,
            };
            if by != Author::Pack && tokens.len() > 1 && tokens.iter().any(|t| own(t).is_some_and(|k| k.tags.case != Case::Lower))
            {
                for token in &mut tokens {
                    if let Some(k) = own(token) {
                        token.text = casing::write(&k.word.spoken, k.tags.case, false, lexicon);
                    }
                }
                text = tokens.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join(" ");
            }
            // An entity's first word gets a capital at the beginning of a sentence ("Runway 4R is closed."), but not
            // example.com.
            if start && tokens[0].text.chars().all(char::is_lowercase) {
                tokens[0].text = casing::capitalise(&tokens[0].text);
                text = casing::capitalise(&text);
            }
            let (first, last) = (out.words.len(), tokens.len() - 1);
            for (i, token) in tokens.into_iter().enumerate() {
                let mark = if i == last { span[span.len() - 1].mark } else { Punct::O };
                push(out, token.text, mark, &span[token.words[0]..token.words[1]].iter().collect::<Vec<_>>());
            }
            let spoken: Vec<&str> = span.iter().map(|k| &*k.word.spoken).collect();
            out.entities.push(Entity {
                class,
                written: text,
                spoken: spoken.join(" "),
                words: [first, out.words.len()],
                src: [span[0].word.src[0], span[span.len() - 1].word.src[1]],
                stage: if by == Author::Second { Stage::Second } else { Stage::Grammar },
            });
        }
        Unit::Entry { text, cased, .. } => {
            let tokens: Vec<&str> = text.split(' ').filter(|t| !t.is_empty()).collect();
            for (i, token) in tokens.iter().enumerate() {
                // If there are as many tokens as words, each token comes from one word. Otherwise each token comes from
                // all words.
                let (own, single) = if tokens.len() == span.len() { (&span[i..=i], true) } else { (span, false) };
                let case = if i == 0 || single { own[0].tags.case } else { Case::Lower };
                let text = if cased { token.to_string() } else { casing::write(token, case, start && i == 0, lexicon) };
                let mark = if i + 1 == tokens.len() { span[span.len() - 1].mark } else { Punct::O };
                push(out, text, mark, &own.iter().collect::<Vec<_>>());
            }
        }
    }
}

/// Writes what stands in the text for a redacted region. `span`: the region's words that would have stayed in the text.
fn hidden(out: &mut Formatted, region: &Region, span: &[&KeptWord], (redaction, src): (&Redaction, [u64; 2]), style: &Style) {
    let (Some(first), Some(last)) = (span.first(), span.last()) else { return };
    let rule = redaction.rule(&region.class);
    let text = match rule.action {
        Action::Drop => {
            for k in span {
                match out.removed.last_mut().filter(|r| r.class == DROPPED && r.src[1] >= k.word.src[0]) {
                    Some(run) => run.src[1] = k.word.src[1],
                    None => {
                        let src = k.word.src;
                        out.removed.push(Removed { class: DROPPED.into(), spoken: name(region), src });
                    }
                }
            }
            if let Some(before) = out.words.last_mut().filter(|w| last.mark.ends_sentence() && !w.text.ends_with(['.', '?'])) {
                before.text.truncate(before.text.trim_end_matches(',').len());
                before.text.push_str(last.mark.written());
            }
            return;
        }
        Action::Tag => name(region),
        Action::Mask if region.class == PROFANITY => {
            let cased = casing::write(&first.word.spoken, first.tags.case, false, &Lexicon::default());
            let mut letters = cased.chars();
            let initial: String = letters.next().into_iter().collect();
            initial + &"*".repeat(letters.count())
        }
        Action::Mask => {
            let parts: Vec<&str> = span.iter().flat_map(|k| k.word.parts.split(' ')).filter(|p| !p.is_empty()).collect();
            let digits: Vec<&str> = parts.iter().copied().filter(|p| role(p).is_number()).collect();
            let only_digits = parts.iter().all(|p| role(p) != Role::Other);
            // If no grammar reads the digits, or if they may be more than one number, no digit is kept.
            let written = style.itn.write_as("PHONE", &digits).map(|w| w.text).filter(|_| only_digits);
            match written {
                Some(written) => mask(&written, if region.exact { rule.keep_last } else { 0 }),
                None => "*****".into(),
            }
        }
    };
    let first_token = out.words.len();
    push(out, text.clone(), last.mark, span);
    out.words[first_token].src = src;
    out.entities.push(Entity {
        class: region.class.clone(),
        written: text,
        spoken: name(region),
        words: [first_token, first_token + 1],
        src,
        stage: Stage::Grammar,
    });
}

/// Asterisks for all letters and digits of `text` but the last `keep`, if that is at most half of it.
fn mask(text: &str, keep: usize) -> String {
    let all = text.chars().filter(|c| c.is_alphanumeric()).count();
    let keep = if 2 * keep <= all { keep } else { 0 };
    let kept: String = {
        let mut last: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).rev().take(keep).collect();
        last.reverse();
        last.into_iter().collect()
    };
    let hidden = all - kept.chars().count();
    // A mask must not show how long a name or an address was.
    let hidden = if text.chars().all(|c| !c.is_alphabetic()) { hidden } else { 5 };
    format!("{}{kept}", "*".repeat(hidden))
}

fn push(out: &mut Formatted, mut text: String, mark: Punct, span: &[&KeptWord]) {
    // Marks that the recogniser wrote stay.
    if !text.ends_with([',', '.', '?', '!', ';', ':']) || mark == Punct::Question && !text.ends_with('?') {
        text.push_str(mark.written());
    }
    let (first, last) = (&span[0], &span[span.len() - 1]);
    let confidence: Vec<f32> = span.iter().filter_map(|k| k.word.confidence).collect();
    out.words.push(WrittenWord {
        text,
        s: first.word.start,
        e: last.word.end,
        speaker: one_speaker(span.iter().map(|k| k.word)),
        c: (!confidence.is_empty()).then(|| (1000.0 * confidence.iter().sum::<f32>() / confidence.len() as f32).round() / 1000.0),
        src: [first.word.src[0], last.word.src[1]],
    });
}

/// Who said all of these words, if that is known and one.
pub(super) fn one_speaker<'a>(mut words: impl Iterator<Item = &'a Word>) -> Option<Arc<str>> {
    let speaker = words.next()?.speaker.as_ref()?;
    words.all(|word| word.speaker.as_ref() == Some(speaker)).then(|| speaker.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_keeps_the_last_and_tells_no_length_of_what_is_not_a_number() {
        assert_eq!(mask("4111 1111 1111 1234", 4), "************1234");
        assert_eq!(mask("555-0198", 0), "*******");
        assert_eq!(mask("sam@example.com", 0), "*****");
        assert_eq!(mask("AB1234", 2), "*****34");
        assert_eq!(mask("72911", 4), "*****", "more would be shown than hidden");
    }
}
