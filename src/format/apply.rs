//! Tags applied to words (Four-in-One, arXiv 2210.15063, section 2.2), in this order:
//!
//! 1. words tagged disfluent and recogniser markup leave the text and are listed; a sentence end on one of them moves to the
//!    kept word before it, and whatever then begins the sentence gets its capital;
//! 2. each tagged span of kept words is written by the grammar of its class, or stays as spoken;
//! 3. the others are cased; a written token carries the last mark of its own spoken words;
//! 4. every token gets the range, times and confidence of its spoken words.

use super::casing::{self, Lexicon};
use super::itn::Itn;
use crate::record::{Entity, Removed, WrittenWord};
use crate::session::word::removal;
use crate::session::{Word, WordKind};
use crate::tags::{Punct, Tags};

/// The formatting half of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// keep disfluencies and recogniser markup in the text
    pub verbatim: bool,
}

/// Formatted words.
#[derive(Debug, Default, PartialEq)]
pub struct Formatted {
    /// tokens joined by spaces
    pub text: String,
    /// tokens
    pub words: Vec<WrittenWord>,
    /// entities among them
    pub entities: Vec<Entity>,
    /// what left
    pub removed: Vec<Removed>,
}

struct Kept<'a> {
    word: &'a Word,
    tags: Tags,
    mark: Punct,
    index: u64,
}

/// Formats words `from..` of an epoch. `sentence_start`: what came before ended a sentence.
pub fn apply(words: &[(&Word, Tags)], from: u64, sentence_start: bool, style: &Style, lexicon: &Lexicon, itn: &Itn) -> Formatted {
    let mut out = Formatted::default();
    let mut kept: Vec<Kept> = Vec::with_capacity(words.len());
    for (i, (word, tags)) in words.iter().enumerate() {
        let index = from + i as u64;
        // A word of a language that is not served goes out as spoken, whatever the model made of it.
        let tags = if word.kind == WordKind::Plain { Tags::default() } else { *tags };
        match removal(word.kind, tags.disfluency, style.verbatim) {
            None => kept.push(Kept { word, tags, mark: tags.punct, index }),
            Some(class) => {
                if let Some(before) = kept.last_mut()
                    && tags.punct.ends_sentence()
                    && !before.mark.ends_sentence()
                {
                    before.mark = tags.punct;
                }
                match out.removed.last_mut().filter(|r| r.class == class && r.src[1] == index) {
                    Some(run) => {
                        run.spoken.push(' ');
                        run.spoken.push_str(&word.spoken);
                        run.src[1] = index + 1;
                    }
                    None => out.removed.push(Removed {
                        class: class.to_string(),
                        spoken: word.spoken.to_string(),
                        src: [index, index + 1],
                    }),
                }
            }
        }
    }

    let (mut at, mut start) = (0, sentence_start);
    while at < kept.len() {
        let end = span_end(&kept, at);
        let span = &kept[at..end];
        let written = span[0].tags.itn.class().and_then(|class| {
            let spoken: Vec<String> = span.iter().map(|k| k.word.spoken.to_lowercase()).collect();
            let words: Vec<&str> = spoken.iter().map(String::as_str).collect();
            itn.write(class, &words).map(|written| (class, written))
        });
        match written {
            Some((class, written)) => {
                let first_token = out.words.len();
                let last = written.tokens.len() - 1;
                for (i, token) in written.tokens.into_iter().enumerate() {
                    let mark = if i == last { span[span.len() - 1].mark } else { Punct::O };
                    push(&mut out, token.text, mark, &span[token.words[0]..token.words[1]]);
                }
                let spoken: Vec<&str> = span.iter().map(|k| &*k.word.spoken).collect();
                out.entities.push(Entity {
                    class,
                    written: written.text,
                    spoken: spoken.join(" "),
                    words: [first_token, out.words.len()],
                    src: [span[0].index, span[span.len() - 1].index + 1],
                });
                start = span[span.len() - 1].mark.ends_sentence();
            }
            None => {
                for k in span {
                    let text = match k.word.kind {
                        WordKind::Speech => casing::write(&k.word.spoken, k.tags.case, start, lexicon),
                        WordKind::Plain | WordKind::Filler | WordKind::Markup => k.word.spoken.to_string(),
                    };
                    push(&mut out, text, k.mark, std::slice::from_ref(k));
                    start = k.mark.ends_sentence();
                }
            }
        }
        at = end;
    }
    out.text = out.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
    out
}

/// One past the last word of the span, or single word, at `at`. Removed words do not split a span.
fn span_end(kept: &[Kept], at: usize) -> usize {
    let mut end = at + 1;
    if kept[at].tags.itn.class().is_some() {
        while end < kept.len() && kept[end].tags.itn.continues(kept[end - 1].tags.itn) {
            end += 1;
        }
    }
    end
}

fn push(out: &mut Formatted, mut text: String, mark: Punct, span: &[Kept]) {
    // A recogniser that writes marks itself keeps them.
    if !text.ends_with([',', '.', '?', '!', ';', ':']) || mark == Punct::Question && !text.ends_with('?') {
        text.push_str(mark.written());
    }
    let (first, last) = (&span[0], &span[span.len() - 1]);
    let confidence: Vec<f32> = span.iter().filter_map(|k| k.word.confidence).collect();
    out.words.push(WrittenWord {
        text,
        s: first.word.start,
        e: last.word.end,
        c: (!confidence.is_empty()).then(|| (1000.0 * confidence.iter().sum::<f32>() / confidence.len() as f32).round() / 1000.0),
        src: [first.index, last.index + 1],
    });
}
