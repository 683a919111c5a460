//! Golden files: tagged words to formatted segments.
//!
//! `tests/golden/format.txt` has cases of three lines: words with their tags, `=` the text, `-` what was removed.

use std::sync::{Arc, LazyLock};

use faircopy::format::{Lexicon, Style, apply::apply, itn::Itn as Grammars};
use faircopy::session::{Source, Word, WordKind, kind_of};
use faircopy::tags::{Case, Disfluency, Itn, ItnClass, Punct, Tags};

use crate::kafka::needs;

static GRAMMARS: LazyLock<Grammars> = LazyLock::new(|| Grammars::load(&needs("grammars/en")).unwrap());

/// `word/tags`, tags separated by `/`: a mark, `C` `U` `M`, `B-TIME` or `I`, `F` `E` `D` `REP` `RM`.
fn word(token: &str, index: usize, class: &mut Option<ItnClass>) -> (Word, Tags) {
    let mut parts = token.split('/');
    let spoken = parts.next().unwrap();
    let mut tags = Tags::default();
    for tag in parts {
        match tag {
            "," => tags.punct = Punct::Comma,
            "." => tags.punct = Punct::Period,
            "?" => tags.punct = Punct::Question,
            "C" => tags.case = Case::Cap,
            "U" => tags.case = Case::Upper,
            "M" => tags.case = Case::Mixed,
            "F" => tags.disfluency = Disfluency::F,
            "E" => tags.disfluency = Disfluency::E,
            "D" => tags.disfluency = Disfluency::D,
            "REP" => tags.disfluency = Disfluency::Rep,
            "RM" => tags.disfluency = Disfluency::Rm,
            "I" => tags.itn = Itn::I(class.expect("I after B")),
            begin => {
                let name = begin.strip_prefix("B-").unwrap_or_else(|| panic!("{token}"));
                *class = ItnClass::ALL.into_iter().find(|c| c.label() == name);
                tags.itn = Itn::B(class.unwrap_or_else(|| panic!("{token}")));
            }
        }
    }
    let word = Word {
        spoken: spoken.into(),
        start: Some(index as f64),
        end: Some(index as f64 + 0.5),
        confidence: Some(if index.is_multiple_of(2) { 1.0 } else { 0.5 }),
        tokens: Arc::new([0]),
        kind: kind_of(spoken),
        source: Arc::new(Source { offset: 0, meta: None, headers: Vec::new() }),
    };
    (word, tags)
}

fn format(line: &str, style: &Style) -> faircopy::format::Formatted {
    let mut class = None;
    let words: Vec<(Word, Tags)> = line.split_whitespace().enumerate().map(|(i, t)| word(t, i, &mut class)).collect();
    let words: Vec<(&Word, Tags)> = words.iter().map(|(w, t)| (w, *t)).collect();
    let lexicon = Lexicon::parse("iphone\tiPhone\nebay\teBay\n").unwrap();
    apply(&words, 0, true, style, &lexicon, &GRAMMARS)
}

#[test]
fn tagged_words_are_formatted_as_the_golden_file_says() {
    let golden = include_str!("../golden/format.txt");
    let mut wrong = Vec::new();
    let mut cases = 0;
    let mut lines = golden.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    while let Some(input) = lines.next() {
        let text = lines.next().and_then(|l| l.strip_prefix('=')).unwrap_or_else(|| panic!("{input}: = line"));
        let removed = lines.next().and_then(|l| l.strip_prefix('-')).unwrap_or_else(|| panic!("{input}: - line"));
        let done = format(input, &Style::default());
        let got_removed: Vec<String> = done.removed.iter().map(|r| format!("{} {}", r.class, r.spoken)).collect();
        if (done.text.as_str(), got_removed.join("; ")) != (text.trim(), removed.trim().to_string()) {
            wrong.push(format!("{input}\n  expected {text} -{removed}\n  got      {} - {}", done.text, got_removed.join("; ")));
        }
        // Alignment: every input word is in exactly one token or removal.
        let count = input.split_whitespace().count();
        let mut seen = vec![0; count];
        for r in &done.removed {
            (r.src[0]..r.src[1]).for_each(|i| seen[i as usize] += 1);
        }
        let mut ranges: Vec<[u64; 2]> = done.words.iter().map(|w| w.src).collect();
        ranges.dedup();
        for [from, to] in ranges {
            (from..to)
                .filter(|i| !done.removed.iter().any(|r| (r.src[0]..r.src[1]).contains(i)))
                .for_each(|i| seen[i as usize] += 1);
        }
        assert!(seen.iter().all(|&n| n == 1), "{input}: {seen:?}");
        cases += 1;
    }
    assert!(cases >= 20, "the golden file has cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn written_tokens_keep_first_start_last_end_and_pooled_confidence() {
    let done = format("meet/C at uh/F four/B-TIME thirty/I p/I m/I/.", &Style::default());
    assert_eq!(done.text, "Meet at 4:30 PM.");
    let (clock, half) = (&done.words[2], &done.words[3]);
    assert_eq!((clock.s, clock.e, clock.src), (Some(3.0), Some(4.5), [3, 5]));
    assert_eq!((half.text.as_str(), half.s, half.e, half.src), ("PM.", Some(5.0), Some(6.5), [5, 7]));
    assert_eq!(clock.c, Some(0.75));
    let entity = &done.entities[0];
    assert_eq!((entity.class, entity.written.as_str(), entity.spoken.as_str()), (ItnClass::Time, "4:30 PM", "four thirty p m"));
    assert_eq!((entity.words, entity.src), ([2, 4], [3, 7]));
}

#[test]
fn a_verbatim_profile_keeps_every_word() {
    let done = format("so/C %HESITATION i/REP i/C think/.", &Style { verbatim: true });
    assert_eq!(done.text, "So %HESITATION I I think.");
    assert!(done.removed.is_empty());
}

#[test]
fn a_language_that_is_not_served_goes_out_as_spoken() {
    let (mut word, tags) = word("BONJOUR/C/./F", 0, &mut None);
    word.kind = WordKind::Plain;
    let done = apply(&[(&word, tags)], 0, true, &Style::default(), &Lexicon::default(), &GRAMMARS);
    assert_eq!((done.text.as_str(), done.removed.len()), ("BONJOUR", 0));
}
