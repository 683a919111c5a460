//! The pieces of something spelled: letters however they are named, digits in whatever grouping, and signs.

/// What one or more words of a spelling stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// a letter, in upper case
    Letter {
        /// the letter
        letter: char,
        /// how it was named
        by: Named,
        /// said to be a capital (`true`) or a small letter (`false`)
        capital: Option<bool>,
        /// how often it comes: "double t"
        times: usize,
    },
    /// digits
    Digits(String),
    /// a sign between letters and digits
    Sign(char),
}

/// How a letter was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// by itself: "p"
    Letter,
    /// by the spelling alphabet: "papa"
    Alphabet,
    /// by a word that begins with the letter: "p as in peter"
    AsIn,
    /// the same, with a word that also means something else: "p for peter", "p like peter"
    Like,
}

/// The spelling alphabet (ICAO Annex 10), as recognisers write it.
const ALPHABET: [&str; 29] = [
    "alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "juliett", "kilo",
    "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "whisky",
    "xray", "yankee", "zulu",
];
const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TEENS: [&str; 10] =
    ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A letter that a word is the name of.
pub(super) fn letter(word: &str) -> Option<char> {
    let mut chars = word.chars();
    match (chars.next()?, chars.next()) {
        (first, None) if first.is_ascii_alphabetic() => Some(first.to_ascii_uppercase()),
        _ => (word == "zed" || word == "zee").then_some('Z'),
    }
}

/// A digit that a word is the name of.
pub(super) fn digit(word: &str) -> Option<usize> {
    match word {
        "oh" | "nought" | "naught" => Some(0),
        "niner" => Some(9),
        _ => DIGITS.iter().position(|digit| *digit == word),
    }
}

/// A number from 10 to 99, and the words that it takes.
fn two(words: &[&str]) -> Option<(usize, usize)> {
    let first = words.first()?;
    if let Some(at) = TEENS.iter().position(|word| word == first) {
        return Some((10 + at, 1));
    }
    let tens = 20 + 10 * TENS.iter().position(|word| word == first)?;
    let unit = words.get(1).and_then(|word| DIGITS[1..].iter().position(|digit| digit == word));
    Some(unit.map_or((tens, 1), |unit| (tens + unit + 1, 2)))
}

/// The digits that words begin with, in one group: "four", "forty four", "four hundred twelve", "two thousand nineteen".
fn digits(words: &[&str]) -> Option<(Piece, usize)> {
    let group = |digits: String, count| Some((Piece::Digits(digits), count));
    let Some(first) = words.first().and_then(|word| digit(word)) else {
        let (number, count) = two(words)?;
        return group(number.to_string(), count);
    };
    let scale = |word: Option<&&str>| match word.copied() {
        Some("hundred") => Some(100),
        Some("thousand") => Some(1000),
        _ => None,
    };
    match scale(words.get(1)).filter(|_| words[0] != "oh") {
        Some(scale) => {
            let and = usize::from(words.get(2) == Some(&"and") && two(&words[3..]).is_some());
            match two(&words[2 + and..]) {
                Some((rest, count)) => group((first * scale + rest).to_string(), 2 + and + count),
                None => group((first * scale).to_string(), 2),
            }
        }
        None => Some((Piece::Digits(first.to_string()), 1)),
    }
}

/// The words after a letter that say it once more, by a word that begins with it: their number, and how sure that is.
fn said_again(letter: char, words: &[&str]) -> Option<(usize, Named)> {
    let (joint, by) = match words {
        ["as", "in" | "an", ..] => (2, Named::AsIn),
        ["for" | "like", ..] => (1, Named::Like),
        _ => return None,
    };
    let word = words.get(joint)?;
    if letter == 'X' && *word == "x" && words.get(joint + 1) == Some(&"ray") {
        return Some((joint + 2, by));
    }
    let begins = word.chars().next().is_some_and(|first| first.eq_ignore_ascii_case(&letter));
    (begins && word.len() > 1).then_some((joint + 1, by))
}

/// The piece that words begin with, and the words that it takes.
pub(super) fn piece(words: &[&str]) -> Option<(Piece, usize)> {
    let sign = |sign, count| Some((Piece::Sign(sign), count));
    match words {
        ["dash" | "hyphen", ..] => return sign('-', 1),
        ["dot", ..] => return sign('.', 1),
        ["slash", ..] => return sign('/', 1),
        ["forward", "slash", ..] => return sign('/', 2),
        ["underscore", ..] => return sign('_', 1),
        ["under", "score", ..] => return sign('_', 2),
        ["apostrophe", ..] => return sign('\'', 1),
        _ => {}
    }
    let capital = match words.first()? {
        &"capital" | &"uppercase" => Some(true),
        &"lowercase" => Some(false),
        _ => None,
    };
    let before = usize::from(capital.is_some());
    let times = match words.get(before)? {
        &"double" => 2,
        &"triple" | &"treble" => 3,
        _ => 1,
    };
    if times == 2 && words.get(before + 1).is_some_and(|word| ["u", "you"].contains(word)) {
        return Some((Piece::Letter { letter: 'W', by: Named::Letter, capital, times: 1 }, before + 2));
    }
    let at = before + usize::from(times > 1);
    let named = |letter, by, count| Some((Piece::Letter { letter, by, capital, times }, count));
    let word = words.get(at)?;
    if *word == "x" && words.get(at + 1) == Some(&"ray") {
        return named('X', Named::Alphabet, at + 2);
    }
    if let Some(letter) = letter(word) {
        let (more, by) = said_again(letter, &words[at + 1..]).unwrap_or((0, Named::Letter));
        return named(letter, by, at + 1 + more);
    }
    if ALPHABET.contains(word) {
        let letter = word.chars().next()?.to_ascii_uppercase();
        return named(letter, Named::Alphabet, at + 1);
    }
    if capital.is_some() {
        return None;
    }
    if times > 1 {
        let digit = digit(word)?;
        return Some((Piece::Digits(digit.to_string().repeat(times)), at + 1));
    }
    digits(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_and_signs_are_read_however_they_are_named() {
        let read = |said: &str| {
            let words: Vec<&str> = said.split(' ').collect();
            piece(&words).map(|(piece, count)| {
                let text = match piece {
                    Piece::Letter { letter, times, .. } => letter.to_string().repeat(times),
                    Piece::Digits(digits) => digits,
                    Piece::Sign(sign) => sign.to_string(),
                };
                (text, count)
            })
        };
        for (said, text, count) in [
            ("p", "P", 1),
            ("p as in peter", "P", 4),
            ("p as in london", "P", 1),
            ("b for bravo", "B", 3),
            ("m like mary", "M", 3),
            ("x as in x ray", "X", 5),
            ("x ray", "X", 2),
            ("zed", "Z", 1),
            ("double t", "TT", 2),
            ("double u", "W", 2),
            ("double four", "44", 2),
            ("capital k", "K", 2),
            ("whiskey", "W", 1),
            ("forty four", "44", 2),
            ("four hundred twelve", "412", 3),
            ("four hundred and twelve", "412", 4),
            ("two thousand nineteen", "2019", 3),
            ("two thousand", "2000", 2),
            ("oh", "0", 1),
            ("forward slash", "/", 2),
        ] {
            assert_eq!(read(said), Some((text.to_string(), count)), "{said}");
        }
        for said in ["peter", "capital gains", "double trouble", "hundred", "and", "as in"] {
            assert_eq!(read(said), None, "{said}");
        }
    }
}
