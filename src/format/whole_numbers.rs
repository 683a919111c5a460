//! Numbers are written whole: no number is written that leaves a part of itself beside it as words, and numbers of one
//! sentence are written in the same way.
//!
//! A tagger's spans are proposals. If a span ends inside a number ("thirty" of "thirty five percent"), or no grammar
//! reads it, its words and [`BESIDE`] words on each side are read anew, by cost. A span that then still leaves half a
//! number stays as spoken. The grammars (`grammars/en/whole.itn`) say which words belong to one number, and between
//! which joints both sides must be written in the same way.

use super::itn::{Itn, MAX_SPAN_WORDS, Written};
use super::numbers::{Figures, Numbers};
use super::unit::{Author, Unit};

/// Number of words on each side of a span that are read with it.
pub const BESIDE: usize = 2;
/// Classes after which another number word may continue the number. A year or a date is complete.
const OPEN: [&str; 3] = ["cardinal", "range", "fraction"];
/// Classes of plain numbers, whose neighbours are written in the same way.
const ALIKE: [&str; 4] = ["cardinal", "measure", "year", "ordinal"];
/// Length in words of the grammars' longest joint: "between nine and".
const SAYING_WORDS: usize = 3;

/// The text whose numbers are made whole.
pub struct WholeNumbers<'a> {
    /// words in lower case
    pub words: &'a [&'a str],
    /// for each word, whether something ends after it: a mark follows, or the word stays as it is
    pub ends: &'a [bool],
    /// grammars
    pub itn: &'a Itn,
    /// styles
    pub numbers: Numbers,
    /// classes that may be written
    pub allowed: &'a dyn Fn(&str) -> bool,
}

impl WholeNumbers<'_> {
    /// Changes units so that none leaves half a number. `units` are in order, and each word is in one of them.
    pub fn whole(&self, mut units: Vec<Unit>) -> Vec<Unit> {
        let mut at = 0;
        while at < units.len() {
            at = match self.torn(&units, at) {
                Some((from, to)) => self.mend(&mut units, from, to),
                None => at + 1,
            };
        }
        self.alike(&mut units);
        self.bare_hours(&mut units);
        // An entity that is still torn stays as spoken. That may tear another entity. This ends, because there is one
        // entity less each time.
        let left =
            |units: &[Unit], at: usize| self.torn(units, at).is_some_and(|(from, to)| units[from..to].iter().any(is_spoken));
        while let Some(at) = (0..units.len()).find(|at| left(&units, *at)) {
            let [from, to] = units[at].words();
            units.splice(at..=at, (from..to).map(Unit::Spoken));
        }
        units
    }

    /// Whether the words `before` and `before + 1` belong to one number.
    fn joined(&self, before: usize) -> bool {
        !self.ends[before] && self.itn.joins(&self.words[before.saturating_sub(1)..=before + 1])
    }

    /// If unit `at` is an entity that is torn from its neighbours: the range of units that belong together.
    fn torn(&self, units: &[Unit], at: usize) -> Option<(usize, usize)> {
        let Unit::Entity { .. } = &units[at] else { return None };
        let with = |a: usize, b: usize| match (&units[a], &units[b]) {
            (Unit::Entry { .. }, _) | (_, Unit::Entry { .. }) => false,
            (Unit::Entity { class, .. }, Unit::Entity { .. }) => {
                OPEN.contains(&class.as_str()) && self.joined(units[a].words()[1] - 1)
            }
            _ => self.joined(units[a].words()[1] - 1),
        };
        let (mut from, mut to) = (at, at + 1);
        while from > 0 && with(from - 1, from) {
            from -= 1;
        }
        while to < units.len() && with(to - 1, to) {
            to += 1;
        }
        (to - from > 1).then_some((from, to))
    }

    /// Reads the units `from..to` anew; returns the unit at which to go on.
    fn mend(&self, units: &mut Vec<Unit>, from: usize, to: usize) -> usize {
        let words = [units[from].words()[0], units[to - 1].words()[1]];
        if let Some(at) = self.reread(units, from, to) {
            return at;
        }
        let only_entities = units[from..to].iter().all(|u| matches!(u, Unit::Entity { .. }));
        let grown = (words[1] - words[0] <= MAX_SPAN_WORDS)
            .then(|| self.itn.whole(&self.words[words[0]..words[1]], self.allowed))
            .flatten()
            .map(|(class, written)| entity(class, words, self.numbers.restyle(class, written)));
        match grown {
            Some(one) => {
                units.splice(from..to, [one]);
                from + 1
            }
            // These are two numbers, and both are written.
            None if only_entities => to,
            None => {
                let spoken: Vec<Unit> = (words[0]..words[1]).map(Unit::Spoken).collect();
                let count = spoken.len();
                units.splice(from..to, spoken);
                from + count
            }
        }
    }

    /// The same units with the words beside them, read like a sentence. `None` if the reading does not write all of
    /// them.
    fn reread(&self, units: &mut Vec<Unit>, from: usize, to: usize) -> Option<usize> {
        let spoken = is_spoken;
        let (mut low, mut high) = (from, to);
        while low > 0 && from - low < BESIDE && spoken(&units[low - 1]) && !self.ends[units[low - 1].words()[0]] {
            low -= 1;
        }
        while high < units.len() && high - to < BESIDE && spoken(&units[high]) && !self.ends[units[high - 1].words()[1] - 1] {
            high += 1;
        }
        let (first, last) = (units[low].words()[0], units[high - 1].words()[1]);
        let torn = units[from].words()[0]..units[to - 1].words()[1];
        let parts = self.itn.lattice(&self.words[first..last], &|word| torn.contains(&(first + word)), self.allowed)?;
        let mut made: Vec<Unit> = Vec::new();
        for part in parts {
            let words = part.words.map(|w| w + first);
            made.extend((made.last().map_or(first, |u| u.words()[1])..words[0]).map(Unit::Spoken));
            made.push(entity(part.class, words, self.numbers.restyle(part.class, part.written)));
        }
        made.extend((made.last().map_or(first, |u| u.words()[1])..last).map(Unit::Spoken));
        let written = |word: usize| made.iter().any(|u| !spoken(u) && (u.words()[0]..u.words()[1]).contains(&word));
        let whole = (0..made.len()).all(|at| self.torn(&made, at).is_none());
        (torn.clone().all(written) && whole).then(|| {
            let count = made.len();
            units.splice(low..high, made);
            low + count
        })
    }

    /// Whether the grammars have a rule for the words `from..to`.
    fn says(&self, class: &str, from: usize, to: usize) -> bool {
        to <= self.words.len()
            && (from..to - 1).all(|w| !self.ends[w])
            && self.itn.write_as(class, &self.words[from..to]).is_some()
    }

    fn figure(&self, word: usize) -> Option<Unit> {
        let written = self.itn.write_as("CARDINAL", &self.words[word..=word]).filter(|_| (self.allowed)("CARDINAL"))?;
        Some(entity("CARDINAL", [word, word + 1], self.numbers.restyle("CARDINAL", written)))
    }

    /// Lone digits that have a written number on the other side of a joint; all lone digits if the profile says so.
    fn alike(&self, units: &mut [Unit]) {
        let spoken = is_spoken;
        let number = |unit: Option<&Unit>| matches!(unit, Some(Unit::Entity { class, .. }) if ALIKE.contains(&class.as_str()));
        for at in 0..units.len() {
            let Unit::Spoken(word) = units[at] else { continue };
            let always = self.numbers.figures == Figures::Always && self.words[word] != "one" && self.words[word] != "oh";
            let before = at + 2 < units.len()
                && spoken(&units[at + 1])
                && !self.ends[word + 1]
                && number(units.get(at + 2))
                && self.starts_with_number(&units[at + 2])
                && (self.says("LIKE-BEFORE", word, word + 2)
                    || word > 0 && self.says("LIKE-BEFORE", word - 1, word - 1 + SAYING_WORDS));
            let after = at >= 2 && spoken(&units[at - 1]) && number(units.get(at - 2)) && {
                let end = units[at - 2].words()[1];
                !self.ends[end - 1] && self.ends_with_number(&units[at - 2]) && self.says("LIKE-AFTER", word - 1, word + 1)
            };
            if (always || before || after)
                && let Some(figure) = self.figure(word)
            {
                units[at] = figure;
            }
        }
    }

    fn starts_with_number(&self, unit: &Unit) -> bool {
        matches!(unit, Unit::Entity { text, .. } if text.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn ends_with_number(&self, unit: &Unit) -> bool {
        matches!(unit, Unit::Entity { text, .. } if text.ends_with(|c: char| c.is_ascii_digit()))
    }

    /// "until three … after 2:00": an hour without minutes stays a word if another hour of its passage stays a word.
    fn bare_hours(&self, units: &mut Vec<Unit>) {
        let bare = |word: usize| word > 0 && self.says("BARE-HOUR", word - 1, word + 1);
        // The number is no hour, because a quantity follows: "after two days".
        let alone = |word: usize| word + 1 >= self.words.len() || self.ends[word] || !self.says("MEASURE", word, word + 2);
        if !units.iter().any(|u| matches!(u, Unit::Spoken(word) if bare(*word) && alone(*word))) {
            return;
        }
        // "two o'clock" stays as well: 2:00 beside "until three" would be two ways to write the same.
        for at in (0..units.len()).rev() {
            if let Unit::Entity { class, text, words: [from, to], .. } = &units[at]
                && class == "time"
                && text.ends_with(":00")
                && !text.contains(' ')
            {
                let (from, to) = (*from, *to);
                units.splice(at..=at, (from..to).map(Unit::Spoken));
            }
        }
    }
}

fn is_spoken(unit: &Unit) -> bool {
    matches!(unit, Unit::Spoken(_))
}

fn entity(class: &str, words: [usize; 2], written: Written) -> Unit {
    Unit::Entity { class: class.to_lowercase(), words, text: written.text, tokens: written.tokens, by: Author::Grammar }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, LazyLock};

    use proptest::prelude::*;

    use super::super::style::Style;
    use super::super::units::{Spans, sentence, units};
    use super::*;
    use crate::tags::ItnClass;

    static STYLE: LazyLock<Style> = LazyLock::new(|| {
        let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/grammars/en"));
        Style::of(Arc::new(Itn::load(dir, "en-US").unwrap_or_else(|e| panic!("{e}")).with_sentences()))
    });

    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    const SCALES: [&str; 7] = ["", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"];

    /// How a number below a thousand is said.
    fn below_thousand(n: u64) -> String {
        let rest = match n % 100 {
            0 => String::new(),
            r @ 1..20 => ONES[r as usize].to_string(),
            r if r % 10 == 0 => TENS[r as usize / 10].to_string(),
            r => format!("{} {}", TENS[r as usize / 10], ONES[r as usize % 10]),
        };
        match (n / 100, rest.as_str()) {
            (0, rest) => rest.to_string(),
            (h, "") => format!("{} hundred", ONES[h as usize]),
            (h, rest) => format!("{} hundred {rest}", ONES[h as usize]),
        }
    }

    /// How a number is said: written for the test alone, so that the grammars are held to something else than themselves.
    fn said(n: u64) -> String {
        let groups: Vec<String> = (0..7u32)
            .rev()
            .map(|power| (power, n / 1000u64.pow(power) % 1000))
            .filter(|(_, group)| *group > 0)
            .map(|(power, group)| format!("{} {}", below_thousand(group), SCALES[power as usize]).trim().to_string())
            .collect();
        if groups.is_empty() { "zero".into() } else { groups.join(" ") }
    }

    fn grouped(n: u64) -> String {
        let digits = n.to_string();
        let mut out = String::new();
        for (i, c) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                out.push(',');
            }
            out.push(c);
        }
        out
    }

    fn digits(text: &str) -> String {
        text.split("").filter(|c| !c.is_empty()).map(|c| ONES[c.parse::<usize>().unwrap()]).collect::<Vec<_>>().join(" ")
    }

    /// What is said between words that no grammar writes, and what must stand between them.
    fn phrase() -> impl Strategy<Value = (String, String)> {
        let wide = (1u32..19).prop_flat_map(|power| 10u64.pow(power)..10u64.pow(power).saturating_mul(10).min(u64::MAX / 2));
        let number = wide.prop_filter("said as a scale", |n| !n.is_multiple_of(1_000_000));
        prop_oneof![
            number.clone().prop_map(|n| (said(n), grouped(n))),
            (10u64..1000, prop::sample::select(&["million", "billion", "trillion", "quadrillion", "quintillion"][..]))
                .prop_map(|(n, scale)| (format!("{} {scale}", said(n)), format!("{n} {scale}"))),
            (10u64..10_000, 1u64..1000, prop::sample::select(&["thousand", "million", "billion"][..])).prop_map(
                |(n, d, scale)| {
                    (format!("{} point {} {scale}", said(n), digits(&d.to_string())), format!("{}.{d} {scale}", grouped(n)))
                }
            ),
            (0u64..1000).prop_map(|n| (format!("{} percent", said(n)), format!("{n}%"))),
            (0u64..1000, 1u64..100)
                .prop_map(|(n, d)| { (format!("{} point {} percent", said(n), digits(&d.to_string())), format!("{n}.{d}%")) }),
            (2u64..1_000_000, 1u64..100)
                .prop_map(|(n, c)| { (format!("{} dollars and {} cents", said(n), said(c)), format!("${}.{c:02}", grouped(n))) }),
            (1u64..1_000_000)
                .prop_filter("a lone digit stays", |n| *n > 9)
                .prop_map(|n| { (format!("{} kilograms", said(n)), format!("{} kg", grouped(n))) }),
            (1u64..13, 10u64..60, prop::sample::select(&[("a m", "AM"), ("p m", "PM")][..]))
                .prop_map(|(h, m, half)| (format!("{} {} {}", said(h), said(m), half.0), format!("{h}:{m:02} {}", half.1))),
            (0u64..256, 0u64..256, 0u64..256, 0u64..256).prop_map(|(a, b, c, d)| {
                (format!("{} dot {} dot {} dot {}", said(a), said(b), said(c), said(d)), format!("{a}.{b}.{c}.{d}"))
            }),
            "[2-9][0-9]{2}555[0-9]{4}".prop_map(|n| (digits(&n), format!("{}-{}-{}", &n[..3], &n[3..6], &n[6..]))),
            (1u64..29, prop::sample::select(&[("march", "March"), ("october", "October")][..]), 10u64..100)
                .prop_filter("zero-zero is said otherwise", |(_, _, y)| *y != 20)
                .prop_map(|(d, month, y)| (
                    format!("{} {} nineteen {}", month.0, said(d), said(y)),
                    format!("{} {d}, 19{y}", month.1)
                )),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn what_is_said_is_written_with_its_own_digits_and_its_neighbours_stay_whole((said, written) in phrase()) {
            let line = format!("blimey gadzooks {said} crikey forsooth");
            let (text, units) = sentence(&line.split(' ').collect::<Vec<_>>(), &STYLE);
            prop_assert_eq!(text, format!("blimey gadzooks {written} crikey forsooth"));
            prop_assert_eq!(units.len(), 5);
        }

        #[test]
        fn nothing_written_leaves_half_a_number_beside_it(
            words in prop::collection::vec(prop::sample::select(&[
                "one", "two", "five", "nine", "twelve", "twenty", "fifty", "hundred", "thousand", "million", "and", "oh", "point", "dollars",
                "percent", "to", "march", "fifth", "p", "m", "dot", "blimey", "at", "a", "half", "kilometers",
            ][..]), 1..12),
            tags in prop::collection::vec((0usize..2 * ItnClass::ALL.len(), 1usize..4), 12),
            tagged in any::<bool>(),
        ) {
            let spans: Vec<([usize; 2], ItnClass)> = tags.iter().scan(0, |at, &(class, count)| {
                let from = *at;
                *at += count;
                Some(([from, *at], class))
            }).filter(|(span, class)| span[1] <= words.len() && *class < ItnClass::ALL.len()).map(|(span, class)| (span, ItnClass::ALL[class])).collect();
            let ends = vec![false; words.len()];
            let spans = if tagged { Spans::Tagged { spans: &spans, chosen: &[], ends: &ends } } else { Spans::Found };
            let made = units(&words, &ends, spans, &STYLE);
            let text = WholeNumbers { words: &words, ends: &ends, itn: &STYLE.itn, numbers: STYLE.numbers, allowed: &|_| true };
            for pair in made.windows(2) {
                let half = matches!(pair, [Unit::Spoken(_), Unit::Entity { .. }] | [Unit::Entity { .. }, Unit::Spoken(_)]);
                prop_assert!(!(half && text.joined(pair[0].words()[1] - 1)), "{words:?}: {made:?}");
            }
        }
    }

    #[test]
    fn a_span_that_ends_inside_a_number_grows_or_stays_as_spoken() {
        use ItnClass::{Cardinal, Percent, Time, Year};
        for (line, spans, want) in [
            ("thirty five percent of it", &[([0, 1], Cardinal), ([1, 3], Percent)][..], "35% of it"),
            ("thirty five percent of it", &[([0, 1], Cardinal)], "35% of it"),
            ("it takes three to five days", &[([2, 3], Cardinal)], "it takes 3 to 5 days"),
            ("it takes three to five days", &[([4, 6], Cardinal)], "it takes 3 to 5 days"),
            ("it takes three to five days", &[], "it takes three to five days"),
            ("nine to eleven people", &[([2, 3], Cardinal)], "9 to 11 people"),
            (
                "i'm at work until three and call me after two",
                &[([9, 10], Time)],
                "i'm at work until three and call me after two",
            ),
            ("until three or after two o'clock", &[([4, 6], Time)], "until three or after two o'clock"),
            ("call me after two", &[([3, 4], Time)], "call me after 2:00"),
            ("in twenty nineteen five people", &[([1, 3], Year)], "in 2019 five people"),
            ("twelve hundred and six", &[([0, 2], Cardinal)], "1,200 and six"),
            ("a six hundred nano meter laser", &[([1, 4], Cardinal)], "a 600 nm laser"),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let ends = vec![false; words.len()];
            let made = units(&words, &ends, Spans::Tagged { spans, chosen: &[], ends: &ends }, &STYLE);
            let texts: Vec<&str> = made
                .iter()
                .map(|unit| match unit {
                    Unit::Spoken(word) => words[*word],
                    Unit::Entity { text, .. } | Unit::Entry { text, .. } => text,
                })
                .collect();
            assert_eq!(texts.join(" "), want, "{line} {spans:?}");
        }
    }
}
