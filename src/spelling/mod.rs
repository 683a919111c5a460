//! What callers spell: codes ("p as in peter four dash nine", P4-9) and words ("k o w a l s k i", Kowalski). Which words
//! belong to one spelling, and what it says, is a function of spoken words alone, so the session module, which keeps a
//! spelling together, and the format module, which writes it, say the same.
//!
//! Something counts as spelled where its words leave no doubt. Letters and digits of which that cannot be said ("q
//! four") are the grammars'.

mod piece;

use std::ops::Range;

use piece::{Named, Piece, digit, letter, piece};

/// Longest spelling, pieces.
const MAX_PIECES: usize = 64;
/// Number of words before a spelling in which a word may say what is spelled.
const CUE_WORDS: usize = 4;
/// Fewest letters of a word that is spelled without a word that says so.
const MIN_PLAIN_LETTERS: usize = 6;
/// The same after "that's" or "it's".
const MIN_HINTED_LETTERS: usize = 5;

/// Words after which a word is spelled.
const WORD_CUES: [&str; 9] = ["spelled", "spelt", "spelling", "spell", "spells", "name", "name's", "surname", "lastname"];
/// Words after which a code is spelled.
const CODE_CUES: [&str; 25] = [
    "code",
    "reference",
    "ref",
    "confirmation",
    "booking",
    "locator",
    "record",
    "order",
    "policy",
    "claim",
    "invoice",
    "ticket",
    "serial",
    "sku",
    "part",
    "plate",
    "registration",
    "tracking",
    "account",
    "case",
    "passport",
    "licence",
    "license",
    "id",
    "number",
];
/// Words before "code" and "number" that make it something that grammars know.
const KNOWN_CODES: [&str; 7] = ["zip", "postal", "post", "area", "sort", "security", "phone"];
/// Words that may stand between a cue and what is spelled.
const JOINTS: [&str; 12] = ["is", "it's", "its", "it", "that's", "that", "as", "my", "the", "number", "so", "yes"];
/// Words that follow "i" in a sentence, and no spelled name.
const AFTER_I: [&str; 16] = [
    "am", "have", "think", "need", "want", "live", "do", "don't", "know", "guess", "mean", "believe", "hope", "love", "see",
    "can't",
];
/// Words after digits that make a quantity of them.
const QUANTITIES: [&str; 16] = [
    "hundred", "thousand", "million", "billion", "trillion", "point", "percent", "dollars", "dollar", "cents", "euros", "pounds",
    "years", "days", "people", "times",
];

/// What was spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spelled {
    /// a code, as it is written
    Code(String),
    /// a word or a name: its letters, hyphens and apostrophes in lower case
    Word(String),
    /// figures between dots, which grammars write: 10.0.1.255
    Figures,
}

/// A spelling among words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpelledRun {
    /// its words
    pub words: Range<usize>,
    /// what it says
    pub spelled: Spelled,
    /// for a word: the words beside it that say the same word, as they were heard
    pub heard: Option<Range<usize>>,
}

/// A stretch of pieces, each with its words.
struct Stretch<'a> {
    words: &'a [&'a str],
    pieces: Vec<(Piece, Range<usize>)>,
}

/// The spellings among words, in order. Words are in lower case and have no marks and no pauses among them.
pub fn spellings(words: &[&str]) -> Vec<SpelledRun> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some(stretch) = Stretch::from(words, at) else {
            at += 1;
            continue;
        };
        let end = stretch.end();
        match stretch.spelling() {
            Some(spelling) => {
                at = spelling.words.end;
                all.push(spelling);
            }
            None => at = end,
        }
    }
    all
}

/// A word without marks around it, in lower case.
pub fn bare(spoken: &str) -> String {
    spoken.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Whether a word is a hint that something may be spelled: a letter other than "a" and "i", a word of the spelling
/// alphabet, the "as" of "as in", or a dot.
pub fn is_hint(word: &str) -> bool {
    let is_letter = |letter: char| word.len() > 1 || !matches!(letter, 'A' | 'I');
    ["as", "dot"].contains(&word) || matches!(piece(&[word]), Some((Piece::Letter { letter, .. }, _)) if is_letter(letter))
}

impl<'a> Stretch<'a> {
    /// As many pieces as follow each other from word `from` on. `None` where no spelling begins.
    fn from(words: &'a [&'a str], from: usize) -> Option<Stretch<'a>> {
        let mut pieces: Vec<(Piece, Range<usize>)> = Vec::new();
        let mut at = from;
        while pieces.len() < MAX_PIECES
            && let Some((piece, count)) = words.get(at..).and_then(piece)
        {
            pieces.push((piece, at..at + count));
            at += count;
        }
        let mut stretch = Stretch { words, pieces };
        stretch.trim();
        (!stretch.pieces.is_empty()).then_some(stretch)
    }

    fn end(&self) -> usize {
        self.pieces.last().map_or(0, |(_, words)| words.end)
    }

    fn start(&self) -> usize {
        self.pieces[0].1.start
    }

    fn next(&self) -> Option<&'a str> {
        self.words.get(self.end()).copied()
    }

    /// Takes off what belongs to the sentence around: signs at the ends, an "oh" before a letter, "i need", digits of
    /// a quantity.
    fn trim(&mut self) {
        let is_quantity = |word: &str| QUANTITIES.contains(&word);
        if self.next().is_some_and(is_quantity) {
            while matches!(self.pieces.last(), Some((Piece::Digits(_), _))) {
                self.pieces.pop();
            }
        }
        loop {
            let next = self.next();
            let is_loose = match self.pieces.last() {
                Some((Piece::Sign(_), _)) => true,
                Some((Piece::Letter { letter: 'I', by: Named::Letter, .. }, _)) => {
                    next.is_some_and(|word| AFTER_I.contains(&word))
                }
                _ => false,
            };
            if !is_loose {
                break;
            }
            self.pieces.pop();
        }
        let is_letter = |piece: Option<&(Piece, Range<usize>)>| matches!(piece, Some((Piece::Letter { .. }, _)));
        while match self.pieces.first() {
            Some((Piece::Sign(_), _)) => true,
            Some((Piece::Digits(_), words)) => self.words[words.start] == "oh" && is_letter(self.pieces.get(1)),
            _ => false,
        } {
            self.pieces.remove(0);
        }
    }

    /// The words before, as far as they may say what is spelled: the nearest first.
    fn before(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.words[..self.start()].iter().rev().take(CUE_WORDS).copied()
    }

    /// Whether one of `cues` stands before, with nothing but joints between.
    fn follows(&self, cues: &[&str]) -> bool {
        let mut before = self.before().skip_while(|word| JOINTS.contains(word) && !cues.contains(word));
        before.next().is_some_and(|word| cues.contains(&word)) && !before.next().is_some_and(|word| KNOWN_CODES.contains(&word))
    }

    /// Whether it is a part of an address of the Internet, which grammars write.
    fn is_of_address(&self) -> bool {
        let rest = &self.words[self.end()..];
        let named = |n: usize| rest.iter().take(n).any(|word| ["dot", "@"].contains(word));
        let before = self.start().checked_sub(1).map(|at| self.words[at]);
        match rest.first() {
            Some(&"dot" | &"@" | &"underscore" | &"dash" | &"hyphen" | &"slash" | &"colon") => true,
            Some(&"at") => named(6),
            _ => before.is_some_and(|word| ["dot", "at", "slash", "colon", "@", "underscore", "dash", "hyphen"].contains(&word)),
        }
    }

    fn letters(&self) -> impl Iterator<Item = (char, Named)> + '_ {
        self.pieces.iter().flat_map(|(piece, _)| match piece {
            Piece::Letter { letter, by, times, .. } => vec![(*letter, *by); *times],
            _ => Vec::new(),
        })
    }

    fn spelling(&self) -> Option<SpelledRun> {
        let words = self.start()..self.end();
        if self.letters().next().is_none() {
            let dots = self.pieces.iter().filter(|(piece, _)| *piece == Piece::Sign('.')).count();
            return (dots > 2).then_some(SpelledRun { words, spelled: Spelled::Figures, heard: None });
        }
        if self.is_of_address() {
            return None;
        }
        if let Some((word, heard)) = self.word() {
            return Some(SpelledRun { words, spelled: Spelled::Word(word), heard });
        }
        self.is_code().then(|| SpelledRun { words, spelled: Spelled::Code(self.code()), heard: None })
    }

    /// The word that is spelled, and where it was heard beside its spelling.
    fn word(&self) -> Option<(String, Option<Range<usize>>)> {
        let mut word = String::new();
        for (piece, _) in &self.pieces {
            match piece {
                Piece::Letter { letter, times, .. } => word.extend(std::iter::repeat_n(letter.to_ascii_lowercase(), *times)),
                Piece::Sign(sign @ ('-' | '\'')) => word.push(*sign),
                Piece::Sign(_) | Piece::Digits(_) => return None,
            }
        }
        let letters = self.letters().count();
        // Articles and pronouns are no letters by themselves.
        if letters < 2 || self.letters().all(|(letter, _)| matches!(letter, 'A' | 'I')) {
            return None;
        }
        let heard = self.heard(&word);
        let vowels = word.chars().filter(|c| "aeiouy".contains(*c)).count();
        let reads = vowels > 0 && 5 * vowels >= letters;
        let hinted = self.before().next().is_some_and(|before| ["that's", "it's", "is"].contains(&before));
        let named_after =
            matches!(self.words[self.end()..], ["is", "the" | "my" | "his" | "her", "name" | "last" | "first" | "surname", ..]);
        let by_letters = self.letters().all(|(_, by)| by == Named::Letter);
        let few = self.letters().any(|(_, by)| by == Named::AsIn) || self.pieces.len() > 2 || by_letters && letters > 2;
        let is_word = heard.is_some()
            || self.follows(&WORD_CUES) && few
            || named_after && letters > 2
            || by_letters && reads && (letters > MIN_PLAIN_LETTERS || hinted && letters >= MIN_HINTED_LETTERS)
            || by_letters && reads && letters >= MIN_PLAIN_LETTERS && 3 * vowels >= letters && !self.follows(&CODE_CUES);
        is_word.then_some((word, heard))
    }

    /// The words right before or right after that sound like the spelled word.
    fn heard(&self, word: &str) -> Option<Range<usize>> {
        let bare = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        let spelled = bare(word);
        let alike = |range: Range<usize>| {
            let said: String = self.words[range.clone()].iter().map(|word| bare(word)).collect();
            let is_letters = self.words[range.clone()].iter().all(|word| letter(word).is_some() || digit(word).is_some());
            (!is_letters && likeness(&said, &spelled) >= LIKE).then_some(range)
        };
        let mut end = self.start();
        while end > 0
            && self.start() - end < CUE_WORDS
            && (JOINTS.contains(&self.words[end - 1]) || WORD_CUES.contains(&self.words[end - 1]))
        {
            end -= 1;
        }
        let start = self.end();
        let before = (1..=2).filter(|count| *count <= end).map(|count| end - count..end);
        let after = (1..=2).filter(|count| start + count <= self.words.len()).map(|count| start..start + count);
        before.chain(after).find_map(alike)
    }

    fn is_code(&self) -> bool {
        let named = |by: Named| self.letters().filter(|(_, of)| *of == by).count();
        let (sure, like, alphabet) = (named(Named::AsIn), named(Named::Like), named(Named::Alphabet));
        // Articles and pronouns are no letters by themselves.
        let clear = self.letters().filter(|(letter, by)| *by != Named::Letter || !matches!(letter, 'A' | 'I')).count();
        let (mut digits, mut underscores, mut cased) = (0, 0, false);
        for (piece, _) in &self.pieces {
            match piece {
                Piece::Digits(_) => digits += 1,
                Piece::Sign(sign) => underscores += usize::from(*sign == '_'),
                Piece::Letter { capital, .. } => cased |= capital.is_some(),
            }
        }
        let pieces = self.pieces.len();
        if pieces == 1 {
            return sure == 1 && !matches!(self.letters().next(), Some(('A' | 'I', _)));
        }
        sure > 0
            || like > 0 && clear > 0
            || cased && clear > 0
            || alphabet > 1 && (pieces > 2 || digits > 0)
            || clear > 0 && digits > 0 && self.follows(&CODE_CUES)
            || clear > 1 && underscores > 0 && digits > 0
    }

    /// The code as it is written. An "o" between digits is a zero.
    fn code(&self) -> String {
        let mut out = String::new();
        let is_digits = |at: Option<usize>| matches!(at.and_then(|at| self.pieces.get(at)), Some((Piece::Digits(_), _)));
        for (at, (piece, _)) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Letter { letter: 'O', by: Named::Letter, times, .. }
                    if is_digits(at.checked_sub(1)) && is_digits(Some(at + 1)) =>
                {
                    out.push_str(&"0".repeat(*times));
                }
                Piece::Letter { letter, capital, times, .. } => {
                    let letter = if *capital == Some(false) { letter.to_ascii_lowercase() } else { *letter };
                    out.extend(std::iter::repeat_n(letter, *times));
                }
                Piece::Digits(digits) => out.push_str(digits),
                Piece::Sign(sign) => out.push(*sign),
            }
        }
        out
    }
}

/// Capitals of a name: at its beginning, after an apostrophe that follows its first letter, after Mc, and after hyphens.
pub fn surname(text: &str) -> String {
    let capital = |text: &str| {
        let mut chars = text.chars();
        chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
    };
    let part = |part: &str| match part.split_once('\'') {
        Some((first, rest)) if first.chars().count() == 1 && rest.chars().count() > 1 => {
            format!("{}'{}", first.to_uppercase(), capital(rest))
        }
        _ => match part.strip_prefix("mc") {
            Some(rest) if rest.len() > 2 => format!("Mc{}", capital(rest)),
            _ => capital(part),
        },
    };
    text.split('-').map(part).collect::<Vec<_>>().join("-")
}

/// Least likeness of a word that was heard to the word that is spelled beside it.
const LIKE: f64 = 0.6;

/// How alike two words are: 1 less the edits between them by the length of the longer one. Words that begin with
/// letters that do not sound alike are not alike at all.
fn likeness(a: &str, b: &str) -> f64 {
    let sound = |c: Option<char>| match c {
        Some('c' | 'q' | 'k') => Some('k'),
        Some('s' | 'z' | 'x') => Some('s'),
        Some('f' | 'p' | 'v') => Some('f'),
        Some('j' | 'g') => Some('j'),
        Some('a' | 'e' | 'i' | 'o' | 'u' | 'y') => Some('a'),
        other => other,
    };
    if a.is_empty() || b.is_empty() || sound(a.chars().next()) != sound(b.chars().next()) {
        return 0.0;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(MAX_PIECES).collect(), b.chars().take(MAX_PIECES).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut last = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let next = (row[j + 1] + 1).min(row[j] + 1).min(last + usize::from(x != y));
            last = std::mem::replace(&mut row[j + 1], next);
        }
    }
    1.0 - row[b.len()] as f64 / a.len().max(b.len()) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(said: &str) -> Vec<String> {
        let words: Vec<&str> = said.split(' ').collect();
        let text = |spelling: SpelledRun| match spelling.spelled {
            Spelled::Code(code) => code,
            Spelled::Word(word) => word,
            Spelled::Figures => "figures".to_string(),
        };
        spellings(&words).into_iter().map(text).collect()
    }

    #[test]
    fn a_code_is_one_however_its_letters_are_named() {
        for (said, want) in [
            ("it's p as in peter l as in london four four seven dash nine oh one two", "PL447-9012"),
            ("b for bravo seven two k for kilo", "B72K"),
            ("papa lima four four seven", "PL447"),
            ("gate b as in bravo", "B"),
            ("my reference is m n twenty two forty six", "MN2246"),
            ("the file is r v underscore one two", "RV_12"),
            ("order a b four o two", "AB402"),
            ("ten dot zero dot one dot two fifty five", "figures"),
        ] {
            assert_eq!(read(said), [want], "{said}");
        }
    }

    #[test]
    fn a_word_is_spelled_after_a_word_that_says_so_or_beside_the_word_or_where_its_letters_read() {
        for (said, want) in [
            ("that's k o w a l s k i", "kowalski"),
            ("last name is l e e", "lee"),
            ("spelled s e a n", "sean"),
            ("anna that's a n n a", "anna"),
            ("last name m i double l e r", "miller"),
            ("last name o apostrophe b r i e n", "o'brien"),
            ("last name d as in david o as in oscar e as in echo", "doe"),
            ("smith s m i t h i need help", "smith"),
        ] {
            assert_eq!(read(said), [want], "{said}");
        }
    }

    #[test]
    fn sentences_have_no_spellings() {
        for said in [
            "i like ice cream",
            "a for effort",
            "it is for peter",
            "plan b for you",
            "in q four we sold u s five hundred million",
            "the c r m is down",
            "mike and charlie came",
            "j o h n dot smith at example dot com",
            "oh i see",
            "such as in europe",
        ] {
            assert_eq!(read(said), [""; 0], "{said}");
        }
    }

    #[test]
    fn a_word_that_was_heard_beside_its_spelling_is_found() {
        let heard = |said: &str| {
            let words: Vec<&str> = said.split(' ').collect();
            let found = spellings(&words).into_iter().find_map(|spelling| spelling.heard);
            found.map(|range| words[range].join(" "))
        };
        assert_eq!(heard("my name is kovalsky that's k o w a l s k i").as_deref(), Some("kovalsky"));
        assert_eq!(heard("k o w a l s k i kovalsky").as_deref(), Some("kovalsky"));
        assert_eq!(heard("my name is c o w a n thanks"), None);
    }

    proptest! {
        #[test]
        fn a_code_has_every_letter_and_digit_that_was_said(said in "([b-hj-np-z] as in |)[b-hj-np-z]( (one|two|three|zero|oh|double four|[b-hj-np-z]|dash)){1,8} nine") {
            let words: Vec<&str> = said.split(' ').collect();
            for spelling in spellings(&words) {
                if let Spelled::Code(code) = spelling.spelled {
                    let letters = words[spelling.words.clone()].iter().filter(|word| word.len() == 1).count();
                    prop_assert_eq!(code.chars().filter(char::is_ascii_alphabetic).count(), letters, "{}: {}", said, code);
                }
            }
        }

        #[test]
        fn spellings_are_in_order_apart_and_within_the_words(words in prop::collection::vec("[a-z]|oh|double|as|in|capital|dash|twenty|hundred|[a-d][a-z]{3}", 0..24)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut at = 0;
            for spelling in spellings(&words) {
                prop_assert!(at <= spelling.words.start && spelling.words.start < spelling.words.end && spelling.words.end <= words.len());
                at = spelling.words.end;
            }
        }
    }
}
