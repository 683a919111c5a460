//! Cues: what is said before a secret, and what the answer looks like.
//!
//! After a *cue* ("my pin is", "date of birth") the next parts are *expected* to be its class. A question that somebody
//! asked ([`super::questions`]) has the same effect. Expected parts with the *shape* of the class are redacted.

use std::collections::BTreeMap;
use std::ops::Range;

use super::phrases::Phrases;
use super::{NAME, Part, RedactionRule, RedactionWord};

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// digits
    Digits,
    /// letters and digits
    Code,
    /// months, ordinals and digits
    Date,
    /// a number, a name and a street word
    Address,
    /// any words but common ones; after an "is" any words
    Words,
    /// words that are not common
    Name,
}

/// A class that is found by its cue.
pub(super) struct Cue {
    /// the class
    pub class: &'static str,
    pub shape: Shape,
    /// parts after the cue in which the answer may begin
    pub reach: usize,
    /// phrases that ask for it or announce it
    pub phrases: &'static [&'static str],
}

const fn cue(class: &'static str, shape: Shape, reach: usize, phrases: &'static [&'static str]) -> Cue {
    Cue { class, shape, reach, phrases }
}

/// At most 16 classes, because they are bits of [`super::AskedClasses`].
pub(super) const CUES: [Cue; 15] = [
    cue(
        "card",
        Shape::Digits,
        14,
        &["card number", "long number", "credit card", "debit card", "card ending", "number on the card", "card is"],
    ),
    cue("ssn", Shape::Digits, 14, &["social security", "social is", "s s n", "ssn", "your social", "my social is"]),
    cue(
        "phone",
        Shape::Digits,
        14,
        &[
            "phone number",
            "telephone",
            "call me on",
            "call me at",
            "call me back on",
            "reach me on",
            "reach me at",
            "cell number",
            "mobile number",
            "my number is",
            "my cell is",
            "my mobile is",
            "contact number",
            "callback number",
        ],
    ),
    cue("account", Shape::Digits, 14, &["account number", "account is", "account ending", "sort code", "routing number"]),
    cue(
        "cvv",
        Shape::Digits,
        12,
        &[
            "security code",
            "c v v",
            "cvv",
            "c v c",
            "cvc",
            "c v two",
            "cvv two",
            "code on the back",
            "digits on the back",
            "numbers on the back",
            "card verification",
            "verification value",
        ],
    ),
    cue("pin", Shape::Digits, 12, &["pin is", "pin number", "my pin", "your pin", "the pin", "pin code", "p i n", "passcode"]),
    cue(
        "expiry",
        Shape::Date,
        12,
        &[
            "expiry",
            "expiration",
            "expires",
            "expire",
            "expiring",
            "exp date",
            "valid until",
            "valid through",
            "valid thru",
            "good through",
            "good thru",
        ],
    ),
    cue(
        "dob",
        Shape::Date,
        14,
        &["date of birth", "birth date", "birthdate", "d o b", "dob", "born on", "born in", "born the", "was born", "birthday"],
    ),
    cue(
        "address",
        Shape::Address,
        12,
        &[
            "address is",
            "your address",
            "my address",
            "home address",
            "billing address",
            "street address",
            "postal address",
            "mailing address",
            "live at",
            "living at",
            "lives at",
            "live on",
            "located at",
            "deliver to",
            "ship to",
        ],
    ),
    cue("passport", Shape::Code, 14, &["passport"]),
    cue(
        "licence",
        Shape::Code,
        14,
        &[
            "licence number",
            "license number",
            "driving licence",
            "driving license",
            "driver licence",
            "driver license",
            "drivers licence",
            "drivers license",
            "licence is",
            "license is",
        ],
    ),
    cue("iban", Shape::Code, 14, &["iban", "i b a n", "international bank account"]),
    cue(
        "password",
        Shape::Words,
        8,
        &[
            "password",
            "passphrase",
            "pass phrase",
            "pass word",
            "security word",
            "memorable word",
            "secret word",
            "security answer",
        ],
    ),
    cue(
        "email",
        Shape::Words,
        16,
        &["email is", "email address", "e mail is", "e mail address", "write to", "email me at", "mail me at", "email me on"],
    ),
    cue(
        NAME,
        Shape::Name,
        8,
        &["name is", "your name", "last name", "first name", "full name", "surname", "maiden name", "name on the card"],
    ),
];

/// Number of parts after an answer's first stretch in which the answer may go on.
pub(super) const GOES_ON: usize = 8;
/// For each part, the classes to which it may be the answer, and the places of the cues.
pub(super) struct Expected {
    bits: Vec<u16>,
    /// the classes among them that somebody asked for
    asked: Vec<u16>,
    /// ends of the cues, and their indices in [`CUES`]
    pub(super) cues: Vec<(usize, u8)>,
}

impl Expected {
    pub(super) fn new(
        parts: &[Part],
        words: &[RedactionWord],
        cues: &Phrases<u8>,
        rules: &BTreeMap<String, RedactionRule>,
    ) -> Expected {
        let texts: Vec<&str> = parts.iter().map(|p| p.text).collect();
        let known = |bit: u8| rules.contains_key(CUES[usize::from(bit)].class);
        let asked =
            |p: &Part| (0..CUES.len() as u8).filter(|b| words[p.word].asked.has(*b) && known(*b)).fold(0, |all, b| all | 1 << b);
        let asked: Vec<u16> = parts.iter().map(asked).collect();
        let mut expected = Expected { bits: asked.clone(), asked, cues: Vec::new() };
        for at in 0..texts.len() {
            for (count, bit) in cues.at(&texts[at..]) {
                expected.cues.push((at + count, bit));
                expected.expect(at + count, CUES[usize::from(bit)].reach, 1 << bit);
            }
        }
        expected.cues.sort_unstable();
        expected
    }

    pub(super) fn expect(&mut self, from: usize, reach: usize, bits: u16) {
        let to = (from + reach).min(self.bits.len());
        self.bits[from.min(to)..to].iter_mut().for_each(|b| *b |= bits);
    }

    pub(super) fn has(&self, part: usize, bit: u8) -> bool {
        self.bits[part] >> bit & 1 == 1
    }

    pub(super) fn was_asked(&self, part: usize, bit: u8) -> bool {
        self.asked[part] >> bit & 1 == 1
    }

    /// The class that digits in `run` are expected to be: the class of the latest cue.
    pub(super) fn of(&self, run: Range<usize>) -> Option<&'static str> {
        let bits = self.bits[run.clone()].iter().fold(0, |all, b| all | b);
        let digits = |bit: &u8| bits >> bit & 1 == 1 && !matches!(CUES[usize::from(*bit)].shape, Shape::Words | Shape::Name);
        let spoken = self.cues.iter().rev().filter(|(end, _)| *end <= run.start).map(|(_, bit)| *bit).find(digits);
        spoken.or_else(|| (0..CUES.len() as u8).find(digits)).map(|bit| CUES[usize::from(bit)].class)
    }

    /// Notes that an answer has begun in `run` and may go on after it.
    pub(super) fn go_on(&mut self, run: Range<usize>) {
        let bits = self.bits[run.clone()].iter().fold(0, |all, b| all | b);
        self.expect(run.end, GOES_ON, bits);
    }
}
