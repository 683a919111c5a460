//! What is said around a secret, and what the answer looks like.
//!
//! A *cue* ("my pin is", "date of birth") makes the words that follow *expect* its class, for so many parts; so does a question that somebody asked
//! ([`super::asked`]). What has the *shape* of the class among them is redacted.

use std::collections::BTreeMap;
use std::ops::Range;

use super::phrases::Phrases;
use super::{NAME, Part, RedactionRule, RedactionWord};

/// What an answer looks like.
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

/// A class that is found by what is said before it.
pub(super) struct Cue {
    /// which
    pub class: &'static str,
    pub shape: Shape,
    /// parts after the cue in which the answer may begin
    pub reach: usize,
    /// said by whoever asks or answers
    pub phrases: &'static [&'static str],
}

const fn cue(class: &'static str, shape: Shape, reach: usize, phrases: &'static [&'static str]) -> Cue {
    Cue { class, shape, reach, phrases }
}

/// At most 16: they are bits of [`super::Asked`].
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

/// Parts after an answer's first stretch in which it may go on.
pub(super) const GOES_ON: usize = 8;
/// Which classes each part may be the answer to, and where the cues were.
pub(super) struct Expected {
    bits: Vec<u16>,
    /// those of them that somebody asked for
    asked: Vec<u16>,
    /// ends of cues, and their places in [`CUES`]
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

    /// The class that digits in `run` are expected to be: the one last spoken of.
    pub(super) fn of(&self, run: Range<usize>) -> Option<&'static str> {
        let bits = self.bits[run.clone()].iter().fold(0, |all, b| all | b);
        let digits = |bit: &u8| bits >> bit & 1 == 1 && !matches!(CUES[usize::from(*bit)].shape, Shape::Words | Shape::Name);
        let spoken = self.cues.iter().rev().filter(|(end, _)| *end <= run.start).map(|(_, bit)| *bit).find(digits);
        spoken.or_else(|| (0..CUES.len() as u8).find(digits)).map(|bit| CUES[usize::from(bit)].class)
    }

    /// An answer has begun in `run`: it may go on after it.
    pub(super) fn go_on(&mut self, run: Range<usize>) {
        let bits = self.bits[run.clone()].iter().fold(0, |all, b| all | b);
        self.expect(run.end, GOES_ON, bits);
    }
}
