//! Entities made of numbers: money, dates, times, telephone numbers and the rest.

use super::builder::{Grammar, Kit, any, at_cost, many, opt, rows, seq};
use super::number::Numbers;

const MONTHS: &str = include_str!("../../../grammars/en/months.tsv");
const CURRENCIES: &str = include_str!("../../../grammars/en/currencies.tsv");
const HALVES: &str = include_str!("../../../grammars/en/halves.tsv");
const TEENS: &str = include_str!("../../../grammars/en/teens.tsv");
const DIGITS: &str = include_str!("../../../grammars/en/digits.tsv");
const ORDINALS: &str = include_str!("../../../grammars/en/ordinals.tsv");

/// "42", "2.5 million", "two oh five", "minus three"
pub fn cardinal(kit: &mut Kit, n: &Numbers) -> Grammar {
    let sign = any(&[&kit.say("minus", "-"), &kit.say("negative", "-")]);
    let plain = any(&[
        &n.decimal,
        &n.scaled,
        // "two million" is 2 million; only what cannot be said so is written out.
        &at_cost(&n.integer, 0.3),
        &at_cost(&n.digits, 0.5),
        &at_cost(&seq(&[&n.two, &n.two]), 2.0),
    ]);
    seq(&[&opt(&sign), &plain])
}

/// "42%"
pub fn percent(kit: &mut Kit, n: &Numbers) -> Grammar {
    let sign = any(&[&kit.say("percent", "%"), &kit.say("per cent", "%")]);
    let minus = any(&[&kit.say("minus", "-"), &kit.say("negative", "-")]);
    let number = any(&[&n.decimal, &n.integer, &at_cost(&n.digits, 0.5)]);
    seq(&[&opt(&minus), &number, &sign])
}

/// "4-5", also of percentages
pub fn range(kit: &mut Kit, n: &Numbers) -> Grammar {
    let number = any(&[&n.decimal, &n.integer, &n.year]);
    let to = kit.say("to", "-");
    let unit = any(&[&kit.say("percent", "%"), &kit.say("per cent", "%")]);
    seq(&[&number, &to, &number, &opt(&unit)])
}

/// "$12.50", "$1.2 million", "£5"; "twelve fifty" without a unit is dollars.
pub fn money(kit: &mut Kit, n: &Numbers) -> Grammar {
    let dot = kit.say("", ".");
    let zero_dot = kit.say("", "0.");
    let and = {
        let word = kit.say("and", "");
        opt(&word)
    };
    let oh = any(&[&kit.say("oh", "0"), &kit.say("o", "0")]);
    let minor_amount = any(&[&n.two_wide, &seq(&[&oh, &n.digit])]);
    let minor_unit = any(&["cent", "cents", "penny", "pence", "p"].map(|w| kit.say(w, "")).iter().collect::<Vec<_>>());
    let minor = seq(&[&dot, &and, &minor_amount, &opt(&minor_unit)]);
    let one = any(&[&kit.say("a", "1"), &kit.say("an", "1")]);
    let amount = any(&[&n.decimal, &n.scaled, &at_cost(&n.integer, 0.3), &one]);
    let mut signs: Vec<&str> = rows(CURRENCIES).map(|(_, sign)| sign).collect();
    signs.dedup();
    let mut kinds = Vec::new();
    for sign in signs {
        let names: Vec<Grammar> = rows(CURRENCIES).filter(|(_, s)| *s == sign).map(|(name, _)| kit.say(name, "")).collect();
        let unit = any(&names.iter().collect::<Vec<_>>());
        let sign = kit.say("", sign);
        kinds.push(seq(&[&sign, &amount, &unit, &opt(&minor)]));
    }
    let dollar = kit.say("", "$");
    let cents = any(&[&kit.say("cent", ""), &kit.say("cents", "")]);
    kinds.push(seq(&[&dollar, &zero_dot, &n.two_wide, &cents]));
    kinds.push(at_cost(&seq(&[&dollar, &n.integer, &dot, &any(&[&n.two, &seq(&[&oh, &n.digit])])]), 1.5));
    any(&kinds.iter().collect::<Vec<_>>())
}

/// "March 5, 2019", "5th of March", "April 2020"
pub fn date(kit: &mut Kit, n: &Numbers) -> Grammar {
    let month = kit.table(MONTHS);
    let the = {
        let word = kit.say("the", "");
        opt(&word)
    };
    let (space, comma) = (kit.say("", " "), kit.say("", ", "));
    let mut days = Vec::new();
    for (spoken, written) in rows(ORDINALS) {
        let day = written.trim_end_matches(|c: char| c.is_alphabetic());
        if day.parse::<u32>().is_ok_and(|d| d <= 31) {
            days.push(kit.say(spoken, day));
        }
    }
    for (spoken, written) in rows(DIGITS).chain(rows(TEENS)) {
        days.push(kit.say(spoken, written));
    }
    for (tens, t, last) in [("twenty", "2", 9), ("thirty", "3", 1)] {
        days.push(kit.say(tens, &format!("{t}0")));
        for (spoken, digit) in rows(DIGITS).take(last) {
            days.push(kit.say(&format!("{tens} {spoken}"), &format!("{t}{digit}")));
        }
    }
    let day = any(&days.iter().collect::<Vec<_>>());
    let of = kit.say("of", " of ");
    let year = seq(&[&comma, &n.year]);
    let bare_year = seq(&[&space, &n.year]);
    any(&[
        &seq(&[&month, &space, &the, &day, &opt(&year)]),
        &at_cost(&seq(&[&month, &bare_year]), 0.2),
        &seq(&[&the, &n.small_ordinal, &of, &month, &opt(&bare_year)]),
        &at_cost(&seq(&[&the, &n.small_ordinal, &space, &month, &opt(&bare_year)]), 0.1),
    ])
}

/// "4:30 PM", "16:45", "quarter to five"
pub fn time(kit: &mut Kit, n: &Numbers) -> Grammar {
    let half = kit.table_with(HALVES, |name| format!(" {name}"));
    let half = opt(&half);
    let (colon, hour_end) = (kit.say("", ":"), kit.say("", ":00"));
    let clock = any(&[&kit.say("o'clock", ""), &kit.say("oclock", "")]);
    let oh = any(&[&kit.say("oh", "0"), &kit.say("o", "0"), &kit.say("zero", "0")]);
    let mut hours: Vec<(String, u32)> =
        rows(DIGITS).chain(rows(TEENS)).map(|(spoken, h)| (spoken.to_string(), h.parse().expect("a number"))).collect();
    hours.push(("twenty".into(), 20));
    for (spoken, digit) in rows(DIGITS).take(3) {
        hours.push((format!("twenty {spoken}"), 20 + digit.parse::<u32>().expect("a number")));
    }
    let all = |kit: &mut Kit, written: &dyn Fn(u32) -> String| {
        let said: Vec<Grammar> = hours.iter().map(|(spoken, h)| kit.say(spoken, &written(*h))).collect();
        any(&said.iter().collect::<Vec<_>>())
    };
    let hour = all(kit, &|h| h.to_string());
    // Minutes: ten to fifty nine, or "oh five".
    let minute = any(&[&n.two, &seq(&[&oh, &n.digit])]);
    let exact = seq(&[&hour, &hour_end, &opt(&clock), &half]);
    let mut kinds = vec![seq(&[&hour, &colon, &minute, &half]), exact];
    for (words, minutes, before) in
        [("half past", "30", false), ("quarter past", "15", false), ("quarter after", "15", false), ("quarter to", "45", true)]
    {
        let lead = any(&[&kit.say(words, ""), &kit.say(&format!("a {words}"), "")]);
        let hour = all(kit, &|h| {
            format!(
                "{}:{minutes}",
                if !before {
                    h
                } else if h == 1 {
                    12
                } else {
                    h - 1
                }
            )
        });
        kinds.push(seq(&[&lead, &hour, &half]));
    }
    any(&kinds.iter().collect::<Vec<_>>())
}

fn figure(kit: &mut Kit, n: &Numbers, zero: &Grammar) -> Grammar {
    let mut kinds = vec![n.digit.clone(), zero.clone(), at_cost(&n.two, 0.1), kit.say_at("hundred", "00", 0.1)];
    for (word, times) in [("double", 2), ("triple", 3)] {
        for (spoken, digit) in rows(DIGITS).chain([("zero", "0"), ("oh", "0")]) {
            kinds.push(kit.say(&format!("{word} {spoken}"), &digit.repeat(times)));
        }
    }
    any(&kinds.iter().collect::<Vec<_>>())
}

/// Digits as said; [`group_phone`] groups them.
pub fn phone(kit: &mut Kit, n: &Numbers) -> Grammar {
    let joint = any(&[&kit.say("dash", "-"), &kit.say("plus", "+"), &kit.say("hyphen", "-")]);
    let figure = figure(kit, n, &n.zero);
    many(&any(&[&figure, &joint]))
}

/// North American numbers get their dashes; digits in any other number stay together.
pub fn group_phone(digits: String) -> String {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits;
    }
    let d = &digits;
    match d.len() {
        7 => format!("{}-{}", &d[..3], &d[3..]),
        10 => format!("{}-{}-{}", &d[..3], &d[3..6], &d[6..]),
        11 if d.starts_with('1') => format!("1-{}-{}-{}", &d[1..4], &d[4..7], &d[7..]),
        _ => digits,
    }
}

/// "Q4", "AB1234", "10-K"
pub fn alphanumeric(kit: &mut Kit, n: &Numbers) -> Grammar {
    // Among letters "o" is one of them; a zero is said "oh" or "zero".
    let zero = any(&[&kit.say("zero", "0"), &kit.say("oh", "0")]);
    let mut kinds = vec![figure(kit, n, &zero), kit.say("dash", "-"), kit.say("hyphen", "-"), kit.say("covid", "COVID-")];
    for letter in 'a'..='z' {
        kinds.push(kit.say(&letter.to_string(), &letter.to_uppercase().to_string()));
    }
    many(&any(&kinds.iter().collect::<Vec<_>>()))
}

/// "example.com/help"; words run together. Built last: it may use every word the others name.
pub fn website(kit: &mut Kit, n: &Numbers) -> Grammar {
    let dot = any(&[&kit.say("dot", "."), &kit.say("point", ".")]);
    let name = many(&name_part(kit, n));
    let slash = kit.say("slash", "/");
    let path = seq(&[&slash, &name]);
    seq(&[&name, &many(&seq(&[&dot, &name])), &opt(&many(&path))])
}

/// "sam.lee@example.com"
pub fn email(kit: &mut Kit, n: &Numbers) -> Grammar {
    let dot = any(&[&kit.say("dot", "."), &kit.say("point", ".")]);
    let at = kit.say("at", "@");
    let name = many(&name_part(kit, n));
    let dotted = seq(&[&name, &opt(&many(&seq(&[&dot, &name])))]);
    let host = seq(&[&name, &many(&seq(&[&dot, &name]))]);
    seq(&[&dotted, &at, &host])
}

fn name_part(kit: &mut Kit, n: &Numbers) -> Grammar {
    let joints = any(&[&kit.say("dash", "-"), &kit.say("hyphen", "-"), &kit.say("underscore", "_")]);
    let numbers = any(&[&n.digit, &n.two, &n.zero]);
    any(&[&joints, &at_cost(&numbers, 0.5), &kit.other(), &kit.named(2.0)])
}
