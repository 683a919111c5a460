//! Inverse text normalisation of tagged spans by weighted finite-state transducers. The only module that names rustfst.
//!
//! One grammar per class of the tag set, built from `grammars/en/` when the program starts. A span goes through the grammar of
//! its class, then through those of [`FALLBACK`]; one that none accepts stays as spoken.

mod builder;
mod entities;
mod number;

use std::collections::HashMap;
use std::sync::LazyLock;

use builder::{Grammar, Kit, finish};

use crate::tags::ItnClass;

/// Classes tried when a span's own grammar does not accept it: the tagger was right that it is a number, not which.
const FALLBACK: [ItnClass; 2] = [ItnClass::Cardinal, ItnClass::Alphanumeric];
/// Words of a span at most; a longer one stays as spoken, which bounds the work.
const MAX_SPAN_WORDS: usize = 64;

/// The compiled grammars of a language.
pub struct Itn {
    kit: Kit,
    grammars: HashMap<ItnClass, Grammar>,
}

static ENGLISH: LazyLock<Itn> = LazyLock::new(Itn::build);

impl Itn {
    /// English, built on first use.
    pub fn english() -> &'static Itn {
        &ENGLISH
    }

    fn build() -> Itn {
        let mut kit = Kit::default();
        let n = number::Numbers::new(&mut kit);
        let kit_ref = &mut kit;
        // E-mail and web addresses come last, since they pass every word that the others name.
        let grammars = [
            (ItnClass::Cardinal, entities::cardinal(kit_ref, &n)),
            (ItnClass::Ordinal, n.ordinal.clone()),
            (ItnClass::Percent, entities::percent(kit_ref, &n)),
            (ItnClass::Money, entities::money(kit_ref, &n)),
            (ItnClass::Year, n.year.clone()),
            (ItnClass::Date, entities::date(kit_ref, &n)),
            (ItnClass::Time, entities::time(kit_ref, &n)),
            (ItnClass::Phone, entities::phone(kit_ref, &n)),
            (ItnClass::Alphanumeric, entities::alphanumeric(kit_ref, &n)),
            (ItnClass::Range, entities::range(kit_ref, &n)),
            (ItnClass::Website, entities::website(kit_ref, &n)),
            (ItnClass::Email, entities::email(kit_ref, &n)),
        ]
        .map(|(class, grammar)| (class, finish(&grammar)));
        Itn { kit, grammars: HashMap::from(grammars) }
    }

    /// The written form of a span; `None` where it stays as spoken. Words in lower case.
    pub fn write(&self, class: ItnClass, words: &[&str]) -> Option<String> {
        if words.is_empty() || words.len() > MAX_SPAN_WORDS {
            return None;
        }
        let written = |c: ItnClass| self.kit.write(self.grammars.get(&c)?, words);
        let own = written(class).map(|text| if class == ItnClass::Phone { entities::group_phone(text) } else { text });
        own.or_else(|| FALLBACK.into_iter().filter(|c| *c != class).find_map(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(class: ItnClass, spoken: &str) -> Option<String> {
        Itn::english().write(class, &spoken.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn every_class_of_the_tag_set_has_a_grammar() {
        for class in ItnClass::ALL {
            assert!(Itn::english().grammars.contains_key(&class), "{class:?}");
        }
    }

    #[test]
    fn spans_are_written_as_the_golden_file_says() {
        let golden = include_str!("../../../tests/golden/itn.tsv");
        let mut wrong = Vec::new();
        for line in golden.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let [class, spoken, written] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let class = *ItnClass::ALL.iter().find(|c| c.label() == class).unwrap_or_else(|| panic!("{line}"));
            let got = write(class, spoken).unwrap_or_else(|| "-".into());
            if got != written {
                wrong.push(format!("{class:?} {spoken:?}: expected {written:?}, got {got:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_span_beyond_the_limit_stays_as_spoken() {
        let long = vec!["one"; MAX_SPAN_WORDS + 1];
        assert_eq!(Itn::english().write(ItnClass::Phone, &long), None);
        assert!(Itn::english().write(ItnClass::Phone, &long[1..]).is_some());
    }

    #[test]
    fn every_integer_of_a_thousand_reads_back_as_itself() {
        let ones = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
        let teens = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
        let teens: Vec<&str> = teens.split(' ').collect();
        let tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
        for n in 1..1000usize {
            let mut said = Vec::new();
            if n >= 100 {
                said.extend([ones[n / 100], "hundred"]);
            }
            match n % 100 {
                r if (10..20).contains(&r) => said.push(teens[r - 10]),
                r => said.extend([tens[r / 10], ones[r % 10]]),
            }
            said.retain(|w| !w.is_empty());
            assert_eq!(Itn::english().write(ItnClass::Cardinal, &said), Some(n.to_string()));
        }
    }
}
