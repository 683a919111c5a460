//! Cards read out in one breath: the number, when it expires, and the code, in varied orders and forms.

use super::corpus::Line;
use crate::leaks::chance::Chance;
use crate::leaks::numbers::card;

const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TENS: [&str; 10] = ["oh", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const MONTHS: [&str; 6] = ["january", "march", "june", "august", "october", "december"];

fn one_by_one(digits: &str, chance: &mut Chance) -> String {
    let zero = chance.pick(&["zero", "oh"]);
    let digit = |b: u8| if b == b'0' { zero } else { DIGITS[usize::from(b - b'0')] };
    digits.bytes().map(digit).collect::<Vec<_>>().join(" ")
}

fn in_pairs(digits: &str) -> String {
    let pair = |pair: &[u8]| match pair {
        [tens @ b'2'..=b'9', b'0'] => TENS[usize::from(tens - b'0')].to_string(),
        [tens @ b'2'..=b'9', ones] => format!("{} {}", TENS[usize::from(tens - b'0')], DIGITS[usize::from(ones - b'0')]),
        other => {
            other.iter().map(|b| if *b == b'0' { "oh" } else { DIGITS[usize::from(b - b'0')] }).collect::<Vec<_>>().join(" ")
        }
    };
    digits.as_bytes().chunks(2).map(pair).collect::<Vec<_>>().join(" ")
}

fn in_groups(digits: &str, between: &str) -> String {
    let groups: Vec<&str> = (0..digits.len()).step_by(4).map(|at| &digits[at..digits.len().min(at + 4)]).collect();
    groups.join(between)
}

/// A line of this seed. The same seed gives the same line.
pub fn line(seed: u64) -> Line {
    let mut chance = Chance::new(7_000 + seed);
    let number = card(&mut chance);
    let said = match chance.below(6) {
        0 => in_pairs(&number),
        1 => in_groups(&number, " "),
        2 => number.clone(),
        3 => {
            let joint = chance.pick(&["then", "uh", "and then", "okay"]);
            let groups = in_groups(&number, " ");
            let groups: Vec<String> = groups.split(' ').map(|group| one_by_one(group, &mut chance)).collect();
            groups.join(&format!("}} {joint} {{card|"))
        }
        _ => one_by_one(&number, &mut chance),
    };
    let (month, year) = (1 + chance.below(9), 5 + chance.below(5));
    let expiry = match chance.below(5) {
        0 => format!("oh {} twenty {}", DIGITS[month], DIGITS[year]),
        1 => format!("{} twenty twenty {}", chance.pick(&MONTHS), DIGITS[year]),
        2 => format!("zero {} two {}", DIGITS[month], DIGITS[year]),
        3 => format!("0{month}/2{year}"),
        _ => format!("{} {}", chance.pick(&["eleven", "twelve", "ten"]), chance.pick(&["thirty", "twenty nine"])),
    };
    let code: String = (0..3).map(|_| char::from(b'1' + chance.below(9) as u8)).collect();
    let code = if chance.one_in(5) { code } else { one_by_one(&code, &mut chance) };
    let before = chance.pick(&["my card number is", "it's", "sure", "the number is", "", "okay so"]);
    let until = chance.pick(&["expires", "expiry", "expiring", "and the expiry date is", "valid until", "and it expires"]);
    let back = chance.pick(&[
        "and the security code is",
        "c v v",
        "cvv",
        "and the code on the back is",
        "security code",
        "and the number on the back is",
        "and the digits on the back are",
    ]);
    let number_said = format!("{before} {{card|{said}}}");
    let (expiry, code) = (format!("{until} {{expiry|{expiry}}}"), format!("{back} {{cvv|{code}}}"));
    let after = chance.pick(&["", "thanks", "did you get that", "and my name is on the front"]);
    let breath = match chance.below(4) {
        0 => format!("{number_said} {code} {expiry} {after}"),
        _ => format!("{number_said} {expiry} {code} {after}"),
    };
    let asked = match chance.below(3) {
        0 => "A: can i take the card number the expiry date and the security code | B: ",
        1 => "A: and your card details please | B: ",
        _ => "",
    };
    let last = &number[number.len() - 4..];
    Line::parse(&format!("breath:{seed}"), &format!("promised\tcard={last} expiry cvv\t{asked}{breath}"))
}
