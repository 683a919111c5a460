"""Exports a trained tagger: ``tagger.onnx`` (int8 by rows), ``tokenizer.json``, ``labels.json``, ``lexicon.tsv`` and
``parity.jsonl``, the tags that PyTorch gives, which the Rust tests compare with theirs."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import onnx
import torch
from tokenizers import Tokenizer

from .dataset import WordTokenizer
from .labels import HEADS
from .model import UNLIMITED, Shape, Tagger
from .quantise import quantise, reference

OPSET = 18
PARITY_LOOKAHEADS = [(0, False), (2, True), (9, False), (None, True)]
"""Lookahead, and whether the speaker has stopped."""


def rows(sentence: list[str], tokenizer: WordTokenizer, shape: Shape, stopped: bool) -> tuple[list[int], list[int], list[int]]:
    """tokens, words and first positions of one row, as ``src/infer/row.rs`` packs them."""
    tokens, words, first = [shape.cls], [-1], []
    for w, word in enumerate(sentence):
        first.append(len(tokens))
        for token in tokenizer(word.lower()):
            tokens.append(token)
            words.append(w)
    if stopped:
        tokens.append(shape.sep)
        words.append(len(sentence))
    return tokens, words, first


@torch.no_grad()
def tag(
    model: Tagger, sentence: list[str], tokenizer: WordTokenizer, lookahead: int | None, stopped: bool
) -> tuple[list[list[str]], list[list[float]]]:
    """[punct, case, itn, disfluency] of each word, and by how much each best label's logit beats the next one's."""
    tokens, words, first = rows(sentence, tokenizer, model.shape, stopped)
    limit = torch.tensor([UNLIMITED if lookahead is None else lookahead])
    logits = model(torch.tensor([tokens]), torch.tensor([words]), limit)[0, first]
    tags, margins, at = [], [], 0
    for names in HEADS.values():
        best = logits[:, at : at + len(names)].topk(2)
        tags.append([names[i] for i in best.indices[:, 0].tolist()])
        margins.append([round(m, 3) for m in (best.values[:, 0] - best.values[:, 1]).tolist()])
        at += len(names)
    return [list(t) for t in zip(*tags)], [list(m) for m in zip(*margins)]


def to_onnx(model: Tagger, path: Path) -> None:
    example = (torch.tensor([[model.shape.cls, 7592, 2088]]), torch.tensor([[-1, 0, 1]]), torch.tensor([9]))
    torch.onnx.export(
        model, example, str(path), opset_version=OPSET, dynamo=False,
        input_names=["tokens", "words", "lookahead"], output_names=["logits"],
        dynamic_axes={"tokens": {0: "batch", 1: "length"}, "words": {0: "batch", 1: "length"}, "lookahead": {0: "batch"},
                      "logits": {0: "batch", 1: "length"}},
    )


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--run", type=Path, required=True, help="training output: model.pt and lexicon.tsv")
    a.add_argument("--base", type=Path, required=True, help="directory with tokenizer.json")
    a.add_argument("--sentences", type=Path, required=True, help="lines for the parity file")
    a.add_argument("--name", required=True, help="the model's name, sent in every segment")
    a.add_argument("--out", type=Path, required=True)
    args = a.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    model = Tagger.saved(args.run / "model.pt")
    path = args.out / "tagger.onnx"
    to_onnx(model, path)
    onnx.save(quantise(onnx.load(str(path))), str(path))

    tokenizer = Tokenizer.from_file(str(args.base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(args.out / "tokenizer.json"), pretty=False)
    (args.out / "labels.json").write_text(json.dumps({"model": args.name, **HEADS}, indent=1) + "\n", encoding="utf-8")
    shutil.copy(args.run / "lexicon.tsv", args.out / "lexicon.tsv")

    words = WordTokenizer(args.out / "tokenizer.json", model.shape.unknown)
    model = reference(model)
    with (args.out / "parity.jsonl").open("w", encoding="utf-8") as out:
        for line in args.sentences.read_text(encoding="utf-8").splitlines():
            sentence = line.split()
            for lookahead, stopped in PARITY_LOOKAHEADS:
                tags, margins = tag(model, sentence, words, lookahead, stopped)
                row = {"words": sentence, "lookahead": lookahead, "stopped": stopped, "tags": tags, "margins": margins}
                out.write(json.dumps(row, separators=(",", ":")) + "\n")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
