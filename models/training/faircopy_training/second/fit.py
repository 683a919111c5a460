"""Fits the weight of a grammar's cost in ``second.json``: of every span of a gold file the readings that ``faircopy grammar readings`` gives, scored by the model.
Says for each weight how many spans are written exactly, beside what the grammars write by themselves."""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import torch

from .export import saved
from .graph import round_weights
from .model import padded
from .text import CONTEXT, Example, Tokens

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
RIGHT = 3
"""Words on the right that were known in time."""


def spans_of(path: Path) -> list[Example]:
    """The spans of a gold file, with the context that the service would give."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        shown = [{"CAP": str.capitalize, "UPPER": str.upper}.get(c, str)(w) + p for w, c, p in zip(row["w"], row["c"], row["p"])]
        for start, end, name, written in row["itn"]:
            left = shown[max(0, start - CONTEXT) : start]
            left = left[max((i + 1 for i, w in enumerate(left) if w[-1:] in (".", "?")), default=0) :]
            found.append(Example(tuple(left), name, tuple(row["w"][start:end]), tuple(row["w"][end : end + RIGHT]), written))
    return found


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--run", type=Path, required=True, help="model.pt and tokenizer.json")
    a.add_argument("--gold", type=Path, required=True, help="such as calls-fit.jsonl")
    a.add_argument("--faircopy", type=Path, required=True)
    a.add_argument("--weights", type=float, nargs="*", default=WEIGHTS)
    args = a.parse_args()
    torch.set_num_threads(1)
    tokens, model = Tokens.read(args.run / "tokenizer.json"), round_weights(saved(args.run / "model.pt"))
    examples = spans_of(args.gold)
    asked = "".join(f"{e.name}\t{' '.join(e.span)}\n" for e in examples)
    answer = subprocess.run([args.faircopy, "grammar", "readings"], input=asked, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in answer.stdout.splitlines()]
    asked_for = [(i, k, ids, target) for i, (e, row) in enumerate(zip(examples, rows, strict=True)) if (ids := tokens.source(e))
                 for k, (text, _) in enumerate(row["candidates"]) if (target := tokens.target(text))]
    asked_for.sort(key=lambda r: (len(r[2]), len(r[3])))
    scores: dict[tuple[int, int], float] = {}
    for at in range(0, len(asked_for), 128):
        part = asked_for[at : at + 128]
        found = model.scores(*padded([ids for _, _, ids, _ in part]), [target for *_, target in part])
        scores |= {(i, k): score for (i, k, _, _), score in zip(part, found)}
    own = sum((row["own"] or " ".join(e.span)) == e.target for e, row in zip(examples, rows))
    reachable = sum(any(text == e.target for text, _ in row["candidates"]) for e, row in zip(examples, rows))
    print(json.dumps({"spans": len(examples), "the grammars by themselves": own, "among the readings": reachable}))
    for weight in args.weights:
        right, better, worse = 0, [], []
        for i, (e, row) in enumerate(zip(examples, rows)):
            ranked = [(round(scores[i, k], 3) - weight * cost, -k, text) for k, (text, cost) in enumerate(row["candidates"]) if (i, k) in scores]
            chosen = max(ranked)[2] if ranked else row["own"] or " ".join(e.span)
            before = row["own"] or " ".join(e.span)
            right += chosen == e.target
            if chosen != before:
                (better if chosen == e.target else worse if before == e.target else []).append((" ".join(e.span), e.target, chosen))
        print(json.dumps({"weight": weight, "exact": right, "better": len(better), "worse": len(worse), "examples": [better[:3], worse[:5]]}), flush=True)


if __name__ == "__main__":
    main()
