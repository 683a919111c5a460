//! Spoken numbers: which parts belong to one number, how many digits the number may have, and whether it is a quantity
//! and not somebody's number.
//!
//! "Forty one eleven" is four digits, or five if somebody means forty, one, eleven. "Two thousand nineteen" is four
//! digits or six. So a number has a *set of readings* ([`Readings`]): one for each way to divide its parts into pieces
//! that can be read as digits.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words between digits that do not end a number: "four one, no wait, four two". Fillers are not counted.
pub const MAX_JOINTS: usize = 6;
/// Most parts that are read as one quantity: "nine hundred and ninety nine thousand nine hundred and ninety nine".
const MAX_QUANTITY: usize = 11;

/// The role of a part in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// a digit, 0 to 9
    Digit(u8),
    /// 10 to 19
    Teen(u8),
    /// 20, 30, … 90
    Tens(u8),
    /// "hundred"
    Hundred,
    /// "thousand"
    Thousand,
    /// so many digits as a recogniser writes them
    Written(usize),
    /// says how often the next digit comes
    Times(usize),
    /// a word that recognisers sometimes write for two, four, one or eight ("to", "for"): counts as a digit or as
    /// nothing
    Near,
    /// no digit, but may stand between digits
    Joint,
    /// anything else: ends a number
    Other,
}

impl Role {
    /// Whether it is digits.
    pub fn is_number(self) -> bool {
        !matches!(self, Role::Near | Role::Joint | Role::Other)
    }
}

const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TEENS: [&str; 10] =
    ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The role of a part by itself.
pub fn role(part: &str) -> Role {
    let at = |of: &[&str], part: &str| of.iter().position(|w| *w == part).map(|n| n as u8);
    if let Some(n) = at(&DIGITS, part) {
        return Role::Digit(n);
    }
    if let Some(n) = at(&TEENS, part) {
        return Role::Teen(10 + n);
    }
    if let Some(n) = at(&TENS, part) {
        return Role::Tens(20 + 10 * n);
    }
    match part {
        "oh" | "o" | "nought" | "naught" | "nil" => Role::Digit(0),
        "niner" => Role::Digit(9),
        "fife" => Role::Digit(5),
        "fourty" => Role::Tens(40),
        "hundred" => Role::Hundred,
        "thousand" => Role::Thousand,
        "double" => Role::Times(2),
        "triple" | "treble" => Role::Times(3),
        "quadruple" => Role::Times(4),
        "to" | "too" | "for" | "fore" | "won" | "ate" | "tree" => Role::Near,
        "and" | "then" | "dash" | "hyphen" | "slash" | "space" | "point" | "dot" | "comma" | "period" | "sorry" | "no"
        | "wait" | "i" | "mean" | "okay" | "ok" | "so" | "yeah" | "yes" | "yep" | "let" | "me" | "see" | "again" | "actually"
        | "it" | "is" | "that" | "a" | "the" | "next" | "last" | "like" | "you" | "know" | "well" | "right" | "hold" | "on"
        | "hang" | "now" | "plus" | "oops" | "correction" | "rather" | "alright" | "just" | "sure" | "was" | "followed"
        | "by" | "unk" => Role::Joint,
        _ if part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty() => Role::Written(part.len()),
        // fives, as in "three fives"
        _ => match part.strip_suffix("es").and_then(|p| at(&["zero", "six"], p).map(|i| 6 * i)) {
            Some(n) => Role::Digit(n),
            None => match part.strip_suffix('s').and_then(|p| at(&DIGITS[2..], p)) {
                Some(n) => Role::Digit(n + 2),
                None => Role::Other,
            },
        },
    }
}

/// A part of a run, with its role.
#[derive(Clone, Copy, Debug)]
pub struct Spoken<'a> {
    /// in lower case
    pub text: &'a str,
    /// its role
    pub role: Role,
}

/// How many digits a number may have: a set of lengths up to 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readings(u128);

impl Readings {
    /// The readings of a run's parts.
    pub fn of(run: &[Spoken]) -> Readings {
        let mut ways = vec![0u128; run.len() + 1];
        ways[0] = 1;
        for at in 0..run.len() {
            let here = ways[at];
            let mut go = |parts: usize, digits: usize| ways[at + parts] |= longer(here, digits);
            match run[at].role {
                Role::Digit(_) => go(1, 1),
                Role::Teen(_) | Role::Tens(_) | Role::Hundred => go(1, 2),
                Role::Thousand => go(1, 3),
                Role::Written(n) => go(1, n.min(100)),
                Role::Near => {
                    go(1, 0);
                    go(1, 1);
                }
                Role::Joint | Role::Other => go(1, 0),
                // "double five", "double, uh, five": the following digit counts by itself
                Role::Times(n) => match run[at + 1..].iter().position(|s| s.role.is_number()) {
                    Some(next) if matches!(run[at + 1 + next].role, Role::Digit(_) | Role::Written(1)) => go(1, n - 1),
                    _ => go(1, 0),
                },
            }
            if let Some((parts, value)) = quantity(&run[at..])
                && parts > 1
            {
                go(parts, value.to_string().len());
            }
            // "twenty five" within a quantity that is longer
            if let (Role::Tens(_), Some(Role::Digit(1..=9))) = (run[at].role, run.get(at + 1).map(|s| s.role)) {
                go(2, 2);
            }
        }
        Readings(ways[run.len()])
    }

    /// The fewest digits.
    pub fn least(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The most digits.
    pub fn most(self) -> usize {
        127 - self.0.leading_zeros().min(127) as usize
    }

    /// Whether the number may have so many digits.
    pub fn may_be(self, digits: usize) -> bool {
        digits < 128 && self.0 >> digits & 1 == 1
    }
}

/// A set of lengths with so many digits added to each. A length beyond the longest counts as the longest.
fn longer(lengths: u128, digits: usize) -> u128 {
    let n = digits.min(127) as u32;
    let beyond = n > 0 && lengths >> (128 - n) != 0;
    lengths << n | u128::from(beyond) << 127
}

/// The longest quantity at the beginning of the parts: its number of parts, and its value.
fn quantity(parts: &[Spoken]) -> Option<(usize, u64)> {
    let role = |at: usize| parts.get(at).filter(|_| at < MAX_QUANTITY).map(|s| s.role);
    let and = |at: usize| usize::from(parts.get(at).is_some_and(|s| s.text == "and"));
    let below_100 = |at: usize| match (role(at), role(at + 1)) {
        (Some(Role::Tens(tens)), Some(Role::Digit(d @ 1..))) => Some((2, u64::from(tens + d))),
        (Some(Role::Tens(n) | Role::Teen(n) | Role::Digit(n)), _) => Some((1, u64::from(n))),
        _ => None,
    };
    let below_1000 = |at: usize| {
        let (n, head) = below_100(at)?;
        if role(at + n) != Some(Role::Hundred) {
            return Some((n, head));
        }
        let skip = and(at + n + 1);
        Some(match below_100(at + n + 1 + skip) {
            Some((m, tail)) if tail > 0 => (n + 1 + skip + m, head * 100 + tail),
            _ => (n + 1, head * 100),
        })
    };
    let (n, head) = below_1000(0)?;
    if role(n) != Some(Role::Thousand) {
        return match (below_100(0), below_100(below_100(0)?.0)) {
            // nineteen eighty four
            (Some((a, century @ 15..=20)), Some((b, rest @ 10..))) if n == a => Some((a + b, century * 100 + rest)),
            _ => Some((n, head)),
        };
    }
    let skip = and(n + 1);
    Some(match below_1000(n + 1 + skip) {
        Some((m, tail)) if tail > 0 => (n + 1 + skip + m, head * 1000 + tail),
        _ => (n + 1, head * 1000),
    })
}

/// Whether a run is a list of at most so many quantities, joined by words: "between twenty five and thirty". Digits
/// that are said one by one are no quantity.
pub fn is_list_of_quantities(run: &[Spoken], most: usize) -> bool {
    let (mut at, mut found, mut apart) = (0, 0, true);
    while at < run.len() {
        match quantity(&run[at..]) {
            Some((parts, value)) if apart && value >= 10 => {
                at += parts;
                found += 1;
                apart = false;
            }
            _ if matches!(run[at].role, Role::Joint | Role::Near) => {
                at += 1;
                apart = true;
            }
            _ => return false,
        }
    }
    found <= most
}

/// Words that make a quantity of the number before them.
static UNITS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "million billion trillion percent percentage dollars dollar euros euro pounds pound cents cent bucks quid pence basis degrees miles mile \
                     kilometers kilometres meters metres feet foot inches minutes minute hours hour days day weeks week months month years year seconds \
                     times pm am o'clock kilos grams people customers crores lakhs rupees quarters bps megabytes gigabytes gigs items units shares"
        .split_whitespace()
        .collect()
});

/// Whether a word makes a quantity of the number before it.
pub fn is_unit(part: &str) -> bool {
    UNITS.contains(part)
}

/// Whether a number may be a card's: 13 to 19 digits, the last of which is a check digit (Luhn, ISO/IEC 7812-1).
pub fn is_card(digits: &str) -> bool {
    (13..=19).contains(&digits.len()) && luhn(digits)
}

/// Luhn's check over the digits of a text.
pub fn luhn(text: &str) -> bool {
    let digits = text.bytes().rev().filter(u8::is_ascii_digit).map(|b| u32::from(b - b'0'));
    let sum: u32 = digits.enumerate().map(|(i, d)| if i % 2 == 1 { d * 2 / 10 + d * 2 % 10 } else { d }).sum();
    sum.is_multiple_of(10)
}

/// Where the quantity begins that ends the run and that a following unit would measure. The run's length if there is no
/// such quantity.
pub fn measured(run: &[Spoken]) -> usize {
    let is_decimal = |from: usize| {
        let point = run[from..].iter().position(|s| matches!(s.text, "point" | "dot"));
        point.is_some_and(|p| {
            let tail = &run[from + p + 1..];
            quantity(&run[from..from + p]).is_some_and(|(n, _)| n == p)
                && (1..=4).contains(&tail.len())
                && tail.iter().all(|s| s.role.is_number())
        })
    };
    let is_written = |from: usize| from + 1 == run.len() && matches!(run[from].role, Role::Written(..=7));
    let groups = |from: usize| run.len() - from <= 3 && run[from..].iter().all(|s| matches!(s.role, Role::Written(1..=3)));
    let whole = |from: usize| quantity(&run[from..]).is_some_and(|(n, _)| n == run.len() - from);
    (0..run.len()).find(|&from| whole(from) || is_decimal(from) || is_written(from) || groups(from)).unwrap_or(run.len())
}

/// The digits of a run, if each digit is said by itself or written. Only then a check digit can be tried.
pub fn digits(run: &[Spoken]) -> String {
    let mut digits = String::new();
    let mut times = 1;
    for said in run {
        match said.role {
            Role::Digit(n) => {
                (0..std::mem::replace(&mut times, 1)).for_each(|_| digits.push(char::from(b'0' + n)));
            }
            Role::Times(n) => times = n,
            Role::Written(_) => digits.push_str(said.text),
            Role::Teen(n) => digits.push_str(&n.to_string()),
            Role::Tens(n) => digits.push_str(&n.to_string()),
            _ => {}
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Vec<Spoken<'_>> {
        text.split_whitespace().map(|text| Spoken { text, role: role(text) }).collect()
    }

    fn readings(text: &str) -> Vec<usize> {
        let readings = Readings::of(&run(text));
        (0..128).filter(|n| readings.may_be(*n)).collect()
    }

    #[test]
    fn a_number_has_all_lengths_it_may_be_read_with() {
        for (text, want) in [
            ("four one one", &[3][..]),
            ("forty twenty thirty", &[6]),
            ("forty one eleven", &[4, 5]),
            ("two thousand nineteen", &[4, 6]),
            ("nineteen eighty four", &[4, 5]),
            ("double five", &[2]),
            ("triple five oh", &[4]),
            ("four hundred", &[3]),
            ("one eight hundred", &[4]),
            ("four to one", &[2, 3]),
            ("4111 1111", &[8]),
            ("three fives", &[2]),
        ] {
            assert_eq!(readings(text), want, "{text}");
        }
        let long = Readings::of(&run(&"one ".repeat(400)));
        assert!(long.may_be(127) && long.least() == 127 && long.most() == 127, "what is longer than any number stays long");
    }

    #[test]
    fn quantities_are_told_from_numbers_by_their_units_and_by_how_few_they_are() {
        let rest = |text: &str| measured(&run(text));
        assert_eq!(rest("two hundred and five"), 0);
        assert_eq!(rest("four point five"), 0);
        assert_eq!(rest("four one one one five"), 4, "only the last digit is measured");
        assert_eq!(rest("4 111"), 0);
        for (text, is) in [
            ("twenty five and thirty", true),
            ("twenty nineteen to twenty twenty", true),
            ("two hundred thousand", true),
            ("four one", false),
            ("forty one eleven eleven", false),
            ("ten and eleven and twelve and thirteen", false),
        ] {
            assert_eq!(is_list_of_quantities(&run(text), 3), is, "{text}");
        }
    }

    #[test]
    fn parts_have_roles() {
        for (part, want) in [
            ("niner", Role::Digit(9)),
            ("sixes", Role::Digit(6)),
            ("zeroes", Role::Digit(0)),
            ("4111", Role::Written(4)),
            ("b4", Role::Other),
            ("for", Role::Near),
            ("cat", Role::Other),
            ("is", Role::Joint),
        ] {
            assert_eq!(role(part), want, "{part}");
        }
    }
}
