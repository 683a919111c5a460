"""Spoken forms of written numbers, for training text that writes digits.

A reading is sampled where people say a thing in several ways ("twenty twenty", "two thousand twenty").
Each entity comes back as (class, spoken words); what no rule reads gives ``None`` and its line is dropped.
"""

from __future__ import annotations

import random
import re

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = [(10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (10**3, "thousand")]
ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}
MONTHS = (
    "january february march april may june july august september october november december"
).split()
CURRENCIES = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent")}


def cardinal(n: int, rng: random.Random) -> list[str]:
    """Words of 0 <= n < 10^15. "and" after hundred is said now and then; so is "a" for a leading one."""
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10]] + ([ONES[n % 10]] if n % 10 else [])
    if n < 1000:
        head = ["a"] if n < 200 and rng.random() < 0.15 else [ONES[n // 100]]
        rest = n % 100
        if not rest:
            return head + ["hundred"]
        joint = ["and"] if rng.random() < 0.2 else []
        return head + ["hundred"] + joint + cardinal(rest, rng)
    for value, name in SCALES:
        if n >= value:
            rest = n % value
            return cardinal(n // value, rng) + [name] + (cardinal(rest, rng) if rest else [])
    raise ValueError(f"{n} is beyond 10^15")


def ordinal(n: int, rng: random.Random) -> list[str]:
    words = cardinal(n, rng)
    last = words[-1]
    if last in ORDINALS:
        words[-1] = ORDINALS[last]
    elif last.endswith("y"):
        words[-1] = last[:-1] + "ieth"
    else:
        words[-1] = last + "th"
    return words


def digits(text: str, rng: random.Random) -> list[str]:
    """Digit by digit; zero is "oh" in two readings of three, throughout the reading."""
    zero = "oh" if rng.random() < 0.67 else "zero"
    return [zero if d == "0" else ONES[int(d)] for d in text if d.isdigit()]


def year(n: int, rng: random.Random) -> list[str]:
    high, low = divmod(n, 100)
    if 2000 <= n < 2010:
        return ["two", "thousand"] + ((["and"] if rng.random() < 0.2 else []) + [ONES[low]] if low else [])
    if 2010 <= n < 2100 and rng.random() < 0.15:
        return ["two", "thousand"] + (["and"] if rng.random() < 0.3 else []) + cardinal(low, rng)
    if low == 0:
        return cardinal(high, rng) + ["hundred"]
    if low < 10:
        return cardinal(high, rng) + ["oh", ONES[low]]
    return cardinal(high, rng) + cardinal(low, rng)


def decimal(text: str, rng: random.Random) -> list[str]:
    whole, _, fraction = text.replace(",", "").partition(".")
    words = cardinal(int(whole), rng) if whole else []
    if fraction:
        words = words + ["point"] + ["oh" if d == "0" and rng.random() < 0.5 else ONES[int(d)] for d in fraction]
    return words


def clock(hour: int, minute: int, half: str, rng: random.Random) -> list[str]:
    words = cardinal(hour, rng)
    if minute == 0:
        if not half:
            words = words + ["o'clock"]
    elif minute < 10:
        words = words + ["oh", ONES[minute]]
    else:
        words = words + cardinal(minute, rng)
    if half:
        words = words + ([half + "m"] if rng.random() < 0.4 else [half, "m"])
    return words


def money(symbol: str, amount: str, scale: str, rng: random.Random) -> list[str]:
    major, minor = CURRENCIES[symbol]
    whole, _, fraction = amount.replace(",", "").partition(".")
    if scale:
        return decimal(amount, rng) + [scale, major + "s"]
    words = cardinal(int(whole), rng) + [major if int(whole) == 1 else major + "s"]
    cents = int(fraction) if len(fraction) == 2 else 0
    if not cents:
        return words
    if rng.random() < 0.4:  # "twelve dollars fifty"
        return words + (cardinal(cents, rng) if cents > 9 else ["oh", ONES[cents]])
    plural = {"penny": "pence"}.get(minor, minor + "s")
    return words + (["and"] if rng.random() < 0.7 else []) + cardinal(cents, rng) + [minor if cents == 1 else plural]


def phone(text: str, rng: random.Random) -> list[str]:
    groups = [g for g in re.split(r"\D+", text) if g]
    words: list[str] = []
    for group in groups:
        if group == "800" and rng.random() < 0.6:
            words += ["eight", "hundred"]
        elif len(group) == 4 and group[0] != "0" and group[2] != "0" and rng.random() < 0.2:
            words += cardinal(int(group[:2]), rng) + cardinal(int(group[2:]), rng)
        else:
            words += digits(group, rng)
    return words


_RULES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"^\+?1?[-.(]?\(?\d{3}\)?[-.]\d{3}[-.]\d{4}$"), "PHONE"),
    (re.compile(r"^(\d{1,2}):(\d{2})$"), "TIME"),
    (re.compile(r"^([$£€])(\d[\d,]*(?:\.\d+)?)$"), "MONEY"),
    (re.compile(r"^(\d[\d,]*(?:\.\d+)?)%$"), "PERCENT"),
    (re.compile(r"^(\d+)(st|nd|rd|th)$"), "ORDINAL"),
    (re.compile(r"^(1[5-9]|20)\d\d$"), "YEAR"),
    (re.compile(r"^(1[5-9]|20)\d0s$"), "DECADE"),
    (re.compile(r"^\d{1,3}(,\d{3})+$|^\d{1,4}$|^\d*\.\d+$"), "CARDINAL"),
]


def read_token(token: str, rng: random.Random) -> tuple[str, list[str]] | None:
    """(class, spoken words) of one written token with digits, or ``None`` where no rule reads it."""
    for pattern, kind in _RULES:
        m = pattern.match(token)
        if not m:
            continue
        if kind == "PHONE":
            return kind, phone(token, rng)
        if kind == "TIME":
            hour, minute = int(m[1]), int(m[2])
            return (kind, clock(hour, minute, "", rng)) if hour < 24 and minute < 60 else None
        if kind == "MONEY":
            return kind, money(m[1], m[2], "", rng)
        if kind == "PERCENT":
            return kind, decimal(m[1], rng) + ["percent"]
        if kind == "ORDINAL":
            n = int(m[1])
            return (kind, ordinal(n, rng)) if 0 < n < 10**6 else None
        if kind == "YEAR":
            return kind, year(int(token), rng)
        if kind == "DECADE":
            words = year(int(token[:4]), rng)
            if words[-1].endswith("y"):
                words[-1] = words[-1][:-1] + "ies"
                return "YEAR", words
            return None
        return kind, decimal(token, rng)
    return None
