"""Trains the joint tagger. ``python -m faircopy_training.train --data DIR --out DIR``; resumes from its last checkpoint."""

from __future__ import annotations

import argparse
import gzip
import pickle
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from . import labels as L
from .dataset import Sampler, WordTokenizer, build, sources_for, write_lexicon
from .model import SHAPES, UNLIMITED, Tagger
from .sources import DataError, Piece
from .spoken import Readings, Unreadable
from .teach import WIDTH, lessons_of

LOOKAHEADS = {
    "any": [0, 2, 4, 6, 9, 9, 9, 9, 16, 32, UNLIMITED, UNLIMITED, UNLIMITED],
    "open": [UNLIMITED],
}
"""Drawn from per batch: ``any`` makes one model that serves every lookahead (9 is the paper's), ``open`` a teacher."""
CUT = 0.6
"""Share of lessons that a student sees the beginning of only."""
STEADY = 0.6
"""Share of the steps before the learning rate falls. Until there, a run may be given another number of steps."""


def rate(step: int, steps: int) -> float:
    """Factor of the learning rate: up over 3 % of the steps, level, then down to 0 in a line."""
    warmup, steady = max(1, steps * 3 // 100), int(steps * STEADY)
    return min((step + 1) / warmup, 1.0, max(0.0, (steps - step) / max(1, steps - steady)))

B_IDS = [i for i, n in enumerate(L.ITN) if n.startswith("B-")]
I_IDS = [i for i, n in enumerate(L.ITN) if n.startswith("I-")]


def joint_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Evenly weighted sum of the heads' cross entropies (Four-in-One, equation 1). An untyped span scores the
    probability that the word begins (or continues) a span of any class."""
    total = logits.new_zeros(())
    at = 0
    for head, names in enumerate(L.HEADS.values()):
        part = logits[..., at : at + len(names)].float().log_softmax(-1)
        want = labels[..., head]
        at += len(names)
        typed = (want >= 0) & (want < L.ANY_B)
        losses = [-part[typed].gather(-1, want[typed][:, None])[:, 0]]
        if names is L.ITN:
            for marker, ids in ((L.ANY_B, B_IDS), (L.ANY_I, I_IDS)):
                losses.append(-part[want == marker][:, ids].logsumexp(-1))
        loss = torch.cat(losses)
        if len(loss):
            total = total + loss.mean()
    return total


def taught_loss(logits: Tensor, taught: Tensor) -> Tensor:
    """Cross entropy with a teacher's probabilities, summed over the heads, a mean over the words that have any."""
    total = logits.new_zeros(())
    there = taught[..., 0] >= 0
    at = 0
    for names in L.HEADS.values():
        part = logits[there][:, at : at + len(names)].float().log_softmax(-1)
        total = total - (taught[there][:, at : at + len(names)] * part).sum(-1).mean()
        at += len(names)
    return total


class Pupil:
    """Batches of a teacher's lessons, each cut after a random word more often than not, so that less is seen than the teacher saw."""

    def __init__(self, path: Path, sampler: Sampler) -> None:
        self.lessons, self.sampler = lessons_of(path), sampler
        if not self.lessons:
            raise SystemExit(f"error: {path}: no lessons; run faircopy_training.teach to its end")

    def batch(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """As ``Sampler.batch``, and the teacher's probabilities [rows, length, WIDTH], -1 where there are none."""
        chunks, soft = [], []
        for n in rng.integers(len(self.lessons), size=rows):
            lesson = self.lessons[int(n)]
            end, room = 0, self.sampler.length - 2
            while end < len(lesson.words) and len(self.sampler.tokens[lesson.words[end]]) <= room:
                room -= len(self.sampler.tokens[lesson.words[end]])
                end += 1
            stopped = lesson.stopped and end == len(lesson.words)
            if end > 8 and rng.random() < CUT:
                end, stopped = int(rng.integers(8, end)), False
            chunks.append((lesson.words[:end], lesson.labels[:end], stopped))
            soft.append(lesson.taught[:end])
        tokens, words, labels = self.sampler.pack(chunks)
        taught = np.full((*tokens.shape, WIDTH), -1, np.float32)
        for r, probabilities in enumerate(soft):
            first = np.flatnonzero(np.diff(words[r], prepend=-2))[1 : len(probabilities) + 1]
            taught[r, first] = probabilities
        return tokens, words, labels, taught


def read_dev(path: Path, words: int) -> Piece:
    """The last ``words`` of a ``word<TAB>mark`` file, clitics joined to the word before them."""
    piece = Piece()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][-words:]
    for word, mark in rows:
        if piece.words and ("'" in word[:1] or word == "n't"):
            piece.words[-1] += word
            piece.punct[-1] = L.PUNCT.index(mark)
        else:
            piece.add(word, L.PUNCT.index(mark), L.IGNORE, L.IGNORE, L.IGNORE)
    return piece


def faster_in_bf16() -> bool:
    """Whether this machine multiplies matrices of the encoder's size faster in bfloat16; some only emulate it."""

    def seconds(kind: torch.dtype) -> float:
        a, b = torch.ones(2048, 768, dtype=kind), torch.ones(768, 768, dtype=kind)
        a @ b
        began = time.perf_counter()
        for _ in range(8):
            a @ b
        return time.perf_counter() - began

    return min(seconds(torch.bfloat16) for _ in range(3)) < min(seconds(torch.float32) for _ in range(3))


@torch.no_grad()
def punct_f1(model: Tagger, piece: Piece, tokenizer: WordTokenizer, lookahead: int, bf16: bool) -> float:
    """Micro F1 of marks over ``piece`` cut in chunks: 48 words of context, 40 judged, 9 ahead."""
    model.eval()
    hits = said = true = 0
    jobs = []
    for start in range(0, len(piece.words), 40):
        low = max(0, start - 48)
        chunk = piece.words[low : start + 49]
        ids, words, first = [model.shape.cls], [-1], []
        for w, word in enumerate(chunk):
            first.append(len(ids))
            for t in tokenizer(word):
                ids.append(t)
                words.append(w)
        jobs.append((ids[:510], words[:510], [f for f in first[start - low : start - low + 40] if f < 510], start))
    for k in range(0, len(jobs), 16):
        group = jobs[k : k + 16]
        width = max(len(j[0]) for j in group)
        tokens = torch.zeros(len(group), width, dtype=torch.long)
        words = torch.full((len(group), width), Tagger.PAD_WORD)
        for r, (ids, ws, _, _) in enumerate(group):
            tokens[r, : len(ids)], words[r, : len(ws)] = torch.tensor(ids), torch.tensor(ws)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            out = model(tokens, words, torch.full((len(group),), lookahead))[..., : len(L.PUNCT)].float().argmax(-1)
        for r, (_, _, first, start) in enumerate(group):
            for i, f in enumerate(first):
                guess, want = int(out[r, f]), piece.punct[start + i]
                hits += guess == want != 0
                said += guess != 0
                true += want != 0
    model.train()
    return 100 * 2 * hits / max(1, said + true)


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--data", type=Path, required=True, help="directory with the files of sources.SOURCES")
    a.add_argument("--base", type=Path, required=True, help="directory with model.safetensors and tokenizer.json")
    a.add_argument("--out", type=Path, required=True, help="checkpoints, and model.pt at the end")
    a.add_argument("--faircopy", type=Path, required=True, help="the built program, whose grammars say how written numbers are spoken")
    a.add_argument("--encoder", choices=list(SHAPES), default="minilm")
    a.add_argument("--layers", type=int, help="only the encoder's first layers")
    a.add_argument("--lookahead", choices=list(LOOKAHEADS), default="any")
    a.add_argument("--rate", type=float, default=2e-4, help="highest learning rate of the encoder; the heads' is ten times that, 1e-3 at most")
    a.add_argument("--noisy", type=float, default=0.5, help="share of clean chunks that get recogniser errors")
    a.add_argument("--steps", type=int, default=3000)
    a.add_argument("--rows", type=int, default=16)
    a.add_argument("--length", type=int, default=160, help="tokens in a row")
    a.add_argument("--seed", type=int, default=7)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--licences", choices=["all", "commercial"], default="all")
    a.add_argument("--taught", type=Path, help="a teacher's lessons (faircopy_training.teach), made of this run's data.pickle")
    a.add_argument("--teacher-share", type=float, default=0.7, help="of the loss, where there are lessons")
    a.add_argument("--stop-after", type=int, help="stop after this step, as an interruption would")
    a.add_argument("--every", type=int, default=200, help="steps between checkpoints")
    args = a.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    shape = SHAPES[args.encoder].cut(args.layers)
    tokenizer = WordTokenizer(args.base / "tokenizer.json", shape.unknown)

    cache = args.out / "data.pickle"
    if cache.is_file():
        corpus = pickle.loads(cache.read_bytes())
    else:
        try:
            readings = Readings(args.faircopy, Path(__file__).parents[3], args.seed)
            corpus, spellings = build(args.data, sources_for(args.licences), args.seed, readings)
        except (DataError, Unreadable) as e:
            raise SystemExit(f"error: {e}") from e
        write_lexicon(spellings, args.out / "lexicon.tsv")
        cache.write_bytes(pickle.dumps(corpus))
    sampler = Sampler(corpus, tokenizer, shape, args.length, Tagger.PAD_WORD, args.noisy)
    pupil = Pupil(args.taught, sampler) if args.taught else None
    dev_file = args.data / "ted_iwslt_dev2012.tsv.gz"
    dev = read_dev(dev_file, 8000) if dev_file.is_file() else None

    model = Tagger(shape)
    model.load_encoder(args.base / "model.safetensors")
    model.token.weight.requires_grad_(False)
    heads = list(model.heads.parameters())
    body = [p for n, p in model.named_parameters() if p.requires_grad and not n.startswith("heads")]
    head_rate = min(1e-3, args.rate * 10)
    optimizer = torch.optim.AdamW([{"params": body, "lr": args.rate}, {"params": heads, "lr": head_rate}], weight_decay=0.01)
    first, checkpoint = 0, args.out / "checkpoint.pt"
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        if state["shape"] != shape.to_dict():
            raise SystemExit(f"error: {checkpoint} is of another encoder: expected {shape.to_dict()}, got {state['shape']}; "
                             "give the same --encoder and --layers or remove it")
        if state["steps"] != args.steps and state["step"] > STEADY * min(state["steps"], args.steps):
            raise SystemExit(f"error: {checkpoint} is at step {state['step']} of {state['steps']}, where the learning rate falls, "
                             f"got --steps {args.steps}; give the same number or remove it")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        print(f"resumed at step {first}", flush=True)
    bf16 = faster_in_bf16()
    print(f"multiplying in {'bfloat16' if bf16 else 'float32'}", flush=True)
    model.train()
    began, seen, running = time.monotonic(), 0, 0.0
    for step in range(first, args.steps):
        rng = np.random.default_rng([args.seed, step])  # so that a resumed run sees what it would have seen
        batch = [torch.from_numpy(x) for x in (pupil or sampler).batch(args.rows, rng)]
        tokens, words, labels = batch[:3]
        choices = LOOKAHEADS[args.lookahead]
        lookahead = torch.full((args.rows,), choices[int(rng.integers(len(choices)))])
        for group, highest in zip(optimizer.param_groups, (args.rate, head_rate)):
            group["lr"] = highest * rate(step, args.steps)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            logits = model(tokens, words, lookahead)
        loss = joint_loss(logits, labels)
        if pupil:
            loss = (1 - args.teacher_share) * loss + args.teacher_share * taught_loss(logits, batch[3])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += int((words < Tagger.PAD_WORD).sum())
        running = loss.item() if not running else 0.98 * running + 0.02 * loss.item()
        if (step + 1) % 20 == 0:
            speed = seen / (time.monotonic() - began)
            print(f"step {step + 1}/{args.steps} loss {running:.3f} {speed:.0f} tokens/s", flush=True)
        if (step + 1) % args.every == 0 or step + 1 == args.steps:
            torch.save(
                {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "shape": shape.to_dict(),
                 "step": step + 1, "steps": args.steps},
                args.out / "checkpoint.tmp",
            )
            (args.out / "checkpoint.tmp").rename(checkpoint)
            if dev:
                scores = {n: punct_f1(model, dev, tokenizer, n, bf16) for n in (4, 9, UNLIMITED)}
                print("dev2012 F1 " + " ".join(f"L={n}: {f:.1f}" for n, f in scores.items()), flush=True)
        if step + 1 == args.stop_after:
            return
    torch.save({"model": model.state_dict(), "shape": shape.to_dict()}, args.out / "model.pt")


if __name__ == "__main__":
    main()
