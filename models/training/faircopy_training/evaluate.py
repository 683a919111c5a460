"""What the model card says: scores on text kept out of training, per lookahead. In PyTorch, in fp32 or (``--bits``) with the
arithmetic of the export. The product's own figures come from the product; these choose between training runs.

Marks, case, spans and disfluency are judged on held-back earnings calls and podcasts (``dataset.held_back``), marks also on the
IWSLT 2012 development set. Each word is judged in a window of 48 words before its block of 40 and 9 after it.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
import torch

from . import labels as L
from .dataset import WordTokenizer, held_back
from .model import UNLIMITED, Tagger
from .path import best_path, read_follows
from .quantise import reference
from .sources import SOURCES, Piece, from_marks, read
from .spoken import Readings

HISTORY, BLOCK, AHEAD = 48, 40, 9
NO_READINGS = Readings(Path("unused"), Path("."))
"""Labelled rows have their spoken words."""


def read_dev(path: Path, words: int) -> Piece:
    """The last ``words`` of the development set of marks, none of which training sees."""
    return from_marks(path, slice(-words, None), L.IGNORE)


def join(pieces: list[Piece]) -> Piece:
    """One stream of all pieces' words."""
    out = Piece()
    for p in pieces:
        for name in ("words", "punct", "case", "itn", "disfluency"):
            getattr(out, name).extend(getattr(p, name))
    return out


@torch.no_grad()
def logits_of(model: Tagger, piece: Piece, tokenizer: WordTokenizer, lookahead: int, style: str = "any") -> dict[int, torch.Tensor]:
    """[words, all heads] logits, by the layers of the model that gave them."""
    out: dict[int, list[torch.Tensor]] = {n: [] for n in (*model.shape.exits, model.shape.layers)}
    for start in range(0, len(piece.words), BLOCK):
        low = max(0, start - HISTORY)
        ids, words, first = [model.shape.cls], [-1], []
        for w, word in enumerate(piece.words[low : start + BLOCK + AHEAD]):
            first.append(len(ids))
            for token in tokenizer(word):
                ids.append(token)
                words.append(w)
        depths = model.depths(torch.tensor([ids[:512]]), torch.tensor([words[:512]]), torch.tensor([lookahead]),
                              torch.tensor([L.STYLES.index(style)]))
        judged = [min(f, 511) for f in first[start - low : start - low + BLOCK]]
        for layers, logits in depths.items():
            out[layers].append(logits[0, judged])
    return {layers: torch.cat(parts) for layers, parts in out.items()}


def heads_of(logits: torch.Tensor) -> list[torch.Tensor]:
    """Each head's part of the logits."""
    return list(logits.split([len(v) for v in L.HEADS.values()], -1))


def tags(model: Tagger, piece: Piece, tokenizer: WordTokenizer, lookahead: int, follows: np.ndarray, style: str = "any") -> dict[int, list[list[int]]]:
    """[words][heads] label ids, by the layers of the model that gave them."""
    found = logits_of(model, piece, tokenizer, lookahead, style)
    out = {}
    for layers, logits in found.items():
        parts = dict(zip(L.HEADS, heads_of(logits)))
        best = {head: part.argmax(-1).tolist() for head, part in parts.items()} | {"itn": best_path(parts["itn"].numpy(), follows)}
        out[layers] = [list(word) for word in zip(*best.values())]
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


def held_back_sets(data: Path, words: int) -> dict[str, Piece]:
    """So many words of each set that training does not see."""
    sets = {"dev2012": read_dev(data / "ted_iwslt_dev2012.tsv.gz", words)}
    for name in ("earnings22.jsonl.gz", "rev16_disfluency_weak.jsonl.gz"):
        source = next(s for s in SOURCES if s.file == name)
        piece = join([p for p in read(source, data, random.Random(1), NO_READINGS) if held_back(p.recording)])
        for field in ("words", "punct", "case", "itn", "disfluency"):
            del getattr(piece, field)[words:]
        sets[name.split("_")[0].split(".")[0]] = piece
    return sets


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--data", type=Path, required=True)
    a.add_argument("--run", type=Path, required=True, help="directory with model.pt and follows.json")
    a.add_argument("--base", type=Path, required=True, help="directory with tokenizer.json")
    a.add_argument("--words", type=int, default=12_000, help="of each set")
    a.add_argument("--bits", type=float, help="with the arithmetic of an export in so many bits a weight; fp32 if none")
    a.add_argument("--lookaheads", default="0,2,4,9,inf")
    a.add_argument("--styles", default="any", help="said to the model, one run of all sets each")
    args = a.parse_args()
    model = Tagger.of_run(args.run)
    tokenizer = WordTokenizer(args.base / "tokenizer.json", model.shape.unknown)
    model = reference(model, args.bits) if args.bits else model
    sets, follows = held_back_sets(args.data, args.words), read_follows(args.run / "follows.json")
    for name, piece in sets.items():
        for style in args.styles.split(","):
            for lookahead in args.lookaheads.split(","):
                limit = UNLIMITED if lookahead == "inf" else int(lookahead)
                for layers, got in tags(model, piece, tokenizer, limit, follows, style).items():
                    result = score(piece, got)
                    if name == "dev2012":
                        result = {"marks": result["marks"]}
                    print(f"{name} ({len(piece.words)} words) {layers} layers, style {style}, L={lookahead}: "
                          + ", ".join(f"{k} {v:.1f}" for k, v in result.items()), flush=True)


if __name__ == "__main__":
    main()
