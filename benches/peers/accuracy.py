"""How exactly ITN systems write the labelled spans of real calls, each span with the words around it.

    accuracy.py [--conventions] [--around WORDS] GOLD.jsonl SYSTEM=COMMAND…        a command reads lines of spoken words and writes a line for each
    accuracy.py held.jsonl 'faircopy=target/release/faircopy itn' 'nemo=venv/bin/python benches/peers/serve.py nemo'

GOLD is in the format of ``faircopy eval``: rows with ``w`` (spoken words) and ``itn`` (start, end, class, written). A span is given with up to
five words before it and five after, fewer where another span stands there. It is exact when the words around it come out as they
are and the span as in the gold, whatever its case, its commas between digits and a space before a percent sign. I-WER is the word error rate of the spans, by what a
system wrote between the words around them. With ``--conventions`` nothing counts in which systems follow other customs than the gold: marks at the ends of words,
"p.m." for PM, 04:30 for 4:30, spaces and hyphens between digits, "St." for Street. ``--around`` gives another number of words around a span.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections import Counter

AROUND = 5
STREETS = {"st": "street", "ave": "avenue", "rd": "road", "dr": "drive", "ln": "lane"}
"""Ends of addresses that some systems write short."""


def cases(path: str, around: int) -> list[tuple[list[str], list[str], list[str], str, str]]:
    out = []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        words, spans = [w.lower() for w in row["w"]], row.get("itn", [])
        for start, end, name, written in spans:
            low = max([start - around, 0] + [e for _, e, _, _ in spans if e <= start])
            high = min([end + around, len(words)] + [s for s, _, _, _ in spans if s >= end])
            out.append((words[low:start], words[start:end], words[end:high], name, written))
    return out


def fold(text: str) -> list[str]:
    return re.sub(r"(?<=\d) (?=%)", "", re.sub(r"(?<=\d),(?=\d\d\d)", "", text.lower())).split()


def without_customs(tokens: list[str]) -> list[str]:
    """Tokens in one custom of those that systems follow."""
    text = " ".join(tokens).replace("a.m.", "am").replace("p.m.", "pm")
    text = re.sub(r"[.,?]+(?=\s|$)", "", text)
    text = re.sub(r"\b0(?=\d:\d\d)", "", text)
    text = re.sub(r"(?<=\d)[ -](?=\d)", "", text)
    return [STREETS.get(token, token) for token in text.split()]


def between(left: list[str], right: list[str], got: list[str]) -> tuple[list[str], bool]:
    """What stands between the words around a span, and whether those came out as they went in."""
    a = 0
    while a < min(len(left), len(got)) and left[a] == got[a]:
        a += 1
    b = 0
    while b < min(len(right), len(got) - a) and right[-1 - b] == got[-1 - b]:
        b += 1
    return got[a : len(got) - b], a == len(left) and b == len(right)


def edits(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conventions", action="store_true")
    parser.add_argument("--around", type=int, default=AROUND)
    parser.add_argument("gold")
    parser.add_argument("systems", nargs="+")
    args = parser.parse_args()
    gold = cases(args.gold, args.around)
    folded = (lambda text: without_customs(fold(text))) if args.conventions else fold
    lines = "".join(" ".join(left + span + right) + "\n" for left, span, right, _, _ in gold)
    print(f"{len(gold)} spans")
    for system in args.systems:
        name, _, command = system.partition("=")
        answer = subprocess.run(command.split(), input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        if len(answer) != len(gold):
            raise SystemExit(f"error: {name}: expected {len(gold)} lines, got {len(answer)}")
        exact, total, wrong, words = Counter(), Counter(), Counter(), Counter()
        misses: Counter = Counter()
        for (left, span, right, kind, written), line in zip(gold, answer):
            want = folded(written)
            got, untouched = between(left, right, folded(line))
            total[kind] += 1
            words[kind] += len(want)
            wrong[kind] += min(edits(got, want), len(want) + len(span))
            if got == want and untouched:
                exact[kind] += 1
            else:
                misses[(kind, " ".join(left[-2:]), " ".join(span), " ".join(right[:2]), written, " ".join(got))] += 1
        share = 100 * exact.total() / total.total()
        print(f"{name}: exact {share:.1f} %, I-WER {wrong.total() / words.total():.3f}; "
              + ", ".join(f"{k} {exact[k]}/{n} {wrong[k] / words[k]:.3f}" for k, n in total.most_common()))
        if "MISSES" in os.environ:
            for miss, n in misses.most_common():
                print("   ", n, *miss, sep=" | ")


if __name__ == "__main__":
    main()
