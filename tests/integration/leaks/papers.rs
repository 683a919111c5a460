//! Numbers of documents that have a check digit or letter, as their issuers make them. This shares no code with
//! redaction.

use super::chance::Chance;
use super::numbers::number;

fn some(of: &str, length: usize, chance: &mut Chance) -> String {
    let signs: Vec<char> = of.chars().collect();
    (0..length).map(|_| signs[chance.below(signs.len())]).collect()
}

/// The letter of a Spanish identity document.
fn dni_letter(number: u32) -> char {
    char::from(b"TRWAGMYFPDXBNJZSQVHLCKE"[number as usize % 23])
}

/// Two letters of a surname, one of a second surname, one of a first name, and a birthday: how CURP and RFC begin.
fn person(chance: &mut Chance) -> String {
    let letters = some("BCDFGHJLMNPRSTVZ", 1, chance) + &some("AEIOU", 1, chance) + &some("BCDFGHJLMNPRSTVZ", 2, chance);
    format!("{letters}{:02}{:02}{:02}", 40 + chance.below(60), 1 + chance.below(12), 1 + chance.below(28))
}

fn sum_of(text: &str, alphabet: &str, weight_of_first: usize) -> usize {
    let value = |sign: char| alphabet.chars().position(|known| known == sign).unwrap();
    text.chars().enumerate().map(|(i, sign)| value(sign) * (weight_of_first - i)).sum()
}

/// A number of the document of this name.
pub fn paper(name: &str, chance: &mut Chance) -> String {
    match name {
        "dni" => {
            let digits = number(8, chance);
            format!("{digits}{}", dni_letter(digits.parse().unwrap()))
        }
        "nie" => {
            let (first, digits) = (chance.below(3), number(7, chance));
            let letter = dni_letter(format!("{first}{digits}").parse().unwrap());
            format!("{}{digits}{letter}", ['X', 'Y', 'Z'][first])
        }
        "curp" => {
            let person = person(chance);
            let sex = some("HM", 1, chance);
            let state = ["DF", "JC", "NL", "PL", "VZ"][chance.below(5)];
            let body = format!("{person}{sex}{state}{}0", some("BCDFGHJLMNPRSTVZ", 3, chance));
            let sum = sum_of(&body, "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ", 18);
            format!("{body}{}", (10 - sum % 10) % 10)
        }
        "rfc" => {
            let body = format!("{}{}", person(chance), some("ABCDEFGH123456789", 2, chance));
            let check = match 11 - sum_of(&body, "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ", 13) % 11 {
                11 => "0".to_string(),
                10 => "A".to_string(),
                digit => digit.to_string(),
            };
            format!("{body}{check}")
        }
        "iban es" => {
            let account = number(20, chance);
            // E is 14 and S is 28; two zeros stand for the check digits.
            let rest = format!("{account}142800").bytes().fold(0u32, |rest, b| (rest * 10 + u32::from(b - b'0')) % 97);
            format!("ES{:02}{account}", 98 - rest)
        }
        name => panic!("no paper {name}"),
    }
}

#[test]
fn numbers_of_documents_have_the_check_digits_of_published_examples() {
    // Examples of the issuers' own documents.
    assert_eq!(dni_letter(12_345_678), 'Z');
    assert_eq!(dni_letter(1_234_567), 'L', "X1234567L");
    let sum = sum_of("HEGG560427MVZRRL0", "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ", 18);
    assert_eq!((10 - sum % 10) % 10, 4, "HEGG560427MVZRRL04");
    let sum = sum_of("GODE561231GR", "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ", 13);
    assert_eq!(11 - sum % 11, 8, "GODE561231GR8");
    let rest = "21000418450200051332142891".bytes().fold(0u32, |rest, b| (rest * 10 + u32::from(b - b'0')) % 97);
    assert_eq!(rest, 1, "ES91 2100 0418 4502 0005 1332");
}
