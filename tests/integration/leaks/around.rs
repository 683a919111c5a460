//! Secrets as people say them who talk around redaction, by intent or not: what stands between the groups of a number
//! and after it, letters and digits in one word, answers that begin with a word of no weight, questions put otherwise.

use super::chance::Chance;
use super::secrets::{DIGITS, MONTHS, ORDINALS, Secret, card, code, number, words, year};

/// Card, expiry and code in one breath.
pub const PAYMENT: &str = "payment";
/// Classes whose secrets are numbers, which the other side may interrupt.
pub const NUMBERED: [&str; 11] =
    ["card", "card (asked)", "ssn", "phone", "account", "pin", "pin (asked)", "passport", "licence", "iban", "id"];
/// What the other side says inside a number.
pub const BACK_CHANNELS: [&str; 9] =
    ["uh-huh", "mm-hmm", "got it", "perfect", "go ahead", "and the rest", "yes", "okay", "sorry could you repeat that"];

const JOINTS: [&str; 11] = [
    "and",
    "then",
    "and then",
    "hundred",
    "thousand and",
    "finally",
    "and it ends",
    "next group",
    "are you with me",
    "okay",
    "let me turn it over",
];
/// Words that would make a quantity of the number before them.
const UNITS: [&str; 8] = [
    "am i good",
    "people keep telling me",
    "dollars are fine with me",
    "percent sure",
    "minutes ago it was fine",
    "times i said so",
    "hundred times i said so",
    "",
];

type Said = Vec<(String, bool)>;

fn one_by_one(digits: &str, chance: &mut Chance) -> Said {
    let zero = chance.pick(&["zero", "oh"]);
    let all: Vec<&str> = digits.bytes().map(|b| if b == b'0' { zero } else { DIGITS[usize::from(b - b'0')] }).collect();
    words(&all.join(" "), true)
}

/// Groups of these lengths, said digit by digit or written, with something between them, and now and then a wrong group
/// that is taken back.
fn grouped(digits: &str, lengths: &[usize], chance: &mut Chance) -> Said {
    let is_written = chance.one_in(4);
    let mut all = Said::new();
    let mut at = 0;
    for length in lengths {
        let group = &digits[at..at + length];
        if at > 0 && chance.one_in(2) {
            all.extend(words(chance.pick(&JOINTS), false));
        }
        if chance.one_in(9) {
            all.extend(one_by_one(&number(*length, chance), chance));
            all.extend(words(chance.pick(&["no wait", "scratch that", "sorry", "no sorry not that"]), false));
        }
        all.extend(if is_written { words(group, true) } else { one_by_one(group, chance) });
        at += length;
    }
    if chance.one_in(9) {
        all.extend(words("not", false));
        all.extend(one_by_one(&number(lengths[0], chance), chance));
    }
    all
}

/// Letters and digits in one word, or one by one.
fn glued(shape: &str, chance: &mut Chance) -> Said {
    if chance.one_in(2) {
        return code(shape, chance);
    }
    let sign = |kind: char, chance: &mut Chance| match kind {
        'a' => chance.pick(&["K", "X", "Q", "W", "Z"]).to_string(),
        _ => chance.below(10).to_string(),
    };
    let word: String = shape.chars().map(|kind| sign(kind, chance)).collect();
    words(&word, true)
}

fn expiry(chance: &mut Chance) -> Said {
    match chance.below(3) {
        0 => words(&format!("oh {} twenty {}", DIGITS[1 + chance.below(9)], DIGITS[5 + chance.below(5)]), true),
        1 => words(&format!("{} twenty thirty", chance.pick(&MONTHS)), true),
        _ => words(&format!("0{}/2{}", 1 + chance.below(9), 5 + chance.below(5)), true),
    }
}

/// Words of a text, of which those in braces are secret.
fn marked(text: &str) -> Said {
    let word = |word: &str| match word.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
        Some(secret) => (secret.to_string(), true),
        None => (word.to_string(), false),
    };
    text.split_whitespace().map(word).collect()
}

/// A secret of the class, or `None` where the class has no other way to be said.
pub fn secret(class: &str, cards: &mut Vec<String>, chance: &mut Chance) -> Option<Secret> {
    let asked = chance.one_in(2);
    let ask = |question: &'static str| asked.then_some(question);
    let units = chance.pick(&UNITS);
    let secret = match class {
        "card" => {
            let number = card(chance);
            cards.push(number.clone());
            let lead = chance.pick(&["my card number is", "the number starts", "my card's", "take it off card number", "it is"]);
            let question = Some("what is the long number on your card");
            let question = if lead == "it is" { question } else { question.filter(|_| asked) };
            (question, lead, grouped(&number, &[4, 4, 4, 4], chance), units)
        }
        PAYMENT => {
            let number = card(chance);
            cards.push(number.clone());
            let code = one_by_one(&number_without_zero(3, chance), chance);
            let mut said = one_by_one(&number, chance);
            said.extend(words(chance.pick(&["expires", "expiry", "valid until", "and it runs out"]), false));
            said.extend(expiry(chance));
            said.extend(words(
                chance.pick(&["security code", "c v v", "and the code on the back is", "and the security number is"]),
                false,
            ));
            said.extend(code);
            (ask("can i take the card number the expiry and the security code"), "my card number is", said, units)
        }
        "ssn" => {
            let lead = chance.pick(&["my social is", "my social security number is", "my ssn is"]);
            (ask("what is your social"), lead, grouped(&number(9, chance), &[3, 2, 4], chance), units)
        }
        "phone" => {
            let lead = chance.pick(&["my number's", "my cell is", "the callback number is", "text me on"]);
            (ask("what is a good number to reach you on"), lead, grouped(&number(10, chance), &[3, 3, 4], chance), units)
        }
        "account" => {
            let lead = chance.pick(&["my account number is", "the account number's", "account number"]);
            let said = if chance.one_in(3) { glued("aadddddd", chance) } else { grouped(&number(8, chance), &[4, 4], chance) };
            (ask("can i have your account number"), lead, said, units)
        }
        "pin" => {
            let said = match chance.below(4) {
                0 => marked("{four} thousand {two} hundred and {eleven}"),
                1 => words(&number(4, chance), true),
                _ => grouped(&number(4, chance), &[2, 2], chance),
            };
            (ask("tell me your pin please"), chance.pick(&["my pin is", "my pin's", "my pin number is"]), said, units)
        }
        "cvv" => {
            let lead = chance.pick(&["the security number is", "the code on the back is", "my cvv is", "the c v v's"]);
            let lead = if asked { chance.pick(&["it is", "sure it is", lead]) } else { lead };
            (ask("and the security number"), lead, one_by_one(&number(3, chance), chance), units)
        }
        "expiry" => (Some("when does it run out"), chance.pick(&["it runs out", "it is", "that's"]), expiry(chance), units),
        "dob" => match chance.below(3) {
            0 => (Some("what year were you born"), chance.pick(&["", "in", "uh"]), year(chance), units),
            1 => (Some("and your year of birth"), chance.pick(&["it's", "that's", ""]), year(chance), units),
            _ => {
                let mut said = words(&format!("{} {}", chance.pick(&MONTHS), chance.pick(&ORDINALS)), true);
                said.extend(year(chance));
                (Some("when were you born"), chance.pick(&["", "on", "i was born on"]), said, "")
            }
        },
        "address" => {
            let street = chance.pick(&["maplethorpe", "brackenhurst"]);
            let kind = chance.pick(&["street", "road", "lane"]);
            let said = marked(&format!("{{{}B}} {{{street}}} {kind}", 11 + chance.below(80)));
            (ask("what is your address"), chance.pick(&["i live at", "my address is"]), said, "people know it")
        }
        "passport" => (ask("and the passport number"), "my passport number is", glued("adddddddd", chance), units),
        "licence" => (ask("and your driver's license"), "my driver's license is", glued("addddddd", chance), units),
        "iban" => (ask("your iban please"), chance.pick(&["my iban is", "iban"]), glued("aaddaaaadddddddddddddd", chance), units),
        "email" => {
            let said = chance.pick(&[
                "{zelda} @ {penguinmail} dot com",
                "{zelda} plus {quill} at {penguinmail} dot com",
                "{zelda} uh at {penguinmail} dot org",
                "{zelda} dash {quimby} at {penguinmail} dot co dot uk",
                "{zelda.quimby@penguinmail.com}",
                "all lower case {zelda} dot {quimby} at {penguinmail} dot com",
            ]);
            (ask("what's your email"), chance.pick(&["my email is", "my email's", "my email address is"]), marked(said), "")
        }
        "name (said)" => {
            let said = chance.pick(&[
                "{o'quimby}",
                "{zelda} no {hortensia}",
                "{zelda} {z} {e} {l} {d} a",
                "{zelda} {quimby} {q} {u} i {m} b {y}",
                "{hortensia} not {zelda}",
            ]);
            (ask("may i take your name"), chance.pick(&["my name is", "my name's"]), marked(said), "")
        }
        "password" => {
            let said = chance.pick(&[
                "because of {wobblekettle}",
                "and {mauve} for all",
                "so long {zebrafish}",
                "to be or not {wobblekettle}",
                "the {mauve} {badger} and a {zebrafish}",
                "i {frobnicate} you",
            ]);
            (ask("and the password"), chance.pick(&["my password is", "the password is", "my password's"]), marked(said), "")
        }
        "id" => {
            let lead = chance.pick(&[
                "my policy number is",
                "my member id is",
                "my insurance number is",
                "my medicare number is",
                "the medical record number is",
                "my case number is",
                "my customer number is",
                "my national insurance number is",
                "my number plate is",
                "the claim number is",
                "the verification code is",
            ]);
            (
                ask("what is your policy number"),
                lead,
                glued(chance.pick(&["aadddddda", "adddddd", "dddada", "ddddddd"]), chance),
                units,
            )
        }
        "answer" => {
            let question = chance.pick(&[
                "what is your mother's maiden name",
                "what was the name of your first pet",
                "what is your memorable word",
                "which street did you grow up on",
                "what was your first school",
            ]);
            let said = chance.pick(&["{wobblekettle}", "{maplethorpe}", "{quimby}", "{mauve} {badger}"]);
            (Some(question), chance.pick(&["", "it's", "it was", "uh"]), marked(said), "")
        }
        _ => return None,
    };
    Some(secret)
}

fn number_without_zero(length: usize, chance: &mut Chance) -> String {
    (0..length).map(|_| char::from(b'1' + chance.below(9) as u8)).collect()
}
