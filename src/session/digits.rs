//! Digits that are said one after another: whether a stretch of words ends in a number that may go on. A profile that redacts numbers must not let
//! half of one leave the buffer.

use super::WordKind;
use crate::tags::{Disfluency, Tags};

/// Words between digits that do not end a number: "four one, uh, no wait, four two".
pub const MAX_JOINTS: usize = 6;

/// What a word is in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// digits, so many of them
    Digits(usize),
    /// says how often the next digit comes
    Times(usize),
    /// no digit, but may stand between digits
    Joint,
    /// anything else: ends a number
    Other,
}

/// The role of a word by itself, in lower case.
pub fn role(word: &str) -> Role {
    match word {
        "one" | "two" | "three" | "four" | "five" | "six" | "seven" | "eight" | "nine" | "zero" | "oh" | "o" | "nought"
        | "niner" => Role::Digits(1),
        "ten" | "eleven" | "twelve" | "thirteen" | "fourteen" | "fifteen" | "sixteen" | "seventeen" | "eighteen" | "nineteen" => {
            Role::Digits(2)
        }
        // With its digit two; alone two as well, but one too many does no harm here.
        "twenty" | "thirty" | "forty" | "fourty" | "fifty" | "sixty" | "seventy" | "eighty" | "ninety" => Role::Digits(1),
        "hundred" => Role::Digits(2),
        "thousand" => Role::Digits(3),
        "double" => Role::Times(2),
        "triple" => Role::Times(3),
        "uh" | "um" | "er" | "erm" | "eh" | "ah" | "hmm" | "mm" | "uhm" | "and" | "then" | "dash" | "hyphen" | "space"
        | "point" | "dot" | "sorry" | "no" | "wait" | "i" | "mean" | "okay" | "ok" | "so" | "yeah" | "yes" | "let" | "me"
        | "see" | "again" | "actually" | "it's" | "that's" | "is" | "a" | "the" | "next" | "last" | "like" | "you" | "know"
        | "well" | "right" | "mhm" | "<unk>" => Role::Joint,
        // What recognisers make of two, four, one and eight now and then.
        "to" | "too" | "for" | "won" | "ate" => Role::Joint,
        _ => joined(word).unwrap_or_else(|| written(word)),
    }
}

/// Digits that a recogniser writes as one word: twenty-five, four-one-one-one.
fn joined(word: &str) -> Option<Role> {
    let digits = |part: &str| if let Role::Digits(n) = role(part) { Some(n) } else { None };
    let sum = word.contains('-').then(|| word.split('-').map(digits).sum::<Option<usize>>())?;
    sum.map(Role::Digits)
}

/// Digits as a recogniser may write them itself: 4111, 4111-1111, 4,111.
fn written(word: &str) -> Role {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let rest = word.chars().filter(|c| !c.is_ascii_digit());
    if digits > 0 && rest.clone().all(|c| !c.is_alphanumeric()) {
        Role::Digits(digits)
    } else if digits == 0 && rest.clone().all(|c| !c.is_alphanumeric()) {
        Role::Joint
    } else {
        Role::Other
    }
}

/// The role of a word of a stream: what is not text, or leaves it, only stands between digits.
pub fn role_in(spoken: &str, kind: WordKind, tags: Tags) -> Role {
    match (role(&spoken.to_lowercase()), kind, tags.disfluency) {
        (Role::Digits(n), ..) => Role::Digits(n),
        (Role::Times(n), ..) => Role::Times(n),
        (_, WordKind::Filler | WordKind::Markup, _) => Role::Joint,
        (Role::Other, _, Disfluency::O) => Role::Other,
        (_, _, _) => Role::Joint,
    }
}

/// Whether words, given last first, end in a number that another word could go on with. `before`: whether they themselves began inside one, which
/// matters where there is nothing but joints.
pub fn is_open(backwards: impl Iterator<Item = Role>, before: bool) -> bool {
    for (joints, role) in backwards.enumerate() {
        match role {
            Role::Digits(_) | Role::Times(_) => return true,
            Role::Joint if joints < MAX_JOINTS => {}
            Role::Joint | Role::Other => return false,
        }
    }
    before
}

/// Whether words that follow a number show that it has ended. Nothing but joints shows nothing.
pub fn is_closed_by(following: impl Iterator<Item = Role>) -> bool {
    for (joints, role) in following.enumerate() {
        match role {
            Role::Digits(_) | Role::Times(_) => return false,
            Role::Joint if joints < MAX_JOINTS => {}
            Role::Joint | Role::Other => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> Vec<Role> {
        text.split_whitespace().map(role).collect()
    }

    #[test]
    fn a_number_is_open_until_another_word_is_said() {
        for (text, open) in [
            ("my card is four one one one", true),
            ("four one one one uh no wait", true),
            ("four one one one thanks", false),
            ("it is 4111-1111", true),
            ("double", true),
            ("four one won", true),
            ("hello", false),
            ("four uh um so no wait i mean okay", false),
            ("", false),
        ] {
            assert_eq!(is_open(roles(text).into_iter().rev(), false), open, "{text}");
        }
        assert!(is_open(roles("uh").into_iter().rev(), true));
        assert!(!is_open(roles("hello").into_iter().rev(), true));
        for (text, closed) in [("thank you", true), ("uh one one", false), ("uh", false), ("", false), ("and then goodbye", true)]
        {
            assert_eq!(is_closed_by(roles(text).into_iter()), closed, "{text}");
        }
    }

    #[test]
    fn digits_are_counted_as_they_are_written() {
        for (word, want) in [
            ("4111-1111", Role::Digits(8)),
            ("4,111", Role::Digits(4)),
            ("b4", Role::Other),
            ("-", Role::Joint),
            ("twelve", Role::Digits(2)),
            ("cat", Role::Other),
            ("twenty-five", Role::Digits(2)),
            ("four-one-one-one", Role::Digits(4)),
            ("check-in", Role::Other),
        ] {
            assert_eq!(role(word), want, "{word}");
        }
    }
}
