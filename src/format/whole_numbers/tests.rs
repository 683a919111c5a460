//! Generated phrases of every class, tagged at random and not at all.

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

/// "Two thousand one" is a year rather than a number of things.
fn is_said_as_year(n: u64) -> bool {
    (2001..2100).contains(&n)
}

/// What is said between words that no grammar writes, and what must stand between them.
fn phrase() -> impl Strategy<Value = (String, String)> {
    let wide = (1u32..19).prop_flat_map(|power| 10u64.pow(power)..10u64.pow(power).saturating_mul(10).min(u64::MAX / 2));
    let number = wide.prop_filter("said as a scale or as a year", |n| !n.is_multiple_of(1_000_000) && !is_said_as_year(*n));
    prop_oneof![
        number.clone().prop_map(|n| (said(n), grouped(n))),
        (10u64..1000, prop::sample::select(&["million", "billion", "trillion", "quadrillion", "quintillion"][..]))
            .prop_map(|(n, scale)| (format!("{} {scale}", said(n)), format!("{n} {scale}"))),
        (10u64..10_000, 1u64..1000, prop::sample::select(&["thousand", "million", "billion"][..])).prop_map(|(n, d, scale)| {
            (format!("{} point {} {scale}", said(n), digits(&d.to_string())), format!("{}.{d} {scale}", grouped(n)))
        }),
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
        let spans = if tagged { Spans::Tagged { spans: &spans, chosen: &[], ends: &ends } } else { Spans::Found { ends: &[] } };
        let made = units(&words, &ends, spans, &STYLE);
        let text = WholeNumbers { words: &words, ends: &ends, itn: &STYLE.itn, numbers: STYLE.numbers, allowed: &|_| true };
        for pair in made.windows(2) {
            let half = matches!(pair, [Unit::Spoken(_), Unit::Entity { .. }] | [Unit::Entity { .. }, Unit::Spoken(_)]);
            prop_assert!(!(half && text.joined(pair[0].words()[1] - 1)), "{words:?}: {made:?}");
        }
    }
}

#[test]
fn every_number_below_ten_thousand_is_written_with_its_own_digits() {
    for n in 10..10_000 {
        let line = format!("blimey gadzooks {} crikey forsooth", said(n));
        let want = if is_said_as_year(n) { n.to_string() } else { grouped(n) };
        let (text, _) = sentence(&line.split(' ').collect::<Vec<_>>(), &STYLE);
        assert_eq!(text, format!("blimey gadzooks {want} crikey forsooth"));
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
        ("i'm at work until three and call me after two", &[([9, 10], Time)], "i'm at work until three and call me after two"),
        ("until three or after two o'clock", &[([4, 6], Time)], "until three or after two o'clock"),
        ("call me after two", &[([3, 4], Time)], "call me after 2:00"),
        ("in twenty nineteen five people", &[([1, 3], Year)], "in 2019 five people"),
        ("twelve hundred and six", &[([0, 2], Cardinal)], "1,206"),
        ("a six hundred nano meter laser", &[([1, 4], Cardinal)], "a 600 nm laser"),
        // Spans are proposals: words beside them say what they are.
        ("i can refund the nineteen fifty", &[([4, 6], Year)], "i can refund the $19.50"),
        ("he was born in nineteen fifty", &[([4, 6], Year)], "he was born in 1950"),
        ("it fell by five percent", &[([3, 4], Cardinal)], "it fell by 5%"),
        ("fifty pounds of flour", &[([0, 1], Cardinal)], "50 pounds of flour"),
        ("the q four results", &[([2, 3], Cardinal)], "the Q4 results"),
        ("it closed at two fifty", &[([3, 5], Cardinal)], "it closed at 250"),
        ("we close at two fifty", &[([3, 5], Time)], "we close at 2:50"),
        ("reserves by two fifty five million zloty", &[([2, 6], Cardinal)], "reserves by 255 million zloty"),
        ("reserves by two fifty five million zloty", &[([2, 4], Time)], "reserves by 255 million zloty"),
        (
            "the direct line is eight hundred five five five oh one double nine",
            &[([4, 13], Cardinal)],
            "the direct line is 800-555-0199",
        ),
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
