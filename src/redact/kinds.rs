//! What a part is by itself: a letter, a month, an ordinal, a frequent word.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Part;
use super::number::glued;

/// A set of words.
pub(super) type WordSet = LazyLock<HashSet<&'static str>>;

macro_rules! words {
    ($words:expr) => {
        LazyLock::new(|| $words.split_whitespace().collect())
    };
}

pub(super) fn is_letter(text: &str) -> bool {
    let mut chars = text.chars();
    matches!((chars.next(), chars.next()), (Some(c), None) if c.is_alphabetic())
}

static NATO: WordSet = words!(
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra \
                    tango uniform victor whiskey whisky xray yankee zulu zebra"
);

pub(super) fn is_nato(text: &str) -> bool {
    NATO.contains(text)
}

/// Whether a recogniser wrote letters as one word: nobody can say "nwbk" as a word.
pub(super) fn is_unsayable(text: &str) -> bool {
    let is_consonant = |b: u8| b.is_ascii_alphabetic() && !matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    (2..=6).contains(&text.len()) && text.bytes().all(is_consonant) && !is_common(text) && !SHORT_FORMS.contains(text)
}

/// Words without a vowel that are written short, and no letters of a code.
static SHORT_FORMS: WordSet = words!(
    "mr mrs ms dr st th nd rd pm hmm mm mhm psst shh vs kg km cm ft hr hrs bps pdf tv dvd cv cfo gdp kpmg cvv cvc ssn pln"
);

/// Whether a part consists of letters, digits or both, as parts of codes do.
pub(super) fn is_code(part: &Part) -> bool {
    let mixed = || part.text.bytes().any(|b| b.is_ascii_digit()) && part.text.len() > 1;
    part.role.is_number() || is_letter(part.text) || is_nato(part.text) || mixed() || is_unsayable(part.text)
}

/// Number of parts of a word of trade that has a digit: "p two p", "b two b", "four g". 0: none begins here.
pub(super) fn word_of_trade(parts: &[Part]) -> usize {
    let text = |at: usize| parts.get(at).map_or("", |p| p.text);
    let count = match (text(0), text(1), text(2)) {
        ("p", "two" | "2", "p") | ("b", "two" | "2", "b" | "c") | ("c", "two" | "2", "c") => 3,
        ("two" | "three" | "four" | "five" | "2" | "3" | "4" | "5", "g", _) => 2,
        _ => 0,
    };
    if parts.get(count).is_some_and(is_code) && word_of_trade(&parts[count.max(1)..]) == 0 { 0 } else { count }
}

static MONTHS: WordSet = words!(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
);
static ORDINALS: WordSet = words!(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth \
                        seventeenth eighteenth nineteenth twentieth thirtieth"
);

pub(super) fn is_ordinal(text: &str) -> bool {
    let written = || text.starts_with(|c: char| c.is_ascii_digit()) && ["st", "nd", "rd", "th"].iter().any(|s| text.ends_with(s));
    ORDINALS.contains(text) || written()
}

pub(super) fn is_month(text: &str) -> bool {
    MONTHS.contains(text)
}

pub(super) fn is_date(part: &Part) -> bool {
    part.role.is_number() || is_month(part.text) || is_ordinal(part.text) || glued(part.text) > 0
}

/// "First", "second", "may" and "march" by themselves are no dates.
pub(super) fn is_vague_date(text: &str) -> bool {
    matches!(text, "first" | "second" | "may" | "march")
}

static PERSONS: WordSet = words!(
    "patient caller customer client policyholder holder cardholder person passenger guest traveller traveler child baby son daughter owner driver tenant \
     applicant beneficiary witness employee student insured member subscriber recipient sender contact parent guardian husband wife partner spouse doctor"
);

/// Whether a word says who a person is: "patient", "policyholder".
pub(super) fn is_person(text: &str) -> bool {
    PERSONS.contains(text)
}

/// Words that are so frequent that they are hardly a name or a password.
static COMMON: WordSet = words!(include_str!("common.txt"));

/// Whether a part is one of the most frequent words of spoken English.
pub(super) fn is_common(part: &str) -> bool {
    COMMON.contains(part)
}
