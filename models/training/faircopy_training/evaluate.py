"""What the model card says: scores on text kept out of training, per lookahead. In PyTorch, on fp32 weights or (``--int8``) with the
arithmetic of the export. The product's own figures come from the product; these choose between training runs.

Marks, case, spans and disfluency are judged on held-back earnings calls and podcasts (``dataset.held_back``), marks also on the
IWSLT 2012 development set. Each word is judged in a window of 48 words before its block of 40 and 9 after it.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import torch

from . import labels as L
from .dataset import WordTokenizer, held_back
from .model import UNLIMITED, Tagger
from .quantise import reference
from .sources import SOURCES, Piece, read
from .spoken import Readings
from .train import read_dev

HISTORY, BLOCK, AHEAD = 48, 40, 9
NO_READINGS = Readings(Path("unused"), Path("."))
"""Labelled rows have their spoken words."""


def join(pieces: list[Piece]) -> Piece:
    """One stream of all pieces' words."""
    out = Piece()
    for p in pieces:
        for name in ("words", "punct", "case", "itn", "disfluency"):
            getattr(out, name).extend(getattr(p, name))
    return out


@torch.no_grad()
def tags(model: Tagger, piece: Piece, tokenizer: WordTokenizer, lookahead: int) -> list[list[int]]:
    """[words][heads] label ids."""
    out: list[list[int]] = []
    for start in range(0, len(piece.words), BLOCK):
        low = max(0, start - HISTORY)
        ids, words, first = [model.shape.cls], [-1], []
        for w, word in enumerate(piece.words[low : start + BLOCK + AHEAD]):
            first.append(len(ids))
            for token in tokenizer(word):
                ids.append(token)
                words.append(w)
        logits = model(torch.tensor([ids[:512]]), torch.tensor([words[:512]]), torch.tensor([lookahead]))[0]
        for f in first[start - low : start - low + BLOCK]:
            row, at = [], 0
            for names in L.HEADS.values():
                row.append(int(logits[min(f, 511), at : at + len(names)].argmax()))
                at += len(names)
            out.append(row)
    return out


def f1(hits: int, said: int, true: int) -> float:
    return 200 * hits / max(1, said + true)


def spans(ids: list[int]) -> set[tuple[int, int, str]]:
    """(start, end, class) of BIO labels; untyped spans and masked words end one."""
    found, start, name = set(), 0, ""
    for i, label in enumerate([*ids, 0]):
        label_name = L.ITN[label] if 0 <= label < len(L.ITN) else "O"
        if name and label_name != f"I-{name}":
            found.add((start, i, name))
            name = ""
        if label_name.startswith("B-"):
            start, name = i, label_name[2:]
    return found


def score(piece: Piece, got: list[list[int]]) -> dict[str, float]:
    """Micro F1 of marks, of CAP UPPER MIXED (all words, and those not after a sentence end), of ITN spans (class and both ends), and of any
    disfluency."""
    result = {}
    pairs = [(g[0], w) for g, w in zip(got, piece.punct) if w >= 0]
    result["marks"] = f1(sum(g == w != 0 for g, w in pairs), sum(g != 0 for g, _ in pairs), sum(w != 0 for _, w in pairs))
    for name, inner in (("case", False), ("case, not initial", True)):
        pairs = [(g[1], w) for i, (g, w) in enumerate(zip(got, piece.case))
                 if w >= 0 and not (inner and (i == 0 or piece.punct[i - 1] in (2, 3)))]
        result[name] = f1(sum(g == w != 0 for g, w in pairs), sum(g != 0 for g, _ in pairs), sum(w != 0 for _, w in pairs))
    if any(w > 0 for w in piece.itn):
        said, true = spans([g[2] for g in got]), spans(piece.itn)
        result["ITN spans"] = f1(len(said & true), len(said), len(true))
    if any(w > 0 for w in piece.disfluency):
        pairs = [(g[3], w) for g, w in zip(got, piece.disfluency) if w >= 0]
        result["disfluent words"] = f1(sum(g != 0 and w != 0 for g, w in pairs), sum(g != 0 for g, _ in pairs), sum(w != 0 for _, w in pairs))
    return result


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--data", type=Path, required=True)
    a.add_argument("--run", type=Path, required=True, help="directory with model.pt")
    a.add_argument("--base", type=Path, required=True, help="directory with tokenizer.json")
    a.add_argument("--words", type=int, default=12_000, help="of each set")
    a.add_argument("--int8", action="store_true")
    a.add_argument("--lookaheads", default="0,2,4,9,inf")
    args = a.parse_args()
    model = Tagger.saved(args.run / "model.pt")
    tokenizer = WordTokenizer(args.base / "tokenizer.json", model.shape.unknown)
    model = reference(model) if args.int8 else model
    sets = {"dev2012": read_dev(args.data / "ted_iwslt_dev2012.tsv.gz", args.words)}
    for name in ("earnings22.jsonl.gz", "rev16_disfluency_weak.jsonl.gz"):
        source = next(s for s in SOURCES if s.file == name)
        pieces = [p for p in read(source, args.data, random.Random(1), NO_READINGS) if held_back(p.recording)]
        piece = join(pieces)
        for field in ("words", "punct", "case", "itn", "disfluency"):
            del getattr(piece, field)[args.words :]
        sets[name.split("_")[0].split(".")[0]] = piece
    for name, piece in sets.items():
        for lookahead in args.lookaheads.split(","):
            limit = UNLIMITED if lookahead == "inf" else int(lookahead)
            result = score(piece, tags(model, piece, tokenizer, limit))
            if name == "dev2012":
                result = {"marks": result["marks"]}
            print(f"{name} ({len(piece.words)} words) L={lookahead}: " + ", ".join(f"{k} {v:.1f}" for k, v in result.items()), flush=True)


if __name__ == "__main__":
    main()
