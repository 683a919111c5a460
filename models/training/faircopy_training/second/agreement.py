"""A second reading of a pair, which shares nothing with the grammars: the digits and letters that words name, in order, against those that are written."""

from __future__ import annotations

import re

UNITS = {w: str(i) for i, w in enumerate("zero one two three four five six seven eight nine".split())} | {"oh": "0", "o": "0", "nought": "0"}
TEENS = {w: i for i, w in enumerate("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 10)}
TENS = {w: i for i, w in zip(range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split())}
ORDINALS = {"first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine", "twelfth": "twelve"}
LARGE = {"hundred", "thousand", "million", "billion", "trillion"}

SIGNS = {"dot": ".", "point": ".", "at": "@", "slash": "/", "dash": "-", "hyphen": "-", "underscore": "_"}
"""Words for signs, in addresses."""


def singular(word: str) -> str:
    """A number word without the ending of an ordinal or a decade."""
    if word in ORDINALS:
        return ORDINALS[word]
    if word.endswith("ieth") or word.endswith("ies"):
        return re.sub(r"ie(th|s)$", "y", word)
    if word.endswith("th") and word[:-2] in (*UNITS, *TEENS, *LARGE):
        return word[:-2]
    return word


def named_digits(words: list[str]) -> str:
    """Digits other than 0 that number words name, in order: the nought of a ten or of a hundred depends on what follows, so none is counted."""
    out = []
    for word in map(singular, words):
        if word in UNITS:
            out.append(UNITS[word])
        elif word in TEENS:
            out.append(str(TEENS[word]))
        elif word in TENS:
            out.append(str(TENS[word] // 10))
    return "".join(out).replace("0", "")


def agrees(words: list[str], target: str) -> bool:
    """Whether the digits written are those named (noughts left out), where no word stands for digits in another way; and for text without digits,
    whether its letters are those of the words."""
    written = "".join(c for c in target if c.isdigit())
    if not written:
        letters = "".join(c for c in target.lower() if c.isalpha())
        named = "".join(word for word in words if not (word in SIGNS and any(c in target for c in SIGNS[word])))
        return letters == "".join(c for c in named.lower() if c.isalpha())
    if {"half", "quarter", "double", "triple", "past", "to", "till", "a", "dozen", "couple", "january", "march"} & set(words):
        return True
    return named_digits(words) == written.replace("0", "")
