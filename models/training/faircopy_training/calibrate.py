"""Makes probabilities mean what they say: a temperature for each head (Guo et al. 2017, arXiv 1706.04599), fitted on text kept out of training, which the
export divides the head's logits by. ``python -m faircopy_training.calibrate --data DIR --run RUN --base BASE``"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import torch
from torch import Tensor

from . import labels as L
from .dataset import WordTokenizer
from .evaluate import faster_in_bf16, heads_of, held_back_sets, logits_of, rows_sets
from .model import UNLIMITED, Tagger
from .quantise import rounded

BINS = 15
LEAST_WORDS = 500
"""Labelled words of a head from which a temperature can be told."""


def calibration_error(logits: Tensor, labels: Tensor) -> float:
    """Expected calibration error, percent: how far the best label's probability is from the share of words on which it is right, over ``BINS``
    bins of equal width."""
    probability, best = logits.softmax(-1).max(-1)
    right = (best == labels).float()
    bins = (probability * BINS).long().clamp_max(BINS - 1)
    error = sum((probability[bins == b] - right[bins == b]).sum().abs().item() for b in bins.unique())
    return 100 * error / len(labels)


def best_temperature(logits: Tensor, labels: Tensor) -> float:
    """The temperature of the smallest cross entropy, between 0.5 and 2."""

    def loss(power: float) -> float:
        return torch.nn.functional.cross_entropy(logits / math.exp(power), labels).item()

    low, high = math.log(0.5), math.log(2.0)
    while high - low > 0.005:  # the loss has one minimum in the temperature
        a, b = low + (high - low) * 0.382, low + (high - low) * 0.618
        if loss(a) < loss(b):
            high = b
        else:
            low = a
    return round(math.exp((low + high) / 2), 3)


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--data", type=Path, help="directory with the files of sources.SOURCES")
    a.add_argument("--rows", type=Path, nargs="+", help="files of rows as faircopy eval takes them, instead of --data")
    a.add_argument("--run", type=Path, required=True, help="gets temperatures.json")
    a.add_argument("--base", type=Path, required=True, help="directory with tokenizer.json")
    a.add_argument("--layers", type=int, help="leave at this exit")
    a.add_argument("--words", type=int, default=12_000, help="of each set; the odd hundreds fit, the even ones judge")
    a.add_argument("--bits", type=float, default=8, help="as in the export")
    args = a.parse_args()
    if not args.data and not args.rows:
        raise SystemExit("error: give --data, the directory with the training text, or --rows")
    model = Tagger.of_run(args.run)
    model = model.cut(args.layers or model.shape.layers)
    tokenizer = WordTokenizer(args.base / "tokenizer.json", model.shape.unknown)
    sets = rows_sets(args.rows, args.words) if args.rows else held_back_sets(args.data, args.words)
    # With the weights of the export; its rounding of activations moves logits too little to matter here.
    with rounded(model, args.bits), torch.autocast("cpu", dtype=torch.bfloat16, enabled=faster_in_bf16()):
        found = {name: logits_of(model, piece, tokenizer, UNLIMITED)[model.shape.layers] for name, piece in sets.items()}
    temperatures = {}
    for head, name in enumerate(L.HEADS):
        parts = {True: [], False: []}
        for of, piece in sets.items():
            labels = torch.tensor([piece.punct, piece.case, piece.itn, piece.disfluency][head])
            known = (labels >= 0) & (labels < L.ANY_B)
            odd = torch.arange(len(labels)) // 100 % 2 == 1
            for side in (True, False):
                take = known & (odd == side)
                parts[side].append((heads_of(found[of])[head][take], labels[take]))
        fit, judge = ((torch.cat([p[0] for p in parts[s]]), torch.cat([p[1] for p in parts[s]])) for s in (True, False))
        if min(len(fit[1]), len(judge[1])) < LEAST_WORDS:
            temperatures[name] = 1.0
            print(f"{name}: hardly any word has a label; temperature 1", flush=True)
            continue
        t = best_temperature(*fit)
        before, after = calibration_error(*judge), calibration_error(judge[0] / t, judge[1])
        # A temperature that does not hold on other words was fitted to chance.
        temperatures[name] = t if after < before else 1.0
        print(f"{name}: expected calibration error {before:.2f} %, at temperature {t} {after:.2f} %, {len(judge[1])} words", flush=True)
    (args.run / "temperatures.json").write_text(json.dumps(temperatures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
