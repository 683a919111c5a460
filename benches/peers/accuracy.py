"""How exactly ITN systems write the labelled spans of real calls, each span with the words around it.

    accuracy.py GOLD.jsonl SYSTEM=COMMAND…        a command reads lines of spoken words and writes a line for each
    accuracy.py held.jsonl 'faircopy=target/release/faircopy itn' 'nemo=venv/bin/python benches/peers/serve.py nemo'

GOLD is in the format of ``faircopy eval``: rows with ``w`` (spoken words) and ``itn`` (start, end, class, written). A span is given with up to
five words before it and five after, fewer where another span stands there. It is exact when the words around it come out as they
are and the span as in the gold, whatever its case, its commas between digits and a space before a percent sign. I-WER is the word error rate of the spans, by what a
system wrote between the words around them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

AROUND = 5


def cases(path: str) -> list[tuple[list[str], list[str], list[str], str, str]]:
    out = []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        words, spans = [w.lower() for w in row["w"]], row.get("itn", [])
        for start, end, name, written in spans:
            low = max([start - AROUND, 0] + [e for _, e, _, _ in spans if e <= start])
            high = min([end + AROUND, len(words)] + [s for s, _, _, _ in spans if s >= end])
            out.append((words[low:start], words[start:end], words[end:high], name, written))
    return out


def fold(text: str) -> list[str]:
    return re.sub(r"(?<=\d) (?=%)", "", re.sub(r"(?<=\d),(?=\d\d\d)", "", text.lower())).split()


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
    gold = cases(sys.argv[1])
    lines = "".join(" ".join(left + span + right) + "\n" for left, span, right, _, _ in gold)
    print(f"{len(gold)} spans")
    for system in sys.argv[2:]:
        name, _, command = system.partition("=")
        answer = subprocess.run(command.split(), input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        if len(answer) != len(gold):
            raise SystemExit(f"error: {name}: expected {len(gold)} lines, got {len(answer)}")
        exact, total, wrong, words = Counter(), Counter(), 0, 0
        misses: Counter = Counter()
        for (left, span, right, kind, written), line in zip(gold, answer):
            want = fold(written)
            got, untouched = between(left, right, fold(line))
            total[kind] += 1
            words += len(want)
            wrong += min(edits(got, want), len(want) + len(span))
            if got == want and untouched:
                exact[kind] += 1
            else:
                misses[(kind, " ".join(left[-2:]), " ".join(span), " ".join(right[:2]), written, " ".join(got))] += 1
        share = 100 * exact.total() / total.total()
        print(f"{name}: exact {share:.1f} %, I-WER {wrong / words:.3f}; " + ", ".join(f"{k} {exact[k]}/{n}" for k, n in total.most_common()))
        if "MISSES" in __import__("os").environ:
            for miss, n in misses.most_common():
                print("   ", n, *miss, sep=" | ")


if __name__ == "__main__":
    main()
