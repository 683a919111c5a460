//! Secrets as people say them, word by word: each word with whether it is part of the secret.

use super::chance::Chance;

/// Names on the list that the profile redacts.
pub const NAMES: [&str; 4] = ["margaret thistlewood", "bartholomew oakenshaw", "ludmila", "anneliese zebrafish heyden"];

/// Classes that are found by how they are said, with or without a question.
pub const OLD: [&str; 6] = ["card", "ssn", "phone", "account", "email", "name"];
/// Classes that are found by what is said around them.
pub const NEW: [&str; 9] = ["cvv", "pin", "expiry", "dob", "address", "passport", "licence", "iban", "password"];
/// Names that no list has.
pub const SAID_NAME: &str = "name (said)";
/// What is only found because somebody asked for it.
pub const ASKED: [&str; 3] = ["card (asked)", "pin (asked)", "dob (asked)"];

pub const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TEENS: [&str; 10] =
    ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"];
const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const FILLERS: [&str; 5] = ["uh", "um", "er", "%HESITATION", "erm"];
const JOINTS: [&str; 9] = ["and", "then", "and then", "so that's", "dash", "let me see", "okay", "and then it's", "hold on"];
const CORRECTIONS: [&str; 4] = ["no wait", "sorry", "i mean", "no sorry"];
const NATO: [&str; 8] = ["delta", "foxtrot", "golf", "hotel", "kilo", "whiskey", "xray", "zulu"];
const LETTERS: [&str; 8] = ["d", "f", "g", "h", "k", "w", "x", "z"];
pub const MONTHS: [&str; 6] = ["february", "april", "june", "august", "september", "november"];
pub const ORDINALS: [&str; 6] = ["third", "fifth", "eleventh", "twelfth", "seventeenth", "twentieth"];

/// Digits as somebody says them: one by one, in pairs, doubled, as a recogniser writes them; with pauses, joints, marks
/// and corrections.
fn digits(number: &str, calm: bool, chance: &mut Chance) -> Vec<(String, bool)> {
    let style = chance.below(if calm { 3 } else { 7 });
    let all: Vec<usize> = number.bytes().map(|b| usize::from(b - b'0')).collect();
    let digit = |d: usize, chance: &mut Chance| match d {
        0 => chance.pick(&["zero", "oh", "o"]).to_string(),
        d => DIGITS[d].to_string(),
    };
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let left = all.len() - at;
        let style = if style == 6 { chance.below(6) } else { style };
        match style {
            1 if left >= 2 && all[at] == 1 => {
                groups.push(vec![TEENS[all[at + 1]].into()]);
                at += 2;
            }
            1 if left >= 2 && all[at] > 1 => {
                let tens = TENS[all[at]].to_string();
                groups.push(if all[at + 1] == 0 { vec![tens] } else { vec![tens, DIGITS[all[at + 1]].into()] });
                at += 2;
            }
            2 if left >= 3 && all[at] == all[at + 1] && all[at] == all[at + 2] => {
                groups.push(vec!["triple".into(), digit(all[at], chance)]);
                at += 3;
            }
            2 if left >= 2 && all[at] == all[at + 1] => {
                groups.push(vec!["double".into(), digit(all[at], chance)]);
                at += 2;
            }
            4 | 5 if left >= 3 => {
                let n = 3 + chance.below(2).min(left - 3);
                let part = &number[at..at + n];
                groups.push(vec![match style {
                    4 => part.to_string(),
                    _ => part.bytes().map(|b| DIGITS[usize::from(b - b'0')]).collect::<Vec<_>>().join("-"),
                }]);
                at += n;
            }
            _ => {
                groups.push(vec![digit(all[at], chance)]);
                at += 1;
            }
        }
    }
    let marks = chance.one_in(4);
    let mut said: Vec<(String, bool)> = Vec::new();
    let count = groups.len();
    for (i, group) in groups.into_iter().enumerate() {
        // "Double" by itself tells nothing.
        let secret = |word: &String| (word.clone(), !["double", "triple"].contains(&word.as_str()));
        said.extend(group.iter().map(secret));
        if marks {
            said.last_mut().unwrap().0.push_str(chance.pick(&[",", ".", ",", "", "…"]));
        }
        if calm || i + 1 == count {
            continue;
        }
        if chance.one_in(7) {
            said.push((chance.pick(&FILLERS).into(), false));
        }
        if chance.one_in(9) {
            said.extend(chance.pick(&JOINTS).split(' ').map(|w| (w.to_string(), false)));
        }
        if chance.one_in(14) {
            said.extend(chance.pick(&CORRECTIONS).split(' ').map(|w| (w.to_string(), false)));
            said.extend(group.iter().map(secret));
        }
    }
    said
}

pub fn number(length: usize, chance: &mut Chance) -> String {
    (0..length).map(|i| char::from(b'0' + if i == 0 { 1 + chance.below(9) } else { chance.below(10) } as u8)).collect()
}

/// With a check digit (Luhn).
pub fn card(chance: &mut Chance) -> String {
    let body = format!("4{}", number(14, chance));
    let sum: u32 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(i, b)| u32::from(b - b'0') * if i % 2 == 0 { 2 } else { 1 })
        .map(|n| n / 10 + n % 10)
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// Letters and digits, letters now and then as a spelling alphabet has them.
pub fn code(shape: &str, chance: &mut Chance) -> Vec<(String, bool)> {
    let mut said = Vec::new();
    for kind in shape.chars() {
        match kind {
            'a' => {
                let letter = chance.below(8);
                match chance.below(4) {
                    0 => said.push((NATO[letter].to_string(), true)),
                    1 => {
                        let nato = NATO[letter].to_string();
                        said.extend([(LETTERS[letter].into(), true), ("as".into(), false), ("in".into(), false), (nato, true)]);
                    }
                    _ => said.push((LETTERS[letter].to_string(), true)),
                }
            }
            _ => said.push((DIGITS[chance.below(10)].to_string(), true)),
        }
        if chance.one_in(9) {
            said.push((chance.pick(&FILLERS).into(), false));
        }
    }
    said
}

pub fn words(text: &str, secret: bool) -> Vec<(String, bool)> {
    text.split_whitespace().map(|w| (w.to_string(), secret)).collect()
}

pub fn year(chance: &mut Chance) -> Vec<(String, bool)> {
    let tens = chance.pick(&["fifty", "sixty", "seventy", "eighty"]);
    words(&format!("nineteen {tens} {}", DIGITS[1 + chance.below(9)]), true)
}

/// A name with what people do to names.
fn name(name: &str, chance: &mut Chance) -> Vec<(String, bool)> {
    let mut said = Vec::new();
    let parts: Vec<&str> = name.split(' ').collect();
    for (i, part) in parts.iter().enumerate() {
        said.push((part.to_string(), true));
        if i + 1 < parts.len() && chance.one_in(3) {
            said.push((chance.pick(&FILLERS).into(), false));
        }
    }
    match chance.below(5) {
        0 => said.last_mut().unwrap().0.push_str("'s"),
        1 => said.last_mut().unwrap().0.push(','),
        2 => said.iter_mut().filter(|w| w.1).for_each(|w| w.0 = format!("{}{}", w.0[..1].to_uppercase(), &w.0[1..])),
        _ => {}
    }
    said
}

/// What leads to a secret, the secret, and what follows. `asked`: what the agent asks for first.
pub type Secret = (Option<&'static str>, &'static str, Vec<(String, bool)>, &'static str);

pub fn secret(class: &str, cards: &mut Vec<String>, chance: &mut Chance) -> Secret {
    let asked = chance.one_in(2);
    let ask = |question: &'static str| asked.then_some(question);
    match class {
        "card" => {
            let number = card(chance);
            cards.push(number.clone());
            let lead = chance.pick(&["it is", "so", "yes", "my card number is", "the long number is", ""]);
            (ask("can i have your card number please"), lead, digits(&number, false, chance), "")
        }
        "card (asked)" => {
            let number = number(4, chance);
            let lead = chance.pick(&["yes sure", "it ends in", "so", "let me see"]);
            (Some("could i take the last digits of your card number"), lead, digits(&number, true, chance), "")
        }
        "ssn" => {
            let lead = chance.pick(&["it is", "yes", "my social security number is", ""]);
            (ask("what is your social security number"), lead, digits(&number(9, chance), false, chance), "")
        }
        "phone" => {
            let lead = chance.pick(&["you can call me on", "my number is", "it is", ""]);
            (ask("what is the best phone number for you"), lead, digits(&number(10, chance), false, chance), "")
        }
        "account" => {
            let length = 7 + chance.below(5);
            let lead = chance.pick(&["my account number is", "it is", "the account is", ""]);
            (ask("and your account number"), lead, digits(&number(length, chance), false, chance), "")
        }
        "email" => {
            let local = chance.pick(&["m thistlewood", "zebrafish", "j q quill", "heron underscore quill"]);
            let site = chance.pick(&["penguinmail dot com", "my penguinmail dot co dot uk", "penguinmail dot org"]);
            let dotted = chance.pick(&["at", "at", "uh at"]);
            let mut said = words(local, true);
            said.extend(words(dotted, false));
            said.extend(words(site, true));
            // What every address has tells nothing.
            said.iter_mut()
                .filter(|w| ["dot", "com", "co", "uk", "org", "my", "underscore"].contains(&&*w.0))
                .for_each(|w| w.1 = false);
            // An address that nothing leads to is none until its "at" is said.
            let leads: &[&str] = if asked { &["it is", "you can write to", ""] } else { &["you can write to", "my email is"] };
            (ask("what is your email address"), chance.pick(leads), said, "")
        }
        "name" => {
            let listed = chance.pick(&NAMES);
            let lead = chance.pick(&["", "hello", "i spoke with", "please call", "this is for"]);
            (None, lead, name(listed, chance), chance.pick(&["", "about it", "and the price", "is away"]))
        }
        "name (said)" => {
            let said = chance.pick(&["zelda quimby", "hortensia", "ignatius pumpernickel", "quentin featherstonehaugh"]);
            match chance.below(4) {
                0 => (ask("may i have your name please"), "my name is", name(said, chance), ""),
                1 => (None, "hello this is", name(said, chance), chance.pick(&["speaking", "calling", "here"])),
                2 => (None, "my name's", name(said, chance), "and i have a question"),
                _ => {
                    let last = said.rsplit(' ').next().unwrap();
                    let spelled: String = last.chars().map(|c| format!("{c} ")).collect();
                    let mut all = words(said, true);
                    all.extend(words(chance.pick(&["that's spelled", "spelled", "which is spelt"]), false));
                    all.extend(words(&spelled, true));
                    (None, "my name is", all, "")
                }
            }
        }
        "cvv" => {
            let lead = chance.pick(&["the security code is", "the c v v is", "my cvv is", "and the code on the back is"]);
            (ask("and the security code on the back"), lead, digits(&number(3, chance), true, chance), "")
        }
        "pin" => (
            ask("what is your pin"),
            chance.pick(&["my pin is", "the pin number is", "my pin is uh"]),
            digits(&number(4, chance), true, chance),
            "",
        ),
        "pin (asked)" => (
            Some("can you tell me your pin please"),
            chance.pick(&["uh", "yes", "sure"]),
            digits(&number(4, chance), true, chance),
            "",
        ),
        "expiry" => {
            let said = match chance.below(3) {
                0 => words(&format!("oh {} twenty {}", DIGITS[1 + chance.below(9)], DIGITS[5 + chance.below(5)]), true),
                1 => words(&format!("{} twenty thirty", chance.pick(&MONTHS)), true),
                _ => [
                    words(&format!("zero {}", DIGITS[1 + chance.below(9)]), true),
                    words("slash", false),
                    words("two seven", true),
                ]
                .concat(),
            };
            (ask("and the expiry date"), chance.pick(&["it expires", "the expiry date is", "expiration is"]), said, "")
        }
        "dob" | "dob (asked)" => {
            let said = match chance.below(3) {
                0 => [words(&format!("{} {}", chance.pick(&MONTHS), chance.pick(&ORDINALS)), true), year(chance)].concat(),
                1 => [
                    words("the", false),
                    words(chance.pick(&ORDINALS), true),
                    words("of", false),
                    words(chance.pick(&MONTHS), true),
                    year(chance),
                ]
                .concat(),
                _ => {
                    [words(&format!("oh {} oh {}", DIGITS[1 + chance.below(9)], DIGITS[1 + chance.below(9)]), true), year(chance)]
                        .concat()
                }
            };
            match class {
                "dob" => (
                    ask("what is your date of birth"),
                    chance.pick(&["my date of birth is", "i was born on", "my birthday is"]),
                    said,
                    "",
                ),
                _ => (Some("could you confirm your date of birth for me"), chance.pick(&["yes", "sure it's", ""]), said, ""),
            }
        }
        "address" => {
            let mut said = digits(&number(3, chance), true, chance);
            said.extend(words(chance.pick(&["maplethorpe", "brackenhurst", "old quarrington"]), true));
            said.iter_mut().filter(|w| w.0 == "old").for_each(|w| w.1 = false);
            said.extend(words(chance.pick(&["street", "avenue", "road", "lane", "drive"]), false));
            if chance.one_in(2) {
                said.extend(words("apartment", false));
                said.extend(words(DIGITS[1 + chance.below(9)], true));
            }
            (ask("what is your address"), chance.pick(&["i live at", "my address is", "it's", "the address is"]), said, "")
        }
        "passport" => {
            let shape = chance.pick(&["ddddddddd", "adddddddd", "aaddddddd"]);
            (ask("and your passport number"), chance.pick(&["my passport number is", "the passport is"]), code(shape, chance), "")
        }
        "licence" => {
            let lead = chance.pick(&["my driving licence number is", "my driver's license is", "the licence number is"]);
            (
                ask("what is your driving licence number"),
                lead,
                code(chance.pick(&["adddddddd", "aaaaaddddddaada", "ddddddd"]), chance),
                "",
            )
        }
        "iban" => (
            ask("and the i b a n"),
            chance.pick(&["the iban is", "my i b a n is", "iban"]),
            code("aaddaaaadddddddddddddd", chance),
            "",
        ),
        "password" => {
            let said = chance.pick(&[
                "wobblekettle",
                "mauve wobblekettle seven",
                "frobnicate mauve badger",
                "capital z zebrafish seven",
            ]);
            (
                ask("what is your password"),
                chance.pick(&["my password is", "the password is", "my password is uh"]),
                words(said, true),
                "",
            )
        }
        class => panic!("no class {class}"),
    }
}
