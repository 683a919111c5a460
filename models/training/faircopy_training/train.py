"""Trains the joint tagger. ``python -m faircopy_training.train --data DIR --out DIR``; resumes from its last checkpoint."""

from __future__ import annotations

import argparse
import copy
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from . import labels as L
from .blocks import Blocks
from .dataset import Batch, Sampler, WordTokenizer, build
from .evaluate import faster_in_bf16, read_dev, score, tags
from .lexicon import write_lexicon
from .loss import depth_loss, turn_loss
from .model import SHAPES, UNLIMITED, Copies, Heard, Shape, Tagger
from .path import NO_FOLLOWS, write_follows
from .quantise import round_rows, rounded
from .sources import DataError, sources_for
from .spoken import Readings, Unreadable
from .teach import Pupil

PASSES = [Blocks(4, 6), Blocks(4, 6), Blocks(4, 10)]
"""The program's passes as set by default, and with a longer lookahead."""
LAST_PASSES = 0.2
"""Share of the steps at the end of a run that take ``PASSES`` only, where ``--lookahead`` has such passes."""
LOOKAHEADS = {
    "any": [0, 2, 4, 6, 9, 9, 9, 9, 16, 32, UNLIMITED, UNLIMITED, UNLIMITED],
    "mostly-open": [2, 4, 9, 9, 16] + [UNLIMITED] * 15,
    "open": [UNLIMITED],
    "kept": [2, 4, 6, 9, 16] + [UNLIMITED] * 9 + [Blocks(16), Blocks(24), Blocks(32), Blocks(32), Blocks(48), Blocks(64)],
    "passes": [4, 9] + [UNLIMITED] * 6 + [Blocks(8), Blocks(16), Blocks(32), Blocks(64)] + PASSES,
}
"""Drawn from per batch: ``any`` makes one model that serves every lookahead by mask (9 is the paper's), ``mostly-open`` one that is decoded on windows
first of all, ``open`` a teacher, ``kept`` one whose states are kept: three batches of ten see nearly the rows of a stream's passes. With ``passes``
a fifth of the batches see such rows to the letter, and all of the last steps'."""
STEADY = 0.6
"""Share of the steps before the learning rate falls. Until there, a run may be given another number of steps."""
AVERAGED = 0.99
"""Weight of the past in the average of the weights, which is what is kept of a run: it is steadier than the weights at a level learning rate."""
WORDS_A_PLACE = 0.57
"""Words that a place of a row holds, on average: rows end early, and a word is 1.3 tokens."""
FAST = ("heads", "turn", "pause", "gap", "speaker")
"""What no encoder brings, so that it learns faster."""


def rate(step: int, steps: int) -> float:
    """Factor of the learning rate: up over 3 % of the steps, level, then down to 0 in a line."""
    warmup, steady = max(1, steps * 3 // 100), int(steps * STEADY)
    return min((step + 1) / warmup, 1.0, max(0.0, (steps - step) / max(1, steps - steady)))


def as_exported(model: Tagger, args: argparse.Namespace) -> AbstractContextManager[None]:
    """Inside, the model's weights are those of the export that ``--bits`` is for."""
    return rounded(model, args.bits) if args.bits else nullcontext()


def backward(model: Tagger, batch: Batch, taught: np.ndarray | None, lookahead: int, args: argparse.Namespace, bf16: bool) -> float:
    """Adds a batch's gradients to the model's, and returns its loss. On a CPU the rows are shared out over threads of one core each, which beats one
    thread after another in every product."""
    device = next(model.parameters()).device
    parts = args.threads if device.type == "cpu" else 1

    def part(rows: slice) -> float:
        if device.type == "cpu":
            torch.set_num_threads(1)
        given = (batch.tokens[rows], batch.words[rows], batch.labels[rows], batch.style[rows], batch.heard[:, rows])
        tokens, words, labels, style, heard = (torch.from_numpy(x).to(device) for x in given)
        copies = None if batch.copies is None else Copies(*(torch.from_numpy(x[rows]).to(device) for x in (batch.positions, batch.copies)))
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16):
            depths, last = model.encoded(tokens, words, torch.full((len(tokens),), lookahead, device=device), style, Heard(*heard), copies)
            turns = model.turn(last)
        loss = turn_loss(turns, labels) + depth_loss(depths, labels, args.teacher_share, None if taught is None else torch.from_numpy(taught[rows]).to(device))
        (loss / parts).backward()
        return loss.item() / parts

    with as_exported(model, args), ThreadPoolExecutor(parts) as threads:
        return sum(threads.map(part, [slice(n, None, parts) for n in range(parts)]))


def of_directory(path: Path) -> Tagger:
    """The tagger of a model directory."""
    from .export import exported  # a machine that only trains may lack what packs models

    return exported(path)


class Steps(Dataset):
    """What each step of a run trains on: batch, a teacher's probabilities or nothing, and lookahead. A step's depend on its number and the seed only, so that
    a run that was interrupted sees what it would have seen."""

    def __init__(self, sampler: Sampler, pupil: Pupil | None, args: argparse.Namespace) -> None:
        self.sampler, self.pupil, self.args = sampler, pupil, args

    def __len__(self) -> int:
        return self.args.steps

    def __getitem__(self, step: int) -> tuple[Batch, np.ndarray | None, int]:
        args = self.args
        rng = np.random.default_rng([args.seed, step])
        lesson = self.pupil is not None and rng.random() < args.lessons
        clean = step < args.clean_first * args.steps
        batch, taught = self.pupil.batch(args.rows, rng) if lesson else (self.sampler.batch(args.rows, rng, clean), None)
        choices = LOOKAHEADS[args.lookahead]
        if PASSES[0] in choices and step >= (1 - LAST_PASSES) * args.steps:
            choices = PASSES
        lookahead = choices[int(rng.integers(len(choices)))]
        if set(args.heads) != {*L.HEADS, "turn"}:
            batch = replace(batch, labels=np.where([head in args.heads for head in (*L.HEADS, "turn")], batch.labels, L.IGNORE))
        if isinstance(lookahead, Blocks):
            batch, taught = lookahead.of(batch, taught, self.sampler.shape.sep, rng)
            lookahead = 0
        return batch, taught, lookahead


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--data", type=Path, help="directory with the files of sources.SOURCES; not read where the run has its data.pickle")
    a.add_argument("--base", type=Path, required=True, help="directory with tokenizer.json and, without --start, model.safetensors")
    a.add_argument("--out", type=Path, required=True, help="checkpoints, and model.pt at the end")
    a.add_argument("--faircopy", type=Path, help="the built program, whose grammars say how written numbers are spoken; needed to read --data")
    a.add_argument("--encoder", choices=list(SHAPES), default="minilm")
    a.add_argument("--layers", type=int, help="only the encoder's first layers")
    a.add_argument("--exits", default="", help="numbers of layers, with commas, after which there are heads as well")
    a.add_argument("--start", type=Path, help="a run's model.pt or checkpoint.pt, or a model directory such as models/en-fast, "
                   "whose shape and weights to begin with instead of the encoder's")
    a.add_argument("--learn-embeddings", action="store_true", help="of tokens as well, as fast as the heads: for a new vocabulary (faircopy_training.transfer)")
    a.add_argument("--fixed-positions", action="store_true", help="leave MPNet's biases of relative positions as they are, which spares a GPU "
                   "their gradients")
    a.add_argument("--lookahead", choices=list(LOOKAHEADS), default="any")
    a.add_argument("--rate", type=float, default=2e-4, help="highest learning rate of the encoder; the heads' and of what is heard is ten times that, 1e-3 at most")
    a.add_argument("--noisy", type=float, default=0.5, help="share of clean chunks that get recogniser errors")
    a.add_argument("--clean-first", type=float, default=0.0, help="share of the steps, the first ones, that take clean text only (CT-Transformer, 4.1)")
    a.add_argument("--turns", type=float, default=0.2, help="share of rows that teach where a turn is over")
    a.add_argument("--steps", type=int, default=3000)
    a.add_argument("--rows", type=int, default=16)
    a.add_argument("--length", type=int, default=160, help="tokens in a row")
    a.add_argument("--seed", type=int, default=7)
    a.add_argument("--threads", type=int, default=2, help="a divisor of --rows")
    a.add_argument("--heads", nargs="+", choices=[*L.HEADS, "turn"], default=[*L.HEADS, "turn"], help="which ones learn; the labels of the others are ignored")
    a.add_argument("--sources", nargs="+", metavar="FILE", help="only these of sources.SOURCES, by their files; all if none is given")
    a.add_argument("--licences", choices=["all", "commercial"], default="all")
    a.add_argument("--most-lines", type=int, help="of each source, the first ones; all if none")
    a.add_argument("--most-epochs", type=float, help="no source is drawn so often that its words come more often than this; for runs that are long for their data")
    a.add_argument("--taught", type=Path, help="a teacher's lessons (faircopy_training.teach), made of this run's data.pickle")
    a.add_argument("--lessons", type=float, default=0.6, help="share of batches that are --taught; the others are text with its labels")
    a.add_argument("--teacher-share", type=float, default=0.7, help="of the loss, where there are lessons; and of an exit's, taught by all layers")
    a.add_argument("--bits", type=float, help="learn with weights rounded as an export in so many bits rounds them; exact weights if none")
    a.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    a.add_argument("--workers", type=int, default=0, help="processes that make batches; a GPU needs some")
    a.add_argument("--minutes", type=float, help="stop after so long, as an interruption would, with a checkpoint")
    a.add_argument("--stop-after", type=int, help="stop after this step, as an interruption would")
    a.add_argument("--dev-words", type=int, default=6000, help="of the development set, judged at each checkpoint")
    a.add_argument("--every", type=int, default=200, help="steps between checkpoints")
    args = a.parse_args()
    torch.manual_seed(args.seed)
    halved = 2 if PASSES[0] in LOOKAHEADS[args.lookahead] else 1
    if args.rows % (halved * args.threads):
        raise SystemExit(f"error: expected --rows to be a multiple of {'twice ' * (halved - 1)}--threads with --lookahead {args.lookahead}, got {args.rows} "
                         f"and {args.threads}")
    args.out.mkdir(parents=True, exist_ok=True)
    exits = tuple(int(n) for n in args.exits.split(",") if n)
    start = (of_directory(args.start) if args.start.is_dir() else Tagger.saved(args.start)) if args.start else None
    shape = replace((start.shape if start else SHAPES[args.encoder]).cut(args.layers), exits=exits)
    if any(not 0 < n < shape.layers for n in exits):
        raise SystemExit(f"error: expected --exits between 1 and {shape.layers - 1}, got {args.exits}")
    tokenizer = WordTokenizer(args.base / "tokenizer.json", shape.unknown)

    cache = args.out / "data.pickle"
    if not cache.is_file() and not args.data:
        raise SystemExit(f"error: {cache}: no such file; give --data, the directory with the training text")
    if cache.is_file():
        corpus = pickle.loads(cache.read_bytes())
    else:
        try:
            readings = Readings(args.faircopy or Path("target/release/faircopy"), Path(__file__).parents[3], args.seed)
            corpus, spellings = build(args.data, sources_for(args.licences), args.seed, readings, args.most_lines)
        except (DataError, Unreadable) as e:
            raise SystemExit(f"error: {e}") from e
        write_lexicon(spellings, args.out / "lexicon.tsv")
        write_follows(corpus, args.out / "follows.json")
        cache.write_bytes(pickle.dumps(corpus))
    if args.sources:
        try:
            corpus = corpus.of(args.sources)
        except DataError as e:
            raise SystemExit(f"error: --sources: {e}") from e
    if args.most_epochs:
        corpus = corpus.seen_at_most(args.most_epochs, args.steps * args.rows * args.length * WORDS_A_PLACE)
        print("shares: " + ", ".join(f"{s.source} {s.weight:.3f}" for s in corpus.streams), flush=True)
    sampler = Sampler(corpus, tokenizer, shape, args.length, Tagger.PAD_WORD, args.noisy, args.turns)
    if args.clean_first and not sampler.clean_weights.any():
        raise SystemExit("error: --clean-first: expected a source of clean text among the data, got none; leave it out")
    pupil = Pupil(args.taught, sampler) if args.taught else None
    dev_file = args.data / "ted_iwslt_dev2012.tsv.gz" if args.data else None
    dev = read_dev(dev_file, args.dev_words) if dev_file and dev_file.is_file() else None

    model = Tagger(shape).to(args.device)
    if start:
        model.start_from(start)
        del start
    else:
        model.load_encoder(args.base / "model.safetensors")
    if args.bits and not args.learn_embeddings:  # what is not learned is rounded once
        model.token.weight.data = round_rows(model.token.weight.data, args.bits)
    average = copy.deepcopy(model).eval()
    model.token.weight.requires_grad_(args.learn_embeddings)
    if args.fixed_positions and model.relative is not None:
        model.relative.weight.requires_grad_(False)
    fast = (*FAST, "token") if args.learn_embeddings else FAST
    heads = [p for n, p in model.named_parameters() if n.startswith(fast)]
    body = [p for n, p in model.named_parameters() if p.requires_grad and not n.startswith(fast)]
    head_rate = min(1e-3, args.rate * 10)
    optimizer = torch.optim.AdamW([{"params": body, "lr": args.rate}, {"params": heads, "lr": head_rate}], weight_decay=0.01,
                                  fused=args.device == "cuda")
    first, checkpoint = 0, args.out / "checkpoint.pt"
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True, map_location=args.device)
        if Shape.of(state["shape"]) != shape:
            raise SystemExit(f"error: {checkpoint} is of another encoder: expected {shape.to_dict()}, got {state['shape']}; "
                             "give the same --encoder, --layers and --exits or remove it")
        if state["steps"] != args.steps and state["step"] > STEADY * min(state["steps"], args.steps):
            raise SystemExit(f"error: {checkpoint} is at step {state['step']} of {state['steps']}, where the learning rate falls, "
                             f"got --steps {args.steps}; give the same number or remove it")
        model.load_state_dict(state["weights"])
        average.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        print(f"resumed at step {first}", flush=True)
    bf16 = args.device == "cuda" or faster_in_bf16()
    print(f"multiplying in {'bfloat16' if bf16 else 'float32'}", flush=True)
    model.train()
    began, seen, running = time.monotonic(), 0, 0.0
    steps = DataLoader(Steps(sampler, pupil, args), sampler=range(first, args.steps), batch_size=None, num_workers=args.workers, collate_fn=lambda x: x)
    for step, (batch, taught, lookahead) in enumerate(steps, first):
        for group, highest in zip(optimizer.param_groups, (args.rate, head_rate)):
            group["lr"] = highest * rate(step, args.steps)
        optimizer.zero_grad(set_to_none=True)
        loss = backward(model, batch, taught, lookahead, args, bf16)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            past = min(AVERAGED, (step + 1) / (step + 10))
            torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - past)
        seen += int((batch.words < Tagger.PAD_WORD).sum())
        running = loss if not running else 0.98 * running + 0.02 * loss
        if (step + 1) % 10 == 0:
            speed = seen / (time.monotonic() - began)
            print(f"step {step + 1}/{args.steps} loss {running:.3f} {speed:.0f} tokens/s", flush=True)
        late = args.minutes is not None and time.monotonic() - began > args.minutes * 60
        if late or (step + 1) % args.every == 0 or step + 1 == args.steps:
            torch.save(
                {"model": average.state_dict(), "weights": model.state_dict(), "optimizer": optimizer.state_dict(),
                 "shape": shape.to_dict(), "step": step + 1, "steps": args.steps, "bits": args.bits},
                args.out / "checkpoint.tmp",
            )
            (args.out / "checkpoint.tmp").rename(checkpoint)
            if dev:
                torch.set_num_threads(args.threads)
                with as_exported(average, args), torch.autocast(args.device, dtype=torch.bfloat16, enabled=bf16):
                    found = tags(average, dev, tokenizer, UNLIMITED, NO_FOLLOWS)
                for layers, got in found.items():
                    print(f"dev2012, {layers} layers, marks F1 {score(dev, got)['marks']:.1f}", flush=True)
        if step + 1 == args.stop_after or (late and step + 1 < args.steps):
            print(f"stopped at step {step + 1}", flush=True)
            return
    torch.save({"model": average.state_dict(), "shape": shape.to_dict(), "bits": args.bits}, args.out / "model.pt")


if __name__ == "__main__":
    main()
