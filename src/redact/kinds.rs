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

/// Whether a part consists of letters, digits or both, as parts of codes do.
pub(super) fn is_code(part: &Part) -> bool {
    let mixed = || part.text.bytes().any(|b| b.is_ascii_digit()) && part.text.len() > 1;
    part.role.is_number() || is_letter(part.text) || is_nato(part.text) || mixed()
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

/// Words that are so frequent that they are hardly a name or a password.
static COMMON: WordSet = words!(include_str!("common.txt"));

/// Whether a part is one of the most frequent words of spoken English.
pub(super) fn is_common(part: &str) -> bool {
    COMMON.contains(part)
}
