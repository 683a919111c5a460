"""Exports a trained second stage: ``encoder.onnx.zst``, ``decoder.onnx.zst``, ``tokenizer.json``, ``second.json`` and ``parity.jsonl``, what PyTorch makes of
some examples, which the service's tests compare with theirs."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch
import zstandard

from . import graph
from .model import Shape, Writer, padded
from .text import CLASSES, CONTEXT, MAX_SOURCE, MAX_TARGET, Example, Tokens

FORMAT = 1
EXAMPLES = Path(__file__).parents[2] / "parity_spans.jsonl"


def saved(path: Path) -> Writer:
    """The network of a checkpoint. ``SystemExit`` where there is none."""
    if not path.is_file():
        raise SystemExit(f"error: {path}: no such file; train first (make train-second DATA=directory)")
    state = torch.load(path, weights_only=True)
    model = Writer(Shape(**state["shape"]))
    model.load_state_dict(state["model"])
    return model.eval()


def examples(path: Path) -> list[Example]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line)
    return [Example(tuple(r["left"]), r["class"], tuple(r["span"]), tuple(r["right"]), r["target"]) for r in rows]


def parity(model: Writer, tokens: Tokens, example: Example) -> dict:
    ids, target = tokens.source(example), tokens.target(example.target)
    if ids is None or target is None:
        raise SystemExit(f"error: {example}: longer than a source or a target may be")
    batch = padded([ids])
    greedy = model.greedy(*batch)[0]
    # None where the text does not end within the limit. Its length in characters tells nothing: special tokens have none.
    ended = tokens.back(greedy) if len(greedy) < MAX_TARGET else None
    return {"left": example.left, "class": example.name, "span": example.span, "right": example.right, "ids": ids, "target": example.target,
            "log_prob": round(model.scores(*batch, [target])[0], 5), "greedy": ended}


def export(model: Writer, tokenizer: Path, out: Path, name: str, licence: str, weight: float) -> None:
    """Writes the model's directory."""
    out.mkdir(parents=True, exist_ok=True)
    size = 0
    for part, made in (("encoder", graph.encoder(model)), ("decoder", graph.decoder(model))):
        packed = zstandard.ZstdCompressor(level=19).compress(made.SerializeToString())
        size += len(packed)
        (out / f"{part}.onnx.zst").write_bytes(packed)
    if tokenizer.resolve() != (out / "tokenizer.json").resolve():
        shutil.copy(tokenizer, out / "tokenizer.json")
    about = {"format": FORMAT, "name": name, "context_words": CONTEXT, "max_source_tokens": MAX_SOURCE, "max_target_tokens": MAX_TARGET,
             "classes": CLASSES, "weight": weight, "licence": licence}
    (out / "second.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    tokens, model = Tokens.read(out / "tokenizer.json"), graph.round_weights(model)
    with (out / "parity.jsonl").open("w", encoding="utf-8") as file:
        for example in examples(EXAMPLES):
            file.write(json.dumps(parity(model, tokens, example), ensure_ascii=False) + "\n")
    print(f"{out}: {size / 1e6:.2f} MB packed, {sum(p.numel() for p in model.parameters()):,} weights")


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--run", type=Path, required=True, help="training output: model.pt and tokenizer.json")
    a.add_argument("--unfinished", action="store_true", help="take the last checkpoint")
    a.add_argument("--name", required=True, help="the model's name")
    a.add_argument("--weight", type=float, default=1.0, help="what a unit of a grammar's cost takes from a reading's log-probability")
    a.add_argument("--licence", required=True, help="terms of the training text")
    a.add_argument("--out", type=Path, required=True)
    args = a.parse_args()
    model = saved(args.run / ("checkpoint.pt" if args.unfinished else "model.pt"))
    export(model, args.run / "tokenizer.json", args.out, args.name, args.licence, args.weight)


if __name__ == "__main__":
    main()
