"""The tag set of the joint tagger: one table, read by training, export and the Rust service.

Four heads tag every word (Four-in-One, arXiv 2210.15063, section 3.1, with the disfluency types of design
vocabulary): a punctuation mark after the word, its case, its ITN span in BIO notation, its disfluency type.
The exported ``labels.json`` is this table; the service refuses a model whose file differs in shape.
"""

from __future__ import annotations

PUNCT = ["O", "COMMA", "PERIOD", "QUESTION"]
CASE = ["LOWER", "CAP", "UPPER", "MIXED"]
ITN_CLASSES = [
    "CARDINAL",
    "ORDINAL",
    "PERCENT",
    "MONEY",
    "YEAR",
    "DATE",
    "TIME",
    "PHONE",
    "ALPHANUMERIC",
    "RANGE",
    "WEBSITE",
    "EMAIL",
]
ITN = ["O"] + [f"{prefix}-{name}" for name in ITN_CLASSES for prefix in ("B", "I")]
DISFLUENCY = ["O", "F", "E", "D", "REP", "RM"]

HEADS = {"punct": PUNCT, "case": CASE, "itn": ITN, "disfluency": DISFLUENCY}
"""Head name to labels, in the order their logits stand in the model's output."""

IGNORE = -100
"""A word this head takes no loss on."""
ANY_B, ANY_I = 100, 101
"""An ITN span whose class the source does not know: it supervises boundaries only."""

# Marks as sources write them, folded onto the four we predict.
FOLD = {
    "": "O", ",": "COMMA", ":": "COMMA", "-": "COMMA", "—": "COMMA", "–": "COMMA",
    ".": "PERIOD", "!": "PERIOD", ";": "PERIOD", "…": "PERIOD", "?": "QUESTION",
}


def punct_id(marks: str) -> int:
    """The label of written marks, the strongest of them where there are several (``?…``, ``.,``).

    ``ValueError`` names a mark the table does not hold.
    """
    for mark in marks:
        if mark not in FOLD:
            raise ValueError(f"unknown mark {mark!r}: expected one of {sorted(FOLD)}; add it to labels.FOLD")
    return max((PUNCT.index(FOLD[m]) for m in marks), default=0)


def case_of(written: str) -> str:
    """LOWER, CAP, UPPER or MIXED, from the letters of a written word. A lone capital counts as CAP."""
    letters = [c for c in written if c.isalpha()]
    if not letters or all(c.islower() for c in letters):
        return "LOWER"
    if letters[0].isupper() and all(c.islower() for c in letters[1:]):
        return "CAP"
    if all(c.isupper() for c in letters):
        return "UPPER"
    # Possessives and contractions of acronyms and names: NASA's, Where's.
    stem = written.split("'")[0]
    if stem != written and stem:
        return case_of(stem)
    return "MIXED"
