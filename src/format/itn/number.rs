//! Numbers: integers to 10^15, decimals, ordinals, years. Grouped by commas from 1,000 on, as English writes them.

use super::builder::{Grammar, Kit, any, at_cost, many, opt, rows, seq};

const DIGITS: &str = include_str!("../../../grammars/en/digits.tsv");
const ZERO: &str = include_str!("../../../grammars/en/zero.tsv");
const TEENS: &str = include_str!("../../../grammars/en/teens.tsv");
const TENS: &str = include_str!("../../../grammars/en/tens.tsv");
const SCALES: &str = include_str!("../../../grammars/en/scales.tsv");
const ORDINALS: &str = include_str!("../../../grammars/en/ordinals.tsv");
const DECADES: &str = include_str!("../../../grammars/en/decades.tsv");

/// Parts that other grammars are made of.
pub struct Numbers {
    /// 1 to 9
    pub digit: Grammar,
    /// 0
    pub zero: Grammar,
    /// 10 to 99
    pub two: Grammar,
    /// 01 to 99, two digits wide
    pub two_wide: Grammar,
    /// 0 to 10^15 − 1, also "twelve hundred" and "one eighty"
    pub integer: Grammar,
    /// "two point five"
    pub decimal: Grammar,
    /// "two point five million": the scale stays a word
    pub scaled: Grammar,
    /// "two oh five"
    pub digits: Grammar,
    /// first to the billionths
    pub ordinal: Grammar,
    /// ordinals from first to ninety ninth, with suffix
    pub small_ordinal: Grammar,
    /// "nineteen ninety four", "two thousand nineteen", "the nineties"
    pub year: Grammar,
}

impl Numbers {
    /// Builds them from the tables.
    pub fn new(kit: &mut Kit) -> Numbers {
        let and = {
            let word = kit.say("and", "");
            opt(&word)
        };
        let put = |kit: &mut Kit, text: &str| kit.say("", text);
        let (digit, zero, teen) = (kit.table(DIGITS), kit.table(ZERO), kit.table(TEENS));
        let (zeros, zero_pad, comma) = (put(kit, "0"), put(kit, "0"), put(kit, ","));
        let (two_zeros, three_zeros) = (put(kit, "00"), put(kit, "000"));
        let ten = kit.table(TENS);
        let two = any(&[&teen, &seq(&[&ten, &zeros]), &seq(&[&ten, &digit])]);
        let two_wide = any(&[&two, &seq(&[&zero_pad, &digit])]);
        let oh_digit = {
            let oh = any(&[&kit.say("oh", "0"), &kit.say("o", "0")]);
            seq(&[&oh, &digit])
        };

        // Up to 999: `group` as wide as said, `group_wide` three digits wide.
        let hundred = kit.say("hundred", "");
        let after_hundred = any(&[&seq(&[&and, &two_wide]), &two_zeros]);
        let one = any(&[&digit, &kit.say("a", "1"), &kit.say_at("", "1", 0.1)]);
        let hundreds = seq(&[&one, &hundred, &after_hundred]);
        let group = any(&[&hundreds, &two, &digit]);
        let group_wide = any(&[&hundreds, &seq(&[&zero_pad, &two]), &seq(&[&two_zeros, &digit])]);

        let tail = any(&[&seq(&[&comma, &and, &group_wide]), &seq(&[&comma, &three_zeros])]);
        let scale = |kit: &mut Kit, name: &str, lead: &Grammar, rest: &Grammar| {
            let said = kit.say(name, "");
            seq(&[lead, &said, rest])
        };
        let lead = any(&[&group, &kit.say("a", "1")]);
        let mut integers = vec![group.clone(), at_cost(&zero, 0.0)];
        let mut rest = tail;
        for name in ["thousand", "million", "billion", "trillion"] {
            integers.push(scale(kit, name, &lead, &rest));
            let inner = scale(kit, name, &seq(&[&comma, &group_wide]), &rest);
            rest = any(&[&inner, &seq(&[&comma, &three_zeros, &rest])]);
        }
        // "twelve hundred": the comma stands inside what is said first.
        let mut teens_of_hundreds = Vec::new();
        for (spoken, written) in rows(TEENS).filter(|(_, n)| *n != "10") {
            teens_of_hundreds.push((spoken.to_string(), written.to_string()));
        }
        for (tens, t) in rows(TENS) {
            for (digit, d) in rows(DIGITS) {
                teens_of_hundreds.push((format!("{tens} {digit}"), format!("{t}{d}")));
            }
        }
        let leads: Vec<Grammar> =
            teens_of_hundreds.iter().map(|(spoken, n)| kit.say(spoken, &format!("{},{}", &n[..1], &n[1..]))).collect();
        let lead = any(&leads.iter().collect::<Vec<_>>());
        integers.push(seq(&[&lead, &hundred, &after_hundred]));
        // "one eighty", "one oh five": as people say prices, rooms and basis points.
        integers.push(at_cost(&seq(&[&digit, &any(&[&two, &oh_digit])]), 1.0));
        let integer = any(&integers.iter().collect::<Vec<_>>());

        let point = kit.say("point", ".");
        let bare_point = kit.say("point", "0.");
        let place = any(&[&digit, &zero, &at_cost(&two, 0.5)]);
        let places = many(&place);
        let decimal = any(&[&seq(&[&integer, &point, &places]), &seq(&[&bare_point, &places])]);
        let scale_word = kit.table_with(SCALES, |name| format!(" {name}"));
        let amount = any(&[&decimal, &group, &kit.say("a", "1")]);
        let scaled = seq(&[&amount, &scale_word]);
        let figure = any(&[&digit, &zero]);
        let digits = seq(&[&figure, &many(&figure)]);

        let small_ordinal = kit.table(ORDINALS);
        let wide_ordinal = kit.table_with(ORDINALS, |n| if n.len() == 3 { format!("0{n}") } else { n.to_string() });
        let hundredth = kit.say("hundredth", "00th");
        let ordinal = any(&[
            &small_ordinal,
            &seq(&[&one, &hundred, &and, &wide_ordinal]),
            &seq(&[&one, &hundredth]),
            &seq(&[&group, &kit.say("thousandth", ",000th")]),
            &seq(&[&digit, &kit.say("millionth", ",000,000th")]),
        ]);

        let century = kit.say("hundred", "00");
        let thousand = kit.say("thousand", "");
        let decade = {
            let name = kit.table(DECADES);
            let s = put(kit, "0s");
            seq(&[&name, &s])
        };
        let year = any(&[
            &seq(&[&two, &any(&[&two, &oh_digit])]),
            &seq(&[&two, &century]),
            &seq(&[&digit, &thousand, &any(&[&seq(&[&zero_pad, &and, &two_wide]), &three_zeros])]),
            &seq(&[&two, &decade]),
            &seq(&[&digit, &thousand, &three_zeros, &kit.say("s", "s")]),
            &decade,
            &at_cost(&seq(&[&figure, &figure, &figure, &figure]), 0.5),
        ]);
        Numbers { digit, zero, two, two_wide, integer, decimal, scaled, digits, ordinal, small_ordinal, year }
    }
}
