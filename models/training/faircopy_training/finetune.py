"""Adapts a shipped model to a domain: from pairs of what was said and what should be written to a training that starts at the model's weights (NASA's
configuration 3). ``python -m faircopy_training.finetune --model models/en-fast --pairs FILE --out RUN``

A pair is a line ``spoken<TAB>written``. The written side is read as training text is, entities by the grammars run backwards, and its words are aligned with
the spoken ones, which take over their labels: marks, case, spans. Spoken words that nobody wrote are disfluent where they are fillers or said again, and
supervise nothing else where they are not.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import shutil
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import torch

from . import cleaning
from . import labels as L
from .dataset import Vocabulary
from .export import exported
from .lexicon import write_lexicon
from .piece import FILLERS, Piece
from .sources import DataError, Source
from .written import from_text
from .spoken import Readings, Unreadable

ALIKE = 0.6
"""Least share of spoken words that must be in the written text, and the other way round; other pairs are left out."""
HELD_BACK = 10
"""Every tenth pair stays out, to judge by."""
MAX_WORDS = 2000
F, REP = L.DISFLUENCY.index("F"), L.DISFLUENCY.index("REP")


ENTITY = "\0"
"""Stands for a span while words are aligned: people say it in ways of their own."""


def units(read: Piece) -> list[tuple[str, int, int]]:
    """The words of a read text, a span as one: what it is compared by, its first word, and the one after its last."""
    out: list[tuple[str, int, int]] = []
    for k, (word, itn) in enumerate(zip(read.words, read.itn)):
        if itn and not L.ITN[itn].startswith("B-") and out and out[-1][0] == ENTITY:
            out[-1] = (ENTITY, out[-1][1], k + 1)
        else:
            out.append((ENTITY if itn else word, k, k + 1))
    return out


def aligned(said: list[str], read: Piece) -> Piece | None:
    """The spoken words with the labels of the written text; ``None`` where the two are not the same text."""
    of = units(read)
    plain = [u[0] for u in of]
    matcher = SequenceMatcher(None, said, plain, autojunk=False)
    same = sum(size for _, _, size in matcher.get_matching_blocks())
    if not said or not same or same < ALIKE * sum(u != ENTITY for u in plain):
        return None
    out = Piece()
    matched = 0
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            for i, (_, k, _) in zip(range(a, b), of[c:d]):
                out.add(said[i], read.punct[k], read.case[k], read.itn[k], read.disfluency[k], read.written[k])
            matched += b - a
        elif kind == "replace" and plain[c:d] == [ENTITY]:
            _, first, end = of[c]
            for i in range(a, b):
                out.add(said[i], read.punct[end - 1] if i == b - 1 else 0, 0, read.itn[first] + (i > a), 0)
            matched += b - a
        elif kind == "delete":
            for i in range(a, b):
                known = said[i] in FILLERS or said[i] in said[i + 1 : i + 3]
                dis = F if said[i] in FILLERS else REP if known else L.IGNORE
                out.add(said[i], 0 if known else L.IGNORE, 0 if known else L.IGNORE, 0, dis)
        elif kind == "replace":
            for i in range(a, b):
                out.add(said[i], L.IGNORE, L.IGNORE, L.IGNORE, L.IGNORE)
        elif out.punct and out.punct[-1] == 0:
            # Words written that nobody said: their mark is the one before it.
            out.punct[-1] = max(read.punct[k] for _, k, _ in of[c:d])
    return out if matched >= ALIKE * len(said) else None


def read_pairs(path: Path, readings: Readings) -> tuple[list[Piece], Counter]:
    """The pieces of a file of pairs, and how many were left out for which reason. Raises ``DataError`` and ``Unreadable``."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected lines of spoken words, a tab and the written text")
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        parts = line.split("\t")
        if len(parts) != 2 or not all(p.strip() for p in parts):
            raise DataError(f"{path}:{number}: expected spoken words, a tab and the written text, got {len(parts)} fields")
        if len(parts[0].split()) > MAX_WORDS:
            raise DataError(f"{path}:{number}: expected at most {MAX_WORDS} words a line; break it")
        pairs.append((parts[0].lower().split(), parts[1]))
    left = Counter()
    for collecting in (True, False):
        readings.collecting = collecting
        pieces = []
        for said, written in pairs:
            read = from_text(cleaning.clean(written, Counter()), True, random.Random(1), readings)
            if read is None:
                left["a number that no grammar reads"] += not collecting
                continue
            if not collecting:
                piece = aligned(said, read)
                left["the two sides differ too much"] += piece is None
                pieces += [piece] if piece else []
        if collecting:
            readings.fetch()
    if not pieces:
        raise DataError(f"{path}: no usable pair; left out: {dict(left)}")
    return pieces, left


def gold_row(piece: Piece) -> dict:
    """A row of ``faircopy eval`` of what an aligned pair says for certain; words without labels are left out with their row's."""
    marks = ["", ",", ".", "?"]
    return {"w": piece.words, "p": [marks[max(p, 0)] for p in piece.punct], "c": [L.CASE[max(c, 0)] for c in piece.case]}


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--model", type=Path, required=True, help="the model directory to adapt")
    a.add_argument("--pairs", type=Path, required=True, help="lines of spoken words, a tab and the written text")
    a.add_argument("--out", type=Path, required=True, help="gets start.pt, data.pickle, lexicon.tsv, follows.json and held.jsonl, for train and for faircopy eval")
    a.add_argument("--faircopy", type=Path, default=Path("target/release/faircopy"))
    args = a.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    try:
        readings = Readings(args.faircopy, Path(__file__).parents[3])
        pieces, left = read_pairs(args.pairs, readings)
    except (DataError, Unreadable) as e:
        raise SystemExit(f"error: {e}") from e
    held = [p for n, p in enumerate(pieces) if n % HELD_BACK == 0]
    kept = [p for n, p in enumerate(pieces) if n % HELD_BACK]
    if not kept:
        raise SystemExit(f"error: {args.pairs}: expected more pairs, got {len(pieces)}; a domain takes some ten thousand words")
    vocabulary = Vocabulary()
    stream = vocabulary.stream(kept, Source(args.pairs.name, "the owner's", True, 1.0, "text", L.STYLES[0]), clean=False)
    (args.out / "data.pickle").write_bytes(pickle.dumps(vocabulary.corpus([stream])))
    certain = [p for p in held if min(p.punct + p.case) >= 0]
    (args.out / "held.jsonl").write_text("".join(json.dumps(gold_row(p)) + "\n" for p in certain), encoding="utf-8")
    write_lexicon(Counter(w for p in kept for w in p.written if w), args.out / "new.tsv", least=2)
    lexicon = dict(line.split("\t") for name in (args.model / "lexicon.tsv", args.out / "new.tsv")
                   for line in name.read_text(encoding="utf-8").splitlines())
    (args.out / "lexicon.tsv").write_text("".join(f"{w}\t{f}\n" for w, f in sorted(lexicon.items())), encoding="utf-8")
    shutil.copy(args.model / "tokenizer.json", args.out / "tokenizer.json")
    # A domain of some ten thousand words says little of which label follows which.
    known = np.array(json.loads((args.model / "labels.json").read_text(encoding="utf-8"))["itn_follows"])
    known = np.pad(known, (0, len(L.ITN) - len(known)))  # a model of fewer labels says nothing of the others
    (args.out / "follows.json").write_text(json.dumps(known.tolist()) + "\n", encoding="utf-8")
    model = exported(args.model)
    torch.save({"model": model.state_dict(), "shape": model.shape.to_dict()}, args.out / "start.pt")
    words = sum(len(p.words) for p in kept)
    print(f"{len(kept)} pairs of {words} words to learn from, {len(held)} to judge by; left out: "
          + (", ".join(f"{n}: {why}" for why, n in left.items() if n) or "none"), flush=True)


if __name__ == "__main__":
    main()
