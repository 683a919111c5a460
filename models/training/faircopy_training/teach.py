"""Soft labels of a teacher, kept on disk for any number of students. ``python -m faircopy_training.teach --run TEACHER --out FILE``

A teacher sees whole chunks; its probabilities for every word are stored with the chunk. A student may then be shown less of the chunk than its teacher saw
(``train --taught``): what it learns is to say early what the teacher knew late.
"""

from __future__ import annotations

import argparse
import pickle
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from . import labels as L
from .dataset import Corpus, Sampler, WordTokenizer
from .model import UNLIMITED, Tagger

WIDTH = sum(len(v) for v in L.HEADS.values())


@dataclass
class Lesson:
    """A chunk: word ids of the corpus's vocabulary, hard labels [words, heads], whether the speaker has stopped, and the teacher's probabilities
    [words, WIDTH], each head's adding up to 1."""

    words: np.ndarray
    labels: np.ndarray
    stopped: bool
    taught: np.ndarray


@torch.no_grad()
def teach(model: Tagger, sampler: Sampler, rows: int, rng: np.random.Generator) -> list[Lesson]:
    """``rows`` lessons."""
    chunks = [sampler.chunk(rng) for _ in range(rows)]
    tokens, words, _ = sampler.pack(chunks)
    logits = model(torch.from_numpy(tokens), torch.from_numpy(words), torch.full((rows,), UNLIMITED))
    lessons = []
    for r, (chunk, given, stopped) in enumerate(chunks):
        first = np.flatnonzero(np.diff(words[r], prepend=-2))[1 : len(chunk) + 1]
        parts, at = [], 0
        for names in L.HEADS.values():
            parts.append(logits[r, first, at : at + len(names)].softmax(-1))
            at += len(names)
        lessons.append(Lesson(chunk.astype(np.int32), given.astype(np.int16), stopped, torch.cat(parts, -1).numpy().astype(np.float16)))
    return lessons


def lessons_of(path: Path) -> list[Lesson]:
    """All lessons of a file, which may have been written in several goes."""
    lessons: list[Lesson] = []
    with path.open("rb") as f:
        while True:
            try:
                lessons.extend(pickle.load(f))
            except EOFError:
                return lessons


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--run", type=Path, required=True, help="the teacher's training: model.pt (or checkpoint.pt) and data.pickle")
    a.add_argument("--base", type=Path, required=True, help="directory with the teacher's tokenizer.json")
    a.add_argument("--out", type=Path, required=True, help="file of lessons; what it has is kept, and more is added")
    a.add_argument("--batches", type=int, default=1000)
    a.add_argument("--rows", type=int, default=16)
    a.add_argument("--length", type=int, default=160)
    a.add_argument("--noisy", type=float, default=0.35)
    a.add_argument("--seed", type=int, default=11)
    a.add_argument("--threads", type=int, default=2)
    args = a.parse_args()
    torch.set_num_threads(args.threads)
    saved = args.run / "model.pt"
    model = Tagger.saved(saved if saved.is_file() else args.run / "checkpoint.pt")
    corpus: Corpus = pickle.loads((args.run / "data.pickle").read_bytes())
    tokenizer = WordTokenizer(args.base / "tokenizer.json", model.shape.unknown)
    sampler = Sampler(corpus, tokenizer, model.shape, args.length, Tagger.PAD_WORD, args.noisy)
    done = len(lessons_of(args.out)) // args.rows if args.out.is_file() else 0
    began = time.monotonic()
    with args.out.open("ab") as out:
        for batch in range(done, args.batches):
            pickle.dump(teach(model, sampler, args.rows, np.random.default_rng([args.seed, batch])), out)
            out.flush()
            if (batch + 1) % 20 == 0:
                print(f"batch {batch + 1}/{args.batches}, {(batch + 1 - done) / (time.monotonic() - began):.2f} a second", flush=True)


if __name__ == "__main__":
    main()
