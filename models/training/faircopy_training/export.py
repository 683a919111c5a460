"""Exports a trained tagger: ``tagger.onnx.zst`` (int8 by rows, packed), ``tokenizer.json``, ``labels.json``, ``lexicon.tsv`` and
``parity.jsonl``, the tags that PyTorch gives, which the Rust tests compare with theirs."""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
import tempfile
from pathlib import Path

import onnx
import torch
import zstandard

from .dataset import WordTokenizer
from .labels import HEADS, STYLES
from .model import UNLIMITED, Shape, Tagger
from .prune import kept, smaller_tagger, smaller_tokenizer, uses
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
    logits = model(torch.tensor([tokens]), torch.tensor([words]), limit, torch.tensor([0]))[0, first]
    tags, margins, at = [], [], 0
    for names in HEADS.values():
        best = logits[:, at : at + len(names)].topk(2)
        tags.append([names[i] for i in best.indices[:, 0].tolist()])
        margins.append([round(m, 3) for m in (best.values[:, 0] - best.values[:, 1]).tolist()])
        at += len(names)
    return [list(t) for t in zip(*tags)], [list(m) for m in zip(*margins)]


def to_onnx(model: Tagger, path: Path) -> None:
    example = (torch.tensor([[model.shape.cls, 5, 6]]), torch.tensor([[-1, 0, 1]]), torch.tensor([9]), torch.tensor([0]))
    rows, row = {0: "batch", 1: "length"}, {0: "batch"}
    torch.onnx.export(
        model, example, str(path), opset_version=OPSET, dynamo=False,
        input_names=["tokens", "words", "lookahead", "style"], output_names=["logits"],
        dynamic_axes={"tokens": rows, "words": rows, "lookahead": row, "style": row, "logits": rows},
    )


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--run", type=Path, required=True, help="training output: model.pt or checkpoint.pt, data.pickle and lexicon.tsv")
    a.add_argument("--base", type=Path, required=True, help="directory with tokenizer.json")
    a.add_argument("--sentences", type=Path, required=True, help="lines for the parity file")
    a.add_argument("--name", required=True, help="the model's name, sent in every segment")
    a.add_argument("--unfinished", action="store_true", help="take the last checkpoint")
    a.add_argument("--layers", type=int, help="leave at this exit")
    a.add_argument("--bits", type=float, default=8, help="of a weight in the file; the program computes in int8 whatever it is")
    a.add_argument("--most-tokens", type=int, default=20_000, help="size of the vocabulary, the tokens most used in data.pickle")
    a.add_argument("--out", type=Path, required=True)
    args = a.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    model = Tagger.of_run(args.run) if args.unfinished else Tagger.saved(args.run / "model.pt")
    model = model.cut(args.layers or model.shape.layers)
    whole = json.loads((args.base / "tokenizer.json").read_text(encoding="utf-8")) | {"padding": None, "truncation": None}
    tokenizer = WordTokenizer(args.base / "tokenizer.json", model.shape.unknown)
    counts = uses(pickle.loads((args.run / "data.pickle").read_bytes()), tokenizer, model.shape.vocabulary)
    ids = kept(whole, counts, args.most_tokens)
    model = smaller_tagger(model, ids)
    smaller = json.dumps(smaller_tokenizer(whole, ids), ensure_ascii=False, separators=(",", ":"))
    (args.out / "tokenizer.json").write_text(smaller, encoding="utf-8")
    temperatures = [1.0] * len(HEADS)
    if (args.run / "temperatures.json").is_file():
        temperatures = list(json.loads((args.run / "temperatures.json").read_text()).values())
    model.cool(temperatures)

    with tempfile.TemporaryDirectory() as d:
        plain = Path(d) / "tagger.onnx"
        to_onnx(model, plain)
        packed = zstandard.ZstdCompressor(level=19).compress(quantise(onnx.load(str(plain)), args.bits).SerializeToString())
    path = args.out / "tagger.onnx.zst"
    path.write_bytes(packed)
    labels = {"model": args.name, **HEADS, "styles": STYLES,
              "tokens": {"cls": model.shape.cls, "sep": model.shape.sep, "unknown": model.shape.unknown}}
    (args.out / "labels.json").write_text(json.dumps(labels, indent=1) + "\n", encoding="utf-8")
    shutil.copy(args.run / "lexicon.tsv", args.out / "lexicon.tsv")

    words = WordTokenizer(args.out / "tokenizer.json", model.shape.unknown)
    model = reference(model, args.bits)
    with (args.out / "parity.jsonl").open("w", encoding="utf-8") as out:
        for line in args.sentences.read_text(encoding="utf-8").splitlines():
            sentence = line.split()
            for lookahead, stopped in PARITY_LOOKAHEADS:
                tags, margins = tag(model, sentence, words, lookahead, stopped)
                row = {"words": sentence, "lookahead": lookahead, "stopped": stopped, "tags": tags, "margins": margins}
                out.write(json.dumps(row, separators=(",", ":")) + "\n")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {len(ids)} tokens")


if __name__ == "__main__":
    main()
