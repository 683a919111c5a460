//! Looks for secrets in the output. The checker knows the secrets from the generator alone, and nothing of how
//! redaction works. Any secret word, any digit and any number word is a leak, wherever in a record or log it stands.
//! The only exception are the last digits of a card that a mask may keep.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

/// Number words and their like, none of which is said but in a secret.
const NUMBERS: &str = "zero oh o one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen \
                       nineteen twenty thirty forty fifty sixty seventy eighty ninety third fifth eleventh twelfth seventeenth twentieth";
const MONTHS: &str = "february april june august september november feb apr jun aug sep nov";
const LETTERS: &str = "d e f g h j k l m p q r t u w x y z delta foxtrot golf hotel kilo whiskey xray zulu";
const WORDS: &str = "margaret thistlewood bartholomew oakenshaw ludmila anneliese heyden zelda quimby hortensia ignatius pumpernickel quentin \
                     featherstonehaugh zebrafish quill heron penguinmail maplethorpe brackenhurst quarrington wobblekettle mauve frobnicate badger o'quimby";

static SECRET: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| [NUMBERS, MONTHS, LETTERS, WORDS].iter().flat_map(|words| words.split_whitespace()).collect());

/// Keys of a record that hold no speech.
const NOT_SPEECH: [&str; 9] = ["session", "channel", "kind", "cause", "model", "profile", "class", "epoch", "meta"];

/// Whether a speaker is shown by a number instead of a name.
fn is_number_of_a_speaker(value: &Value) -> bool {
    let number = value.as_str().and_then(|name| name.strip_prefix("voice-"));
    number.is_some_and(|number| (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()))
}

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(all) => all.iter().for_each(|v| strings(v, found)),
        Value::Object(all) => {
            let is_no_speech = |key: &str, v: &Value| NOT_SPEECH.contains(&key) || key == "speaker" && is_number_of_a_speaker(v);
            all.iter().filter(|(key, v)| !is_no_speech(key, v)).for_each(|(_, v)| strings(v, found))
        }
        _ => {}
    }
}

/// Letters that cues and plain speech have too: "c v v", "i b a n", "that's".
const EVERYWHERE: [&str; 8] = ["a", "b", "c", "i", "n", "s", "v", "capital"];

/// Whether the checker would see a word that the generator calls secret.
pub fn knows(word: &str) -> bool {
    leak_in(word, &[]).is_some() || EVERYWHERE.contains(&word)
}

/// The first secret word in `text`, if there is one. `cards`: what masks may show the last four digits of.
pub fn leak_in(text: &str, cards: &[String]) -> Option<String> {
    for token in text.split_whitespace() {
        let masked = token.trim_end_matches(['.', ',', '?']);
        let kept = masked.trim_start_matches('*');
        if masked.len() >= kept.len() + 4 && kept.len() <= 4 && (kept.is_empty() || cards.iter().any(|c| c.ends_with(kept))) {
            continue;
        }
        let lower = token.to_lowercase();
        for part in lower.split(|c: char| !c.is_alphanumeric() && c != '\'').map(|p| p.trim_matches('\'').trim_end_matches("'s"))
        {
            if SECRET.contains(part) || part.bytes().any(|b| b.is_ascii_digit()) {
                return Some(part.to_string());
            }
        }
    }
    None
}

/// The first secret word anywhere in a record of the formatted or partial topic.
pub fn leak_of(record: &Value, cards: &[String]) -> Option<String> {
    let mut all = Vec::new();
    strings(record, &mut all);
    all.into_iter().find_map(|text| leak_in(text, cards))
}

#[test]
fn the_checker_sees_what_it_must_and_lets_masks_pass() {
    let cards = ["4111111111111234".to_string()];
    for seen in
        ["it is four", "ending 12", "Thistlewood's", "m.thistlewood@x", "************1235", "1234", "Four-one", "oh,", "***1234"]
    {
        assert!(leak_in(seen, &cards).is_some(), "{seen}");
    }
    for fine in ["************1234.", "[CARD],", "*****", "that's for you to see", "i told a neighbour", "the c v v is"] {
        assert_eq!(leak_in(fine, &cards), None, "{fine}");
    }
    let record = serde_json::json!({"text": "fine", "seq": 4, "session": "call-4", "removed": [{"class": "repair", "spoken": "four one"}]});
    assert_eq!(leak_of(&record, &cards).as_deref(), Some("four"));
}
