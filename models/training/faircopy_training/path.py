"""The ITN labels of a row as one path: which label may follow which, and how readily. The Rust service decodes alike (``src/infer/path.rs``).

A tagger judges each word by itself, so the best labels of neighbours need not fit: an ``I`` without its ``B``, or a number cut in two. As in a
hybrid of network and hidden Markov model (Bourlard and Morgan, Connectionist Speech Recognition, 1994, section 7.2), a path of labels is scored by
the words' logits and by log P(label | label before) - log P(label) of each step, counted in the training text.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .dataset import Corpus
from .labels import ITN

SHARE = 0.25
"""Of those log ratios: the network has seen the words before as well. Chosen on held-back calls, where 0.2 to 0.3 do equally well."""
NEVER = -1e9
NO_FOLLOWS = np.zeros((len(ITN), len(ITN)))
"""Every step is as good as any other, where it is allowed."""


def follows(corpus: Corpus) -> np.ndarray:
    """[label before, label] what a step adds to a path's score. Sources count by their weights; words without a typed label are passed over."""
    size = len(ITN)
    counts = np.zeros((size, size))
    for stream in corpus.streams:
        itn = stream.labels[:, 2].astype(int)
        typed = (itn >= 0) & (itn < size)
        pairs = typed[:-1] & typed[1:]
        if pairs.any():
            found = np.bincount(itn[:-1][pairs] * size + itn[1:][pairs], minlength=size * size)
            counts += stream.weight * found.reshape(size, size) / len(itn)
    # One sighting in a million words more of each step, so that none is impossible.
    counts = counts / counts.sum() + 1e-6
    chance = counts.sum(0) / counts.sum()
    return SHARE * np.log(counts / counts.sum(1, keepdims=True) / chance)


def write_follows(corpus: Corpus, path: Path) -> None:
    path.write_text(json.dumps(np.round(follows(corpus), 2).tolist()) + "\n", encoding="utf-8")


def read_follows(path: Path) -> np.ndarray:
    """``SystemExit`` where the file is none."""
    if not path.is_file():
        raise SystemExit(f"error: {path}: no such file; training writes it beside data.pickle")
    table = np.array(json.loads(path.read_text(encoding="utf-8")), dtype=np.float64)
    if table.shape != (len(ITN), len(ITN)):
        raise SystemExit(f"error: {path}: expected {len(ITN)} rows of {len(ITN)} numbers, got {table.shape}")
    return table


def steps(table: np.ndarray) -> np.ndarray:
    """The table, and that a span goes on only in its own class."""
    goes_on = np.array([[b[0] != "I" or a[1:] == b[1:] for b in ITN] for a in ITN])
    return np.where(goes_on, table, NEVER)


def best_path(logits: np.ndarray, table: np.ndarray) -> list[int]:
    """[words, labels] logits to the labels of the best path (Viterbi). Any label may be the first: the row may begin within a span."""
    if not len(logits):
        return []
    step, score = steps(table), logits[0].astype(np.float64)
    back = np.zeros(logits.shape, np.int64)
    for i in range(1, len(logits)):
        paths = score[:, None] + step
        back[i] = paths.argmax(0)
        score = paths.max(0) + logits[i]
    labels = [int(score.argmax())]
    for i in range(len(logits) - 1, 0, -1):
        labels.append(int(back[i, labels[-1]]))
    return labels[::-1]
