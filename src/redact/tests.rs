//! What is found of what is said, by example.

use super::*;

fn redaction(classes: &str) -> Redaction {
    let rule = RedactionRule { action: Action::Mask, keep_last: 0, said: true };
    let rules = classes.split(' ').map(|c| (c.to_string(), rule)).collect();
    let mut redaction = Redaction::new(rules, &BTreeMap::new(), None);
    redaction.add_name("margaret thistlewood");
    redaction
}

/// What is found of words, of which those in brackets are removed, those with a question mark are a guess, and those
/// before a bar have left.
fn found(classes: &str, text: &str, more: bool) -> Vec<String> {
    let (before, text) = text.split_once(" | ").unwrap_or(("", text));
    let spoken: Vec<&str> = text.split_whitespace().collect();
    let bare = |w: &str| w.trim_matches(['(', ')', '?']).to_string();
    let parts: Vec<Box<str>> = spoken.iter().map(|w| token::comparable(&bare(w))).collect();
    let word = |(w, parts): (&&str, &'static str)| RedactionWord {
        parts,
        kept: !w.starts_with('('),
        sure: !w.ends_with('?'),
        ..RedactionWord::around("x").next().expect("a word")
    };
    let parts = parts.into_iter().map(|p| &*Box::leak(p));
    let left: Vec<RedactionWord> = RedactionWord::around(Box::leak(before.to_string().into_boxed_str())).collect();
    let (known, all) = (left.len(), left.into_iter().chain(spoken.iter().zip(parts).map(word)).collect::<Vec<_>>());
    let text = |r: &Region| spoken[r.words.start.saturating_sub(known)..r.words.end - known].join(" ");
    let regions = redaction(classes).find(&all, known, more);
    regions.iter().filter(|r| r.words.end > known).map(|r| format!("{}: {}", r.class, text(r))).collect()
}

const CARD: &str = "four one one one one one one one one one one one one one one one";

#[test]
fn numbers_are_found_by_the_digits_they_may_have_whatever_stands_between_them() {
    for (classes, text, want) in [
        ("card", format!("it is {CARD} thanks"), vec![format!("card: {CARD}")]),
        (
            "card account",
            format!("it is {} bye", CARD.replacen("four", "five", 1)),
            vec![format!("account: {}", CARD.replacen("four", "five", 1))],
        ),
        (
            "card",
            "Four, One, one, one. uh one one one two (no) (wait) one one one one and one one one one okay bye".into(),
            vec!["card: Four, One, one, one. uh one one one two (no) (wait) one one one one and one one one one".into()],
        ),
        ("card", "forty twenty thirty fifty sixty ten thanks".into(), vec!["card: forty twenty thirty fifty sixty ten".into()]),
        (
            "ssn phone",
            "one two three four five six seven eight nine and one two three thanks".into(),
            vec!["phone: one two three four five six seven eight nine and one two three".into()],
        ),
        (
            "phone",
            "five five five so that's oh one nine nine please".into(),
            vec!["phone: five five five so that's oh one nine nine".into()],
        ),
        ("card", "4111-1111 1111 1111 right".into(), vec!["card: 4111-1111 1111 1111".into()]),
        ("card ssn phone account", "two thousand nineteen and two thousand twenty".into(), vec![]),
        ("card ssn phone account", "one million two hundred thousand dollars and twenty five percent".into(), vec![]),
        ("card ssn phone account", "i have two cats and three dogs".into(), vec![]),
    ] {
        assert_eq!(found(classes, &text, false), want, "{text}");
    }
}

#[test]
fn what_may_go_on_is_found_until_a_word_that_is_sure_ends_it() {
    for (classes, text, more, want) in [
        ("card", "it is four one", true, vec!["number: four one"]),
        ("card", "it is four one", false, vec![]),
        ("card", "it is four one thanks", true, vec![]),
        ("card", "it is four one thanks?", true, vec!["number: four one"]),
        ("card", "four one | one one then goodbye", false, vec!["number: one one"]),
        ("card", "it is four | thanks i have two cats", false, vec![]),
        ("name", "i spoke with margaret", true, vec!["name: margaret"]),
        ("name", "i spoke with margaret again", true, vec![]),
        ("name", "i spoke with margaret again?", true, vec!["name: margaret"]),
        ("name", "margaret | thistlewood's here", true, vec!["name: thistlewood's"]),
        ("email", "write sam at example", true, vec!["email: sam at example"]),
        ("address", "it is twelve maplethorpe", true, vec!["address: twelve maplethorpe"]),
    ] {
        assert_eq!(found(classes, text, more), want, "{text}");
    }
}

#[test]
fn names_and_answers_are_found_by_what_is_said_around_them() {
    for (classes, text, want) in [
        ("name", "Margaret uh Thistlewood's bill", vec!["name: Margaret uh Thistlewood's"]),
        ("name", "margaret (you) (know) thistlewood", vec!["name: margaret (you) (know) thistlewood"]),
        ("name", "my name is zelda quimby and i", vec!["name: zelda quimby"]),
        ("name", "hello this is zelda speaking", vec!["name: zelda"]),
        ("name", "this is great i am happy", vec![]),
        ("name", "spelled q u i m b y thanks", vec!["name: q u i m b y"]),
        ("pin", "my pin is four two one nine thanks", vec!["pin: four two one nine"]),
        ("cvv", "the c v v is oh four two", vec!["cvv: oh four two"]),
        ("expiry", "it expires april twenty thirty", vec!["expiry: april twenty thirty"]),
        ("dob", "i was born on the fifth of may nineteen eighty", vec!["dob: the fifth of may nineteen eighty"]),
        ("passport", "my passport number is a b uh three four five", vec!["passport: a b uh three four five"]),
        ("licence", "my licence number is d as in delta four", vec!["licence: d as in delta four"]),
        ("iban", "my i b a n is g b two nine", vec!["iban: g b two nine"]),
        ("password", "my password is purple kettle thanks", vec!["password: purple kettle"]),
        ("password", "i forgot my password so i called", vec![]),
        (
            "address",
            "i live at four two maple hollow drive apartment three",
            vec!["address: four two maple hollow drive apartment three"],
        ),
        ("address", "twelve maplethorpe street", vec!["address: twelve maplethorpe street"]),
        ("email", "it is sam dot lee at example dot com today", vec!["email: sam dot lee at example dot com"]),
        ("email", "it is sam@example.com", vec!["email: sam@example.com"]),
        ("email", "we meet at four", vec![]),
    ] {
        assert_eq!(found(classes, text, false), want, "{text}");
    }
}

#[test]
fn only_a_whole_number_of_its_own_length_keeps_its_last_digits() {
    let exact = |text: &str| {
        let parts: Vec<Box<str>> = text.split(' ').map(token::comparable).collect();
        let all: Vec<RedactionWord> = parts.iter().flat_map(|p| RedactionWord::around(p)).collect();
        redaction("card cvv").find(&all, 0, false).iter().map(|r| r.exact).collect::<Vec<_>>()
    };
    assert_eq!(exact(&format!("it is {CARD}")), [true]);
    let card = "four five three nine one four eight eight oh three four three six four six seven";
    assert_eq!(exact(&format!("it is {card} and one two three")), [true, false], "the code on its back follows");
    let pairs = "forty five thirty nine fourteen eighty eight oh three forty three sixty four sixty seven";
    assert_eq!(exact(&format!("it is {pairs}")), [true], "in pairs");
    assert_eq!(exact(&format!("it is {CARD} and one two three")), [false], "a group said twice may stand for one group");
    assert_eq!(exact("my card number ends in one two three four"), [false], "nothing of it would be hidden");
}
