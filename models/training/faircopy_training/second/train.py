"""Trains the second stage from ``data``: all rewriting pairs first, then spans only (Universal-2-TF, section 5). Resumes from its last checkpoint."""

from __future__ import annotations

import argparse
import math
import random
import time
from pathlib import Path

import torch

from .draw import FOCUSED, GENERIC, Drawer, batches
from .model import Shape, Writer, padded, teacher
from .text import PAD, Tokens

WARM, RATE, DECAY, CLIP = 200, 2e-3, 0.02, 1.0
FIRST = 0.5
"""Share of the steps that learn from all pairs."""
SMOOTH = 0.999
"""Of the average of weights that is kept in the end."""


def rate(step: int, progress: float) -> float:
    """Rises while it warms, then falls along half a cosine; ``progress`` goes from 0 to 1."""
    return RATE * min(1, (step + 1) / WARM) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--run", type=Path, required=True, help="directory with pairs.pickle and tokenizer.json; gets checkpoint.pt and model.pt")
    a.add_argument("--steps", type=int, default=2600)
    a.add_argument("--minutes", type=float, default=math.inf, help="end after so many, with fewer steps where there is no time for all")
    a.add_argument("--batch", type=int, default=256)
    a.add_argument("--hidden", type=int, default=192)
    a.add_argument("--drop", type=float, default=0.0, help="share of activations left out; a few passes over the data do without")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--every", type=int, default=200, help="steps between checkpoints")
    a.add_argument("--stop-after", type=int, help="leave after this step, as an interruption would")
    a.add_argument("--whole", action="store_true", help="only whole short texts: the comparison without a first stage")
    a.add_argument("--seed", type=int, default=7)
    args = a.parse_args()
    for name in ("pairs.pickle", "tokenizer.json"):
        if not (args.run / name).is_file():
            raise SystemExit(f"error: {args.run / name}: no such file; run faircopy_training.second.data first")
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    tokens = Tokens.read(args.run / "tokenizer.json")
    drawer = Drawer.read(args.run / "pairs.pickle")
    print({kind: len(of) for kind, of in drawer.kinds.items()}, flush=True)
    model = Writer(Shape(vocabulary=tokens.size, hidden=args.hidden, inner=args.hidden * 8 // 3), args.drop)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    average = {name: value.clone() for name, value in model.state_dict().items()}
    begun, checkpoint = 0, args.run / "checkpoint.pt"
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["live"])
        optimizer.load_state_dict(state["optimizer"])
        average, begun = state["model"], state["step"]
        print(f"resumed at step {begun}", flush=True)
    feed, of, started, generic = None, None, time.monotonic(), args.run / "generic.pt"
    total, rows, seen, clock = 0.0, 0, 0, time.process_time()
    for step in range(begun, args.steps):
        spent = (time.monotonic() - started) / (60 * args.minutes)
        progress = max(step / args.steps, begun / args.steps + (1 - begun / args.steps) * spent)
        ended = progress >= 1
        shares = {"whole": 1.0} if args.whole else GENERIC if progress < FIRST else FOCUSED
        if shares is not of:
            feed, of = batches(drawer, tokens, shares, args.batch, random.Random(f"{args.seed} {step}")), shares
        batch = next(feed)
        ids, lengths = padded([source for source, _ in batch])
        prefix, wanted = teacher([target for _, target in batch])
        with torch.autocast("cpu", torch.bfloat16):
            found = model.wanted(ids, lengths, prefix, wanted)
        loss = -found[wanted != PAD].mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        for group in optimizer.param_groups:
            group["lr"] = rate(step, min(1.0, progress))
        optimizer.step()
        keep = min(SMOOTH, (step + 1) / (step + 20))
        for name, value in model.state_dict().items():
            average[name].lerp_(value, 1 - keep)
        total, rows, seen = total + loss.item(), rows + 1, seen + len(batch)
        done = step + 1
        if done % 50 == 0:
            print(f"{time.strftime('%H:%M:%S')} step {done}: loss {total / rows:.4f}, {seen / (time.process_time() - clock):.0f} samples a CPU second", flush=True)
            total = rows = 0
        if done % args.every == 0 or ended or done == args.steps or done == args.stop_after:
            state = {"shape": model.shape.to_dict(), "model": average, "live": model.state_dict(), "optimizer": optimizer.state_dict(), "step": done}
            torch.save(state, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").replace(checkpoint)
            if shares is GENERIC:
                torch.save({k: state[k] for k in ("shape", "model")}, generic)
        if done == args.stop_after:
            return
        if ended:
            break
    torch.save({"shape": model.shape.to_dict(), "model": average}, args.run / "model.pt")
    print("finished", flush=True)


if __name__ == "__main__":
    main()
