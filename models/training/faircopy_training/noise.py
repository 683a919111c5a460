"""Recogniser errors put into clean text (paper 003: data generation with reinforcement learning, section 3.2): words left out, taken for
others that sound alike, or said twice. On clean text only; text that a recogniser wrote has its own.

``python -m faircopy_training.noise --marks FILE --errors 0.1 --out FILE.tsv`` makes such a text for ``faircopy eval``.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import jellyfish
import numpy as np

from .labels import IGNORE, PUNCT

EACH = 0.05
"""Share of words that are left out, share confused, and share repeated, of a chunk that noise is put into."""
LEAST_COUNT = 30
"""Rarer words are nobody's confusion."""
MOST = 12
"""Confusions kept of a word."""
PERIOD, QUESTION, CAP, LOWER = 2, 3, 1, 0


def sound(word: str) -> str:
    return jellyfish.metaphone(word.replace("'", "")) or word


def confusions(counts: Counter) -> dict[str, list[str]]:
    """Words that sound like each word of ``counts``: the same Metaphone code, or one sound more or less."""
    common = [w for w, n in counts.most_common() if n >= LEAST_COUNT and w.replace("'", "").isalpha()]
    by_sound: dict[str, list[str]] = defaultdict(list)
    for word in common:
        code = sound(word)
        by_sound[code].append(word)
        for i in range(len(code) if len(code) > 1 else 0):
            by_sound[code[:i] + "_" + code[i + 1 :]].append(word)
    table = {}
    for word in common:
        code = sound(word)
        keys = [code] + [code[:i] + "_" + code[i + 1 :] for i in range(len(code) if len(code) > 1 else 0)]
        alike = list(dict.fromkeys(w for k in keys for w in by_sound[k][:MOST] if w != word))
        if alike:
            table[word] = alike[:MOST]
    return table


def corrupt(
    words: np.ndarray, labels: np.ndarray, alike: dict[int, np.ndarray], rng: np.random.Generator, each: float = EACH
) -> tuple[np.ndarray, np.ndarray]:
    """Word ids and labels [n, heads] with errors in. A word left out gives its mark to the one before it and its sentence's capital to
    the next; words of ITN spans stay, for a span whose words are not its own would teach the wrong thing."""
    out_words: list[int] = []
    out_labels: list[np.ndarray] = []
    capital = False
    for word, label in zip(words, labels):
        label = label.copy()
        if capital and label[1] == LOWER:
            label[1] = CAP
        capital = False
        draw = rng.random() if label[2] <= 0 else 1.0
        if draw < each and out_labels:
            before = out_labels[-1]
            starts = before[0] in (PERIOD, QUESTION)
            if before[0] == 0:
                before[0] = label[0]
            capital = starts and label[1] == CAP
            continue
        if draw < 2 * each and int(word) in alike:
            word = rng.choice(alike[int(word)])
        elif 2 * each <= draw < 3 * each:
            first = label.copy()
            first[0], first[3] = 0, IGNORE
            label[3] = IGNORE
            out_words.append(int(word))
            out_labels.append(first)
            if label[1] == CAP and (len(out_labels) < 2 or out_labels[-2][0] in (PERIOD, QUESTION)):
                label[1] = IGNORE
        out_words.append(int(word))
        out_labels.append(label)
    return np.array(out_words), np.array(out_labels)


def main() -> None:
    from .sources import from_marks

    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--marks", type=Path, required=True, help="word<TAB>mark lines, packed by gzip")
    a.add_argument("--last", type=int, default=10_000, help="take its last words")
    a.add_argument("--errors", type=float, default=0.1, help="share of words, a third of it of each kind")
    a.add_argument("--out", type=Path, required=True, help="word<TAB>mark lines")
    a.add_argument("--seed", type=int, default=3)
    args = a.parse_args()
    if not 0 <= args.errors <= 1:
        raise SystemExit(f"error: expected --errors from 0 to 1, got {args.errors}")
    whole = from_marks(args.marks, slice(None), 0)
    vocabulary = list(dict.fromkeys(whole.words))
    ids = {w: i for i, w in enumerate(vocabulary)}
    alike = {ids[w]: np.array([ids[o] for o in others]) for w, others in confusions(Counter(whole.words)).items()}
    piece = from_marks(args.marks, slice(-args.last, None), 0)
    labels = np.array([piece.punct, piece.case, piece.itn, piece.disfluency]).T
    words = np.array([ids.get(w, 0) for w in piece.words])
    words, labels = corrupt(words, labels, alike, np.random.default_rng(args.seed), args.errors / 3)
    rows = (f"{vocabulary[w]}\t{PUNCT[label[0]]}\n" for w, label in zip(words, labels))
    args.out.write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
